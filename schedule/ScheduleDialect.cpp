//===- ScheduleDialect.cpp - the schedule dialect --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text forms and the verifiers of single operations. What a whole program must
// fulfil is checked by Verify.cpp.
//
//===----------------------------------------------------------------------===//
#include "schedule/ScheduleDialect.h"

#include "schedule/ScheduleDialect.cpp.inc"

using namespace mlir;
using namespace spokeshave::schedule;

#define GET_OP_CLASSES
#include "schedule/ScheduleOps.cpp.inc"

void ScheduleDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "schedule/ScheduleOps.cpp.inc"
      >();
}

int64_t spokeshave::schedule::byteSizeOfElement(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * byteSizeOfElement(complex.getElementType());
  if (element.isIndex())
    return 8;
  if (element.isIntOrFloat())
    return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return 0;
}

int64_t spokeshave::schedule::byteSizeOf(ShapedType type) {
  return type.getNumElements() * byteSizeOfElement(type.getElementType());
}

//===----------------------------------------------------------------------===//
// program
//===----------------------------------------------------------------------===//

ArrayRef<BlockArgument> ProgramOp::getProgramArguments() {
  return getBlock().getArguments().take_front(getNumArguments());
}

ArrayRef<BlockArgument> ProgramOp::getProgramResults() {
  return getBlock().getArguments().drop_front(getNumArguments());
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  StringAttr symbol;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(symbol) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  Builder &builder = parser.getBuilder();
  properties.sym_name = symbol;
  properties.num_arguments = builder.getI64IntegerAttr(arguments.size());

  SmallVector<OpAsmParser::Argument> results;
  int64_t arenaBytes = 0;
  SmallVector<int64_t> aliases;
  auto parseAlias = [&] { return parser.parseInteger(aliases.emplace_back()); };
  if (parser.parseKeyword("results") ||
      parser.parseArgumentList(results, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseKeyword("arena") || parser.parseInteger(arenaBytes) ||
      parser.parseKeyword("aliases") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseAlias) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  properties.arena_bytes = builder.getI64IntegerAttr(arenaBytes);
  properties.aliases = builder.getDenseI64ArrayAttr(aliases);
  llvm::append_range(arguments, results);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

static void printArguments(OpAsmPrinter &printer, ArrayRef<BlockArgument> arguments) {
  printer << '(';
  llvm::interleaveComma(arguments, printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printArguments(printer, getProgramArguments());
  printer << " results";
  printArguments(printer, getProgramResults());
  printer << " arena " << getArenaBytes() << " aliases [";
  llvm::interleaveComma(getAliases(), printer);
  printer << ']';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "num_arguments", "arena_bytes", "aliases"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verify() {
  if (getNumArguments() > getBlock().getNumArguments())
    return emitOpError() << "has " << getBlock().getNumArguments() << " buffers but "
                         << getNumArguments() << " arguments";
  if (getAliases().size() != getProgramResults().size())
    return emitOpError() << "has " << getProgramResults().size() << " results but "
                         << getAliases().size() << " aliases";
  for (BlockArgument argument : getBlock().getArguments())
    if (!isa<MemRefType>(argument.getType()))
      return emitOpError() << "takes memrefs, not " << argument.getType();
  for (auto [index, alias] : llvm::enumerate(getAliases())) {
    if (alias < -1 || alias >= int64_t(getNumArguments()))
      return emitOpError() << "result " << index << " aliases argument " << alias
                           << ", which does not exist";
    if (alias >= 0 && byteSizeOf(cast<MemRefType>(getProgramArguments()[alias].getType())) !=
                          byteSizeOf(cast<MemRefType>(getProgramResults()[index].getType())))
      return emitOpError() << "result " << index << " aliases argument " << alias
                           << " of another size";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kernel and its launch
//===----------------------------------------------------------------------===//

spokeshave::graph::FusionOp KernelOp::getFusion() {
  auto fusions = getBody().front().getOps<graph::FusionOp>();
  return fusions.empty() ? graph::FusionOp() : *fusions.begin();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr symbol;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(symbol) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().sym_name = symbol;
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printArguments(printer, getBody().front().getArguments());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<graph::FusionOp>(block.front()))
    return emitOpError() << "holds one graph.fusion and nothing else";
  if (!llvm::equal(getFusion().getInputs(), block.getArguments()))
    return emitOpError() << "must pass its arguments to the fusion in order";
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getNumInputs() > getBuffers().size())
    return emitOpError() << "has " << getBuffers().size() << " buffers but " << getNumInputs()
                         << " inputs";
  return success();
}

//===----------------------------------------------------------------------===//
// buffers and control
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  int64_t end = int64_t(getByteOffset()) + byteSizeOf(cast<MemRefType>(getResult().getType()));
  if (int64_t(getByteOffset()) < 0 || end > byteSizeOf(cast<MemRefType>(getSource().getType())))
    return emitOpError() << "reaches beyond its source";
  return success();
}

LogicalResult SliceOp::verify() {
  size_t starts = getStarts().size();
  if (starts == 0 || getLimits().size() != starts || getStrides().size() != starts ||
      getWraps().size() != starts)
    return emitOpError() << "needs a limit, a stride and a wrap for each of its starts";
  int64_t bytes = byteSizeOf(cast<MemRefType>(getResult().getType()));
  int64_t rows = getRows(), run = rows > 0 ? bytes / rows : 0;
  if (rows < 1 || bytes % rows != 0 || (rows > 1 && int64_t(getPitch()) < run))
    return emitOpError() << "is no box of " << rows << " rows";
  int64_t end = int64_t(getByteOffset()) + (rows - 1) * int64_t(getPitch()) + run;
  for (auto [limit, stride] : llvm::zip_equal(getLimits(), getStrides())) {
    if (limit < 0 || stride < 0)
      return emitOpError() << "has a negative limit or stride";
    end += limit * stride;
  }
  if (int64_t(getByteOffset()) < 0 || end > byteSizeOf(cast<MemRefType>(getSource().getType())))
    return emitOpError() << "reaches beyond its source";
  for (Value start : getStarts()) {
    auto type = cast<MemRefType>(start.getType());
    if (type.getRank() != 0 || !isa<IntegerType>(type.getElementType()))
      return emitOpError() << "starts at an integer of rank 0, not at " << type;
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (byteSizeOf(cast<MemRefType>(getSource().getType())) !=
      byteSizeOf(cast<MemRefType>(getTarget().getType())))
    return emitOpError() << "copies between buffers of different size";
  return success();
}

LogicalResult StartOp::verify() {
  if (byteSizeOf(cast<MemRefType>(getSource().getType())) !=
      byteSizeOf(cast<MemRefType>(getTarget().getType())))
    return emitOpError() << "moves between buffers of different size";
  if (getParts() && getParts()->size() % 2 != 0)
    return emitOpError() << "has a part without an end";
  return success();
}

LogicalResult WhileOp::verify() {
  if (bool(getPredicate()) == bool(getTripCount()))
    return emitOpError() << "has either a predicate or a trip count";
  if (getTripCount() && !getCondition().empty() && !getCondition().front().empty())
    return emitOpError() << "counts its trips, so its condition must be empty";
  if (!getPredicate())
    return success();
  auto type = cast<MemRefType>(getPredicate().getType());
  if (type.getRank() != 0 || !type.getElementType().isInteger(1))
    return emitOpError() << "predicate must be memref<i1>";
  return success();
}

LogicalResult CaseOp::verify() {
  auto type = cast<MemRefType>(getIndex().getType());
  if (type.getRank() != 0 ||
      !(type.getElementType().isInteger(1) || type.getElementType().isInteger(32)))
    return emitOpError() << "index must be memref<i1> or memref<i32>";
  if (getBranches().empty())
    return emitOpError() << "has no branch";
  return success();
}
