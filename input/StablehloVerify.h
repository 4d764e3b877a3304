//===- StablehloVerify.h - what verifiers share -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each check names the constraint of the specification that it stands for, as in
// `dot_general_c12`. A dynamic dimension satisfies every constraint on its size.
//
// Verifiers run before those of the operations inside their regions, and before
// the checks of traits: they look at nothing that might not be there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include "mlir/IR/TypeUtilities.h"

namespace spokeshave::stablehlo {

using Sizes = ::llvm::ArrayRef<int64_t>;

/// An error of `op` that opens with "<op>_c<number>: ".
::mlir::InFlightDiagnostic violation(::mlir::Operation *op, int constraint);
/// The constraint's name alone, for errors that are put together elsewhere.
std::string constraintName(::mlir::Operation *op, int constraint);

inline bool sameSize(int64_t a, int64_t b) {
  return a == b || ::mlir::ShapedType::isDynamic(a) || ::mlir::ShapedType::isDynamic(b);
}
bool sameShape(Sizes a, Sizes b);
inline Sizes shapeOf(::mlir::Value value) {
  return ::mlir::cast<::mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t rankOf(::mlir::Value value) {
  return shapeOf(value).size();
}
inline ::mlir::Type elementOf(::mlir::Value value) {
  return ::mlir::getElementTypeOrSelf(value.getType());
}

//===----------------------------------------------------------------------===//
// Lists of numbers.
//===----------------------------------------------------------------------===//

::llvm::LogicalResult verifyInRange(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                    Sizes values, int64_t end);
::llvm::LogicalResult verifyUnique(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                   Sizes values);
::llvm::LogicalResult verifySorted(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                   Sizes values);
::llvm::LogicalResult verifyCount(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                  int64_t count, int64_t wanted);
::llvm::LogicalResult verifyPositive(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                     Sizes values);
::llvm::LogicalResult verifyShape(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                  Sizes shape, Sizes wanted);
/// `values` are `count` long and positive, if they are given.
::llvm::LogicalResult verifyWindowList(::mlir::Operation *op, int countConstraint,
                                       int signConstraint, ::llvm::StringRef name,
                                       std::optional<Sizes> values, int64_t count);
/// `padding` is a `count` x 2 tensor, if it is given.
::llvm::LogicalResult verifyPadding(::mlir::Operation *op, int constraint,
                                    std::optional<::mlir::DenseIntElementsAttr> padding,
                                    int64_t count);

//===----------------------------------------------------------------------===//
// Windows.
//===----------------------------------------------------------------------===//

/// One dimension of a window.
struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0, baseDilation = 1, windowDilation = 1;
};
std::vector<WindowDim> windowOf(Sizes sizes, std::optional<Sizes> strides,
                                std::optional<::mlir::DenseIntElementsAttr> padding,
                                std::optional<Sizes> baseDilations,
                                std::optional<Sizes> windowDilations);
/// How many windows fit into `input`; dynamic if that is.
int64_t countWindows(int64_t input, const WindowDim &window);

//===----------------------------------------------------------------------===//
// Regions and types.
//===----------------------------------------------------------------------===//

/// The stablehlo.return at the end of a region of one block, or null.
ReturnOp returnOf(::mlir::Region &region);
/// `region` takes `arguments` and gives `results`, up to dynamic dimensions.
::llvm::LogicalResult verifySignature(::mlir::Operation *op, int constraint, ::llvm::StringRef name,
                                      ::mlir::Region &region, ::mlir::TypeRange arguments,
                                      ::mlir::TypeRange results);
/// `region` combines two scalars of each of `elements`, maybe in wider types, and
/// the results of `op` have those types (`resultConstraint`).
::llvm::LogicalResult verifyReducer(::mlir::Operation *op, int constraint, int resultConstraint,
                                    ::llvm::StringRef name, ::mlir::Region &region,
                                    ::mlir::TypeRange elements);
/// The numbers of a constant tensor of integers, if `value` is one (of not too many).
std::optional<::llvm::SmallVector<int64_t>> constantIntegers(::mlir::Value value);
/// If `shape` is constant, the result has it.
::llvm::LogicalResult verifyConstantShape(::mlir::Operation *op, int constraint,
                                          ::mlir::Value shape, Sizes result);

/// Operand and result have the same element type. Of per-axis quantized types the
/// dimension may differ and, unless `sameScales`, scales and zero points.
::llvm::LogicalResult verifySameElement(::mlir::Operation *op, int constraint, ::mlir::Type operand,
                                        ::mlir::Type result, bool sameScales);
/// Constraints 14 to 20 of dot_general and 28 to 34 of convolution, which differ in
/// the number of the first: what is quantized, and with which types.
::llvm::LogicalResult verifyQuantizedProduct(::mlir::Operation *op, int first, int storage,
                                             int hybrid, ::mlir::Type lhs, ::mlir::Type rhs,
                                             ::mlir::Type result);

/// A value of type `from` can be held exactly by one of type `to`.
bool isPromotable(::mlir::Type from, ::mlir::Type to);

/// The result types are those that follow from the operands.
template <typename Op>::llvm::LogicalResult verifyInferred(Op op, int constraint) {
  ::llvm::SmallVector<::mlir::Type> types;
  if (failed(Op::inferReturnTypes(op.getContext(), op.getLoc(), op->getOperands(),
                                  op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                  op->getRegions(), types)))
    return ::mlir::failure();
  if (!Op::isCompatibleReturnTypes(types, op->getResultTypes()))
    return violation(op, constraint)
           << "expected a result of type " << types << ", got " << op->getResultTypes();
  return ::mlir::success();
}

} // namespace spokeshave::stablehlo
