//===- CanonicalizeSlices.cpp - rewrites of slices, pads, concatenations ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// It takes everything in order: strides over dimensions of equal size are 1.
struct IdentitySlice : OpRewritePattern<sh::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::SliceOp op, PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Two affine maps of the index are one.
struct SliceOfSlice : OpRewritePattern<sh::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::SliceOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> starts, limits, strides;
    for (int64_t i = 0, rank = op.getStartIndices().size(); i < rank; ++i) {
      int64_t stride = inner.getStrides()[i];
      int64_t start = inner.getStartIndices()[i] + op.getStartIndices()[i] * stride;
      int64_t size = shapeOf(op)[i], step = stride * op.getStrides()[i];
      starts.push_back(start);
      strides.push_back(step);
      limits.push_back(size == 0 ? start : start + (size - 1) * step + 1);
    }
    rewriter.replaceOpWithNewOp<sh::SliceOp>(
        op, op.getType(), inner.getOperand(), rewriter.getDenseI64ArrayAttr(starts),
        rewriter.getDenseI64ArrayAttr(limits), rewriter.getDenseI64ArrayAttr(strides));
    return success();
  }
};

/// What lies within one piece is a slice of that piece.
struct SliceOfConcatenate : OpRewritePattern<sh::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getOperand().getDefiningOp<sh::ConcatenateOp>();
    if (!concat)
      return failure();
    int64_t dim = concat.getDimension(), offset = 0;
    int64_t start = op.getStartIndices()[dim], limit = op.getLimitIndices()[dim];
    for (Value piece : concat.getInputs()) {
      int64_t size = shapeOf(piece)[dim];
      if (start >= offset && limit <= offset + size && start < limit) {
        SmallVector<int64_t> starts(op.getStartIndices()), limits(op.getLimitIndices());
        starts[dim] -= offset;
        limits[dim] -= offset;
        rewriter.replaceOpWithNewOp<sh::SliceOp>(
            op, op.getType(), piece, rewriter.getDenseI64ArrayAttr(starts),
            rewriter.getDenseI64ArrayAttr(limits), op.getStridesAttr());
        return success();
      }
      offset += size;
    }
    return failure();
  }
};

/// No edge and no interior is added.
struct IdentityPad : OpRewritePattern<sh::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::PadOp op, PatternRewriter &rewriter) const override {
    auto isZero = [](ArrayRef<int64_t> values) {
      return llvm::all_of(values, [](int64_t v) { return v == 0; });
    };
    if (!isZero(op.getEdgePaddingLow()) || !isZero(op.getEdgePaddingHigh()))
      return failure();
    for (auto [size, interior] : llvm::zip_equal(shapeOf(op.getOperand()), op.getInteriorPadding()))
      if (interior != 0 && size > 1)
        return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Pieces without elements give nothing, and one piece is the whole.
struct SimplifyConcatenate : OpRewritePattern<sh::ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ConcatenateOp op, PatternRewriter &rewriter) const override {
    int64_t dim = op.getDimension();
    SmallVector<Value> pieces;
    for (Value piece : op.getInputs()) {
      auto inner = piece.getDefiningOp<sh::ConcatenateOp>();
      if (inner && static_cast<int64_t>(inner.getDimension()) == dim && inner->hasOneUse())
        llvm::append_range(pieces, inner.getInputs());
      else if (shapeOf(piece)[dim] != 0)
        pieces.push_back(piece);
    }
    if (pieces.size() == 1) {
      rewriter.replaceOp(op, pieces.front());
      return success();
    }
    if (pieces.empty() || llvm::equal(pieces, op.getInputs()))
      return failure();
    rewriter.replaceOpWithNewOp<sh::ConcatenateOp>(op, op.getType(), pieces, op.getDimensionAttr());
    return success();
  }
};

/// The clamped start of a dynamic_slice or update, if it is known.
std::optional<int64_t> constantStart(Value start, int64_t size, int64_t slice) {
  if (size == slice)
    return 0; // every start is clamped to this
  DenseIntElementsAttr value;
  if (!matchPattern(start, m_Constant(&value)) || value.getNumElements() != 1)
    return std::nullopt;
  APInt number = *value.value_begin<APInt>();
  bool isUnsigned = value.getElementType().isUnsignedInteger();
  APInt wide = isUnsigned ? number.zext(128) : number.sext(128);
  if (wide.isNegative())
    return 0;
  return std::min<uint64_t>(wide.getLimitedValue(), size - slice);
}

/// Its starts are known, clamping included.
struct ConstantDynamicSlice : OpRewritePattern<sh::DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicSliceOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> starts, limits;
    for (auto [start, size, slice] :
         llvm::zip_equal(op.getStartIndices(), shapeOf(op.getOperand()), op.getSliceSizes())) {
      std::optional<int64_t> known = constantStart(start, size, slice);
      if (!known)
        return failure();
      starts.push_back(*known);
      limits.push_back(*known + slice);
    }
    rewriter.replaceOpWithNewOp<sh::SliceOp>(
        op, op.getType(), op.getOperand(), rewriter.getDenseI64ArrayAttr(starts),
        rewriter.getDenseI64ArrayAttr(limits),
        rewriter.getDenseI64ArrayAttr(SmallVector<int64_t>(starts.size(), 1)));
    return success();
  }
};

/// Everything is overwritten, wherever the start is clamped to.
struct WholeUpdate : OpRewritePattern<sh::DynamicUpdateSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicUpdateSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getUpdate().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getUpdate());
    return success();
  }
};

/// Nothing is overwritten.
struct EmptyUpdate : OpRewritePattern<sh::DynamicUpdateSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DynamicUpdateSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(shapeOf(op.getUpdate()), 0))
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

} // namespace

void spokeshave::graph::populateSliceRewrites(RewritePatternSet &patterns) {
  patterns.add<IdentitySlice, SliceOfSlice, SliceOfConcatenate, IdentityPad, SimplifyConcatenate,
               ConstantDynamicSlice, WholeUpdate, EmptyUpdate>(patterns.getContext());
}
