//===- FftPasses.h - the inner loops of the FFT ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace spokeshave::runtime {

/// One pass of Stockham's autosorting FFT over split complex data. The data are
/// `stride` interleaved sequences of `length` each; a pass of radix r makes
/// r * stride sequences of length / r:
///   y[q + s*(r*p + k)] = twiddle(p, k) * sum_j x[q + s*(p + m*j)] * root(r, j*k)
/// with m = length / r, p < m, q < s. The loop over q is contiguous, so that
/// transforming several lines at once (they begin as interleaved sequences)
/// fills the vectors from the first pass on.
template <typename W> struct FftPass {
  int64_t radix, length, stride;
  const W *twiddleRe, *twiddleIm; ///< (p, k) at (k-1)*m + p
  const W *rootRe, *rootIm;       ///< r roots, of generic radices only
};

template <typename W>
using FftPassFunction = void(const FftPass<W> &pass, const W *xRe, const W *xIm, W *yRe, W *yIm);

/// Complex values of lines as they lie in memory, element e of line q at
/// e * elementStride + q * lineStride, one of which is 1. The number of lines is a
/// multiple of 8.
struct FftLines {
  int64_t elements, lines, elementStride, lineStride;
};

/// The same loops compiled for two ISAs.
struct FftPasses {
  FftPassFunction<float> *pass32;
  FftPassFunction<double> *pass64;
  /// From memory to split data and, scaled, back; null: plain loops are as good.
  void (*split32)(const FftLines &shape, const float *in, float *re, float *im);
  void (*join32)(const FftLines &shape, const float *re, const float *im, float scale, float *out);
};
extern const FftPasses kFftPassesBase;
extern const FftPasses kFftPassesAvx2;

/// Those for this machine.
const FftPasses &fftPasses();

} // namespace spokeshave::runtime
