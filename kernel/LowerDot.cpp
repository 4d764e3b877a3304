//===- LowerDot.cpp - matrix products --------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One task computes a block of the result: all of k, `blockRows` rows and
// `blockColumns` columns of one batch. Per task:
//
//   pack   the block's columns of rhs, panel by panel, into scratch (unless few
//          rows use it and it can be read where it lies)
//   for each strip of rows:
//     pack the strip of lhs, in the order in which it lies (unless it can be read
//     there)
//     for each panel of columns:
//       tile_dot: registers hold strip x panel over all of k
//       epilogue: what the fusion does with the product, stored masked
//
// Packing evaluates the fusion's producers, so that conversions, transposes and
// slices cost nothing extra. k is never split, so the order of each sum is that
// of k whatever the tiles are. Products with few rows or columns are LowerVecmat's
// and LowerMatvec's.
//
//===----------------------------------------------------------------------===//
#include "kernel/LowerUnitDot.h"
#include "kernel/NarrowProduct.h"
#include "kernel/Product.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Sizes of the blocks and tiles, from the shape and the machine.
struct Plan : BlockSizes {
  int64_t lanes = 1, registers = 1; ///< of a panel's row
};

/// For a machine with matrix units: strips and panels that keep the units' weights
/// for many rows, in windows that fit the near memory twice over.
Plan makeUnitPlan(const MatrixProblem &view, int64_t bits, const machine::Machine &machine) {
  Plan plan;
  // Narrow results leave lanes of the epilogue idle rather than pad the panels.
  plan.lanes =
      std::min<int64_t>(machine.lanes(bits), llvm::alignTo(llvm::PowerOf2Ceil(view.n), 128));
  plan.registers = 1;
  plan.panel = plan.lanes;
  int64_t rows = llvm::alignTo(std::min<int64_t>(view.m, 512), 8);
  auto bytes = [&] {
    return 2 * (rows + plan.panel) * view.k * bits / 8 + rows * plan.panel * bits / 8 * 3;
  };
  while (rows > 64 && bytes() > machine.l2Bytes * 3 / 4)
    rows = llvm::alignTo(rows / 2, 8);
  plan.rows = std::min(rows, view.m);
  plan.blockRows = plan.rows;
  plan.rowBlocks = llvm::divideCeil(view.m, plan.blockRows);
  plan.blockColumns = plan.panel;
  plan.columnBlocks = llvm::divideCeil(view.n, plan.panel);
  return plan;
}

/// Cuts the result into blocks. Each column of blocks reads (and mostly packs) all of
/// lhs anew, each row of them packs all of rhs: of the grids with enough tasks, the
/// one that moves least.
void divideIntoTasks(const MatrixProblem &view, int64_t bytes, const machine::Machine &machine,
                     Plan &plan) {
  int64_t panels = llvm::divideCeil(view.n, plan.panel);
  int64_t strips = llvm::divideCeil(view.m, plan.rows);
  // The packed block stays in half of the L2 cache while strips pass over it.
  int64_t fit = std::max<int64_t>(1, machine.l2Bytes / 2 / (view.k * plan.panel * bytes + 1));
  // Enough tasks for all threads to end at about the same time, none shorter
  // than some ten microseconds.
  int64_t flops = 2 * view.m * view.n * view.k;
  int64_t wanted = std::min<int64_t>(8 * machine.threads, flops / 1'000'000 + 1);
  wanted = llvm::divideCeil(wanted, view.batch);
  int64_t least = INT64_MAX;
  for (int64_t perBlock = std::min(panels, fit);; perBlock = llvm::divideCeil(perBlock, 2)) {
    int64_t columnBlocks = llvm::divideCeil(panels, perBlock);
    int64_t stripsPerBlock = llvm::divideCeil(
        strips, std::clamp<int64_t>(llvm::divideCeil(wanted, columnBlocks), 1, strips));
    int64_t rowBlocks = llvm::divideCeil(strips, stripsPerBlock);
    int64_t moved = columnBlocks * view.m + rowBlocks * view.n;
    bool enough = columnBlocks * rowBlocks >= wanted || perBlock == 1;
    if (enough && moved < least) {
      least = moved;
      plan.blockColumns = perBlock * plan.panel;
      plan.columnBlocks = columnBlocks;
      plan.blockRows = stripsPerBlock * plan.rows;
      plan.rowBlocks = rowBlocks;
    }
    if (perBlock == 1)
      return;
  }
}

Plan makePlan(const MatrixProblem &view, int64_t bits, const machine::Machine &machine) {
  if (machine.matrixTile)
    return makeUnitPlan(view, bits, machine);
  Plan plan;
  plan.lanes = machine.lanes(bits);
  // Two registers hold the row of rhs, one a broadcast; the rest accumulate.
  int64_t columnRegisters = llvm::divideCeil(view.n, plan.lanes);
  plan.registers = std::min<int64_t>(view.m == 1 ? 8 : view.m <= 4 ? 4 : 2, columnRegisters);
  if (machine.numVectorRegisters <= 16)
    plan.registers = std::min<int64_t>(plan.registers, view.m <= 2 ? 4 : 2);
  int64_t mostRows = (machine.numVectorRegisters - plan.registers - 1) / plan.registers;
  plan.rows = llvm::divideCeil(view.m, llvm::divideCeil(view.m, mostRows));
  plan.panel = plan.lanes * plan.registers;

  divideIntoTasks(view, bits / 8, machine, plan);
  return plan;
}

/// One operand's elements within a block: in place, or packed in scratch. A
/// complex operand has two planes.
struct Panel {
  Value buffer;
  Value offset; ///< of the first element, in elements
  int64_t rowStride = 0, depthStride = 0;
};

class DotLowering {
public:
  DotLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), product(problem.op->getResult(0)), emitter(emitter),
        builder(lowering.builder), accumulator(accumulatorType(problem.op)),
        plan(makePlan(view, accumulator.getIntOrFloatBitWidth(), lowering.machine)),
        blocks(lowering, emitter, problem, plan),
        isComplex(isa<ComplexType>(typeOf(product).getElementType())) {}

  LogicalResult run();

private:
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  bool widens(Value buffer) const;
  LogicalResult packColumns();
  LogicalResult emitStrip(const Index &row, int64_t rows);
  LogicalResult packRows(const Index &row, int64_t rows);
  LogicalResult packRowsAcross(const Index &row, int64_t rows);
  LogicalResult emitTile(const Index &row, int64_t rows, const Index &column, int64_t columns);
  void multiply(const Panel &a, const Panel &b, Value c, int64_t rows, int64_t columns,
                bool accumulate);
  LogicalResult emitEpilogue(const Index &row, int64_t rows, const Index &column, int64_t columns);
  Element sum(Value row, const Index &localColumn);
  LogicalResult storePacked(FailureOr<Element> element, ArrayRef<Value> planes, Value offset);

  FusionLowering &lowering;
  MatrixProblem &view;
  Value product;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Type accumulator;
  Plan plan;
  MatrixBlocks blocks;
  bool isComplex;

  SmallVector<Panel, 3> a, b; ///< planes: re, im (and -im of a)
  bool packA = true, packB = true;
  SmallVector<Value, 2> c; ///< accumulators of one tile
  int64_t scratchBytes = 0;
};

} // namespace

/// Scratch for `elements` accumulators; offsets are multiples of 64 bytes.
Value DotLowering::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * accumulator.getIntOrFloatBitWidth() / 8, 64) + 64;
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, accumulator),
                                   offset);
}

/// Whether tile_dot can take elements of `buffer` as they are.
bool DotLowering::widens(Value buffer) const {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (element == accumulator)
    return true;
  return accumulator.isF32() && (element.isBF16() || element.isF16());
}

LogicalResult DotLowering::storePacked(FailureOr<Element> element, ArrayRef<Value> planes,
                                       Value offset) {
  if (failed(element))
    return failure();
  bool zeroExtends = isUnsigned(typeOf(view.op->getOperand(0)).getElementType());
  auto store = [&](Num value, Value plane) {
    value = widened(value, accumulator, zeroExtends);
    builder.create<StoreOp>(lowering.loc(), value, plane, ValueRange{offset}, Value(), 1);
  };
  store(element->re, planes[0]);
  if (!isComplex)
    return success();
  store(element->im, planes[1]);
  if (planes.size() > 2)
    store(-element->im, planes[2]);
  return success();
}

/// Lays the block's columns out as panels [panel][k][lanes * registers], padded
/// with zeros, so that the inner loop reads rhs in one stream.
LogicalResult DotLowering::packColumns() {
  int64_t elements = plan.blockColumns * view.k;
  SmallVector<Value> planes;
  for (int i = 0; i < (isComplex ? 2 : 1); ++i)
    planes.push_back(scratch(elements));
  for (Value plane : planes)
    b.push_back({plane, {}, 0, plan.panel});
  IndexSpace &space = emitter.space();
  return blocks.forPanels([&](const Index &column, int64_t columns) {
    return forRange(emitter, index(0), index(view.k), view.k, [&](const Index &k) {
      for (int64_t r = 0; r < plan.registers; ++r) {
        int64_t present = std::clamp<int64_t>(columns - r * plan.lanes, 0, plan.lanes);
        // panel p, step k, register r: (p * panel) * k_total + k * panel + r * lanes
        Index at = space.add(space.scale(space.subtract(column, blocks.columnBegin), view.k),
                             space.add(space.scale(k, plan.panel), r * plan.lanes));
        Index lane = space.add(column, r * plan.lanes);
        lane.lane = 1;
        FailureOr<Element> element = failure();
        if (present == 0)
          break; // the tile reads only what is there
        {
          Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
          ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
          element = view.rhs(emitter, blocks.batch, k, lane);
        }
        if (failed(storePacked(element, planes, space.scalar(at))))
          return failure();
      }
      return success();
    });
  });
}

/// Copies a strip of lhs, row-major with its rows a cache line apart from a power
/// of two, which would map all of them to one set of the L1 cache.
LogicalResult DotLowering::packRows(const Index &row, int64_t rows) {
  IndexSpace &space = emitter.space();
  SmallVector<Value> planes;
  for (const Panel &panel : a)
    planes.push_back(panel.buffer);
  int64_t outer = view.k / view.depthRow;
  auto copy = [&](const Index &i, const Index &k) {
    FailureOr<Element> element = view.lhs(emitter, blocks.batch, space.add(row, i), k);
    Index at = space.add(space.scale(i, a[0].rowStride), k);
    at.lane = 0;
    return storePacked(element, planes, space.scalar(at));
  };
  return forRange(emitter, index(0), index(rows), rows, [&](const Index &i) {
    return forRange(emitter, index(0), index(outer), outer, [&](const Index &part) {
      Index base = space.scale(part, view.depthRow);
      return forLanes(emitter, index(0), index(view.depthRow), view.depthRow, plan.lanes,
                      [&](const Index &k) { return copy(i, space.add(base, k)); });
    });
  });
}

/// The same where rows lie beside each other: lanes run across them, and so does
/// the copy, [k][row].
LogicalResult DotLowering::packRowsAcross(const Index &row, int64_t rows) {
  IndexSpace &space = emitter.space();
  SmallVector<Value> planes;
  for (const Panel &panel : a)
    planes.push_back(panel.buffer);
  return forRange(emitter, index(0), index(view.k), view.k, [&](const Index &k) {
    for (int64_t i = 0; i < rows; i += plan.lanes) {
      int64_t present = std::min(plan.lanes, rows - i);
      Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
      ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
      Index lane = space.add(row, i);
      lane.lane = 1;
      Index at = space.add(space.scale(k, a[0].depthStride), i);
      if (failed(storePacked(view.lhs(emitter, blocks.batch, lane, k), planes, space.scalar(at))))
        return failure();
    }
    return success();
  });
}

LogicalResult DotLowering::emitStrip(const Index &row, int64_t rows) {
  if (packA && failed(a[0].rowStride == 1 ? packRowsAcross(row, rows) : packRows(row, rows)))
    return failure();
  return blocks.forPanels(
      [&](const Index &column, int64_t columns) { return emitTile(row, rows, column, columns); });
}

void DotLowering::multiply(const Panel &left, const Panel &right, Value target, int64_t rows,
                           int64_t columns, bool accumulate) {
  builder.create<TileDotOp>(lowering.loc(), left.buffer, left.offset, right.buffer, right.offset,
                            target, index(0), index(view.k), rows, columns, left.rowStride,
                            left.depthStride, right.depthStride, plan.panel, accumulate);
}

LogicalResult DotLowering::emitTile(const Index &row, int64_t rows, const Index &column,
                                    int64_t columns) {
  IndexSpace &space = emitter.space();
  auto placed = [&](Panel panel, const Index &at) {
    panel.offset = panel.offset ? lowering.add(panel.offset, space.scalar(at)) : space.scalar(at);
    return panel;
  };
  Index left = packA ? Index(0) : space.scale(row, a[0].rowStride);
  Index right = packB ? space.scale(space.subtract(column, blocks.columnBegin), view.k)
                      : space.scale(column, b[0].rowStride);
  Panel a0 = placed(a[0], left), b0 = placed(b[0], right);
  multiply(a0, b0, c[0], rows, columns, false);
  if (isComplex) {
    // (x + iy)(u + iv) = (xu - yv) + i(xv + yu)
    Panel im = placed(a[1], left), minusIm = placed(a[2], left), b1 = placed(b[1], right);
    multiply(minusIm, b1, c[0], rows, columns, true);
    multiply(a0, b1, c[1], rows, columns, false);
    multiply(im, b0, c[1], rows, columns, true);
  }
  return emitEpilogue(row, rows, column, columns);
}

/// The finished sum at a row and column of the tile, as the dot's element type.
Element DotLowering::sum(Value row, const Index &localColumn) {
  Type element = typeOf(product).getElementType();
  IndexSpace &space = emitter.space();
  Index at = localColumn;
  at.lane = 0;
  Value offset = lowering.add(lowering.multiply(row, plan.panel), space.scalar(at));
  Type type = accumulator;
  if (emitter.lanes() > 1)
    type = VectorType::get({emitter.lanes()}, accumulator);
  auto load = [&](Value plane) -> Num {
    Num value(emitter.context(),
              builder.create<LoadOp>(lowering.loc(), type, plane, ValueRange{offset}, Value(), 1));
    return finishedSum(value, element);
  };
  Element result{load(c[0]), {}};
  if (isComplex)
    result.im = load(c[1]);
  return result;
}

LogicalResult DotLowering::emitEpilogue(const Index &row, int64_t rows, const Index &column,
                                        int64_t columns) {
  IndexSpace &space = emitter.space();
  return forRange(emitter, index(0), index(rows), rows, [&](const Index &i) {
    for (int64_t r = 0; r * plan.lanes < columns; ++r) {
      int64_t present = std::min(plan.lanes, columns - r * plan.lanes);
      Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
      ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
      Index lane = space.add(column, r * plan.lanes);
      lane.lane = plan.lanes > 1 ? 1 : 0;
      Position expected = view.result(space, blocks.batch, space.add(row, i), lane);
      emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
        if (!(at == expected))
          return view.op->emitOpError("is read at another place than it is computed for");
        return sum(space.scalar(i), Index(r * plan.lanes));
      });
      LogicalResult done =
          emitProductOutputs(lowering, emitter, view, blocks.batch, space.add(row, i), lane);
      emitter.unbind(product);
      if (failed(done))
        return failure();
    }
    return success();
  });
}

/// Elements from one packed row of lhs to the next. A cache line more than a power
/// of two, so that rows do not meet in one set of the L1 cache; and of few kinds, so
/// that products of many depths call the same tiles.
static int64_t packedStride(int64_t k) {
  int64_t stride = 1024;
  while (stride < k)
    stride *= 4;
  return stride + 16;
}

LogicalResult DotLowering::run() {
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(view.batch * plan.rowBlocks * plan.columnBlocks);
  int64_t flops =
      2 * std::min(plan.blockRows, view.m) * std::min(plan.blockColumns, view.n) * view.k;
  // Some 50 GFLOP/s; memory-bound shapes cost their bytes.
  kernel.setTaskCostNs(std::max<int64_t>(flops / 50, plan.blockColumns * view.k * 4 / 10));
  if (view.batch * view.m * view.n == 0) {
    kernel.setTasks(0);
    return success();
  }
  blocks.splitTask();
  IndexSpace &space = emitter.space();
  // Matrix units write whole registers of 8 rows.
  int64_t padded = lowering.machine.matrixTile ? llvm::alignTo(plan.rows, 8) : plan.rows;
  for (int i = 0; i < (isComplex ? 2 : 1); ++i)
    c.push_back(scratch(padded * plan.panel));

  std::optional<Strides> strides = view.k > 1 ? view.lhsStrides(emitter) : std::nullopt;
  bool across = strides && strides->first == 1 && strides->second != 1 && plan.rows > 1 &&
                !lowering.machine.matrixTile;
  if (!isComplex && view.k > 0) {
    std::optional<DirectRead> left = view.directLhs(emitter, blocks.batch);
    // Rows a multiple of a kilobyte apart would meet in a few sets of the cache, and
    // steps of k half a kilobyte apart in more pages than are at hand: not for
    // every panel anew.
    bool scattered = left && (across ? left->secondStride >= 128 && plan.blockColumns > plan.panel
                                     : left->firstStride % 256 == 0);
    if (left && widens(left->buffer) &&
        (lowering.machine.matrixTile ? left->secondStride == 1
                                     : view.m == 1 || plan.rows <= 4 || !scattered)) {
      packA = false;
      a.push_back(
          {left->buffer, space.scalar(left->origin), left->firstStride, left->secondStride});
    }
    std::optional<DirectRead> right = view.directRhs(emitter, blocks.batch);
    if (right && widens(right->buffer) && right->firstStride == 1 &&
        (plan.blockRows <= 2 * plan.rows || lowering.machine.matrixTile)) {
      packB = false;
      b.push_back({right->buffer, space.scalar(right->origin), 1, right->secondStride});
    }
  }
  if (packA) {
    // Whole registers are stored: a row's last one stays within the row. A matrix
    // unit has no sets to miss, and less memory.
    int64_t stride =
        lowering.machine.matrixTile ? llvm::alignTo(view.k, plan.lanes) : packedStride(view.k);
    int64_t height = llvm::alignTo(plan.rows, plan.lanes);
    for (int i = 0; i < (isComplex ? 3 : 1); ++i)
      a.push_back(across ? Panel{scratch(view.k * height), {}, 1, height}
                         : Panel{scratch(plan.rows * stride), {}, stride, 1});
  }
  if (packB && failed(packColumns()))
    return failure();
  LogicalResult done =
      blocks.forStrips([&](const Index &row, int64_t rows) { return emitStrip(row, rows); });
  kernel.setScratchBytes(scratchBytes);
  return done;
}

/// Few rows cost less on widened elements of rhs where it lies than its packing.
static bool streamsRhs(MatrixProblem &problem, const NarrowProduct &narrow,
                       ElementEmitter &emitter) {
  if (problem.m > 4 || !narrow.element.isBF16())
    return false;
  std::optional<DirectRead> direct = problem.directRhs(emitter, Index(0));
  return direct && direct->firstStride == 1;
}

LogicalResult kernel::lowerDot(FusionLowering &lowering) {
  auto dots = lowering.fusion.getBlock().getOps<hlo::DotGeneralOp>();
  if (!llvm::hasSingleElement(dots))
    return lowering.fusion.emitOpError("of kind dot holds not exactly one dot_general");
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  std::unique_ptr<MatrixProblem> problem = matrixOf(*dots.begin());
  if (suitsUnits(lowering, *problem)) {
    // A vector is one row rather than one column of a tile.
    if (problem->n == 1 && problem->m > 1)
      problem = swapped(std::move(problem));
    return lowerUnitDot(lowering, *problem, emitter);
  }
  if (shouldSwap(*problem, emitter))
    problem = swapped(std::move(problem));
  if (!lowering.machine.matrixTile && isMatvec(*problem, emitter))
    return lowerMatvec(lowering, *problem, emitter);
  if (isVecmat(*problem, emitter))
    return lowerVecmat(lowering, *problem, emitter);
  if (std::optional<NarrowProduct> narrow = narrowProductOf(*problem, lowering.machine))
    if (!streamsRhs(*problem, *narrow, emitter))
      return lowerNarrowDot(lowering, *problem, emitter, *narrow);
  return DotLowering(lowering, *problem, emitter).run();
}

LogicalResult kernel::lowerMatrixConvolution(FusionLowering &lowering, hlo::ConvolutionOp op) {
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  int64_t lanes = lowering.machine.lanes(accumulatorType(op).getIntOrFloatBitWidth());
  std::unique_ptr<MatrixProblem> problem = matrixOf(op, lanes);
  if (suitsUnits(lowering, *problem))
    return lowerUnitDot(lowering, *problem, emitter);
  if (std::optional<NarrowProduct> narrow = narrowProductOf(*problem, lowering.machine))
    return lowerNarrowDot(lowering, *problem, emitter, *narrow);
  return DotLowering(lowering, *problem, emitter).run();
}
