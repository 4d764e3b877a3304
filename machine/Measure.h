//===- Measure.h - what this machine reaches at best -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small loops that do nothing else: multiply-adds on registers, reads and
// copies of arrays beyond the caches. For reports, which put a program's time
// beside what its operations and bytes would take here at best. Nothing that is
// compiled depends on them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace spokeshave::machine {

/// Rates of some threads together. Operations count a multiply-add as two.
struct Rates {
  int64_t threads = 0;
  double fmaGflops = 0;            ///< f32 multiply-adds of the widest vectors
  double bf16Gflops = 0;           ///< bf16 products summed in f32; 0: no instruction for it
  double int8Gops = 0;             ///< int8 products summed in int32; 0: no instruction for it
  double readGBs = 0, copyGBs = 0; ///< memory; a copied byte counts twice
};

/// Measures for about half a second. Uses at most an eighth of the memory.
Rates measureRates(int64_t threads);

} // namespace spokeshave::machine
