//===- Decoder.cpp - attributes and types of portable bytecode -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the dialects have in common: decoding on demand, lists, and the
// attributes that their dialect wrote as text.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Decoder.h"

#include "mlir/AsmParser/AsmParser.h"

#include <utility>

using namespace mlir;

namespace spokeshave::bytecode {

// Attributes refer to each other by index, so a malformed file can describe a
// chain of any depth, or a cycle. The stack of a caller's thread may be small.
static constexpr unsigned maxDepth = 400;

// What refers twice to something that refers twice to something doubles at
// each level when it is printed, so the size of the tree is limited, too.
static constexpr uint64_t maxTreeSize = 1 << 22;

Decoder::Decoder(Input &input, const Container &container)
    : input(input), container(container), attributeSlots(container.attributes.size()),
      constantSlots(container.attributes.size()), typeSlots(container.types.size()) {}

const void *Decoder::resolve(uint64_t index, ArrayRef<Entry> entries, MutableArrayRef<Slot> slots,
                             Decode decode) {
  if (!input.ok())
    return nullptr;
  if (index >= entries.size()) {
    input.error(0, "attribute or type " + Twine(index) + " of " + Twine(entries.size()));
    return nullptr;
  }
  Slot &slot = slots[index];
  if (slot.state == State::Read) {
    treeSize += slot.size;
    return slot.value;
  }
  const Entry &entry = entries[index];
  if (slot.state == State::Reading || depth >= maxDepth) {
    input.error(entry.range.begin, slot.state == State::Reading
                                       ? "an attribute or type that contains itself"
                                       : "attributes or types are nested too deeply");
    return nullptr;
  }
  slot.state = State::Reading;
  ++depth;
  uint64_t outerSize = std::exchange(treeSize, 1);
  Cursor cursor(input, entry.range);
  slot.value = (this->*decode)(entry, cursor);
  --depth;
  slot.state = State::Read;
  slot.size = treeSize;
  treeSize += outerSize;
  if (cursor.ok() && slot.size > maxTreeSize)
    cursor.error("an attribute or type is too large when written out");
  if (cursor.ok() && !cursor.empty())
    cursor.error("unexpected bytes after an attribute or type");
  if (cursor.ok() && !slot.value)
    cursor.error("an invalid attribute or type");
  return input.ok() ? slot.value : nullptr;
}

Attribute Decoder::attribute(uint64_t index) {
  return Attribute::getFromOpaquePointer(
      resolve(index, container.attributes, attributeSlots, &Decoder::decodeAttribute));
}

Attribute Decoder::constant(uint64_t index) {
  return Attribute::getFromOpaquePointer(
      resolve(index, container.attributes, constantSlots, &Decoder::decodeConstant));
}

Type Decoder::type(uint64_t index) {
  return Type::getFromOpaquePointer(
      resolve(index, container.types, typeSlots, &Decoder::decodeType));
}

SmallVector<Attribute> Decoder::attributes(Cursor &cursor) {
  return listOf<Attribute>(cursor);
}

SmallVector<Type> Decoder::types(Cursor &cursor) {
  SmallVector<Type> list;
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i)
    list.push_back(type(cursor));
  return list;
}

LocationAttr Decoder::location(Cursor &cursor) {
  return as<LocationAttr>(cursor);
}

Attribute Decoder::optionalAttribute(Cursor &cursor) {
  auto [index, isPresent] = cursor.flagged();
  return isPresent ? attribute(index) : Attribute();
}

const void *Decoder::decodeAttribute(const Entry &entry, Cursor &cursor) {
  StringRef dialect = container.dialects[entry.dialect];
  Attribute attribute;
  if (!entry.hasEncoding)
    attribute = parseAttributeText(cursor);
  else if (dialect == "builtin")
    attribute = builtinAttribute(cursor);
  else if (dialect == "vhlo")
    attribute = vhloAttribute(cursor);
  else if (dialect == "sdy")
    attribute = sdyAttribute(cursor);
  else if (dialect == "stablehlo")
    attribute = stablehloAttribute(cursor);
  else
    cursor.error("attributes of dialect '" + dialect + "' are not supported");
  return attribute.getAsOpaquePointer();
}

const void *Decoder::decodeConstant(const Entry &entry, Cursor &cursor) {
  constexpr uint64_t vhloTensor = 15;
  Cursor start = cursor;
  if (!entry.hasEncoding || container.dialects[entry.dialect] != "vhlo" ||
      cursor.varint() != vhloTensor) {
    cursor = start;
    return decodeAttribute(entry, cursor);
  }
  auto shaped = dyn_cast_or_null<ShapedType>(type(cursor));
  StringRef bytes = cursor.bytes(cursor.varint());
  if (!cursor.ok())
    return nullptr;
  return shaped ? tensorFromBytes(shaped, bytes, /*asConstant=*/true).getAsOpaquePointer()
                : nullptr;
}

const void *Decoder::decodeType(const Entry &entry, Cursor &cursor) {
  StringRef dialect = container.dialects[entry.dialect];
  Type type;
  if (!entry.hasEncoding)
    type = parseTypeText(cursor);
  else if (dialect == "builtin")
    type = builtinType(cursor);
  else if (dialect == "vhlo")
    type = vhloType(cursor);
  else if (dialect == "stablehlo")
    type = stablehloType(cursor);
  else
    cursor.error("types of dialect '" + dialect + "' are not supported");
  return type.getAsOpaquePointer();
}

// MLIR's parser descends recursively: refuse what would exhaust the stack.
bool Decoder::isShallow(StringRef text, Cursor &cursor) {
  constexpr int maxNesting = 100;
  int nesting = 0;
  for (char c : text) {
    if (StringRef("<[({").contains(c) && ++nesting > maxNesting) {
      cursor.error("the text of an attribute or type is nested too deeply");
      return false;
    }
    if (StringRef(">])}").contains(c))
      --nesting;
  }
  return cursor.ok();
}

Attribute Decoder::parseAttributeText(Cursor &cursor) {
  StringRef text = cursor.zeroTerminated();
  return isShallow(text, cursor) ? mlir::parseAttribute(text, input.context) : Attribute();
}

Type Decoder::parseTypeText(Cursor &cursor) {
  StringRef text = cursor.zeroTerminated();
  return isShallow(text, cursor) ? mlir::parseType(text, input.context) : Type();
}

} // namespace spokeshave::bytecode
