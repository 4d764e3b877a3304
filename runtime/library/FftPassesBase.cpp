//===- FftPassesBase.cpp - the inner loops of the FFT ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/library/FftPasses.inc"

const FftPasses kFftPassesBase = {dispatch<float>, dispatch<double>, nullptr, nullptr};

} // namespace spokeshave::runtime
