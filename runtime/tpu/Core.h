//===- Core.h - one core of the simulated chip -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Decode.h"
#include "runtime/tpu/Dma.h"
#include "runtime/tpu/Lanes.h"
#include "runtime/tpu/MatrixUnit.h"
#include "runtime/tpu/Simulator.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdlib>
#include <deque>
#include <memory>

namespace spokeshave::runtime::tpu {

/// Bytes that cost nothing before they are touched.
class LazyBytes {
public:
  /// `count` zeros, whatever there was before.
  void allocate(int64_t count) { bytes.reset(static_cast<char *>(std::calloc(count, 1))); }
  char *data() const { return bytes.get(); }

private:
  struct Free {
    void operator()(char *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Free> bytes;
};

/// The chip's HBM during an execution. Address 0 is not used.
struct Hbm {
  LazyBytes bytes; ///< none where no values are computed

  int64_t allocate(int64_t bytesWanted) {
    int64_t address = end;
    end = llvm::alignTo(address + bytesWanted, spokeshave::tpu::kHbmAlignment);
    return address;
  }
  int64_t size() const { return end; }

private:
  int64_t end = spokeshave::tpu::kHbmAlignment;
};

/// A core's VMEM. What a kernel does not keep of it has no sensible value when it
/// begins: a page is filled with one when the kernel first touches it.
class Vmem {
public:
  void allocate(int64_t size);
  void beginKernel(std::vector<Range> ownRanges) {
    own = std::move(ownRanges);
    ++kernel;
  }
  /// Of steps between kernels.
  char *at(int64_t address) { return bytes.data() + address; }
  /// Of a kernel's accesses and transfers: the address of range.begin.
  char *touch(Range range) {
    for (int64_t page = range.begin / kPage; page * kPage < range.end; ++page)
      if (filledFor[page] != kernel)
        fillPage(page);
    return bytes.data() + range.begin;
  }

private:
  static constexpr int64_t kPage = 1 << 14;
  void fillPage(int64_t page);

  LazyBytes bytes;
  std::vector<uint32_t> filledFor; ///< of pages: the kernel's number
  std::vector<Range> own;
  uint32_t kernel = 0;
};

/// The runs of bytes between two pieces of the same size: where each begins in both.
void forRuns(const spokeshave::tpu::BufferRef &from, const spokeshave::tpu::BufferRef &to,
             llvm::function_ref<void(int64_t from, int64_t to, int64_t bytes)> run);

/// Runs kernels one after the other. A kernel is begun, resumed until it has ended,
/// and finished; in between other cores may run.
class Core {
public:
  Core(const spokeshave::tpu::Program &program, Hbm &hbm, HbmChannel &channel,
       const SimulationOptions &options, int32_t number)
      : program(program), timing(program.timing), hbm(hbm), options(options), number(number),
        vmemBytes(program.chip.memory.vmem), dma(program.timing, channel) {
    if (options.computeValues)
      vmem.allocate(vmemBytes);
  }

  /// `arguments`: addresses of the buffers in HBM, then the core's number.
  llvm::Error begin(const spokeshave::tpu::Kernel &kernel, llvm::ArrayRef<int64_t> arguments);
  /// Runs to the kernel's end and returns true; or, if it `pauses`, only until it is
  /// about to start a transfer.
  llvm::Expected<bool> resume(bool pauses);
  /// Of an ended kernel, when all that it wrote has arrived.
  KernelTime finish();

  /// Step::Kind::Start: `part` of the bytes at `source` to those at `target`.
  llvm::Error startTransfer(const spokeshave::tpu::Step &step, spokeshave::tpu::Kernel::Part part,
                            int64_t source, int64_t target);
  /// Step::Kind::Wait. Returns the cycles waited.
  int64_t waitForStep(int64_t semaphore);
  /// Cycles for a copy of `bytes` in `rows` runs within HBM.
  int64_t copyCycles(int64_t bytes, int64_t rows) const;
  void copy(int64_t cycles) {
    dma.occupy(cycle, cycle + cycles);
    cycle += cycles;
  }

  int64_t now() const { return cycle; }
  void advance(int64_t cycles) { cycle += cycles; }
  Dma &transfers() { return dma; }
  Vmem &memory() { return vmem; }

private:
  using Instruction = spokeshave::tpu::Instruction;
  using Reg = spokeshave::tpu::Reg;
  /// Where a kernel stands.
  struct Position {
    int64_t block = -1;                 ///< none yet
    int64_t next = 0;                   ///< block; -1: halt
    size_t bundle = 0, instruction = 0; ///< the next ones
    bool paused = false;                ///< before a transfer
  };
  /// A loop of one block in a walk without values, at its last return to the begin.
  struct Loop {
    int64_t block = -1;
    unsigned returns = 0;
    int64_t cycle = 0, matrixStall = 0;
    int64_t compared[2] = {};
    std::vector<Lane> values; ///< of DecodedBlock::written
    std::vector<int64_t> queues;
  };

  llvm::Error prepareVmem();
  bool isCancelled() const { return options.isCancelled && options.isCancelled(); }
  llvm::Expected<bool> runBlock(const spokeshave::tpu::Block &block, bool pauses);
  void countVisits();
  llvm::Expected<bool> walk(bool pauses);
  llvm::Expected<bool> walkBlock(const DecodedBlock &block, bool pauses);
  void walkScalar(const WalkedOp &op);
  bool dependsOnData(const Instruction &instruction) const;
  void branchOnData(const Instruction &instruction);
  void skipTrips(const DecodedBlock &block);
  bool isTimed(const Instruction &instruction);
  void branchTo(int64_t block);
  llvm::Error execute(const Instruction &instruction);
  llvm::Error executeValue(const Instruction &instruction);
  llvm::Error executeMemory(const Instruction &instruction);
  template <typename T>
  llvm::Expected<bool> executeRuns(const Instruction &instruction, int64_t base,
                                   const VectorLane *mask);
  /// Of an access's lanes, in bytes.
  struct Offsets {
    int64_t lanes[spokeshave::tpu::kRegisterLanes];
    int64_t least, largest; ///< of the lanes that are on; the wrong way round if none is
  };
  void findOffsets(const Instruction &instruction, const VectorLane *mask, Offsets &found);
  template <typename T>
  llvm::Error executeIndexed(const Instruction &instruction, int64_t base, const VectorLane *mask);
  template <typename T> llvm::Error executeMemory(const Instruction &instruction);
  template <typename T> void fill(const Instruction &instruction);
  llvm::Error executeAcross(const Instruction &instruction);
  template <typename T> llvm::Error executeAcross(const Instruction &instruction);
  llvm::Error executeMatrix(const Instruction &instruction);
  llvm::Error startTransfer(const Instruction &instruction);
  bool isOwnPart(Range hbm) const;
  void waitFor(int64_t semaphore);
  void stallUntil(int64_t when);
  llvm::Error fail(const Instruction &instruction, llvm::Twine message);
  llvm::Expected<char *> vmemAt(const Instruction &instruction, int64_t begin, int64_t end,
                                bool writes);

  /// Its lanes: VectorLane in masks, Lane in scalars, in vectors by the elements' type.
  void *registerAt(Reg reg);
  template <typename T> T *lanesOf(Reg reg) { return static_cast<T *>(registerAt(reg)); }
  Operand operand(const Instruction &instruction, Reg reg, unsigned number);
  Lane scalar(Reg reg) { return scalars[reg.number]; }
  /// The lanes of a mask, or null where all are on. `none`: a scalar turns all off.
  const VectorLane *maskOf(const Instruction &instruction, bool &none);

  uint32_t kernelNumber() const { return uint32_t(kernel - program.kernels.data()); }
  /// For the timeline: the present block ran from `begin` until now.
  void traceBlock(int64_t begin, int64_t trips);
  void traceTransfer(const Transfer &transfer, int64_t kernelOrStep, int64_t bytes,
                     uint32_t location);

  const spokeshave::tpu::Program &program;
  const spokeshave::tpu::Timing &timing;
  Hbm &hbm;
  const SimulationOptions &options;
  int32_t number;

  const spokeshave::tpu::Kernel *kernel = nullptr;
  std::vector<int64_t> buffers;
  std::vector<Lane> scalars, vectors;
  std::vector<VectorLane> masks;
  /// Without values: scalars that depend on data.
  std::vector<uint8_t> unknown;
  llvm::DenseMap<const Instruction *, bool> takenBefore; ///< of branches on them
  Vmem vmem;
  int64_t vmemBytes; ///< that the core has
  int64_t reach = 0; ///< end of what the kernel may touch
  std::vector<MatrixUnit> matrixUnits;
  Dma dma;
  std::array<int64_t, 8> dmaCounts{};
  int64_t cycle = 0;                            ///< since the execution began
  int64_t begun = 0;                            ///< the kernel
  size_t tracedBlocks = 0, tracedTransfers = 0; ///< of the kernel
  Position position;
  KernelTime time;

  // Of kernels that are decoded; scalars and loops of walks without values.
  std::map<const spokeshave::tpu::Kernel *, DecodedKernel> decodedKernels;
  const DecodedKernel *decoded = nullptr;
  std::vector<int64_t> visits; ///< of blocks
  int64_t blockBegun = 0;      ///< cycle
  int64_t entered = 0;         ///< the same, later by the waits since
  bool hasUnknown = false;     ///< scalars
  int64_t compared[2] = {};    ///< by the comparison that ends a loop
  Loop loop;
};

/// Static check of a kernel's bundles: slots, and that no register is read before
/// it is ready.
llvm::Error verifyBundles(const spokeshave::tpu::Kernel &kernel,
                          const spokeshave::tpu::Timing &timing);

} // namespace spokeshave::runtime::tpu
