//===- Select.h - a kernel becomes instructions on virtual registers -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "target/tpu/Isa.h"

namespace spokeshave::tpu {

/// Instructions of `kernel`, whose buffers have been staged (kernel/Stage.h): it
/// reads and writes scratch only, and HBM through DMA. Blocks have no bundles yet.
/// Fails with a diagnostic at an operation that the chip cannot do.
mlir::FailureOr<Kernel> selectInstructions(spokeshave::kernel::FuncOp kernel);

} // namespace spokeshave::tpu
