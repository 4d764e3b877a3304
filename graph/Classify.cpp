//===- Classify.cpp - what fusion knows of each operation ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"

#include "input/StablehloOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

/// Matrices up to this size are decomposed by a kernel, larger ones by a library.
static constexpr int64_t kLargestKernelMatrix = 16;

int64_t numElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 0;
}

static int64_t bitsOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bitsOf(complex.getElementType());
  // One byte for i1 and for types narrower than a byte, as in memory.
  return element.isIntOrFloat() ? llvm::alignTo<8>(element.getIntOrFloatBitWidth()) : 0;
}

int64_t byteSize(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? numElements(type) * bitsOf(shaped.getElementType()) / 8 : 0;
}

bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<sh::ConstantOp>(op);
  auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return value != nullptr;
}

bool isPrefixScan(Operation *op) {
  auto window = dyn_cast<sh::ReduceWindowOp>(op);
  if (!window || !window.getPadding())
    return false;
  auto isOnes = [](std::optional<ArrayRef<int64_t>> values) {
    return !values || llvm::all_of(*values, [](int64_t v) { return v == 1; });
  };
  if (!isOnes(window.getWindowStrides()) || !isOnes(window.getBaseDilations()) ||
      !isOnes(window.getWindowDilations()))
    return false;
  auto shape = cast<ShapedType>(window.getInputs().front().getType()).getShape();
  auto padding = llvm::to_vector(window.getPadding()->getValues<int64_t>());
  int scanned = 0;
  for (auto [dim, size] : llvm::enumerate(window.getWindowDimensions())) {
    int64_t low = padding[2 * dim], high = padding[2 * dim + 1];
    if (size == 1 && low == 0 && high == 0)
      continue;
    if (size != shape[dim] || !((low == size - 1 && high == 0) || (low == 0 && high == size - 1)))
      return false;
    ++scanned;
  }
  return scanned == 1;
}

/// Batches of small matrices are worth a kernel, one large one is a library's.
static bool isSmallDecomposition(Operation *op) {
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  return shape.size() >= 2 && shape.back() <= kLargestKernelMatrix;
}

static bool isTopK(Operation *op) {
  auto composite = dyn_cast<sh::CompositeOp>(op);
  return composite && composite.getName() == "chlo.top_k";
}

/// Casts between types of the same width keep each element in its place.
static bool isOneToOneBitcast(Operation *op) {
  return isa<sh::BitcastConvertOp>(op) &&
         numElements(op->getOperand(0).getType()) == numElements(op->getResult(0).getType());
}

static bool isElementwise(Operation *op) {
  if (auto composite = dyn_cast<sh::CompositeOp>(op))
    return composite.getName() == "chlo.erf" || composite.getName() == "chlo.erfc";
  if (isa<sh::MapOp>(op) || isOneToOneBitcast(op))
    return true;
  return isa<sh::CbrtOp, sh::CosineOp, sh::ExpOp, sh::Expm1Op, sh::LogOp, sh::Log1pOp,
             sh::LogisticOp, sh::RsqrtOp, sh::SineOp, sh::SqrtOp, sh::TanOp, sh::TanhOp, sh::CeilOp,
             sh::FloorOp, sh::RoundOp, sh::RoundNearestEvenOp, sh::ClzOp, sh::PopulationCountOp,
             sh::NotOp, sh::NegOp, sh::SignOp, sh::AbsOp, sh::ImagOp, sh::RealOp, sh::IsFiniteOp,
             sh::ConvertOp, sh::ReducePrecisionOp>(op) ||
         isa<sh::UniformQuantizeOp, sh::UniformDequantizeOp, sh::AddOp, sh::Atan2Op, sh::DivOp,
             sh::MaxOp, sh::MinOp, sh::MulOp, sh::PowOp, sh::RemOp, sh::ShiftLeftOp,
             sh::ShiftRightArithmeticOp, sh::ShiftRightLogicalOp, sh::SubtractOp, sh::AndOp,
             sh::OrOp, sh::XorOp, sh::ComplexOp, sh::CompareOp, sh::ClampOp, sh::SelectOp>(op);
}

static bool isIndex(Operation *op) {
  return isa<sh::IotaOp, sh::BroadcastInDimOp, sh::TransposeOp, sh::SliceOp, sh::ReverseOp,
             sh::PadOp, sh::ConcatenateOp, sh::DynamicSliceOp, sh::GatherOp>(op) ||
         (isa<sh::BitcastConvertOp>(op) && !isOneToOneBitcast(op));
}

FusionKind fusionKindOf(Operation *op) {
  if (isTopK(op))
    return FusionKind::Sort;
  if (isPrefixScan(op))
    return FusionKind::Scan;
  return llvm::TypeSwitch<Operation *, FusionKind>(op)
      .Case<sh::ReduceOp>([](auto) { return FusionKind::Reduce; })
      .Case<sh::DotGeneralOp>([](auto) { return FusionKind::Dot; })
      .Case<sh::ConvolutionOp>([](auto) { return FusionKind::Convolution; })
      .Case<sh::ReduceWindowOp, sh::SelectAndScatterOp>([](auto) { return FusionKind::Window; })
      .Case<sh::DynamicUpdateSliceOp>([](auto) { return FusionKind::Update; })
      .Case<sh::ScatterOp>([](auto) { return FusionKind::Scatter; })
      .Case<sh::SortOp>([](auto) { return FusionKind::Sort; })
      .Case<sh::CholeskyOp, sh::TriangularSolveOp>([](auto) { return FusionKind::Decomposition; })
      .Default([](auto) { return FusionKind::Loop; });
}

OpClass classify(Operation *op) {
  if (isa<sh::ConstantOp>(op))
    return OpClass::Constant;
  if (isa<sh::ReshapeOp>(op))
    return OpClass::View;
  if (isElementwise(op))
    return OpClass::Elementwise;
  if (isIndex(op))
    return OpClass::Index;
  if (isa<sh::CholeskyOp, sh::TriangularSolveOp>(op))
    return isSmallDecomposition(op) ? OpClass::Hero : OpClass::TopLevel;
  return fusionKindOf(op) == FusionKind::Loop ? OpClass::TopLevel : OpClass::Hero;
}

bool isTranscendental(Operation *op) {
  return isa<sh::CbrtOp, sh::CosineOp, sh::ExpOp, sh::Expm1Op, sh::LogOp, sh::Log1pOp,
             sh::LogisticOp, sh::SineOp, sh::TanOp, sh::TanhOp, sh::Atan2Op, sh::PowOp,
             sh::CompositeOp>(op);
}

int64_t elementCost(Operation *op) {
  switch (classify(op)) {
  case OpClass::TopLevel:
  case OpClass::Hero:
    return 0;
  case OpClass::Constant:
  case OpClass::View:
    return 0;
  case OpClass::Index:
    // The blend of a pad or concatenate costs an instruction, the others only
    // change addresses.
    return isa<sh::PadOp, sh::ConcatenateOp>(op) ? 1 : 0;
  case OpClass::Elementwise:
    break;
  }
  bool isComplex = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  });
  bool isInteger = !op->getResultTypes().empty() &&
                   isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
  int64_t cost = 1;
  if (isTranscendental(op))
    cost = isa<sh::Atan2Op, sh::PowOp, sh::CompositeOp>(op) ? 30 : 15;
  else if (isa<sh::DivOp, sh::RemOp>(op))
    cost = isInteger ? 20 : 5;
  else if (isa<sh::SqrtOp, sh::RsqrtOp>(op))
    cost = 5;
  else if (isa<sh::MapOp>(op))
    cost = 5;
  return isComplex ? 4 * cost : cost;
}

StringRef shortName(Operation *op) {
  if (auto composite = dyn_cast<sh::CompositeOp>(op))
    return composite.getName().rsplit('.').second;
  StringRef name = op->getName().stripDialect();
  return llvm::StringSwitch<StringRef>(name)
      .Case("dot_general", "dot")
      .Case("dynamic_update_slice", "update")
      .Case("dynamic_slice", "slice")
      .Case("broadcast_in_dim", "broadcast")
      .Case("exponential", "exp")
      .Case("maximum", "max")
      .Case("minimum", "min")
      .Case("multiply", "mul")
      .Case("subtract", "sub")
      .Case("divide", "div")
      .Default(name);
}

} // namespace spokeshave::graph
