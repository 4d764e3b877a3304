//===- StablehloVerify.cpp - what verifiers share ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of lists, windows and regions. Sizes come from the program and may be
// anything, so arithmetic on them is done in 128 bits.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

#include "input/NarrowFloats.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace spokeshave::stablehlo {

std::string constraintName(Operation *op, int constraint) {
  return (op->getName().stripDialect() + "_c" + Twine(constraint)).str();
}

InFlightDiagnostic violation(Operation *op, int constraint) {
  return op->emitOpError() << constraintName(op, constraint) << ": ";
}

bool sameShape(Sizes a, Sizes b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return sameSize(std::get<0>(pair), std::get<1>(pair));
         });
}

//===----------------------------------------------------------------------===//
// Lists of numbers.
//===----------------------------------------------------------------------===//

LogicalResult verifyInRange(Operation *op, int constraint, StringRef name, Sizes values,
                            int64_t end) {
  for (int64_t value : values)
    if (value < 0 || value >= end)
      return violation(op, constraint)
             << name << " must be at least 0 and less than " << end << ", got " << value;
  return success();
}

LogicalResult verifyUnique(Operation *op, int constraint, StringRef name, Sizes values) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t value : values)
    if (!seen.insert(value).second)
      return violation(op, constraint) << name << " must not repeat, got " << value << " twice";
  return success();
}

LogicalResult verifySorted(Operation *op, int constraint, StringRef name, Sizes values) {
  if (!llvm::is_sorted(values))
    return violation(op, constraint) << name << " must be sorted, got [" << values << "]";
  return success();
}

LogicalResult verifyCount(Operation *op, int constraint, StringRef name, int64_t count,
                          int64_t wanted) {
  if (count != wanted)
    return violation(op, constraint)
           << name << " must have " << wanted << " elements, got " << count;
  return success();
}

LogicalResult verifyPositive(Operation *op, int constraint, StringRef name, Sizes values) {
  for (int64_t value : values)
    if (value <= 0)
      return violation(op, constraint) << name << " must be positive, got " << value;
  return success();
}

LogicalResult verifyShape(Operation *op, int constraint, StringRef name, Sizes shape,
                          Sizes wanted) {
  if (sameShape(shape, wanted))
    return success();
  InFlightDiagnostic error = violation(op, constraint);
  auto print = [&](Sizes sizes) {
    error << "[";
    llvm::interleaveComma(sizes, error, [&](int64_t size) {
      if (ShapedType::isDynamic(size))
        error << "?";
      else
        error << size;
    });
    error << "]";
  };
  error << name << " must have shape ";
  print(wanted);
  error << ", got ";
  print(shape);
  return error;
}

LogicalResult verifyWindowList(Operation *op, int countConstraint, int signConstraint,
                               StringRef name, std::optional<Sizes> values, int64_t count) {
  if (!values)
    return success();
  if (failed(verifyCount(op, countConstraint, name, values->size(), count)))
    return failure();
  return verifyPositive(op, signConstraint, name, *values);
}

LogicalResult verifyPadding(Operation *op, int constraint,
                            std::optional<DenseIntElementsAttr> padding, int64_t count) {
  if (!padding)
    return success();
  return verifyShape(op, constraint, "padding", padding->getType().getShape(), {count, 2});
}

//===----------------------------------------------------------------------===//
// Windows.
//===----------------------------------------------------------------------===//

std::vector<WindowDim> windowOf(Sizes sizes, std::optional<Sizes> strides,
                                std::optional<DenseIntElementsAttr> padding,
                                std::optional<Sizes> baseDilations,
                                std::optional<Sizes> windowDilations) {
  std::vector<WindowDim> window(sizes.size());
  SmallVector<int64_t> pads;
  if (padding)
    pads.assign(padding->value_begin<int64_t>(), padding->value_end<int64_t>());
  for (auto [i, dim] : llvm::enumerate(window)) {
    dim.size = sizes[i];
    if (strides)
      dim.stride = (*strides)[i];
    if (padding)
      std::tie(dim.low, dim.high) = std::pair(pads[2 * i], pads[2 * i + 1]);
    if (baseDilations)
      dim.baseDilation = (*baseDilations)[i];
    if (windowDilations)
      dim.windowDilation = (*windowDilations)[i];
  }
  return window;
}

int64_t countWindows(int64_t input, const WindowDim &window) {
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  auto dilate = [](int64_t size, int64_t dilation) {
    return size == 0 ? __int128(0) : __int128(size - 1) * dilation + 1;
  };
  __int128 padded = dilate(input, window.baseDilation) + window.low + window.high;
  __int128 dilated = dilate(window.size, window.windowDilation);
  if (padded <= 0 || dilated > padded)
    return 0;
  __int128 count = (padded - dilated) / window.stride + 1;
  return std::min<__int128>(count, std::numeric_limits<int64_t>::max());
}

//===----------------------------------------------------------------------===//
// Regions and types.
//===----------------------------------------------------------------------===//

ReturnOp returnOf(Region &region) {
  if (!llvm::hasSingleElement(region) || region.front().empty())
    return {};
  return dyn_cast<ReturnOp>(region.front().back());
}

LogicalResult verifySignature(Operation *op, int constraint, StringRef name, Region &region,
                              TypeRange arguments, TypeRange results) {
  ReturnOp terminator = returnOf(region);
  if (!terminator)
    return violation(op, constraint) << name << " must be one block that ends in stablehlo.return";
  if (!areCompatibleTypes(region.getArgumentTypes(), arguments))
    return violation(op, constraint) << name << " must take arguments of types (" << arguments
                                     << "), got (" << region.getArgumentTypes() << ")";
  if (!areCompatibleTypes(terminator->getOperandTypes(), results))
    return violation(op, constraint) << name << " must give values of types (" << results
                                     << "), got (" << terminator->getOperandTypes() << ")";
  return success();
}

LogicalResult verifyReducer(Operation *op, int constraint, int resultConstraint, StringRef name,
                            Region &region, TypeRange elements) {
  ReturnOp terminator = returnOf(region);
  if (!terminator)
    return violation(op, constraint) << name << " must be one block that ends in stablehlo.return";
  // The accumulators' types are those that the region gives.
  SmallVector<Type> accumulators(terminator->getOperandTypes());
  if (accumulators.size() != elements.size())
    return violation(op, constraint)
           << name << " must give " << elements.size() << " values, got " << accumulators.size();
  for (auto [accumulator, element] : llvm::zip(accumulators, elements)) {
    auto tensor = dyn_cast<RankedTensorType>(accumulator);
    if (!tensor || tensor.getRank() != 0)
      return violation(op, constraint)
             << name << " must give 0-dimensional tensors, got " << accumulator;
    if (!isPromotable(element, tensor.getElementType()))
      return violation(op, constraint)
             << name << " gives " << tensor.getElementType() << ", which cannot hold " << element;
  }
  SmallVector<Type> arguments(accumulators);
  llvm::append_range(arguments, accumulators);
  if (!areCompatibleTypes(region.getArgumentTypes(), arguments))
    return violation(op, constraint) << name << " must take arguments of types (" << arguments
                                     << "), got (" << region.getArgumentTypes() << ")";
  for (auto [result, accumulator] : llvm::zip(op->getResultTypes(), accumulators))
    if (!areCompatibleElementTypes(result, accumulator))
      return violation(op, resultConstraint)
             << "expected a result of element type " << getElementTypeOrSelf(accumulator)
             << ", got " << getElementTypeOrSelf(result);
  return success();
}

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  constexpr int64_t mostElements = 1024;
  DenseIntElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || attribute.getNumElements() > mostElements)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &number : attribute.getValues<APInt>())
    numbers.push_back(number.sextOrTrunc(64).getSExtValue());
  return numbers;
}

LogicalResult verifyConstantShape(Operation *op, int constraint, Value shape, Sizes result) {
  std::optional<SmallVector<int64_t>> wanted = constantIntegers(shape);
  if (!wanted)
    return success();
  for (int64_t size : *wanted)
    if (size < 0)
      return violation(op, constraint) << "sizes must not be negative, got " << size;
  return verifyShape(op, constraint, "result", result, *wanted);
}

bool isPromotable(Type from, Type to) {
  if (areCompatibleElementTypes(from, to))
    return true;
  auto sameKind = [&](auto predicate) { return predicate(from) && predicate(to); };
  auto isBool = [](Type type) { return type.isInteger(1); };
  if (isBool(from) || isBool(to))
    return false;
  if (sameKind([](Type type) { return isa<IntegerType>(type); }) || sameKind(isFloatElement)) {
    auto width = [](Type type) {
      return narrow::isNarrowFloat(type) ? narrow::widthOf(type) : type.getIntOrFloatBitWidth();
    };
    return width(from) <= width(to);
  }
  auto quantizedFrom = dyn_cast<quant::QuantizedType>(from);
  auto quantizedTo = dyn_cast<quant::QuantizedType>(to);
  if (quantizedFrom && quantizedTo)
    return quantizedFrom.getExpressedType() == quantizedTo.getExpressedType() &&
           quantizedFrom.getStorageTypeIntegralWidth() <= quantizedTo.getStorageTypeIntegralWidth();
  auto complexFrom = dyn_cast<ComplexType>(from), complexTo = dyn_cast<ComplexType>(to);
  return complexFrom && complexTo &&
         isPromotable(complexFrom.getElementType(), complexTo.getElementType());
}

} // namespace spokeshave::stablehlo
