//===- Passes.td - the passes of kernel/ -----------------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_KERNEL_PASSES
#define SPOKESHAVE_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def LowerKernels : Pass<"lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turns each schedule.kernel into a kernel.func";
  let description = [{
    Afterwards the module holds no fusion: each became a function of tasks on
    buffers, with loops, register tiles, loads and stores written out.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"native\"",
           "for which instruction set: native, amx, avx512, avx2, x86-64">
  ];
  let dependentDialects = [
    "::spokeshave::kernel::KernelDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif
