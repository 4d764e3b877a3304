//===- ChloOps.cpp - registration and text of the chlo dialect --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "input/ChloOps.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "input/ChloDialect.cpp.inc"

#define GET_OP_CLASSES
#include "input/ChloOps.cpp.inc"

namespace spokeshave::chlo {

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "input/ChloOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes.
//===----------------------------------------------------------------------===//

/// `NAME` of an enumeration that StableHLO has, too.
template <typename Enum, typename EnumAttr>
static Attribute parseEnum(DialectAsmParser &parser, std::optional<Enum> (*symbolize)(StringRef)) {
  SMLoc where = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return {};
  std::optional<Enum> value = symbolize(name);
  if (!value) {
    parser.emitError(where, "no such value: ") << name;
    return {};
  }
  return EnumAttr::get(parser.getContext(), *value);
}

/// `<lhs_batching_dimensions = [0], ...>` as a dictionary of arrays.
static Attribute parseRaggedDot(DialectAsmParser &parser) {
  NamedAttrList fields;
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SmallVector<int64_t> dims;
    auto parseDim = [&] { return parser.parseInteger(dims.emplace_back()); };
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
      return failure();
    fields.set(name, parser.getBuilder().getDenseI64ArrayAttr(dims));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return fields.getDictionary(parser.getContext());
}

Attribute ChloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  SMLoc where = parser.getCurrentLocation();
  StringRef kind;
  if (parser.parseKeyword(&kind))
    return {};
  if (kind == "ragged_dot")
    return parseRaggedDot(parser);
  if (kind == "precision")
    return parseEnum<stablehlo::Precision, stablehlo::PrecisionAttr>(parser,
                                                                     stablehlo::symbolizePrecision);
  if (kind == "comparison_direction")
    return parseEnum<stablehlo::ComparisonDirection, stablehlo::ComparisonDirectionAttr>(
        parser, stablehlo::symbolizeComparisonDirection);
  if (kind == "comparison_type")
    return parseEnum<stablehlo::ComparisonType, stablehlo::ComparisonTypeAttr>(
        parser, stablehlo::symbolizeComparisonType);
  parser.emitError(where, "no attribute of chlo: ") << kind;
  return {};
}

//===----------------------------------------------------------------------===//
// scan: `(inputs) inits(carried) dimension=0 attributes {...} { body } : type`.
//===----------------------------------------------------------------------===//

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension = 0;
  FunctionType type;
  if (parser.parseOperandList(inputs, AsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") || parser.parseOperandList(inits, AsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*state.addRegion()) || parser.parseColonType(type))
    return failure();
  SMLoc where = parser.getNameLoc();
  size_t carried = inits.size();
  if (type.getNumInputs() != inputs.size() + carried || type.getNumResults() < carried)
    return parser.emitError(where, "has other numbers of operands and results than its type");
  if (parser.resolveOperands(inputs, type.getInputs().drop_back(carried), where, state.operands) ||
      parser.resolveOperands(inits, type.getInputs().take_back(carried), where, state.operands))
    return failure();
  state.addTypes(type.getResults());
  Builder &builder = parser.getBuilder();
  auto sizes = [&](size_t first) {
    return builder.getDenseI32ArrayAttr({int32_t(first), int32_t(carried)});
  };
  state.addAttribute(getDimensionAttrName(state.name), builder.getI64IntegerAttr(dimension));
  state.addAttribute(getOperandSegmentSizeAttr(), sizes(inputs.size()));
  state.addAttribute(getResultSegmentSizeAttr(), sizes(type.getNumResults() - carried));
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << "(" << getInputs() << ") inits(" << getInits() << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      getOperation()->getAttrs(),
      {"dimension", getOperandSegmentSizeAttr(), getResultSegmentSizeAttr()});
  printer << " ";
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

/// `type` without dimension `dim`.
static Type dropDimension(Type type, int64_t dim) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dim);
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult ScanOp::verify() {
  if (getCarries().size() != getInits().size() || getInputs().empty())
    return emitOpError("needs an input, and as many carried results as inits");
  int64_t dim = getDimension(), size = -1;
  SmallVector<Type> whole(getInputs().getTypes());
  llvm::append_range(whole, getOutputs().getTypes());
  for (Type type : whole) {
    auto tensor = cast<RankedTensorType>(type);
    if (dim < 0 || dim >= tensor.getRank() || tensor.isDynamicDim(dim) ||
        (size >= 0 && tensor.getDimSize(dim) != size))
      return emitOpError("needs inputs and outputs of one static size in its dimension");
    size = tensor.getDimSize(dim);
  }
  auto areSlices = [&](TypeRange types, TypeRange whole, TypeRange carried) {
    SmallVector<Type> expected;
    for (Type type : whole)
      expected.push_back(dropDimension(type, dim));
    llvm::append_range(expected, carried);
    return llvm::equal(types, expected);
  };
  Block &block = getBody().front();
  if (!llvm::equal(getCarries().getTypes(), getInits().getTypes()) ||
      !areSlices(block.getArgumentTypes(), getInputs().getTypes(), getInits().getTypes()))
    return emitOpError("has a body that does not take slices of its inputs and the carried values");
  if (block.empty() || !isa<stablehlo::ReturnOp>(block.back()) ||
      !areSlices(block.back().getOperandTypes(), getOutputs().getTypes(), getCarries().getTypes()))
    return emitOpError("has a body that does not give slices of its outputs and carried values");
  return success();
}

} // namespace spokeshave::chlo
