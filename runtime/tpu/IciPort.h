//===- IciPort.h - a chip's end of the links between chips -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives run beside the core: one starts when all its members have come to it
// and the links are free, and the core goes on until a step touches what it
// reads or writes. Values are exchanged at once in the simulation (a program that
// looked at them too early would wait), cycles as above.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Exchange.h"
#include "runtime/tpu/Ici.h"
#include "target/tpu/Program.h"

#include <map>

namespace spokeshave::runtime::tpu {

/// The chips that a program runs on.
struct ChipGrid {
  const Torus *torus = nullptr;
  /// Where chips that compute values meet. Null, without values: this chip stands
  /// for all, which come to each collective at once.
  Exchange *exchange = nullptr;
  int64_t self = 0;
};

/// Of one collective of a program, in one execution. Cycles of the core's clock.
struct CollectiveTime {
  int64_t count = 0;
  int64_t cycles = 0;  ///< of the links
  int64_t exposed = 0; ///< of these: for which the core waited, for other chips too
  int64_t bytes = 0;   ///< of the operand
};

class IciPort {
public:
  IciPort(const spokeshave::tpu::Program &program, const ChipGrid &grid)
      : program(program), grid(grid) {}

  /// Bytes [begin, end) of HBM.
  struct Range {
    int64_t begin = 0, end = 0;
    bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
  };

  /// Starts collective `number` at cycle `now`. `operand` and `result` are the bytes
  /// there, null without values.
  llvm::Error start(uint32_t number, const std::string &location, int64_t now, Range operand,
                    Range result, const char *operandData, char *resultData,
                    const volatile int32_t *cancel);
  /// Does transfer `number`, whose other end is the host or one chip, and gives the
  /// cycle from which the core goes on. `operands` are their bytes, copied to the other
  /// end; without values both are empty.
  llvm::Expected<int64_t> transfer(uint32_t number, const std::string &location, int64_t now,
                                   int64_t bytes, Exchange::Values operands,
                                   llvm::ArrayRef<llvm::MutableArrayRef<char>> results,
                                   const volatile int32_t *cancel);
  /// The cycle, `now` or later, from which the range may be read, or written.
  int64_t readyAt(int64_t now, Range range, bool isWritten);
  /// When the collectives that were started so far are done.
  int64_t linksFreeAt() const { return linksFree; }
  /// The cycle, `now` or later, at which all has arrived.
  int64_t allDone(int64_t now);

  std::map<uint32_t, CollectiveTime> times; ///< by number of the collective

private:
  struct Transfer {
    uint32_t number;
    Range operand, result;
    int64_t end;
  };
  double secondsOf(const spokeshave::tpu::Collective &collective, int64_t bytes) const;
  int64_t waitFor(const Transfer &transfer, int64_t now);

  const spokeshave::tpu::Program &program;
  ChipGrid grid;
  std::vector<Transfer> inFlight;
  int64_t linksFree = 0;
};

} // namespace spokeshave::runtime::tpu
