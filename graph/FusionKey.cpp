//===- FusionKey.cpp - what a fusion computes, as text ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/FusionKey.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

std::string FusionKeyWriter::write(FusionOp fusion, ArrayRef<Operation *> maskedOps) {
  key.clear();
  numbers.clear();
  isComplete = true;
  masked = maskedOps;
  outside = nullptr;
  key += std::to_string(unsigned(fusion.getKind())) + ' ';
  // Not the name. Other attributes of the fusion may steer its lowering.
  for (NamedAttribute attribute : fusion->getDiscardableAttrs()) {
    key += attribute.getName().getValue();
    write(attribute.getValue());
  }
  for (Type type : fusion->getOperandTypes())
    write(type);
  for (Type type : fusion->getResultTypes())
    write(type);
  write(fusion.getBody());
  return isComplete ? std::move(key) : std::string();
}

/// The text of an attribute or a type, made once.
template <typename T>
static const std::string &textOf(T value, llvm::DenseMap<const void *, std::string> &texts) {
  auto [entry, isNew] = texts.try_emplace(value.getAsOpaquePointer());
  if (isNew) {
    llvm::raw_string_ostream os(entry->second);
    os << value << ' ';
  }
  return entry->second;
}

void FusionKeyWriter::write(Attribute attribute) {
  const std::string &text = textOf(attribute, texts);
  isComplete &= !llvm::StringRef(text).contains("dense_resource<"); // a name, not the value
  key += text;
}

void FusionKeyWriter::write(Type type) {
  key += textOf(type, texts);
}

void FusionKeyWriter::number(Value value) {
  numbers.try_emplace(value, numbers.size());
  write(value.getType());
}

void FusionKeyWriter::writeOperand(Value operand) {
  if (auto inside = numbers.find(operand); inside != numbers.end()) {
    key += std::to_string(inside->second) + ',';
    return;
  }
  if (!outside) // a fusion has nothing from outside
    return;
  Operation *op = operand.getDefiningOp();
  if (op && op->getNumOperands() == 0 && op->getNumRegions() == 0) {
    key += op->getName().getStringRef();
    write(op->getAttrDictionary());
  } else {
    outside->insert(operand);
    key += 'o' + std::to_string(std::distance(outside->begin(), llvm::find(*outside, operand)));
  }
  write(operand.getType());
}

std::string FusionKeyWriter::write(Operation *root, llvm::SetVector<Value> &outsideValues) {
  key.clear();
  numbers.clear();
  isComplete = true;
  masked = {};
  outside = &outsideValues;
  write(*root);
  return isComplete ? std::move(key) : std::string();
}

void FusionKeyWriter::write(Operation &op) {
  key += op.getName().getStringRef();
  key += '(';
  for (Value operand : op.getOperands())
    writeOperand(operand);
  key += ')';
  // Properties as attributes, too.
  if (!llvm::is_contained(masked, &op))
    write(op.getAttrDictionary());
  for (Value result : op.getResults())
    number(result);
  for (Region &region : op.getRegions())
    write(region);
  key += '\n';
}

void FusionKeyWriter::write(Region &region) {
  key += '{';
  for (Block &block : region) {
    key += '^';
    for (Value argument : block.getArguments())
      number(argument);
    for (Operation &op : block)
      write(op);
  }
  key += '}';
}
