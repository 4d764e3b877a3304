//===- DecodeBuiltin.cpp - builtin attributes, locations and types ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those of the builtin dialect that occur beside VHLO: module attributes,
// locations, and the types and attributes around sdy operations.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Decoder.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace spokeshave::bytecode {

namespace {

enum AttributeCode : uint64_t {
  Array = 0,
  Dictionary = 1,
  String = 2,
  TypedString = 3,
  FlatSymbol = 4,
  Symbol = 5,
  TypeValue = 6,
  Unit = 7,
  Integer = 8,
  Float = 9,
  CallSite = 10,
  FileLineColumn = 11,
  Fused = 12,
  FusedWithMetadata = 13,
  Name = 14,
  Unknown = 15,
  DenseResource = 16,
  DenseArray = 17,
  DenseElements = 18,
  FileRange = 22, // Newer than MLIR 19.
};

enum TypeCode : uint64_t {
  IntegerType_ = 0,
  Index = 1,
  Function = 2,
  BF16 = 3,
  F16 = 4,
  F32 = 5,
  F64 = 6,
  Complex = 9,
  MemRef = 10,
  None = 12,
  RankedTensor = 13,
  RankedTensorWithEncoding = 14,
  Tuple = 15,
  UnrankedTensor = 18,
};

} // namespace

Attribute Decoder::builtinAttribute(Cursor &cursor) {
  MLIRContext *context = input.context;
  uint64_t code = cursor.varint();
  switch (code) {
  case Array: {
    SmallVector<Attribute> elements = attributes(cursor);
    return cursor.ok() ? ArrayAttr::get(context, elements) : Attribute();
  }
  case Dictionary:
    return dictionary(cursor);
  case String: {
    StringRef value = container.string(cursor);
    return StringAttr::get(context, value);
  }
  case FlatSymbol: {
    auto root = as<StringAttr>(cursor);
    return root ? FlatSymbolRefAttr::get(root) : Attribute();
  }
  case Symbol: {
    auto root = as<StringAttr>(cursor);
    auto nested = listOf<FlatSymbolRefAttr>(cursor);
    return cursor.ok() ? SymbolRefAttr::get(root, nested) : Attribute();
  }
  case TypeValue: {
    Type value = type(cursor);
    return value ? TypeAttr::get(value) : Attribute();
  }
  case Unit:
    return UnitAttr::get(context);
  case Integer: {
    Type integerType = type(cursor);
    return integer(integerType, cursor);
  }
  case Float: {
    Type floatType = type(cursor);
    return floating(floatType, cursor);
  }
  case DenseArray:
    return denseArray(cursor);
  case DenseElements:
    return denseElements(cursor);
  default:
    return builtinLocation(code, cursor);
  }
}

Attribute Decoder::builtinLocation(uint64_t code, Cursor &cursor) {
  MLIRContext *context = input.context;
  switch (code) {
  case CallSite: {
    LocationAttr callee = location(cursor), caller = location(cursor);
    return cursor.ok() ? Attribute(CallSiteLoc::get(callee, caller)) : Attribute();
  }
  case FileLineColumn: {
    auto file = as<StringAttr>(cursor);
    uint64_t line = cursor.varint(), column = cursor.varint();
    return cursor.ok() ? Attribute(FileLineColLoc::get(file, line, column)) : Attribute();
  }
  case Fused:
  case FusedWithMetadata: {
    SmallVector<Location> locations;
    for (LocationAttr element : listOf<LocationAttr>(cursor))
      if (element)
        locations.push_back(element);
    Attribute metadata = code == FusedWithMetadata ? attribute(cursor) : Attribute();
    return cursor.ok() ? Attribute(LocationAttr(FusedLoc::get(context, locations, metadata)))
                       : Attribute();
  }
  case Name: {
    auto name = as<StringAttr>(cursor);
    LocationAttr child = location(cursor);
    return cursor.ok() ? Attribute(NameLoc::get(name, child)) : Attribute();
  }
  case Unknown:
    return UnknownLoc::get(context);
  case FileRange:
    return fileRange(cursor);
  default:
    cursor.error("builtin attributes of code " + Twine(code) + " are not supported");
    return {};
  }
}

// A line; a line and column; then also an end column, or an end line and
// column. MLIR 19 has no range: its two ends are fused.
Attribute Decoder::fileRange(Cursor &cursor) {
  auto file = as<StringAttr>(cursor);
  SmallVector<unsigned, 4> numbers;
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i)
    numbers.push_back(cursor.varint());
  if (cursor.ok() && numbers.size() > 4)
    cursor.error("a file range of " + Twine(numbers.size()) + " numbers");
  if (!cursor.ok())
    return {};
  size_t given = numbers.size();
  numbers.resize(4);
  auto start = FileLineColLoc::get(file, numbers[0], numbers[1]);
  if (given < 3)
    return start;
  auto end = given == 3 ? FileLineColLoc::get(file, numbers[0], numbers[2])
                        : FileLineColLoc::get(file, numbers[2], numbers[3]);
  if (start == end)
    return start;
  return LocationAttr(
      FusedLoc::get(input.context, {start, end}, StringAttr::get(input.context, "range")));
}

Attribute Decoder::dictionary(Cursor &cursor) {
  SmallVector<NamedAttribute> entries;
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    auto name = as<StringAttr>(cursor);
    Attribute value = attribute(cursor);
    if (cursor.ok() && name.empty())
      cursor.error("an attribute without a name");
    if (cursor.ok())
      entries.emplace_back(name, value);
  }
  if (cursor.ok() && DictionaryAttr::findDuplicate(entries, /*isSorted=*/false))
    cursor.error("an attribute's name occurs twice");
  return cursor.ok() ? DictionaryAttr::get(input.context, entries) : Attribute();
}

// One byte up to 8 bits, else a signed integer. Wider ones do not occur.
Attribute Decoder::integer(Type type, Cursor &cursor) {
  if (!type || !type.isIntOrIndex()) {
    cursor.error("an integer of another type");
    return {};
  }
  unsigned width =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  if (width == 0 || width > 64) {
    cursor.error("integers of " + Twine(width) + " bits are not supported");
    return {};
  }
  uint64_t value = width <= 8 ? cursor.byte() : static_cast<uint64_t>(cursor.signedVarint());
  value &= llvm::maskTrailingOnes<uint64_t>(width);
  return cursor.ok() ? IntegerAttr::get(type, APInt(width, value)) : Attribute();
}

Attribute Decoder::floating(Type type, Cursor &cursor) {
  auto floatType = dyn_cast_or_null<FloatType>(type);
  if (!floatType || floatType.getWidth() > 64) {
    cursor.error("a floating-point number of an unsupported type");
    return {};
  }
  unsigned width = floatType.getWidth();
  uint64_t bits = width <= 8 ? cursor.byte() : static_cast<uint64_t>(cursor.signedVarint());
  bits &= llvm::maskTrailingOnes<uint64_t>(width);
  APFloat value(floatType.getFloatSemantics(), APInt(width, bits));
  return cursor.ok() ? FloatAttr::get(floatType, value) : Attribute();
}

Attribute Decoder::denseArray(Cursor &cursor) {
  Type elementType = type(cursor);
  uint64_t size = cursor.varint();
  StringRef bytes = cursor.bytes(cursor.varint());
  if (!cursor.ok())
    return {};
  unsigned width = elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 0;
  uint64_t elementSize = llvm::divideCeil(width, 8);
  if (elementSize == 0 || (width != 1 && width % 8 != 0) || size > bytes.size() ||
      size * elementSize != bytes.size()) {
    cursor.error("a dense array whose size does not fit its type");
    return {};
  }
  return DenseArrayAttr::get(elementType, size, ArrayRef<char>(bytes.data(), bytes.size()));
}

Attribute Decoder::denseElements(Cursor &cursor) {
  auto shaped = dyn_cast_or_null<ShapedType>(type(cursor));
  StringRef bytes = cursor.bytes(cursor.varint());
  if (!cursor.ok() || !shaped)
    return {};
  return tensorFromBytes(shaped, bytes, /*asConstant=*/false);
}

Type Decoder::builtinType(Cursor &cursor) {
  MLIRContext *context = input.context;
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  uint64_t code = cursor.varint();
  switch (code) {
  case IntegerType_: {
    uint64_t widthAndSign = cursor.varint();
    uint64_t sign = widthAndSign & 3, width = widthAndSign >> 2;
    if (sign > IntegerType::Unsigned || width == 0 || width > 64) {
      cursor.error("an integer type of " + Twine(width) + " bits");
      return {};
    }
    return IntegerType::get(context, width, static_cast<IntegerType::SignednessSemantics>(sign));
  }
  case Index:
    return IndexType::get(context);
  case Function: {
    SmallVector<Type> inputs = types(cursor), results = types(cursor);
    return cursor.ok() ? FunctionType::get(context, inputs, results) : Type();
  }
  case BF16:
    return BFloat16Type::get(context);
  case F16:
    return Float16Type::get(context);
  case F32:
    return Float32Type::get(context);
  case F64:
    return Float64Type::get(context);
  case Complex: {
    Type element = type(cursor);
    return element ? ComplexType::getChecked(emit, element) : Type();
  }
  case MemRef:
    return memref(cursor);
  case None:
    return NoneType::get(context);
  case RankedTensor:
  case RankedTensorWithEncoding:
    return rankedTensor(cursor, code == RankedTensorWithEncoding);
  case Tuple: {
    SmallVector<Type> elements = types(cursor);
    return cursor.ok() ? TupleType::get(context, elements) : Type();
  }
  case UnrankedTensor: {
    Type element = type(cursor);
    return element ? UnrankedTensorType::getChecked(emit, element) : Type();
  }
  default:
    cursor.error("builtin types of code " + Twine(code) + " are not supported");
    return {};
  }
}

// Reads what follows the code of builtin's and of VHLO's ranked tensors alike.
Type Decoder::rankedTensor(Cursor &cursor, bool hasEncoding) {
  Attribute encoding = hasEncoding ? attribute(cursor) : Attribute();
  SmallVector<int64_t> shape = cursor.signedVarints();
  Type element = type(cursor);
  if (!cursor.ok())
    return {};
  // Everyone multiplies dimensions: the product must not overflow.
  int64_t numElements = 1;
  for (int64_t dim : shape)
    if (dim > 0 &&
        (llvm::MulOverflow(numElements, dim, numElements) || numElements > (int64_t(1) << 56))) {
      cursor.error("a tensor with too many elements");
      return {};
    }
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  return RankedTensorType::getChecked(emit, shape, element, encoding);
}

Type Decoder::memref(Cursor &cursor) {
  SmallVector<int64_t> shape = cursor.signedVarints();
  Type element = type(cursor);
  attribute(cursor); // The layout: only the identity occurs.
  auto emit = [&] { return input.diagnose(cursor.offset()); };
  return cursor.ok() ? MemRefType::getChecked(emit, shape, element, MemRefLayoutAttrInterface(),
                                              Attribute())
                     : Type();
}

} // namespace spokeshave::bytecode
