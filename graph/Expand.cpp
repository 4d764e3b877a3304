//===- Expand.cpp - operations made of simpler ones ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Expand.h"

#include "graph/Emit.h"
#include "graph/Passes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_EXPAND
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

namespace {
/// What the three batch normalisations share: statistics are per feature.
struct BatchNorm {
  BatchNorm(OpBuilder &builder, Operation *op, uint64_t feature, APFloat epsilon)
      : emit(builder, op->getLoc()), type(cast<RankedTensorType>(op->getOperand(0).getType())),
        feature(feature), epsilon(epsilon.convertToFloat()) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != this->feature) {
        others.push_back(dim);
        count *= type.getDimSize(dim);
      }
  }
  Value spread(Value perFeature) { return emit.broadcast(perFeature, type.getShape(), {feature}); }
  Value sum(Value value) { return emit.sum(value, others); }
  Value mean(Value value) {
    Value total = sum(value);
    return emit.div(total, emit.splat(emit.typeOf(total), static_cast<double>(count)));
  }
  Value withEpsilon(Value variance) {
    Value wide = spread(variance);
    return emit.add(wide, emit.splat(type, epsilon));
  }
  Value normalize(Value operand, Value scale, Value offset, Value mean, Value variance) {
    Value centered = emit.sub(operand, spread(mean));
    Value deviation = emit.unary<sh::SqrtOp>(withEpsilon(variance));
    return emit.add(emit.mul(spread(scale), emit.div(centered, deviation)), spread(offset));
  }

  Emit emit;
  RankedTensorType type;
  int64_t feature, count = 1;
  double epsilon;
  SmallVector<int64_t> others;
};
} // namespace

LogicalResult expandBatchNorm(OpBuilder &builder, sh::BatchNormInferenceOp op) {
  BatchNorm norm(builder, op, op.getFeatureIndex(), op.getEpsilon());
  op->getResult(0).replaceAllUsesWith(norm.normalize(op.getOperand(), op.getScale(), op.getOffset(),
                                                     op.getMean(), op.getVariance()));
  op.erase();
  return success();
}

LogicalResult expandBatchNorm(OpBuilder &builder, sh::BatchNormTrainingOp op) {
  BatchNorm norm(builder, op, op.getFeatureIndex(), op.getEpsilon());
  Value mean = norm.mean(op.getOperand());
  Value centered = norm.emit.sub(op.getOperand(), norm.spread(mean));
  Value variance = norm.mean(norm.emit.mul(centered, centered));
  Value output = norm.normalize(op.getOperand(), op.getScale(), op.getOffset(), mean, variance);
  op->replaceAllUsesWith(ValueRange{output, mean, variance});
  op.erase();
  return success();
}

LogicalResult expandBatchNorm(OpBuilder &builder, sh::BatchNormGradOp op) {
  BatchNorm norm(builder, op, op.getFeatureIndex(), op.getEpsilon());
  Emit &emit = norm.emit;
  Value grad = op.getGradOutput();
  Value count = emit.splat(norm.type, static_cast<double>(norm.count));
  Value centered = emit.sub(op.getOperand(), norm.spread(op.getMean()));
  Value variance = norm.withEpsilon(op.getVariance());
  Value deviation = emit.unary<sh::SqrtOp>(variance);
  Value gradOffset = norm.sum(grad);
  Value correlation = norm.sum(emit.mul(grad, centered));
  Value gradScale = norm.sum(emit.div(emit.mul(grad, centered), deviation));
  Value along = emit.div(emit.mul(norm.spread(correlation), centered), variance);
  Value rest = emit.sub(emit.sub(emit.mul(grad, count), norm.spread(gradOffset)), along);
  Value factor = emit.div(emit.div(norm.spread(op.getScale()), deviation), count);
  op->replaceAllUsesWith(ValueRange{emit.mul(factor, rest), gradScale, gradOffset});
  op.erase();
  return success();
}

// One slice of the operand per index, the index's dimensions in the place of the
// selected one.
LogicalResult expandIndexSelect(OpBuilder &builder, sh::TorchIndexSelectOp op) {
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  auto index = cast<RankedTensorType>(op.getIndex().getType());
  int64_t dim = op.getDim(), batch = op.getBatchDims();
  SmallVector<int64_t> offset, batching, sizes(operand.getShape());
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (i < batch)
      batching.push_back(i);
    else if (i != dim)
      offset.push_back(i < dim ? i : i + index.getRank() - batch - 1);
    if (i < batch || i == dim)
      sizes[i] = 1;
  }
  auto numbers = sh::GatherDimensionNumbersAttr::get(builder.getContext(), offset, {dim}, batching,
                                                     batching, {dim}, index.getRank());
  Value gathered = builder.create<sh::GatherOp>(
      op.getLoc(), op.getType(), op.getOperand(), op.getIndex(), numbers,
      builder.getDenseI64ArrayAttr(sizes), builder.getBoolAttr(false));
  op->getResult(0).replaceAllUsesWith(gathered);
  op.erase();
  return success();
}

// As a product and a transpose of its result.
LogicalResult expandEinsum(OpBuilder &builder, sh::EinsumOp op) {
  auto [inputs, output] = op.getEinsumConfig().split("->");
  auto [left, right] = inputs.split(',');
  auto isPlain = [](StringRef labels) {
    llvm::SmallDenseSet<char> seen;
    return llvm::all_of(labels, [&](char c) { return llvm::isAlpha(c) && seen.insert(c).second; });
  };
  if (!isPlain(left) || !isPlain(right) || !isPlain(output))
    return op.emitOpError()
           << "has the configuration '" << op.getEinsumConfig()
           << "', which is not supported: labels must be letters, each once per tensor";
  SmallVector<int64_t> leftBatch, rightBatch, leftContracting, rightContracting, shape, permutation;
  std::string batch, order;
  auto leftType = cast<RankedTensorType>(op.getLhs().getType());
  auto rightType = cast<RankedTensorType>(op.getRhs().getType());
  for (auto [dim, label] : llvm::enumerate(left)) {
    size_t other = right.find(label);
    bool kept = output.contains(label);
    if (other == StringRef::npos && !kept)
      return op.emitOpError() << "sums over '" << label
                              << "' of one operand, which is not supported";
    if (other == StringRef::npos)
      continue;
    (kept ? leftBatch : leftContracting).push_back(dim);
    (kept ? rightBatch : rightContracting).push_back(other);
    if (kept)
      batch += label;
  }
  for (char label : right)
    if (!output.contains(label) && !left.contains(label))
      return op.emitOpError() << "sums over '" << label
                              << "' of one operand, which is not supported";
  order = batch;
  for (char label : left)
    if (!right.contains(label))
      order += label;
  for (char label : right)
    if (!left.contains(label))
      order += label;
  for (char label : order)
    shape.push_back(left.contains(label) ? leftType.getDimSize(left.find(label))
                                         : rightType.getDimSize(right.find(label)));
  for (char label : output)
    permutation.push_back(StringRef(order).find(label));
  auto numbers = sh::DotDimensionNumbersAttr::get(builder.getContext(), leftBatch, rightBatch,
                                                  leftContracting, rightContracting);
  auto type = cast<RankedTensorType>(op.getType());
  Value product =
      builder.create<sh::DotGeneralOp>(op.getLoc(), type.clone(shape), op.getLhs(), op.getRhs(),
                                       numbers, ArrayAttr(), sh::DotAlgorithmAttr());
  op->getResult(0).replaceAllUsesWith(builder.create<sh::TransposeOp>(
      op.getLoc(), type, product, builder.getDenseI64ArrayAttr(permutation)));
  op.erase();
  return success();
}

namespace {
class ExpandPass : public impl::ExpandBase<ExpandPass> {
  void runOnOperation() override {
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations)
      if (failed(expand(op)))
        return signalPassFailure();
  }

  static LogicalResult expand(Operation *op) {
    OpBuilder builder(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<sh::RngBitGeneratorOp>([&](auto o) { return expandRandomBits(builder, o); })
        .Case<sh::BatchNormInferenceOp, sh::BatchNormTrainingOp, sh::BatchNormGradOp>(
            [&](auto o) { return expandBatchNorm(builder, o); })
        .Case<sh::TorchIndexSelectOp>([&](auto o) { return expandIndexSelect(builder, o); })
        .Case<sh::BitcastConvertOp>([&](auto o) { return expandComplexBitcast(builder, o); })
        .Case<sh::EinsumOp>([&](auto o) { return expandEinsum(builder, o); })
        .Default([](Operation *) { return success(); });
  }
};
} // namespace

} // namespace spokeshave::graph
