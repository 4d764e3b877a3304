//===- GraphDialect.h - the graph dialect ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// graph.fusion groups StableHLO operations that become one kernel; it is what
// graph/ hands to schedule/ and kernel/. Declared in GraphOps.td.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "graph/GraphEnums.h.inc"

#include "graph/GraphDialect.h.inc"

#define GET_OP_CLASSES
#include "graph/GraphOps.h.inc"
