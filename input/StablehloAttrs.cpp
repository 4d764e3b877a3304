//===- StablehloAttrs.cpp - text and invariants of attributes ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimension numbers are printed as a list of members, those that are empty left
// out; they are read in any order, each at most once.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "input/StablehloText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace spokeshave::stablehlo {
namespace {

/// A member of a structured attribute: a list or a number.
struct Member {
  StringRef name;
  Dims *dims = nullptr;
  int64_t *number = nullptr;
  bool seen = false;
};

ParseResult parseMember(AsmParser &parser, MutableArrayRef<Member> members) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  auto *member = llvm::find_if(members, [&](const Member &m) { return m.name == name; });
  if (member == members.end())
    return parser.emitError(loc, "unknown member '") << name << "'";
  if (member->seen)
    return parser.emitError(loc, "member '") << name << "' is given twice";
  member->seen = true;
  if (parser.parseEqual())
    return failure();
  if (member->number)
    return parser.parseInteger(*member->number);
  FailureOr<Dims> dims = parseDims(parser);
  if (failed(dims))
    return failure();
  *member->dims = std::move(*dims);
  return success();
}

/// `<` member, member... `>`, where a comma may stand before the end.
ParseResult parseMembers(AsmParser &parser, MutableArrayRef<Member> members) {
  if (parser.parseLess())
    return failure();
  while (failed(parser.parseOptionalGreater())) {
    if (parseMember(parser, members))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

class MemberPrinter {
public:
  explicit MemberPrinter(AsmPrinter &printer) : printer(printer) { printer << "<"; }
  ~MemberPrinter() { printer << ">"; }
  void list(StringRef name, ArrayRef<int64_t> dims) {
    if (dims.empty())
      return;
    printer << separator << name << " = ";
    printDims(printer, dims);
    separator = ", ";
  }
  void number(StringRef name, int64_t value) {
    printer << separator << name << " = " << value;
    separator = ", ";
  }

private:
  AsmPrinter &printer;
  StringRef separator = "";
};

} // namespace

//===----------------------------------------------------------------------===//
// Lists.
//===----------------------------------------------------------------------===//

FailureOr<Dims> parseDims(AsmParser &parser) {
  Dims dims;
  auto parseOne = [&] { return parser.parseInteger(dims.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  return dims;
}

void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer.getStream());
  printer << ']';
}

static ParseResult parseBound(AsmParser &parser, Dims &bounds) {
  if (succeeded(parser.parseOptionalQuestion())) {
    bounds.push_back(ShapedType::kDynamic);
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(bounds.emplace_back()))
    return failure();
  if (bounds.back() < 0)
    return parser.emitError(loc, "a bound must not be negative");
  return success();
}

ParseResult parseBounds(AsmParser &parser, Dims &bounds) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseBound(parser, bounds); });
}

static void printBoundList(AsmPrinter &printer, ArrayRef<int64_t> bounds) {
  llvm::interleaveComma(bounds, printer.getStream(), [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
}

void printBounds(AsmPrinter &printer, ArrayRef<int64_t> bounds) {
  printer << '[';
  printBoundList(printer, bounds);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Scatter, gather and dot.
//===----------------------------------------------------------------------===//

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims window, inserted, batching, indicesBatching, toOperand;
  int64_t vectorDim = 0;
  Member members[] = {{"update_window_dims", &window},
                      {"inserted_window_dims", &inserted},
                      {"input_batching_dims", &batching},
                      {"scatter_indices_batching_dims", &indicesBatching},
                      {"scatter_dims_to_operand_dims", &toOperand},
                      {"index_vector_dim", nullptr, &vectorDim}};
  if (parseMembers(parser, members))
    return {};
  return get(parser.getContext(), window, inserted, batching, indicesBatching, toOperand,
             vectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  MemberPrinter members(printer);
  members.list("update_window_dims", getUpdateWindowDims());
  members.list("inserted_window_dims", getInsertedWindowDims());
  members.list("input_batching_dims", getInputBatchingDims());
  members.list("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  members.list("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  if (getIndexVectorDim() != 0)
    members.number("index_vector_dim", getIndexVectorDim());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims offset, collapsed, batching, indicesBatching, startIndexMap;
  int64_t vectorDim = 0;
  Member members[] = {{"offset_dims", &offset},
                      {"collapsed_slice_dims", &collapsed},
                      {"operand_batching_dims", &batching},
                      {"start_indices_batching_dims", &indicesBatching},
                      {"start_index_map", &startIndexMap},
                      {"index_vector_dim", nullptr, &vectorDim}};
  if (parseMembers(parser, members))
    return {};
  return get(parser.getContext(), offset, collapsed, batching, indicesBatching, startIndexMap,
             vectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  MemberPrinter members(printer);
  members.list("offset_dims", getOffsetDims());
  members.list("collapsed_slice_dims", getCollapsedSliceDims());
  members.list("operand_batching_dims", getOperandBatchingDims());
  members.list("start_indices_batching_dims", getStartIndicesBatchingDims());
  members.list("start_index_map", getStartIndexMap());
  if (getIndexVectorDim() != 0)
    members.number("index_vector_dim", getIndexVectorDim());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  Member members[] = {{"lhs_batching_dimensions", &lhsBatching},
                      {"rhs_batching_dimensions", &rhsBatching},
                      {"lhs_contracting_dimensions", &lhsContracting},
                      {"rhs_contracting_dimensions", &rhsContracting}};
  if (parseMembers(parser, members))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  MemberPrinter members(printer);
  members.list("lhs_batching_dimensions", getLhsBatchingDimensions());
  members.list("rhs_batching_dimensions", getRhsBatchingDimensions());
  members.list("lhs_contracting_dimensions", getLhsContractingDimensions());
  members.list("rhs_contracting_dimensions", getRhsContractingDimensions());
}

//===----------------------------------------------------------------------===//
// Convolution.
//===----------------------------------------------------------------------===//

namespace {

/// One operand's part of a convolution's dimension numbers: two dimensions with
/// letters, the others numbered.
struct Part {
  char first, second;
  int64_t firstDim = -1, secondDim = -1;
  Dims spatial;
};

ParseResult parsePartEntry(AsmParser &parser, Part &part, int64_t dim,
                           SmallVectorImpl<int64_t> &spatialNumbers) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef letter;
  if (succeeded(parser.parseOptionalKeyword(&letter))) {
    int64_t *slot = letter == StringRef(&part.first, 1)    ? &part.firstDim
                    : letter == StringRef(&part.second, 1) ? &part.secondDim
                                                           : nullptr;
    if (!slot)
      return parser.emitError(loc, "expected '")
             << part.first << "', '" << part.second << "' or a number, got '" << letter << "'";
    if (*slot >= 0)
      return parser.emitError(loc, "'") << letter << "' is given twice";
    *slot = dim;
    spatialNumbers.push_back(-1);
    return success();
  }
  if (parser.parseInteger(spatialNumbers.emplace_back()))
    return failure();
  if (spatialNumbers.back() < 0)
    return parser.emitError(loc, "a spatial dimension must not be negative");
  return success();
}

ParseResult parsePart(AsmParser &parser, Part &part) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> numbers; // spatial number of each dimension, -1 for letters
  auto parseEntry = [&] { return parsePartEntry(parser, part, numbers.size(), numbers); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return failure();
  if (part.firstDim < 0 || part.secondDim < 0)
    return parser.emitError(loc, "expected dimensions '")
           << part.first << "' and '" << part.second << "'";
  part.spatial.assign(numbers.size() - 2, -1);
  for (auto [dim, number] : llvm::enumerate(numbers)) {
    if (number < 0)
      continue;
    if (number >= int64_t(part.spatial.size()) || part.spatial[number] >= 0)
      return parser.emitError(loc, "spatial dimensions must be 0, 1, 2... each once");
    part.spatial[number] = dim;
  }
  return success();
}

void printPart(AsmPrinter &printer, const Part &part) {
  SmallVector<std::string> entries(part.spatial.size() + 2);
  entries[part.firstDim] = part.first;
  entries[part.secondDim] = part.second;
  for (auto [number, dim] : llvm::enumerate(part.spatial))
    entries[dim] = std::to_string(number);
  printer << '[';
  llvm::interleaveComma(entries, printer.getStream());
  printer << ']';
}

std::array<Part, 3> partsOf(ConvDimensionNumbersAttr n) {
  return {Part{'b', 'f', n.getInputBatchDimension(), n.getInputFeatureDimension(),
               Dims(n.getInputSpatialDimensions())},
          Part{'i', 'o', n.getKernelInputFeatureDimension(), n.getKernelOutputFeatureDimension(),
               Dims(n.getKernelSpatialDimensions())},
          Part{'b', 'f', n.getOutputBatchDimension(), n.getOutputFeatureDimension(),
               Dims(n.getOutputSpatialDimensions())}};
}

bool isPermutation(const Part &part) {
  SmallVector<bool> seen(part.spatial.size() + 2);
  auto take = [&](int64_t dim) {
    if (dim < 0 || dim >= int64_t(seen.size()) || seen[dim])
      return false;
    return seen[dim] = true;
  };
  return take(part.firstDim) && take(part.secondDim) && llvm::all_of(part.spatial, take);
}

} // namespace

bool isPrintable(ConvDimensionNumbersAttr numbers) {
  return llvm::all_of(partsOf(numbers), isPermutation);
}

ParseResult parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  Part input{'b', 'f'}, kernel{'i', 'o'}, output{'b', 'f'};
  if (parsePart(parser, input) || parser.parseKeyword("x") || parsePart(parser, kernel) ||
      parser.parseArrow() || parsePart(parser, output))
    return failure();
  numbers = ConvDimensionNumbersAttr::get(
      parser.getContext(), input.firstDim, input.secondDim, input.spatial, kernel.firstDim,
      kernel.secondDim, kernel.spatial, output.firstDim, output.secondDim, output.spatial);
  return success();
}

void printConvolutionDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr numbers) {
  std::array<Part, 3> parts = partsOf(numbers);
  printPart(printer, parts[0]);
  printer << 'x';
  printPart(printer, parts[1]);
  printer << "->";
  printPart(printer, parts[2]);
}

/// `raw` and then the members by name: for numbers that are no permutation, which
/// the verifier of the operation will refuse.
static Attribute parseRawConv(AsmParser &parser) {
  int64_t n[6] = {};
  Dims input, kernel, output;
  Member members[] = {{"input_batch_dimension", nullptr, &n[0]},
                      {"input_feature_dimension", nullptr, &n[1]},
                      {"input_spatial_dimensions", &input},
                      {"kernel_input_feature_dimension", nullptr, &n[2]},
                      {"kernel_output_feature_dimension", nullptr, &n[3]},
                      {"kernel_spatial_dimensions", &kernel},
                      {"output_batch_dimension", nullptr, &n[4]},
                      {"output_feature_dimension", nullptr, &n[5]},
                      {"output_spatial_dimensions", &output}};
  do {
    if (parseMember(parser, members))
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return {};
  return ConvDimensionNumbersAttr::get(parser.getContext(), n[0], n[1], input, n[2], n[3], kernel,
                                       n[4], n[5], output);
}

static void printRawConv(AsmPrinter &printer, ConvDimensionNumbersAttr n) {
  auto number = [&](StringRef name, int64_t value) { printer << name << " = " << value; };
  auto list = [&](StringRef name, ArrayRef<int64_t> dims) {
    printer << ", " << name << " = ";
    printDims(printer, dims);
  };
  number("raw input_batch_dimension", n.getInputBatchDimension());
  number(", input_feature_dimension", n.getInputFeatureDimension());
  list("input_spatial_dimensions", n.getInputSpatialDimensions());
  number(", kernel_input_feature_dimension", n.getKernelInputFeatureDimension());
  number(", kernel_output_feature_dimension", n.getKernelOutputFeatureDimension());
  list("kernel_spatial_dimensions", n.getKernelSpatialDimensions());
  number(", output_batch_dimension", n.getOutputBatchDimension());
  number(", output_feature_dimension", n.getOutputFeatureDimension());
  list("output_spatial_dimensions", n.getOutputSpatialDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("raw")))
    return parseRawConv(parser);
  ConvDimensionNumbersAttr numbers;
  if (parseConvolutionDimensions(parser, numbers) || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (isPrintable(*this))
    printConvolutionDimensions(printer, *this);
  else
    printRawConv(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Result accuracy.
//===----------------------------------------------------------------------===//

ResultAccuracyAttr ResultAccuracyAttr::get(MLIRContext *context, ResultAccuracyMode mode) {
  return get(context, APFloat(0.0), APFloat(0.0), 0, ResultAccuracyModeAttr::get(context, mode));
}

ResultAccuracyAttr ResultAccuracyAttr::get(MLIRContext *context, APFloat atol, APFloat rtol,
                                           int64_t ulps) {
  return get(context, atol, rtol, ulps,
             ResultAccuracyModeAttr::get(context, ResultAccuracyMode::TOLERANCE));
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "atol" || name == "rtol")
      return parser.parseFloat(name == "atol" ? atol : rtol);
    if (name == "ulps")
      return parser.parseInteger(ulps);
    if (name == "mode")
      return parser.parseAttribute(mode);
    return parser.emitError(loc, "unknown member '") << name << "'";
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  if (!mode) {
    parser.emitError(loc, "expected member 'mode'");
    return {};
  }
  return parser.getChecked<ResultAccuracyAttr>(loc, parser.getContext(), APFloat(atol),
                                               APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto tolerance = [&](StringRef name, const APFloat &value) {
    if (value.isZero())
      return;
    printer << name << " = ";
    printer.printFloat(value);
    printer << ", ";
  };
  tolerance("atol", getAtol());
  tolerance("rtol", getRtol());
  if (getUlps() != 0)
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = ";
  printer.printAttribute(getMode());
  printer << '>';
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat atol,
                                         APFloat rtol, int64_t ulps, ResultAccuracyModeAttr mode) {
  if (!mode)
    return emitError() << "expected a mode of accuracy";
  bool none = atol.isZero() && rtol.isZero() && ulps == 0;
  if (mode.getValue() != ResultAccuracyMode::TOLERANCE && !none)
    return emitError() << "tolerances are given only in mode TOLERANCE, not "
                       << stringifyResultAccuracyMode(mode.getValue());
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return emitError() << "tolerances must not be negative";
  return success();
}

//===----------------------------------------------------------------------===//
// Other invariants.
//===----------------------------------------------------------------------===//

LogicalResult DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhs,
                                       Type rhs, Type accumulation, int64_t lhsCount,
                                       int64_t rhsCount, int64_t operations, bool) {
  for (auto [name, type] : {std::pair("lhs", lhs), {"rhs", rhs}, {"accumulation", accumulation}})
    if (!llvm::isa<FloatType, IntegerType>(type))
      return emitError() << name << " precision type must be a float or integer type, got " << type;
  if (lhsCount < 1 || rhsCount < 1)
    return emitError() << "dot_algorithm must have positive component counts, got " << lhsCount
                       << " and " << rhsCount;
  if (operations < 1)
    return emitError() << "dot_algorithm must have a positive number of operations, got "
                       << operations;
  return success();
}

LogicalResult
TypeExtensionsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                   function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "bounds must be as many as dimensions, got " << getBounds().size()
                       << " bounds for rank " << shape.size();
  for (auto [dim, size, bound] : llvm::enumerate(shape, getBounds()))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound))
      return emitError() << "static dimension " << dim << " cannot have a bound, use '?'";
  return success();
}

} // namespace spokeshave::stablehlo

//===----------------------------------------------------------------------===//
// Generated code, and the dialect's own attribute printer.
//===----------------------------------------------------------------------===//

#define GET_ATTRDEF_CLASSES
#include "input/StablehloAttrs.cpp.inc"

namespace spokeshave::stablehlo {

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "input/StablehloAttrs.cpp.inc"
      >();
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (result.has_value())
    return attribute;
  if (mnemonic == "bounds") {
    Dims bounds;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                       [&] { return parseBound(parser, bounds); }))
      return {};
    return TypeExtensionsAttr::get(parser.getContext(), bounds);
  }
  parser.emitError(parser.getNameLoc(), "unknown stablehlo attribute: ") << mnemonic;
  return {};
}

void StablehloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto extensions = dyn_cast<TypeExtensionsAttr>(attribute)) {
    printer << "bounds<";
    printBoundList(printer, extensions.getBounds());
    printer << '>';
    return;
  }
  (void)generatedAttributePrinter(attribute, printer);
}

} // namespace spokeshave::stablehlo
