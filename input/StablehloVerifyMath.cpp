//===- StablehloVerifyMath.cpp - verifiers of contractions and algebra ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dot products, normalisation, linear algebra, Fourier transforms, random
// numbers. Convolution stands in StablehloVerifyConvolution.cpp.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// Dot products.
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  Sizes lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  if (getPrecisionConfig() && getPrecisionConfig()->size() > 2)
    return emitOpError("precision_config must have at most 2 elements, got ")
           << getPrecisionConfig()->size();
  if (lhs.empty() || lhs.size() > 2 || rhs.empty() || rhs.size() > 2)
    return emitOpError("operands must be vectors or matrices, got ") << getOperandTypes();
  if (!sameSize(lhs.back(), rhs.front()))
    return emitOpError("contracted dimensions must have the same size, got ")
           << lhs.back() << " and " << rhs.front();
  SmallVector<int64_t> wanted(lhs.drop_back());
  llvm::append_range(wanted, rhs.drop_front());
  if (!sameShape(shapeOf(getResult()), wanted))
    return emitOpError("result has the wrong shape: ") << getType();
  return success();
}

static SmallVector<int64_t> joined(Sizes a, Sizes b) {
  SmallVector<int64_t> both(a);
  llvm::append_range(both, b);
  return both;
}

static LogicalResult verifyDotDims(DotGeneralOp op) {
  DotDimensionNumbersAttr n = op.getDotDimensionNumbers();
  Sizes lhsBatching = n.getLhsBatchingDimensions(), rhsBatching = n.getRhsBatchingDimensions(),
        lhsContracting = n.getLhsContractingDimensions(),
        rhsContracting = n.getRhsContractingDimensions();
  Sizes lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  if (lhsBatching.size() != rhsBatching.size())
    return violation(op, 1) << "both operands must have as many batching dimensions, got "
                            << lhsBatching.size() << " and " << rhsBatching.size();
  if (lhsContracting.size() != rhsContracting.size())
    return violation(op, 2) << "both operands must have as many contracting dimensions, got "
                            << lhsContracting.size() << " and " << rhsContracting.size();
  if (failed(verifyUnique(op, 3, "dimensions of lhs", joined(lhsBatching, lhsContracting))) ||
      failed(verifyUnique(op, 4, "dimensions of rhs", joined(rhsBatching, rhsContracting))) ||
      failed(verifyInRange(op, 5, "lhs_batching_dimensions", lhsBatching, lhs.size())) ||
      failed(verifyInRange(op, 6, "lhs_contracting_dimensions", lhsContracting, lhs.size())) ||
      failed(verifyInRange(op, 7, "rhs_batching_dimensions", rhsBatching, rhs.size())) ||
      failed(verifyInRange(op, 8, "rhs_contracting_dimensions", rhsContracting, rhs.size())))
    return failure();
  auto verifyPairs = [&](int constraint, StringRef name, Sizes lhsDims, Sizes rhsDims) {
    for (auto [lhsDim, rhsDim] : llvm::zip(lhsDims, rhsDims))
      if (!sameSize(lhs[lhsDim], rhs[rhsDim]))
        return LogicalResult(violation(op, constraint)
                             << name << " dimensions must have the same size, got " << lhs[lhsDim]
                             << " and " << rhs[rhsDim]);
    return success();
  };
  if (failed(verifyPairs(9, "batching", lhsBatching, rhsBatching)))
    return failure();
  return verifyPairs(10, "contracting", lhsContracting, rhsContracting);
}

static LogicalResult verifyDotTypes(DotGeneralOp op) {
  Type lhs = elementOf(op.getLhs()), rhs = elementOf(op.getRhs()),
       result = elementOf(op.getResult());
  if (isa<quant::QuantizedType>(lhs) || isa<quant::QuantizedType>(rhs) ||
      isa<quant::QuantizedType>(result))
    return verifyQuantizedProduct(op, 14, 17, 20, lhs, rhs, result);
  // An algorithm may name the types that the operands are rounded to. Producers
  // also mix formats of one byte, which the public verifier lets pass.
  auto isByteFloat = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
  };
  if (lhs != rhs && !op.getAlgorithm() && !(isByteFloat(lhs) && isByteFloat(rhs)))
    return violation(op, 13) << "operands must have the same element type, got " << lhs << " and "
                             << rhs;
  return success();
}

/// C15 and C16: the kernel's zero points are 0, and its scales do not belong to a
/// dimension that is summed over.
static LogicalResult verifyQuantizedRhs(DotGeneralOp op) {
  Type rhs = elementOf(op.getRhs());
  auto isZero = [](int64_t zeroPoint) { return zeroPoint == 0; };
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(rhs); uniform && uniform.getZeroPoint())
    return violation(op, 15) << "zero point of rhs must be 0, got " << uniform.getZeroPoint();
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs);
  if (!perAxis)
    return success();
  if (!llvm::all_of(perAxis.getZeroPoints(), isZero))
    return violation(op, 15) << "zero points of rhs must be 0";
  if (llvm::is_contained(op.getDotDimensionNumbers().getRhsContractingDimensions(),
                         int64_t(perAxis.getQuantizedDimension())))
    return violation(op, 16) << "the quantized dimension of rhs must not be contracted";
  return success();
}

LogicalResult DotGeneralOp::verify() {
  if (failed(verifyDotDims(*this)))
    return failure();
  if (getPrecisionConfig() && !getPrecisionConfig()->empty() && getPrecisionConfig()->size() != 2)
    return violation(*this, 11) << "precision_config must have 2 elements, got "
                                << getPrecisionConfig()->size();
  DotDimensionNumbersAttr n = getDotDimensionNumbers();
  SmallVector<int64_t> wanted;
  for (int64_t dim : n.getLhsBatchingDimensions())
    wanted.push_back(shapeOf(getLhs())[dim]);
  auto addRest = [&](Value operand, Sizes batching, Sizes contracting) {
    for (auto [dim, size] : llvm::enumerate(shapeOf(operand)))
      if (!llvm::is_contained(batching, int64_t(dim)) &&
          !llvm::is_contained(contracting, int64_t(dim)))
        wanted.push_back(size);
  };
  addRest(getLhs(), n.getLhsBatchingDimensions(), n.getLhsContractingDimensions());
  addRest(getRhs(), n.getRhsBatchingDimensions(), n.getRhsContractingDimensions());
  if (failed(verifyShape(*this, 12, "result", shapeOf(getResult()), wanted)) ||
      failed(verifyDotTypes(*this)) || failed(verifyQuantizedRhs(*this)))
    return failure();
  if (ArrayAttr precisions = getPrecisionConfigAttr(); precisions && getAlgorithm())
    for (Attribute precision : precisions)
      if (cast<PrecisionAttr>(precision).getValue() != Precision::DEFAULT)
        return violation(*this, 21) << "precision must be DEFAULT where an algorithm is given";
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisation.
//===----------------------------------------------------------------------===//

/// `statistics` are vectors of as many elements as the feature dimension has. The
/// first constraint is that of the first vector; with `step` 1 each has its own.
static LogicalResult verifyBatchNorm(Operation *op, Value operand, int64_t feature, int constraint,
                                     int step, ArrayRef<std::pair<StringRef, Value>> statistics) {
  if (failed(verifyInRange(op, 1, "feature_index", feature, rankOf(operand))))
    return failure();
  if (failed(detail::verifyElementTypes(op, detail::operandsAndResults(op))))
    return failure();
  int64_t size = shapeOf(operand)[feature];
  for (auto [name, value] : statistics) {
    if (failed(verifyShape(op, constraint, name, shapeOf(value), size)))
      return failure();
    constraint += step;
  }
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  if (failed(verifyBatchNorm(*this, getOperand(), getFeatureIndex(), 3, 1,
                             {{"scale", getScale()},
                              {"offset", getOffset()},
                              {"batch_mean", getBatchMean()},
                              {"batch_var", getBatchVar()}})))
    return failure();
  return verifyShape(*this, 7, "output", shapeOf(getOutput()), shapeOf(getOperand()));
}

LogicalResult BatchNormInferenceOp::verify() {
  if (failed(verifyBatchNorm(*this, getOperand(), getFeatureIndex(), 3, 1,
                             {{"scale", getScale()},
                              {"offset", getOffset()},
                              {"mean", getMean()},
                              {"variance", getVariance()}})))
    return failure();
  return verifyShape(*this, 7, "result", shapeOf(getResult()), shapeOf(getOperand()));
}

LogicalResult BatchNormGradOp::verify() {
  Sizes shape = shapeOf(getOperand());
  if (failed(verifyShape(*this, 3, "grad_output", shapeOf(getGradOutput()), shape)) ||
      failed(verifyShape(*this, 3, "grad_operand", shapeOf(getGradOperand()), shape)))
    return failure();
  return verifyBatchNorm(*this, getOperand(), getFeatureIndex(), 5, 0,
                         {{"scale", getScale()},
                          {"mean", getMean()},
                          {"variance", getVariance()},
                          {"grad_scale", getGradScale()},
                          {"grad_offset", getGradOffset()}});
}

//===----------------------------------------------------------------------===//
// Linear algebra.
//===----------------------------------------------------------------------===//

LogicalResult CholeskyOp::verify() {
  Sizes shape = shapeOf(getA());
  if (shape.size() < 2)
    return violation(*this, 2) << "operand must have at least 2 dimensions, got " << shape.size();
  if (!sameSize(shape[shape.size() - 2], shape.back()))
    return violation(*this, 3) << "matrices must be square, got " << getA().getType();
  return success();
}

LogicalResult TriangularSolveOp::verify() {
  if (failed(detail::verifyElementTypes(*this, getOperandTypes())))
    return failure();
  Sizes a = shapeOf(getA()), b = shapeOf(getB());
  if (a.size() < 2 || a.size() != b.size())
    return violation(*this, 2) << "operands must have the same rank of at least 2, got " << a.size()
                               << " and " << b.size();
  int64_t rows = a[a.size() - 2], shared = getLeftSide() ? b[b.size() - 2] : b.back();
  if (!sameShape(a.drop_back(2), b.drop_back(2)) || !sameSize(rows, a.back()) ||
      !sameSize(rows, shared))
    return violation(*this, 3) << "batches must be the same and a must be square of the size that "
                                  "b has on the side that is solved, got "
                               << getOperandTypes();
  if (!areCompatibleTypes(getB().getType(), getType()))
    return violation(*this, 4) << "b and result must have the same type, got " << getB().getType()
                               << " and " << getType();
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOpError("transpose_a must not be TRANSPOSE_INVALID");
  return success();
}

//===----------------------------------------------------------------------===//
// Fourier transforms.
//===----------------------------------------------------------------------===//

static LogicalResult verifyFftTypes(FftOp op) {
  Type from = elementOf(op.getOperand()), to = elementOf(op.getResult());
  auto complexOf = [](Type real) -> Type {
    return isa<ComplexType>(real) ? Type() : ComplexType::get(real);
  };
  bool fits = false;
  switch (op.getFftType()) {
  case FftType::FFT:
  case FftType::IFFT:
    fits = from == to && isa<ComplexType>(from);
    break;
  case FftType::RFFT:
    fits = complexOf(from) == to;
    break;
  case FftType::IRFFT:
    fits = complexOf(to) == from;
    break;
  }
  if (!fits)
    return violation(op, 2) << stringifyFftType(op.getFftType()) << " does not take " << from
                            << " to " << to;
  return success();
}

LogicalResult FftOp::verify() {
  Sizes operand = shapeOf(getOperand()), result = shapeOf(getResult()), length = getFftLength();
  if (length.size() > operand.size())
    return violation(*this, 1) << "fft_length must not have more elements than the operand has "
                                  "dimensions, "
                               << operand.size() << ", got " << length.size();
  if (failed(verifyFftTypes(*this)))
    return failure();
  if (length.empty() || length.size() > 3)
    return violation(*this, 3) << "fft_length must have 1 to 3 elements, got " << length.size();
  if (operand.size() != result.size())
    return violation(*this, 5) << "operand and result must have the same rank, got "
                               << operand.size() << " and " << result.size();
  bool forward = getFftType() == FftType::RFFT, back = getFftType() == FftType::IRFFT;
  if (forward || back) {
    Sizes real = forward ? operand : result;
    if (failed(verifyShape(*this, 4, "last dimensions of the real tensor",
                           real.take_back(length.size()), length)))
      return failure();
  }
  // Half of a real tensor's transform is redundant and left out.
  auto half = [](int64_t size) {
    return ShapedType::isDynamic(size) || size == 0 ? size : size / 2 + 1;
  };
  SmallVector<int64_t> wanted(operand);
  if (forward)
    wanted.back() = half(operand.back());
  if (back) {
    // The real tensor is the result: its last dimensions are fft_length.
    std::copy(length.begin(), length.end(), wanted.end() - length.size());
    SmallVector<int64_t> given(wanted);
    given.back() = half(length.back());
    if (failed(verifyShape(*this, 5, "operand", operand, given)))
      return failure();
  }
  return verifyShape(*this, 5, "result", result, wanted);
}

//===----------------------------------------------------------------------===//
// Random numbers.
//===----------------------------------------------------------------------===//

LogicalResult RngOp::verify() {
  if (getRngDistribution() == RngDistribution::NORMAL && !isa<FloatType>(elementOf(getA())))
    return violation(*this, 2) << "NORMAL needs floats, got " << elementOf(getA());
  if (shapeOf(getShape()).front() != rankOf(getResult()))
    return violation(*this, 3) << "shape must have as many elements as the result has dimensions";
  return verifyConstantShape(*this, 3, getShape(), shapeOf(getResult()));
}

LogicalResult RngBitGeneratorOp::verify() {
  if (!areCompatibleTypes(getInitialState().getType(), getOutputState().getType()))
    return violation(*this, 1) << "states must have the same type, got "
                               << getInitialState().getType() << " and "
                               << getOutputState().getType();
  auto type = cast<RankedTensorType>(getInitialState().getType());
  // The state is counted in 64-bit words: 32-bit ones count half.
  if (!type.hasStaticShape() || type.getRank() != 1 || !type.getElementType().isInteger(64))
    return success();
  int64_t words = type.getNumElements();
  if (getRngAlgorithm() == RngAlgorithm::THREE_FRY && words != 2)
    return violation(*this, 2) << "THREE_FRY needs 2 words of state, got " << words;
  if (getRngAlgorithm() == RngAlgorithm::PHILOX && words != 2 && words != 3)
    return violation(*this, 2) << "PHILOX needs 2 or 3 words of state, got " << words;
  return success();
}

} // namespace spokeshave::stablehlo
