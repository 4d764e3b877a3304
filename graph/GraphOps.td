//===- GraphOps.td - the graph dialect: fusions ----------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_GRAPH_OPS
#define SPOKESHAVE_GRAPH_OPS

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::spokeshave::graph";
  let summary = "Fusions: groups of StableHLO operations that become one kernel";
}

// The kind names the operation that gives a fusion its loop structure (its
// hero). Producers that can be evaluated at an index, and elementwise consumers,
// may stand around the hero in the body.
def Graph_FusionKind : I32EnumAttr<"FusionKind", "what gives a fusion its loop structure", [
    I32EnumAttrCase<"Loop", 0, "loop">,                // every result element is a function of an index
    I32EnumAttrCase<"Reduce", 1, "reduce">,            // stablehlo.reduce, also several along the same dimensions
    I32EnumAttrCase<"Rows", 2, "rows">,                // reductions along the minor dimensions, read back by elementwise work (softmax)
    I32EnumAttrCase<"Dot", 3, "dot">,                  // stablehlo.dot_general
    I32EnumAttrCase<"Convolution", 4, "convolution">,  // stablehlo.convolution
    I32EnumAttrCase<"Window", 5, "window">,            // stablehlo.reduce_window, select_and_scatter
    I32EnumAttrCase<"Scan", 6, "scan">,                // a reduce_window that is a prefix scan (cumsum and its kin)
    I32EnumAttrCase<"Update", 7, "update">,            // dynamic_update_slice whose first operand is updated in place
    I32EnumAttrCase<"Scatter", 8, "scatter">,          // stablehlo.scatter, first operands updated in place
    I32EnumAttrCase<"Sort", 9, "sort">,                // stablehlo.sort, top_k
    I32EnumAttrCase<"Decomposition", 10, "decomposition">, // small cholesky, triangular_solve
    I32EnumAttrCase<"While", 11, "while">,             // a loop whose state stays in registers: one stablehlo.while, whose results are the fusion's
    I32EnumAttrCase<"Attention", 12, "attention">      // two products around a softmax, whose scores are never a tensor (Attention.h)
  ]> {
  let cppNamespace = "::spokeshave::graph";
}

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

def Graph_FusionOp : Graph_Op<"fusion", [IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "a group of operations that becomes one kernel";
  let description = [{
    The body's block arguments are the inputs, in order; its operations are
    StableHLO operations on tensors; `graph.yield` gives the results. All
    operations of the body are evaluated by one kernel, none of the
    intermediate tensors need exist in memory.

    `name` is a short human-readable name made of the operations inside, like
    `dot_add_tanh`. The location is the hero's, so that it leads to the user's
    source line.

    ```
    %0 = graph.fusion loop "sine_add"(%x = %arg0 : tensor<8xf32>) -> tensor<8xf32> {
      %1 = stablehlo.sine %x : tensor<8xf32>
      %2 = stablehlo.add %1, %x : tensor<8xf32>
      graph.yield %2 : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Graph_FusionKind:$kind, StrAttr:$name);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1; // they would leave the body without its block
  let builders = [
    /// Makes a fusion with an empty block whose arguments have the inputs' types.
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::mlir::ValueRange":$inputs,
                   "FusionKind":$kind, "::llvm::StringRef":$name)>
  ];
  let extraClassDeclaration = [{
    /// The only block; its arguments are the inputs in order.
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// The terminator; its operands are the results in order.
    YieldOp getYield();
  }];
}

def Graph_YieldOp : Graph_Op<"yield", [Terminator, ReturnLike, Pure, HasParent<"FusionOp">]> {
  let summary = "the results of a fusion";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
}

#endif
