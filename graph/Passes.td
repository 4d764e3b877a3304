//===- Passes.td - the passes of the graph level ---------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each description ends with the pass's postcondition. The order in which they
// run, and why, stands in Pipeline.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_GRAPH_PASSES
#define SPOKESHAVE_GRAPH_PASSES

include "mlir/Pass/PassBase.td"

def SingleDevice : Pass<"graph-single-device", "::mlir::ModuleOp"> {
  let summary = "removes shardings, collectives of one device and annotations";
  let description = [{
    On one device a sharding says nothing, a collective over a group of one is
    the identity and a partition's number is 0.

    Afterwards: no sdy op, no conversion cast, no collective is left. A program
    for more than one device is an error.
  }];
}

def Inline : Pass<"graph-inline", "::mlir::ModuleOp"> {
  let summary = "inlines calls and composites into @main";
  let description = [{
    Composites for which kernels have a version of their own (chlo.erf,
    chlo.erfc, chlo.top_k) stay.

    Afterwards: @main has no call; other functions are left only where a
    composite names them as its decomposition. Recursion is an error.
  }];
}

def DropBarriers : Pass<"graph-drop-barriers", "::mlir::func::FuncOp"> {
  let summary = "removes optimization barriers";
  let description = [{
    Afterwards: no stablehlo.optimization_barrier is left.
  }];
}

def FuseAlone : Pass<"graph-fuse-alone", "::mlir::func::FuncOp"> {
  let summary = "puts each operation that computes into a fusion of its own";
  let description = [{
    The pipeline's last step when fusion is off, for bisecting.

    Afterwards: as after graph-fuse, with one operation (and its splat
    constants) per fusion.
  }];
  let dependentDialects = ["::spokeshave::graph::GraphDialect"];
}

#endif
