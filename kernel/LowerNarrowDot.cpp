//===- LowerNarrowDot.cpp - matrix products of bf16 and of bytes -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks, strips and panels of LowerDot.cpp, for machines that multiply narrow
// elements as they are. What differs is the packing: the instructions want words
// of 32 bits that hold consecutive steps of the depth (two of bf16, four bytes).
//
//   rhs  [panel][depth / pack][column of the panel][pack]
//   lhs  [row][depth], or where it lies if that is the same
//
// The depth is padded with zeros to whole words (to 64 bytes for a matrix unit).
// Columns and rows beyond the matrix hold anything: so do their sums, which nobody
// reads. An operand whose elements lie beside each other along the other way than
// packing wants is transposed in registers, square by square.
//
//===----------------------------------------------------------------------===//
#include "kernel/NarrowProduct.h"
#include "kernel/Product.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

class NarrowDotLowering {
public:
  NarrowDotLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter,
                    const NarrowProduct &narrow)
      : lowering(lowering), problem(problem), emitter(emitter), builder(lowering.builder),
        space(emitter.space()), narrow(narrow), blocks(lowering, emitter, problem, plan) {}

  LogicalResult run();

private:
  Value index(int64_t i) { return lowering.constant(i); }
  int64_t reserve(int64_t bytes);
  Value view(int64_t offset, int64_t elements, Type element);
  OperandLayout layoutOfLhs();
  OperandLayout layoutOfRhs();

  // rhs
  LogicalResult packColumns();
  LogicalResult packPanel(const Index &column, int64_t columns);
  LogicalResult packTransposed(const Index &column, int64_t columns, int64_t whole);
  LogicalResult packWord(const Index &word, const Index &column, int64_t columns, int64_t steps);
  LogicalResult inRegisters(const Index &column, int64_t columns,
                            llvm::function_ref<LogicalResult(const Index &, int64_t)> body);
  Num wordOf(ArrayRef<Num> elements);
  void storeWord(Value word, const Index &at, const Index &column, int64_t r);
  // lhs
  LogicalResult packRows(const Index &row, int64_t rows);
  LogicalResult packRowsTransposed(const Index &row, int64_t whole);
  LogicalResult packLhs(const Index &row, const Index &local, const Index &k);
  void padRow(const Index &local);
  // Elements as memory holds them, and tiles.
  Num narrowed(Num value, bool isUnsigned);
  LogicalResult emitTile(const Index &row, int64_t rows, const Index &column, int64_t columns);
  LogicalResult emitEpilogue(const Index &row, int64_t rows, int64_t skipped, const Index &column,
                             int64_t columns);
  Element sum(const Index &local, int64_t first);

  FusionLowering &lowering;
  MatrixProblem &problem;
  ElementEmitter &emitter;
  OpBuilder &builder;
  IndexSpace &space;
  NarrowProduct narrow;
  NarrowPlan plan;
  MatrixBlocks blocks;

  OperandLayout lhsLayout = OperandLayout::Contiguous, rhsLayout = OperandLayout::Contiguous;
  Value a, b, c; ///< memory of lhs, packed rhs, sums of a tile
  Value bWords;  ///< b as i32
  Value aOrigin; ///< of lhs in place: its first element in this batch
  int64_t aRowStride = 0;
  int64_t scratchBytes = 0;
};

} // namespace

/// Room in scratch; offsets are multiples of 64 bytes.
int64_t NarrowDotLowering::reserve(int64_t bytes) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(bytes, 64) + 64;
  return offset;
}

Value NarrowDotLowering::view(int64_t offset, int64_t elements, Type element) {
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, element), offset);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// From a register's value to the bits of a narrow element.
Num NarrowDotLowering::narrowed(Num value, bool isUnsigned) {
  if (narrow.element.isBF16())
    return packFloat(value, narrow.element);
  if (value.isFloat()) // a byte that was converted: exact
    value = value.toInt(32);
  if (value.bits() > 8)
    return value.lowBits(8);
  if (value.bits() == 8)
    return value;
  return isUnsigned ? value.zeroExtended(8) : value.signExtended(8);
}

/// The words of `narrow.pack` elements each of rhs.
Num NarrowDotLowering::wordOf(ArrayRef<Num> elements) {
  Num word;
  for (auto [i, element] : llvm::enumerate(elements)) {
    Num part = narrowed(element, narrow.bUnsigned).zeroExtended(32);
    if (i > 0)
      part = part << int64_t(i * 32 / narrow.pack);
    word = i > 0 ? word | part : part;
  }
  return word;
}

/// In place only where tiles need nothing beyond the operand's own elements.
OperandLayout NarrowDotLowering::layoutOfLhs() {
  std::optional<DirectRead> direct = problem.directLhs(emitter, Index(0));
  if (direct && cast<MemRefType>(direct->buffer.getType()).getElementType() == narrow.element &&
      direct->secondStride == 1 && direct->firstStride >= 0 && !narrow.aExcess &&
      problem.k % narrow.depthStep() == 0)
    return OperandLayout::InPlace;
  std::optional<Strides> strides = problem.lhsStrides(emitter);
  bool transposed = strides && strides->first == 1 && strides->second != 1;
  return transposed && problem.depthRow == problem.k ? OperandLayout::Transposed
                                                     : OperandLayout::Contiguous;
}

OperandLayout NarrowDotLowering::layoutOfRhs() {
  std::optional<Strides> strides = problem.rhsStrides(emitter);
  bool transposed = strides && strides->second == 1 && strides->first != 1;
  return transposed ? OperandLayout::Transposed : OperandLayout::Contiguous;
}

//===----------------------------------------------------------------------===//
// Packing of rhs
//===----------------------------------------------------------------------===//

/// Register by register through a panel's columns, as far as there are any.
LogicalResult
NarrowDotLowering::inRegisters(const Index &column, int64_t columns,
                               llvm::function_ref<LogicalResult(const Index &, int64_t)> body) {
  for (int64_t r = 0; r * plan.lanes < columns; ++r) {
    int64_t present = std::min(plan.lanes, columns - r * plan.lanes);
    Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
    ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
    Index lane = space.add(column, r * plan.lanes);
    lane.lane = 1;
    if (failed(body(lane, r)))
      return failure();
  }
  return success();
}

void NarrowDotLowering::storeWord(Value word, const Index &at, const Index &column, int64_t r) {
  Index panel = space.scale(space.subtract(column, blocks.columnBegin), plan.depth / narrow.pack);
  Index offset = space.add(panel, space.add(space.scale(at, plan.panel), r * plan.lanes));
  builder.create<StoreOp>(lowering.loc(), word, bWords, ValueRange{space.scalar(offset)}, Value(),
                          1);
}

/// The words that begin at step k of the depth and have `steps` steps that exist.
LogicalResult NarrowDotLowering::packWord(const Index &word, const Index &column, int64_t columns,
                                          int64_t steps) {
  return inRegisters(column, columns, [&](const Index &lane, int64_t r) -> LogicalResult {
    SmallVector<Num, 4> elements;
    for (int64_t i = 0; i < steps; ++i) {
      Index k = space.add(space.scale(word, narrow.pack), i);
      FailureOr<Element> element = problem.rhs(emitter, blocks.batch, k, lane);
      if (failed(element))
        return failure();
      elements.push_back(element->re);
    }
    storeWord(wordOf(elements), word, column, r);
    return success();
  });
}

/// The first `whole` steps of the depth, in squares of registers that are loaded
/// along the depth.
LogicalResult NarrowDotLowering::packTransposed(const Index &column, int64_t columns,
                                                int64_t whole) {
  auto loop = builder.create<scf::ForOp>(lowering.loc(), index(0), index(whole), index(plan.lanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Index k = space.variable(loop.getInductionVar(), 0, whole - plan.lanes, plan.lanes);
  Index word = space.divide(k, narrow.pack).first;
  return inRegisters(column, columns, [&](const Index &lane, int64_t r) -> LogicalResult {
    SmallVector<Num> elements;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      emitter.rowBlock = {loop.getInductionVar(), plan.lanes, i};
      FailureOr<Element> element = problem.rhs(emitter, blocks.batch, space.add(k, i), lane);
      if (failed(element))
        return failure();
      elements.push_back(element->re);
    }
    emitter.rowBlock = {};
    for (int64_t i = 0; i < plan.lanes; i += narrow.pack)
      storeWord(wordOf(ArrayRef(elements).slice(i, narrow.pack)), space.add(word, i / narrow.pack),
                column, r);
    return success();
  });
}

LogicalResult NarrowDotLowering::packPanel(const Index &column, int64_t columns) {
  int64_t begin = 0, whole = problem.k / narrow.pack, words = plan.depth / narrow.pack;
  if (rhsLayout == OperandLayout::Transposed) {
    int64_t squares = problem.k / plan.lanes * plan.lanes;
    if (squares && failed(packTransposed(column, columns, squares)))
      return failure();
    begin = squares / narrow.pack;
  }
  auto pack = [&](const Index &word) { return packWord(word, column, columns, narrow.pack); };
  if (begin == whole - 1 && failed(pack(Index(begin))))
    return failure();
  if (begin < whole - 1 && failed(forRange(emitter, index(begin), index(whole), whole, pack)))
    return failure();
  // The rest: a word that is not full, and words of nothing.
  int64_t rest = problem.k % narrow.pack;
  if (rest && failed(packWord(Index(whole), column, columns, rest)))
    return failure();
  int64_t end = whole + (rest ? 1 : 0);
  auto type = VectorType::get({plan.lanes}, builder.getI32Type());
  Value zero = builder.create<arith::ConstantOp>(lowering.loc(), builder.getZeroAttr(type));
  auto clear = [&](const Index &word) {
    for (int64_t r = 0; r < plan.registers; ++r)
      storeWord(zero, word, column, r);
    return success();
  };
  if (end == words - 1)
    return clear(Index(end));
  return end < words ? forRange(emitter, index(end), index(words), words, clear) : success();
}

LogicalResult NarrowDotLowering::packColumns() {
  int64_t bytes = plan.blockColumns * plan.depth * narrow.bytes();
  int64_t offset = reserve(bytes);
  b = view(offset, bytes / narrow.bytes(), narrow.element);
  bWords = view(offset, bytes / 4, builder.getI32Type());
  return blocks.forPanels(
      [&](const Index &column, int64_t columns) { return packPanel(column, columns); });
}

//===----------------------------------------------------------------------===//
// Packing of lhs
//===----------------------------------------------------------------------===//

/// The lanes of one row that begin at step k.
LogicalResult NarrowDotLowering::packLhs(const Index &row, const Index &local, const Index &k) {
  FailureOr<Element> element = problem.lhs(emitter, blocks.batch, space.add(row, local), k);
  if (failed(element))
    return failure();
  Num value = narrowed(element->re, narrow.aUnsigned && !narrow.aExcess);
  if (narrow.aExcess)
    value = value ^ narrow.aExcess; // of 128: the same as adding it
  Index at = space.add(space.scale(local, aRowStride), k);
  at.lane = 0;
  builder.create<StoreOp>(lowering.loc(), value, a, ValueRange{space.scalar(at)}, Value(), 1);
  return success();
}

/// Zeros from the end of a row of k steps to the padded depth; what the last lanes
/// of packLhs left there goes.
void NarrowDotLowering::padRow(const Index &local) {
  if (plan.depth == problem.k)
    return;
  auto type = VectorType::get({plan.lanes}, builder.getIntegerType(8 * narrow.bytes()));
  Value zero = builder.create<arith::ConstantOp>(lowering.loc(), builder.getZeroAttr(type));
  for (int64_t k = problem.k; k < plan.depth; k += plan.lanes) {
    Index at = space.add(space.scale(local, aRowStride), k);
    builder.create<StoreOp>(lowering.loc(), zero, a, ValueRange{space.scalar(at)}, Value(), 1);
  }
}

/// The first `whole` rows of a strip, in squares that are loaded along the rows.
LogicalResult NarrowDotLowering::packRowsTransposed(const Index &row, int64_t whole) {
  auto loop = builder.create<scf::ForOp>(lowering.loc(), index(0), index(whole), index(plan.lanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Index first = space.variable(loop.getInductionVar(), 0, whole - plan.lanes, plan.lanes);
  auto square = [&](const Index &k) -> LogicalResult {
    for (int64_t i = 0; i < plan.lanes; ++i) {
      emitter.rowBlock = {loop.getInductionVar(), plan.lanes, i};
      if (failed(packLhs(row, space.add(first, i), k)))
        return failure();
    }
    emitter.rowBlock = {};
    return success();
  };
  if (failed(forLanes(emitter, index(0), index(problem.k), problem.k, plan.lanes, square)))
    return failure();
  for (int64_t i = 0; i < plan.lanes; ++i)
    padRow(space.add(first, i));
  return success();
}

LogicalResult NarrowDotLowering::packRows(const Index &row, int64_t rows) {
  int64_t begin = 0;
  if (lhsLayout == OperandLayout::Transposed) {
    begin = rows / plan.lanes * plan.lanes;
    if (begin && failed(packRowsTransposed(row, begin)))
      return failure();
  }
  int64_t parts = problem.k / problem.depthRow;
  auto packRow = [&](const Index &local) -> LogicalResult {
    LogicalResult done = forRange(emitter, index(0), index(parts), parts, [&](const Index &part) {
      Index base = space.scale(part, problem.depthRow);
      return forLanes(emitter, index(0), index(problem.depthRow), problem.depthRow, plan.lanes,
                      [&](const Index &k) { return packLhs(row, local, space.add(base, k)); });
    });
    padRow(local);
    return done;
  };
  if (begin == rows)
    return success();
  if (begin == rows - 1)
    return packRow(Index(begin));
  return forRange(emitter, index(begin), index(rows), rows, packRow);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult NarrowDotLowering::emitTile(const Index &row, int64_t rows, const Index &column,
                                          int64_t columns) {
  // A last strip in place begins early enough to be whole; what it computes again
  // is not stored again.
  bool inPlace = lhsLayout == OperandLayout::InPlace;
  int64_t skipped = inPlace ? plan.rows - rows : 0;
  Value aOffset = index(0);
  if (inPlace)
    aOffset =
        lowering.add(aOrigin, space.scalar(space.scale(space.add(row, -skipped), aRowStride)));
  Value bOffset = space.scalar(space.scale(space.subtract(column, blocks.columnBegin), plan.depth));
  auto dot = builder.create<TileDotOp>(
      lowering.loc(), a, aOffset, b, bOffset, c, index(0), index(plan.depth), plan.rows, plan.panel,
      aRowStride, /*a_depth_stride=*/1, plan.panel * narrow.pack, plan.panel, /*accumulate=*/false);
  dot.setDepthPack(narrow.pack);
  dot.setUnitRows(plan.unitRows);
  dot.setAExcess(narrow.aExcess);
  dot.setAUnsigned(narrow.aUnsigned);
  dot.setBUnsigned(narrow.bUnsigned);
  return emitEpilogue(row, rows, skipped, column, columns);
}

/// The finished sums of a row from column `first` of the tile on, as the product's
/// element type.
Element NarrowDotLowering::sum(const Index &local, int64_t first) {
  Index at = space.add(space.scale(local, plan.panel), first);
  Type type = narrow.accumulator;
  if (emitter.lanes() > 1) // one lane: all of them stand at the same place
    type = VectorType::get({emitter.lanes()}, type);
  Num sum(emitter.context(), builder.create<LoadOp>(lowering.loc(), type, c,
                                                    ValueRange{space.scalar(at)}, Value(), 1));
  Type element = typeOf(problem.op->getResult(0)).getElementType();
  if (isa<FloatType>(element) && !sum.isFloat())
    sum = sum.toFloat(builder.getF32Type());
  return {finishedSum(sum, element), {}};
}

LogicalResult NarrowDotLowering::emitEpilogue(const Index &row, int64_t rows, int64_t skipped,
                                              const Index &column, int64_t columns) {
  Value product = problem.op->getResult(0);
  return forRange(emitter, index(0), index(rows), rows, [&](const Index &i) {
    Index at = space.add(row, i);
    return inRegisters(column, columns, [&](const Index &lane, int64_t r) {
      Position expected = problem.result(space, blocks.batch, at, lane);
      emitter.bind(product, [&](const Position &position) -> FailureOr<Element> {
        if (!(position == expected))
          return problem.op->emitOpError("is read at another place than it is computed for");
        return sum(space.add(i, skipped), r * plan.lanes);
      });
      LogicalResult done = emitProductOutputs(lowering, emitter, problem, blocks.batch, at, lane);
      emitter.unbind(product);
      return done;
    });
  });
}

LogicalResult NarrowDotLowering::run() {
  lhsLayout = layoutOfLhs(), rhsLayout = layoutOfRhs();
  plan = planNarrowProduct(problem, narrow, lhsLayout, rhsLayout, lowering.machine);
  if (lhsLayout == OperandLayout::InPlace && problem.m < plan.rows)
    lhsLayout = OperandLayout::Contiguous;
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(problem.batch * plan.rowBlocks * plan.columnBlocks);
  kernel.setTaskCostNs(plan.taskNs);
  blocks.splitTask();
  c = view(reserve(plan.rows * plan.panel * 4), plan.rows * plan.panel, narrow.accumulator);
  if (lhsLayout == OperandLayout::InPlace) {
    std::optional<DirectRead> direct = problem.directLhs(emitter, blocks.batch);
    a = direct->buffer, aOrigin = space.scalar(direct->origin), aRowStride = direct->firstStride;
  } else {
    // Rows a power of two apart would meet in a few sets of the cache.
    aRowStride = plan.depth + 64 / narrow.bytes();
    int64_t elements = plan.rows * aRowStride;
    a = view(reserve(elements * narrow.bytes()), elements, narrow.element);
  }
  if (failed(packColumns()))
    return failure();
  LogicalResult done = blocks.forStrips([&](const Index &row, int64_t rows) -> LogicalResult {
    if (lhsLayout != OperandLayout::InPlace && failed(packRows(row, rows)))
      return failure();
    return blocks.forPanels(
        [&](const Index &column, int64_t columns) { return emitTile(row, rows, column, columns); });
  });
  kernel.setScratchBytes(scratchBytes);
  return done;
}

LogicalResult kernel::lowerNarrowDot(FusionLowering &lowering, MatrixProblem &problem,
                                     ElementEmitter &emitter, const NarrowProduct &product) {
  return NarrowDotLowering(lowering, problem, emitter, product).run();
}
