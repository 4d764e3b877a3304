//===- FftPlan.cpp - transforms of lines -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/library/FftPlan.h"

#include "runtime/Executable.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace spokeshave::runtime {

/// Above this a prime factor is cheaper by convolution.
constexpr int64_t kLargestRadix = 61;

const FftPasses &fftPasses() {
#if defined(__x86_64__)
  static const bool avx2 = machineSupportsIsa("avx2");
  if (avx2)
    return kFftPassesAvx2;
#endif
  return kFftPassesBase;
}

/// exp(-2 pi i numerator / denominator), to the last bit or so.
static void unitRoot(uint64_t numerator, uint64_t denominator, long double &re, long double &im) {
  // Reduced to the first octant, where sine and cosine are best.
  unsigned __int128 eighths = static_cast<unsigned __int128>(numerator % denominator) * 8;
  auto octant = static_cast<unsigned>(eighths / denominator);
  auto rest = static_cast<uint64_t>(eighths % denominator);
  bool mirrored = octant & 1;
  long double fraction = static_cast<long double>(mirrored ? denominator - rest : rest) /
                         static_cast<long double>(denominator);
  long double angle = fraction * (std::numbers::pi_v<long double> / 4);
  long double c = std::cos(angle), s = std::sin(angle);
  // The angle is quarter * 90 degrees plus or minus `angle`.
  unsigned quarter = (octant + 1) / 2 % 4;
  if (mirrored)
    s = -s;
  const long double cosines[4] = {c, -s, -c, s}, sines[4] = {s, c, -s, -c};
  re = cosines[quarter];
  im = -sines[quarter];
}

UnitRoots::UnitRoots(uint64_t n) : n(n), step(1) {
  while (step * step < n)
    step *= 2;
  auto fill = [&](std::vector<Value> &table, uint64_t stride, uint64_t count) {
    table.resize(count);
    for (uint64_t i = 0; i < count; ++i)
      unitRoot(i * stride % n, n, table[i].re, table[i].im);
  };
  fill(fine, 1, step);
  fill(coarse, step, n / step + 1);
}

static int64_t largestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      largest = p;
  return std::max(largest, n);
}

bool needsConvolution(int64_t length) {
  return largestPrimeFactor(length) > kLargestRadix;
}

template <typename W> void FftPlan<W>::Table::push(const UnitRoots &roots, uint64_t k) {
  W real, imaginary;
  roots.get(k, real, imaginary);
  re.push_back(real);
  im.push_back(imaginary);
}

template <typename W> FftPlan<W>::FftPlan(int64_t length) : size(length) {
  if (needsConvolution(length))
    planConvolution();
  else
    planPasses();
}

template <typename W> void FftPlan<W>::planPasses() {
  int64_t rest = size;
  std::vector<int64_t> radices;
  auto take = [&](int64_t radix) {
    for (; rest % radix == 0; rest /= radix)
      radices.push_back(radix);
  };
  take(4);
  for (int64_t prime = 2; prime <= kLargestRadix; ++prime)
    take(prime);
  const UnitRoots all(static_cast<uint64_t>(size));
  int64_t length = size;
  for (int64_t radix : radices) {
    Pass pass{radix, length, {}, {}};
    for (int64_t k = 1; k < radix; ++k)
      for (int64_t p = 0; p < length / radix; ++p)
        pass.twiddles.push(all, static_cast<uint64_t>(p * k * (size / length)));
    if (radix > 5)
      for (int64_t k = 0; k < radix; ++k)
        pass.roots.push(all, static_cast<uint64_t>(k * (size / radix)));
    passes.push_back(std::move(pass));
    length /= radix;
  }
}

/// x_k y_(j-k) with j k = (j^2 + k^2 - (j-k)^2) / 2 turns the transform into a
/// convolution with exp(pi i k^2 / n), which is done by transforms of length m.
template <typename W> void FftPlan<W>::planConvolution() {
  auto n = static_cast<uint64_t>(size);
  uint64_t m = llvm::bit_ceil(2 * n - 1);
  inner = std::make_unique<FftPlan>(static_cast<int64_t>(m));
  const UnitRoots roots(2 * n);
  for (uint64_t k = 0; k < n; ++k)
    chirp.push(roots, static_cast<uint64_t>(static_cast<unsigned __int128>(k) * k % (2 * n)));
  filter.re.assign(m, 0);
  filter.im.assign(m, 0);
  W scale = W(1) / static_cast<W>(m); // of the inverse transform, a power of two
  for (uint64_t k = 0; k < n; ++k) {
    uint64_t mirrored = k == 0 ? 0 : m - k;
    filter.re[k] = filter.re[mirrored] = chirp.re[k] * scale;
    filter.im[k] = filter.im[mirrored] = -chirp.im[k] * scale;
  }
  std::vector<W> work(static_cast<size_t>(inner->workElements(1)));
  FftData<W> result = inner->run({filter.re.data(), filter.im.data()}, 1, work.data());
  if (result.re != filter.re.data()) {
    std::copy_n(result.re, m, filter.re.data());
    std::copy_n(result.im, m, filter.im.data());
  }
}

template <typename W> int64_t FftPlan<W>::workElements(int64_t lines) const {
  if (!inner)
    return 2 * size * lines;
  return 2 * inner->size * lines + inner->workElements(lines);
}

template <typename W>
FftData<W> FftPlan<W>::runPasses(FftData<W> data, FftData<W> other, int64_t lines) const {
  int64_t stride = lines;
  for (const Pass &pass : passes) {
    FftPass<W> step{pass.radix,
                    pass.length,
                    stride,
                    pass.twiddles.re.data(),
                    pass.twiddles.im.data(),
                    pass.roots.re.data(),
                    pass.roots.im.data()};
    if constexpr (std::is_same_v<W, float>)
      fftPasses().pass32(step, data.re, data.im, other.re, other.im);
    else
      fftPasses().pass64(step, data.re, data.im, other.re, other.im);
    std::swap(data, other);
    stride *= pass.radix;
  }
  return data;
}

/// to[e] = a[e] * table[e] for all lines.
template <typename W>
static void multiplyLines(FftData<W> to, FftData<W> a, const W *tableRe, const W *tableIm,
                          int64_t elements, int64_t lines) {
  for (int64_t e = 0; e < elements; ++e)
    for (int64_t i = e * lines; i < (e + 1) * lines; ++i) {
      W re = a.re[i] * tableRe[e] - a.im[i] * tableIm[e];
      to.im[i] = a.re[i] * tableIm[e] + a.im[i] * tableRe[e];
      to.re[i] = re;
    }
}

template <typename W>
FftData<W> FftPlan<W>::convolve(FftData<W> data, int64_t lines, W *work) const {
  int64_t m = inner->size;
  FftData<W> padded{work, work + m * lines};
  work += 2 * m * lines;
  multiplyLines(padded, data, chirp.re.data(), chirp.im.data(), size, lines);
  std::fill(padded.re + size * lines, padded.re + m * lines, W(0));
  std::fill(padded.im + size * lines, padded.im + m * lines, W(0));
  FftData<W> spectrum = inner->run(padded, lines, work);
  multiplyLines(spectrum, spectrum, filter.re.data(), filter.im.data(), m, lines);
  // Real and imaginary part exchanged, the forward transform is the inverse one.
  // Its work memory is whichever of the two places the spectrum is not in.
  W *place = spectrum.re == padded.re ? work : padded.re;
  FftData<W> swapped = inner->run({spectrum.im, spectrum.re}, lines, place);
  multiplyLines(data, {swapped.im, swapped.re}, chirp.re.data(), chirp.im.data(), size, lines);
  return data;
}

template <typename W> FftData<W> FftPlan<W>::run(FftData<W> data, int64_t lines, W *work) const {
  if (inner)
    return convolve(data, lines, work);
  return runPasses(data, {work, work + size * lines}, lines);
}

template class FftPlan<float>;
template class FftPlan<double>;

} // namespace spokeshave::runtime
