//===- ExpandChlo.cpp - chlo becomes StableHLO ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operation after another, those that expansions bring with them as well. A
// function of floats is computed in f32 where its type is narrower, and rounded
// once at the end.
//
//===----------------------------------------------------------------------===//
#include "input/ExpandChlo.h"

#include "input/ChloFormulas.h"
#include "input/ChloStructure.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace spokeshave::chlo {

namespace sh = spokeshave::stablehlo;
using Values = SmallVector<Value>;

namespace {

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

class Expansion {
public:
  explicit Expansion(ModuleOp module) : symbols(module), builder(module.getContext()) {}

  /// Replaces `op`; new operations of chlo may stand before it.
  LogicalResult expand(Operation *op) {
    builder.setInsertionPoint(op);
    Values results = build(op);
    if (results.size() != op->getNumResults())
      return failure(); // the diagnostic is there
    for (auto [result, value] : llvm::zip(op->getResults(), results))
      if (result.getType() != value.getType())
        return op->emitOpError("has results of other types than it computes: ")
               << result.getType() << " and " << value.getType();
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

private:
  Values build(Operation *op);
  Values buildOther(Operation *op);

  //===--------------------------------------------------------------------===//
  // Functions.
  //===--------------------------------------------------------------------===//

  /// A term for `value` in a type that formulas are made for; an error at `op` if
  /// its elements are no floats.
  std::optional<Term> realTerm(Operation *op, Value value) {
    Term term(builder, op->getLoc(), value);
    auto element = dyn_cast<FloatType>(term.element());
    if (!element) {
      op->emitOpError("is not defined for ") << value.getType();
      return std::nullopt;
    }
    return element.getWidth() < 32 ? term.convert(builder.getF32Type()) : term;
  }

  Values function(Operation *op, Term (*formula)(Term)) {
    std::optional<Term> x = realTerm(op, op->getOperand(0));
    if (!x)
      return {};
    return {formula(*x).convert(elementOf(op->getResult(0))).value()};
  }

  /// A function of complex numbers, too.
  Values function(Operation *op, Term (*formula)(Term), Pair (*complexFormula)(Pair)) {
    Value operand = op->getOperand(0);
    if (!isa<ComplexType>(elementOf(operand)))
      return function(op, formula);
    return {complex(complexFormula(parts({builder, op->getLoc(), operand}))).value()};
  }

  Values function(Operation *op, Term (*formula)(Term, Term)) {
    std::optional<Term> x = realTerm(op, op->getOperand(0)), y = realTerm(op, op->getOperand(1));
    if (!x || !y)
      return {};
    return {formula(*x, *y).convert(elementOf(op->getResult(0))).value()};
  }

  /// A comparison with an infinity.
  Values isInfinite(Operation *op, bool positive, bool negative) {
    std::optional<Term> x = realTerm(op, op->getOperand(0));
    if (!x)
      return {};
    Term operand = positive && negative ? abs(*x) : *x;
    double infinity = std::numeric_limits<double>::infinity();
    return {(operand == (positive ? infinity : -infinity)).value()};
  }

  //===--------------------------------------------------------------------===//
  // Composites.
  //===--------------------------------------------------------------------===//

  /// A composite that stands for `op`; `fill` builds what it means on the
  /// arguments of a function of its own.
  Values composite(Operation *op, StringRef name, DictionaryAttr attributes,
                   llvm::function_ref<Values(ValueRange)> fill) {
    Location location = op->getLoc();
    func::FuncOp decomposition;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(cast<ModuleOp>(symbols.getOp()).getBody());
      auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
      decomposition = builder.create<func::FuncOp>(location, (name + ".impl").str(), type);
      decomposition.setPrivate();
      symbols.insert(decomposition);
      builder.setInsertionPointToStart(decomposition.addEntryBlock());
      Values results = fill(decomposition.getArguments());
      if (results.empty())
        return {};
      builder.create<func::ReturnOp>(location, results);
    }
    auto made = builder.create<sh::CompositeOp>(
        location, op->getResultTypes(), op->getOperands(), builder.getStringAttr(name), attributes,
        FlatSymbolRefAttr::get(decomposition), builder.getI32IntegerAttr(1), /*regions=*/0u);
    return Values(made.getResults());
  }

  /// erf and erfc have kernels.
  Values compositeFunction(Operation *op, Term (*formula)(Term)) {
    if (!isa<FloatType>(elementOf(op->getOperand(0)))) {
      op->emitOpError("is not defined for ") << op->getOperand(0).getType();
      return {};
    }
    StringRef name = op->getName().getStringRef();
    return composite(op, name, builder.getDictionaryAttr({}), [&](ValueRange arguments) -> Values {
      Term x(builder, op->getLoc(), arguments[0]);
      Type element = x.element();
      Type wide = element.getIntOrFloatBitWidth() < 32 ? builder.getF32Type() : element;
      return {formula(x.convert(wide)).convert(element).value()};
    });
  }

  Values topK(TopKOp op) {
    auto operand = cast<RankedTensorType>(op.getOperand().getType());
    SmallVector<int64_t> shape(operand.getShape());
    int64_t k = op.getK();
    if (shape.empty() || !operand.hasStaticShape() || k < 0 || k > shape.back() ||
        isa<ComplexType>(operand.getElementType())) {
      op.emitOpError("takes at most as many elements as a line has, got ") << k;
      return {};
    }
    shape.back() = k;
    if (op.getValues().getType() != operand.clone(shape) ||
        op.getIndices().getType() != operand.clone(shape, builder.getI32Type())) {
      op.emitOpError("has results of other types than it computes");
      return {};
    }
    NamedAttribute attributes[] = {
        builder.getNamedAttr("is_stable", builder.getBoolAttr(op.getIsStable())),
        builder.getNamedAttr("k", builder.getI64IntegerAttr(k))};
    return composite(op, "chlo.top_k", builder.getDictionaryAttr(attributes),
                     [&](ValueRange arguments) {
                       return sortedTopK(builder, op.getLoc(), arguments[0], op->getResultTypes());
                     });
  }

  //===--------------------------------------------------------------------===//
  // Broadcasts.
  //===--------------------------------------------------------------------===//

  /// Brings `operands` to one shape: of those of lower rank, dimensions are the
  /// last ones of the result, or `dims`; a size of 1 is repeated.
  LogicalResult broadcast(Operation *op, Values &operands, ArrayRef<int64_t> resultShape,
                          std::optional<ArrayRef<int64_t>> dims) {
    int64_t rank = resultShape.size();
    for (Value &operand : operands) {
      auto type = cast<RankedTensorType>(operand.getType());
      if (!type.hasStaticShape() || type.getRank() > rank)
        return op->emitOpError("needs static shapes, of ranks up to its result's");
      SmallVector<int64_t> places;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        places.push_back(rank - type.getRank() + dim);
      if (dims && type.getRank() < rank)
        places.assign(dims->begin(), dims->end());
      if (int64_t(places.size()) != type.getRank())
        return op->emitOpError("names a dimension for each of its lower operand's");
      for (auto [place, size] : llvm::zip(places, type.getShape()))
        if (place < 0 || place >= rank || (size != 1 && size != resultShape[place]))
          return op->emitOpError("cannot bring ") << type << " to its result's shape";
      operand = broadcastTo(builder, op->getLoc(), operand, resultShape, places);
    }
    return success();
  }

  /// `op` becomes `name` on operands of one shape.
  Values broadcastBinary(Operation *op, StringRef name) {
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<ArrayRef<int64_t>> dims;
    NamedAttrList attributes(op->getAttrs());
    if (auto given = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions"))
      dims = given.asArrayRef();
    attributes.erase("broadcast_dimensions");
    Values operands(op->getOperands());
    if (!result.hasStaticShape()) {
      op->emitOpError("needs static shapes, got ") << result;
      return {};
    }
    if (failed(broadcast(op, operands, result.getShape(), dims)))
      return {};
    OperationState state(op->getLoc(), name, operands, {result}, attributes);
    return Values(builder.create(state)->getResults());
  }

  SymbolTable symbols;
  OpBuilder builder;
};

/// The operation that one with broadcasts becomes.
std::string plainName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  name.consume_front("broadcast_");
  bool staysChlo = name == "next_after" || name == "polygamma" || name == "zeta";
  return ((staysChlo ? "chlo." : "stablehlo.") + name).str();
}

Values Expansion::buildOther(Operation *op) {
  if (op->getName().stripDialect().starts_with("broadcast_"))
    return broadcastBinary(op, plainName(op));
  if (auto constant = dyn_cast<ConstantOp>(op))
    return {builder.create<sh::ConstantOp>(op->getLoc(), constant.getValue())};
  if (auto like = dyn_cast<ConstantLikeOp>(op)) {
    auto type = cast<RankedTensorType>(like.getType());
    if (!type.hasStaticShape() || like.getValue().getType() != type.getElementType()) {
      op->emitOpError("needs a static shape and a value of its element type");
      return {};
    }
    return {builder.create<sh::ConstantOp>(
        op->getLoc(), DenseElementsAttr::get(type, Attribute(like.getValue())))};
  }
  if (auto conj = dyn_cast<ConjOp>(op)) {
    if (!isa<ComplexType>(elementOf(conj.getOperand())))
      return {conj.getOperand()};
    Pair z = parts({builder, op->getLoc(), conj.getOperand()});
    return {complex({z.re, -z.im}).value()};
  }
  op->emitOpError("is not known");
  return {};
}

Values Expansion::build(Operation *op) {
  return TypeSwitch<Operation *, Values>(op)
      .Case([&](AcosOp) { return function(op, acos, acos); })
      .Case([&](AcoshOp) { return function(op, acosh, acosh); })
      .Case([&](AsinOp) { return function(op, asin, asin); })
      .Case([&](AsinhOp) { return function(op, asinh, asinh); })
      .Case([&](AtanOp) { return function(op, atan, atan); })
      .Case([&](AtanhOp) { return function(op, atanh, atanh); })
      .Case([&](CoshOp) { return function(op, cosh, cosh); })
      .Case([&](SinhOp) { return function(op, sinh, sinh); })
      .Case([&](SquareOp) { return function(op, square, square); })
      .Case([&](TanOp) { return function(op, tan, tan); })
      .Case([&](BesselI1eOp) { return function(op, besselI1e); })
      .Case([&](DigammaOp) { return function(op, digamma); })
      .Case([&](ErfInvOp) { return function(op, erfInv); })
      .Case([&](LgammaOp) { return function(op, lgamma); })
      .Case([&](PolygammaOp) { return function(op, polygamma); })
      .Case([&](ZetaOp) { return function(op, zeta); })
      .Case([&](ErfOp) { return compositeFunction(op, erf); })
      .Case([&](ErfcOp) { return compositeFunction(op, erfc); })
      .Case([&](IsInfOp) { return isInfinite(op, true, true); })
      .Case([&](IsNegInfOp) { return isInfinite(op, false, true); })
      .Case([&](IsPosInfOp) { return isInfinite(op, true, false); })
      .Case([&](MulhiOp mulhi) { return expandMulhi(mulhi, builder); })
      .Case([&](NextAfterOp next) { return expandNextAfter(next, builder); })
      .Case([&](RaggedDotOp dot) { return expandRaggedDot(dot, builder); })
      .Case([&](ScanOp scan) { return expandScan(scan, builder); })
      .Case([&](TopKOp op) { return topK(op); })
      .Default([&](Operation *op) { return buildOther(op); });
}

} // namespace

LogicalResult expand(ModuleOp module) {
  Expansion expansion(module);
  for (;;) {
    SmallVector<Operation *> found;
    // Inner ones first: a scan's body is copied.
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<ChloDialect>(op->getDialect()))
        found.push_back(op);
    });
    if (found.empty())
      return success();
    for (Operation *op : found)
      if (failed(expansion.expand(op)))
        return failure();
  }
}

} // namespace spokeshave::chlo
