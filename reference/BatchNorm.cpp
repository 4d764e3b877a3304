//===- BatchNorm.cpp - normalisation over a batch --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// batch_norm_grad, batch_norm_inference, batch_norm_training, by the formulas
// of the specification, in long double with one rounding of each result.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Ops.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

using Wide = long double;

namespace {
/// Which feature an element of the operand belongs to.
struct Features {
  Features(const Tensor &operand, int64_t axis)
      : count(operand.dim(axis)), stride(stridesOf(operand.shape())[axis]),
        perFeature(count ? static_cast<Wide>(operand.size()) / count : 0) {}

  int64_t of(int64_t linear) const { return linear / stride % count; }

  /// sum over each feature's elements of value(linear).
  template <typename F> std::vector<Wide> sum(int64_t size, F value) const {
    std::vector<Wide> sums(count);
    for (int64_t i = 0; i < size; ++i)
      sums[of(i)] += value(i);
    return sums;
  }

  int64_t count, stride;
  Wide perFeature;
};
} // namespace

static Wide real(const Tensor &tensor, int64_t i) {
  return tensor.at(i).re;
}
static Scalar narrow(Wide x) {
  return Scalar::real(static_cast<double>(x));
}

/// The feature dimension exists, and `statistics` have one element per feature.
static LogicalResult checkFeatures(Call &call, int64_t axis, ArrayRef<Tensor> statistics) {
  if (axis < 0 || axis >= call[0].rank())
    return call.error() << "feature_index is not a dimension of the operand";
  for (const Tensor &statistic : statistics)
    if (statistic.rank() != 1 || statistic.dim(0) != call[0].dim(axis))
      return call.error() << "needs one statistic per feature";
  return success();
}

static Tensor vectorOf(ElementType type, const std::vector<Wide> &values) {
  Tensor result(type, {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    result.set(i, narrow(value));
  return result;
}

/// (operand - mean) / sqrt(variance + epsilon) * scale + offset.
template <typename Mean, typename Variance>
static Tensor normalise(Call &call, const Features &features, Mean mean, Variance variance,
                        Wide epsilon) {
  const Tensor &operand = call[0];
  Tensor result(call.resultType(), operand.shape());
  for (int64_t i = 0; i < operand.size(); ++i) {
    int64_t f = features.of(i);
    Wide normalised = (real(operand, i) - mean(f)) / std::sqrt(variance(f) + epsilon);
    result.set(i, narrow(normalised * real(call[1], f) + real(call[2], f)));
  }
  return result;
}

static LogicalResult evalInference(stablehlo::BatchNormInferenceOp op, Call &call) {
  auto axis = static_cast<int64_t>(op.getFeatureIndex());
  if (failed(checkFeatures(call, axis, call.operands.slice(1, 4))))
    return failure();
  Features features(call[0], axis);
  return call.give(normalise(
      call, features, [&](int64_t f) { return real(call[3], f); },
      [&](int64_t f) { return real(call[4], f); }, op.getEpsilon().convertToFloat()));
}

static LogicalResult evalTraining(stablehlo::BatchNormTrainingOp op, Call &call) {
  auto axis = static_cast<int64_t>(op.getFeatureIndex());
  if (failed(checkFeatures(call, axis, call.operands.slice(1, 2))))
    return failure();
  const Tensor &operand = call[0];
  Features features(operand, axis);
  std::vector<Wide> mean =
      features.sum(operand.size(), [&](int64_t i) { return real(operand, i); });
  for (Wide &value : mean)
    value /= features.perFeature;
  std::vector<Wide> variance = features.sum(operand.size(), [&](int64_t i) {
    Wide centred = real(operand, i) - mean[features.of(i)];
    return centred * centred;
  });
  for (Wide &value : variance)
    value /= features.perFeature;
  call.results.push_back(normalise(
      call, features, [&](int64_t f) { return mean[f]; }, [&](int64_t f) { return variance[f]; },
      op.getEpsilon().convertToFloat()));
  call.results.push_back(vectorOf(call.resultType(1), mean));
  return call.give(vectorOf(call.resultType(2), variance));
}

static LogicalResult evalGrad(stablehlo::BatchNormGradOp op, Call &call) {
  auto axis = static_cast<int64_t>(op.getFeatureIndex());
  if (failed(checkFeatures(call, axis, call.operands.slice(1, 3))))
    return failure();
  const Tensor &operand = call[0], &scale = call[1], &mean = call[2], &variance = call[3];
  const Tensor &gradOutput = call[4];
  if (gradOutput.shape() != operand.shape())
    return call.error() << "has a gradient of another shape than its operand";
  Features features(operand, axis);
  Wide epsilon = op.getEpsilon().convertToFloat(), n = features.perFeature;
  auto centred = [&](int64_t i) { return real(operand, i) - real(mean, features.of(i)); };
  auto stable = [&](int64_t f) { return real(variance, f) + epsilon; };

  std::vector<Wide> gradOffset =
      features.sum(operand.size(), [&](int64_t i) { return real(gradOutput, i); });
  std::vector<Wide> weighted =
      features.sum(operand.size(), [&](int64_t i) { return real(gradOutput, i) * centred(i); });
  std::vector<Wide> gradScale = weighted;
  for (auto [f, value] : llvm::enumerate(gradScale))
    value /= std::sqrt(stable(f));

  // i1, i2, i5, i6: names of the specification.
  Tensor gradOperand(call.resultType(), operand.shape());
  for (int64_t i = 0; i < operand.size(); ++i) {
    int64_t f = features.of(i);
    Wide i1 = real(gradOutput, i) * n, i2 = gradOffset[f];
    Wide i5 = weighted[f] * centred(i) / stable(f);
    Wide i6 = i1 - i2 - i5;
    gradOperand.set(i, narrow(real(scale, f) / std::sqrt(stable(f)) / n * i6));
  }
  call.results.push_back(std::move(gradOperand));
  call.results.push_back(vectorOf(call.resultType(1), gradScale));
  return call.give(vectorOf(call.resultType(2), gradOffset));
}

void addBatchNorm(HandlerTable &table) {
  table.add<stablehlo::BatchNormGradOp, evalGrad>();
  table.add<stablehlo::BatchNormInferenceOp, evalInference>();
  table.add<stablehlo::BatchNormTrainingOp, evalTraining>();
}

} // namespace spokeshave::reference
