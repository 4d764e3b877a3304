//===- DecodeVhlo.cpp - VHLO attributes and types as StableHLO ones --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VHLO has attributes and types of its own so that they can be versioned. Each
// has a builtin or StableHLO counterpart, which is what is built here. The
// codes of all VHLO versions so far form one list; none was ever reused.
//
//===----------------------------------------------------------------------===//
#include "input/NarrowFloats.h"
#include "input/StablehloOps.h"
#include "input/bytecode/Decoder.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

#include <optional>

using namespace mlir;

namespace spokeshave::bytecode {

namespace {

enum AttributeCode : uint64_t {
  Array = 1,
  Boolean = 2,
  ComparisonDirection = 3,
  ComparisonType = 4,
  ApiVersion = 5,
  Dictionary = 6,
  FftType = 7,
  Float = 8,
  Integer = 9,
  OutputOperandAlias = 10,
  Precision = 11,
  RngAlgorithm = 12,
  RngDistribution = 13,
  String = 14,
  Tensor = 15,
  Transpose = 16,
  TypeValue = 17,
  TypeExtensions = 18,
  ResultAccuracyMode = 19,
  ResultAccuracy = 20,
  SubAxisInfo = 21,
  AxisRef = 22,
  ReplicaGroupMeshAxes = 23,
  MeshAxis = 24,
  Mesh = 25,
};

enum TypeCode : uint64_t {
  Complex = 1,
  Function = 8,
  RankedTensor = 20,
  RankedTensorWithEncoding = 21,
  Tuple = 23,
  Quantized = 24,
  UnrankedTensor = 25,
  QuantizedPerAxis = 30,
  RankedBuffer = 41,
  Future = 42,
};

/// Codes of the StableHLO dialect itself, met on operations that are not VHLO.
enum StablehloCode : uint64_t {
  PlainSubAxisInfo = 19,
  PlainAxisRef = 20,
  PlainMeshAxis = 21,
  PlainMesh = 22,
};

template <typename EnumAttr, typename Enum>
Attribute readEnum(Cursor &cursor, MLIRContext *context,
                   std::optional<Enum> (*symbolize)(uint32_t)) {
  uint64_t code = cursor.varint();
  std::optional<Enum> value;
  if (code <= UINT32_MAX)
    value = symbolize(static_cast<uint32_t>(code));
  if (!value) {
    cursor.error("an enumeration's value " + Twine(code) + " is unknown");
    return {};
  }
  return EnumAttr::get(context, *value);
}

} // namespace

Attribute Decoder::vhloEnum(uint64_t code, Cursor &cursor) {
  MLIRContext *context = input.context;
  switch (code) {
  case ComparisonDirection:
    return readEnum<stablehlo::ComparisonDirectionAttr>(cursor, context,
                                                        stablehlo::symbolizeComparisonDirection);
  case ComparisonType:
    return readEnum<stablehlo::ComparisonTypeAttr>(cursor, context,
                                                   stablehlo::symbolizeComparisonType);
  case ApiVersion:
    return readEnum<stablehlo::CustomCallApiVersionAttr>(cursor, context,
                                                         stablehlo::symbolizeCustomCallApiVersion);
  case FftType:
    return readEnum<stablehlo::FftTypeAttr>(cursor, context, stablehlo::symbolizeFftType);
  case Precision:
    return readEnum<stablehlo::PrecisionAttr>(cursor, context, stablehlo::symbolizePrecision);
  case RngAlgorithm:
    return readEnum<stablehlo::RngAlgorithmAttr>(cursor, context, stablehlo::symbolizeRngAlgorithm);
  case RngDistribution:
    return readEnum<stablehlo::RngDistributionAttr>(cursor, context,
                                                    stablehlo::symbolizeRngDistribution);
  case Transpose:
    return readEnum<stablehlo::TransposeAttr>(cursor, context, stablehlo::symbolizeTranspose);
  case ResultAccuracyMode:
    return readEnum<stablehlo::ResultAccuracyModeAttr>(cursor, context,
                                                       stablehlo::symbolizeResultAccuracyMode);
  default:
    cursor.error("VHLO attributes of code " + Twine(code) + " are not supported");
    return {};
  }
}

Attribute Decoder::vhloAttribute(Cursor &cursor) {
  MLIRContext *context = input.context;
  uint64_t code = cursor.varint();
  switch (code) {
  case Array: {
    SmallVector<Attribute> elements = attributes(cursor);
    return cursor.ok() ? ArrayAttr::get(context, elements) : Attribute();
  }
  case Boolean: {
    uint64_t value = cursor.varint();
    if (value > 1)
      cursor.error("a bool of " + Twine(value));
    return BoolAttr::get(context, value == 1);
  }
  case Dictionary:
    return dictionary(cursor);
  case Float: {
    Type floatType = type(cursor);
    return floating(floatType, cursor);
  }
  case Integer: {
    Type integerType = type(cursor);
    return integer(integerType, cursor);
  }
  case OutputOperandAlias: {
    SmallVector<int64_t> outputs = cursor.signedVarints();
    int64_t operand = cursor.signedVarint();
    SmallVector<int64_t> operands = cursor.signedVarints();
    return stablehlo::OutputOperandAliasAttr::get(context, outputs, operand, operands);
  }
  case String:
    return StringAttr::get(context, container.string(cursor));
  case Tensor:
    return denseElements(cursor);
  case TypeValue: {
    Type value = type(cursor);
    return value ? TypeAttr::get(value) : Attribute();
  }
  case TypeExtensions:
    return stablehlo::TypeExtensionsAttr::get(context, cursor.signedVarints());
  case ResultAccuracy:
    return vhloResultAccuracy(cursor);
  case SubAxisInfo:
  case AxisRef:
  case ReplicaGroupMeshAxes:
  case MeshAxis:
  case Mesh:
    return vhloCollective(code, cursor);
  default:
    return vhloEnum(code, cursor);
  }
}

Attribute Decoder::vhloResultAccuracy(Cursor &cursor) {
  auto real = [&] { return APFloat(llvm::bit_cast<double>(cursor.signedVarint())); };
  APFloat absolute = real(), relative = real();
  int64_t ulps = cursor.signedVarint();
  auto mode = as<stablehlo::ResultAccuracyModeAttr>(cursor);
  if (!cursor.ok())
    return {};
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  return stablehlo::ResultAccuracyAttr::getChecked(emit, input.context, absolute, relative, ulps,
                                                   mode);
}

/// Replica groups that are given as axes of a mesh.
Attribute Decoder::vhloCollective(uint64_t code, Cursor &cursor) {
  MLIRContext *context = input.context;
  switch (code) {
  case SubAxisInfo: {
    int64_t preSize = cursor.signedVarint(), size = cursor.signedVarint();
    return stablehlo::SubAxisInfoAttr::get(context, preSize, size);
  }
  case AxisRef: {
    auto name = as<StringAttr>(cursor);
    bool hasSubAxis = cursor.varint() != 0;
    auto subAxis =
        hasSubAxis ? as<stablehlo::SubAxisInfoAttr>(cursor) : stablehlo::SubAxisInfoAttr();
    return cursor.ok() ? stablehlo::AxisRefAttr::get(context, name.getValue(), subAxis)
                       : Attribute();
  }
  case ReplicaGroupMeshAxes: {
    Attribute mesh = attribute(cursor);
    auto axes = as<ArrayAttr>(cursor);
    if (!cursor.ok())
      return {};
    if (auto name = dyn_cast<StringAttr>(mesh))
      mesh = FlatSymbolRefAttr::get(name);
    return stablehlo::ReplicaGroupMeshAxesAttr::get(context, mesh, axes);
  }
  case MeshAxis: {
    auto name = as<StringAttr>(cursor);
    int64_t size = cursor.signedVarint();
    return cursor.ok() ? stablehlo::MeshAxisAttr::get(context, name.getValue(), size) : Attribute();
  }
  default:
    return vhloMesh(cursor);
  }
}

Attribute Decoder::vhloMesh(Cursor &cursor) {
  auto list = as<ArrayAttr>(cursor);
  Attribute ids = optionalAttribute(cursor);
  if (!cursor.ok())
    return {};
  SmallVector<stablehlo::MeshAxisAttr> axes;
  for (Attribute element : list)
    axes.push_back(checked<stablehlo::MeshAxisAttr>(element, cursor));
  auto deviceIds = ids ? checked<DenseIntElementsAttr>(ids, cursor) : DenseIntElementsAttr();
  return cursor.ok() ? stablehlo::MeshAttr::get(input.context, axes, deviceIds) : Attribute();
}

/// Integer types have consecutive codes; signless stands for signed.
static Type integerType(uint64_t code, Builder &builder) {
  constexpr unsigned widths[] = {4, 8, 16, 32, 64};
  if (code >= 10 && code <= 14)
    return builder.getIntegerType(widths[code - 10]);
  if (code >= 15 && code <= 19)
    return builder.getIntegerType(widths[code - 15], /*isSigned=*/false);
  if (code == 31)
    return builder.getIntegerType(2);
  return code == 32 ? builder.getIntegerType(2, /*isSigned=*/false) : Type();
}

/// Floating-point types; those from 36 on are newer than MLIR 19.
static Type floatType(uint64_t code, MLIRContext *context) {
  using Get = Type (*)(MLIRContext *);
  auto getter = [](auto type) -> Get {
    using T = decltype(type);
    return [](MLIRContext *context) -> Type { return T::get(context); };
  };
  static const std::pair<uint64_t, Get> getters[] = {
      {2, getter(BFloat16Type())},
      {3, getter(Float16Type())},
      {4, getter(Float32Type())},
      {5, getter(Float64Type())},
      {6, getter(Float8E4M3FNType())},
      {7, getter(Float8E5M2Type())},
      {27, getter(Float8E4M3FNUZType())},
      {28, getter(Float8E5M2FNUZType())},
      {29, getter(Float8E4M3B11FNUZType())},
      {34, getter(FloatTF32Type())},
      {35, getter(Float8E4M3Type())},
      {36, getter(narrow::Float8E3M4Type())},
      {37, getter(narrow::Float4E2M1FNType())},
      {38, getter(narrow::Float6E2M3FNType())},
      {39, getter(narrow::Float6E3M2FNType())},
      {40, getter(narrow::Float8E8M0FNUType())},
  };
  for (auto [known, get] : getters)
    if (known == code)
      return get(context);
  return {};
}

/// Types without parameters; null for the others.
Type Decoder::vhloScalarType(uint64_t code) {
  Builder builder(input.context);
  switch (code) {
  case 0:
    return builder.getI1Type();
  case 9:
    return builder.getIndexType();
  case 22:
    return stablehlo::TokenType::get(input.context);
  case 33:
    return builder.getNoneType();
  default:
    Type integer = integerType(code, builder);
    return integer ? integer : floatType(code, input.context);
  }
}

Type Decoder::vhloType(Cursor &cursor) {
  MLIRContext *context = input.context;
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  uint64_t code = cursor.varint();
  switch (code) {
  case Complex: {
    Type element = type(cursor);
    return element ? ComplexType::getChecked(emit, element) : Type();
  }
  case Function: {
    SmallVector<Type> inputs = types(cursor), results = types(cursor);
    return cursor.ok() ? FunctionType::get(context, inputs, results) : Type();
  }
  case RankedTensor:
  case RankedTensorWithEncoding:
    return rankedTensor(cursor, code == RankedTensorWithEncoding);
  case Tuple: {
    SmallVector<Type> elements = types(cursor);
    return cursor.ok() ? TupleType::get(context, elements) : Type();
  }
  case Quantized:
  case QuantizedPerAxis:
    return quantized(cursor, code == QuantizedPerAxis);
  case UnrankedTensor: {
    Type element = type(cursor);
    return element ? UnrankedTensorType::getChecked(emit, element) : Type();
  }
  case RankedBuffer: {
    SmallVector<int64_t> shape = cursor.signedVarints();
    Type element = type(cursor);
    return element ? MemRefType::getChecked(emit, shape, element, MemRefLayoutAttrInterface(),
                                            Attribute())
                   : Type();
  }
  case Future: {
    SmallVector<Type> elements = types(cursor);
    return cursor.ok() ? stablehlo::FutureType::get(context, elements) : Type();
  }
  default: {
    Type scalar = vhloScalarType(code);
    if (!scalar)
      cursor.error("VHLO types of code " + Twine(code) + " are not supported");
    return scalar;
  }
  }
}

Type Decoder::quantized(Cursor &cursor, bool perAxis) {
  auto real = [&] { return llvm::bit_cast<double>(cursor.signedVarint()); };
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  unsigned flags = cursor.varint();
  Type storage = type(cursor), expressed = type(cursor);
  if (!perAxis) {
    double scale = real();
    int64_t zeroPoint = cursor.signedVarint();
    int64_t min = cursor.signedVarint(), max = cursor.signedVarint();
    return cursor.ok() ? quant::UniformQuantizedType::getChecked(emit, flags, storage, expressed,
                                                                 scale, zeroPoint, min, max)
                       : Type();
  }
  int32_t axis = cursor.varint();
  int64_t min = cursor.signedVarint(), max = cursor.signedVarint();
  SmallVector<double> scales;
  uint64_t numScales = cursor.count();
  for (uint64_t i = 0; i < numScales && cursor.ok(); ++i)
    scales.push_back(real());
  SmallVector<int64_t> zeroPoints = cursor.signedVarints();
  return cursor.ok() ? quant::UniformQuantizedPerAxisType::getChecked(
                           emit, flags, storage, expressed, scales, zeroPoints, axis, min, max)
                     : Type();
}

Attribute Decoder::stablehloAttribute(Cursor &cursor) {
  MLIRContext *context = input.context;
  uint64_t code = cursor.varint();
  switch (code) {
  case PlainSubAxisInfo:
    return vhloCollective(SubAxisInfo, cursor);
  case PlainAxisRef: {
    StringRef name = container.string(cursor);
    auto subAxis =
        cursor.byte() ? as<stablehlo::SubAxisInfoAttr>(cursor) : stablehlo::SubAxisInfoAttr();
    return cursor.ok() ? stablehlo::AxisRefAttr::get(context, name, subAxis) : Attribute();
  }
  case PlainMeshAxis: {
    StringRef name = container.string(cursor);
    return stablehlo::MeshAxisAttr::get(context, name, cursor.signedVarint());
  }
  case PlainMesh: {
    SmallVector<stablehlo::MeshAxisAttr> axes;
    if (auto list = as<ArrayAttr>(cursor))
      for (Attribute element : list)
        axes.push_back(checked<stablehlo::MeshAxisAttr>(element, cursor));
    auto ids = cursor.byte() ? as<DenseIntElementsAttr>(cursor) : DenseIntElementsAttr();
    return cursor.ok() ? stablehlo::MeshAttr::get(context, axes, ids) : Attribute();
  }
  default:
    cursor.error("StableHLO attributes of code " + Twine(code) + " are not supported");
    return {};
  }
}

Type Decoder::stablehloType(Cursor &cursor) {
  uint64_t code = cursor.varint();
  if (code == 0)
    return stablehlo::TokenType::get(input.context);
  cursor.error("StableHLO types of code " + Twine(code) + " are not supported");
  return {};
}

} // namespace spokeshave::bytecode
