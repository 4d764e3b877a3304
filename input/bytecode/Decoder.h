//===- Decoder.h - attributes and types of portable bytecode ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes attributes and types on demand, each once. VHLO's become builtin and
// StableHLO ones at once: a vhlo array is an ArrayAttr, a vhlo f32 is f32.
// The dialects' codes are in DecodeBuiltin.cpp, DecodeVhlo.cpp, DecodeSdy.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/bytecode/Container.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace spokeshave::bytecode {

class Decoder {
public:
  Decoder(Input &input, const Container &container);

  /// The attribute or type of an index; null after an error.
  mlir::Attribute attribute(uint64_t index);
  mlir::Type type(uint64_t index);
  /// A tensor as the value of a constant: large ones become resources.
  mlir::Attribute constant(uint64_t index);

  // What follows reads an index at the cursor first.
  mlir::Attribute attribute(Cursor &cursor) { return attribute(cursor.varint()); }
  mlir::Type type(Cursor &cursor) { return type(cursor.varint()); }
  llvm::SmallVector<mlir::Attribute> attributes(Cursor &cursor);
  llvm::SmallVector<mlir::Type> types(Cursor &cursor);
  mlir::LocationAttr location(Cursor &cursor);
  /// An attribute that may be absent.
  mlir::Attribute optionalAttribute(Cursor &cursor);

  /// The attribute at the cursor as a T; anything else is an error.
  template <typename T> T as(Cursor &cursor) { return checked<T>(attribute(cursor), cursor); }
  template <typename T> llvm::SmallVector<T> listOf(Cursor &cursor) {
    llvm::SmallVector<T> list;
    uint64_t count = cursor.count();
    for (uint64_t i = 0; i < count && cursor.ok(); ++i)
      list.push_back(as<T>(cursor));
    return list;
  }

private:
  enum class State : uint8_t { Unread, Reading, Read };
  struct Slot {
    const void *value = nullptr;
    State state = State::Unread;
    uint64_t size = 0; ///< Nodes of the tree that it is when written out.
  };
  using Decode = const void *(Decoder::*)(const Entry &, Cursor &);

  template <typename T> T checked(mlir::Attribute attribute, Cursor &cursor) {
    auto result = mlir::dyn_cast_or_null<T>(attribute);
    if (!result && cursor.ok())
      cursor.error("an attribute of the wrong kind");
    return result;
  }

  const void *resolve(uint64_t index, llvm::ArrayRef<Entry> entries,
                      llvm::MutableArrayRef<Slot> slots, Decode decode);
  const void *decodeAttribute(const Entry &entry, Cursor &cursor);
  const void *decodeConstant(const Entry &entry, Cursor &cursor);
  const void *decodeType(const Entry &entry, Cursor &cursor);
  mlir::Attribute parseAttributeText(Cursor &cursor);
  mlir::Type parseTypeText(Cursor &cursor);
  bool isShallow(llvm::StringRef text, Cursor &cursor);

  // DecodeBuiltin.cpp
  mlir::Attribute builtinAttribute(Cursor &cursor);
  mlir::Attribute builtinLocation(uint64_t code, Cursor &cursor);
  mlir::Attribute fileRange(Cursor &cursor);
  mlir::Attribute dictionary(Cursor &cursor);
  mlir::Attribute denseArray(Cursor &cursor);
  mlir::Attribute denseElements(Cursor &cursor);
  mlir::Type builtinType(Cursor &cursor);
  mlir::Attribute integer(mlir::Type type, Cursor &cursor);
  mlir::Attribute floating(mlir::Type type, Cursor &cursor);
  mlir::Type rankedTensor(Cursor &cursor, bool hasEncoding);
  mlir::Type memref(Cursor &cursor);

  // DecodeVhlo.cpp
  mlir::Attribute vhloAttribute(Cursor &cursor);
  mlir::Attribute vhloEnum(uint64_t code, Cursor &cursor);
  mlir::Attribute vhloCollective(uint64_t code, Cursor &cursor);
  mlir::Attribute vhloDictionary(Cursor &cursor);
  mlir::Attribute vhloResultAccuracy(Cursor &cursor);
  mlir::Attribute vhloMesh(Cursor &cursor);
  mlir::Type vhloType(Cursor &cursor);
  mlir::Type vhloScalarType(uint64_t code);
  mlir::Type quantized(Cursor &cursor, bool perAxis);
  mlir::Attribute stablehloAttribute(Cursor &cursor);
  mlir::Type stablehloType(Cursor &cursor);

  // DecodeSdy.cpp
  mlir::Attribute sdyAttribute(Cursor &cursor);
  mlir::Attribute sdyList(uint64_t code, Cursor &cursor);
  mlir::Attribute sdyTensorSharding(Cursor &cursor, bool hasUnreduced, bool hasReduction);
  mlir::Attribute sdyShardingRule(Cursor &cursor);

  Input &input;
  const Container &container;
  llvm::SmallVector<Slot> attributeSlots;
  llvm::SmallVector<Slot> constantSlots;
  llvm::SmallVector<Slot> typeSlots;
  unsigned depth = 0;
  uint64_t treeSize = 0; ///< Of what is being decoded, so far.
};

/// The values of a tensor of `type` from its bytes as bytecode has them: bools
/// are packed, one element stands for all. Large ones that are not splats
/// become a resource when `asConstant`. Null if the size does not fit.
mlir::Attribute tensorFromBytes(mlir::ShapedType type, llvm::StringRef bytes, bool asConstant);

/// `elements` as the value of a constant: large ones become a resource.
mlir::Attribute asConstantValue(mlir::DenseElementsAttr elements);

} // namespace spokeshave::bytecode
