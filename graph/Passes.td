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

    Afterwards: no conversion cast and no annotation is left, and in a program for
    one device no sdy op and no collective.
  }];
}

def SeveralDevices : Pass<"graph-several-devices", "::mlir::ModuleOp"> {
  let summary = "a program over whole arrays becomes that of each device";
  let description = [{
    Only in programs for several devices that speak of shardings.

    Afterwards: @main takes and gives a device's parts of what is split; how, its
    attributes graph.parts say (the parts of each dimension, then each device's
    part). No sdy op but meshes is left. Elementwise work is on parts, other work
    outside of manual computations on whole values.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def LowerCollectives : Pass<"graph-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "collectives become moves of bytes and ordinary operations";
  let description = [{
    Afterwards: of the collectives, only all_gather and all_to_all along the first
    dimension, collective_permute and collective_broadcast without a root are left,
    with one tensor each and ids of processes (replica * partitions + partition) in
    their groups. Groups that do not fit the program's devices are an error.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
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

def Expand : Pass<"graph-expand", "::mlir::func::FuncOp"> {
  let summary = "operations made of simpler ones, as these";
  let description = [{
    Afterwards: no rng_bit_generator, batch normalisation, torch_index_select,
    einsum or bitcast of complex numbers is left.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def ExpandDecompositions : Pass<"graph-expand-decompositions", "::mlir::func::FuncOp"> {
  let summary = "Cholesky factorisations and triangular solves in blocks";
  let description = [{
    For machines without a library.

    Afterwards: no cholesky or triangular_solve is left of matrices that are too large
    for a kernel.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def ExpandFft : Pass<"graph-expand-fft", "::mlir::func::FuncOp"> {
  let summary = "Fourier transforms as matrix products";
  let description = [{
    For machines without a library.

    Afterwards: no fft is left but of tensors without elements.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def ExpandQuantized : Pass<"graph-expand-quantized", "::mlir::func::FuncOp"> {
  let summary = "quantized tensors become the integers that are stored";
  let description = [{
    Afterwards: no value has a quantized type, and no uniform_quantize or
    uniform_dequantize is left.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def Canonicalize : Pass<"graph-canonicalize", "::mlir::func::FuncOp"> {
  let summary = "local rewrites to normal forms, bit for bit";
  let description = [{
    Afterwards: no reshape of a reshape, transpose of a transpose, broadcast of a
    broadcast, slice of a slice; broadcasts and transposes that copy nothing are
    reshapes; operations that give one of their operands are gone.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def FoldConstants : Pass<"graph-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "computes operations on constants, within a size limit";
  let description = [{
    Afterwards: elementwise operations on splats are splats; other operations
    whose operands are constants and whose results have at most 4 KiB are
    constants. Larger ones are left to run.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def NormalizeDots : Pass<"graph-normalize-dots", "::mlir::func::FuncOp"> {
  let summary = "matrix products as (batch, M, K) x (batch, K, N)";
  let description = [{
    Afterwards: each dot_general has two dimensions per operand, or three with
    one batching dimension in front, contracts the left operand's last dimension
    with the right operand's next-to-last, and there is no stablehlo.dot.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def SettlePrecision : Pass<"graph-settle-precision", "::mlir::func::FuncOp"> {
  let summary = "says of how many products in bf16 each product of floats is made";
  let description = [{
    For machines whose units multiply bf16 (Precision.h).

    Afterwards: each dot_general and convolution has graph.product_order, from its
    algorithm or from precision_config.
  }];
  let options = [Option<"leastPrecision", "least", "int64_t", /*default=*/"0",
                        "Precision of those that ask for less: 0 DEFAULT, 1 HIGH, 2 HIGHEST">,
                 Option<"fullPasses", "full-passes", "int64_t", /*default=*/"6",
                        "Products of parts that make one of HIGHEST precision">];
}

def SimplifyLoops : Pass<"graph-simplify-loops", "::mlir::func::FuncOp"> {
  let summary = "loops carry and do only what they must";
  let description = [{
    Afterwards: no loop carries a value that it does not change or that nobody
    reads; work on values from outside a loop stands before it; loops that
    provably never run and branches of known index are gone. The attribute
    graph.trip_count says how often a loop runs where that is known.
  }];
}

def UnrollLoops : Pass<"graph-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "unrolls loops of a few trips of plain arithmetic";
  let description = [{
    Afterwards: no loop of at most 8 known trips is left whose body is only
    elementwise work and data movement and whose copies stay small.
  }];
}

def UpdateStacks : Pass<"graph-update-stacks", "::mlir::func::FuncOp"> {
  let summary = "scans that pass on layers with a part changed do so in place";
  let description = [{
    Afterwards: a loop that takes each layer of a stack, updates a part of it and
    puts it into another stack carries the first one instead and writes the parts to
    it. The old layers' operations are left without users.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def SplitReductions : Pass<"graph-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "reductions of much to little, in two steps";
  let description = [{
    Afterwards: a reduction of many elements to few, or a product of a long depth
    with a small result, has partial results that are reduced in a second step,
    as many as give work to several threads. Their number follows from the shape
    alone. Extents without a fitting divisor stay whole.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def DropBarriers : Pass<"graph-drop-barriers", "::mlir::func::FuncOp"> {
  let summary = "removes optimization barriers";
  let description = [{
    Afterwards: no stablehlo.optimization_barrier is left.
  }];
}

def IsolateRegions : Pass<"graph-isolate-regions", "::mlir::func::FuncOp"> {
  let summary = "gives the computations of reductions, sorts, scatters their own constants";
  let description = [{
    Afterwards: such a region uses no constant from outside.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def FillSplats : Pass<"graph-fill-splats", "::mlir::func::FuncOp"> {
  let summary = "splats that are needed in memory become computations";
  let description = [{
    Afterwards: no splat constant is updated in place, and no large one is read
    by a loop, a branch, a call or the return.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def FormLoops : Pass<"graph-form-loops", "::mlir::func::FuncOp"> {
  let summary = "loops with a small state become fusions";
  let description = [{
    Afterwards: each outermost loop that planRegisterLoop (RegisterLoop.h) accepts
    stands alone in a graph.fusion of the kind while, with the splat constants that
    it reads. Arrays that it updates in place are inputs of the fusion.
  }];
  let dependentDialects = ["::spokeshave::graph::GraphDialect"];
}

def FormAttention : Pass<"graph-form-attention", "::mlir::func::FuncOp"> {
  let summary = "two products around a softmax become a fusion";
  let description = [{
    Afterwards: each attention (Attention.h) whose scores have at least
    `fewest-bytes` bytes as f32, and enough rows and keys for blocks, stands alone in
    a graph.fusion of the kind attention; with `one-pass` only where a matrix unit
    computes both products in one pass (Precision.h).
  }];
  let options = [Option<"fewestBytes", "fewest-bytes", "int64_t", /*default=*/"0",
                        "Bytes of the smallest scores that are worth it">,
                 Option<"onePass", "one-pass", "bool", /*default=*/"false",
                        "Only products that one pass of bf16 is precise enough for">];
  let dependentDialects = ["::spokeshave::graph::GraphDialect"];
}

def SkipFills : Pass<"graph-skip-fills", "::mlir::func::FuncOp"> {
  let summary = "stacks that a loop fills come without a value";
  let description = [{
    Afterwards: no loop outside of fusions gets a computed splat for a carried stack
    all of whose layers it writes and none of which it reads. The operand is a constant
    instead, of which the attribute graph.unset says that it need not be in memory.
  }];
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
}

def Fuse : Pass<"graph-fuse", "::mlir::ModuleOp"> {
  let summary = "groups operations into fusions around heroes";
  let description = [{
    Afterwards: everything that computes stands in a graph.fusion. Left at top
    level are loops, branches, library and custom calls, constants, and reshapes,
    which are views. Instructions were at most doubled: the attributes
    graph.instructions_before and graph.instructions_after of the module say
    by how much.
  }];
  let dependentDialects = ["::spokeshave::graph::GraphDialect"];
}

def LiftConstants : Pass<"graph-lift-constants", "::mlir::func::FuncOp"> {
  let summary = "makes the numbers in which fusions differ inputs of one kernel";
  let description = [{
    Afterwards: of four fusions that are equal but for float splat constants in
    arithmetic, those constants are scalar inputs.
  }];
}

def OverlapExchanges : Pass<"graph-overlap-exchanges", "::mlir::func::FuncOp"> {
  let summary = "puts work between collectives and what reads them";
  let description = [{
    For machines whose links work beside their cores.

    Afterwards: a collective stands right behind what it needs or has effects, and
    what does not depend on it, up to the next one, before what does.
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

def Rematerialize : Pass<"graph-rematerialize", "::mlir::func::FuncOp"> {
  let summary = "computes cheap values again where they are used late (graph/Rematerialize.h)";
  let description = [{
    Afterwards: values between operations take at most `limit` bytes at once, or
    nothing is left whose recomputation helps. A remark tells of each.
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "0", "bytes that values may take at once">
  ];
  let dependentDialects = ["::spokeshave::graph::GraphDialect"];
}

def Annotate : Pass<"graph-annotate", "::mlir::func::FuncOp"> {
  let summary = "writes the analyses' results beside fusions, for tests and reports";
  let description = [{
    Afterwards: each fusion has graph.cost (flops, transcendentals, bytes) and
    graph.may_share (pairs of input and output that may have one buffer); the
    function has graph.cost of one execution.
  }];
}

def Unfuse : Pass<"graph-unfuse", "::mlir::func::FuncOp"> {
  let summary = "puts the bodies of fusions back in their place";
  let description = [{
    Afterwards: no graph.fusion is left; the program can be run by the reference.
  }];
}

#endif
