//===- StablehloAssembly.h - custom parts of operations' text ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions behind `custom<...>` in the declarations of operations. Types are
// printed once where operands and results share them, else as a function type.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloText.h"

namespace spokeshave::stablehlo {

using ::mlir::OpAsmParser;
using ::mlir::OpAsmPrinter;
using ::mlir::Operation;
using ::mlir::ParseResult;
using ::mlir::Type;
using ::mlir::TypeRange;

namespace detail {
/// One type for all, or a function type of as many operands and one result.
ParseResult parseSameTypes(OpAsmParser &parser, ::llvm::ArrayRef<Type *> operands, Type &result);
void printSameTypes(OpAsmPrinter &printer, TypeRange operands, Type result);
} // namespace detail

// tensor<4xf32>, or (tensor<4xf32>, ...) -> tensor<4xf32>
template <typename... Ts> ParseResult parseSameOperandsAndResultType(OpAsmParser &p, Ts &...types) {
  Type *all[] = {&types...};
  return detail::parseSameTypes(p, ::llvm::ArrayRef(all).drop_back(),
                                *::llvm::ArrayRef(all).back());
}
template <typename... Ts>
void printSameOperandsAndResultType(OpAsmPrinter &p, Operation *, Ts... types) {
  Type all[] = {types...};
  detail::printSameTypes(p, ::llvm::ArrayRef(all).drop_back(), ::llvm::ArrayRef(all).back());
}

ParseResult parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, ::llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    ::llvm::SmallVectorImpl<Type> &types, Type &result);
void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *op,
                                            ::mlir::OperandRange operands, TypeRange types,
                                            Type result);

// tensor<4xf32>, tensor<i32>: each operand has the type of the result beside it
ParseResult parsePairwiseOpType(OpAsmParser &parser, ::llvm::SmallVectorImpl<Type> &operands,
                                ::llvm::SmallVectorImpl<Type> &results);
void printPairwiseOpType(OpAsmPrinter &printer, Operation *op, TypeRange operands,
                         TypeRange results);

// tuple<tensor<i32>, tensor<f32>>
ParseResult parseTupleOpType(OpAsmParser &parser, ::llvm::SmallVectorImpl<Type> &operands,
                             Type &result);
void printTupleOpType(OpAsmPrinter &printer, Operation *op, TypeRange operands, Type result);

// tensor<4xcomplex<f32>>
ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);

// tensor<4xi1>, tensor<4xf32>
ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                              Type &result);
void printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse,
                       Type result);

// %a, %b, (the comma before what follows the operands)
ParseResult parseVariadicOperandWithAttribute(
    OpAsmParser &parser, ::llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *op,
                                       ::mlir::OperandRange operands);

// [0:4, 1:8:2]
ParseResult parseSliceRanges(OpAsmParser &parser, ::mlir::DenseI64ArrayAttr &starts,
                             ::mlir::DenseI64ArrayAttr &limits, ::mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op, ::mlir::DenseI64ArrayAttr starts,
                      ::mlir::DenseI64ArrayAttr limits, ::mlir::DenseI64ArrayAttr strides);

// batching_dims = [0] x [0], contracting_dims = [2] x [1]
ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *op,
                              DotDimensionNumbersAttr numbers);

// , precision = [DEFAULT, DEFAULT], algorithm = <...>
ParseResult parsePrecisionConfig(OpAsmParser &parser, ::mlir::ArrayAttr &precision);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *op, ::mlir::ArrayAttr precision);
ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ::mlir::ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                      ::mlir::ArrayAttr precision, DotAlgorithmAttr algorithm);

inline void printConvolutionDimensions(OpAsmPrinter &printer, Operation *,
                                       ConvDimensionNumbersAttr numbers) {
  printConvolutionDimensions(printer, numbers);
}

// stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = ..., rhs_dilate = ..., reverse = ...
ParseResult parseWindowAttributes(OpAsmParser &parser, ::mlir::DenseI64ArrayAttr &strides,
                                  ::mlir::DenseIntElementsAttr &padding,
                                  ::mlir::DenseI64ArrayAttr &lhsDilation,
                                  ::mlir::DenseI64ArrayAttr &rhsDilation,
                                  ::mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *op, ::mlir::DenseI64ArrayAttr strides,
                           ::mlir::DenseIntElementsAttr padding,
                           ::mlir::DenseI64ArrayAttr lhsDilation,
                           ::mlir::DenseI64ArrayAttr rhsDilation,
                           ::mlir::DenseBoolArrayAttr reversal);

// @name, or @"any text"
ParseResult parseCustomCallTarget(OpAsmParser &parser, ::mlir::StringAttr &target);
void printCustomCallTarget(OpAsmPrinter &printer, Operation *op, ::mlir::StringAttr target);

// e8m10
ParseResult parseExponentMantissa(OpAsmParser &parser, ::mlir::IntegerAttr &exponent,
                                  ::mlir::IntegerAttr &mantissa);
void printExponentMantissa(OpAsmPrinter &printer, Operation *op, ::mlir::IntegerAttr exponent,
                           ::mlir::IntegerAttr mantissa);

// The bare name of an enumeration's case.
template <typename Attr> ParseResult parseEnum(OpAsmParser &parser, Attr &attribute) {
  using Enum = decltype(attribute.getValue());
  ::mlir::FailureOr<Enum> value = ::mlir::FieldParser<Enum>::parse(parser);
  if (failed(value))
    return ::mlir::failure();
  attribute = Attr::get(parser.getContext(), *value);
  return ::mlir::success();
}
template <typename Attr> void printEnum(OpAsmPrinter &printer, Operation *, Attr attribute) {
  printer << stringifyEnum(attribute.getValue());
}
// The same with a comma in front, or nothing.
template <typename Attr> ParseResult parseOptionalEnum(OpAsmParser &parser, Attr &attribute) {
  return succeeded(parser.parseOptionalComma()) ? parseEnum(parser, attribute)
                                                : ParseResult(::mlir::success());
}
template <typename Attr>
void printOptionalEnum(OpAsmPrinter &printer, Operation *, Attr attribute) {
  if (attribute)
    printer << ", " << stringifyEnum(attribute.getValue());
}

} // namespace spokeshave::stablehlo
