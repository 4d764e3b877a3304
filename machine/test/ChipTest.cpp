//===- ChipTest.cpp - chips as data ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "machine/Chip.h"

#include "machine/ChipSchema.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {

std::string messageOf(llvm::Error error) {
  return takeError(std::move(error))->getMessage();
}

Chip load(llvm::StringRef name) {
  llvm::Expected<Chip> chip = loadChip(name);
  if (!chip) {
    ADD_FAILURE() << messageOf(chip.takeError());
    return {};
  }
  return *chip;
}

std::string usual(const FigureField &field) {
  // In range for every figure, and different ones where the range allows.
  double value = field.dimension == Dimension::Flag ? 0 : std::max(field.least, 1.0);
  auto scale = unitScale(field, field.unit);
  double shown = std::max(std::ceil(value / *scale), 1.0);
  if (field.dimension == Dimension::Time)
    shown = 1;
  std::string text = field.dimension == Dimension::Flag
                         ? std::string("false")
                         : llvm::formatv("{0}", static_cast<int64_t>(shown)).str();
  return llvm::formatv("{{\"value\": {0}, \"unit\": \"{1}\", \"source\": \"test\"}", text,
                       field.unit);
}

/// A whole chip file, one figure a line, in which `change` may alter a figure's
/// text ("" leaves it out).
template <typename Change> std::string chipText(Change change) {
  std::string text = "{\"schema\": 1, \"name\": \"t\", \"description\": \"\"";
  llvm::StringRef section;
  bool first = true;
  for (const FigureField &field : figureFields()) {
    if (field.section != section) {
      text += (section.empty() ? ",\n\"" : "\n},\n\"") + field.section.str() + "\": {";
      section = field.section;
      first = true;
    }
    std::string figure = change(field.path(), field.optional ? std::string() : usual(field));
    if (figure.empty())
      continue;
    text += (first ? "\n\"" : ",\n\"") + field.name.str() + "\": " + figure;
    first = false;
  }
  return text + "\n}}\n";
}

std::string errorWith(llvm::StringRef path, llvm::StringRef figure) {
  llvm::Expected<Chip> chip = parseChip(chipText([&](llvm::StringRef at, std::string text) {
                                          return at == path ? figure.str() : text;
                                        }),
                                        "t.json");
  return chip ? "no error" : messageOf(chip.takeError());
}

TEST(Chip, AllBuiltinChipsAreReadAndDiffer) {
  std::vector<llvm::StringRef> names = chipNames();
  for (const char *name : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x", "example"})
    EXPECT_TRUE(llvm::is_contained(names, name)) << name;
  std::vector<uint64_t> hashes;
  for (llvm::StringRef name : names) {
    Chip chip = load(name);
    EXPECT_EQ(chip.name, name);
    EXPECT_EQ(chip.hypothetical, name == "example");
    EXPECT_FALSE(llvm::is_contained(hashes, chip.hash()));
    hashes.push_back(chip.hash());
    for (const Chip::Provenance &figure : chip.provenance)
      EXPECT_FALSE(figure.source.empty()) << figure.field;
  }
}

TEST(Chip, PeaksFollowFromTheFigures) {
  EXPECT_NEAR(load("v4").peakFlops(MxuType::Bf16) / 275e12, 1, 0.01);
  EXPECT_NEAR(load("v5e").peakFlops(MxuType::Int8) / 394e12, 1, 0.01);
  EXPECT_NEAR(load("v6e").peakFlops(MxuType::Bf16) / 918e12, 1, 0.01);
  // Without megacore a device is one core.
  EXPECT_NEAR(load("v7x").peakFlops(MxuType::Bf16) / 2307e12, 0.5, 0.01);
  EXPECT_EQ(load("v7x").hbmOfDevice(), load("v7x").memory.hbm / 2);
  EXPECT_EQ(load("v4").coresOfDevice(), 2);
}

TEST(Chip, ErrorsNameLineAndField) {
  EXPECT_EQ(errorWith("none", ""), "no error");
  EXPECT_EQ(errorWith("core.count", ""), "t.json:2: core.count: missing");
  EXPECT_EQ(errorWith("core.clock", "5"),
            "t.json:5: core.clock: must be an object with value, unit and source");
  EXPECT_EQ(errorWith("core.clock", R"({"value": "5", "unit": "MHz", "source": "x"})"),
            "t.json:5: core.clock.value: must be a number");
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "MB", "source": "x"})"),
            "t.json:5: core.clock.unit: 'MB' is no unit of this; use Hz, kHz, MHz or GHz");
  EXPECT_EQ(errorWith("core.clock", R"({"unit": "MHz", "source": "x"})"),
            "t.json:5: core.clock: has no value");
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "Hz", "source": "x"})"),
            "t.json:5: core.clock.value: 5.00 is out of range: 1000000.00 to 100000000000.00 are "
            "allowed, in base units");
  EXPECT_EQ(errorWith("mxu.count", R"({"value": 1.5, "unit": "units", "source": "x"})"),
            "t.json:8: mxu.count.value: must be a whole number");
  EXPECT_EQ(errorWith("core.megacore", R"({"value": 1, "unit": "flag", "source": "x"})"),
            "t.json:4: core.megacore.value: must be true or false");
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "MHz", "source": "x", "colour": 1})"),
            "t.json:5: core.clock.colour: no such field");
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "MHz", "source": "x"}, "clok": 1)"),
            "t.json:5: core.clok: no such field");
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "MHz", "source": "x"}, "clock": 1)"),
            "t.json:5: core.clock: stands there twice");
}

TEST(Chip, EveryFigureSaysWhereItComesFrom) {
  EXPECT_NE(errorWith("core.clock", R"({"value": 5, "unit": "MHz"})").find("has no source"),
            std::string::npos);
  EXPECT_NE(errorWith("core.clock", R"({"value": 5, "unit": "MHz", "fitted": true})")
                .find("no note says from what"),
            std::string::npos);
  EXPECT_EQ(errorWith("core.clock", R"({"value": 5, "unit": "MHz", "fitted": true, "note": "n"})"),
            "no error");
}

TEST(Chip, StatedPeaksAreChecked) {
  EXPECT_NE(errorWith("published.bf16_flops", R"({"value": 275, "unit": "TFLOP/s", "source": "x"})")
                .find("published.bf16_flops: 275.0 TFLOP/s do not agree"),
            std::string::npos);
}

TEST(Chip, WhatIsNoChipIsRefused) {
  for (llvm::StringRef text : {"", "{", "[]", "5", "\"", "{}", "{\"schema\": 2}", "\xff",
                               "{\"schema\": 1, \"name\": \"../x\"}"}) {
    llvm::Expected<Chip> chip = parseChip(text, "t.json");
    ASSERT_FALSE(static_cast<bool>(chip)) << text.str();
    EXPECT_EQ(messageOf(chip.takeError()).rfind("t.json", 0), 0u);
  }
  EXPECT_FALSE(
      static_cast<bool>(llvm::expectedToOptional(parseChip(std::string(100000, '['), "t"))));
}

TEST(Chip, ChangedBytesAreReadOrRefused) {
  const std::string whole = chipText([](llvm::StringRef, std::string text) { return text; });
  std::mt19937 random(5);
  for (int variant = 0; variant < 2000; ++variant) {
    std::string text = whole;
    for (int change = random() % 3; change >= 0; --change)
      text[random() % text.size()] =
          static_cast<char>(random() % 4 ? 32 + random() % 95 : random());
    if (variant % 5 == 0)
      text.resize(random() % text.size());
    llvm::Expected<Chip> chip = parseChip(text, "t.json");
    if (!chip)
      EXPECT_EQ(messageOf(chip.takeError()).rfind("t.json", 0), 0u) << "variant " << variant;
  }
}

TEST(Chip, SettingsChangeFigures) {
  Chip chip = load("v5e:vmem=32MiB,mxu=8, hbm=1.2TB/s");
  EXPECT_EQ(chip.memory.vmem, 32 << 20);
  EXPECT_EQ(chip.mxu.count, 8);
  EXPECT_EQ(chip.memory.hbmBandwidth, 1.2e12);
  EXPECT_NE(chip.hash(), load("v5e").hash());
  EXPECT_FALSE(
      static_cast<bool>(chip.set("core.clock=2GHz,megacore=true,cost.hbm_efficiency=80%")));
  EXPECT_EQ(chip.core.clock, 2e9);
  EXPECT_TRUE(chip.core.megacore);
  EXPECT_DOUBLE_EQ(chip.cost.hbmEfficiency, 0.8);
  for (const Chip::Provenance &figure : chip.provenance)
    if (figure.field == "memory.vmem")
      EXPECT_EQ(figure.source, "set by hand");
}

TEST(Chip, WrongSettingsChangeNothing) {
  Chip chip = load("v5e");
  uint64_t hash = chip.hash();
  for (llvm::StringRef text :
       {"vmem=32", "vmem=32MB/s", "mxu=0", "mxu=1.5", "mxu=-1", "colour=1", "mxu", "mxu=", "=",
        "megacore=1", "mxu=2,colour=1", "mxu=1e3", "hbm=nanGB/s", "vmem=0x10MiB"}) {
    llvm::Error error = chip.set(text);
    ASSERT_TRUE(static_cast<bool>(error)) << text.str();
    EXPECT_NE(messageOf(std::move(error)).find("chip setting '"), std::string::npos);
    EXPECT_EQ(chip.hash(), hash);
  }
}

TEST(Chip, HashIsOfTheMeaningNotTheText) {
  auto with = [](llvm::StringRef vmem) {
    return llvm::cantFail(parseChip(chipText([&](llvm::StringRef at, std::string text) {
                                      return at == "memory.vmem" ? vmem.str() : text;
                                    }),
                                    "t.json"))
        .hash();
  };
  EXPECT_EQ(with(R"({"value": 2, "unit": "MiB", "source": "x"})"),
            with(R"({"note": "y", "unit": "KiB", "value": 2048, "source": "z"})"));
  EXPECT_NE(with(R"({"value": 2, "unit": "MiB", "source": "x"})"),
            with(R"({"value": 3, "unit": "MiB", "source": "x"})"));
}

TEST(Chip, IsFoundByNamePathAndEnvironment) {
  std::string path = testing::TempDir() + "/own-chip.json";
  std::ofstream(path) << chipText([](llvm::StringRef, std::string text) { return text; });
  EXPECT_EQ(load(path).name, "t");
  setenv("SPOKESHAVE_CHIP", "v4", 1);
  EXPECT_EQ(load("").name, "v4");
  setenv("SPOKESHAVE_CHIP", (path + ":mxu=2").c_str(), 1);
  EXPECT_EQ(load("").mxu.count, 2);
  unsetenv("SPOKESHAVE_CHIP");
  EXPECT_EQ(load("").name, "v5e");
  llvm::Expected<Chip> none = loadChip("v99");
  ASSERT_FALSE(static_cast<bool>(none));
  EXPECT_NE(messageOf(none.takeError()).find("no chip 'v99': there are"), std::string::npos);
  none = loadChip("./none.json");
  ASSERT_FALSE(static_cast<bool>(none));
  EXPECT_NE(messageOf(none.takeError()).find("cannot read chip './none.json'"), std::string::npos);
}

TEST(Chip, NamesOfTheSchemaAreUnique) {
  llvm::StringSet<> names;
  for (const ChipField &field : chipSchema()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name.str();
    if (!field.alias.empty())
      EXPECT_TRUE(names.insert(field.alias).second) << field.alias.str();
  }
}

} // namespace
