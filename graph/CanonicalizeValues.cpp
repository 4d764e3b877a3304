//===- CanonicalizeValues.cpp - rewrites of arithmetic, selects, conversions --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For floats only what is exact for every input. x + 0.0 is not (it turns -0.0
// into 0.0), x * 0.0 is not (NaN, infinity), x - x is not.
//
//===----------------------------------------------------------------------===//
#include "graph/Canonicalize.h"

#include "input/StablehloOps.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace {

/// The one value of an integer (or bool) constant.
std::optional<APInt> integerSplat(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) || !isa<IntegerType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APInt>();
}

/// The one value of a real float constant.
std::optional<APFloat> floatSplat(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>();
}

bool isUnsigned(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isUnsignedInteger() || type.isInteger(1);
}

bool isInteger(Value value) {
  return isa<IntegerType>(getElementTypeOrSelf(value.getType()));
}

template <typename Test> bool isIntegerSplat(Value value, Test test) {
  std::optional<APInt> splat = integerSplat(value);
  return splat && test(*splat);
}

template <typename Test> bool isFloatSplat(Value value, Test test) {
  std::optional<APFloat> splat = floatSplat(value);
  return splat && test(*splat);
}

bool isZeroInteger(Value v) {
  return isIntegerSplat(v, [](const APInt &i) { return i.isZero(); });
}
bool isOneInteger(Value v) {
  return isIntegerSplat(v, [](const APInt &i) { return i.isOne(); });
}
bool isOnesInteger(Value v) {
  return isIntegerSplat(v, [](const APInt &i) { return i.isAllOnes(); });
}
bool isOneFloat(Value v) {
  return isFloatSplat(v, [](const APFloat &f) { return f.isExactlyValue(1.0); });
}

/// Which operand of a two-operand operation is the result, given the other.
template <typename OpT> struct NeutralOperand : OpRewritePattern<OpT> {
  using Test = bool (*)(Value neutral);
  NeutralOperand(MLIRContext *context, Test test, bool commutes)
      : OpRewritePattern<OpT>(context), test(test), commutes(commutes) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Value lhs = op.getLhs(), rhs = op.getRhs();
    Value kept = test(rhs) ? lhs : commutes && test(lhs) ? rhs : Value();
    if (!kept || kept.getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, kept);
    return success();
  }
  Test test;
  bool commutes;
};

/// The constant operand decides alone: x * 0, x & 0, x | ~0 of integers.
template <typename OpT> struct AbsorbingOperand : OpRewritePattern<OpT> {
  using Test = bool (*)(Value absorbing);
  AbsorbingOperand(MLIRContext *context, Test test) : OpRewritePattern<OpT>(context), test(test) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    for (Value operand : {op.getLhs(), op.getRhs()})
      if (test(operand) && operand.getType() == op.getType()) {
        rewriter.replaceOp(op, operand);
        return success();
      }
    return failure();
  }
  Test test;
};

void addNeutral(RewritePatternSet &set) {
  MLIRContext *context = set.getContext();
  // x + 0 = x; a sum of bools is `or`.
  set.add<NeutralOperand<sh::AddOp>>(context, isZeroInteger, true);
  // x + (-0.0) = x, also for both zeros.
  set.add<NeutralOperand<sh::AddOp>>(
      context,
      [](Value v) { return isFloatSplat(v, [](const APFloat &f) { return f.isNegZero(); }); },
      true);
  // x - 0 = x, and x - (+0.0) = x, also for both zeros.
  set.add<NeutralOperand<sh::SubtractOp>>(
      context,
      [](Value v) {
        return isZeroInteger(v) || isFloatSplat(v, [](const APFloat &f) { return f.isPosZero(); });
      },
      false);
  // x * 1 and x / 1 are exact.
  auto isOne = +[](Value v) { return isOneInteger(v) || isOneFloat(v); };
  set.add<NeutralOperand<sh::MulOp>>(context, isOne, true);
  set.add<NeutralOperand<sh::DivOp>>(
      context,
      +[](Value v) {
        return isOneFloat(v) ||
               (isOneInteger(v) && !getElementTypeOrSelf(v.getType()).isInteger(1));
      },
      false);
  set.add<NeutralOperand<sh::OrOp>>(context, isZeroInteger, true);
  set.add<NeutralOperand<sh::XorOp>>(context, isZeroInteger, true);
  set.add<NeutralOperand<sh::AndOp>>(context, isOnesInteger, true);
  set.add<NeutralOperand<sh::ShiftLeftOp>>(context, isZeroInteger, false);
  set.add<NeutralOperand<sh::ShiftRightLogicalOp>>(context, isZeroInteger, false);
  set.add<NeutralOperand<sh::ShiftRightArithmeticOp>>(context, isZeroInteger, false);
  // The least and greatest values: maximum and minimum give NaN for NaN anyway.
  set.add<NeutralOperand<sh::MaxOp>>(
      context,
      [](Value v) {
        if (std::optional<APInt> i = integerSplat(v))
          return isUnsigned(v) ? i->isMinValue() : i->isMinSignedValue();
        return isFloatSplat(v, [](const APFloat &f) { return f.isInfinity() && f.isNegative(); });
      },
      true);
  set.add<NeutralOperand<sh::MinOp>>(
      context,
      [](Value v) {
        if (std::optional<APInt> i = integerSplat(v))
          return isUnsigned(v) ? i->isMaxValue() : i->isMaxSignedValue();
        return isFloatSplat(v, [](const APFloat &f) { return f.isInfinity() && !f.isNegative(); });
      },
      true);
  set.add<AbsorbingOperand<sh::MulOp>>(context, isZeroInteger);
  set.add<AbsorbingOperand<sh::AndOp>>(context, isZeroInteger);
  set.add<AbsorbingOperand<sh::OrOp>>(context, isOnesInteger);
}

/// x op x = x: of and, or, minimum and maximum (NaN stays NaN).
template <typename OpT> struct Idempotent : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (op.getLhs() != op.getRhs())
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// x - x = 0 and x ^ x = 0, of integers only.
template <typename OpT> struct SelfCancels : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (op.getLhs() != op.getRhs() || !isInteger(op.getLhs()))
      return failure();
    auto zero = cast<ElementsAttr>(rewriter.getZeroAttr(op.getType()));
    rewriter.replaceOpWithNewOp<sh::ConstantOp>(op, zero);
    return success();
  }
};

/// Twice negated (or complemented) is itself: it only flips bits of the value.
template <typename OpT> struct Involution : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().template getDefiningOp<OpT>();
    if (!inner)
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

/// To its own type.
struct IdentityConvert : OpRewritePattern<sh::ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ConvertOp op, PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Whether every value of `from` is a value of `to`.
bool widens(Type from, Type to) {
  auto f = dyn_cast<FloatType>(from), t = dyn_cast<FloatType>(to);
  if (f && t) {
    const llvm::fltSemantics &a = f.getFloatSemantics(), &b = t.getFloatSemantics();
    return (f.isF16() || f.isBF16() || f.isF32()) && (t.isF32() || t.isF64()) &&
           APFloat::semanticsPrecision(a) <= APFloat::semanticsPrecision(b) &&
           APFloat::semanticsMaxExponent(a) <= APFloat::semanticsMaxExponent(b);
  }
  auto i = dyn_cast<IntegerType>(from), j = dyn_cast<IntegerType>(to);
  return i && j && i.getSignedness() == j.getSignedness() && i.getWidth() > 1 &&
         i.getWidth() <= j.getWidth();
}

/// Widened and narrowed again is the value itself.
struct WideningRoundTrip : OpRewritePattern<sh::ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<sh::ConvertOp>();
    if (!inner || inner.getOperand().getType() != op.getType() ||
        !widens(getElementTypeOrSelf(op.getType()), getElementTypeOrSelf(inner.getType())))
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

/// The predicate is known, or both choices are the same.
struct DecidedSelect : OpRewritePattern<sh::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::SelectOp op, PatternRewriter &rewriter) const override {
    std::optional<APInt> pred = integerSplat(op.getPred());
    if (!pred && op.getOnTrue() != op.getOnFalse())
      return failure();
    rewriter.replaceOp(op, !pred || pred->isOne() ? op.getOnTrue() : op.getOnFalse());
    return success();
  }
};

/// Integers compare with themselves and with their range's ends in a known way.
struct DecidedCompare : OpRewritePattern<sh::CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::CompareOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> result = decide(op);
    if (!result)
      return failure();
    auto value = DenseElementsAttr::get(cast<ShapedType>(op.getType()), *result);
    rewriter.replaceOpWithNewOp<sh::ConstantOp>(op, cast<ElementsAttr>(value));
    return success();
  }

  static std::optional<bool> decide(sh::CompareOp op) {
    using sh::ComparisonDirection;
    ComparisonDirection direction = op.getComparisonDirection();
    if (!isInteger(op.getLhs()))
      return std::nullopt;
    if (op.getLhs() == op.getRhs())
      return direction == ComparisonDirection::EQ || direction == ComparisonDirection::GE ||
             direction == ComparisonDirection::LE;
    std::optional<APInt> bound = integerSplat(op.getRhs());
    if (!bound)
      return std::nullopt;
    bool least = isUnsigned(op.getLhs()) ? bound->isMinValue() : bound->isMinSignedValue();
    bool greatest = isUnsigned(op.getLhs()) ? bound->isMaxValue() : bound->isMaxSignedValue();
    if (least && direction == ComparisonDirection::LT)
      return false;
    if (least && direction == ComparisonDirection::GE)
      return true;
    if (greatest && direction == ComparisonDirection::GT)
      return false;
    if (greatest && direction == ComparisonDirection::LE)
      return true;
    return std::nullopt;
  }
};

/// Division by a power of two is multiplication by its reciprocal, which is
/// exact as long as the reciprocal is a normal number.
struct DivideByPowerOfTwo : OpRewritePattern<sh::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::DivOp op, PatternRewriter &rewriter) const override {
    std::optional<APFloat> divisor = floatSplat(op.getRhs());
    if (!divisor)
      return failure();
    APFloat inverse(divisor->getSemantics());
    if (!divisor->getExactInverse(&inverse))
      return failure();
    auto type = cast<ShapedType>(op.getRhs().getType());
    auto value = DenseElementsAttr::get(type, inverse);
    Value reciprocal = rewriter.create<sh::ConstantOp>(op.getLoc(), cast<ElementsAttr>(value));
    rewriter.replaceOpWithNewOp<sh::MulOp>(op, op.getType(), op.getLhs(), reciprocal);
    return success();
  }
};

/// The only index is 0.
struct IotaOfOne : OpRewritePattern<sh::IotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sh::IotaOp op, PatternRewriter &rewriter) const override {
    auto type = cast<ShapedType>(op.getType());
    if (type.getDimSize(op.getIotaDimension()) != 1 || isa<ComplexType>(type.getElementType()))
      return failure();
    rewriter.replaceOpWithNewOp<sh::ConstantOp>(op, cast<ElementsAttr>(rewriter.getZeroAttr(type)));
    return success();
  }
};

} // namespace

void spokeshave::graph::populateValueRewrites(RewritePatternSet &patterns) {
  addNeutral(patterns);
  patterns.add<Idempotent<sh::AndOp>, Idempotent<sh::OrOp>, Idempotent<sh::MaxOp>,
               Idempotent<sh::MinOp>, SelfCancels<sh::SubtractOp>, SelfCancels<sh::XorOp>,
               Involution<sh::NegOp>, Involution<sh::NotOp>, IdentityConvert, WideningRoundTrip,
               DecidedSelect, DecidedCompare, DivideByPowerOfTwo, IotaOfOne>(patterns.getContext());
}
