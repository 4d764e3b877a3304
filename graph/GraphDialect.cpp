//===- GraphDialect.cpp - the graph dialect --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form, builder and verifier of graph.fusion.
//
//===----------------------------------------------------------------------===//
#include "graph/GraphDialect.h"

#include "graph/GraphDialect.cpp.inc"
#include "graph/GraphEnums.cpp.inc"

using namespace mlir;
using namespace spokeshave::graph;

#define GET_OP_CLASSES
#include "graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphOps.cpp.inc"
      >();
}

YieldOp FusionOp::getYield() {
  return cast<YieldOp>(getBlock().getTerminator());
}

void FusionOp::build(OpBuilder &builder, OperationState &state, TypeRange outputs,
                     ValueRange inputs, FusionKind kind, StringRef name) {
  state.addOperands(inputs);
  state.addTypes(outputs);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.kind = FusionKindAttr::get(builder.getContext(), kind);
  properties.name = builder.getStringAttr(name);
  Block *block = new Block();
  for (Value input : inputs)
    block->addArgument(input.getType(), input.getLoc());
  state.addRegion()->push_back(block);
}

// graph.fusion KIND "NAME"(%argument = %input : type, ...) -> types attributes { body }
ParseResult FusionOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc keywordLoc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeyword(&keyword) || parser.parseString(&name))
    return failure();
  std::optional<FusionKind> kind = symbolizeFusionKind(keyword);
  if (!kind)
    return parser.emitError(keywordLoc) << "unknown fusion kind '" << keyword << "'";
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.kind = FusionKindAttr::get(parser.getContext(), *kind);
  properties.name = parser.getBuilder().getStringAttr(name);

  SmallVector<OpAsmParser::Argument> arguments;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    OpAsmParser::UnresolvedOperand input;
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(input) ||
        parser.parseColonType(argument.type))
      return failure();
    return parser.resolveOperand(input, argument.type, result.operands);
  };
  return failure(parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
                 parser.parseOptionalArrowTypeList(result.types) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void FusionOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyFusionKind(getKind()) << ' ' << getNameAttr() << '(';
  llvm::interleaveComma(llvm::zip_equal(getBlock().getArguments(), getInputs()), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
                                  << std::get<1>(pair).getType();
                        });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"kind", "name"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FusionOp::verify() {
  Block &block = getBlock();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs but its body takes "
                         << block.getNumArguments() << " arguments";
  for (auto [index, argument, input] : llvm::enumerate(block.getArguments(), getInputs()))
    if (argument.getType() != input.getType())
      return emitOpError() << "input " << index << " has type " << input.getType()
                           << " but the body's argument has " << argument.getType();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError() << "must end with graph.yield";
  if (yield.getValues().getTypes() != getResultTypes())
    return emitOpError() << "yields values whose types are not the result types";
  return success();
}
