//===- Chip.h - what a TPU-class chip is, as data --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chip is a JSON file: machine/chips/*.json, or the user's own. Each figure
// there has a value, a unit and a source; what nobody published is marked as
// fitted and says so in a note. docs/tpu-machine.md explains the machine that
// these figures describe. The compiler, the simulator and the cost functions
// read all sizes and rates from here and know no chip by its name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spokeshave::machine {

/// How operands enter a matrix unit. Accumulation is in f32 (s32 for integers).
enum class MxuType { Bf16, F8, Int8, Int4 };

/// The figures of one chip in base units: bytes, bytes per second, hertz,
/// seconds, cycles of the core's clock. What is "per core" is so in the files.
struct Chip {
  std::string name;
  std::string description;
  bool hypothetical = false; ///< no such chip was built

  struct Core {
    int64_t count = 1;     ///< TensorCores of a chip
    bool megacore = false; ///< all cores of the chip are one device and share a program
    double clock = 0;      ///< Hz
  } core;

  /// The matrix units of a core: weights are loaded and latched, rows pushed
  /// through, results popped.
  struct Mxu {
    int64_t count = 0;       ///< of a core
    int64_t size = 0;        ///< cells in a row and in a column
    double bf16Rate = 0;     ///< multiply-adds of a cell in a cycle; 0: not there
    double f8Rate = 0;       ///< likewise for f8
    double int8Rate = 0;     ///< likewise for int8
    double int4Rate = 0;     ///< likewise for int4
    int64_t f32Passes = 0;   ///< bf16 passes that make a product of full f32 precision
    int64_t pushRows = 0;    ///< rows of the left operand that one push takes
    int64_t pushStall = 0;   ///< cycles of a push beyond what the rate gives
    int64_t latency = 0;     ///< cycles from a push to its results at the pop port
    int64_t weightLoad = 0;  ///< cycles in which one weight tile is loaded
    int64_t weightSets = 0;  ///< weight tiles held at once: 2 loads one while one works
    int64_t resultTiles = 0; ///< results of a push that may wait to be popped
  } mxu;

  /// Vector registers of sublanes x lanes 32-bit words and the units that work on them.
  struct Vector {
    int64_t sublanes = 0;
    int64_t lanes = 0;
    int64_t registers = 0;
    int64_t maskRegisters = 0;
    int64_t alus = 0;    ///< ALU operations on whole registers a cycle
    int64_t latency = 0; ///< cycles of an ALU operation
    int64_t loads = 0;   ///< registers loaded from VMEM a cycle
    int64_t stores = 0;  ///< registers stored to VMEM a cycle
    int64_t loadLatency = 0;
    double transcendentalRate = 0; ///< registers a cycle through the transcendental unit
    int64_t transcendentalLatency = 0;
    int64_t xlus = 0; ///< cross-lane units: one register a cycle each
    int64_t xluLatency = 0;
    bool bf16 = false; ///< ALUs work on packed bf16
  } vector;

  /// The scalar core, which issues everything.
  struct Scalar {
    int64_t slots = 0;
    int64_t registers = 0;
    int64_t latency = 0;
    int64_t branchDelay = 0; ///< cycles lost at a taken branch
  } scalar;

  /// A VLIW bundle, beyond what vector and scalar say.
  struct Bundle {
    int64_t pushes = 0; ///< matrix slots that push or load weights
    int64_t pops = 0;   ///< matrix slots that pop results
    int64_t misc = 0;
    int64_t immediates = 0;
  } bundle;

  struct Memory {
    int64_t vmem = 0;         ///< bytes of a core
    int64_t smem = 0;         ///< bytes of a core
    int64_t cmem = 0;         ///< bytes of a chip; 0: not there
    int64_t hbm = 0;          ///< bytes of a chip
    double hbmBandwidth = 0;  ///< B/s of a chip, reads and writes together
    double cmemBandwidth = 0; ///< B/s of a chip
    double vmemRead = 0;      ///< B/s of a core
    double vmemWrite = 0;     ///< B/s of a core
    int64_t vmemBanks = 0;
  } memory;

  struct Dma {
    int64_t engines = 0; ///< descriptors of a core in flight at full rate
    double latency = 0;  ///< s from issue to the first byte
    int64_t issue = 0;   ///< cycles of the scalar core to issue one descriptor
    int64_t granule = 0; ///< bytes: shorter runs cost as much
  } dma;

  /// Links to neighbours in a ring or torus.
  struct Ici {
    int64_t links = 0;
    int64_t dimensions = 0; ///< of the torus
    double bandwidth = 0;   ///< B/s of one link in one direction
    double hopLatency = 0;  ///< s
  } ici;

  /// What the cost functions of TpuCost.h need and nobody publishes. Fitted once
  /// (scripts/fit_chips.py) and frozen.
  struct Cost {
    double kernelOverhead = 0;   ///< s for which a kernel occupies a core beyond its work
    double coreSync = 0;         ///< s more where the cores of a device work together
    double hbmEfficiency = 0;    ///< of the bandwidth that streams reach
    double writeCost = 0;        ///< of a byte written to HBM, in bytes read
    double stepOverhead = 0;     ///< s that a step through windows takes at least
    double overlap = 0;          ///< share of the shorter of moving and working that is hidden
    double mxuEfficiency = 0;    ///< of the peak that long products reach
    double resultCycles = 0;     ///< of a core per result register while its matrix units wait
    double carryCycles = 0;      ///< more, where sums are carried from window to window
    double vectorEfficiency = 0; ///< of the ALU slots that loops fill
    double vmemEfficiency = 0;   ///< of the load and store slots that loops fill
    double f16Unpack = 0;        ///< ALU operations to turn a register of f16 into f32
    double f16Pack = 0;          ///< and back
    double attentionOps = 0;     ///< ALU operations on each score of attention
    int64_t window = 0;          ///< bytes of a core's windows of a product's operands
    int64_t streamWindow = 0;    ///< bytes of a core's windows of a loop's operands
    double windowRows = 0;       ///< rows of a window of a kernel over rows
  } cost;

  /// Peaks that the vendor states, where the figures above can be checked: 0 if
  /// there are none. They change nothing, and are not hashed.
  struct Published {
    double bf16Flops = 0; ///< a second, of the chip
    double int8Ops = 0;
    double f8Flops = 0;
  } published;

  /// Where a figure comes from; in the order of the schema.
  struct Provenance {
    std::string field; ///< "memory.vmem"
    std::string text;  ///< as the file says it: "16 MiB"
    std::string source;
    bool fitted = false; ///< not published: the source is a note
  };
  std::vector<Provenance> provenance;

  /// Cores that run one program together.
  int64_t coresOfDevice() const { return core.megacore ? core.count : 1; }
  /// HBM that one device owns: cores without megacore share the chip's in equal parts.
  int64_t hbmOfDevice() const { return memory.hbm / core.count * coresOfDevice(); }
  double hbmBandwidthOfDevice() const {
    return memory.hbmBandwidth / static_cast<double>(core.count) *
           static_cast<double>(coresOfDevice());
  }
  int64_t vregBytes() const { return vector.sublanes * vector.lanes * 4; }
  double mxuRate(MxuType type) const;
  /// Multiply-adds times two a second, of the device.
  double peakFlops(MxuType type) const;
  double seconds(double cycles) const { return cycles / core.clock; }
  double cycles(double seconds) const { return seconds * core.clock; }

  /// Sets figures: "vmem=32MiB,mxu=4,hbm=1.2TB/s". Names are those of the schema
  /// ("memory.vmem") or the short ones that docs/tpu-machine.md lists.
  llvm::Error set(llvm::StringRef settings);
  /// Every figure in its base unit, one a line, in the order of the schema.
  std::string canonical() const;
  /// Of the canonical text: the same for files that differ in units, sources or layout.
  uint64_t hash() const;
};

/// Reads a chip from JSON text. An error names the file, the line and the field.
llvm::Expected<Chip> parseChip(llvm::StringRef text, llvm::StringRef file);

/// The chip of a name ("v5e") or of a file (a path with a slash or ending in
/// .json). Empty: what SPOKESHAVE_CHIP says, else v5e. Settings may follow the
/// name after a colon: "v5e:vmem=32MiB".
llvm::Expected<Chip> loadChip(llvm::StringRef nameOrPath = {});

/// The names of the chips that are built in.
std::vector<llvm::StringRef> chipNames();

/// One figure of the schema, for documentation and reports.
struct ChipField {
  llvm::StringRef name;    ///< "memory.vmem"
  llvm::StringRef alias;   ///< "vmem", or empty
  llvm::StringRef unit;    ///< a unit that is accepted; others of its kind are too
  llvm::StringRef meaning; ///< in half a line
};
std::vector<ChipField> chipSchema();

} // namespace spokeshave::machine
