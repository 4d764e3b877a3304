//===- FftPlan.h - transforms of lines -------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forward transform of several lines of one length at once. Lengths with
// small prime factors go through mixed-radix passes, others through Bluestein's
// convolution of a power of two. Twiddle factors are computed in long double.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/library/FftPasses.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spokeshave::runtime {

/// The n-th roots of unity exp(-2 pi i k / n), correctly rounded to double but
/// for rare cases: each is a product, in long double, of two of 2 sqrt(n) that
/// are computed.
class UnitRoots {
public:
  explicit UnitRoots(uint64_t n);
  template <typename W> void get(uint64_t k, W &re, W &im) const {
    k %= n;
    const Value &a = coarse[k / step], &b = fine[k % step];
    re = static_cast<W>(a.re * b.re - a.im * b.im);
    im = static_cast<W>(a.re * b.im + a.im * b.re);
  }

private:
  struct Value {
    long double re, im;
  };
  uint64_t n, step;
  std::vector<Value> coarse, fine;
};

/// Does this length need Bluestein's way? Single precision then works in double.
bool needsConvolution(int64_t length);

/// Split complex data: `lines` interleaved, element e of line q at e*lines + q.
template <typename W> struct FftData {
  W *re, *im;
};

template <typename W> class FftPlan {
public:
  explicit FftPlan(int64_t length);

  int64_t length() const { return size; }
  /// Elements (of W) of work memory for `lines` lines, besides the data.
  int64_t workElements(int64_t lines) const;
  /// Transforms `data` and returns where the result is: there or in `work`.
  FftData<W> run(FftData<W> data, int64_t lines, W *work) const;

private:
  struct Table {
    std::vector<W> re, im;
    void push(const UnitRoots &roots, uint64_t k);
  };
  struct Pass {
    int64_t radix, length;
    Table twiddles, roots;
  };
  void planPasses();
  void planConvolution();
  FftData<W> runPasses(FftData<W> data, FftData<W> other, int64_t lines) const;
  FftData<W> convolve(FftData<W> data, int64_t lines, W *work) const;

  int64_t size;
  std::vector<Pass> passes;
  std::unique_ptr<FftPlan> inner; ///< Bluestein's: of the padded length
  Table chirp, filter;
};

} // namespace spokeshave::runtime
