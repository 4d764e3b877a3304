//===- ReaderTest.cpp - bytecode decodes to what its text says -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every program of the corpus is there as bytecode and as the text that the
// public StableHLO reader made of that bytecode: both must be the same module.
//
//===----------------------------------------------------------------------===//
#include "tests/bytecode/Corpus.h"

#include "input/Reader.h"
#include "input/StablehloOps.h"
#include "input/bytecode/OpTable.h"
#include "input/bytecode/Reader.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace spokeshave;

namespace {

/// A large constant as the text parser would have it.
DenseElementsAttr inlineResource(DenseResourceElementsAttr resource) {
  ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
  ShapedType type = resource.getType();
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, data);
  SmallVector<bool> values(data.begin(), data.end());
  return DenseElementsAttr::get(type, values);
}

void inlineResources(ModuleOp module) {
  module.walk([](stablehlo::ConstantOp op) {
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
      op->setAttr("value", inlineResource(resource));
  });
}

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

/// The text of a program; another version's differs only where it has its own.
std::string textOf(const std::string &name) {
  std::string own = test::readFile(test::corpusFolder() + "/" + name + ".mlir");
  if (!own.empty())
    return own;
  return test::readFile(test::corpusFolder() + "/" + name.substr(0, name.find('@')) + ".mlir");
}

std::string bytesOf(const std::string &name) {
  return test::readFile(test::corpusFolder() + "/" + name + ".mlirbc");
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, DecodesToItsText) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto decoded = readProgram(bytesOf(GetParam()), GetParam(), &context);
  ASSERT_TRUE(decoded);
  auto parsed = readProgram(textOf(GetParam()), GetParam() + ".mlir", &context);
  ASSERT_TRUE(parsed);
  inlineResources(*decoded);
  if (!OperationEquivalence::isEquivalentTo(*decoded, *parsed,
                                            OperationEquivalence::IgnoreLocations))
    EXPECT_EQ(print(*decoded), print(*parsed)) << "the modules are not equivalent";
}

INSTANTIATE_TEST_SUITE_P(Bytecode, Corpus, testing::ValuesIn(test::corpusPrograms()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = isalnum(c) ? c : '_';
                           return name;
                         });

TEST(Reader, CorpusIsThere) {
  EXPECT_GE(test::corpusPrograms().size(), 20u);
}

TEST(Reader, LargeConstantsAreResources) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readProgram(bytesOf("large_constant"), "large_constant", &context);
  ASSERT_TRUE(module);
  int resources = 0, small = 0;
  module->walk([&](stablehlo::ConstantOp op) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    resources += resource ? 1 : 0;
    small += resource ? 0 : 1;
    if (resource) {
      EXPECT_GE(resource.getRawHandle().getBlob()->getData().size(), 4096u);
    }
  });
  EXPECT_GE(resources, 1);
  EXPECT_GE(small, 1);
}

TEST(Reader, UserSourceLinesSurvive) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readProgram(bytesOf("add_one"), "add_one", &context);
  ASSERT_TRUE(module);
  int found = 0;
  module->walk([&](stablehlo::AddOp op) {
    op.getLoc()->walk([&](Location location) {
      auto file = dyn_cast<FileLineColLoc>(location);
      found += file && file.getFilename().getValue().ends_with("generate.py") && file.getLine() > 0;
      return WalkResult::advance();
    });
  });
  EXPECT_GE(found, 1);
}

/// The code of the error that reading gives, and its message.
std::pair<StringRef, std::string> errorOf(StringRef program) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readValidProgram(program, "p", context);
  if (module)
    return {};
  std::unique_ptr<Error> error = takeError(module.takeError());
  return {nameOf(error->getCode()), error->getMessage()};
}

TEST(Reader, WhatCannotBeReadAndWhatIsInvalidDiffer) {
  EXPECT_EQ(errorOf("func.func @main(").first, "SKS-U001");
  EXPECT_EQ(errorOf(StringRef("ML\xEFR\x0D", 5)).first, "SKS-U001");
  auto [code, message] = errorOf(R"(
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })");
  EXPECT_EQ(code, "SKS-U002");
  for (const char *part : {"p:3", "transpose_c2"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

// Bytecode stores properties in the order of their names.
TEST(OpTable, PropertiesAreSorted) {
  EXPECT_GE(bytecode::allSerializedOps().size(), 144u);
  std::set<std::string> seen;
  for (const std::string &op : bytecode::allSerializedOps()) {
    EXPECT_TRUE(seen.insert(op).second) << op << " occurs twice";
    auto [dialect, name] = StringRef(op).split('.');
    auto spec = bytecode::lookUpOp(dialect, name);
    ASSERT_TRUE(spec) << op;
    EXPECT_TRUE(llvm::is_sorted(spec->properties, [](auto &a, auto &b) { return a.name < b.name; }))
        << op;
  }
}

// Every StableHLO operation of the table exists, with the attributes it names.
TEST(OpTable, NamesOperationsThatExist) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readProgram("module {}", "empty", &context);
  for (const std::string &op : bytecode::allSerializedOps()) {
    auto [dialect, name] = StringRef(op).split('.');
    auto spec = bytecode::lookUpOp(dialect, name);
    auto registered = RegisteredOperationName::lookup(spec->name, &context);
    ASSERT_TRUE(registered) << op << " becomes " << spec->name;
    for (const bytecode::Property &property : spec->properties) {
      if (property.conversion == bytecode::Conversion::Part ||
          property.conversion == bytecode::Conversion::Nothing)
        continue;
      StringRef attribute =
          property.conversion == bytecode::Conversion::Channel ? "channel_handle" : property.name;
      EXPECT_TRUE(llvm::any_of(registered->getAttributeNames(),
                               [&](StringAttr known) { return known == attribute; }))
          << spec->name << " has no attribute " << attribute.str();
    }
  }
}

} // namespace
