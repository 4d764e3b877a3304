//===- LowerBlocks.cpp - loops over boxes of their buffers -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is a block of the results: a range of each loop. What it reads of an input
// is a box, if the input's element number is affine in the loops; transfers bring
// boxes, whatever their strides. Registers are 8 steps of one loop, the rows, by 128
// of the innermost. Where an input is contiguous along the rows, that is a
// transpose, 128 rows at once are turned in registers (ElementEmitter::squareGroup).
//
//===----------------------------------------------------------------------===//
#include "kernel/LowerBlocks.h"

#include "kernel/BlockWindows.h"
#include "kernel/RowTiles.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kSmallInput = 1024; ///< elements; smaller ones are there as a whole

class BlocksLowering {
public:
  BlocksLowering(FusionLowering &lowering, ArrayRef<Value> roots, ArrayRef<int64_t> extents)
      : lowering(lowering), fusion(lowering.fusion), roots(roots), extents(extents),
        emitter(lowering.builder, lowering.machine, fusion, lowering.kernel.getBuffers()) {}
  bool applies();
  LogicalResult run();

private:
  bool findReads();
  bool chooseRows();
  bool chooseSizes();
  bool findBoxes();
  void splitTask();
  void declareWindows();
  LogicalResult emitOuter(unsigned dim);
  LogicalResult emitBlock();
  LogicalResult emitTile(const RowGroup &group, const Index &column);
  LogicalResult emitAt(const Index &linear);
  Index linearOf(ArrayRef<Index> positions);
  Index positionOf(unsigned dim, const Index &local);

  FusionLowering &lowering;
  graph::FusionOp fusion;
  ArrayRef<Value> roots;
  SmallVector<int64_t> extents;
  ElementEmitter emitter;
  SmallVector<BlockDimension> dims;
  SmallVector<int64_t> radices;
  unsigned rowDim = 0, columnDim = 0;
  bool squares = false;
  std::map<unsigned, Index> reads; ///< of an input, in the loops' probes
  std::map<unsigned, AffineBox> inputs;
  SmallVector<AffineBox> outputs;
  std::map<unsigned, Value> inputViews;
  SmallVector<Value> outputViews;
  SmallVector<Value> digitValues;
  SmallVector<Index> digits;
  SmallVector<Index> locals; ///< of the loops around, within the block
};

/// The largest divisor of `extent` that is a multiple of `multiple` and at most
/// `most`; 0: none.
int64_t divisorOf(int64_t extent, int64_t multiple, int64_t most) {
  for (int64_t size = llvm::alignDown(std::min(extent, most), multiple); size > 0; size -= multiple)
    if (extent % size == 0)
      return size;
  return 0;
}

Index BlocksLowering::linearOf(ArrayRef<Index> positions) {
  return emitter.space().linearize(Position(positions.begin(), positions.end()), extents);
}

/// How the inputs lie in the loops. False if that is not known of one, or if all of
/// them lie as the results do.
bool BlocksLowering::findReads() {
  IndexSpace &space = emitter.space();
  SmallVector<Index> probes;
  for (int64_t extent : extents) {
    Value any = lowering.constant(int64_t(dims.size()));
    dims.push_back({any, extent, extent, -1});
    probes.push_back(space.variable(any, 0, std::max<int64_t>(extent - 1, 1)));
  }
  Index linear = linearOf(probes);
  SmallVector<InputRead> all;
  for (Value root : roots) {
    if (isa<ComplexType>(typeOf(root).getElementType()) ||
        !collectReads(emitter, root, space.delinearize(linear, typeOf(root).getShape()), {}, all))
      return false;
  }
  bool moved = false;
  for (const InputRead &read : all) {
    RankedTensorType type = typeOf(read.input);
    if (type.getNumElements() < kSmallInput)
      continue;
    auto [known, isNew] = reads.try_emplace(read.input.getArgNumber(), read.linear);
    if (!(known->second == read.linear) || isa<ComplexType>(type.getElementType()) ||
        !boxOf(read.linear, dims))
      return false;
    moved |= !(read.linear == linear) && read.linear.terms.size() > 1;
  }
  return moved;
}

/// The loop along the rows of a register: along which a moved input is contiguous,
/// else the one around the innermost.
bool BlocksLowering::chooseRows() {
  columnDim = extents.size() - 1;
  rowDim = columnDim - 1;
  for (auto &[number, linear] : reads)
    for (const Index::Term &term : linear.terms)
      if (term.coefficient == 1)
        for (unsigned dim = 0; dim < columnDim; ++dim)
          if (dims[dim].probe == term.value && extents[dim] % kTileColumns == 0)
            rowDim = dim, squares = true;
  return extents[rowDim] % kTileRows == 0;
}

bool BlocksLowering::chooseSizes() {
  int64_t elements = typeOf(roots[0]).getNumElements();
  int64_t bytes = std::max<int64_t>(1, streamedBytes(fusion, elements, elements));
  int64_t target = std::min(lowering.machine.taskBytes / bytes, elements / 16);
  int64_t quantum = squares ? kTileColumns : kTileRows;
  target = std::max(target, quantum * kTileColumns);
  SmallVector<int64_t> sizes(extents.size(), 1);
  int64_t columns = extents[columnDim], rows = extents[rowDim];
  if (squares) {
    // Runs of either side are as long as the other side's block.
    sizes[rowDim] = divisorOf(rows, quantum, 512);
    sizes[columnDim] = divisorOf(columns, kTileColumns, target / sizes[rowDim]);
  } else {
    sizes[columnDim] = columns * quantum <= 2 * target
                           ? columns
                           : divisorOf(columns, kTileColumns, target / quantum);
  }
  if (sizes[columnDim] == 0 && columns * quantum <= 4 * target)
    sizes[columnDim] = columns;
  if (sizes[columnDim] == 0)
    return false;
  if (!squares)
    sizes[rowDim] = divisorOf(rows, quantum, std::max(quantum, target / sizes[columnDim]));
  int64_t block = sizes[rowDim] * sizes[columnDim];
  for (unsigned dim = extents.size(); dim-- > 0;) {
    if (dim == rowDim || dim == columnDim)
      continue;
    sizes[dim] = divisorOf(extents[dim], 1, std::max<int64_t>(1, target / block));
    block *= sizes[dim];
  }
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    dims[dim].size = size, dims[dim].digit = dim;
    radices.push_back(extents[dim] / size);
  }
  return block * bytes <= lowering.machine.l2Bytes / 8;
}

bool BlocksLowering::findBoxes() {
  for (auto &[number, linear] : reads) {
    std::optional<AffineBox> box = boxOf(linear, dims);
    if (!box)
      return false;
    inputs[number] = *box;
  }
  SmallVector<Index> probes;
  for (const BlockDimension &dim : dims)
    probes.push_back(emitter.space().variable(dim.probe, 0, std::max<int64_t>(dim.limit - 1, 1)));
  std::optional<AffineBox> box = boxOf(linearOf(probes), dims);
  if (!box)
    return false;
  outputs.assign(roots.size(), *box);
  return true;
}

bool BlocksLowering::applies() {
  const machine::Machine &machine = lowering.machine;
  if (machine.rowLanes != kTileColumns || extents.size() < 2 ||
      chooseLanes(fusion, machine) != kTileLanes)
    return false;
  for (Value root : roots)
    if (typeOf(root).getNumElements() < kTileLanes)
      return false;
  return findReads() && chooseRows() && chooseSizes() && findBoxes();
}

void BlocksLowering::splitTask() {
  OpBuilder &builder = lowering.builder;
  Value rest = lowering.kernel.getTask();
  digits.assign(radices.size(), Index(0));
  for (unsigned dim = radices.size(); dim-- > 0;) {
    if (radices[dim] == 1)
      continue;
    Value radix = lowering.constant(radices[dim]);
    Value digit = builder.create<arith::RemUIOp>(lowering.loc(), rest, radix);
    rest = builder.create<arith::DivUIOp>(lowering.loc(), rest, radix);
    digitValues.push_back(digit);
    digits[dim] = emitter.space().variable(digit, 0, radices[dim] - 1);
  }
}

void BlocksLowering::declareWindows() {
  OpBuilder &builder = lowering.builder;
  for (auto &[number, box] : inputs) {
    Value view = declareWindow(builder, lowering.loc(), emitter.inputBuffer(number), box, radices);
    RankedTensorType whole = typeOf(fusion.getBlock().getArgument(number));
    auto type = RankedTensorType::get({box.elements()}, whole.getElementType());
    AffineBox copy = box;
    emitter.bind(fusion.getBlock().getArgument(number),
                 [this, view, whole, type, copy](const Position &at) -> FailureOr<Element> {
                   IndexSpace &space = emitter.space();
                   std::optional<Index> local =
                       copy.local(space, space.linearize(at, whole.getShape()), digitValues);
                   if (!local)
                     return fusion.emitOpError("reads an input beyond its block");
                   return emitter.load(type, view, {*local});
                 });
  }
  for (auto [number, box] : llvm::enumerate(outputs))
    outputViews.push_back(
        declareWindow(builder, lowering.loc(), emitter.outputBuffer(number), box, radices));
}

Index BlocksLowering::positionOf(unsigned dim, const Index &local) {
  IndexSpace &space = emitter.space();
  return space.add(space.scale(digits[dim], dims[dim].size), local);
}

LogicalResult BlocksLowering::emitAt(const Index &linear) {
  IndexSpace &space = emitter.space();
  std::vector<Element> results;
  for (Value root : roots) {
    FailureOr<Element> element =
        emitter.emit(root, space.delinearize(linear, typeOf(root).getShape()));
    if (failed(element))
      return failure();
    results.push_back(*element);
  }
  for (auto [i, root] : llvm::enumerate(roots)) {
    std::optional<Index> local = outputs[i].local(space, linear, digitValues);
    auto type = RankedTensorType::get({outputs[i].elements()}, typeOf(root).getElementType());
    if (!local || failed(emitter.store(results[i], type, outputViews[i], {*local})))
      return failure();
  }
  return success();
}

LogicalResult BlocksLowering::emitTile(const RowGroup &group, const Index &column) {
  for (auto [number, row] : llvm::enumerate(group.rows)) {
    emitter.squareGroup = squares ? int64_t(number) : -1;
    SmallVector<Index> positions(locals);
    positions[rowDim] = positionOf(rowDim, row);
    positions[columnDim] = positionOf(columnDim, column);
    if (failed(emitAt(linearOf(positions))))
      return failure();
  }
  emitter.squareGroup = -1;
  return success();
}

/// The rows and columns of the block, the other loops being where `locals` says.
LogicalResult BlocksLowering::emitBlock() {
  RowTiles tiles;
  tiles.rows = dims[rowDim].size, tiles.extent = dims[columnDim].size;
  if (squares) {
    tiles.groups = kTileColumns / kTileRows;
    tiles.registers = 2 * tiles.groups;
  } else {
    while (tiles.groups < 4 && tiles.rows % (2 * tiles.groups * kTileRows) == 0)
      tiles.groups *= 2;
    tiles.registers = std::clamp<int64_t>(128 / operationsPerElement(fusion), 1, 32);
  }
  OpBuilder &builder = lowering.builder;
  int64_t step = tiles.groups * kTileRows;
  auto loop = builder.create<scf::ForOp>(lowering.loc(), lowering.constant(0),
                                         lowering.constant(tiles.rows), lowering.constant(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  IndexSpace &space = emitter.space();
  Index first = space.variable(loop.getInductionVar(), 0, tiles.rows - step, step);
  RowGroup group{{}, Value(), kTileRows};
  for (int64_t g = 0; g < tiles.groups; ++g) {
    Index row = space.add(first, g * kTileRows);
    row.sublane = 1;
    group.rows.push_back(row);
  }
  return forColumns(lowering, emitter, tiles, group, ValueRange(),
                    [&](const Index &column, int64_t, ValueRange) -> FailureOr<Carried> {
                      if (failed(emitTile(group, column)))
                        return failure();
                      return Carried();
                    });
}

LogicalResult BlocksLowering::emitOuter(unsigned dim) {
  if (dim == extents.size())
    return emitBlock();
  if (dim == rowDim || dim == columnDim)
    return emitOuter(dim + 1);
  int64_t size = dims[dim].size;
  return forRange(emitter, lowering.constant(0), lowering.constant(size), size,
                  [&](const Index &local) {
                    locals[dim] = positionOf(dim, local);
                    return emitOuter(dim + 1);
                  });
}

LogicalResult BlocksLowering::run() {
  int64_t tasks = 1;
  for (int64_t radix : radices)
    tasks *= radix;
  lowering.kernel.setTasks(tasks);
  splitTask();
  declareWindows();
  locals.assign(extents.size(), Index(0));
  return emitOuter(0);
}

} // namespace

std::optional<LogicalResult> kernel::lowerBlocks(FusionLowering &lowering, ArrayRef<Value> roots,
                                                 ArrayRef<int64_t> extents) {
  BlocksLowering blocks(lowering, roots, extents);
  if (!blocks.applies())
    return std::nullopt;
  return blocks.run();
}
