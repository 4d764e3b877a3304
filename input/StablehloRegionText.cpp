//===- StablehloRegionText.cpp - text of constant, while and reduce ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A short form that cannot hold all there is falls back to MLIR's generic form
// after the operation's name, which the parsers here read as well.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloAssembly.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseRParen() || parser.parseGenericOperationAfterOpName(
                                               state, ArrayRef<OpAsmParser::UnresolvedOperand>()));
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value, "value", state.attributes))
    return failure();
  state.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  // The value's own type need not be the result's (quantized types).
  if (getValue().getType() != getType()) {
    printer.printGenericOp(*this, /*printOpName=*/false);
    return;
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ';
  printer.printAttribute(getValue());
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// `(%iterArg = %operand, ...)`, or `(%operand, ...)` of the generic form.
static ParseResult parseIterArgs(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &args,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  SMLoc loc = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand first;
    if (parser.parseOperand(first))
      return failure();
    if (failed(parser.parseOptionalEqual())) {
      operands.push_back(first);
      return success();
    }
    args.emplace_back().ssaName = first;
    return parser.parseOperand(operands.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  if (!args.empty() && args.size() != operands.size())
    return parser.emitError(loc, "expected a name for every operand");
  return success();
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parseIterArgs(parser, args, operands))
    return failure();
  if (args.size() != operands.size())
    return parser.parseGenericOperationAfterOpName(state, ArrayRef(operands));
  Region *cond = state.addRegion(), *body = state.addRegion();
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (types.size() != args.size())
    return parser.emitError(loc, "expected as many types as operands, got ")
           << args.size() << " operands and " << types.size() << " types";
  for (auto [arg, type] : llvm::zip(args, types))
    arg.type = type;
  if (parser.resolveOperands(operands, types, loc, state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseKeyword("cond") ||
      parser.parseRegion(*cond, args) || parser.parseKeyword("do") ||
      parser.parseRegion(*body, args))
    return failure();
  state.addTypes(types);
  return success();
}

/// The short form has one list of types for operands, arguments and results.
static bool hasOneTypeList(WhileOp op) {
  TypeRange types = op->getOperandTypes();
  return types == op->getResultTypes() && types == op.getCond().getArgumentTypes() &&
         types == op.getBody().getArgumentTypes();
}

void WhileOp::print(OpAsmPrinter &printer) {
  if (!hasOneTypeList(*this)) {
    printer.printGenericOp(*this, /*printOpName=*/false);
    return;
  }
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperands()), printer,
                        [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = " << std::get<1>(pair);
                        });
  printer << ')';
  if (getNumOperands() != 0) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The operation that a body applies, if it is nothing but one commutative
/// operation on the two arguments, whose types follow from the input.
static Operation *appliedOperation(ReduceOp op) {
  if (op.getInputs().size() != 1 || !llvm::hasSingleElement(op.getBody()))
    return nullptr;
  Block &block = op.getBody().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &inner = block.front();
  if (!inner.hasTrait<::mlir::OpTrait::IsCommutative>() || inner.getNumOperands() != 2 ||
      inner.getNumResults() != 1 || inner.getNumRegions() != 0 || !inner.getAttrs().empty())
    return nullptr;
  Operation *terminator = block.getTerminator();
  auto expected = RankedTensorType::get({}, getElementTypeOrSelf(op.getInputs().front()));
  bool plain = llvm::equal(inner.getOperands(), block.getArguments()) &&
               isa<ReturnOp>(terminator) &&
               llvm::equal(terminator->getOperands(), inner.getResults()) &&
               terminator->getAttrs().empty() &&
               llvm::all_of(inner.getOperandTypes(), [&](Type type) { return type == expected; }) &&
               inner.getResult(0).getType() == expected;
  return plain ? &inner : nullptr;
}

/// `across dimensions = [1] {...} : (...) -> ...`
static void printReduceTail(OpAsmPrinter &printer, ReduceOp op) {
  printer << " across dimensions = ";
  printDims(printer, op.getDimensions());
  printer.printOptionalAttrDict(op->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(op);
}

void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer, [&](auto pair) {
    printer << '(' << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')';
  });
  if (Operation *inner = appliedOperation(*this)) {
    printer << " applies ";
    printer << inner->getName().getStringRef();
    printReduceTail(printer, *this);
    return;
  }
  printReduceTail(printer, *this);
  printer.printNewline();
  printer << " reducer";
  // Each pair of parentheses holds the two arguments of one input.
  size_t inputs = getInputs().size();
  Block &block = getBody().front();
  for (size_t i = 0; i < inputs; ++i) {
    printer << (i ? " (" : "(");
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(i + inputs));
    printer << ')';
  }
  printer << "  ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// `(%input init: %init), ...`: inputs, then as many initial values.
static ParseResult parseReduceOperands(OpAsmParser &parser,
                                       SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
                   parser.parseKeyword("init") || parser.parseColon() ||
                   parser.parseOperand(inits.emplace_back()) || parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(parsePair))
    return failure();
  llvm::append_range(operands, inits);
  return success();
}

/// `across dimensions = [1] {...} : (...) -> ...`, and resolves the operands.
static ParseResult parseReduceTail(OpAsmParser &parser, OperationState &state,
                                   ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual())
    return failure();
  FailureOr<Dims> dimensions = parseDims(parser);
  FunctionType type;
  if (failed(dimensions) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addAttribute("dimensions", parser.getBuilder().getDenseI64ArrayAttr(*dimensions));
  state.addTypes(type.getResults());
  return success();
}

/// Makes the body of `applies NAME`.
static ParseResult buildAppliedBody(OpAsmParser &parser, OperationState &state, SMLoc loc,
                                    OperationName name) {
  auto input = dyn_cast<RankedTensorType>(state.operands.front().getType());
  if (!input)
    return parser.emitError(loc, "expected tensors as operands of 'applies'");
  Type type = RankedTensorType::get({}, input.getElementType());
  Region &region = *state.addRegion();
  Block &block = region.emplaceBlock();
  block.addArguments({type, type}, {state.location, state.location});
  // The region has no parent yet, so the builder brings the context.
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&block);
  OperationState inner(state.location, name);
  inner.addOperands(block.getArguments());
  inner.addTypes(type);
  Operation *applied = builder.create(inner);
  builder.create<ReturnOp>(state.location, applied->getResults());
  return success();
}

static ParseResult parseReducerArguments(OpAsmParser &parser, size_t inputs,
                                         SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  SmallVector<OpAsmParser::Argument> firsts, seconds;
  for (size_t i = 0; i < inputs; ++i) {
    if (parser.parseLParen() || parser.parseArgument(firsts.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(seconds.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  }
  llvm::append_range(arguments, firsts);
  llvm::append_range(arguments, seconds);
  return success();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parseReduceOperands(parser, operands))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    SMLoc nameLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    if (!name->hasTrait<::mlir::OpTrait::IsCommutative>())
      return parser.emitError(nameLoc, "expected a commutative operation, got ") << *name;
    if (operands.size() != 2)
      return parser.emitError(loc, "'applies' takes one input, got ") << operands.size() / 2;
    // A location after the operation holds for what it applies, too.
    std::optional<Location> given;
    if (parseReduceTail(parser, state, operands) || parser.parseOptionalLocationSpecifier(given))
      return failure();
    if (given)
      state.location = *given;
    return buildAppliedBody(parser, state, loc, *name);
  }
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseReduceTail(parser, state, operands) || parser.parseKeyword("reducer") ||
      parseReducerArguments(parser, operands.size() / 2, arguments))
    return failure();
  return parser.parseRegion(*state.addRegion(), arguments);
}

} // namespace spokeshave::stablehlo
