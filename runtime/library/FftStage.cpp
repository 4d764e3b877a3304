//===- FftStage.cpp - one axis of a multi-dimensional transform ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A real line of even length n is transformed as a complex one of length n/2
// whose parts are the even and odd elements. How lines are grouped does not
// change a bit of any of them, and no line sees another one's NaN.
//
//===----------------------------------------------------------------------===//
#include "runtime/library/FftStage.h"

#include "runtime/library/FftPlan.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace spokeshave::runtime {

FftStage::~FftStage() = default;

namespace {

/// T: the data in memory, W: what is computed with.
template <typename T, typename W> class Stage final : public FftStage {
public:
  explicit Stage(const FftAxis &axis);
  llvm::Error run(const void *in, void *out, ThreadPool &pool,
                  const volatile int32_t *cancel) const override;

private:
  /// Some lines: element e of line q is at base + q * lineStride + e * stride,
  /// in values (complex or real) of either side.
  struct Block {
    int64_t lines, stride;
    int64_t inBase, inLine, outBase, outLine;
  };
  struct Job {
    const Stage *stage;
    const T *in;
    T *out;
  };
  static void kernel(void *const *buffers, int64_t begin, int64_t end, void *scratch);
  Block blockAt(int64_t index) const;
  void transform(const Job &job, const Block &block, W *scratch) const;

  bool hasShuffles(const Block &block) const;
  void gatherComplex(FftData<W> to, const T *in, const Block &block) const;
  void gatherReal(FftData<W> to, const T *in, const Block &block) const;
  void gatherHalf(FftData<W> to, const T *in, const Block &block) const;
  void gatherHalfEven(FftData<W> to, const T *in, const Block &block) const;
  void scatterComplex(FftData<W> from, T *out, const Block &block) const;
  void scatterReal(FftData<W> from, T *out, const Block &block) const;
  void scatterHalf(FftData<W> from, T *out, const Block &block) const;
  void scatterHalfEven(FftData<W> from, T *out, const Block &block) const;

  bool inverse() const {
    return axis.kind == FftKind::Inverse || axis.kind == FftKind::RealInverse;
  }
  bool isReal() const { return axis.kind == FftKind::Real || axis.kind == FftKind::RealInverse; }

  FftAxis axis;
  W scale;
  bool halved; ///< a real line of even length
  FftPlan<W> plan;
  std::vector<W> rootRe, rootIm; ///< exp(-2 pi i k / n) for halved lines
  int64_t half;                  ///< n / 2 + 1
  int64_t linesPerBlock, blocks;
};

template <typename T, typename W>
Stage<T, W>::Stage(const FftAxis &wanted)
    : axis(wanted), scale(static_cast<W>(wanted.scale)), halved(isReal() && axis.length % 2 == 0),
      plan(halved ? axis.length / 2 : axis.length), half(axis.length / 2 + 1) {
  if (halved) {
    const UnitRoots roots(static_cast<uint64_t>(axis.length));
    rootRe.resize(half);
    rootIm.resize(half);
    for (int64_t k = 0; k < half; ++k)
      roots.get(static_cast<uint64_t>(k), rootRe[k], rootIm[k]);
  }
  // Data and work memory of a block should stay in the second-level cache; more
  // of it is still better than vectors that are not full.
  int64_t bytesPerLine = (2 * plan.length() + plan.workElements(1)) * int64_t(sizeof(W));
  int64_t available = axis.inner > 1 ? axis.inner : axis.outer, vector = 32 / int64_t(sizeof(W));
  linesPerBlock = std::clamp<int64_t>((512 << 10) / bytesPerLine, 1, 16);
  if (linesPerBlock < vector)
    linesPerBlock = vector * bytesPerLine <= (4 << 20) ? vector : 1;
  else
    linesPerBlock -= linesPerBlock % vector;
  linesPerBlock = std::min(linesPerBlock, std::max<int64_t>(1, available));
  int64_t groups = (available + linesPerBlock - 1) / linesPerBlock;
  blocks = axis.inner > 1 ? axis.outer * groups : groups;
}

template <typename T, typename W>
typename Stage<T, W>::Block Stage<T, W>::blockAt(int64_t index) const {
  Block block;
  block.stride = axis.inner;
  if (axis.inner > 1) { // neighbouring lines of one outer index
    int64_t groups = (axis.inner + linesPerBlock - 1) / linesPerBlock;
    int64_t first = index % groups * linesPerBlock;
    block.lines = std::min(linesPerBlock, axis.inner - first);
    block.inBase = block.outBase = index / groups * axis.length * axis.inner + first;
    block.inLine = block.outLine = 1;
    return block;
  }
  int64_t first = index * linesPerBlock;
  block.lines = std::min(linesPerBlock, axis.outer - first);
  block.inLine = axis.kind == FftKind::RealInverse ? half : axis.length;
  block.outLine = axis.kind == FftKind::Real ? half : axis.length;
  block.inBase = first * block.inLine;
  block.outBase = first * block.outLine;
  return block;
}

template <typename T, typename W>
void Stage<T, W>::kernel(void *const *buffers, int64_t begin, int64_t end, void *scratch) {
  const Job &job = *static_cast<const Job *>(buffers[0]);
  for (int64_t index = begin; index < end; ++index)
    job.stage->transform(job, job.stage->blockAt(index), static_cast<W *>(scratch));
}

template <typename T, typename W>
llvm::Error Stage<T, W>::run(const void *in, void *out, ThreadPool &pool,
                             const volatile int32_t *cancel) const {
  Job job{this, static_cast<const T *>(in), static_cast<T *>(out)};
  void *buffers[] = {&job};
  auto n = static_cast<double>(plan.length());
  double operations = n * (3 + 1.5 * std::log2(n + 1)) * double(linesPerBlock);
  if (needsConvolution(plan.length()))
    operations *= 6;
  int64_t elements = 2 * plan.length() * linesPerBlock + plan.workElements(linesPerBlock);
  cpu::Launch launch{kernel, buffers, blocks, static_cast<int64_t>(operations / 2) + 1,
                     elements * int64_t(sizeof(W))};
  return pool.parallel(launch, cancel);
}

template <typename T, typename W>
void Stage<T, W>::transform(const Job &job, const Block &block, W *scratch) const {
  int64_t count = plan.length() * block.lines;
  // An inverse transform is a forward one with the parts exchanged.
  FftData<W> data{scratch, scratch + count};
  FftData<W> view = inverse() ? FftData<W>{data.im, data.re} : data;
  if (axis.kind == FftKind::Real)
    gatherReal(view, job.in, block);
  else if (axis.kind == FftKind::RealInverse)
    halved ? gatherHalfEven(view, job.in, block) : gatherHalf(view, job.in, block);
  else
    gatherComplex(view, job.in, block);
  FftData<W> result = plan.run(data, block.lines, scratch + 2 * count);
  view = inverse() ? FftData<W>{result.im, result.re} : result;
  if (axis.kind == FftKind::Real)
    halved ? scatterHalfEven(view, job.out, block) : scatterHalf(view, job.out, block);
  else if (axis.kind == FftKind::RealInverse)
    scatterReal(view, job.out, block);
  else
    scatterComplex(view, job.out, block);
}

/// Calls `body(e, q)` for elements and lines, along what lies side by side. Lines
/// that are contiguous are far apart, often by a power of two that puts all of
/// them into one set of the cache: there a cache line is finished before the
/// next line's turn.
template <typename Body>
inline void forElements(int64_t elements, int64_t lines, bool contiguous, Body body) {
  if (!contiguous) {
    for (int64_t e = 0; e < elements; ++e)
      for (int64_t q = 0; q < lines; ++q)
        body(e, q);
    return;
  }
  constexpr int64_t tile = 8;
  for (int64_t first = 0; first < elements; first += tile)
    for (int64_t q = 0; q < lines; ++q)
      for (int64_t e = first, end = std::min(elements, first + tile); e < end; ++e)
        body(e, q);
}

/// Whether there are full vectors of lines, for the loops that shuffle them.
template <typename T, typename W> bool Stage<T, W>::hasShuffles(const Block &block) const {
  return fftPasses().split32 && block.lines % 8 == 0;
}

template <typename T, typename W>
void Stage<T, W>::gatherComplex(FftData<W> to, const T *in, const Block &block) const {
  if constexpr (std::is_same_v<T, W> && std::is_same_v<W, float>)
    if (hasShuffles(block))
      return fftPasses().split32({axis.length, block.lines, block.stride, block.inLine},
                                 in + 2 * block.inBase, to.re, to.im);
  forElements(axis.length, block.lines, block.stride == 1, [&](int64_t e, int64_t q) {
    const T *value = in + 2 * (block.inBase + q * block.inLine + e * block.stride);
    to.re[e * block.lines + q] = value[0];
    to.im[e * block.lines + q] = value[1];
  });
}

template <typename T, typename W>
void Stage<T, W>::scatterComplex(FftData<W> from, T *out, const Block &block) const {
  if constexpr (std::is_same_v<T, W> && std::is_same_v<W, float>)
    if (hasShuffles(block))
      return fftPasses().join32({axis.length, block.lines, block.stride, block.outLine}, from.re,
                                from.im, scale, out + 2 * block.outBase);
  forElements(axis.length, block.lines, block.stride == 1, [&](int64_t e, int64_t q) {
    T *value = out + 2 * (block.outBase + q * block.outLine + e * block.stride);
    value[0] = static_cast<T>(from.re[e * block.lines + q] * scale);
    value[1] = static_cast<T>(from.im[e * block.lines + q] * scale);
  });
}

template <typename T, typename W>
void Stage<T, W>::gatherReal(FftData<W> to, const T *in, const Block &block) const {
  forElements(plan.length(), block.lines, true, [&](int64_t e, int64_t q) {
    const T *line = in + block.inBase + q * block.inLine;
    to.re[e * block.lines + q] = halved ? line[2 * e] : line[e];
    to.im[e * block.lines + q] = halved ? line[2 * e + 1] : T(0);
  });
}

template <typename T, typename W>
void Stage<T, W>::scatterReal(FftData<W> from, T *out, const Block &block) const {
  forElements(plan.length(), block.lines, true, [&](int64_t e, int64_t q) {
    T *line = out + block.outBase + q * block.outLine;
    if (!halved) {
      line[e] = static_cast<T>(from.re[e * block.lines + q] * scale);
      return;
    }
    line[2 * e] = static_cast<T>(from.re[e * block.lines + q] * scale);
    line[2 * e + 1] = static_cast<T>(from.im[e * block.lines + q] * scale);
  });
}

/// The first half of the spectrum of a real line of odd length.
template <typename T, typename W>
void Stage<T, W>::scatterHalf(FftData<W> from, T *out, const Block &block) const {
  for (int64_t k = 0; k < half; ++k)
    for (int64_t q = 0; q < block.lines; ++q) {
      T *value = out + 2 * (block.outBase + q * block.outLine + k);
      value[0] = static_cast<T>(from.re[k * block.lines + q] * scale);
      value[1] = static_cast<T>(from.im[k * block.lines + q] * scale);
    }
}

/// The spectrum of the even elements plus that of the odd ones, turned.
template <typename T, typename W>
void Stage<T, W>::scatterHalfEven(FftData<W> from, T *out, const Block &block) const {
  int64_t m = plan.length(), lines = block.lines;
  forElements(half, lines, true, [&](int64_t k, int64_t q) {
    int64_t a = (k == m ? 0 : k) * lines + q, b = (k == 0 ? 0 : m - k) * lines + q;
    W evenRe = (from.re[a] + from.re[b]) / 2, evenIm = (from.im[a] - from.im[b]) / 2;
    W oddRe = (from.im[a] + from.im[b]) / 2, oddIm = (from.re[b] - from.re[a]) / 2;
    W re = evenRe + (rootRe[k] * oddRe - rootIm[k] * oddIm);
    W im = evenIm + (rootRe[k] * oddIm + rootIm[k] * oddRe);
    T *value = out + 2 * (block.outBase + q * block.outLine + k);
    value[0] = static_cast<T>(re * scale);
    // The ends are real; the sums above may leave a rounding error there.
    value[1] = k == 0 || k == m ? T(0) : static_cast<T>(im * scale);
  });
}

/// The imaginary parts of the first value, and of the last for an even length,
/// have no meaning and are ignored, as everywhere.
template <typename T, typename W>
void Stage<T, W>::gatherHalf(FftData<W> to, const T *in, const Block &block) const {
  int64_t n = axis.length, lines = block.lines;
  for (int64_t q = 0; q < lines; ++q) {
    const T *line = in + 2 * (block.inBase + q * block.inLine);
    to.re[q] = line[0];
    to.im[q] = 0;
    for (int64_t k = 1; k < half; ++k) {
      to.re[k * lines + q] = to.re[(n - k) * lines + q] = line[2 * k];
      to.im[k * lines + q] = line[2 * k + 1];
      to.im[(n - k) * lines + q] = -line[2 * k + 1];
    }
  }
}

template <typename T, typename W>
void Stage<T, W>::gatherHalfEven(FftData<W> to, const T *in, const Block &block) const {
  int64_t m = plan.length(), lines = block.lines;
  forElements(m, lines, true, [&](int64_t k, int64_t q) {
    const T *line = in + 2 * (block.inBase + q * block.inLine);
    W aRe = line[2 * k], aIm = k == 0 ? T(0) : line[2 * k + 1];
    W bRe = line[2 * (m - k)], bIm = k == 0 ? T(0) : line[2 * (m - k) + 1];
    W sumRe = aRe + bRe, sumIm = aIm - bIm, differenceRe = aRe - bRe, differenceIm = aIm + bIm;
    // Turned the other way: the conjugate root.
    W oddRe = differenceRe * rootRe[k] + differenceIm * rootIm[k];
    W oddIm = differenceIm * rootRe[k] - differenceRe * rootIm[k];
    to.re[k * lines + q] = sumRe - oddIm;
    to.im[k * lines + q] = sumIm + oddRe;
  });
}

} // namespace

std::unique_ptr<FftStage> makeFftStage(const FftAxis &axis, bool isDouble) {
  bool halved = axis.kind >= FftKind::Real && axis.length % 2 == 0;
  if (isDouble)
    return std::make_unique<Stage<double, double>>(axis);
  // A convolution loses a few bits; single precision has them to spare only
  // when computed in double.
  if (needsConvolution(halved ? axis.length / 2 : axis.length))
    return std::make_unique<Stage<float, double>>(axis);
  return std::make_unique<Stage<float, float>>(axis);
}

} // namespace spokeshave::runtime
