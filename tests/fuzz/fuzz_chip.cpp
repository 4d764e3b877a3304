//===- fuzz_chip.cpp - fuzzes the reader of chip files ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes: a chip whose figures are in range, or a message. Start from
// machine/chips. A text that begins with '=' is read as settings of a chip.
//
//===----------------------------------------------------------------------===//
#include "machine/Chip.h"
#include "machine/TpuCost.h"
#include "support/Error.h"

#include <cmath>
#include <cstdlib>

using namespace spokeshave;
using namespace spokeshave::machine;

/// A chip that was accepted must be usable.
static void use(const Chip &chip) {
  Gemm gemm;
  gemm.m = 1000, gemm.n = 300, gemm.k = 500;
  double cycles = gemmTime(chip, gemm).cycles;
  if (!std::isfinite(cycles) || cycles <= 0 || chip.canonical().empty())
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (text.consume_front("=")) {
    Chip chip = llvm::cantFail(loadChip("v5e"));
    uint64_t hash = chip.hash();
    if (llvm::Error error = chip.set(text)) {
      if (takeError(std::move(error))->getMessage().empty() || chip.hash() != hash)
        std::abort();
    }
    use(chip);
    return 0;
  }
  llvm::Expected<Chip> chip = parseChip(text, "chip.json");
  if (chip)
    use(*chip);
  else if (takeError(chip.takeError())->getMessage().empty())
    std::abort();
  return 0;
}
