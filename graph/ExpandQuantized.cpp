//===- ExpandQuantized.cpp - quantized tensors become integers -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the specification says of quantized types: an operation on them works on
// the real numbers that they stand for. Afterwards the integers that are stored
// are what values are; operations that only move elements stay as they are.
//
//===----------------------------------------------------------------------===//
#include "graph/Emit.h"
#include "graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_EXPANDQUANTIZED
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

namespace {

quant::QuantizedType quantizedOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType()) : quant::QuantizedType();
}

/// The type that values of `type` have afterwards.
Type storedType(Type type) {
  quant::QuantizedType quantized = quantizedOf(type);
  if (!quantized)
    return type;
  auto width = quantized.getStorageTypeIntegralWidth();
  auto signedness = quantized.isSigned() ? IntegerType::Signless : IntegerType::Unsigned;
  return cast<RankedTensorType>(type).clone(IntegerType::get(type.getContext(), width, signedness));
}

/// From stored integers to real numbers and back.
class Quantization {
public:
  Quantization(OpBuilder &builder, Operation *op) : builder(builder), emit(builder, op->getLoc()) {}

  Value dequantize(Value stored) {
    quant::QuantizedType type = quantizedOf(stored.getType());
    if (!type)
      return stored;
    Value number = emit.convert(stored, type.getExpressedType());
    Value centred = emit.sub(number, zeroPoints(type, emit.typeOf(number)));
    return emit.mul(centred, scales(type, emit.typeOf(number)));
  }

  Value quantize(Value number, Type to) {
    quant::QuantizedType type = quantizedOf(to);
    RankedTensorType real = emit.typeOf(number);
    Value scaled = emit.div(number, scales(type, real));
    Value shifted = emit.add(scaled, zeroPoints(type, real));
    Value low = emit.splat(real, static_cast<double>(type.getStorageTypeMin()));
    Value high = emit.splat(real, static_cast<double>(type.getStorageTypeMax()));
    Location loc = number.getLoc();
    Value clamped = builder.create<sh::ClampOp>(loc, real, low, shifted, high);
    // No number becomes zero; a comparison that fails on it finds it.
    auto equal =
        sh::ComparisonDirectionAttr::get(builder.getContext(), sh::ComparisonDirection::EQ);
    Value isNumber = builder.create<sh::CompareOp>(loc, real.clone(builder.getI1Type()), shifted,
                                                   shifted, equal, sh::ComparisonTypeAttr());
    Value kept = builder.create<sh::SelectOp>(loc, real, isNumber, clamped, emit.splat(real, 0.0));
    Value rounded = emit.unary<sh::RoundNearestEvenOp>(kept);
    // Of the quantized type for now: what uses it has to know the scale.
    return builder.create<sh::ConvertOp>(loc, to, rounded);
  }

private:
  /// One number for all elements, or one per slice of a dimension.
  Value spread(RankedTensorType type, ArrayRef<double> numbers, int64_t axis) {
    if (numbers.size() == 1)
      return emit.splat(type, numbers.front());
    auto element = cast<FloatType>(type.getElementType());
    SmallVector<APFloat> rounded;
    for (double number : numbers) {
      bool losesInfo = false;
      rounded.emplace_back(number).convert(element.getFloatSemantics(),
                                           APFloat::rmNearestTiesToEven, &losesInfo);
    }
    auto line = RankedTensorType::get({int64_t(numbers.size())}, element);
    Value constant = builder.create<sh::ConstantOp>(builder.getUnknownLoc(),
                                                    DenseElementsAttr::get(line, rounded));
    return emit.broadcast(constant, type.getShape(), {axis});
  }

  Value scales(quant::QuantizedType type, RankedTensorType real) {
    if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
      return spread(real, {uniform.getScale()}, 0);
    auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
    return spread(real, perAxis.getScales(), perAxis.getQuantizedDimension());
  }

  Value zeroPoints(quant::QuantizedType type, RankedTensorType real) {
    if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
      return spread(real, {double(uniform.getZeroPoint())}, 0);
    auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
    SmallVector<double> points(perAxis.getZeroPoints());
    return spread(real, points, perAxis.getQuantizedDimension());
  }

  OpBuilder &builder;
  Emit emit;
};

bool hasQuantized(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), quantizedOf) ||
         llvm::any_of(op->getResultTypes(), quantizedOf);
}

/// Elements are moved or handed on; what is stored stands for itself.
bool onlyMoves(Operation *op) {
  return op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>() ||
         !isa<sh::StablehloDialect>(op->getDialect()) ||
         isa<sh::BitcastConvertOp, sh::BroadcastInDimOp, sh::BroadcastOp, sh::ConcatenateOp,
             sh::ConstantOp, sh::CustomCallOp, sh::DynamicGatherOp, sh::DynamicSliceOp,
             sh::DynamicUpdateSliceOp, sh::GatherOp, sh::GetDimensionSizeOp, sh::GetTupleElementOp,
             sh::OptimizationBarrierOp, sh::PadOp, sh::ReshapeOp, sh::ReverseOp, sh::SliceOp,
             sh::TransposeOp, sh::TupleOp>(op);
}

/// Rewrites `op` on the numbers that its quantized operands stand for.
void expand(Operation *op) {
  OpBuilder builder(op);
  Quantization quantization(builder, op);
  SmallVector<Value> operands, results;
  for (Value operand : op->getOperands())
    operands.push_back(quantization.dequantize(operand));
  if (isa<sh::UniformQuantizeOp, sh::UniformDequantizeOp>(op)) {
    results = operands;
  } else {
    SmallVector<Type> types;
    for (Type type : op->getResultTypes()) {
      quant::QuantizedType quantized = quantizedOf(type);
      types.push_back(quantized ? cast<RankedTensorType>(type).clone(quantized.getExpressedType())
                                : type);
    }
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    llvm::append_range(results, builder.create(state)->getResults());
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    result.replaceAllUsesWith(
        quantizedOf(result.getType()) ? quantization.quantize(value, result.getType()) : value);
  op->erase();
}

class ExpandQuantizedPass : public impl::ExpandQuantizedBase<ExpandQuantizedPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Operation *> found;
    bool any = llvm::any_of(function.getArgumentTypes(), quantizedOf);
    function.walk([&](Operation *op) {
      bool has = hasQuantized(op);
      any = any || has;
      if (has && !onlyMoves(op))
        found.push_back(op);
    });
    if (!any)
      return;
    for (Operation *op : found)
      expand(op);
    retype(function);
  }

  static void retype(func::FuncOp function) {
    function.walk([](Operation *op) {
      for (Value result : op->getResults())
        result.setType(storedType(result.getType()));
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          argument.setType(storedType(argument.getType()));
      auto cast = dyn_cast<sh::BitcastConvertOp>(op);
      if (cast && cast.getOperand().getType() == cast.getType()) {
        cast.replaceAllUsesWith(cast.getOperand());
        cast.erase();
      }
    });
    auto stored = [](ArrayRef<Type> types) { return llvm::map_to_vector(types, storedType); };
    FunctionType type = function.getFunctionType();
    function.setType(FunctionType::get(function.getContext(), stored(type.getInputs()),
                                       stored(type.getResults())));
  }
};
} // namespace

} // namespace spokeshave::graph
