//===- DamageTest.cpp - damaged bytecode is an error, nothing worse --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Real programs are cut short, and their bytes changed, in a way that is the
// same each time. Whatever is read must be a module that verifies; whatever is
// not must come with a message. tests/fuzz looks for more.
//
//===----------------------------------------------------------------------===//
#include "tests/bytecode/Corpus.h"

#include "input/bytecode/Reader.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace spokeshave;

namespace {

/// Reads `bytes`; the number of errors reported, 0 if a module came out.
/// Contexts are dear, so one serves many programs.
class DamagedReader {
public:
  DamagedReader() : context(MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
  }

  void check(StringRef bytes) {
    errors = 0;
    FailureOr<OwningOpRef<ModuleOp>> module = readPortableBytecode(bytes, &context);
    if (failed(module) || failed(verify(**module))) {
      ++rejected;
      EXPECT_GE(errors, 1) << "rejected without a message";
      return;
    }
    ++accepted;
    EXPECT_EQ(errors, 0) << "accepted with an error";
  }

  int rejected = 0, accepted = 0;

private:
  MLIRContext context;
  int errors = 0;
};

std::string bytesOf(const std::string &name) {
  return test::readFile(test::corpusFolder() + "/" + name + ".mlirbc");
}

class Damage : public testing::TestWithParam<std::string> {};

TEST_P(Damage, EveryTruncationIsRejected) {
  std::string bytes = bytesOf(GetParam());
  ASSERT_FALSE(bytes.empty());
  DamagedReader reader;
  for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 37)
    reader.check(StringRef(bytes).take_front(size));
  EXPECT_EQ(reader.accepted, 0);
}

TEST_P(Damage, ChangedBytesAreHarmless) {
  std::string bytes = bytesOf(GetParam());
  ASSERT_FALSE(bytes.empty());
  DamagedReader reader;
  std::mt19937 random(20240229);
  for (int round = 0; round < 150; ++round) {
    std::string damaged = bytes;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      size_t at = random() % damaged.size();
      // Single bits, and the values at which encodings change.
      const uint8_t extremes[] = {0x00, 0x01, 0x02, 0x7F, 0x80, 0xFE, 0xFF};
      damaged[at] = random() % 2 ? static_cast<char>(damaged[at] ^ (1 << random() % 8))
                                 : static_cast<char>(extremes[random() % std::size(extremes)]);
    }
    reader.check(damaged);
  }
  EXPECT_GT(reader.rejected, 0);
}

INSTANTIATE_TEST_SUITE_P(Bytecode, Damage,
                         testing::Values("arithmetic", "convolution", "scatters", "eigh",
                                         "arithmetic@0.9.0", "nested_control", "shard_map",
                                         "rare_ops", "rare_new_ops@1.22.0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = isalnum(c) ? c : '_';
                           return name;
                         });

TEST(Damage, Rubbish) {
  DamagedReader reader;
  reader.check("");
  reader.check("ML\xEFR");
  reader.check("not bytecode");
  reader.check(std::string(1000, '\xFF'));
  reader.check("ML\xEFR" + std::string(1000, '\0'));
  EXPECT_EQ(reader.accepted, 0);
}

} // namespace
