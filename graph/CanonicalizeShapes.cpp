//===- CanonicalizeShapes.cpp - rewrites of reshape, transpose, broadcast --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normal forms: no reshape of a reshape; a transpose that moves only dimensions
// of size 1 and a broadcast that copies nothing are reshapes; a broadcast's
// operand has no dimension of size 1. So the rest of the compiler sees few forms,
// and reshapes cost nothing.
//
//===----------------------------------------------------------------------===//
#include "graph/Canonicalize.h"

#include "input/StablehloOps.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// Its elements are where the operand's are.
struct IdentityReshape : OpRewritePattern<sh::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReshapeOp op, PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// The second alone decides the shape.
struct ReshapeOfReshape : OpRewritePattern<sh::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<sh::ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

/// A splat has the same value in every shape.
template <typename OpT> struct ShapeOfSplat : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    SplatElementsAttr splat;
    if (!matchPattern(op->getOperand(0), m_Constant(&splat)))
      return failure();
    auto value = DenseElementsAttr::get(cast<ShapedType>(op->getResult(0).getType()),
                                        splat.template getSplatValue<Attribute>());
    rewriter.replaceOpWithNewOp<sh::ConstantOp>(op, cast<ElementsAttr>(value));
    return success();
  }
};

/// A reduction of nothing is its initial value.
struct ReduceOfNothing : OpRewritePattern<sh::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReduceOp op, PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(shapeOf(op.getInputs()[0]), 0))
      return failure();
    SmallVector<Value> results;
    for (auto [initial, result] : llvm::zip_equal(op.getInitValues(), op.getResults()))
      results.push_back(rewriter.create<sh::BroadcastInDimOp>(
          op.getLoc(), result.getType(), initial, rewriter.getDenseI64ArrayAttr({})));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// What has no elements need not be computed. Operations that call or loop keep
/// their effects, and reshapes of constants are left to others.
struct EmptyResults : RewritePattern {
  EmptyResults(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto isEmpty = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0 &&
             (tensor.getElementType().isIntOrFloat() || isa<ComplexType>(tensor.getElementType()));
    };
    if (op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), isEmpty) ||
        !isa_and_present<sh::StablehloDialect>(op->getDialect()) ||
        isa<sh::ConstantOp, sh::CustomCallOp, sh::CompositeOp, sh::WhileOp, sh::IfOp, sh::CaseOp,
            sh::OptimizationBarrierOp, sh::InfeedOp, sh::RecvOp>(op))
      return failure();
    SmallVector<Value> results;
    for (Type type : op->getResultTypes()) {
      auto value = DenseElementsAttr::getFromRawBuffer(cast<RankedTensorType>(type), {});
      results.push_back(rewriter.create<sh::ConstantOp>(op->getLoc(), cast<ElementsAttr>(value)));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Dimensions of size 1 have no order.
struct TransposeIsReshape : OpRewritePattern<sh::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::TransposeOp op, PatternRewriter &rewriter) const override {
    int64_t last = -1;
    for (int64_t dim : op.getPermutation()) {
      if (shapeOf(op.getOperand())[dim] == 1)
        continue;
      if (dim < last)
        return failure();
      last = dim;
    }
    rewriter.replaceOpWithNewOp<sh::ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

/// Two permutations are one.
struct TransposeOfTranspose : OpRewritePattern<sh::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<sh::TransposeOp>(op, op.getType(), inner.getOperand(),
                                                 rewriter.getDenseI64ArrayAttr(permutation));
    return success();
  }
};

/// Nothing is copied, the elements keep their order.
struct BroadcastIsReshape : OpRewritePattern<sh::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto from = cast<ShapedType>(op.getOperand().getType()), to = cast<ShapedType>(op.getType());
    if (!from.hasStaticShape() || !to.hasStaticShape() ||
        from.getNumElements() != to.getNumElements())
      return failure();
    int64_t last = -1;
    for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
      if (from.getDimSize(index) == 1)
        continue;
      if (dim < last)
        return failure();
      last = dim;
    }
    rewriter.replaceOpWithNewOp<sh::ReshapeOp>(op, to, op.getOperand());
    return success();
  }
};

/// Two maps from result dimensions are one.
struct BroadcastOfBroadcast : OpRewritePattern<sh::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::BroadcastInDimOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getBroadcastDimensions())
      dims.push_back(op.getBroadcastDimensions()[dim]);
    rewriter.replaceOpWithNewOp<sh::BroadcastInDimOp>(op, op.getType(), inner.getOperand(),
                                                      rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// A dimension of size 1 is broadcast whether it is named or not.
struct SqueezeBroadcastOperand : OpRewritePattern<sh::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = shapeOf(op.getOperand());
    if (!llvm::is_contained(shape, 1))
      return failure();
    SmallVector<int64_t> sizes, dims;
    for (auto [size, dim] : llvm::zip_equal(shape, op.getBroadcastDimensions()))
      if (size != 1) {
        sizes.push_back(size);
        dims.push_back(dim);
      }
    auto type = cast<RankedTensorType>(op.getOperand().getType()).clone(sizes);
    Value operand = rewriter.create<sh::ReshapeOp>(op.getLoc(), type, op.getOperand());
    rewriter.replaceOpWithNewOp<sh::BroadcastInDimOp>(op, op.getType(), operand,
                                                      rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// The old broadcast adds leading dimensions.
struct BroadcastToInDim : OpRewritePattern<sh::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::BroadcastOp op, PatternRewriter &rewriter) const override {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(op.getBroadcastSizes().size(),
                                                   cast<ShapedType>(op.getType()).getRank()));
    rewriter.replaceOpWithNewOp<sh::BroadcastInDimOp>(op, op.getType(), op.getOperand(),
                                                      rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Dimensions of size 1 read the same both ways.
struct IdentityReverse : OpRewritePattern<sh::ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReverseOp op, PatternRewriter &rewriter) const override {
    for (int64_t dim : op.getDimensions())
      if (shapeOf(op.getOperand())[dim] != 1)
        return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Twice reversed is not reversed.
struct ReverseOfReverse : OpRewritePattern<sh::ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReverseOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::ReverseOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getDimensions())
      if (!llvm::is_contained(inner.getDimensions(), dim))
        dims.push_back(dim);
    for (int64_t dim : inner.getDimensions())
      if (!llvm::is_contained(op.getDimensions(), dim))
        dims.push_back(dim);
    rewriter.replaceOpWithNewOp<sh::ReverseOp>(op, op.getType(), inner.getOperand(),
                                               rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Dimensions of size 1 need no reduction: the rest is reduced, or there is one
/// element, which meets the initial value.
struct ReduceOfOnes : OpRewritePattern<sh::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
    SmallVector<int64_t> kept, dims;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      bool isReduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
      if (isReduced && size == 1)
        continue;
      if (isReduced)
        dims.push_back(kept.size());
      kept.push_back(size);
    }
    if (kept.size() == shape.size())
      return failure();
    if (dims.empty())
      return combineWithInitial(op, rewriter);
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(rewriter.create<sh::ReshapeOp>(
          op.getLoc(), cast<RankedTensorType>(input.getType()).clone(kept), input));
    auto smaller = rewriter.create<sh::ReduceOp>(op.getLoc(), op.getResultTypes(), inputs,
                                                 op.getInitValues(), dims);
    rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(), smaller.getBody().end());
    rewriter.replaceOp(op, smaller);
    return success();
  }

  /// Only for computations of one operation, as almost all are.
  static LogicalResult combineWithInitial(sh::ReduceOp op, PatternRewriter &rewriter) {
    Block &body = op.getBody().front();
    if (op.getInputs().size() != 1 || !llvm::hasNItems(body.begin(), body.end(), 2))
      return failure();
    Operation *combine = &body.front();
    if (!isa<sh::AddOp, sh::MulOp, sh::MaxOp, sh::MinOp, sh::AndOp, sh::OrOp>(combine) ||
        body.getTerminator()->getOperand(0) != combine->getResult(0) ||
        combine->getOperands() != ValueRange(body.getArguments()) ||
        getElementTypeOrSelf(op.getInputs()[0].getType()) !=
            getElementTypeOrSelf(op->getResult(0).getType()))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value initial = rewriter.create<sh::BroadcastInDimOp>(op.getLoc(), type, op.getInitValues()[0],
                                                          rewriter.getDenseI64ArrayAttr({}));
    Value element = rewriter.create<sh::ReshapeOp>(op.getLoc(), type, op.getInputs()[0]);
    OperationState state(op.getLoc(), combine->getName(), {initial, element}, {type});
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

} // namespace

void spokeshave::graph::populateShapeRewrites(RewritePatternSet &patterns) {
  patterns
      .add<EmptyResults, IdentityReshape, ReshapeOfReshape, TransposeIsReshape,
           TransposeOfTranspose, BroadcastIsReshape, BroadcastOfBroadcast, SqueezeBroadcastOperand,
           BroadcastToInDim, IdentityReverse, ReverseOfReverse, ReduceOfNothing, ReduceOfOnes>(
          patterns.getContext());
  patterns.add<ShapeOfSplat<sh::ReshapeOp>, ShapeOfSplat<sh::TransposeOp>,
               ShapeOfSplat<sh::BroadcastInDimOp>, ShapeOfSplat<sh::ReverseOp>,
               ShapeOfSplat<sh::SliceOp>>(patterns.getContext());
}
