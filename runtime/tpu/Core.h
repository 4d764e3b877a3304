//===- Core.h - one core of the simulated chip -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Lanes.h"
#include "runtime/tpu/MatrixUnit.h"
#include "runtime/tpu/Simulator.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace spokeshave::runtime::tpu {

/// The chip's HBM during an execution. Address 0 is not used.
struct Hbm {
  static constexpr int64_t kAlignment = 4096;
  std::vector<char> bytes; ///< empty where no values are computed

  int64_t allocate(int64_t bytesWanted) {
    int64_t address = end;
    end = llvm::alignTo(address + bytesWanted, kAlignment);
    return address;
  }
  int64_t size() const { return end; }

private:
  int64_t end = kAlignment;
};

class Core {
public:
  Core(const spokeshave::tpu::Program &program, Hbm &hbm, const SimulationOptions &options)
      : timing(program.timing), hbm(hbm), options(options) {}

  /// Runs one kernel on buffers at HBM addresses `buffers`.
  llvm::Expected<KernelTime> run(const spokeshave::tpu::Kernel &kernel,
                                 llvm::ArrayRef<int64_t> buffers);
  /// Cycles for a copy of `bytes` within HBM.
  int64_t copyCycles(int64_t bytes) const;

private:
  using Instruction = spokeshave::tpu::Instruction;
  using Reg = spokeshave::tpu::Reg;
  struct Transfer {
    int64_t semaphore, done;
    bool writesVmem, readsVmem;
    int64_t vmemBegin, vmemEnd;
  };

  void start(const spokeshave::tpu::Kernel &kernel);
  llvm::Error runBlock(const spokeshave::tpu::Block &block);
  bool isTimed(const Instruction &instruction);
  void branchTo(int64_t block);
  llvm::Error execute(const Instruction &instruction);
  llvm::Error executeMemory(const Instruction &instruction);
  llvm::Error executeAcross(const Instruction &instruction);
  llvm::Error executeMatrix(const Instruction &instruction);
  llvm::Error startTransfer(const Instruction &instruction);
  void waitFor(int64_t semaphore);
  void stallUntil(int64_t when);
  llvm::Error fail(const Instruction &instruction, llvm::Twine message);
  llvm::Expected<char *> vmemAt(const Instruction &instruction, int64_t begin, int64_t end,
                                bool writes);

  Lane *lanesOf(Reg reg);
  Operand operand(const Instruction &instruction, Reg reg, unsigned number);
  Lane scalar(Reg reg) { return *lanesOf(reg); }
  bool isOn(const Instruction &instruction, size_t lane) {
    return !instruction.mask ||
           lanesOf(
               instruction.mask)[instruction.mask.file == spokeshave::tpu::File::Scalar ? 0 : lane];
  }

  const spokeshave::tpu::Timing &timing;
  Hbm &hbm;
  const SimulationOptions &options;

  const spokeshave::tpu::Kernel *kernel = nullptr;
  llvm::ArrayRef<int64_t> buffers;
  std::vector<Lane> scalars, vectors, masks;
  /// Without values: scalars that depend on data.
  std::vector<bool> unknown;
  llvm::DenseMap<const Instruction *, bool> takenBefore; ///< of branches on them
  std::vector<char> vmem;
  std::vector<MatrixUnit> matrixUnits;
  std::vector<Transfer> inFlight;
  std::array<int64_t, 8> dmaCounts{};
  int64_t cycle = 0, engineFree = 0;
  int64_t nextBlock = 0; ///< -1: halted
  KernelTime time;
};

/// Static check of a kernel's bundles: slots, and that no register is read before
/// it is ready.
llvm::Error verifyBundles(const spokeshave::tpu::Kernel &kernel,
                          const spokeshave::tpu::Timing &timing);

} // namespace spokeshave::runtime::tpu
