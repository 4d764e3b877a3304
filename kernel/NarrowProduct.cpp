//===- NarrowProduct.cpp - products of bf16 and of bytes, unwidened --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NarrowProduct.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/NarrowProduct.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

//===----------------------------------------------------------------------===//
// Which products
//===----------------------------------------------------------------------===//

/// Whether a conversion leaves the value of every byte as it is.
static bool keepsBytes(Type from, Type to) {
  if (to.isUnsignedInteger())
    return isUnsigned(from);
  return isa<IntegerType>(to) || to.isF64() || to.isF32() || to.isF16() || to.isBF16();
}

/// The integer type of at most 8 bits whose values `value` has, if there is one:
/// its own, or that which it was converted from before it was moved about. All of
/// them are values of bf16 and of wider types as well.
static IntegerType byteType(Value value) {
  while (true) {
    Type element = typeOf(value).getElementType();
    if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() <= 8)
      return integer;
    Operation *op = value.getDefiningOp();
    if (!op || !isa<hlo::ConvertOp, hlo::ReshapeOp, hlo::TransposeOp, hlo::BroadcastInDimOp,
                    hlo::SliceOp, hlo::ReverseOp>(op))
      return {};
    if (isa<hlo::ConvertOp>(op) && !keepsBytes(typeOf(op->getOperand(0)).getElementType(), element))
      return {};
    value = op->getOperand(0);
  }
}

/// Of the numbers that sums of `depth` products of bytes can be, all are i32.
static bool sumsFit(int64_t depth, IntegerType a, IntegerType b) {
  auto largest = [](IntegerType type) { return isUnsigned(type) ? 255 : 128; };
  return depth < (int64_t(1) << 31) / (largest(a) * largest(b));
}

static std::optional<NarrowProduct> bytesProduct(const MatrixProblem &problem,
                                                 const machine::Machine &machine) {
  IntegerType a = byteType(problem.left), b = byteType(problem.right);
  if (!machine.hasVnni || !a || !b)
    return std::nullopt;
  // Integers of up to 32 bits wrap around like i32; other types must hold the sum.
  Type element = typeOf(problem.op->getResult(0)).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  bool wraps = integer && integer.getWidth() > 1 && integer.getWidth() <= 32;
  bool holds = isa<FloatType>(element) && !element.isF64() && sumsFit(problem.k, a, b);
  if (!wraps && !holds)
    return std::nullopt;
  MLIRContext *context = problem.op->getContext();
  NarrowProduct product{IntegerType::get(context, 8), IntegerType::get(context, 32), 4};
  product.aUnsigned = isUnsigned(a), product.bUnsigned = isUnsigned(b);
  product.unit = machine.hasAmx;
  if (product.unit || product.aUnsigned != product.bUnsigned)
    return product;
  // One factor must be unsigned and one signed.
  if (product.aUnsigned)
    return std::nullopt;
  product.aUnsigned = true, product.aExcess = 128;
  return product;
}

static std::optional<NarrowProduct> bf16Product(const MatrixProblem &problem,
                                                const machine::Machine &machine) {
  Type element = typeOf(problem.op->getResult(0)).getElementType();
  bool narrow = typeOf(problem.left).getElementType().isBF16() &&
                typeOf(problem.right).getElementType().isBF16();
  if (!(machine.hasAmx || machine.hasFastBf16Dots) || !narrow || !isa<FloatType>(element) ||
      element.isF64())
    return std::nullopt;
  // More than the default precision keeps denormals: docs/decisions/0015.
  if (auto precision = problem.op->getAttrOfType<ArrayAttr>("precision_config"))
    for (Attribute each : precision)
      if (cast<hlo::PrecisionAttr>(each).getValue() != hlo::Precision::DEFAULT)
        return std::nullopt;
  MLIRContext *context = problem.op->getContext();
  NarrowProduct product{BFloat16Type::get(context), Float32Type::get(context), 2};
  product.unit = machine.hasAmx;
  return product;
}

std::optional<NarrowProduct> kernel::narrowProductOf(const MatrixProblem &problem,
                                                     const machine::Machine &machine) {
  if (problem.k == 0 || problem.batch * problem.m * problem.n == 0)
    return std::nullopt;
  if (auto product = bytesProduct(problem, machine))
    return product;
  return bf16Product(problem, machine);
}

//===----------------------------------------------------------------------===//
// Tiles and blocks
//===----------------------------------------------------------------------===//

/// One or two tiles of up to 16 rows, by one or two of 16 columns.
static void planUnitTile(NarrowPlan &plan, const MatrixProblem &problem) {
  plan.registers = problem.n > plan.lanes ? 2 : 1;
  int64_t rows = llvm::divideCeil(problem.m, llvm::divideCeil(problem.m, 32));
  int64_t tiles = rows > 16 ? 2 : 1;
  plan.unitRows = llvm::divideCeil(rows, tiles);
  plan.rows = tiles * plan.unitRows;
}

/// Registers hold a row of rhs, the sums that belong to an excess, one broadcast;
/// the rest accumulate.
static void planVectorTile(NarrowPlan &plan, const MatrixProblem &problem,
                           const NarrowProduct &product, int64_t registerCount) {
  int64_t most = problem.m <= 2 ? 4 : 2;
  plan.registers = std::min<int64_t>(most, llvm::divideCeil(problem.n, plan.lanes));
  int64_t other = plan.registers * (product.aExcess ? 2 : 1) + 1;
  int64_t mostRows = (registerCount - other) / plan.registers;
  plan.rows = llvm::divideCeil(problem.m, llvm::divideCeil(problem.m, mostRows));
}

namespace {
/// Rough times of one thread in nanoseconds.
struct NarrowCosts {
  double perProduct;       ///< of two elements
  double passLhs, passRhs; ///< an element, each time that a block reads or packs it
  double perTask = 1000;
};
} // namespace

static NarrowCosts costsOf(const MatrixProblem &problem, const NarrowProduct &product,
                           OperandLayout lhs, OperandLayout rhs, const machine::Machine &machine) {
  double word = product.unit ? 1.0 / 800 : 1.0 / 40;
  auto pass = [&](OperandLayout layout, int64_t extent) {
    double packing = layout == OperandLayout::InPlace      ? 0
                     : layout == OperandLayout::Contiguous ? 0.05
                                                           : 0.25;
    // What stays in the L2 cache comes faster than what does not.
    bool stays = extent * problem.k * product.bytes() < machine.l2Bytes / 4;
    return packing + double(product.bytes()) * (stays ? 0.02 : 0.1);
  };
  return {word * 2 / double(product.pack), pass(lhs, problem.m), pass(rhs, problem.n)};
}

/// The number of blocks each way that costs least: each block packs for itself, so
/// few are better, but all threads should end at about the same time.
static void chooseBlocks(NarrowPlan &plan, const MatrixProblem &problem,
                         const NarrowProduct &product, const NarrowCosts &costs,
                         const machine::Machine &machine) {
  int64_t panels = llvm::divideCeil(problem.n, plan.panel);
  int64_t strips = llvm::divideCeil(problem.m, plan.rows);
  // The packed block stays in half of the L2 cache while strips pass over it.
  int64_t panelBytes = plan.depth * plan.panel * product.bytes();
  int64_t fit = std::max<int64_t>(1, machine.l2Bytes / 2 / panelBytes);
  double rows = problem.m, columns = problem.n, depth = plan.depth, best = 0;
  double threads = machine.threads;
  for (int64_t perBlock = std::min(panels, fit); perBlock > 0; perBlock /= 2)
    for (int64_t perRowBlock = strips; perRowBlock > 0; perRowBlock /= 2) {
      double across = llvm::divideCeil(panels, perBlock),
             down = llvm::divideCeil(strips, perRowBlock);
      double tasks = across * down * double(problem.batch);
      double work = double(problem.batch) * (rows * columns * depth * costs.perProduct +
                                             down * columns * depth * costs.passRhs +
                                             across * rows * depth * costs.passLhs) +
                    tasks * costs.perTask;
      // The last task of a thread ends a little late.
      double share = std::max(std::ceil(tasks / threads) / tasks, 1 / threads + 0.5 / tasks);
      if (best != 0 && work * share >= best)
        continue;
      best = work * share;
      plan.columnBlocks = int64_t(across), plan.rowBlocks = int64_t(down);
      plan.blockColumns = perBlock * plan.panel, plan.blockRows = perRowBlock * plan.rows;
      plan.taskNs = int64_t(work / tasks);
    }
}

NarrowPlan kernel::planNarrowProduct(const MatrixProblem &problem, const NarrowProduct &product,
                                     OperandLayout lhs, OperandLayout rhs,
                                     const machine::Machine &machine) {
  NarrowPlan plan;
  plan.lanes = machine.lanes(32);
  plan.depth = llvm::alignTo(problem.k, product.depthStep());
  if (product.unit)
    planUnitTile(plan, problem);
  else
    planVectorTile(plan, problem, product, machine.numVectorRegisters);
  plan.panel = plan.lanes * plan.registers;
  chooseBlocks(plan, problem, product, costsOf(problem, product, lhs, rhs, machine), machine);
  return plan;
}
