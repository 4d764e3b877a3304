//===- CanonicalizeDynamic.cpp - dynamic operations with constant shapes ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that take sizes as operands, where result types are static and the
// sizes are constants: programs that were exported for any shape and then refined
// to one have them.
//
//===----------------------------------------------------------------------===//
#include "graph/Canonicalize.h"

#include "input/StablehloOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace {

bool isStatic(Type type) {
  return cast<ShapedType>(type).hasStaticShape();
}

/// The integers of a constant.
std::optional<SmallVector<int64_t>> integersOf(Value value) {
  DenseIntElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  bool isUnsigned = attribute.getElementType().isUnsignedInteger();
  SmallVector<int64_t> integers;
  for (const APInt &integer : attribute.getValues<APInt>())
    integers.push_back(isUnsigned ? int64_t(integer.getZExtValue()) : integer.getSExtValue());
  return integers;
}

/// The type says all that the operand does.
struct StaticReshape : OpRewritePattern<sh::DynamicReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicReshapeOp op, PatternRewriter &rewriter) const override {
    if (!isStatic(op.getType()) || !isStatic(op.getOperand().getType()))
      return failure();
    rewriter.replaceOpWithNewOp<sh::ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

struct StaticBroadcast : OpRewritePattern<sh::DynamicBroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicBroadcastInDimOp op,
                                PatternRewriter &rewriter) const override {
    if (!isStatic(op.getType()) || !isStatic(op.getOperand().getType()))
      return failure();
    rewriter.replaceOpWithNewOp<sh::BroadcastInDimOp>(op, op.getType(), op.getOperand(),
                                                      op.getBroadcastDimensionsAttr());
    return success();
  }
};

struct StaticIota : OpRewritePattern<sh::DynamicIotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicIotaOp op, PatternRewriter &rewriter) const override {
    if (!isStatic(op.getType()))
      return failure();
    rewriter.replaceOpWithNewOp<sh::IotaOp>(op, op.getType(), op.getIotaDimensionAttr());
    return success();
  }
};

struct ConstantPad : OpRewritePattern<sh::DynamicPadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicPadOp op, PatternRewriter &rewriter) const override {
    auto low = integersOf(op.getEdgePaddingLow()), high = integersOf(op.getEdgePaddingHigh()),
         interior = integersOf(op.getInteriorPadding());
    if (!isStatic(op.getType()) || !low || !high || !interior)
      return failure();
    rewriter.replaceOpWithNewOp<sh::PadOp>(op, op.getType(), op.getOperand(), op.getPaddingValue(),
                                           rewriter.getDenseI64ArrayAttr(*low),
                                           rewriter.getDenseI64ArrayAttr(*high),
                                           rewriter.getDenseI64ArrayAttr(*interior));
    return success();
  }
};

struct ConstantGather : OpRewritePattern<sh::DynamicGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicGatherOp op, PatternRewriter &rewriter) const override {
    auto sizes = integersOf(op.getSliceSizes());
    if (!isStatic(op.getType()) || !sizes)
      return failure();
    rewriter.replaceOpWithNewOp<sh::GatherOp>(
        op, op.getType(), op.getOperand(), op.getStartIndices(), op.getDimensionNumbersAttr(),
        rewriter.getDenseI64ArrayAttr(*sizes), op.getIndicesAreSortedAttr());
    return success();
  }
};

struct ConstantConvolution : OpRewritePattern<sh::DynamicConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicConvOp op, PatternRewriter &rewriter) const override {
    auto padding = integersOf(op.getPadding());
    if (!isStatic(op.getType()) || !padding)
      return failure();
    auto type = RankedTensorType::get({int64_t(padding->size() / 2), 2}, rewriter.getI64Type());
    rewriter.replaceOpWithNewOp<sh::ConvolutionOp>(
        op, op.getType(), op.getLhs(), op.getRhs(), op.getWindowStridesAttr(),
        DenseIntElementsAttr::get(type, ArrayRef<int64_t>(*padding)), op.getLhsDilationAttr(),
        op.getRhsDilationAttr(), op.getWindowReversalAttr(), op.getDimensionNumbersAttr(),
        op.getFeatureGroupCountAttr(), op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
    return success();
  }
};

struct ConstantRealSlice : OpRewritePattern<sh::RealDynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::RealDynamicSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto starts = integersOf(op.getStartIndices()), limits = integersOf(op.getLimitIndices()),
         strides = integersOf(op.getStrides());
    auto operand = cast<RankedTensorType>(op.getOperand().getType());
    if (!isStatic(op.getType()) || !starts || !limits || !strides || !operand.hasStaticShape())
      return failure();
    // Out of bounds is an error when run, not a slice.
    for (int64_t dim = 0; dim < operand.getRank(); ++dim)
      if ((*starts)[dim] < 0 || (*limits)[dim] < (*starts)[dim] || (*strides)[dim] <= 0 ||
          (*limits)[dim] > operand.getDimSize(dim))
        return failure();
    rewriter.replaceOpWithNewOp<sh::SliceOp>(
        op, op.getType(), op.getOperand(), rewriter.getDenseI64ArrayAttr(*starts),
        rewriter.getDenseI64ArrayAttr(*limits), rewriter.getDenseI64ArrayAttr(*strides));
    return success();
  }
};

struct StaticSize : OpRewritePattern<sh::GetDimensionSizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::GetDimensionSizeOp op,
                                PatternRewriter &rewriter) const override {
    auto operand = cast<RankedTensorType>(op.getOperand().getType());
    if (operand.isDynamicDim(op.getDimension()))
      return failure();
    auto size = static_cast<int32_t>(operand.getDimSize(op.getDimension()));
    rewriter.replaceOpWithNewOp<sh::ConstantOp>(
        op, DenseElementsAttr::get(cast<ShapedType>(op.getType()), size));
    return success();
  }
};

} // namespace

void spokeshave::graph::populateDynamicRewrites(RewritePatternSet &patterns) {
  patterns.add<StaticReshape, StaticBroadcast, StaticIota, ConstantPad, ConstantGather,
               ConstantConvolution, ConstantRealSlice, StaticSize>(patterns.getContext());
}
