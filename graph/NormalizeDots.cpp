//===- NormalizeDots.cpp - matrix products in one form ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel knows one product: (batch, M, K) x (batch, K, N). Transposes and
// reshapes that bring operands to it are not made: fusion turns them into the
// addresses at which the kernel reads.
//
//===----------------------------------------------------------------------===//
#include "graph/Passes.h"
#include "graph/Precision.h"
#include "input/StablehloOps.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_NORMALIZEDOTS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

using Dims = SmallVector<int64_t>;

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// The dimensions of an operand that are neither batched nor contracted.
Dims freeDims(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  Dims free;
  for (int64_t dim : llvm::seq<int64_t>(0, shapeOf(operand).size()))
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim))
      free.push_back(dim);
  return free;
}

int64_t product(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t size = 1;
  for (int64_t dim : dims)
    size *= shape[dim];
  return size;
}

/// `operand` with its dimensions in the order of `groups`, each group one
/// dimension.
Value regroup(PatternRewriter &rewriter, Location loc, Value operand, ArrayRef<Dims> groups) {
  auto type = cast<RankedTensorType>(operand.getType());
  Dims order, transposed, grouped;
  for (const Dims &group : groups) {
    order.append(group.begin(), group.end());
    grouped.push_back(product(type.getShape(), group));
  }
  for (int64_t dim : order)
    transposed.push_back(type.getDimSize(dim));
  if (!llvm::equal(order, llvm::seq<int64_t>(0, type.getRank())))
    operand = rewriter.create<sh::TransposeOp>(loc, type.clone(transposed), operand,
                                               rewriter.getDenseI64ArrayAttr(order));
  if (grouped == transposed)
    return operand;
  return rewriter.create<sh::ReshapeOp>(loc, type.clone(grouped), operand);
}

/// To two or three dimensions per operand, in the kernel's order.
struct NormalizeDot : OpRewritePattern<sh::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DotGeneralOp op, PatternRewriter &rewriter) const override {
    auto numbers = op.getDotDimensionNumbers();
    Dims lhsBatch(numbers.getLhsBatchingDimensions()), rhsBatch(numbers.getRhsBatchingDimensions());
    Dims lhsContracting(numbers.getLhsContractingDimensions());
    Dims rhsContracting(numbers.getRhsContractingDimensions());
    int64_t rank = lhsBatch.empty() ? 2 : 3;
    if (isNormal(op, lhsBatch, rhsBatch, lhsContracting, rhsContracting, rank))
      return failure();
    // Contracted elements in the order in which the left operand has them.
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    for (auto [left, right] : llvm::zip_equal(lhsContracting, rhsContracting))
      pairs.push_back({left, right});
    llvm::sort(pairs);
    for (auto [index, pair] : llvm::enumerate(pairs))
      std::tie(lhsContracting[index], rhsContracting[index]) = pair;
    Dims lhsFree = freeDims(op.getLhs(), lhsBatch, lhsContracting);
    Dims rhsFree = freeDims(op.getRhs(), rhsBatch, rhsContracting);

    SmallVector<Dims> lhsGroups{lhsFree, lhsContracting}, rhsGroups{rhsContracting, rhsFree};
    Dims shape{product(shapeOf(op.getLhs()), lhsFree), product(shapeOf(op.getRhs()), rhsFree)},
        batch;
    if (rank == 3) {
      lhsGroups.insert(lhsGroups.begin(), lhsBatch);
      rhsGroups.insert(rhsGroups.begin(), rhsBatch);
      shape.insert(shape.begin(), product(shapeOf(op.getLhs()), lhsBatch));
      batch.push_back(0);
    }
    Value lhs = regroup(rewriter, op.getLoc(), op.getLhs(), lhsGroups);
    Value rhs = regroup(rewriter, op.getLoc(), op.getRhs(), rhsGroups);
    auto normal = cast<sh::DotGeneralOp>(rewriter.clone(*op));
    normal.getLhsMutable().assign(lhs);
    normal.getRhsMutable().assign(rhs);
    normal.setDotDimensionNumbersAttr(sh::DotDimensionNumbersAttr::get(
        rewriter.getContext(), batch, batch, {rank - 1}, {rank - 2}));
    auto type = cast<RankedTensorType>(op.getType());
    normal.getResult().setType(type.clone(shape));
    rewriter.replaceOpWithNewOp<sh::ReshapeOp>(op, type, normal.getResult());
    return success();
  }

  static bool isNormalForm(sh::DotGeneralOp op) {
    auto numbers = op.getDotDimensionNumbers();
    return isNormal(op, numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                    numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions(),
                    numbers.getLhsBatchingDimensions().empty() ? 2 : 3);
  }

  static bool isNormal(sh::DotGeneralOp op, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                       ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting,
                       int64_t rank) {
    Dims batch(rank == 3 ? 1 : 0, 0);
    return static_cast<int64_t>(shapeOf(op.getLhs()).size()) == rank &&
           static_cast<int64_t>(shapeOf(op.getRhs()).size()) == rank &&
           lhsBatch == ArrayRef(batch) && rhsBatch == ArrayRef(batch) &&
           lhsContracting == ArrayRef<int64_t>{rank - 1} &&
           rhsContracting == ArrayRef<int64_t>{rank - 2};
  }
};

/// A product whose rows become the minor dimension is the product of the swapped
/// operands, written in its final order. Products commute exactly.
struct TransposeOfDot : OpRewritePattern<sh::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getOperand().getDefiningOp<sh::DotGeneralOp>();
    if (!dot || !dot->hasOneUse() || dot.getAlgorithm() ||
        getElementTypeOrSelf(dot.getLhs().getType()) !=
            getElementTypeOrSelf(dot.getRhs().getType()))
      return failure();
    auto numbers = dot.getDotDimensionNumbers();
    int64_t batch = numbers.getLhsBatchingDimensions().size();
    int64_t contracting = numbers.getLhsContractingDimensions().size();
    int64_t rows = shapeOf(dot.getLhs()).size() - batch - contracting;
    int64_t columns = shapeOf(dot.getRhs()).size() - batch - contracting;
    int64_t minor = op.getPermutation().back();
    if (rows == 0 || columns == 0 || minor < batch || minor >= batch + rows)
      return failure();
    auto type = cast<RankedTensorType>(dot.getType());
    Dims swappedShape(type.getShape().take_front(batch));
    llvm::append_range(swappedShape, type.getShape().drop_front(batch + rows));
    llvm::append_range(swappedShape, type.getShape().slice(batch, rows));
    rewriter.setInsertionPoint(dot);
    auto swapped = cast<sh::DotGeneralOp>(rewriter.clone(*dot));
    swapped.getLhsMutable().assign(dot.getRhs());
    swapped.getRhsMutable().assign(dot.getLhs());
    swapped.setDotDimensionNumbersAttr(sh::DotDimensionNumbersAttr::get(
        rewriter.getContext(), numbers.getRhsBatchingDimensions(),
        numbers.getLhsBatchingDimensions(), numbers.getRhsContractingDimensions(),
        numbers.getLhsContractingDimensions()));
    swapPrecision(swapped);
    swapped.getResult().setType(type.clone(swappedShape));
    Dims permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(dim < batch ? dim : dim < batch + rows ? dim + columns : dim - rows);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<sh::TransposeOp>(op, op.getType(), swapped.getResult(),
                                                 rewriter.getDenseI64ArrayAttr(permutation));
    rewriter.eraseOp(dot);
    return success();
  }

  static void swapPrecision(sh::DotGeneralOp op) {
    if (std::optional<ArrayAttr> precision = op.getPrecisionConfig();
        precision && precision->size() == 2)
      op.setPrecisionConfigAttr(
          ArrayAttr::get(op.getContext(), {(*precision)[1], (*precision)[0]}));
  }
};

/// The old product of vectors and matrices.
struct DotToDotGeneral : OpRewritePattern<sh::DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DotOp op, PatternRewriter &rewriter) const override {
    int64_t last = shapeOf(op.getLhs()).size() - 1;
    auto numbers = sh::DotDimensionNumbersAttr::get(rewriter.getContext(), {}, {}, {last}, {0});
    rewriter.replaceOpWithNewOp<sh::DotGeneralOp>(op, op.getType(), op.getLhs(), op.getRhs(),
                                                  numbers, op.getPrecisionConfigAttr(),
                                                  sh::DotAlgorithmAttr());
    return success();
  }
};

/// Of an algorithm by its number of products and the type of their factors.
int64_t orderOf(sh::DotAlgorithmAttr algorithm) {
  int64_t products = algorithm.getNumPrimitiveOperations();
  Type factor = algorithm.getLhsPrecisionType();
  if (factor.isBF16() || factor.getIntOrFloatBitWidth() < 16)
    return orderOfPasses(products);
  // tf32 and f16 have 11 bits.
  return (factor.isTF32() || factor.isF16()) && products == 1 ? 1 : 2;
}

/// Products are computed at least as precisely as their algorithm asks: narrow
/// floats are summed in f32 whatever is done. So an algorithm matters only where
/// it names f64, and on units that multiply bf16 (Precision.h). Operands of two float
/// types meet in f32 or f64.
struct DropAlgorithm : OpRewritePattern<sh::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DotGeneralOp op, PatternRewriter &rewriter) const override {
    Type lhs = getElementTypeOrSelf(op.getLhs().getType());
    Type rhs = getElementTypeOrSelf(op.getRhs().getType());
    auto algorithm = op.getAlgorithm();
    if (!isa<FloatType>(lhs) || !isa<FloatType>(rhs) || (lhs == rhs && !algorithm))
      return failure();
    bool wide = lhs.isF64() || rhs.isF64();
    if (algorithm)
      wide |= algorithm->getAccumulationType().isF64() ||
              algorithm->getLhsPrecisionType().isF64() || algorithm->getRhsPrecisionType().isF64();
    auto product = cast<sh::DotGeneralOp>(rewriter.clone(*op));
    product.removeAlgorithmAttr();
    if (algorithm)
      product->setAttr(kProductOrder, rewriter.getI64IntegerAttr(orderOf(*algorithm)));
    auto type = cast<RankedTensorType>(op.getType());
    if (wide || lhs != rhs) {
      Type common = wide ? Type(rewriter.getF64Type()) : Type(rewriter.getF32Type());
      rewriter.setInsertionPoint(product);
      auto widen = [&](Value operand) -> Value {
        auto old = cast<RankedTensorType>(operand.getType());
        if (old.getElementType() == common)
          return operand;
        return rewriter.create<sh::ConvertOp>(op.getLoc(), old.clone(common), operand);
      };
      product.getLhsMutable().assign(widen(op.getLhs()));
      product.getRhsMutable().assign(widen(op.getRhs()));
      if (wide)
        product.getResult().setType(type.clone(common));
      rewriter.setInsertionPoint(op);
    }
    if (product.getType() == type)
      rewriter.replaceOp(op, product);
    else
      rewriter.replaceOpWithNewOp<sh::ConvertOp>(op, type, product.getResult());
    return success();
  }
};

/// A sum of one product is that product: an outer product, or a scaling, which as
/// elementwise work fuses with its neighbours.
struct DotOfOne : OpRewritePattern<sh::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DotGeneralOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto isNumber = [](Type element) {
      return element.isIntOrFloat() || isa<ComplexType>(element);
    };
    if (!NormalizeDot::isNormalForm(op) || shapeOf(op.getLhs()).back() != 1 ||
        !isNumber(type.getElementType()) ||
        !isNumber(getElementTypeOrSelf(op.getLhs().getType())) ||
        !isNumber(getElementTypeOrSelf(op.getRhs().getType())))
      return failure();
    int64_t rank = type.getRank();
    auto spread = [&](Value operand, int64_t dropped) -> Value {
      Dims shape(shapeOf(operand)), dims;
      shape.erase(shape.begin() + dropped);
      for (int64_t dim = 0; dim < rank; ++dim)
        if (dim != (dropped == rank - 1 ? rank - 1 : rank - 2))
          dims.push_back(dim);
      auto element = cast<RankedTensorType>(operand.getType()).getElementType();
      operand = rewriter.create<sh::ReshapeOp>(op.getLoc(), RankedTensorType::get(shape, element),
                                               operand);
      if (element != type.getElementType())
        operand = rewriter.create<sh::ConvertOp>(op.getLoc(), type.clone(shape), operand);
      return rewriter.create<sh::BroadcastInDimOp>(op.getLoc(), type, operand,
                                                   rewriter.getDenseI64ArrayAttr(dims));
    };
    Value lhs = spread(op.getLhs(), rank - 1), rhs = spread(op.getRhs(), rank - 2);
    rewriter.replaceOpWithNewOp<sh::MulOp>(op, type, lhs, rhs);
    return success();
  }
};

/// A sum of no products is zero.
struct DotOfNone : OpRewritePattern<sh::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DotGeneralOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    Dims contracting(op.getDotDimensionNumbers().getLhsContractingDimensions());
    if (product(shapeOf(op.getLhs()), contracting) != 0 || !type.hasStaticShape() ||
        (!element.isIntOrFloat() && !isa<ComplexType>(element)))
      return failure();
    auto scalar = rewriter.create<sh::ConstantOp>(
        op.getLoc(), cast<ElementsAttr>(zeroOf(RankedTensorType::get({}, element))));
    rewriter.replaceOpWithNewOp<sh::BroadcastInDimOp>(op, type, scalar.getResult(),
                                                      rewriter.getDenseI64ArrayAttr({}));
    return success();
  }

  static DenseElementsAttr zeroOf(RankedTensorType type) {
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    SmallVector<char> zeros(isa<ComplexType>(type.getElementType()) ? 2 * bytes : bytes, 0);
    return DenseElementsAttr::getFromRawBuffer(type, zeros);
  }
};

class NormalizeDotsPass : public graph::impl::NormalizeDotsBase<NormalizeDotsPass> {
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    // Transposes first: they are recognised on products as they were written.
    RewritePatternSet swaps(&getContext()), normal(&getContext());
    swaps.add<DotToDotGeneral, DotOfNone, DropAlgorithm, TransposeOfDot>(&getContext());
    normal.add<NormalizeDot, DotOfOne>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(swaps), config)) ||
        failed(applyPatternsAndFoldGreedily(getOperation(), std::move(normal), config)))
      signalPassFailure();
  }
};

} // namespace
