//===- LowerKernels.cpp - the pass around lowerKernels ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For spokeshave-opt; a compilation calls lowerKernels with its own machine.
//
//===----------------------------------------------------------------------===//
#include "kernel/Lowering.h"
#include "kernel/Passes.h"

namespace spokeshave::kernel {

#define GEN_PASS_DEF_LOWERKERNELS
#include "kernel/Passes.h.inc"

namespace {

struct LowerKernels : impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;
  void runOnOperation() override {
    auto machine = machine::describe(isa);
    if (!machine) {
      getOperation().emitError(llvm::toString(machine.takeError()));
      return signalPassFailure();
    }
    if (failed(lowerKernels(getOperation(), *machine)))
      signalPassFailure();
  }
};

} // namespace
} // namespace spokeshave::kernel
