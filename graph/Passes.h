//===- Passes.h - the passes of the graph level ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"
#include "input/StablehloOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace spokeshave::graph {

#define GEN_PASS_DECL
#include "graph/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "graph/Passes.h.inc"

} // namespace spokeshave::graph
