//===- ExpandDots.cpp - tile_dot on matrix units and vector ALUs -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the matrix units multiply becomes a pipeline through them
// (MatrixPipeline.cpp), other products loops over vector registers.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/ExpandDots.h"

#include "target/tpu/MatrixPipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;
using namespace spokeshave::kernel;

namespace {

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

  void onVectors();

  TileDotOp op;
  const Timing &timing;
  OpBuilder builder;
  Location loc;
  Type aElement, bElement, sum;
};

bool DotExpander::suitsUnits() {
  auto isFloat = [](Type type) { return type.isF32() || type.isBF16() || type.isF16(); };
  auto isF8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  bool floats = sum.isF32() &&
                ((isFloat(aElement) && isFloat(bElement)) || (isF8(aElement) && isF8(bElement)));
  bool integers = aElement.isInteger(8) && bElement.isInteger(8) && sum.isInteger(32);
  auto depth = op.getDepth().getDefiningOp<arith::ConstantIndexOp>();
  return (floats || integers) && op.getADepthStride() == 1 && depth && depth.value() > 0;
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

/// One row, a register of columns: c += a[i, k] * b[k, :] for k upwards.
void DotExpander::onVectors() {
  // A register of c stays within its row, which is padded to the row's stride.
  int64_t lanes = sum.getIntOrFloatBitWidth() == 64 ? kRegisterLanes / 2 : kRegisterLanes;
  lanes = std::min<int64_t>(lanes, op.getCRowStride());
  auto extend = [&](Value value, bool isUnsigned) -> Value {
    Type from = getElementTypeOrSelf(value.getType());
    Type to = sum;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      to = VectorType::get(vector.getShape(), sum);
    if (from == sum)
      return value;
    if (isUnsigned)
      return builder.create<arith::ExtUIOp>(loc, to, value);
    return builder.create<arith::ExtSIOp>(loc, to, value);
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
        Value right = add(add(op.getBOffset(), scale(k, op.getBDepthStride())),
                          first * op.getBColumnStride());
        Value x =
            extend(builder.create<LoadOp>(loc, aElement, op.getA(), ValueRange{left}, Value(), 1),
                   op.getAUnsigned());
        Value y = extend(builder.create<LoadOp>(loc, VectorType::get({lanes}, bElement), op.getB(),
                                                ValueRange{right}, on, op.getBColumnStride()),
                         op.getBUnsigned());
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
  writeMatrixPipeline(op, timing);
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
