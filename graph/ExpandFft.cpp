//===- ExpandFft.cpp - Fourier transforms as matrix products ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines that multiply matrices well and have no library:
//
//   n <= 256             a product with the n x n matrix of roots of unity
//   n = n1 n2            Cooley and Tukey, 1965: n2 transforms of n1, a multiplication
//                        by roots of unity, n1 transforms of n2
//   a prime above 256    Bluestein, 1970: a cyclic convolution with a chirp, by
//   divides n            transforms of a power of two
//
// Complex numbers are pairs of real tensors; a product takes both parts side by side
// and gives both. Roots of unity are constants, of exact angles. Transforms of real
// numbers leave out what is zero, those to real numbers what is not wanted.
//
//===----------------------------------------------------------------------===//
#include "graph/Emit.h"
#include "graph/Passes.h"

#include <cmath>
#include <complex>

namespace spokeshave::graph {
#define GEN_PASS_DEF_EXPANDFFT
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// The longest transform that is one product.
constexpr int64_t kDirect = 256;

using Number = std::complex<long double>;
using Numbers = std::vector<Number>;

/// e^(2 pi i k / n)
Number root(int64_t k, int64_t n) {
  constexpr long double kTurn = 6.283185307179586476925286766559L;
  // Within an eighth of a turn: sines of small angles are exact where they should be.
  k = ((k % n) + n) % n;
  int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n; // of n / 4 units
  bool upper = 2 * rest > n;
  long double angle = kTurn / 4 * (upper ? n - rest : rest) / n;
  Number first =
      upper ? Number(std::sin(angle), std::cos(angle)) : Number(std::cos(angle), std::sin(angle));
  const Number turns[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return first * turns[quarter];
}

/// A transform of a power of two, in place.
void transform(Numbers &values, int64_t sign) {
  int64_t n = values.size();
  if (n == 1)
    return;
  Numbers even, odd;
  for (int64_t i = 0; i < n; i += 2)
    even.push_back(values[i]), odd.push_back(values[i + 1]);
  transform(even, sign), transform(odd, sign);
  for (int64_t k = 0; k < n / 2; ++k) {
    Number turned = odd[k] * root(sign * k, n);
    values[k] = even[k] + turned, values[k + n / 2] = even[k] - turned;
  }
}

int64_t largestPrimeOf(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    while (n % p == 0)
      n /= p, largest = p;
  return std::max(largest, n);
}

/// A divisor of n up to kDirect, such that it and the rest are about equal if that is
/// small as well.
int64_t divisorOf(int64_t n) {
  int64_t best = 1;
  for (int64_t d = 2; d <= kDirect; ++d)
    if (n % d == 0 && (n / best > kDirect || d + n / d < best + n / best))
      best = d;
  return best;
}

/// Real and imaginary parts of shape [rows, n]; no imaginary part: zeros.
struct Pair {
  Value re, im;
};

class Transformer {
public:
  explicit Transformer(sh::FftOp op)
      : op(op), builder(op), emit(builder, op.getLoc()), length(op.getFftLength()) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    auto complex = dyn_cast<ComplexType>(type.getElementType());
    element = complex ? complex.getElementType() : type.getElementType();
    sh::FftType kind = op.getFftType();
    sign = kind == sh::FftType::IFFT || kind == sh::FftType::IRFFT ? 1 : -1;
  }
  void run();

private:
  template <typename Function> Value constant(ArrayRef<int64_t> shape, Function valueOf);
  /// Real and imaginary parts of numbers(i), i over the elements.
  template <typename Function> Pair constants(ArrayRef<int64_t> shape, Function numberOf) {
    return {constant(shape, [&](int64_t i) { return numberOf(i).real(); }),
            constant(shape, [&](int64_t i) { return numberOf(i).imag(); })};
  }
  Value multiply(Value left, int64_t leftDim, Value right, int64_t rightDim);
  Pair multiply(Pair a, Pair b);
  Pair reshape(Pair z, ArrayRef<int64_t> shape);
  Pair transpose(Pair z, ArrayRef<int64_t> permutation);
  Pair columns(Pair z, int64_t count);
  Value join(Pair z, int64_t dim) { return z.im ? emit.concatenate({z.re, z.im}, dim) : z.re; }
  Pair halves(Value both, int64_t dim);
  int64_t rows(Pair z) { return emit.shapeOf(z.re)[0]; }

  Pair transformRows(Pair z, int64_t n, int64_t wanted);
  Value matrixOf(int64_t n, bool isReal, int64_t wanted, bool turned);
  Pair direct(Pair z, int64_t n, int64_t wanted);
  Pair split(Pair z, int64_t n);
  Pair convolve(Pair z, int64_t n);
  Value toReal(Pair z, int64_t n);
  template <typename Function> Pair along(Pair z, int64_t dim, Function rowsFunction);

  sh::FftOp op;
  OpBuilder builder;
  Emit emit;
  ArrayRef<int64_t> length;
  Type element;
  int64_t sign = -1;
};

template <typename Function>
Value Transformer::constant(ArrayRef<int64_t> shape, Function valueOf) {
  auto type = RankedTensorType::get(shape, element);
  auto values = [&](auto sample) {
    SmallVector<decltype(sample)> list;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      list.push_back(static_cast<decltype(sample)>(valueOf(i)));
    return DenseElementsAttr::get(type, ArrayRef(list));
  };
  auto attr = element.isF32() ? values(float()) : values(double());
  return builder.create<sh::ConstantOp>(op.getLoc(), type, cast<ElementsAttr>(attr));
}

/// Contracts dimension `leftDim` with `rightDim`. At full precision: roots of unity have
/// more bits than one pass would see.
Value Transformer::multiply(Value left, int64_t leftDim, Value right, int64_t rightDim) {
  MLIRContext *context = op.getContext();
  auto numbers = sh::DotDimensionNumbersAttr::get(context, {}, {}, {leftDim}, {rightDim});
  auto highest = sh::PrecisionAttr::get(context, sh::Precision::HIGHEST);
  SmallVector<int64_t> shape(emit.shapeOf(left)), other(emit.shapeOf(right));
  shape.erase(shape.begin() + leftDim), other.erase(other.begin() + rightDim);
  llvm::append_range(shape, other);
  return builder.create<sh::DotGeneralOp>(
      op.getLoc(), RankedTensorType::get(shape, element), left, right, numbers,
      ArrayAttr::get(context, {highest, highest}), sh::DotAlgorithmAttr());
}

Pair Transformer::multiply(Pair a, Pair b) {
  if (!a.im)
    return {emit.mul(a.re, b.re), emit.mul(a.re, b.im)};
  return {emit.sub(emit.mul(a.re, b.re), emit.mul(a.im, b.im)),
          emit.add(emit.mul(a.re, b.im), emit.mul(a.im, b.re))};
}

Pair Transformer::reshape(Pair z, ArrayRef<int64_t> shape) {
  return {emit.reshape(z.re, shape), z.im ? emit.reshape(z.im, shape) : Value()};
}

Pair Transformer::transpose(Pair z, ArrayRef<int64_t> permutation) {
  auto one = [&](Value value) -> Value {
    if (!value)
      return value;
    SmallVector<int64_t> shape;
    for (int64_t dim : permutation)
      shape.push_back(emit.shapeOf(value)[dim]);
    return builder.create<sh::TransposeOp>(op.getLoc(), RankedTensorType::get(shape, element),
                                           value, builder.getDenseI64ArrayAttr(permutation));
  };
  return {one(z.re), one(z.im)};
}

Pair Transformer::halves(Value both, int64_t dim) {
  SmallVector<int64_t> starts(emit.typeOf(both).getRank(), 0), middle(starts);
  SmallVector<int64_t> limits(emit.shapeOf(both)), half(limits);
  half[dim] /= 2, middle[dim] = half[dim];
  return {emit.slice(both, starts, half), emit.slice(both, middle, limits)};
}

/// The first columns of each row.
Pair Transformer::columns(Pair z, int64_t count) {
  auto one = [&](Value value) {
    return value ? emit.slice(value, {0, 0}, {rows(z), count}) : value;
  };
  return {one(z.re), one(z.im)};
}

//===----------------------------------------------------------------------===//
// Transforms of rows
//===----------------------------------------------------------------------===//

/// The first `wanted` results of the transform of each row.
Pair Transformer::transformRows(Pair z, int64_t n, int64_t wanted) {
  if (n <= kDirect)
    return direct(z, n, wanted);
  Pair all = largestPrimeOf(n) > kDirect ? convolve(z, n) : split(z, n);
  return wanted == n ? all : columns(all, wanted);
}

/// Of a transform: a row per input, real parts first, then imaginary ones if there are;
/// a column per result, in the same order. Or transposed.
Value Transformer::matrixOf(int64_t n, bool isReal, int64_t wanted, bool turned) {
  int64_t height = isReal ? n : 2 * n, width = 2 * wanted;
  SmallVector<int64_t> shape{height, width};
  if (turned)
    std::swap(shape[0], shape[1]);
  return constant(shape, [&](int64_t i) {
    int64_t row = turned ? i % height : i / width, column = turned ? i / height : i % width;
    Number number = root(sign * (row % n) * (column % wanted), n);
    if (row < n)
      return column < wanted ? number.real() : number.imag();
    return column < wanted ? -number.imag() : number.real();
  });
}

Pair Transformer::direct(Pair z, int64_t n, int64_t wanted) {
  Value matrix = matrixOf(n, !z.im, wanted, /*turned=*/false);
  return halves(multiply(join(z, 1), 1, matrix, 0), 1);
}

/// x[j1 n2 + j2] to X[k1 + n1 k2]: over j1, times root(j2 k1), over j2. Matrices stand on
/// the left, such that rows come in the order in which they are wanted: of one
/// transform nothing is transposed, of several rows of numbers move as a whole.
Pair Transformer::split(Pair z, int64_t n) {
  int64_t count = rows(z), n1 = divisorOf(n), n2 = n / n1;
  Value grid = join(reshape(z, {count, n1, n2}), 1);
  Pair first = halves(multiply(matrixOf(n1, !z.im, n1, /*turned=*/true), 1, grid, 1), 0);
  SmallVector<int64_t> shape{n1, count, n2};
  Pair roots = constants({n1, n2}, [&](int64_t i) { return root(sign * (i / n2) * (i % n2), n); });
  roots = {emit.broadcast(roots.re, shape, {0, 2}), emit.broadcast(roots.im, shape, {0, 2})};
  Pair turned = transpose(multiply(first, roots), {1, 0, 2});
  if (n2 > kDirect) {
    Pair second = transformRows(reshape(turned, {count * n1, n2}), n2, n2);
    return reshape(transpose(reshape(second, {count, n1, n2}), {0, 2, 1}), {count, n});
  }
  Value rowsOfBoth = join(turned, 2);
  Pair second = halves(multiply(matrixOf(n2, false, n2, /*turned=*/true), 1, rowsOfBoth, 2), 0);
  return reshape(transpose(second, {1, 0, 2}), {count, n});
}

/// With jk = (j^2 + k^2 - (k - j)^2) / 2 the sum over j is a convolution of x[j] c[j]
/// with 1 / c, where c[j] = root(j^2 / 2), times c[k].
Pair Transformer::convolve(Pair z, int64_t n) {
  int64_t count = rows(z), m = llvm::PowerOf2Ceil(2 * n - 1);
  auto chirp = [&](int64_t j) { return root(sign * ((j * j) % (2 * n)), 2 * n); };
  SmallVector<int64_t> shape{count, n}, wide{count, m};
  Pair c = constants({n}, chirp);
  c = {emit.broadcast(c.re, shape, {1}), emit.broadcast(c.im, shape, {1})};
  Numbers inverse(m);
  for (int64_t j = 0; j < n; ++j)
    inverse[j] = std::conj(chirp(j)), inverse[(m - j) % m] = inverse[j];
  transform(inverse, -1);
  Pair spectrum = constants({m}, [&](int64_t i) { return inverse[i] / (long double)m; });
  spectrum = {emit.broadcast(spectrum.re, wide, {1}), emit.broadcast(spectrum.im, wide, {1})};

  Value zeros = emit.splat(RankedTensorType::get({count, m - n}, element), 0);
  Pair x = multiply(z, c);
  x = {emit.concatenate({x.re, zeros}, 1), emit.concatenate({x.im, zeros}, 1)};
  int64_t direction = std::exchange(sign, -1);
  Pair product = multiply(transformRows(x, m, m), spectrum);
  sign = 1;
  Pair back = columns(transformRows(product, m, m), n);
  sign = direction;
  return multiply(back, c);
}

/// The real numbers, times n, whose transform begins with the n / 2 + 1 numbers of z.
Value Transformer::toReal(Pair z, int64_t n) {
  int64_t half = n / 2 + 1, count = rows(z);
  if (n <= kDirect) {
    Value matrix = constant({2 * half, n}, [&](int64_t i) {
      int64_t row = i / n, k = row % half;
      Number number = root(k * (i % n), n);
      long double weight = k == 0 || 2 * k == n ? 1 : 2; // it stands for its conjugate, too
      return weight * (row < half ? number.real() : -number.imag());
    });
    return multiply(join(z, 1), 1, matrix, 0);
  }
  // The other half: conjugates, backwards.
  auto mirrored = [&](Value value) -> Value {
    Value rest = emit.slice(value, {0, 1}, {count, n - half + 1});
    return builder.create<sh::ReverseOp>(op.getLoc(), rest.getType(), rest,
                                         builder.getDenseI64ArrayAttr({1}));
  };
  Pair all{emit.concatenate({z.re, mirrored(z.re)}, 1),
           emit.concatenate({z.im, emit.unary<sh::NegOp>(mirrored(z.im))}, 1)};
  return transformRows(all, n, n).re;
}

//===----------------------------------------------------------------------===//
// Transforms of tensors
//===----------------------------------------------------------------------===//

/// Applies a function of rows along a dimension.
template <typename Function> Pair Transformer::along(Pair z, int64_t dim, Function rowsFunction) {
  SmallVector<int64_t> shape(emit.shapeOf(z.re)), order;
  int64_t rank = shape.size(), n = shape[dim];
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(i);
  std::swap(order[dim], order[rank - 1]);
  std::swap(shape[dim], shape[rank - 1]);
  bool isLast = dim == rank - 1;
  int64_t count = ShapedType::getNumElements(shape) / n;
  Pair done = rowsFunction(reshape(isLast ? z : transpose(z, order), {count, n}));
  shape.back() = emit.shapeOf(done.re)[1];
  done = reshape(done, shape);
  return isLast ? done : transpose(done, order);
}

void Transformer::run() {
  auto type = cast<RankedTensorType>(op.getType());
  sh::FftType kind = op.getFftType();
  int64_t rank = type.getRank(), first = rank - length.size(), last = rank - 1;
  auto partType = cast<RankedTensorType>(op.getOperand().getType()).clone(element);
  Pair z{op.getOperand(), {}};
  if (kind != sh::FftType::RFFT)
    z = {builder.create<sh::RealOp>(op.getLoc(), partType, op.getOperand()),
         builder.create<sh::ImagOp>(op.getLoc(), partType, op.getOperand())};
  auto complexAlong = [&](int64_t dim) {
    int64_t n = length[dim - first];
    z = along(z, dim, [&](Pair rows) { return transformRows(rows, n, n); });
  };
  int64_t n = length.back();
  if (kind == sh::FftType::RFFT)
    z = along(z, last, [&](Pair rows) { return transformRows(rows, n, n / 2 + 1); });
  else if (kind != sh::FftType::IRFFT)
    complexAlong(last);
  for (int64_t dim = last - 1; dim >= first; --dim)
    complexAlong(dim);
  if (kind == sh::FftType::IRFFT)
    z = along(z, last, [&](Pair rows) { return Pair{toReal(rows, n), {}}; });
  if (sign > 0) {
    double scale = 1;
    for (int64_t size : length)
      scale /= static_cast<double>(size);
    Value factor = emit.splat(emit.typeOf(z.re), scale);
    z = {emit.mul(z.re, factor), z.im ? emit.mul(z.im, factor) : Value()};
  }
  Value result = z.im ? builder.create<sh::ComplexOp>(op.getLoc(), type, z.re, z.im) : z.re;
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

class ExpandFftPass : public spokeshave::graph::impl::ExpandFftBase<ExpandFftPass> {
  void runOnOperation() override {
    SmallVector<sh::FftOp> transforms;
    getOperation().walk([&](sh::FftOp op) {
      // Of no element nothing is computed.
      if (cast<RankedTensorType>(op.getOperand().getType()).getNumElements() > 0)
        transforms.push_back(op);
    });
    for (sh::FftOp op : transforms)
      Transformer(op).run();
  }
};

} // namespace
