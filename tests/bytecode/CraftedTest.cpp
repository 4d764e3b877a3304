//===- CraftedTest.cpp - bytecode made to hurt its reader ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chance would not find these: attributes that contain themselves, that are
// nested without end or double at each level, counts larger than memory. Each
// must be refused quickly, with a message that says what is wrong.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Reader.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace spokeshave;

namespace {

/// A growing piece of bytecode.
struct Bytes {
  std::string data;

  Bytes &byte(unsigned value) {
    data.push_back(static_cast<char>(value));
    return *this;
  }
  /// The nine-byte form, which fits everything.
  Bytes &wide(uint64_t value) {
    byte(0);
    for (int i = 0; i < 8; ++i)
      byte((value >> (8 * i)) & 0xFF);
    return *this;
  }
  Bytes &varint(uint64_t value) { return value < 128 ? byte((value << 1) | 1) : wide(value); }
  Bytes &text(StringRef value) {
    data += value;
    return *this;
  }
};

/// A file with attributes of the builtin dialect (0) or of vhlo (1), of which
/// the module's attribute dictionary is number 0 and its location number 1.
struct Crafted {
  struct Attribute {
    int dialect;
    std::string bytes;
  };
  std::vector<Attribute> attributes;
  std::vector<std::string> types;
  /// What follows the location and attributes of the module.
  Bytes rest = Bytes().varint(1 << 1 | 0);

  static void addSection(Bytes &file, unsigned id, const std::string &content) {
    file.byte(id).varint(content.size()).text(content);
  }

  std::string build() const {
    const std::vector<std::string> strings = {"builtin", "vhlo", "module", "a.x"};
    Bytes file;
    file.text("ML\xEFR").varint(6).text(StringRef("StableHLO_v1.13.7\0", 18));
    Bytes table, offsets, data;
    table.varint(strings.size());
    for (auto it = strings.rbegin(); it != strings.rend(); ++it)
      table.varint(it->size() + 1);
    for (const std::string &string : strings)
      table.text(string).byte(0);
    addSection(file, 0, table.data);
    // Two dialects without versions; builtin.module, registered.
    addSection(file, 1,
               Bytes()
                   .varint(2)
                   .varint(0 << 1)
                   .varint(1 << 1)
                   .varint(1)
                   .varint(0)
                   .varint(1)
                   .varint(2 << 1 | 1)
                   .data);
    offsets.varint(attributes.size()).varint(types.size());
    for (const Attribute &attribute : attributes) {
      offsets.varint(attribute.dialect).varint(1).varint(attribute.bytes.size() << 1 | 1);
      data.text(attribute.bytes);
    }
    for (const std::string &type : types) {
      offsets.varint(1).varint(1).varint(type.size() << 1 | 1);
      data.text(type);
    }
    addSection(file, 2, data.data);
    addSection(file, 3, offsets.data);
    // One operation without arguments before it: name 0, attributes, location.
    Bytes operations;
    operations.varint(1 << 1).varint(0).byte(1 | 16).varint(1).varint(0).text(rest.data);
    addSection(file, 4, operations.data);
    return file.data;
  }
};

/// {a.x = attribute 2}, and an unknown location.
Crafted craft() {
  Crafted crafted;
  crafted.attributes.push_back({0, Bytes().varint(1).varint(1).varint(3).varint(2).data});
  crafted.attributes.push_back({0, Bytes().varint(15).data});
  crafted.attributes.push_back({0, Bytes().varint(7).data});
  crafted.attributes.push_back({0, Bytes().varint(2).varint(3).data});
  return crafted;
}

/// An array of the given attributes.
Crafted::Attribute arrayOf(std::initializer_list<uint64_t> elements) {
  Bytes bytes;
  bytes.varint(0).varint(elements.size());
  for (uint64_t element : elements)
    bytes.varint(element);
  return {0, bytes.data};
}

/// The messages of reader and verifier; empty if there is a valid module.
std::string messagesOf(const std::string &bytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string messages;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  auto module = readPortableBytecode(bytes, &context);
  EXPECT_NE(succeeded(module) && succeeded(verify(**module)), !messages.empty());
  return messages;
}

#define EXPECT_REFUSED(CRAFTED, WHAT)                                                              \
  do {                                                                                             \
    std::string messages = messagesOf((CRAFTED).build());                                          \
    EXPECT_NE(messages.find(WHAT), std::string::npos) << messages;                                 \
  } while (false)

/// A module's region with one empty block, as the section of an isolated
/// operation.
Bytes emptyBody() {
  Bytes region = Bytes().varint(1).varint(0).varint(0);
  Bytes rest;
  rest.varint(1 << 1 | 1).byte(4).varint(region.data.size()).text(region.data);
  return rest;
}

TEST(Crafted, TheHarmlessOneIsRead) {
  Crafted crafted = craft();
  crafted.rest = emptyBody();
  EXPECT_EQ(messagesOf(crafted.build()), "");
}

TEST(Crafted, AttributeInItself) {
  Crafted crafted = craft();
  crafted.attributes[2] = arrayOf({2});
  EXPECT_REFUSED(crafted, "contains itself");
}

TEST(Crafted, AttributesInACircle) {
  Crafted crafted = craft();
  crafted.attributes[2] = arrayOf({4});
  crafted.attributes.push_back(arrayOf({5}));
  crafted.attributes.push_back(arrayOf({2}));
  EXPECT_REFUSED(crafted, "contains itself");
}

TEST(Crafted, DeepAttribute) {
  Crafted crafted = craft();
  crafted.attributes[2] = arrayOf({4});
  for (uint64_t i = 4; i < 100000; ++i)
    crafted.attributes.push_back(arrayOf({i + 1}));
  EXPECT_REFUSED(crafted, "nested too deeply");
}

TEST(Crafted, DoublingAttribute) {
  Crafted crafted = craft();
  crafted.attributes[2] = arrayOf({4, 4});
  for (uint64_t i = 4; i < 100; ++i)
    crafted.attributes.push_back(arrayOf({i + 1, i + 1}));
  crafted.attributes.push_back({0, Bytes().varint(7).data});
  EXPECT_REFUSED(crafted, "too large when written out");
}

TEST(Crafted, LongerThanTheFile) {
  Crafted crafted = craft();
  crafted.attributes[2] = {0, Bytes().varint(0).wide(uint64_t(1) << 40).data};
  EXPECT_REFUSED(crafted, "a count of");
}

TEST(Crafted, AttributeThatIsNotThere) {
  Crafted crafted = craft();
  crafted.attributes[2] = arrayOf({1000});
  EXPECT_REFUSED(crafted, "attribute or type 1000 of 4");
}

TEST(Crafted, TensorTooLarge) {
  // vhlo: a tensor of 2^40 x 2^40 f32 whose one value stands for all.
  Crafted crafted = craft();
  crafted.attributes[2] = {1, Bytes().varint(15).varint(0).varint(4).text("abcd").data};
  crafted.types.push_back(
      Bytes().varint(20).varint(2).wide(uint64_t(1) << 41).wide(uint64_t(1) << 41).varint(1).data);
  crafted.types.push_back(Bytes().varint(4).data);
  EXPECT_REFUSED(crafted, "too many elements");
}

TEST(Crafted, TensorOfTheWrongSize) {
  Crafted crafted = craft();
  crafted.attributes[2] = {1, Bytes().varint(15).varint(0).varint(5).text("abcde").data};
  crafted.types.push_back(Bytes().varint(20).varint(1).varint(3 << 1).varint(1).data);
  crafted.types.push_back(Bytes().varint(4).data);
  EXPECT_REFUSED(crafted, "invalid attribute");
}

TEST(Crafted, ManyRegions) {
  Crafted crafted = craft();
  crafted.rest = Bytes().wide(uint64_t(1) << 41 | 1);
  EXPECT_REFUSED(crafted, "regions");
}

TEST(Crafted, ManyBlocks) {
  Crafted crafted = craft();
  Bytes region = Bytes().wide(uint64_t(1) << 40).varint(0).varint(0);
  crafted.rest = Bytes().varint(1 << 1 | 1).byte(4).varint(region.data.size()).text(region.data);
  EXPECT_REFUSED(crafted, "a count of");
}

TEST(Crafted, DeepRegions) {
  // Modules in modules, each the only operation of its parent.
  Crafted crafted = craft();
  Bytes body = emptyBody();
  for (int i = 0; i < 2000; ++i) {
    Bytes region = Bytes().varint(1).varint(0).varint(1 << 1);
    region.varint(0).byte(1 | 16).varint(1).varint(0).text(body.data);
    body = Bytes().varint(1 << 1 | 1).byte(4).varint(region.data.size()).text(region.data);
  }
  crafted.rest = body;
  EXPECT_REFUSED(crafted, "nested too deeply");
}

} // namespace
