//===- EmitPackedDot.cpp - matrix products of bf16 pairs and groups of bytes ===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways to the same sums. With vector registers it is the loop of EmitDot.cpp
// over words of 32 bits, each a pair of bf16 (AVX512-BF16) or four bytes (VNNI):
// one instruction multiplies and adds all products within each word. With AMX a
// tile register holds up to 16 rows of 64 bytes, and one instruction multiplies a
// tile of a by one of b. The numbers of tiles are fixed:
//
//   0 1   sums, two row tiles times two column tiles       6 7   tiles of b
//   2 3                                                 4
//                                            tiles of a  5
//
// Tiles are configured once per call of a kernel and released at its end, so that
// the system has nothing to save between kernels.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelEmitter.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

namespace X86 = llvm::Intrinsic;

namespace {

/// Bytes of an element: 2 of bf16, 1 of the others.
int64_t elementBytes(kernel::TileDotOp op) {
  return 4 / op.getDepthPack();
}

/// The parts of one tile_dot on vector registers.
class WordLoop {
public:
  WordLoop(llvm::IRBuilder<> &builder, const machine::Machine &machine, kernel::TileDotOp op)
      : builder(builder), op(op), isFloat(op.getDepthPack() == 2), bytes(elementBytes(op)),
        rows(op.getRows()), lanes(machine.lanes(32)),
        registers((op.getColumns() + lanes - 1) / lanes),
        words(llvm::FixedVectorType::get(builder.getInt32Ty(), lanes)),
        sums(isFloat ? llvm::FixedVectorType::get(builder.getFloatTy(), lanes) : words) {}

  void emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth);

private:
  llvm::Value *pointer(llvm::Value *base, int64_t offset) {
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset);
  }
  llvm::Value *multiplyAdd(llvm::Value *sum, llvm::Value *a, llvm::Value *b);
  llvm::Value *multiplyAddBf16(llvm::Value *sum, llvm::Value *a, llvm::Value *b);
  void step(llvm::Value *a, llvm::Value *b, llvm::MutableArrayRef<llvm::Value *> values);

  llvm::IRBuilder<> &builder;
  kernel::TileDotOp op;
  bool isFloat;
  int64_t bytes, rows, lanes, registers;
  llvm::FixedVectorType *words, *sums;
};

} // namespace

llvm::Value *WordLoop::multiplyAddBf16(llvm::Value *sum, llvm::Value *a, llvm::Value *b) {
  auto *pairs = llvm::FixedVectorType::get(builder.getBFloatTy(), 2 * lanes);
  a = builder.CreateBitCast(a, pairs), b = builder.CreateBitCast(b, pairs);
  X86::ID id = lanes == 16 ? X86::x86_avx512bf16_dpbf16ps_512 : X86::x86_avx512bf16_dpbf16ps_256;
  return builder.CreateIntrinsic(id, {}, {sum, a, b});
}

llvm::Value *WordLoop::multiplyAdd(llvm::Value *sum, llvm::Value *a, llvm::Value *b) {
  if (isFloat)
    return multiplyAddBf16(sum, a, b);
  // The instruction takes unsigned bytes first.
  if (op.getBUnsigned())
    std::swap(a, b);
  X86::ID id = lanes == 16 ? X86::x86_avx512_vpdpbusd_512 : X86::x86_avx512_vpdpbusd_256;
  return builder.CreateIntrinsic(id, {}, {sum, a, b});
}

/// One word of depth. The values are the sums and, where a has an excess, that
/// times the columns of b.
void WordLoop::step(llvm::Value *a, llvm::Value *b, llvm::MutableArrayRef<llvm::Value *> values) {
  llvm::Align align(bytes);
  SmallVector<llvm::Value *> row;
  for (int64_t j = 0; j < registers; ++j)
    row.push_back(builder.CreateAlignedLoad(words, pointer(b, j * lanes * 4), align));
  for (int64_t i = 0; i < rows; ++i) {
    llvm::Value *word = builder.CreateAlignedLoad(
        builder.getInt32Ty(), pointer(a, i * op.getARowStride() * bytes), align);
    llvm::Value *splat = builder.CreateVectorSplat(lanes, word);
    for (int64_t j = 0; j < registers; ++j)
      values[i * registers + j] = multiplyAdd(values[i * registers + j], splat, row[j]);
  }
  if (!op.getAExcess())
    return;
  llvm::Value *excess = llvm::ConstantVector::getSplat(
      words->getElementCount(), builder.getInt32(0x01010101u * uint32_t(op.getAExcess())));
  for (int64_t j = 0; j < registers; ++j)
    values[rows * registers + j] = multiplyAdd(values[rows * registers + j], excess, row[j]);
}

void WordLoop::emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth) {
  llvm::LLVMContext &context = builder.getContext();
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  llvm::BasicBlock *before = builder.GetInsertBlock();
  auto *header = llvm::BasicBlock::Create(context, "words", function);
  auto *body = llvm::BasicBlock::Create(context, "words.step", function);
  auto *after = llvm::BasicBlock::Create(context, "words.end", function);
  llvm::Value *count = builder.CreateUDiv(depth, builder.getInt64(op.getDepthPack()));
  builder.CreateBr(header);
  builder.SetInsertPoint(header);
  llvm::PHINode *word = builder.CreatePHI(builder.getInt64Ty(), 2, "word");
  word->addIncoming(builder.getInt64(0), before);
  SmallVector<llvm::PHINode *> phis;
  for (int64_t i = 0, n = (rows + (op.getAExcess() ? 1 : 0)) * registers; i < n; ++i) {
    phis.push_back(builder.CreatePHI(sums, 2));
    phis.back()->addIncoming(llvm::Constant::getNullValue(sums), before);
  }
  builder.CreateCondBr(builder.CreateICmpULT(word, count), body, after);

  builder.SetInsertPoint(body);
  SmallVector<llvm::Value *> values(phis.begin(), phis.end());
  llvm::Value *aWord = builder.CreateGEP(builder.getInt32Ty(), a, word);
  llvm::Value *bRow =
      builder.CreateGEP(builder.getInt8Ty(), b,
                        builder.CreateMul(word, builder.getInt64(op.getBDepthStride() * bytes)));
  step(aWord, bRow, values);
  word->addIncoming(
      builder.CreateAdd(word, builder.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true), body);
  for (auto [phi, value] : llvm::zip_equal(phis, values))
    phi->addIncoming(value, body);
  builder.CreateBr(header);

  builder.SetInsertPoint(after);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < registers; ++j) {
      llvm::Value *sum = phis[i * registers + j];
      if (op.getAExcess())
        sum = builder.CreateSub(sum, phis[rows * registers + j]);
      builder.CreateAlignedStore(sum, pointer(c, (i * op.getCRowStride() + j * lanes) * 4),
                                 llvm::Align(4));
    }
}

namespace {

/// One tile_dot on tile registers.
class TileLoop {
public:
  TileLoop(llvm::IRBuilder<> &builder, kernel::TileDotOp op)
      : builder(builder), op(op), bytes(elementBytes(op)),
        rowTiles(op.getRows() / op.getUnitRows()), columnTiles(op.getColumns() / 16) {}

  void emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth);

private:
  llvm::Value *tile(int64_t number) { return builder.getInt8(number); }
  llvm::Value *sum(int64_t row, int64_t column) { return tile(2 * row + column); }
  /// Loads or stores a tile at `offset` bytes from `base`, its rows `stride` apart.
  void move(X86::ID id, llvm::Value *number, llvm::Value *base, int64_t offset, int64_t stride) {
    llvm::Value *at = builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset);
    builder.CreateIntrinsic(id, {}, {number, at, builder.getInt64(stride)});
  }
  X86::ID multiplication();
  void step(llvm::Value *a, llvm::Value *b);

  llvm::IRBuilder<> &builder;
  kernel::TileDotOp op;
  int64_t bytes, rowTiles, columnTiles;
};

} // namespace

X86::ID TileLoop::multiplication() {
  if (op.getDepthPack() == 2)
    return X86::x86_tdpbf16ps;
  if (op.getAUnsigned())
    return op.getBUnsigned() ? X86::x86_tdpbuud : X86::x86_tdpbusd;
  return op.getBUnsigned() ? X86::x86_tdpbsud : X86::x86_tdpbssd;
}

void TileLoop::step(llvm::Value *a, llvm::Value *b) {
  int64_t aStride = op.getARowStride() * bytes, bStride = op.getBDepthStride() * bytes;
  for (int64_t i = 0; i < rowTiles; ++i)
    move(X86::x86_tileloadd64, tile(4 + i), a, i * int64_t(op.getUnitRows()) * aStride, aStride);
  for (int64_t j = 0; j < columnTiles; ++j) {
    move(X86::x86_tileloadd64, tile(6 + j), b, j * 64, bStride);
    for (int64_t i = 0; i < rowTiles; ++i)
      builder.CreateIntrinsic(multiplication(), {}, {sum(i, j), tile(4 + i), tile(6 + j)});
  }
}

void TileLoop::emit(llvm::Value *a, llvm::Value *b, llvm::Value *c, llvm::Value *depth) {
  llvm::LLVMContext &context = builder.getContext();
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  for (int64_t i = 0; i < rowTiles; ++i)
    for (int64_t j = 0; j < columnTiles; ++j)
      builder.CreateIntrinsic(X86::x86_tilezero, {}, {sum(i, j)});
  llvm::BasicBlock *before = builder.GetInsertBlock();
  auto *header = llvm::BasicBlock::Create(context, "tiles", function);
  auto *body = llvm::BasicBlock::Create(context, "tiles.step", function);
  auto *after = llvm::BasicBlock::Create(context, "tiles.end", function);
  // 64 bytes of a's rows meet 64 / 4 rows of b.
  llvm::Value *end = builder.CreateMul(depth, builder.getInt64(bytes));
  builder.CreateBr(header);
  builder.SetInsertPoint(header);
  llvm::PHINode *at = builder.CreatePHI(builder.getInt64Ty(), 2, "depth");
  at->addIncoming(builder.getInt64(0), before);
  builder.CreateCondBr(builder.CreateICmpULT(at, end), body, after);
  builder.SetInsertPoint(body);
  llvm::Value *bRow =
      builder.CreateMul(at, builder.getInt64(int64_t(op.getBDepthStride()) * bytes / 4));
  step(builder.CreateGEP(builder.getInt8Ty(), a, at),
       builder.CreateGEP(builder.getInt8Ty(), b, bRow));
  at->addIncoming(builder.CreateAdd(at, builder.getInt64(64), "", /*HasNUW=*/true, /*HasNSW=*/true),
                  body);
  builder.CreateBr(header);
  builder.SetInsertPoint(after);
  int64_t cStride = op.getCRowStride() * 4;
  for (int64_t i = 0; i < rowTiles; ++i)
    for (int64_t j = 0; j < columnTiles; ++j)
      move(X86::x86_tilestored64, sum(i, j), c, i * int64_t(op.getUnitRows()) * cStride + j * 64,
           cStride);
}

void KernelEmitter::emitPackedDot(kernel::TileDotOp op) {
  auto pointer = [&](Value buffer, Value offset, int64_t bytes) {
    llvm::Value *at = builder.CreateMul(get(offset), builder.getInt64(bytes));
    return builder.CreateGEP(builder.getInt8Ty(), get(buffer), at);
  };
  int64_t bytes = elementBytes(op);
  llvm::Value *a = pointer(op.getA(), op.getAOffset(), bytes);
  llvm::Value *b = pointer(op.getB(), op.getBOffset(), bytes);
  llvm::Value *c = pointer(op.getC(), op.getCOffset(), 4);
  if (op.getUnitRows())
    TileLoop(builder, op).emit(a, b, c, get(op.getDepth()));
  else
    WordLoop(builder, machine, op).emit(a, b, c, get(op.getDepth()));
}

int64_t KernelEmitter::unitRows(kernel::FuncOp kernel) {
  int64_t rows = 0;
  kernel.walk([&](kernel::TileDotOp op) { rows = std::max<int64_t>(rows, op.getUnitRows()); });
  return rows;
}

/// Palette 1: for each tile the bytes of a row, and its rows.
void KernelEmitter::emitTileConfiguration(int64_t unitRows) {
  uint8_t bytes[64] = {};
  bytes[0] = 1;
  for (int tile = 0; tile < 8; ++tile) {
    bytes[16 + 2 * tile] = 64;
    bytes[48 + tile] = tile < 6 ? unitRows : 16;
  }
  llvm::Constant *data = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef(bytes));
  auto *global =
      new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, data, "tile.configuration");
  global->setAlignment(llvm::Align(64));
  builder.CreateIntrinsic(X86::x86_ldtilecfg, {}, {global});
}

void KernelEmitter::emitTileRelease() {
  builder.CreateIntrinsic(X86::x86_tilerelease, {}, {});
}
