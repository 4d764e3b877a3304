//===- Convert.cpp - the attributes of an operation, VHLO to StableHLO -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Convert.h.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Convert.h"

#include "input/StablehloOps.h"
#include "input/bytecode/Decoder.h"

using namespace mlir;

namespace spokeshave::bytecode {

// Lists of dimensions are short. A splat could claim any length in a few bytes.
static constexpr int64_t maxListLength = 1 << 16;

static bool isEmpty(Attribute value) {
  if (auto string = dyn_cast<StringAttr>(value))
    return string.empty();
  if (auto array = dyn_cast<ArrayAttr>(value))
    return array.empty();
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    return dictionary.empty();
  auto elements = dyn_cast<DenseElementsAttr>(value);
  return elements && elements.empty();
}

static bool isArrayOfEmptyDictionaries(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, [](Attribute element) {
           auto dictionary = dyn_cast<DictionaryAttr>(element);
           return dictionary && dictionary.empty();
         });
}

static bool isInteger(Attribute value, int64_t expected) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().getSExtValue() == expected;
}

static bool isSplat(Attribute value, int64_t expected) {
  auto elements = dyn_cast<DenseIntElementsAttr>(value);
  return elements && elements.isSplat() &&
         elements.getSplatValue<APInt>().getZExtValue() == static_cast<uint64_t>(expected);
}

static bool isDefaultPrecision(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, [](Attribute element) {
           auto precision = dyn_cast<stablehlo::PrecisionAttr>(element);
           return precision && precision.getValue() == stablehlo::Precision::DEFAULT;
         });
}

static bool isDefaultAccuracy(Attribute value) {
  auto accuracy = dyn_cast<stablehlo::ResultAccuracyAttr>(value);
  return accuracy && accuracy.getAtol().isZero() && accuracy.getRtol().isZero() &&
         accuracy.getUlps() == 0 &&
         accuracy.getMode().getValue() == stablehlo::ResultAccuracyMode::DEFAULT;
}

/// Whether `value` says no more than its absence would.
static bool isDefault(Default defaultValue, Attribute value) {
  switch (defaultValue) {
  case Default::None:
    return false;
  case Default::False: {
    auto flag = dyn_cast<BoolAttr>(value);
    return flag && !flag.getValue();
  }
  case Default::Zero:
    return isInteger(value, 0);
  case Default::MinusOne:
    return isInteger(value, -1);
  case Default::NoDicts:
    return isArrayOfEmptyDictionaries(value);
  case Default::Empty:
    return isEmpty(value);
  case Default::Ones:
    return isSplat(value, 1);
  case Default::Zeros:
    return isSplat(value, 0);
  case Default::Precision:
    return isDefaultPrecision(value);
  case Default::Accuracy:
    return isDefaultAccuracy(value);
  case Default::NoType: {
    auto type = dyn_cast<stablehlo::ComparisonTypeAttr>(value);
    return type && type.getValue() == stablehlo::ComparisonType::NOTYPE;
  }
  case Default::Original: {
    auto version = dyn_cast<stablehlo::CustomCallApiVersionAttr>(value);
    return version && version.getValue() == stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL;
  }
  }
  return false;
}

/// `value` as integers, if it is a short tensor of i64.
static std::optional<SmallVector<int64_t>> asIntegers(Attribute value) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(value);
  if (!elements || !elements.getElementType().isSignlessInteger(64) ||
      elements.getNumElements() > maxListLength)
    return std::nullopt;
  return llvm::to_vector(elements.getValues<int64_t>());
}

void AttributeConverter::error(StringRef name, const Twine &what) {
  input.error(location, "'" + spec.name + "' with attribute '" + name + "' " + what);
}

Attribute AttributeConverter::find(StringRef name) const {
  for (auto &[givenName, value] : given)
    if (givenName == name)
      return value;
  return {};
}

void AttributeConverter::convert(NamedAttrList &result) {
  for (const Property &property : spec.properties) {
    Attribute value = find(property.name);
    if (!value && !property.isOptional && property.conversion != Conversion::Part)
      return error(property.name, "missing");
    if (!value || isDefault(property.defaultValue, value))
      continue;
    if (property.conversion == Conversion::Part || property.conversion == Conversion::Nothing)
      continue;
    Attribute converted = convert(property, value);
    if (!input.ok())
      return;
    StringRef name = property.conversion == Conversion::Channel ? "channel_handle" : property.name;
    if (converted)
      result.set(name, converted);
  }
  addStructure(result);
}

Attribute AttributeConverter::convert(const Property &property, Attribute value) {
  MLIRContext *context = input.context;
  switch (property.conversion) {
  case Conversion::Integers:
    return integers(property.name, value);
  case Conversion::Bools:
    return bools(property.name, value);
  case Conversion::Symbol:
    if (auto name = dyn_cast<StringAttr>(value))
      return FlatSymbolRefAttr::get(name);
    error(property.name, "that is not a name");
    return {};
  case Conversion::Symbols:
    return symbols(property.name, value);
  case Conversion::Channel: {
    int64_t id = part(property.name);
    return stablehlo::ChannelHandleAttr::get(context, id, /*type=*/0);
  }
  case Conversion::Flag:
    if (auto flag = dyn_cast<BoolAttr>(value))
      return flag.getValue() ? UnitAttr::get(context) : Attribute();
    error(property.name, "that is not a bool");
    return {};
  case Conversion::Constant:
    if (auto elements = dyn_cast<DenseElementsAttr>(value))
      return asConstantValue(elements);
    if (!isa<ElementsAttr>(value))
      error(property.name, "that is not a tensor");
    return value;
  default:
    return value;
  }
}

Attribute AttributeConverter::integers(StringRef name, Attribute value) {
  if (auto list = asIntegers(value))
    return DenseI64ArrayAttr::get(input.context, *list);
  error(name, "that is not a list of integers");
  return {};
}

Attribute AttributeConverter::bools(StringRef name, Attribute value) {
  auto elements = dyn_cast<DenseIntElementsAttr>(value);
  if (!elements || !elements.getElementType().isSignlessInteger(1) ||
      elements.getNumElements() > maxListLength) {
    error(name, "that is not a list of bools");
    return {};
  }
  return DenseBoolArrayAttr::get(input.context, llvm::to_vector(elements.getValues<bool>()));
}

Attribute AttributeConverter::symbols(StringRef name, Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  SmallVector<Attribute> names;
  for (Attribute element : array ? array.getValue() : ArrayRef<Attribute>())
    if (auto symbol = dyn_cast<StringAttr>(element))
      names.push_back(FlatSymbolRefAttr::get(symbol));
  if (array && names.size() == array.size())
    return ArrayAttr::get(input.context, names);
  error(name, "that is not a list of names");
  return {};
}

int64_t AttributeConverter::part(StringRef name) {
  auto value = dyn_cast_or_null<IntegerAttr>(find(name));
  if (!value)
    error(name, "missing or not an integer");
  return value ? value.getValue().getSExtValue() : 0;
}

SmallVector<int64_t> AttributeConverter::listPart(StringRef name) {
  auto list = asIntegers(find(name));
  if (!list)
    error(name, "missing or not a list of integers");
  return list.value_or(SmallVector<int64_t>());
}

// Version 1 of gather and scatter had no batching dimensions.
SmallVector<int64_t> AttributeConverter::optionalListPart(StringRef name) {
  return find(name) ? listPart(name) : SmallVector<int64_t>();
}

void AttributeConverter::addStructure(NamedAttrList &result) {
  auto add = [&](StringRef name, Attribute value) {
    if (input.ok() && value)
      result.set(name, value);
  };
  switch (spec.structure) {
  case Structure::None:
    return;
  case Structure::Dot:
    add("dot_dimension_numbers", dotDimensionNumbers());
    return add("algorithm", dotAlgorithm());
  case Structure::Gather:
    return add("dimension_numbers", gatherDimensionNumbers());
  case Structure::Scatter:
    return add("scatter_dimension_numbers", scatterDimensionNumbers());
  case Structure::Convolution:
    return add("dimension_numbers", convolutionDimensionNumbers());
  case Structure::Channel:
    return add("channel_handle", channelHandle());
  case Structure::CustomCall:
    return dropEmptyLayouts(result);
  }
}

Attribute AttributeConverter::dotDimensionNumbers() {
  return stablehlo::DotDimensionNumbersAttr::get(
      input.context, listPart("lhs_batching_dimensions"), listPart("rhs_batching_dimensions"),
      listPart("lhs_contracting_dimensions"), listPart("rhs_contracting_dimensions"));
}

// An algorithm that was not asked for is a none type in each of its parts;
// version 1 had none of them.
Attribute AttributeConverter::dotAlgorithm() {
  auto typePart = [&](StringRef name) -> Type {
    auto value = dyn_cast_or_null<TypeAttr>(find(name));
    if (!value)
      error(name, "missing or not a type");
    return value ? value.getValue() : Type();
  };
  Attribute count = find("lhs_component_count");
  auto countAsType = dyn_cast_or_null<TypeAttr>(count);
  if (!count || (countAsType && isa<NoneType>(countAsType.getValue())))
    return {};
  auto imprecise = dyn_cast_or_null<BoolAttr>(find("allow_imprecise_accumulation"));
  if (!imprecise)
    error("allow_imprecise_accumulation", "missing or not a bool");
  Type lhs = typePart("lhs_precision_type"), rhs = typePart("rhs_precision_type");
  Type accumulation = typePart("accumulation_type");
  int64_t lhsCount = part("lhs_component_count"), rhsCount = part("rhs_component_count");
  int64_t operations = part("num_primitive_operations");
  if (!input.ok())
    return {};
  auto emit = [&] { return input.diagnose(location); };
  return stablehlo::DotAlgorithmAttr::getChecked(emit, input.context, lhs, rhs, accumulation,
                                                 lhsCount, rhsCount, operations,
                                                 imprecise.getValue());
}

Attribute AttributeConverter::gatherDimensionNumbers() {
  return stablehlo::GatherDimensionNumbersAttr::get(
      input.context, listPart("offset_dims"), listPart("collapsed_slice_dims"),
      optionalListPart("operand_batching_dims"), optionalListPart("start_indices_batching_dims"),
      listPart("start_index_map"), part("index_vector_dim"));
}

Attribute AttributeConverter::scatterDimensionNumbers() {
  return stablehlo::ScatterDimensionNumbersAttr::get(
      input.context, listPart("update_window_dims"), listPart("inserted_window_dims"),
      optionalListPart("input_batching_dims"), optionalListPart("scatter_indices_batching_dims"),
      listPart("scatter_dims_to_operand_dims"), part("index_vector_dim"));
}

Attribute AttributeConverter::convolutionDimensionNumbers() {
  return stablehlo::ConvDimensionNumbersAttr::get(
      input.context, part("input_batch_dimension"), part("input_feature_dimension"),
      listPart("input_spatial_dimensions"), part("kernel_input_feature_dimension"),
      part("kernel_output_feature_dimension"), listPart("kernel_spatial_dimensions"),
      part("output_batch_dimension"), part("output_feature_dimension"),
      listPart("output_spatial_dimensions"));
}

Attribute AttributeConverter::channelHandle() {
  return stablehlo::ChannelHandleAttr::get(input.context, part("channel_id"), part("channel_type"));
}

// Layouts are given for operands and results together or not at all, and an
// empty list is right for a call without operands that has results.
void AttributeConverter::dropEmptyLayouts(NamedAttrList &result) {
  Attribute operands = result.get("operand_layouts"), results = result.get("result_layouts");
  if (operands && results && isEmpty(operands) && isEmpty(results)) {
    result.erase("operand_layouts");
    result.erase("result_layouts");
  }
}

} // namespace spokeshave::bytecode
