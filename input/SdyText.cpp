//===- SdyText.cpp - text form of shardings ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shardings nest, and inside another attribute each is printed without its name:
// <@mesh, [{"x", ?}, {}], replicated={"y":(1)2}>.
//
//===----------------------------------------------------------------------===//
#include "input/SdyOps.h"

using namespace mlir;

namespace spokeshave::sdy {
namespace {

/// Attributes of one kind between a pair of delimiters.
template <typename Attr>
ParseResult parseList(AsmParser &parser, AsmParser::Delimiter delimiter,
                      SmallVectorImpl<Attr> &attributes) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    auto attribute = llvm::dyn_cast_or_null<Attr>(Attr::parse(parser, {}));
    if (!attribute)
      return failure();
    attributes.push_back(attribute);
    return success();
  });
}

template <typename Attr>
void printList(AsmPrinter &printer, StringRef delimiters, ArrayRef<Attr> attributes) {
  printer << delimiters.front();
  llvm::interleaveComma(attributes, printer.getStream(),
                        [&](Attr attribute) { attribute.print(printer); });
  printer << delimiters.back();
}

ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Meshes.
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size = 0;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << '=' << getSize();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> devices;
  if (parser.parseLess() || parseList(parser, AsmParser::Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parseNumbers(parser, devices)))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, devices);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printList(printer, "[]", getAxes());
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer.getStream());
    printer << ']';
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Axes.
//===----------------------------------------------------------------------===//

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize = 0, size = 0;
  if (parser.parseLParen() || parser.parseInteger(preSize) || parser.parseRParen() ||
      parser.parseInteger(size))
    return {};
  return get(parser.getContext(), preSize, size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << '(' << getPreSize() << ')' << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SubAxisInfoAttr part;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon())) {
    part = llvm::dyn_cast_or_null<SubAxisInfoAttr>(SubAxisInfoAttr::parse(parser, {}));
    if (!part)
      return {};
  }
  return get(parser.getContext(), name, part);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (!getSubAxisInfo())
    return;
  printer << ':';
  getSubAxisInfo().print(printer);
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName))
    return {};
  return get(parser.getContext(), names);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getValue(), printer.getStream(),
                        [&](StringAttr name) { printer.printString(name.getValue()); });
  printer << '}';
}

//===----------------------------------------------------------------------===//
// Shardings.
//===----------------------------------------------------------------------===//

/// `p3` after a dimension's braces.
static ParseResult parsePriority(AsmParser &parser, std::optional<int64_t> &priority) {
  StringRef text;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&text)))
    return success();
  int64_t value = 0;
  if (!text.consume_front("p") || text.getAsInteger(10, value))
    return parser.emitError(loc, "expected a priority like p0");
  priority = value;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool closed = true;
  std::optional<int64_t> priority;
  auto parseAxis = [&]() -> ParseResult {
    if (!closed)
      return parser.emitError(parser.getCurrentLocation(), "nothing may stand after '?'");
    if (succeeded(parser.parseOptionalQuestion())) {
      closed = false;
      return success();
    }
    auto axis = llvm::dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, {}));
    if (!axis)
      return failure();
    axes.push_back(axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseAxis) ||
      parsePriority(parser, priority))
    return {};
  return get(parser.getContext(), axes, closed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer.getStream(),
                        [&](AxisRefAttr axis) { axis.print(printer); });
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &mesh) {
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    mesh = MeshAttr::parse(parser, {});
    return success(bool(mesh));
  }
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  mesh = FlatSymbolRefAttr::get(name);
  return success();
}

/// `replicated={...}` or `unreduced=max{...}`, in any order.
static ParseResult parseSpecialAxes(AsmParser &parser, SmallVectorImpl<AxisRefAttr> &replicated,
                                    SmallVectorImpl<AxisRefAttr> &unreduced,
                                    ReductionOp &reduction) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword) || parser.parseEqual())
    return failure();
  if (keyword == "replicated" && replicated.empty())
    return parseList(parser, AsmParser::Delimiter::Braces, replicated);
  if (keyword != "unreduced" || !unreduced.empty())
    return parser.emitError(loc, "expected 'replicated' or 'unreduced', each once");
  SMLoc reductionLoc = parser.getCurrentLocation();
  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    std::optional<ReductionOp> op = symbolizeReductionOp(name);
    if (!op)
      return parser.emitError(reductionLoc, "expected sum, max or min");
    reduction = *op;
  }
  return parseList(parser, AsmParser::Delimiter::Braces, unreduced);
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute mesh;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionOp reduction = ReductionOp::SUM;
  if (parser.parseLess() || parseMeshOrRef(parser, mesh) || parser.parseComma() ||
      parseList(parser, AsmParser::Delimiter::Square, dims))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseSpecialAxes(parser, replicated, unreduced, reduction))
      return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, replicated, unreduced, reduction);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer.printAttribute(getMeshOrRef());
  }
  printer << ", ";
  printList(printer, "[]", getDimShardings());
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated=";
    printList(printer, "{}", getReplicatedAxes());
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getReductionOp() != ReductionOp::SUM)
      printer << stringifyReductionOp(getReductionOp());
    printList(printer, "{}", getUnreducedAxes());
  }
  printer << '>';
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseLess() || parseList(parser, AsmParser::Delimiter::Square, shardings) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printList(printer, "[]", getShardings());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Rules. Factors 0 to 17 are written i to z, then come z_1, z_2...
//===----------------------------------------------------------------------===//

static constexpr int64_t lastLetter = 'z' - 'i';

static void printFactor(AsmPrinter &printer, int64_t factor) {
  if (factor <= lastLetter)
    printer << char('i' + factor);
  else
    printer << "z_" << factor - lastLetter;
}

/// Takes one factor off the front of `text`.
static bool takeFactor(StringRef &text, int64_t &factor) {
  if (text.empty() || text.front() < 'i' || text.front() > 'z')
    return false;
  factor = text.front() - 'i';
  text = text.drop_front();
  if (factor != lastLetter || !text.consume_front("_"))
    return true;
  int64_t number = 0;
  if (text.consumeInteger(10, number) || number < 1)
    return false;
  factor += number;
  return true;
}

static ParseResult parseFactors(AsmParser &parser, SmallVectorImpl<int64_t> &factors) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  while (!text.empty())
    if (!takeFactor(text, factors.emplace_back()))
      return parser.emitError(loc, "expected factors i to z, z_1, z_2...");
  return success();
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  if (parseFactors(parser, factors))
    return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices())
    printFactor(printer, factor);
}

Attribute TensorMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimMappingAttr> dims;
  if (parseList(parser, AsmParser::Delimiter::Square, dims))
    return {};
  return get(parser.getContext(), dims);
}

void TensorMappingAttr::print(AsmPrinter &printer) const {
  printList(printer, "[]", getDimMappings());
}

/// `{i=2, j=4}`: every factor's size, in order.
static ParseResult parseFactorSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  auto parseSize = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> factor;
    if (parseFactors(parser, factor))
      return failure();
    if (factor.size() != 1 || factor.front() != int64_t(sizes.size()))
      return parser.emitError(loc, "expected the sizes of all factors in order");
    return failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, parseSize);
}

static ParseResult parseFactorSet(AsmParser &parser, StringRef name,
                                  SmallVectorImpl<int64_t> &factors) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  if (parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                        [&] { return parseFactors(parser, factors); });
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes, reduction, replication, permutation, blocked;
  if (parser.parseLess() || parseList(parser, AsmParser::Delimiter::Paren, operands) ||
      parser.parseArrow() || parseList(parser, AsmParser::Delimiter::Paren, results) ||
      parseFactorSizes(parser, sizes) || parseFactorSet(parser, "reduction", reduction) ||
      parseFactorSet(parser, "need_replication", replication) ||
      parseFactorSet(parser, "permutation", permutation) ||
      parseFactorSet(parser, "blocked_propagation", blocked))
    return {};
  bool custom = succeeded(parser.parseOptionalComma());
  if ((custom && parser.parseKeyword("custom")) || parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, reduction, replication, permutation,
             blocked, custom);
}

static void printFactorSet(AsmPrinter &printer, StringRef name, ArrayRef<int64_t> factors) {
  if (factors.empty())
    return;
  printer << ' ' << name << "={";
  llvm::interleaveComma(factors, printer.getStream(),
                        [&](int64_t factor) { printFactor(printer, factor); });
  printer << '}';
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printList(printer, "()", getOperandMappings());
  printer << "->";
  printList(printer, "()", getResultMappings());
  if (!getFactorSizes().empty()) {
    printer << " {";
    auto sizes = llvm::enumerate(getFactorSizes());
    llvm::interleaveComma(sizes, printer.getStream(), [&](auto entry) {
      printFactor(printer, entry.index());
      printer << '=' << entry.value();
    });
    printer << '}';
  }
  printFactorSet(printer, "reduction", getReductionFactors());
  printFactorSet(printer, "need_replication", getNeedReplicationFactors());
  printFactorSet(printer, "permutation", getPermutationFactors());
  printFactorSet(printer, "blocked_propagation", getBlockedPropagationFactors());
  if (getIsCustomRule())
    printer << ", custom";
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Operations.
//===----------------------------------------------------------------------===//

/// `[<@mesh, [...]>, ...]` without the attribute's own brackets.
static ParseResult parseShardingList(OpAsmParser &parser, TensorShardingPerValueAttr &list) {
  SmallVector<TensorShardingAttr> shardings;
  if (parseList(parser, AsmParser::Delimiter::Square, shardings))
    return failure();
  list = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

static void printShardingList(OpAsmPrinter &printer, Operation *, TensorShardingPerValueAttr list) {
  printList(printer, "[]", list.getShardings());
}

/// `(%arg0: type, ...) { ... }`
static ParseResult parseBodyWithArguments(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  return parser.parseRegion(body, arguments);
}

static void printBodyWithArguments(OpAsmPrinter &printer, Operation *, Region &body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

} // namespace spokeshave::sdy

#define GET_OP_CLASSES
#include "input/SdyOps.cpp.inc"
