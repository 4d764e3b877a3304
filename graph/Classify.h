//===- Classify.h - what fusion knows of each operation --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

#include "mlir/IR/BuiltinTypes.h"

namespace spokeshave::graph {

/// How an operation can take part in a fusion.
enum class OpClass {
  TopLevel,    ///< never inside: loops, branches, calls out, library routines
  Constant,    ///< a splat is copied into each user; other constants are inputs
  Elementwise, ///< a result element depends on the operands' elements of the same index
  Index,       ///< a result element is an operand's element at another index, or made of an index
  View,        ///< the same elements in the same linear order: reshape, 1:1 bitcast_convert
  Hero,        ///< has a loop structure of its own
};

OpClass classify(mlir::Operation *op);

/// The kind of the fusion whose hero `op` is; Loop for what needs no hero.
FusionKind fusionKindOf(mlir::Operation *op);

/// A constant with one value everywhere.
bool isSplatConstant(mlir::Operation *op);

/// A reduce_window that gives each element the reduction of all elements up to
/// it along one dimension (cumsum and its kin, also reversed).
bool isPrefixScan(mlir::Operation *op);

/// A rough number of vector instructions for one result element of `op` alone:
/// 0 for index arithmetic, 1 for an addition, tens for transcendentals.
int64_t elementCost(mlir::Operation *op);

/// Transcendental functions, by the specification's names and as composites.
bool isTranscendental(mlir::Operation *op);

int64_t numElements(mlir::Type type);
int64_t byteSize(mlir::Type type);

/// The word for `op` in a fusion's name: its mnemonic, or a composite's name.
llvm::StringRef shortName(mlir::Operation *op);

} // namespace spokeshave::graph
