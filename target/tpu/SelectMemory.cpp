//===- SelectMemory.cpp - loads, stores and transfers ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VMEM of a kernel is laid out when it is compiled, so the offset of a buffer is
// a displacement in the instruction.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Selector.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

static int64_t bytesOfElement(Value buffer) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

int64_t Selector::vmemOffset(Value buffer) {
  if (auto scratch = buffer.getDefiningOp<spokeshave::kernel::ScratchOp>())
    return scratch.getOffset();
  return tables.lookup(buffer);
}

/// Views of one offset are one object. Views that overlap begin at the same place.
uint16_t Selector::objectOf(Value buffer) {
  return objects.try_emplace(vmemOffset(buffer), objects.size() + 1).first->second;
}

/// Row-major element number: constants into the displacement, the rest into a
/// scalar and, for indices that differ from lane to lane, a vector.
FailureOr<Selector::Address> Selector::address(Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  Address sum;
  int64_t stride = 1;
  for (int64_t d = int64_t(indices.size()) - 1; d >= 0; --d) {
    Value index = indices[d];
    while (auto sumOp = index.getDefiningOp<arith::AddIOp>()) {
      std::optional<int64_t> added = immediateOf(sumOp.getRhs());
      if (!added || !index.getType().isIndex())
        break;
      sum.constant += *added * stride;
      index = sumOp.getLhs();
    }
    std::optional<int64_t> constant = immediateOf(index);
    if (constant && !isa<VectorType>(index.getType())) {
      sum.constant += *constant * stride;
    } else {
      Reg term = get(index);
      if (stride != 1) {
        Reg scaled = newReg(term.file);
        Instruction &scale = emit(Opcode::Mul, index.getType(), scaled, term);
        scale.immediate = 2, scale.imm = stride;
        term = scaled;
      }
      Reg &part = term.file == File::Vector ? sum.lanes : sum.scalar;
      if (part) {
        Reg added = newReg(term.file);
        emit(Opcode::Add, index.getType(), added, part, term);
        term = added;
      }
      part = term;
    }
    if (indices.size() > 1)
      stride *= type.getDimSize(d);
  }
  return sum;
}

Reg Selector::bytesOf(Reg elements, int64_t elementBytes) {
  if (!elements || elementBytes == 1)
    return elements;
  // Once per block: other blocks may not be dominated by this one.
  auto key = std::tuple(kernel.blocks.size(), elements.number, elementBytes);
  auto [known, isNew] = byteOffsets.try_emplace(key);
  if (!isNew)
    return known->second;
  Reg bytes = known->second = newReg(File::Scalar);
  Instruction &shift = emitScalar(Opcode::Shl, bytes, elements);
  shift.immediate = 2, shift.imm = llvm::Log2_64(elementBytes);
  return bytes;
}

/// Of indices that differ from lane to lane.
static ElementType indexTypeOf(ValueRange indices) {
  for (Value index : indices)
    if (auto vector = dyn_cast<VectorType>(index.getType()))
      return vector.getElementTypeBitWidth() == 64 ? ElementType::I64 : ElementType::I32;
  return ElementType::I64;
}

LogicalResult Selector::selectLoad(spokeshave::kernel::LoadOp op) {
  int64_t bytes = bytesOfElement(op.getBuffer());
  if (isa<BlockArgument>(op.getBuffer()))
    return op.emitOpError("reads HBM, which only DMA can do");
  FailureOr<Address> from = address(op.getBuffer(), op.getIndices());
  if (failed(from))
    return failure();
  Reg scalar = bytesOf(from->scalar, bytes);
  Reg mask = op.getMask() ? get(op.getMask()) : Reg();
  Reg dst = newReg(op.getType());
  bool predicate = dst.file == File::Mask;
  Reg loaded = predicate ? newReg(File::Vector) : dst;
  Instruction &load =
      emit(from->lanes ? Opcode::Gather : Opcode::Load, op.getType(), loaded, scalar, from->lanes);
  load.stride = from->lanes ? bytes : op.getLaneStride() * bytes;
  load.imm = vmemOffset(op.getBuffer()) + from->constant * bytes;
  load.mask = mask;
  if (from->lanes)
    load.from = indexTypeOf(op.getIndices());
  load.object = objectOf(op.getBuffer());
  values[op.getResult()] = dst;
  return success();
}

LogicalResult Selector::selectStore(spokeshave::kernel::StoreOp op) {
  int64_t bytes = bytesOfElement(op.getBuffer());
  if (isa<BlockArgument>(op.getBuffer()))
    return op.emitOpError("writes HBM, which only DMA can do");
  FailureOr<Address> to = address(op.getBuffer(), op.getIndices());
  if (failed(to))
    return failure();
  Reg scalar = bytesOf(to->scalar, bytes);
  Reg mask = op.getMask() ? get(op.getMask()) : Reg();
  Reg value = get(op.getValue());
  Instruction &store = emit(to->lanes ? Opcode::Scatter : Opcode::Store, op.getValue().getType(),
                            {}, scalar, value, to->lanes);
  store.stride = to->lanes ? bytes : op.getLaneStride() * bytes;
  store.imm = vmemOffset(op.getBuffer()) + to->constant * bytes;
  store.mask = mask;
  if (to->lanes)
    store.from = indexTypeOf(op.getIndices());
  store.object = objectOf(op.getBuffer());
  return success();
}

LogicalResult Selector::selectTable(spokeshave::kernel::TableOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("has no data");
  int64_t each = bytesOfElement(op.getResult());
  std::vector<char> bytes;
  auto add = [&](APInt bits) {
    uint64_t value = bits.getZExtValue();
    bytes.insert(bytes.end(), reinterpret_cast<char *>(&value),
                 reinterpret_cast<char *>(&value) + each);
  };
  if (isa<FloatType>(elements.getElementType()))
    for (APFloat value : elements.getValues<APFloat>())
      add(value.bitcastToAPInt());
  else
    for (APInt value : elements.getValues<APInt>())
      add(value);
  tables[op.getResult()] = addData(std::move(bytes));
  return success();
}

LogicalResult Selector::selectDma(spokeshave::kernel::DmaStartOp op) {
  int64_t bytes = bytesOfElement(op.getSource());
  DmaDescriptor descriptor;
  descriptor.elementBytes = bytes;
  for (int64_t stride : op.getSourceStrides())
    descriptor.fromStrides.push_back(stride * bytes);
  for (int64_t stride : op.getTargetStrides())
    descriptor.toStrides.push_back(stride * bytes);
  auto side = [&](Value buffer, Value offset, Space &space) {
    Reg at = bytesOf(get(offset), bytes), sum = newReg(File::Scalar);
    if (auto argument = dyn_cast<BlockArgument>(buffer)) {
      space = Space::Hbm;
      Reg base = newReg(File::Scalar);
      emitScalar(Opcode::Argument, base).imm = argument.getArgNumber() - 1;
      emitScalar(Opcode::Add, sum, at, base);
    } else {
      space = Space::Vmem;
      Instruction &add = emitScalar(Opcode::Add, sum, at);
      add.immediate = 2, add.imm = vmemOffset(buffer);
    }
    return sum;
  };
  Reg from = side(op.getSource(), op.getSourceOffset(), descriptor.from);
  Reg to = side(op.getTarget(), op.getTargetOffset(), descriptor.to);
  for (auto [dimension, count] : llvm::enumerate(op.getCounts())) {
    Reg number = get(count);
    emitScalar(Opcode::DmaCount, {}, number).imm = dimension;
  }
  Reg semaphore = get(op.getSemaphore());
  Instruction &start = emitScalar(Opcode::DmaStart, {}, from, to);
  start.c = semaphore;
  start.imm = kernel.descriptors.size();
  kernel.descriptors.push_back(std::move(descriptor));
  return success();
}
