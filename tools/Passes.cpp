//===- Passes.cpp - every pass of every phase, for tools --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase with passes or a dialect adds a line here, in the order of flow.
//
//===----------------------------------------------------------------------===//
#include "tools/Passes.h"

#include "graph/GraphDialect.h"
#include "graph/Pipeline.h"
#include "input/Dialects.h"
#include "kernel/KernelDialect.h"
#include "kernel/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"
#include "schedule/Passes.h"
#include "schedule/ScheduleDialect.h"

using namespace mlir;

namespace spokeshave {

void registerAllPasses() {
  // MLIR's own, which need no phase: canonicalize, cse, symbol-dce, inline...
  registerTransformsPasses();
  graph::registerGraphPasses();
  schedule::registerSchedulePasses();
  kernel::registerKernelPasses();
}

void registerAllDialects(DialectRegistry &registry) {
  registerInputDialects(registry);
  registry.insert<graph::GraphDialect, schedule::ScheduleDialect, kernel::KernelDialect>();
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
}

} // namespace spokeshave
