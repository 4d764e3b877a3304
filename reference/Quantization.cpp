//===- Quantization.cpp - quantized tensors --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// uniform_quantize, uniform_dequantize, and what the specification calls
// dequantize_op_quantize and hybrid_dequantize_then_op: any other operation that
// computes on quantized tensors runs on the floats that they stand for.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

namespace {
/// The parameters of a quantized element type, per tensor or per axis.
struct Parameters {
  ElementType expressed;
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;
  int64_t storageMin = 0, storageMax = 0;

  static FailureOr<Parameters> of(ElementType type);
  /// Which scale and zero point the element at `linear` uses.
  int64_t slice(int64_t linear, Shape shape) const {
    if (axis < 0)
      return 0;
    return linear / stridesOf(shape)[axis] % shape[axis];
  }
  bool fits(Shape shape) const {
    return axis < 0 || (axis < static_cast<int64_t>(shape.size()) &&
                        shape[axis] == static_cast<int64_t>(scales.size()));
  }
};
} // namespace

FailureOr<Parameters> Parameters::of(ElementType type) {
  auto quantized = dyn_cast<quant::QuantizedType>(type.type());
  if (!quantized)
    return failure();
  Parameters result;
  FailureOr<ElementType> expressed = ElementType::get(quantized.getExpressedType());
  if (failed(expressed))
    return failure();
  result.expressed = *expressed;
  result.storageMin = quantized.getStorageTypeMin();
  result.storageMax = quantized.getStorageTypeMax();
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type.type())) {
    result.scales = {uniform.getScale()};
    result.zeroPoints = {uniform.getZeroPoint()};
  } else if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type.type())) {
    llvm::append_range(result.scales, perAxis.getScales());
    llvm::append_range(result.zeroPoints, perAxis.getZeroPoints());
    result.axis = perAxis.getQuantizedDimension();
  } else {
    return failure();
  }
  // Scales are values of the expressed type.
  for (double &scale : result.scales)
    scale = expressed->round(Scalar::real(scale)).re;
  return result;
}

static FailureOr<Tensor> dequantize(Call &call, const Tensor &x) {
  FailureOr<Parameters> parameters = Parameters::of(x.elementType());
  if (failed(parameters) || !parameters->fits(x.shape()))
    return call.error() << "cannot dequantize elements of type " << x.elementType().type();
  const ElementType &expressed = parameters->expressed;
  Tensor result(expressed, x.shape());
  char *to = result.mutableData();
  for (int64_t i = 0; i < x.size(); ++i, to += expressed.bytes()) {
    int64_t slice = parameters->slice(i, x.shape());
    Scalar centred = expressed.round(
        Scalar::real(static_cast<double>(x.at(i).i - parameters->zeroPoints[slice])));
    expressed.store(to, Scalar::real(centred.re * parameters->scales[slice]));
  }
  return result;
}

static FailureOr<Tensor> quantize(Call &call, const Tensor &x, ElementType type) {
  FailureOr<Parameters> parameters = Parameters::of(type);
  if (failed(parameters) || !parameters->fits(x.shape()) || !x.elementType().isFloat())
    return call.error() << "cannot quantize " << x.elementType().type() << " to " << type.type();
  const ElementType &expressed = parameters->expressed;
  auto round = [&](double value) { return expressed.round(Scalar::real(value)).re; };
  double low = round(parameters->storageMin), high = round(parameters->storageMax);
  Tensor result(type, x.shape());
  char *to = result.mutableData();
  for (int64_t i = 0; i < x.size(); ++i, to += type.bytes()) {
    int64_t slice = parameters->slice(i, x.shape());
    double scaled = round(x.at(i).re / parameters->scales[slice]);
    double shifted = round(scaled + round(parameters->zeroPoints[slice]));
    double clamped = std::isnan(shifted) ? 0 : std::min(std::max(shifted, low), high);
    type.store(to, Scalar::integer(static_cast<int64_t>(std::nearbyint(clamped))));
  }
  return result;
}

/// Moves elements without looking at them: storage integers stand for themselves.
static bool onlyMoves(Operation *op) {
  using namespace stablehlo;
  return isa<BitcastConvertOp, BroadcastInDimOp, BroadcastOp, ConcatenateOp,
             DynamicBroadcastInDimOp, DynamicGatherOp, DynamicPadOp, DynamicReshapeOp,
             DynamicSliceOp, DynamicUpdateSliceOp, GatherOp, GetDimensionSizeOp, PadOp,
             RealDynamicSliceOp, ReshapeOp, ReverseOp, SetDimensionSizeOp, SliceOp, TransposeOp,
             ConstantOp, OptimizationBarrierOp>(op);
}

bool computesOnQuantized(Operation *op, ArrayRef<Tensor> operands,
                         ArrayRef<ElementType> resultTypes) {
  bool any = llvm::any_of(resultTypes, [](ElementType type) { return type.isQuantized(); }) ||
             llvm::any_of(operands, [](const Tensor &operand) {
               return operand.isTensor() && operand.elementType().isQuantized();
             });
  if (!any || onlyMoves(op) || op->getNumRegions() > 0)
    return false;
  return llvm::isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) &&
         !isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp, stablehlo::CompositeOp,
              stablehlo::CustomCallOp, stablehlo::TupleOp, stablehlo::GetTupleElementOp,
              stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp,
              stablehlo::CollectivePermuteOp, stablehlo::SendOp, stablehlo::RecvOp,
              stablehlo::InfeedOp, stablehlo::OutfeedOp>(op);
}

LogicalResult runQuantized(Call &call) {
  SmallVector<Tensor, 4> floats;
  for (const Tensor &operand : call.operands) {
    if (!operand.isTensor() || !operand.elementType().isQuantized()) {
      floats.push_back(operand);
      continue;
    }
    FailureOr<Tensor> value = dequantize(call, operand);
    if (failed(value))
      return failure();
    floats.push_back(std::move(*value));
  }
  SmallVector<ElementType, 4> types;
  for (ElementType type : call.resultTypes) {
    if (type.isQuantized()) {
      FailureOr<Parameters> parameters = Parameters::of(type);
      if (failed(parameters))
        return call.error() << "cannot quantize to " << type.type();
      type = parameters->expressed;
    }
    types.push_back(type);
  }
  Results results;
  if (failed(call.evaluator.runOp(call.op, floats, types, results, call.scope)))
    return failure();
  for (auto [result, type] : llvm::zip(results, call.resultTypes)) {
    if (!type.isQuantized()) {
      call.results.push_back(std::move(result));
      continue;
    }
    if (failed(call.give(quantize(call, result, type))))
      return failure();
  }
  return success();
}

static LogicalResult uniformQuantize(stablehlo::UniformQuantizeOp, Call &call) {
  Tensor operand = call[0];
  if (operand.elementType().isQuantized()) {
    FailureOr<Tensor> value = dequantize(call, operand);
    if (failed(value))
      return failure();
    operand = std::move(*value);
  }
  return call.give(quantize(call, operand, call.resultType()));
}

static LogicalResult uniformDequantize(stablehlo::UniformDequantizeOp, Call &call) {
  return call.give(dequantize(call, call[0]));
}

void addQuantization(HandlerTable &table) {
  table.add<stablehlo::UniformQuantizeOp, uniformQuantize>();
  table.add<stablehlo::UniformDequantizeOp, uniformDequantize>();
}

} // namespace spokeshave::reference
