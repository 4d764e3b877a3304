//===- StablehloAssembly.cpp - custom parts of operations' text -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, index lists and windows in the short form. Operations whose whole text
// is hand written (constant, while, reduce) are in StablehloRegionText.cpp.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloAssembly.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// Types.
//===----------------------------------------------------------------------===//

/// Gives a function type's parts to `operands` and `result`.
static ParseResult takeFunctionType(OpAsmParser &parser, SMLoc loc, FunctionType type,
                                    ArrayRef<Type *> operands, Type &result) {
  if (type.getNumInputs() != operands.size() || type.getNumResults() != 1)
    return parser.emitError(loc, "expected a type of ")
           << operands.size() << " operands and 1 result, got " << type;
  for (auto [operand, input] : llvm::zip(operands, type.getInputs()))
    *operand = input;
  result = type.getResult(0);
  return success();
}

ParseResult detail::parseSameTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return takeFunctionType(parser, loc, function, operands, result);
  for (Type *operand : operands)
    *operand = type;
  result = type;
  return success();
}

void detail::printSameTypes(OpAsmPrinter &printer, TypeRange operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange(result));
}

ParseResult
parseVariadicSameOperandsAndResultType(OpAsmParser &parser,
                                       SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                       SmallVectorImpl<Type> &types, Type &result) {
  types.resize(operands.size());
  SmallVector<Type *> pointers;
  for (Type &type : types)
    pointers.push_back(&type);
  return detail::parseSameTypes(parser, pointers, result);
}

void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *, OperandRange,
                                            TypeRange types, Type result) {
  detail::printSameTypes(printer, types, result);
}

ParseResult parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                                SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  auto function = operands.size() == 1 ? dyn_cast<FunctionType>(operands[0]) : FunctionType();
  if (function)
    operands.assign(function.getInputs().begin(), function.getInputs().end());
  TypeRange resultTypes = function ? TypeRange(function.getResults()) : TypeRange(operands);
  results.assign(resultTypes.begin(), resultTypes.end());
  return success();
}

void printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                         TypeRange results) {
  if (operands == results)
    llvm::interleaveComma(operands, printer);
  else
    printer.printFunctionalType(operands, results);
}

ParseResult parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result)) {
    if (function.getNumResults() != 1)
      return parser.emitError(loc, "expected one result type");
    operands.assign(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc, "expected a tuple type, got ") << result;
  operands.assign(tuple.begin(), tuple.end());
  return success();
}

void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange operands, Type result) {
  auto tuple = dyn_cast<TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange(result));
}

ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result))
    return takeFunctionType(parser, loc, function, {&lhs, &rhs}, result);
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!element)
    return parser.emitError(loc, "expected a tensor of complex numbers, got ") << result;
  lhs = rhs = tensor.clone(element.getElementType());
  return success();
}

void printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (element && lhs == rhs && lhs == tensor.clone(element.getElementType()))
    printer << result;
  else
    printer.printFunctionalType(TypeRange({lhs, rhs}), TypeRange(result));
}

ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                              Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  if (types.size() == 1 && isa<FunctionType>(types[0]))
    return takeFunctionType(parser, loc, cast<FunctionType>(types[0]), {&pred, &onTrue, &onFalse},
                            result);
  return parser.emitError(loc, "expected two types or a function type");
}

void printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse,
                       Type result) {
  if (onTrue == onFalse && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange({pred, onTrue, onFalse}), TypeRange(result));
}

//===----------------------------------------------------------------------===//
// Operands and index lists.
//===----------------------------------------------------------------------===//

ParseResult
parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult result = parser.parseOptionalOperand(operand);
    if (!result.has_value())
      return success();
    if (failed(*result) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleave(operands, printer, [&](Value operand) { printer << operand << ','; }, " ");
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits, DenseI64ArrayAttr &strides) {
  Dims start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    if (failed(parser.parseOptionalColon()))
      return success();
    return parser.parseInteger(stride.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts,
                      DenseI64ArrayAttr limits, DenseI64ArrayAttr strides) {
  printer << '[';
  auto ranges = llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef());
  llvm::interleaveComma(ranges, printer, [&](auto range) {
    auto [start, limit, stride] = range;
    printer << start << ':' << limit;
    if (stride != 1)
      printer << ':' << stride;
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Contractions.
//===----------------------------------------------------------------------===//

static ParseResult parseDimsPair(AsmParser &parser, Dims &lhs, Dims &rhs) {
  if (parser.parseEqual())
    return failure();
  FailureOr<Dims> first = parseDims(parser);
  if (failed(first) || parser.parseKeyword("x"))
    return failure();
  FailureOr<Dims> second = parseDims(parser);
  if (failed(second))
    return failure();
  lhs = std::move(*first);
  rhs = std::move(*second);
  return success();
}

ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers) {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseDimsPair(parser, lhsBatching, rhsBatching) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseDimsPair(parser, lhsContracting, rhsContracting))
    return failure();
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching,
                                         lhsContracting, rhsContracting);
  return success();
}

void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers) {
  auto pair = [&](StringRef name, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << name << " = ";
    printDims(printer, lhs);
    printer << " x ";
    printDims(printer, rhs);
  };
  if (!numbers.getLhsBatchingDimensions().empty() || !numbers.getRhsBatchingDimensions().empty()) {
    pair("batching_dims", numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  pair("contracting_dims", numbers.getLhsContractingDimensions(),
       numbers.getRhsContractingDimensions());
}

/// `= [DEFAULT, HIGHEST]`, after the keyword.
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> precisions;
  auto parseOne = [&]() -> ParseResult {
    PrecisionAttr one;
    if (parseEnum(parser, one))
      return failure();
    precisions.push_back(one);
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  precision = parser.getBuilder().getArrayAttr(precisions);
  return success();
}

ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("precision"))
    return failure();
  return parsePrecisions(parser, precision);
}

void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute one) {
    printer << stringifyPrecision(cast<PrecisionAttr>(one).getValue());
  });
  printer << ']';
}

ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword == "precision" && !precision && !algorithm) {
      if (parsePrecisions(parser, precision))
        return failure();
    } else if (keyword == "algorithm" && !algorithm) {
      if (parser.parseEqual())
        return failure();
      algorithm = dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, {}));
      if (!algorithm)
        return failure();
    } else {
      return parser.emitError(loc, "expected 'precision' or 'algorithm'");
    }
  }
  return success();
}

void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precision,
                                      DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = ";
  algorithm.print(printer);
}

//===----------------------------------------------------------------------===//
// Windows.
//===----------------------------------------------------------------------===//

/// `[[0, 1], [2, 3]]` as an n x 2 tensor; `[]` as a 0 x 2 one.
static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  Dims values;
  int64_t rows = 0;
  auto parseRow = [&]() -> ParseResult {
    ++rows;
    return failure(parser.parseLSquare() || parser.parseInteger(values.emplace_back()) ||
                   parser.parseComma() || parser.parseInteger(values.emplace_back()) ||
                   parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
    return failure();
  auto type = RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

static ParseResult parseFlags(OpAsmParser &parser, DenseBoolArrayAttr &flags) {
  SmallVector<bool> values;
  auto parseOne = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("true"))) {
      values.push_back(true);
      return success();
    }
    if (succeeded(parser.parseOptionalKeyword("false"))) {
      values.push_back(false);
      return success();
    }
    int64_t number = 0;
    if (parser.parseInteger(number))
      return failure();
    values.push_back(number != 0);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  flags = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  auto parseList = [&](DenseI64ArrayAttr &list) -> ParseResult {
    FailureOr<Dims> dims = parseDims(parser);
    if (failed(dims))
      return failure();
    list = parser.getBuilder().getDenseI64ArrayAttr(*dims);
    return success();
  };
  auto parseValue = [&](SMLoc loc, StringRef name) -> ParseResult {
    if (name == "stride")
      return parseList(strides);
    if (name == "pad")
      return parsePadding(parser, padding);
    if (name == "lhs_dilate")
      return parseList(lhsDilation);
    if (name == "rhs_dilate")
      return parseList(rhsDilation);
    if (name == "reverse")
      return parseFlags(parser, reversal);
    return parser.emitError(loc, "unknown window attribute '") << name << "'";
  };
  llvm::StringSet<> seen;
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  while (true) {
    if (!seen.insert(name).second)
      return parser.emitError(loc, "'") << name << "' is given twice";
    if (parser.parseEqual() || parseValue(loc, name))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
  }
}

static void printPadding(OpAsmPrinter &printer, DenseIntElementsAttr padding) {
  SmallVector<int64_t> values(padding.getValues<int64_t>());
  printer << '[';
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    printer << (i ? ", [" : "[") << values[i] << ", " << values[i + 1] << ']';
  printer << ']';
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto name = [&](StringRef text) {
    printer << separator << text << " = ";
    separator = ", ";
  };
  auto list = [&](StringRef text, DenseI64ArrayAttr dims) {
    if (!dims)
      return;
    name(text);
    printDims(printer, dims);
  };
  list("stride", strides);
  if (padding) {
    name("pad");
    printPadding(printer, padding);
  }
  list("lhs_dilate", lhsDilation);
  list("rhs_dilate", rhsDilation);
  if (reversal) {
    name("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << ']';
  }
}

//===----------------------------------------------------------------------===//
// Names and formats.
//===----------------------------------------------------------------------===//

ParseResult parseCustomCallTarget(OpAsmParser &parser, StringAttr &target) {
  return parser.parseSymbolName(target);
}

void printCustomCallTarget(OpAsmPrinter &printer, Operation *, StringAttr target) {
  printer.printSymbolName(target);
}

ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef format = text;
  int32_t exponentBits = 0, mantissaBits = 0;
  if (!text.consume_front("e") || text.consumeInteger(10, exponentBits) ||
      !text.consume_front("m") || text.consumeInteger(10, mantissaBits) || !text.empty())
    return parser.emitError(loc, "expected a float format like e5m10, got '") << format << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent,
                           IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

} // namespace spokeshave::stablehlo
