//===- Fft.cpp - Fourier transforms ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fft: FFT, IFFT, RFFT, IRFFT along the last one to three dimensions. Computed
// in long double by splitting off prime factors, rounded once at the end.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Kernel.h"
#include "reference/Ops.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

namespace {
/// Transforms of one length. roots[k] = exp(sign * 2 pi i k / length).
class Transform {
public:
  Transform(int64_t length, bool inverse) : length(length) {
    long double turn = (inverse ? 2 : -2) * std::acos(-1.0L) / static_cast<long double>(length);
    for (int64_t k = 0; k < length; ++k)
      roots.push_back(std::polar(1.0L, turn * static_cast<long double>(k)));
  }

  void run(std::vector<WideComplex> &values) const {
    std::vector<WideComplex> out(length);
    recurse(values.data(), 1, out.data(), length);
    values = std::move(out);
  }

private:
  static WideComplex times(const WideComplex &a, const WideComplex &b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  /// out = transform of in[0], in[stride], ..., of `size` elements: `factor`
  /// interleaved parts of their own, then combined.
  void recurse(const WideComplex *in, int64_t stride, WideComplex *out, int64_t size) const {
    if (size == 1) {
      out[0] = in[0];
      return;
    }
    int64_t factor = 2;
    while (size % factor)
      ++factor;
    int64_t part = size / factor, step = length / size;
    for (int64_t f = 0; f < factor; ++f)
      recurse(in + f * stride, stride * factor, out + f * part, part);
    std::vector<WideComplex> parts(out, out + size);
    for (int64_t k = 0; k < size; ++k) {
      WideComplex sum = parts[k % part];
      for (int64_t f = 1; f < factor; ++f)
        sum += times(roots[f * k % size * step], parts[f * part + k % part]);
      out[k] = sum;
    }
  }

  int64_t length;
  std::vector<WideComplex> roots;
};

/// A tensor of wide complex numbers.
struct Field {
  Index shape;
  std::vector<WideComplex> values;

  /// Transforms every line along `axis`.
  void transform(int64_t axis, bool inverse) {
    int64_t size = shape[axis], stride = stridesOf(shape)[axis];
    if (size == 0 || values.empty())
      return;
    Transform transform(size, inverse);
    std::vector<WideComplex> line(size);
    for (int64_t i = 0, lines = values.size() / size; i < lines; ++i) {
      int64_t base = i / stride * stride * size + i % stride;
      for (int64_t k = 0; k < size; ++k)
        line[k] = values[base + k * stride];
      transform.run(line);
      for (int64_t k = 0; k < size; ++k)
        values[base + k * stride] = inverse ? line[k] / static_cast<long double>(size) : line[k];
    }
  }

  /// Cuts the last dimension to `size`.
  void truncate(int64_t size) {
    int64_t old = shape.back(), lines = old ? values.size() / old : 0;
    std::vector<WideComplex> kept;
    for (int64_t i = 0; i < lines; ++i)
      kept.insert(kept.end(), values.begin() + i * old, values.begin() + i * old + size);
    values = std::move(kept);
    shape.back() = size;
  }

  /// Fills up the last dimension to `size`, each line being the first half of
  /// the transform of real numbers: x[size - k] = conj(x[k]).
  void mirror(int64_t size) {
    int64_t old = shape.back(), lines = old ? values.size() / old : 0;
    std::vector<WideComplex> filled;
    for (int64_t i = 0; i < lines; ++i)
      for (int64_t k = 0; k < size; ++k) {
        const WideComplex *line = values.data() + i * old;
        filled.push_back(k < old ? line[k] : std::conj(line[size - k]));
      }
    values = std::move(filled);
    shape.back() = size;
  }
};
} // namespace

static LogicalResult evalFft(stablehlo::FftOp op, Call &call) {
  const Tensor &operand = call[0];
  ArrayRef<int64_t> length = op.getFftLength();
  auto count = static_cast<int64_t>(length.size());
  if (count < 1 || count > operand.rank() || llvm::any_of(length, [](int64_t n) { return n < 0; }))
    return call.error() << "has fft_length that does not fit the operand";
  stablehlo::FftType kind = op.getFftType();
  bool inverse = kind == stablehlo::FftType::IFFT || kind == stablehlo::FftType::IRFFT;
  int64_t last = operand.rank() - 1;

  Field field;
  field.shape.assign(operand.shape().begin(), operand.shape().end());
  for (int64_t i = 0; i < operand.size(); ++i)
    field.values.push_back(wide(operand.at(i)));
  if (kind == stablehlo::FftType::IRFFT) {
    if (field.shape.back() != length.back() / 2 + 1)
      return call.error() << "needs " << length.back() / 2 + 1
                          << " frequencies in the last dimension";
    // All but the last dimension first: the last is only half there.
    for (int64_t axis = last - count + 1; axis < last; ++axis)
      field.transform(axis, true);
    field.mirror(length.back());
    field.transform(last, true);
  } else {
    for (int64_t axis = last; axis > last - count; --axis)
      field.transform(axis, inverse);
    if (kind == stablehlo::FftType::RFFT)
      field.truncate(field.shape.back() / 2 + 1);
  }

  Tensor result(call.resultType(), field.shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i, narrow(field.values[i]));
  return call.give(std::move(result));
}

void addFft(HandlerTable &table) {
  table.add<stablehlo::FftOp, evalFft>();
}

} // namespace spokeshave::reference
