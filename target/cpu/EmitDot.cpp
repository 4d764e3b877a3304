//===- EmitDot.cpp - the register-blocked inner loop of matrix products ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop over the depth with rows x (columns / lanes) accumulators in vector
// registers. Each step loads the row of b once and multiplies it with one
// broadcast element of a per row; with AVX-512 the broadcast is an operand of the
// multiply-add. All strides are constants, so that one pointer per operand
// serves every row. This is the outer-product scheme of Goto and van de Geijn
// (Anatomy of High-Performance Matrix Multiplication, 2008).
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelEmitter.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

namespace {

/// The parts of one tile_dot while its loop is written.
class DotLoop {
public:
  DotLoop(llvm::IRBuilder<> &builder, const machine::Machine &machine, kernel::TileDotOp op,
          llvm::Type *accumulator)
      : builder(builder), op(op), element(accumulator), columns(op.getColumns()),
        rows(op.getRows()), hasFma(machine.hasFma),
        lanes(machine.lanes(accumulator->getScalarSizeInBits())),
        registers((columns + lanes - 1) / lanes),
        vector(llvm::FixedVectorType::get(accumulator, lanes)) {}

  /// Element types as the buffers hold them, and whether they are signless ints.
  llvm::Type *aElement = nullptr, *bElement = nullptr;
  bool aIsBf16 = false, bIsBf16 = false;

  void emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth);

private:
  llvm::Value *widen(llvm::Value *value, bool isBf16);
  llvm::Value *loadB(llvm::Value *row, int64_t j);
  llvm::Value *multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum);
  llvm::Value *cPointer(llvm::Value *c, int64_t i, int64_t j);
  void step(llvm::Value *a, llvm::Value *b, llvm::Value *k,
            llvm::MutableArrayRef<llvm::Value *> acc);

  llvm::IRBuilder<> &builder;
  kernel::TileDotOp op;
  llvm::Type *element;
  int64_t columns, rows;
  bool hasFma;
  int64_t lanes, registers;
  llvm::FixedVectorType *vector;
};

} // namespace

/// To the accumulator's type. bf16 is the upper half of an f32, loaded as i16.
llvm::Value *DotLoop::widen(llvm::Value *value, bool isBf16) {
  llvm::Type *target = element;
  if (auto *shape = dyn_cast<llvm::FixedVectorType>(value->getType()))
    target = llvm::FixedVectorType::get(element, shape->getNumElements());
  if (value->getType() == target)
    return value;
  if (isBf16) {
    llvm::Type *bits = builder.getInt32Ty();
    if (auto *shape = dyn_cast<llvm::FixedVectorType>(target))
      bits = llvm::FixedVectorType::get(bits, shape->getNumElements());
    value = builder.CreateShl(builder.CreateZExt(value, bits), 16);
    return builder.CreateBitCast(value, target);
  }
  return element->isFloatingPointTy() ? builder.CreateFPExt(value, target)
                                      : builder.CreateSExt(value, target);
}

/// Register j of b's row; lanes beyond the columns are not read.
llvm::Value *DotLoop::loadB(llvm::Value *row, int64_t j) {
  llvm::Value *pointer = builder.CreateConstGEP1_64(bElement, row, j * lanes);
  auto *type = llvm::FixedVectorType::get(bElement, lanes);
  llvm::Align align(bElement->getScalarSizeInBits() / 8);
  int64_t present = std::min(lanes, columns - j * lanes);
  if (present == lanes)
    return widen(builder.CreateAlignedLoad(type, pointer, align), bIsBf16);
  SmallVector<llvm::Constant *> mask;
  for (int64_t lane = 0; lane < lanes; ++lane)
    mask.push_back(builder.getInt1(lane < present));
  llvm::Value *loaded = builder.CreateMaskedLoad(
      type, pointer, align, llvm::ConstantVector::get(mask), llvm::Constant::getNullValue(type));
  return widen(loaded, bIsBf16);
}

llvm::Value *DotLoop::multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum) {
  if (!element->isFloatingPointTy())
    return builder.CreateAdd(builder.CreateMul(x, y), sum);
  if (hasFma)
    return builder.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {x, y, sum});
  return builder.CreateFAdd(builder.CreateFMul(x, y), sum);
}

llvm::Value *DotLoop::cPointer(llvm::Value *c, int64_t i, int64_t j) {
  return builder.CreateConstGEP1_64(element, c, i * op.getCRowStride() + j * lanes);
}

/// One k: a row of b, an element of a for each row of the tile.
void DotLoop::step(llvm::Value *a, llvm::Value *b, llvm::Value *k,
                   llvm::MutableArrayRef<llvm::Value *> acc) {
  llvm::Value *aColumn =
      builder.CreateGEP(aElement, a, builder.CreateMul(k, builder.getInt64(op.getADepthStride())));
  llvm::Value *bRow =
      builder.CreateGEP(bElement, b, builder.CreateMul(k, builder.getInt64(op.getBDepthStride())));
  SmallVector<llvm::Value *> row;
  for (int64_t j = 0; j < registers; ++j)
    row.push_back(loadB(bRow, j));
  llvm::Align align(aElement->getScalarSizeInBits() / 8);
  for (int64_t i = 0; i < rows; ++i) {
    llvm::Value *pointer = builder.CreateConstGEP1_64(aElement, aColumn, i * op.getARowStride());
    llvm::Value *scalar = widen(builder.CreateAlignedLoad(aElement, pointer, align), aIsBf16);
    llvm::Value *splat = builder.CreateVectorSplat(lanes, scalar);
    for (int64_t j = 0; j < registers; ++j)
      acc[i * registers + j] = multiplyAdd(splat, row[j], acc[i * registers + j]);
  }
}

void DotLoop::emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth) {
  llvm::LLVMContext &context = builder.getContext();
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  llvm::Align align(element->getScalarSizeInBits() / 8);
  SmallVector<llvm::Value *> initial;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < registers; ++j)
      initial.push_back(op.getAccumulate() ? (llvm::Value *)builder.CreateAlignedLoad(
                                                 vector, cPointer(c, i, j), align)
                                           : llvm::Constant::getNullValue(vector));

  // A loop that may run zero times: an empty sum is zero.
  llvm::BasicBlock *before = builder.GetInsertBlock();
  auto *header = llvm::BasicBlock::Create(context, "dot", function);
  auto *body = llvm::BasicBlock::Create(context, "dot.step", function);
  auto *after = llvm::BasicBlock::Create(context, "dot.end", function);
  builder.CreateBr(header);
  builder.SetInsertPoint(header);
  llvm::PHINode *k = builder.CreatePHI(builder.getInt64Ty(), 2, "k");
  k->addIncoming(builder.getInt64(0), before);
  SmallVector<llvm::PHINode *> phis;
  for (llvm::Value *value : initial) {
    phis.push_back(builder.CreatePHI(vector, 2));
    phis.back()->addIncoming(value, before);
  }
  builder.CreateCondBr(builder.CreateICmpSLT(k, depth), body, after);

  builder.SetInsertPoint(body);
  SmallVector<llvm::Value *> acc(phis.begin(), phis.end());
  step(a, b, k, acc);
  k->addIncoming(builder.CreateAdd(k, builder.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true),
                 body);
  for (auto [phi, value] : llvm::zip_equal(phis, acc))
    phi->addIncoming(value, body);
  builder.CreateBr(header);

  builder.SetInsertPoint(after);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < registers; ++j)
      builder.CreateAlignedStore(phis[i * registers + j], cPointer(c, i, j), align);
}

//===----------------------------------------------------------------------===//
// Tiles as functions
//===----------------------------------------------------------------------===//
//
// The kernels of a network multiply in few kinds of tiles. As functions they are
// compiled once; a call costs nothing beside a panel's depth of steps.

static Type elementOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

/// (a, b, c, depth): the rest is in the function.
static llvm::FunctionType *tileType(llvm::IRBuilder<> &builder) {
  llvm::Type *pointer = builder.getPtrTy();
  return llvm::FunctionType::get(builder.getVoidTy(),
                                 {pointer, pointer, pointer, builder.getInt64Ty()}, false);
}

/// Says all that the function's code depends on.
static std::string tileSymbol(kernel::TileDotOp op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getAttrDictionary();
  for (Value buffer : {op.getA(), op.getB(), op.getC()})
    os << ' ' << elementOf(buffer);
  return llvm::formatv("tile_dot.{0}x{1}.{2:x-}", op.getRows(), op.getColumns(),
                       llvm::xxh3_64bits(text));
}

/// In place these take few instructions.
static bool isSmallTile(kernel::TileDotOp op, const machine::Machine &machine) {
  return int64_t(op.getRows() * op.getColumns()) <=
         4 * machine.lanes(elementOf(op.getC()).getIntOrFloatBitWidth());
}

void KernelEmitter::emitTileLoop(kernel::TileDotOp op, llvm::Value *a, llvm::Value *b,
                                 llvm::Value *c, llvm::Value *depth) {
  Type aType = elementOf(op.getA()), bType = elementOf(op.getB());
  DotLoop loop(builder, machine, op, convert(elementOf(op.getC())));
  loop.aIsBf16 = aType.isBF16(), loop.bIsBf16 = bType.isBF16();
  loop.aElement = loop.aIsBf16 ? builder.getInt16Ty() : convert(aType);
  loop.bElement = loop.bIsBf16 ? builder.getInt16Ty() : convert(bType);
  loop.emit(a, b, c, depth);
}

void KernelEmitter::emitTileDot(kernel::TileDotOp op) {
  if (op.getDepthPack() > 1)
    return emitPackedDot(op);
  auto pointer = [&](Value buffer, Value offset) {
    return builder.CreateGEP(convert(elementOf(buffer)), get(buffer), get(offset));
  };
  llvm::Value *a = pointer(op.getA(), op.getAOffset()), *b = pointer(op.getB(), op.getBOffset()),
              *c = pointer(op.getC(), op.getCOffset()), *depth = get(op.getDepth());
  if (!callees || isSmallTile(op, machine))
    return emitTileLoop(op, a, b, c, depth);
  std::string symbol = tileSymbol(op);
  callees->tiles.insert({symbol, op});
  builder.CreateCall(module.getOrInsertFunction(symbol, tileType(builder)), {a, b, c, depth});
}

void KernelEmitter::emitTileFunction(kernel::TileDotOp op, StringRef symbol) {
  function =
      cast<llvm::Function>(module.getOrInsertFunction(symbol, tileType(builder)).getCallee());
  setFunctionAttributes(*function, machine);
  builder.SetInsertPoint(newBlock("entry"));
  emitTileLoop(op, function->getArg(0), function->getArg(1), function->getArg(2),
               function->getArg(3));
  builder.CreateRetVoid();
}
