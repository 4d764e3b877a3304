//===- Timeline.h - a simulated execution for trace viewers ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Simulator.h"

namespace spokeshave::tools {

/// A timeline for ui.perfetto.dev: launches, and for each core the blocks in which its
/// scalar core, vector unit and matrix units work, and the transfers in flight; HBM's
/// bandwidth as a counter. Protocol buffers where `file` ends with .pftrace or
/// .perfetto-trace, else Chrome's JSON.
llvm::Error writeTimeline(llvm::StringRef file, const tpu::Program &program,
                          const runtime::tpu::Trace &trace);

/// The same as a profile that XProf and TensorBoard open: the launches as XLA Ops of
/// one module, with operations, bytes and the chip's peaks.
llvm::Error writeXplane(llvm::StringRef file, const tpu::Program &program,
                        const runtime::tpu::Trace &trace);

} // namespace spokeshave::tools
