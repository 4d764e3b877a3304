//===- Dot.cpp - dot products and Einstein's sums --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dot, dot_general, einsum, unary_einsum.
//
// The specification leaves the order and precision of the sum open. Here sums
// run in ascending order, in double for formats up to f32 and in long double
// for f64, and are rounded once; products of f32 are exact in double. So a
// result is the rounded exact one but for errors far below a unit of the type.
// Integers wrap around, so their order does not matter. Booleans: or of ands.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Ops.h"

using namespace mlir;

namespace spokeshave::reference {

/// The operand with its elements as T, row-major: one row of length `depth` per
/// result index, so that both operands are read in order.
template <typename T, typename Read> static std::vector<T> readAs(const Tensor &tensor, Read read) {
  std::vector<T> values(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    values[i] = read(tensor.at(i));
  return values;
}

namespace {
struct Sizes {
  int64_t batch, rows, columns, depth;
};
} // namespace

/// out(b, i, j) = sum over k of lhs[b, i, k] * rhs[b, j, k].
template <typename T, typename Read, typename Write>
static void multiplyRows(const Tensor &lhs, const Tensor &rhs, Sizes size, Read read, Write write) {
  std::vector<T> a = readAs<T>(lhs, read), b = readAs<T>(rhs, read);
  int64_t out = 0;
  for (int64_t batch = 0; batch < size.batch; ++batch)
    for (int64_t i = 0; i < size.rows; ++i)
      for (int64_t j = 0; j < size.columns; ++j) {
        const T *x = a.data() + (batch * size.rows + i) * size.depth;
        const T *y = b.data() + (batch * size.columns + j) * size.depth;
        T sum{};
        for (int64_t k = 0; k < size.depth; ++k)
          sum += x[k] * y[k];
        write(out++, sum);
      }
}

namespace {
/// A complex number that multiplies by the schoolbook formula, without the
/// library's search for infinities in NaN results.
struct PlainComplex {
  long double re = 0, im = 0;
  PlainComplex operator*(const PlainComplex &o) const {
    return {re * o.re - im * o.im, re * o.im + im * o.re};
  }
  PlainComplex &operator+=(const PlainComplex &o) {
    re += o.re;
    im += o.im;
    return *this;
  }
};
/// Booleans add by or and multiply by and.
struct Truth {
  bool value = false;
  Truth operator*(Truth o) const { return {value && o.value}; }
  Truth &operator+=(Truth o) {
    value |= o.value;
    return *this;
  }
};
} // namespace

static void multiplyRows(const Tensor &lhs, const Tensor &rhs, Sizes size, Tensor &result) {
  ElementType type = result.elementType();
  char *to = result.mutableData();
  auto put = [&](int64_t i, const Scalar &value) { type.store(to + i * type.bytes(), value); };
  const ElementType &in = lhs.elementType();
  auto real = [](const Scalar &x) { return x.re; };
  if (in.isFloat() && in.format().isDouble())
    multiplyRows<long double>(lhs, rhs, size, real, [&](int64_t i, long double sum) {
      put(i, Scalar::real(static_cast<double>(sum)));
    });
  else if (in.isFloat())
    multiplyRows<double>(lhs, rhs, size, real,
                         [&](int64_t i, double sum) { put(i, Scalar::real(sum)); });
  else if (in.isComplex())
    multiplyRows<PlainComplex>(
        lhs, rhs, size, [](const Scalar &x) { return PlainComplex{x.re, x.im}; },
        [&](int64_t i, const PlainComplex &sum) {
          put(i, Scalar::complex(static_cast<double>(sum.re), static_cast<double>(sum.im)));
        });
  else if (in.isBoolean())
    multiplyRows<Truth>(
        lhs, rhs, size, [](const Scalar &x) { return Truth{x.i != 0}; },
        [&](int64_t i, Truth sum) { put(i, Scalar::integer(sum.value)); });
  else
    multiplyRows<uint64_t>(
        lhs, rhs, size, [](const Scalar &x) { return x.u(); },
        [&](int64_t i, uint64_t sum) {
          put(i, type.isInteger() ? type.round(Scalar::integer(static_cast<int64_t>(sum)))
                                  : Scalar::real(static_cast<double>(static_cast<int64_t>(sum))));
        });
}

/// Dimensions that are neither batching nor contracting, in order.
static SmallVector<int64_t> resultDimensions(const Tensor &operand, ArrayRef<int64_t> batching,
                                             ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> result;
  for (int64_t axis = 0; axis < operand.rank(); ++axis)
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
      result.push_back(axis);
  return result;
}

Tensor dotGeneral(const Tensor &lhs, const Tensor &rhs, const DotDimensions &dims,
                  ElementType resultType) {
  SmallVector<int64_t> lhsResult = resultDimensions(lhs, dims.lhsBatching, dims.lhsContracting);
  SmallVector<int64_t> rhsResult = resultDimensions(rhs, dims.rhsBatching, dims.rhsContracting);
  auto sizeOf = [](const Tensor &operand, ArrayRef<int64_t> axes, Index *shape) {
    int64_t size = 1;
    for (int64_t axis : axes) {
      size *= operand.dim(axis);
      if (shape)
        shape->push_back(operand.dim(axis));
    }
    return size;
  };
  Index shape;
  Sizes size;
  size.batch = sizeOf(lhs, dims.lhsBatching, &shape);
  size.rows = sizeOf(lhs, lhsResult, &shape);
  size.columns = sizeOf(rhs, rhsResult, &shape);
  size.depth = sizeOf(lhs, dims.lhsContracting, nullptr);

  auto inOrder = [](ArrayRef<int64_t> batching, ArrayRef<int64_t> result,
                    ArrayRef<int64_t> contracting) {
    SmallVector<int64_t> permutation(batching);
    llvm::append_range(permutation, result);
    llvm::append_range(permutation, contracting);
    return permutation;
  };
  Tensor result(resultType, shape);
  multiplyRows(transpose(lhs, inOrder(dims.lhsBatching, lhsResult, dims.lhsContracting)),
               transpose(rhs, inOrder(dims.rhsBatching, rhsResult, dims.rhsContracting)), size,
               result);
  return result;
}

//===----------------------------------------------------------------------===//
// Handlers.
//===----------------------------------------------------------------------===//

static LogicalResult dotChecked(Call &call, const Tensor &lhs, const Tensor &rhs,
                                const DotDimensions &dims) {
  auto agree = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    return left.size() == right.size() && llvm::all_of_zip(left, right, [&](int64_t l, int64_t r) {
             return l >= 0 && l < lhs.rank() && r >= 0 && r < rhs.rank() &&
                    lhs.dim(l) == rhs.dim(r);
           });
  };
  if (!agree(dims.lhsBatching, dims.rhsBatching) ||
      !agree(dims.lhsContracting, dims.rhsContracting))
    return call.error() << "has dimensions that do not match";
  return call.give(dotGeneral(lhs, rhs, dims, call.resultType()));
}

/// The operand rounded to the precision that an algorithm names; integers are
/// exact under every algorithm.
static FailureOr<Tensor> roundTo(Call &call, const Tensor &operand, Type precision) {
  if (!operand.elementType().isFloat())
    return operand;
  FailureOr<ElementType> type = ElementType::get(precision);
  if (failed(type) || !type->isFloat())
    return call.error() << "has an algorithm with the unknown precision " << precision;
  return convertTo(convertTo(operand, *type), operand.elementType());
}

static LogicalResult evalDotGeneral(stablehlo::DotGeneralOp op, Call &call) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  Tensor lhs = call[0], rhs = call[1];
  // An algorithm that splits operands into components emulates a precision
  // higher than the components'; it is exact enough that nothing is rounded.
  auto algorithm = op.getAlgorithm();
  if (algorithm && algorithm->getNumPrimitiveOperations() == 1) {
    FailureOr<Tensor> left = roundTo(call, lhs, algorithm->getLhsPrecisionType());
    FailureOr<Tensor> right = roundTo(call, rhs, algorithm->getRhsPrecisionType());
    if (failed(left) || failed(right))
      return failure();
    lhs = *left;
    rhs = *right;
  }
  return dotChecked(call, lhs, rhs,
                    {numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                     numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()});
}

/// Vectors and matrices: the last dimension of lhs with the first of rhs.
static LogicalResult evalDot(stablehlo::DotOp, Call &call) {
  if (call[0].rank() < 1 || call[1].rank() < 1)
    return call.error() << "needs vectors or matrices";
  return dotChecked(call, call[0], call[1], {{}, {}, {call[0].rank() - 1}, {0}});
}

namespace {
/// "ij,jk->ik" taken apart; letters only.
struct EinsumConfig {
  SmallVector<StringRef, 2> inputs;
  StringRef output;

  static FailureOr<EinsumConfig> parse(StringRef text, size_t arity) {
    EinsumConfig config;
    auto [left, right] = text.split("->");
    left.split(config.inputs, ',');
    config.output = right;
    auto letters = [](StringRef labels) { return llvm::all_of(labels, llvm::isAlpha); };
    if (!text.contains("->") || config.inputs.size() != arity || !letters(right) ||
        !llvm::all_of(config.inputs, letters))
      return failure();
    return config;
  }
};
} // namespace

/// The operand as a tensor over all `labels`, size 1 where it lacks one; where a
/// label is repeated, its diagonal.
static FailureOr<Tensor> alignTo(const Tensor &operand, StringRef own, StringRef labels,
                                 const llvm::DenseMap<char, int64_t> &sizes) {
  if (static_cast<int64_t>(own.size()) != operand.rank())
    return failure();
  Index shape, strides, ownStrides = stridesOf(operand.shape());
  for (char label : labels) {
    int64_t stride = 0;
    for (auto [axis, ownLabel] : llvm::enumerate(own))
      if (ownLabel == label)
        stride += ownStrides[axis];
    strides.push_back(stride);
    shape.push_back(own.contains(label) ? sizes.lookup(label) : 1);
  }
  return stridedView(operand, shape, strides, 0);
}

/// Sums over every label that the output lacks. Defined by a dot over aligned
/// operands: all labels of the output are kept, the others contracted.
static LogicalResult einsum(Call &call, StringRef text) {
  FailureOr<EinsumConfig> config = EinsumConfig::parse(text, call.operands.size());
  if (failed(config))
    return call.error() << "cannot read the config \"" << text << "\"";
  llvm::DenseMap<char, int64_t> sizes;
  std::string summed;
  for (auto [labels, operand] : llvm::zip(config->inputs, call.operands)) {
    if (static_cast<int64_t>(labels.size()) != operand.rank())
      return call.error() << "config \"" << text << "\" does not fit the operands' ranks";
    for (auto [label, size] : llvm::zip(labels, operand.shape())) {
      auto [it, isNew] = sizes.try_emplace(label, size);
      if (it->second != size)
        return call.error() << "label '" << label << "' has two sizes";
      if (isNew && !config->output.contains(label))
        summed.push_back(label);
    }
  }
  Index shape;
  for (char label : config->output) {
    if (!sizes.contains(label))
      return call.error() << "output label '" << label << "' is in no operand";
    shape.push_back(sizes.lookup(label));
  }
  // Everything as a batched dot of vectors over the summed labels.
  std::string all = config->output.str() + summed;
  Index full = shape;
  for (char label : summed)
    full.push_back(sizes.lookup(label));
  SmallVector<Tensor, 2> aligned;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, all.size()));
  for (auto [labels, operand] : llvm::zip(config->inputs, call.operands))
    aligned.push_back(broadcastInDim(*alignTo(operand, labels, all, sizes), axes, full));
  if (aligned.size() == 1)
    aligned.push_back(Tensor::splat(call[0].elementType(), full, call[0].elementType().one()));
  auto kept = llvm::ArrayRef(axes).take_front(shape.size());
  auto contracted = llvm::ArrayRef(axes).drop_front(shape.size());
  return call.give(
      dotGeneral(aligned[0], aligned[1], {kept, kept, contracted, contracted}, call.resultType()));
}

static LogicalResult evalEinsum(stablehlo::EinsumOp op, Call &call) {
  return einsum(call, op.getEinsumConfig());
}
static LogicalResult evalUnaryEinsum(stablehlo::UnaryEinsumOp op, Call &call) {
  return einsum(call, op.getEinsumConfig());
}

void addDot(HandlerTable &table) {
  table.add<stablehlo::DotGeneralOp, evalDotGeneral>();
  table.add<stablehlo::DotOp, evalDot>();
  table.add<stablehlo::EinsumOp, evalEinsum>();
  table.add<stablehlo::UnaryEinsumOp, evalUnaryEinsum>();
}

} // namespace spokeshave::reference
