//===- StablehloVerifyConvolution.cpp - verifiers of convolutions -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convolution and dynamic_conv have the same constraints under the same numbers;
// dynamic_conv's padding is known when run, and so is the size of its result.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {
namespace {

/// The dimensions of one operand, in the order of the specification.
SmallVector<int64_t> dimensionsOf(int64_t first, Sizes spatial, int64_t last) {
  SmallVector<int64_t> dims{first};
  llvm::append_range(dims, spatial);
  dims.push_back(last);
  return dims;
}

LogicalResult verifyDims(Operation *op, int countConstraint, int dimConstraint, StringRef name,
                         int64_t first, Sizes spatial, int64_t last, int64_t rank) {
  if (failed(verifyCount(op, countConstraint, (name + "_spatial_dimensions").str(), spatial.size(),
                         rank - 2)))
    return failure();
  SmallVector<int64_t> dims = dimensionsOf(first, spatial, last);
  std::string text = (name + " dimensions").str();
  if (failed(verifyUnique(op, dimConstraint, text, dims)))
    return failure();
  return verifyInRange(op, dimConstraint, text, dims, rank);
}

/// C1, C12, C13 and C17 to C20: which dimension is what.
template <typename Op> LogicalResult verifyDimensionNumbers(Op op) {
  ConvDimensionNumbersAttr n = op.getDimensionNumbers();
  int64_t rank = rankOf(op.getLhs());
  if (rank != rankOf(op.getRhs()) || rank < 2)
    return violation(op, 1) << "lhs and rhs must have the same rank of at least 2, got " << rank
                            << " and " << rankOf(op.getRhs());
  if (rankOf(op.getResult()) != rank)
    return violation(op, 26) << "result must have rank " << rank << ", got "
                             << rankOf(op.getResult());
  if (failed(verifyDims(op, 12, 13, "input", n.getInputBatchDimension(),
                        n.getInputSpatialDimensions(), n.getInputFeatureDimension(), rank)) ||
      failed(verifyDims(op, 17, 18, "kernel", n.getKernelInputFeatureDimension(),
                        n.getKernelSpatialDimensions(), n.getKernelOutputFeatureDimension(), rank)))
    return failure();
  return verifyDims(op, 19, 20, "output", n.getOutputBatchDimension(),
                    n.getOutputSpatialDimensions(), n.getOutputFeatureDimension(), rank);
}

/// C2 to C9: the window, except for padding.
template <typename Op> LogicalResult verifyWindow(Op op) {
  int64_t spatial = rankOf(op.getLhs()) - 2;
  if (failed(verifyWindowList(op, 2, 3, "window_strides", op.getWindowStrides(), spatial)) ||
      failed(verifyWindowList(op, 5, 6, "lhs_dilation", op.getLhsDilation(), spatial)) ||
      failed(verifyWindowList(op, 7, 8, "rhs_dilation", op.getRhsDilation(), spatial)))
    return failure();
  if (op.getWindowReversal())
    return verifyCount(op, 9, "window_reversal", op.getWindowReversal()->size(), spatial);
  return success();
}

LogicalResult verifyDivides(Operation *op, int constraint, StringRef name, int64_t size,
                            int64_t groups) {
  if (!ShapedType::isDynamic(size) && size % groups != 0)
    return violation(op, constraint)
           << name << " of size " << size << " must divide into " << groups << " groups";
  return success();
}

/// C10, C11, C14 to C16 and C21 to C24: features and groups.
template <typename Op> LogicalResult verifyGroups(Op op) {
  ConvDimensionNumbersAttr n = op.getDimensionNumbers();
  Sizes lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  int64_t features = op.getFeatureGroupCount(), batches = op.getBatchGroupCount();
  if (failed(verifyPositive(op, 21, "feature_group_count", features)) ||
      failed(verifyPositive(op, 22, "batch_group_count", batches)))
    return failure();
  if (features != 1 && batches != 1)
    return violation(op, 23) << "feature_group_count or batch_group_count must be 1, got "
                             << features << " and " << batches;
  int64_t inputFeatures = lhs[n.getInputFeatureDimension()];
  int64_t kernelFeatures = rhs[n.getKernelInputFeatureDimension()];
  int64_t outputFeatures = rhs[n.getKernelOutputFeatureDimension()];
  if (failed(verifyDivides(op, 10, "input batch dimension", lhs[n.getInputBatchDimension()],
                           batches)) ||
      failed(verifyDivides(op, 11, "input feature dimension", inputFeatures, features)) ||
      failed(verifyDivides(op, 15, "kernel output feature dimension", outputFeatures, batches)) ||
      failed(verifyDivides(op, 16, "kernel output feature dimension", outputFeatures, features)))
    return failure();
  if (!ShapedType::isDynamic(inputFeatures) && !sameSize(kernelFeatures, inputFeatures / features))
    return violation(op, 14) << "kernel input feature dimension must have size "
                             << inputFeatures / features << ", got " << kernelFeatures;
  if (op.getPrecisionConfig() && !op.getPrecisionConfig()->empty() &&
      op.getPrecisionConfig()->size() != 2)
    return violation(op, 24) << "precision_config must have 2 elements, got "
                             << op.getPrecisionConfig()->size();
  return success();
}

/// C29 and C30: scales belong to the dimension of output features.
LogicalResult verifyQuantizedFeatures(Operation *op, Type rhs, Type result,
                                      ConvDimensionNumbersAttr n) {
  auto kernel = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs);
  auto output = dyn_cast<quant::UniformQuantizedPerAxisType>(result);
  if (kernel && kernel.getQuantizedDimension() != n.getKernelOutputFeatureDimension())
    return violation(op, 29) << "the quantized dimension of rhs must be its output feature "
                                "dimension, got "
                             << kernel.getQuantizedDimension();
  if (output && output.getQuantizedDimension() != n.getOutputFeatureDimension())
    return violation(op, 30) << "the quantized dimension of the result must be its feature "
                                "dimension, got "
                             << output.getQuantizedDimension();
  return success();
}

/// C27 to C34: element types. The result's may differ from the operands', in which
/// case it is the type that products are summed in; programs use that although
/// C27 is stricter.
template <typename Op> LogicalResult verifyTypes(Op op) {
  Type lhs = elementOf(op.getLhs()), rhs = elementOf(op.getRhs()),
       result = elementOf(op.getResult());
  bool quantized = isa<quant::QuantizedType>(lhs) || isa<quant::QuantizedType>(rhs) ||
                   isa<quant::QuantizedType>(result);
  if (!quantized && lhs != rhs)
    return violation(op, 27) << "lhs and rhs must have the same element type, got " << lhs
                             << " and " << rhs;
  if (!quantized)
    return success();
  if (failed(verifyQuantizedProduct(op, 28, 31, 34, lhs, rhs, result)))
    return failure();
  return verifyQuantizedFeatures(op, rhs, result, op.getDimensionNumbers());
}

/// C25: the result's shape; `window` is empty where it is not known.
template <typename Op> LogicalResult verifyResult(Op op, ArrayRef<WindowDim> window) {
  ConvDimensionNumbersAttr n = op.getDimensionNumbers();
  Sizes lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  SmallVector<int64_t> wanted(lhs.size(), ShapedType::kDynamic);
  int64_t batch = lhs[n.getInputBatchDimension()];
  wanted[n.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / int64_t(op.getBatchGroupCount());
  wanted[n.getOutputFeatureDimension()] = rhs[n.getKernelOutputFeatureDimension()];
  for (auto [i, dim] : llvm::enumerate(window))
    wanted[n.getOutputSpatialDimensions()[i]] =
        countWindows(lhs[n.getInputSpatialDimensions()[i]], dim);
  return verifyShape(op, 25, "result", shapeOf(op.getResult()), wanted);
}

template <typename Op> LogicalResult verifyAllButResult(Op op) {
  if (failed(verifyDimensionNumbers(op)) || failed(verifyWindow(op)) || failed(verifyGroups(op)))
    return failure();
  return verifyTypes(op);
}

} // namespace

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyAllButResult(*this)) ||
      failed(verifyPadding(*this, 4, getPadding(), rankOf(getLhs()) - 2)))
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t dim : getDimensionNumbers().getKernelSpatialDimensions())
    sizes.push_back(shapeOf(getRhs())[dim]);
  return verifyResult(
      *this, windowOf(sizes, getWindowStrides(), getPadding(), getLhsDilation(), getRhsDilation()));
}

LogicalResult DynamicConvOp::verify() {
  if (failed(verifyAllButResult(*this)) ||
      failed(verifyShape(*this, 4, "padding", shapeOf(getPadding()), {rankOf(getLhs()) - 2, 2})))
    return failure();
  return verifyResult(*this, {});
}

} // namespace spokeshave::stablehlo
