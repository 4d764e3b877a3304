//===- Operations.cpp - the operations of portable bytecode ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the section of operations and builds each as its row of OpTable.cpp
// says. Values are numbered in the order of their definition within a region
// that is isolated from above, and may only be used after it.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Operations.h"

#include "input/bytecode/Convert.h"
#include "input/bytecode/Decoder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace spokeshave::bytecode {

namespace {

// Deeper than any program that JAX writes; passes recurse over regions, too.
constexpr unsigned maxRegionDepth = 128;

/// Which parts an operation has.
enum OpMask : uint8_t {
  HasAttributes = 1 << 0,
  HasResults = 1 << 1,
  HasOperands = 1 << 2,
  HasSuccessors = 1 << 3,
  HasRegions = 1 << 4,
  HasUseListOrders = 1 << 5,
  HasProperties = 1 << 6,
};

/// The values that can be used at a point. Entering a region announces how many
/// it will define; leaving it forgets them.
class ValueScope {
public:
  void enter(uint64_t numValues) {
    starts.push_back(values.size());
    next.push_back(values.size());
    values.resize(values.size() + numValues);
  }
  void leave() {
    values.resize(starts.pop_back_val());
    next.pop_back();
  }
  bool define(Value value) {
    if (next.back() >= values.size())
      return false;
    values[next.back()++] = value;
    return true;
  }
  Value get(uint64_t id) const { return id < values.size() ? values[id] : Value(); }

private:
  SmallVector<Value> values;
  SmallVector<size_t> starts;
  SmallVector<size_t> next;
};

class OperationReader {
public:
  OperationReader(Input &input, const Container &container)
      : input(input), container(container), decoder(input, container),
        specs(container.opNames.size()) {}

  OwningOpRef<ModuleOp> read();

private:
  void readBlocks(Cursor &cursor, MutableArrayRef<Block *> blocks);
  void readArguments(Cursor &cursor, Block *block);
  void skipUseListOrders(Cursor &cursor, uint64_t numValues);
  void readOperation(Cursor &cursor, Block *block, ArrayRef<Block *> siblings);
  void readAttributes(Cursor &cursor, uint8_t mask, const OpSpec &spec, OperationState &state);
  void readProperties(Cursor &cursor, const OpSpec &spec, AttributeConverter &converter);
  SmallVector<Value> readOperands(Cursor &cursor);
  void forwardCast(Location location, ArrayRef<Value> operands, ArrayRef<Type> types);
  void finish(Cursor &cursor, OperationState &state, Block *block, uint8_t mask);
  void readRegions(Cursor &cursor, Operation *op, uint64_t count, bool isIsolated);
  void readRegion(Cursor &cursor, Region &region);
  void define(Location location, Value value);
  const OpSpec *specOf(Cursor &cursor, Block *block, Location location, uint64_t nameIndex);

  Input &input;
  const Container &container;
  Decoder decoder;
  SmallVector<std::optional<OpSpec>> specs; ///< By operation name, once looked up.
  SmallVector<ValueScope> scopes;
  unsigned depth = 0;
};

OwningOpRef<ModuleOp> OperationReader::read() {
  // The file's only operation is read into a module that is thrown away.
  OwningOpRef<ModuleOp> holder = ModuleOp::create(UnknownLoc::get(input.context));
  Cursor cursor(input, container.operations);
  scopes.emplace_back().enter(0);
  Block *body = holder->getBody();
  readBlocks(cursor, body);
  if (cursor.ok() && !cursor.empty())
    cursor.error("unexpected bytes after the operations");
  if (!input.ok())
    return {};
  if (!llvm::hasSingleElement(*body) || !isa<ModuleOp>(body->front())) {
    cursor.error("the program is not one module");
    return {};
  }
  auto module = cast<ModuleOp>(body->front());
  module->remove();
  return module;
}

void OperationReader::readBlocks(Cursor &cursor, MutableArrayRef<Block *> blocks) {
  for (Block *block : blocks) {
    auto [numOps, hasArguments] = cursor.flagged();
    if (hasArguments)
      readArguments(cursor, block);
    for (uint64_t i = 0; i < numOps && cursor.ok(); ++i)
      readOperation(cursor, block, blocks);
    if (!cursor.ok())
      return;
  }
}

void OperationReader::readArguments(Cursor &cursor, Block *block) {
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    uint64_t typeIndex;
    bool hasLocation = true;
    if (container.version < OptionalArgumentLocations)
      typeIndex = cursor.varint();
    else
      std::tie(typeIndex, hasLocation) = cursor.flagged();
    Type type = decoder.type(typeIndex);
    LocationAttr location =
        hasLocation ? decoder.location(cursor) : LocationAttr(UnknownLoc::get(input.context));
    if (cursor.ok())
      define(location, block->addArgument(type, location));
  }
  if (container.version >= UseListOrders && cursor.ok() && cursor.byte())
    skipUseListOrders(cursor, count);
}

// In which order a value's uses are listed has no meaning for a program.
void OperationReader::skipUseListOrders(Cursor &cursor, uint64_t numValues) {
  uint64_t count = numValues > 1 ? cursor.count() : 1;
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    if (numValues > 1)
      cursor.varint();
    uint64_t numIndices = cursor.flagged().first;
    for (uint64_t j = 0; j < numIndices && cursor.ok(); ++j)
      cursor.varint();
  }
}

void OperationReader::define(Location location, Value value) {
  if (input.ok() && !scopes.back().define(value))
    input.error(location, "more values are defined than the region announced");
}

const OpSpec *OperationReader::specOf(Cursor &cursor, Block *block, Location location,
                                      uint64_t nameIndex) {
  const OpName &name = container.opNames[nameIndex];
  std::optional<OpSpec> &spec = specs[nameIndex];
  if (!spec)
    spec = lookUpOp(container.dialects[name.dialect], name.name);
  if (!spec)
    input.error(location, "unsupported operation '" + container.dialects[name.dialect] + "." +
                              name.name + "' in a program that was serialized by " +
                              container.producer);
  return spec ? &*spec : nullptr;
}

void OperationReader::readOperation(Cursor &cursor, Block *block, ArrayRef<Block *> siblings) {
  uint64_t nameIndex = cursor.varint();
  if (cursor.ok() && nameIndex >= container.opNames.size())
    cursor.error("operation name " + Twine(nameIndex));
  uint8_t mask = cursor.byte();
  LocationAttr location = decoder.location(cursor);
  const OpSpec *spec = cursor.ok() ? specOf(cursor, block, location, nameIndex) : nullptr;
  if (!spec)
    return;

  bool isReturn = spec->name == "stablehlo.return" && isa<func::FuncOp>(block->getParentOp());
  OperationState state(location, isReturn ? StringRef("func.return") : StringRef(spec->name));
  readAttributes(cursor, mask, *spec, state);
  if (mask & HasResults)
    state.addTypes(decoder.types(cursor));
  if (mask & HasOperands)
    state.addOperands(readOperands(cursor));
  if (mask & HasSuccessors) {
    uint64_t count = cursor.count();
    for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
      uint64_t index = cursor.varint();
      if (cursor.ok() && index >= siblings.size())
        cursor.error("successor " + Twine(index));
      if (cursor.ok())
        state.addSuccessors(siblings[index]);
    }
  }
  if (container.version >= UseListOrders && (mask & HasUseListOrders))
    skipUseListOrders(cursor, state.types.size());
  if (!cursor.ok())
    return;
  if (spec->name == "builtin.unrealized_conversion_cast")
    return forwardCast(location, state.operands, state.types);
  finish(cursor, state, block, mask);
}

void OperationReader::readAttributes(Cursor &cursor, uint8_t mask, const OpSpec &spec,
                                     OperationState &state) {
  AttributeConverter converter(input, state.location, spec);
  auto isProperty = [&](StringRef name) {
    return llvm::any_of(spec.properties, [&](const Property &p) { return p.name == name; });
  };
  if (mask & HasAttributes) {
    auto dictionary = decoder.as<DictionaryAttr>(cursor);
    if (!dictionary)
      return;
    // Before version 5 of the format all attributes are in the dictionary.
    for (NamedAttribute attribute : dictionary)
      if (isProperty(attribute.getName()))
        converter.add(attribute.getName(), attribute.getValue());
      else
        state.attributes.push_back(attribute);
  }
  if (container.version >= Properties && (mask & HasProperties))
    readProperties(cursor, spec, converter);
  if (cursor.ok())
    converter.convert(state.attributes);
}

void OperationReader::readProperties(Cursor &cursor, const OpSpec &spec,
                                     AttributeConverter &converter) {
  uint64_t index = cursor.varint();
  if (cursor.ok() && index >= container.properties.size())
    cursor.error("properties " + Twine(index));
  if (!cursor.ok())
    return;
  Cursor values(input, container.properties[index]);
  for (const Property &property : spec.properties) {
    Attribute value;
    if (property.isOptional)
      value = decoder.optionalAttribute(values);
    else if (property.conversion == Conversion::Constant)
      value = decoder.constant(values.varint());
    else
      value = decoder.attribute(values);
    if (!values.ok())
      return;
    if (value)
      converter.add(property.name, value);
  }
  if (!values.empty())
    values.error("'" + spec.name + "' has more properties than are known");
}

SmallVector<Value> OperationReader::readOperands(Cursor &cursor) {
  SmallVector<Value> operands;
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    uint64_t id = cursor.varint();
    Value value = cursor.ok() ? scopes.back().get(id) : Value();
    if (!value && cursor.ok())
      cursor.error("value " + Twine(id) + " is used before it is defined");
    operands.push_back(value);
  }
  return operands;
}

// Casts stand between VHLO's types and the builtin types of sdy operations.
// Decoded, the types are the same.
void OperationReader::forwardCast(Location location, ArrayRef<Value> operands,
                                  ArrayRef<Type> types) {
  if (operands.size() != types.size())
    return input.error(location, "a conversion between different numbers of values");
  for (auto [operand, type] : llvm::zip(operands, types)) {
    if (operand.getType() != type)
      return input.error(location, "a conversion between different types");
    define(location, operand);
  }
}

void OperationReader::finish(Cursor &cursor, OperationState &state, Block *block, uint8_t mask) {
  uint64_t numRegions = 0;
  bool isIsolated = false;
  if (mask & HasRegions)
    std::tie(numRegions, isIsolated) = cursor.flagged();
  if (cursor.ok() && numRegions > cursor.remaining())
    cursor.error("an operation with " + Twine(numRegions) + " regions");
  if (!cursor.ok())
    return;
  for (uint64_t i = 0; i < numRegions; ++i)
    state.addRegion();
  Operation *op = Operation::create(state);
  block->push_back(op);
  // MLIR silently drops attributes whose kind is not that of the property.
  for (NamedAttribute attribute : state.attributes)
    if (op->getAttr(attribute.getName()) != attribute.getValue())
      return input.error(state.location, "'" + op->getName().getStringRef() + "' with attribute '" +
                                             attribute.getName().getValue() +
                                             "' of the wrong kind");
  for (Value result : op->getResults())
    define(state.location, result);
  if (numRegions != 0)
    readRegions(cursor, op, numRegions, isIsolated);
}

void OperationReader::readRegions(Cursor &cursor, Operation *op, uint64_t count, bool isIsolated) {
  if (++depth > maxRegionDepth)
    input.error(op->getLoc(), "regions are nested too deeply");
  // The regions of an isolated operation are a section, so that they could be
  // read later.
  Cursor inner = cursor;
  bool isSection = isIsolated && container.version >= IsolatedSections;
  if (isSection) {
    Cursor::Section section = cursor.section();
    inner = Cursor(input, section.range);
  }
  if (isIsolated)
    scopes.emplace_back();
  for (uint64_t i = 0; i < count && input.ok(); ++i)
    readRegion(inner, op->getRegion(i));
  if (isIsolated)
    scopes.pop_back();
  if (!isSection)
    cursor = inner;
  else if (input.ok() && !inner.empty())
    inner.error("unexpected bytes after a region");
  --depth;
}

void OperationReader::readRegion(Cursor &cursor, Region &region) {
  uint64_t numBlocks = cursor.count();
  if (numBlocks == 0)
    return;
  uint64_t numValues = cursor.count();
  if (!cursor.ok())
    return;
  SmallVector<Block *> blocks;
  for (uint64_t i = 0; i < numBlocks; ++i)
    blocks.push_back(&region.emplaceBlock());
  scopes.back().enter(numValues);
  readBlocks(cursor, blocks);
  scopes.back().leave();
}

} // namespace

OwningOpRef<ModuleOp> readOperations(Input &input, const Container &container) {
  return OperationReader(input, container).read();
}

} // namespace spokeshave::bytecode
