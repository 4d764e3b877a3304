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
//     there); the last strip may be as any other, with fewer rows
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
#include "kernel/DotPlan.h"
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

/// One operand's elements within a block: in place, or packed in scratch. A
/// complex operand has two planes.
struct Panel {
  Value buffer;
  Value offset; ///< of the first element, in elements
  int64_t rowStride = 0, depthStride = 0;
};

/// Rows of a strip: as many as the tile has, or fewer at the end of the matrix.
struct Strip {
  Index begin;
  int64_t rows;     ///< of the tile
  Value count = {}; ///< those that there are, where it is not known here
};

class DotLowering {
public:
  DotLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), product(problem.op->getResult(0)), emitter(emitter),
        builder(lowering.builder), accumulator(accumulatorType(problem.op)),
        plan(planDot(view, accumulator.getIntOrFloatBitWidth(), lowering.machine, emitter)),
        blocks(lowering, emitter, problem, plan),
        isComplex(isa<ComplexType>(typeOf(product).getElementType())) {}

  LogicalResult run();

private:
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  bool widens(Value buffer) const;
  LogicalResult packColumns();
  LogicalResult emitStrips();
  LogicalResult emitStrip(const Strip &strip);
  LogicalResult forRows(const Strip &strip,
                        llvm::function_ref<LogicalResult(const Index &i, const Index &row)> body);
  LogicalResult packRows(const Strip &strip);
  LogicalResult packRowsAcross(const Strip &strip);
  LogicalResult emitTile(const Strip &strip, const Index &column, int64_t columns);
  void multiply(const Panel &a, const Panel &b, Value c, int64_t rows, int64_t columns,
                bool accumulate);
  LogicalResult emitEpilogue(const Strip &strip, const Index &column, int64_t columns);
  Element sum(Value row, const Index &localColumn);
  LogicalResult storePacked(FailureOr<Element> element, ArrayRef<Value> planes, Value offset);

  FusionLowering &lowering;
  MatrixProblem &view;
  Value product;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Type accumulator;
  DotPlan plan;
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
  auto packStep = [&](const Index &k, const Index &column, int64_t columns) -> LogicalResult {
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
  };
  auto forSteps = [&](llvm::function_ref<LogicalResult(const Index &)> body) {
    return forRange(emitter, index(0), index(view.k), view.k, body);
  };
  // Where columns lie beside each other, a row of the block is read at once: a page
  // is visited once, not once for each panel. Else panel by panel, whose lines stay
  // in the L1 cache over several steps.
  std::optional<Strides> strides = view.k > 1 ? view.rhsStrides(emitter) : std::nullopt;
  if (strides && strides->first == 1)
    return forSteps([&](const Index &k) {
      return blocks.forPanels(
          [&](const Index &column, int64_t columns) { return packStep(k, column, columns); });
    });
  return blocks.forPanels([&](const Index &column, int64_t columns) {
    return forSteps([&](const Index &k) { return packStep(k, column, columns); });
  });
}

/// Loops over a strip's rows: their number in the tile and in the matrix.
LogicalResult
DotLowering::forRows(const Strip &strip,
                     llvm::function_ref<LogicalResult(const Index &, const Index &)> body) {
  Value end = strip.count ? strip.count : index(strip.rows);
  IndexSpace &space = emitter.space();
  return forRange(emitter, index(0), end, strip.rows, [&](const Index &i) {
    Index row = space.add(strip.begin, i);
    if (strip.count) // fewer than their sum says
      row = space.variable(space.scalar(row), 0, view.m - 1);
    return body(i, row);
  });
}

/// Copies a strip of lhs, row-major with its rows a cache line apart from a power
/// of two, which would map all of them to one set of the L1 cache.
LogicalResult DotLowering::packRows(const Strip &strip) {
  IndexSpace &space = emitter.space();
  SmallVector<Value> planes;
  for (const Panel &panel : a)
    planes.push_back(panel.buffer);
  int64_t outer = view.k / view.depthRow;
  auto copy = [&](const Index &i, const Index &row, const Index &k) {
    FailureOr<Element> element = view.lhs(emitter, blocks.batch, row, k);
    Index at = space.add(space.scale(i, a[0].rowStride), k);
    at.lane = 0;
    return storePacked(element, planes, space.scalar(at));
  };
  return forRows(strip, [&](const Index &i, const Index &row) {
    return forRange(emitter, index(0), index(outer), outer, [&](const Index &part) {
      Index base = space.scale(part, view.depthRow);
      return forLanes(emitter, index(0), index(view.depthRow), view.depthRow, plan.lanes,
                      [&](const Index &k) { return copy(i, row, space.add(base, k)); });
    });
  });
}

/// The same where rows lie beside each other: lanes run across them, and so does
/// the copy, [k][row].
LogicalResult DotLowering::packRowsAcross(const Strip &strip) {
  IndexSpace &space = emitter.space();
  SmallVector<Value> planes;
  for (const Panel &panel : a)
    planes.push_back(panel.buffer);
  return forRange(emitter, index(0), index(view.k), view.k, [&](const Index &k) {
    for (int64_t i = 0; i < strip.rows; i += plan.lanes) {
      int64_t present = std::min(plan.lanes, strip.rows - i);
      Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
      ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
      Index lane = space.add(strip.begin, i);
      lane.lane = 1;
      Index at = space.add(space.scale(k, a[0].depthStride), i);
      if (failed(storePacked(view.lhs(emitter, blocks.batch, lane, k), planes, space.scalar(at))))
        return failure();
    }
    return success();
  });
}

LogicalResult DotLowering::emitStrip(const Strip &strip) {
  if (packA && failed(a[0].rowStride == 1 ? packRowsAcross(strip) : packRows(strip)))
    return failure();
  return blocks.forPanels(
      [&](const Index &column, int64_t columns) { return emitTile(strip, column, columns); });
}

LogicalResult DotLowering::emitStrips() {
  // What lies in the copy after the last rows is read, but not what comes of it.
  bool isCopy = packA && a[0].rowStride != 1 && !lowering.machine.matrixTile;
  if (isCopy && blocks.lastStripIsNearlyWhole())
    return blocks.forAnyStrips(
        [&](const Index &row, Value count) { return emitStrip({row, plan.rows, count}); });
  return blocks.forStrips([&](const Index &row, int64_t rows) { return emitStrip({row, rows}); });
}

void DotLowering::multiply(const Panel &left, const Panel &right, Value target, int64_t rows,
                           int64_t columns, bool accumulate) {
  auto made = builder.create<TileDotOp>(lowering.loc(), left.buffer, left.offset, right.buffer,
                                        right.offset, target, index(0), index(view.k), rows,
                                        columns, left.rowStride, left.depthStride,
                                        right.depthStride, plan.panel, accumulate);
  partsOf(view, lowering.machine).set(made);
}

LogicalResult DotLowering::emitTile(const Strip &strip, const Index &column, int64_t columns) {
  int64_t rows = strip.rows;
  IndexSpace &space = emitter.space();
  auto placed = [&](Panel panel, const Index &at) {
    panel.offset = panel.offset ? lowering.add(panel.offset, space.scalar(at)) : space.scalar(at);
    return panel;
  };
  Index left = packA ? Index(0) : space.scale(strip.begin, a[0].rowStride);
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
  return emitEpilogue(strip, column, columns);
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

LogicalResult DotLowering::emitEpilogue(const Strip &strip, const Index &column, int64_t columns) {
  IndexSpace &space = emitter.space();
  return forRows(strip, [&](const Index &i, const Index &row) {
    for (int64_t r = 0; r * plan.lanes < columns; ++r) {
      int64_t present = std::min(plan.lanes, columns - r * plan.lanes);
      Value mask = makeMask(builder, lowering.loc(), present, plan.lanes);
      ElementEmitter::Tile tile(emitter, plan.lanes, mask, present);
      Index lane = space.add(column, r * plan.lanes);
      lane.lane = plan.lanes > 1 ? 1 : 0;
      Position expected = view.result(space, blocks.batch, row, lane);
      emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
        if (!(at == expected))
          return view.op->emitOpError("is read at another place than it is computed for");
        return sum(space.scalar(i), Index(r * plan.lanes));
      });
      LogicalResult done = emitProductOutputs(lowering, emitter, view, blocks.batch, row, lane);
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
  int64_t stride = 4096;
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
    // Rows that collide, and steps of k half a kilobyte apart, which are in more pages
    // than are at hand, are not read for every panel anew.
    bool scattered = left && (across ? left->secondStride >= 128 && plan.blockColumns > plan.panel
                                     : plan.rowsCollide);
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
  LogicalResult done = emitStrips();
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
    // Rows of two dimensions of the input that do not lie beside each other.
    int64_t extent = outerExtentOfLeft(*problem);
    if (extent > 1 && problem->m % extent == 0 && problem->m / extent >= 128 &&
        !readsLeftInPlace(lowering, *problem, emitter)) {
      std::unique_ptr<MatrixProblem> other = hoisted(matrixOf(*dots.begin()), extent);
      if (readsLeftInPlace(lowering, *other, emitter))
        problem = std::move(other);
    }
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
