//===- TpuTarget.h - the TPU-class chip in the tools -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "runtime/tpu/Simulator.h"
#include "target/tpu/Compile.h"

namespace spokeshave::tools {

/// Files for viewers of a simulation; empty: none.
struct TraceFiles {
  std::string timeline, xplane;
  bool any() const { return !timeline.empty() || !xplane.empty(); }
};
llvm::Error writeTraces(const TraceFiles &files, const tpu::Program &program,
                        const runtime::tpu::Trace &trace);

/// Compiles `module`, simulates it on `arguments`, fills `results` and prints the
/// time of each kernel to `os`.
llvm::Error runOnTpu(mlir::OwningOpRef<mlir::ModuleOp> module, const tpu::CompileOptions &options,
                     const TraceFiles &files, std::vector<reference::Tensor> &arguments,
                     std::vector<reference::Tensor> &results, llvm::raw_ostream &os = llvm::outs());

/// Simulates `program` on `arguments` as one chip of `grid` and fills `results`.
llvm::Expected<runtime::tpu::Report>
simulateOnTensors(const tpu::Program &program, const runtime::tpu::ChipGrid &grid,
                  const std::vector<reference::Tensor> &arguments,
                  std::vector<reference::Tensor> &results, runtime::tpu::Trace *trace = nullptr);

/// A table of the kernels: registers, spills, bundles, VMEM.
void printTpuStats(const tpu::Program &program, llvm::raw_ostream &os);
/// A table of what each kernel took, and what bounds it.
void printTpuReport(const tpu::Program &program, const runtime::tpu::Report &report,
                    llvm::raw_ostream &os);

/// What bounds a kernel: "HBM", "MXU", "VPU", "XLU", "VMEM ports", "scalar core",
/// "latency" or "launch".
llvm::StringRef boundOf(const tpu::Program &program, const runtime::tpu::KernelTime &time);
/// The same of a collective: "ICI" or "ICI latency".
llvm::StringRef boundOf(const tpu::Program &program, const runtime::tpu::CollectiveTime &time);
/// The chips that `program` is for: as `shape` says ("8", "2x4"), or as even as
/// possible. BadOption where that are other numbers of chips.
llvm::Expected<runtime::tpu::Torus> torusFor(const tpu::Program &program, llvm::StringRef shape);

} // namespace spokeshave::tools
