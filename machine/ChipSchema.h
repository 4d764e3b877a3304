//===- ChipSchema.h - the table of a chip's figures ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per figure serves the reader, the settings, the hash and the
// documentation. A new figure is a member of Chip and a line in ChipSchema.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Chip.h"

#include <optional>
#include <variant>

namespace spokeshave::machine {

/// What kind of unit a figure takes.
enum class Dimension { Flag, Count, Ratio, Cycles, Bytes, Bandwidth, Frequency, Time, Work };

struct FigureField {
  using Slot = std::variant<bool *, int64_t *, double *>;

  llvm::StringRef section;
  llvm::StringRef name;
  llvm::StringRef alias;
  Dimension dimension;
  llvm::StringRef unit; ///< the usual one; for counts, the only one
  double least;
  double most;
  Slot (*slot)(Chip &);
  llvm::StringRef meaning;
  bool optional = false; ///< may be left out of a file
  bool hashed = true;

  std::string path() const { return (section + "." + name).str(); }
};

llvm::ArrayRef<FigureField> figureFields();

/// What one of `unit` is in base units; nothing if a figure of this kind has no such unit.
std::optional<double> unitScale(const FigureField &field, llvm::StringRef unit);

/// Some units that `field` takes, for messages: "B, KiB, MiB, GiB, kB, MB, GB or TB".
llvm::StringRef unitsOf(const FigureField &field);

/// Stores `value` (in base units) in `chip`; an error says why it cannot stand there.
llvm::Error store(Chip &chip, const FigureField &field, double value);

} // namespace spokeshave::machine
