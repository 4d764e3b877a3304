//===- KernelDialect.cpp - the kernel dialect ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verifiers of the operations in KernelOps.td.
//
//===----------------------------------------------------------------------===//
#include "kernel/KernelDialect.h"

#include "kernel/KernelDialect.cpp.inc"

using namespace mlir;
using namespace spokeshave::kernel;

#define GET_OP_CLASSES
#include "kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kernel/KernelOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// kernel.func
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, int64_t tasks,
                   int64_t inputs, TypeRange buffers) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.tasks = builder.getI64IntegerAttr(tasks);
  properties.num_inputs = builder.getI64IntegerAttr(inputs);
  Block *block = new Block();
  block->addArgument(builder.getIndexType(), state.location);
  for (Type buffer : buffers)
    block->addArgument(buffer, state.location);
  state.addRegion()->push_back(block);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  int64_t tasks = 0, inputs = 0;
  if (parser.parseSymbolName(name) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseKeyword("tasks") || parser.parseInteger(tasks) || parser.parseKeyword("inputs") ||
      parser.parseInteger(inputs) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.sym_name = name;
  properties.tasks = parser.getBuilder().getI64IntegerAttr(tasks);
  properties.num_inputs = parser.getBuilder().getI64IntegerAttr(inputs);
  return parser.parseRegion(*result.addRegion(), arguments);
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBlock().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") tasks " << getTasks() << " inputs " << getNumInputs();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "tasks", "num_inputs"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FuncOp::verify() {
  Block &block = getBlock();
  if (block.getNumArguments() < 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError("needs the task number as first block argument");
  for (Value buffer : getBuffers()) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
      return emitOpError("buffers must be static memrefs with identity layout, not ")
             << buffer.getType();
  }
  if (getNumInputs() > getBuffers().size())
    return emitOpError("has fewer buffers than inputs");
  if (getNearOffsets() && getNearOffsets()->size() != getBuffers().size())
    return emitOpError("needs a near offset for each buffer");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The rules that loads and stores share.
static LogicalResult verifyAccess(Operation *op, Type value, Value buffer, OperandRange indices,
                                  Value mask) {
  auto memref = cast<MemRefType>(buffer.getType());
  auto vector = dyn_cast<VectorType>(value);
  if (vector && vector.getRank() != 1)
    return op->emitOpError("register tiles have one dimension");
  Type element = getElementTypeOrSelf(value);
  Type stored = memref.getElementType();
  bool sameBits = element.isSignlessInteger() && stored.isIntOrFloat() &&
                  element.getIntOrFloatBitWidth() == stored.getIntOrFloatBitWidth();
  if (element != stored && !sameBits)
    return op->emitOpError() << element << " does not match elements of " << memref;
  if (indices.size() != 1 && int64_t(indices.size()) != memref.getRank())
    return op->emitOpError("needs one index, or one per dimension");
  for (Value index : indices) {
    if (index.getType().isIndex())
      continue;
    auto lanes = dyn_cast<VectorType>(index.getType());
    if (!lanes || !vector || lanes.getShape() != vector.getShape() ||
        !(lanes.getElementType().isInteger(32) || lanes.getElementType().isInteger(64)))
      return op->emitOpError() << "bad index type " << index.getType();
  }
  if (mask &&
      (!getElementTypeOrSelf(mask).isInteger(1) || isa<VectorType>(mask.getType()) != bool(vector)))
    return op->emitOpError() << "bad mask type " << mask.getType();
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getResult().getType(), getBuffer(), getIndices(), getMask());
}

LogicalResult WindowOp::verify() {
  auto kernel = (*this)->getParentOfType<FuncOp>();
  auto buffer = dyn_cast<BlockArgument>(getBuffer());
  if (!kernel || !buffer || buffer.getOwner() != &kernel.getBlock())
    return emitOpError("is of a buffer of the kernel");
  size_t rank = getSizes().size();
  if (rank == 0 || getStrides().size() != rank || getLimits().size() != rank ||
      getDigits().size() != rank || getSteps().size() != rank)
    return emitOpError("needs a size, stride, limit, digit and step for each dimension");
  if (getStrides().back() != 1)
    return emitOpError("needs contiguous elements along its last dimension");
  int64_t elements = 1;
  for (int64_t size : getSizes())
    elements *= size;
  auto result = cast<MemRefType>(getResult().getType());
  auto whole = cast<MemRefType>(buffer.getType());
  if (result.getRank() != 1 || result.getNumElements() != elements ||
      result.getElementType() != whole.getElementType())
    return emitOpError() << "has " << elements << " elements of " << whole << ", not " << result;
  for (int64_t digit : getDigits())
    if (digit >= int64_t(getRadices().size()))
      return emitOpError("moves with a digit that the task's number does not have");
  return success();
}

LogicalResult CancelledOp::verify() {
  auto kernel = (*this)->getParentOfType<FuncOp>();
  if (!kernel || !kernel.getPollsCancel())
    return emitOpError("stands in a kernel without polls_cancel");
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType(), getBuffer(), getIndices(), getMask());
}

LogicalResult TileDotOp::verify() {
  auto elementOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
  Type a = elementOf(getA()), b = elementOf(getB()), c = elementOf(getC());
  int64_t pack = getDepthPack(), unitRows = getUnitRows(), rows = getRows();
  if (getBColumnStride() != 1 && (pack != 1 || getBDepthStride() != 1))
    return emitOpError("reads a b that is contiguous along neither columns nor depth");
  if (pack == 1)
    return unitRows || getAExcess() ? emitOpError("takes wide operands to a matrix unit")
                                    : LogicalResult(success());
  bool pairs = pack == 2 && a.isBF16() && b.isBF16() && c.isF32();
  bool fours = pack == 4 && a.isInteger(8) && b.isInteger(8) && c.isInteger(32);
  if (!pairs && !fours)
    return emitOpError() << "packs bf16 in pairs for f32 and i8 in fours for i32, not " << a
                         << " and " << b << " in groups of " << pack << " for " << c;
  if (getADepthStride() != 1 || getAccumulate())
    return emitOpError("of packed operands reads along rows of a and overwrites c");
  if (getAExcess() && (getAExcess() != 128 || !getAUnsigned() || getBUnsigned() || unitRows))
    return emitOpError("has an excess of a that no machine takes");
  if (unitRows && (unitRows > 16 || (rows != unitRows && rows != 2 * unitRows) ||
                   (getColumns() != 16 && getColumns() != 32)))
    return emitOpError("is not made of one or two tiles of the matrix unit each way");
  return success();
}
