//===- Driver.h - schedule.program to one LLVM function --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Machine.h"
#include "schedule/ScheduleDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace spokeshave::cpu {

/// What the driver of a program needs at run time besides its code.
struct DriverLayout {
  std::string symbol;
  int64_t arenaBytes = 0;   ///< temporaries, then the tables that the driver fills in
  int64_t scratchBytes = 0; ///< of the kernels that run on the caller's thread
  std::vector<mlir::ElementsAttr> constants; ///< in the order of RunContext::constants
  std::vector<mlir::Operation *> calls;      ///< library and custom calls, by call number
};

/// Adds to `llvmModule` the function of `program` with the signature of
/// DriverFunction in Abi.h. The kernels that it launches are kernel.func of
/// `module`; their functions are declared where `llvmModule` lacks them.
mlir::LogicalResult emitDriver(schedule::ProgramOp program, mlir::ModuleOp module,
                               llvm::Module &llvmModule, const machine::Machine &machine,
                               DriverLayout &layout);

} // namespace spokeshave::cpu
