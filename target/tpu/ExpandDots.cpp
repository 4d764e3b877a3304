//===- ExpandDots.cpp - tile_dot on matrix units and vector ALUs -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the matrix units:
//
//   c = 0 (unless it accumulates)
//   for each group of columns (128 of each unit):
//     for each 128 steps of k:
//       latch 128 rows of b into each unit; swap
//       for each 8 rows of a: push to every unit
//         the products of some rows before: pop, add to c
//
// Products are popped kAhead pushes later, so that nothing waits for the units'
// latency. The order of a sum: within 128 steps that of the unit, then that of k.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/ExpandDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kAhead = 16; ///< pushes between a push and its pop
constexpr int64_t kUnroll = 8; ///< pushes in one iteration of the loop over rows

class DotExpander {
public:
  DotExpander(TileDotOp op, const Timing &timing)
      : op(op), timing(timing), builder(op), loc(op.getLoc()), aElement(elementOf(op.getA())),
        bElement(elementOf(op.getB())), sum(elementOf(op.getC())) {}
  LogicalResult run();

private:
  static Type elementOf(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }
  bool suitsUnits();
  Value constant(int64_t i) { return builder.create<arith::ConstantIndexOp>(loc, i); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value add(Value a, int64_t b) {
    return b ? builder.create<arith::AddIOp>(loc, a, constant(b)).getResult() : a;
  }
  Value scale(Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(loc, a, constant(b));
  }
  /// A loop over [0, extent) in steps, or its body alone where it runs once.
  void loop(int64_t extent, int64_t step, llvm::function_ref<void(Value)> body);

  VectorType rowsOf(Type element) {
    Type bits = element.isF32()
                    ? element
                    : IntegerType::get(op.getContext(), element.getIntOrFloatBitWidth());
    return VectorType::get({kRegisterLanes}, bits);
  }
  /// Lanes below `rows` and `columns`; null if that is all.
  Value mask(int64_t rows, int64_t columns);
  /// The first row of a register: 8 * (group + more). Constants are added last,
  /// where they become displacements.
  struct Row {
    Value group;
    int64_t more;
  };
  Value loadA(Row row, Value k, int64_t rows, int64_t depth);
  void clear();
  void columnGroup(Value column, int64_t columns);
  void depthStep(Value column, int64_t columns, Value k, int64_t depth);
  void latch(Value column, int64_t columns, Value k, int64_t depth);
  void push(Row row, int64_t rows, Value k, int64_t depth, int64_t units);
  void pop(Row row, Value column, int64_t units);
  void onVectors();

  TileDotOp op;
  const Timing &timing;
  OpBuilder builder;
  Location loc;
  Type aElement, bElement, sum;
};

bool DotExpander::suitsUnits() {
  auto isFloat = [](Type type) { return type.isF32() || type.isBF16(); };
  bool floats = isFloat(aElement) && isFloat(bElement) && sum.isF32();
  bool integers = aElement.isInteger(8) && bElement.isInteger(8) && sum.isInteger(32);
  return (floats || integers) && op.getADepthStride() == 1 &&
         op.getDepth().getDefiningOp<arith::ConstantIndexOp>();
}

void DotExpander::loop(int64_t extent, int64_t step, llvm::function_ref<void(Value)> body) {
  if (extent <= 0)
    return;
  if (extent <= step)
    return body(constant(0));
  auto made = builder.create<scf::ForOp>(loc, constant(0), constant(extent), constant(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  body(made.getInductionVar());
}

Value DotExpander::mask(int64_t rows, int64_t columns) {
  if (rows >= kSublanes && columns >= kLanes)
    return {};
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < kRegisterLanes; ++lane)
    on.push_back(lane / kLanes < rows && lane % kLanes < columns);
  auto type = VectorType::get({kRegisterLanes}, builder.getI1Type());
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, on));
}

Value DotExpander::loadA(Row row, Value k, int64_t rows, int64_t depth) {
  Value offset = add(op.getAOffset(), scale(row.group, kSublanes * op.getARowStride()));
  offset = add(add(offset, k), row.more * kSublanes * op.getARowStride());
  return builder.create<LoadRowsOp>(loc, rowsOf(aElement), op.getA(), offset, mask(rows, depth),
                                    op.getARowStride());
}

/// Zeros in c, which every depth step adds to.
void DotExpander::clear() {
  Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(rowsOf(sum)));
  int64_t groups = llvm::divideCeil(op.getColumns(), kLanes);
  loop(op.getRows(), kSublanes, [&](Value row) {
    for (int64_t g = 0; g < groups; ++g) {
      Value offset = add(add(op.getCOffset(), scale(row, op.getCRowStride())), g * kLanes);
      builder.create<StoreRowsOp>(loc, zero, op.getC(), offset, Value(), op.getCRowStride());
    }
  });
}

void DotExpander::latch(Value column, int64_t columns, Value k, int64_t depth) {
  for (int64_t first = 0, unit = 0; first < columns; first += kLanes, ++unit) {
    for (int64_t step = 0; step < depth; step += kSublanes) {
      Value offset = add(add(op.getBOffset(), scale(k, op.getBDepthStride())), column);
      offset = add(offset, step * op.getBDepthStride() + first);
      Value rows =
          builder.create<LoadRowsOp>(loc, rowsOf(bElement), op.getB(), offset,
                                     mask(depth - step, columns - first), op.getBDepthStride());
      builder.create<MatrixLatchOp>(loc, rows, unit, bElement);
    }
    builder.create<MatrixSwapOp>(loc, unit);
  }
}

void DotExpander::push(Row row, int64_t rows, Value k, int64_t depth, int64_t units) {
  Value left = loadA(row, k, rows, depth);
  for (int64_t unit = 0; unit < units; ++unit)
    builder.create<MatrixPushOp>(loc, left, unit, aElement, sum);
}

void DotExpander::pop(Row row, Value column, int64_t units) {
  Value base = add(op.getCOffset(), scale(row.group, kSublanes * op.getCRowStride()));
  base = add(base, column);
  for (int64_t unit = 0; unit < units; ++unit) {
    Value at = add(base, unit * kLanes + row.more * kSublanes * op.getCRowStride());
    Value product = builder.create<MatrixPopOp>(loc, rowsOf(sum), unit);
    // c is padded to whole registers, so all of them may be written.
    Value before =
        builder.create<LoadRowsOp>(loc, rowsOf(sum), op.getC(), at, Value(), op.getCRowStride());
    Value after = sum.isF32() ? builder.create<arith::AddFOp>(loc, before, product).getResult()
                              : builder.create<arith::AddIOp>(loc, before, product).getResult();
    builder.create<StoreRowsOp>(loc, after, op.getC(), at, Value(), op.getCRowStride());
  }
}

void DotExpander::depthStep(Value column, int64_t columns, Value k, int64_t depth) {
  int64_t units = llvm::divideCeil(columns, kLanes);
  latch(column, columns, k, depth);
  int64_t whole = op.getRows() / kSublanes, rest = op.getRows() % kSublanes;
  int64_t ahead = std::min(kAhead, whole), unroll = kUnroll;
  auto unrolled = [&](int64_t count, llvm::function_ref<void(Row)> body) {
    int64_t many = count / unroll * unroll;
    loop(many, unroll, [&](Value group) {
      for (int64_t i = 0; i < std::min(unroll, many); ++i)
        body({group, i});
    });
    for (int64_t i = many; i < count; ++i)
      body({constant(0), i});
  };
  auto after = [](Row row, int64_t more) { return Row{row.group, row.more + more}; };
  unrolled(ahead, [&](Row row) { push(row, kSublanes, k, depth, units); });
  unrolled(whole - ahead, [&](Row row) {
    push(after(row, ahead), kSublanes, k, depth, units);
    pop(row, column, units);
  });
  if (rest)
    push({constant(0), whole}, rest, k, depth, units);
  unrolled(ahead, [&](Row row) { pop(after(row, whole - ahead), column, units); });
  if (rest)
    pop({constant(0), whole}, column, units);
}

void DotExpander::columnGroup(Value column, int64_t columns) {
  int64_t depth = op.getDepth().getDefiningOp<arith::ConstantIndexOp>().value();
  int64_t whole = depth / timing.matrixSize * timing.matrixSize;
  loop(whole, timing.matrixSize,
       [&](Value k) { depthStep(column, columns, k, timing.matrixSize); });
  if (depth > whole)
    depthStep(column, columns, constant(whole), depth - whole);
}

/// One row, a register of columns: c += a[i, k] * b[k, :] for k upwards.
void DotExpander::onVectors() {
  // A register of c stays within its row, which is padded to the row's stride.
  int64_t lanes = sum.getIntOrFloatBitWidth() == 64 ? kRegisterLanes / 2 : kRegisterLanes;
  lanes = std::min<int64_t>(lanes, op.getCRowStride());
  auto extend = [&](Value value) -> Value {
    Type from = getElementTypeOrSelf(value.getType());
    Type to = sum;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      to = VectorType::get(vector.getShape(), sum);
    return from == sum ? value : builder.create<arith::ExtSIOp>(loc, to, value).getResult();
  };
  loop(op.getRows(), 1, [&](Value row) {
    for (int64_t first = 0; first < int64_t(op.getColumns()); first += lanes) {
      int64_t present = std::min<int64_t>(lanes, int64_t(op.getColumns()) - first);
      auto type = VectorType::get({lanes}, sum);
      SmallVector<bool> bits(lanes, false);
      std::fill_n(bits.begin(), present, true);
      Value on =
          present == lanes
              ? Value()
              : builder.create<arith::ConstantOp>(
                    loc,
                    DenseElementsAttr::get(VectorType::get({lanes}, builder.getI1Type()), bits));
      Value at = add(add(op.getCOffset(), scale(row, op.getCRowStride())), first);
      Value init =
          op.getAccumulate()
              ? builder.create<LoadOp>(loc, type, op.getC(), ValueRange{at}, Value(), 1).getResult()
              : builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type)).getResult();
      auto depth = builder.create<scf::ForOp>(loc, constant(0), op.getDepth(), constant(1),
                                              ValueRange{init});
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(depth.getBody());
        Value k = depth.getInductionVar();
        Value left = add(add(op.getAOffset(), scale(row, op.getARowStride())),
                         scale(k, op.getADepthStride()));
        Value right = add(add(op.getBOffset(), scale(k, op.getBDepthStride())), first);
        Value x =
            extend(builder.create<LoadOp>(loc, aElement, op.getA(), ValueRange{left}, Value(), 1));
        Value y = extend(builder.create<LoadOp>(loc, VectorType::get({lanes}, bElement), op.getB(),
                                                ValueRange{right}, on, 1));
        Value all = builder.create<vector::BroadcastOp>(loc, type, x);
        Value before = depth.getRegionIterArgs()[0];
        Value next;
        if (isa<FloatType>(sum)) {
          Value product = builder.create<arith::MulFOp>(loc, all, y);
          next = builder.create<arith::AddFOp>(loc, before, product);
        } else {
          Value product = builder.create<arith::MulIOp>(loc, all, y);
          next = builder.create<arith::AddIOp>(loc, before, product);
        }
        builder.create<scf::YieldOp>(loc, next);
      }
      builder.create<StoreOp>(loc, depth.getResult(0), op.getC(), ValueRange{at}, Value(), 1);
    }
  });
}

LogicalResult DotExpander::run() {
  if (!suitsUnits()) {
    bool narrow = isa<FloatType>(sum) && (aElement != sum || bElement != sum);
    if (narrow)
      return op.emitOpError("has element types that neither the matrix units nor the vector ALUs "
                            "multiply");
    onVectors();
    op.erase();
    return success();
  }
  if (!op.getAccumulate())
    clear();
  int64_t columns = op.getColumns(), group = kLanes * timing.matrixUnits;
  int64_t whole = columns / group * group;
  loop(whole, group, [&](Value column) { columnGroup(column, group); });
  if (columns > whole)
    columnGroup(constant(whole), columns - whole);
  op.erase();
  return success();
}

} // namespace

LogicalResult tpu::expandDots(spokeshave::kernel::FuncOp kernel, const Timing &timing) {
  SmallVector<TileDotOp> dots;
  kernel.walk([&](TileDotOp dot) { dots.push_back(dot); });
  for (TileDotOp dot : dots)
    if (failed(DotExpander(dot, timing).run()))
      return failure();
  return success();
}
