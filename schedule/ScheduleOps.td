//===- ScheduleOps.td - the schedule dialect -------------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program after scheduling: every tensor has become a piece of memory
// (`memref` with identity layout, row-major, one byte for i1 and for types
// narrower than a byte), and the program is a sequence of kernel launches,
// copies, loops and library calls over it.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_SCHEDULE_OPS
#define SPOKESHAVE_SCHEDULE_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Schedule_Dialect : Dialect {
  let name = "schedule";
  let cppNamespace = "::spokeshave::schedule";
  let summary = "Order, buffers, parallel regions";
}

class Schedule_Op<string mnemonic, list<Trait> traits = []> : Op<Schedule_Dialect, mnemonic, traits>;

def Schedule_ProgramOp : Schedule_Op<"program", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "the driver of one compiled program";
  let description = [{
    Block arguments: first the program's arguments, then its results, all
    memrefs. `arena_bytes` is the size of the pooled temporaries of one
    execution. `aliases[i]` is the argument whose donated buffer result i
    takes over, or -1; the two then are one buffer. No other argument is ever
    written.

    ```mlir
    schedule.program @main(%x: memref<4xf32>) results(%r: memref<4xf32>)
        arena 128 aliases [-1] { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$num_arguments, I64Attr:$arena_bytes,
                       DenseI64ArrayAttr:$aliases);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// The program's arguments and its results among the block arguments.
    ::mlir::ArrayRef<::mlir::BlockArgument> getProgramArguments();
    ::mlir::ArrayRef<::mlir::BlockArgument> getProgramResults();
  }];
}

def Schedule_KernelOp : Schedule_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "a distinct fusion, outlined, waiting to be lowered by kernel/";
  let description = [{
    Holds one `graph.fusion` in its body, whose inputs are the block arguments
    (tensors). Identical fusions share one. Buffers of a launch: the fusion's
    inputs, then its outputs.

    A result of an update or scatter fusion that graph/Aliasing.h ties to an
    input already holds that input's data when the kernel starts (in the same
    buffer, or copied): the kernel writes only what changes.

    ```mlir
    schedule.kernel @add(%a: tensor<4xf32>) {
      %0 = graph.fusion loop "add"(...) -> tensor<4xf32> { ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::spokeshave::graph::FusionOp getFusion();
  }];
}

def Schedule_ArenaOp : Schedule_Op<"arena", [Pure]> {
  let summary = "a temporary: a typed view of the execution's arena at a byte offset";
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
}

def Schedule_ConstantOp : Schedule_Op<"constant", [Pure]> {
  let summary = "constant data that lives beside the code";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Schedule_ViewOp : Schedule_Op<"view", [Pure]> {
  let summary = "the same bytes with another shape or element type";
  let arguments = (ins AnyMemRef:$source, DefaultValuedAttr<I64Attr, "0">:$byte_offset);
  let results = (outs AnyMemRef:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
}

def Schedule_TripOp : Schedule_Op<"trip", [Pure]> {
  let summary = "an integer that is in no memory: it counts trips of the innermost loop around its user";
  let description = "In trip t (0 is the first) it is `begin` + t * `step`.";
  let arguments = (ins I64Attr:$begin, I64Attr:$step);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$begin `step` $step attr-dict `:` type($result)";
}

def Schedule_SliceOp : Schedule_Op<"slice", [Pure]> {
  let summary = "a part of a buffer, whose place is known when the program runs";
  let description = [{
    Begins `byte_offset` bytes into `source`, and for each of `starts` (integers of
    rank 0 that whoever runs the program reads, or schedule.trip) min(max(start, 0),
    limit) * stride bytes further; to a negative start its number of `wraps` is added
    first. With `rows` > 1 it is a box: as many runs of bytes,
    `pitch` bytes apart, which copies alone may touch.
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<AnyMemRef>:$starts, DenseI64ArrayAttr:$limits,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$wraps, DefaultValuedAttr<I64Attr, "0">:$byte_offset,
                       DefaultValuedAttr<I64Attr, "1">:$rows, DefaultValuedAttr<I64Attr, "0">:$pitch);
  let results = (outs AnyMemRef:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source `at` `(` $starts `)` `limits` $limits `strides` $strides `wraps` $wraps attr-dict
    `:` type($source) `,` `(` type($starts) `)` `to` type($result)
  }];
}

def Schedule_ParallelOp : Schedule_Op<"parallel", [SingleBlock, NoTerminator]> {
  let summary = "one parallel region: its launches run in order on all threads, a barrier between";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

def Schedule_LaunchOp : Schedule_Op<"launch"> {
  let summary = "runs a kernel over all its tasks";
  let hasVerifier = 1;
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$num_inputs, Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = "$kernel `inputs` $num_inputs `(` $buffers `)` attr-dict `:` type($buffers)";
}

def Schedule_CopyOp : Schedule_Op<"copy"> {
  let summary = "copies the bytes of one buffer to another";
  let hasVerifier = 1;
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
}

def Schedule_NearOp : Schedule_Op<"near", [Pure]> {
  let summary = "a buffer in the near memory at a byte offset, which stays there from launch to launch";
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
}

def Schedule_StartOp : Schedule_Op<"start"> {
  let summary = "starts a transfer that goes on while later steps run";
  let description = [{
    Between far and near memory, or within either. `signal` is the number that a
    schedule.wait names. Until then nothing writes `source` or touches `target`.

    Where several cores have a near memory each, `parts` has the bytes [begin, end) that
    each of them moves from or to its own; else the first one moves all.

    `first_run`: not started where a run of the program has just ended, which has
    started its like, `next_run`, for this one. The program must then be given the
    same arguments again. `next_trip`: for the loop's next trip, not started in the
    last one.
  }];
  let hasVerifier = 1;
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$target, I64Attr:$signal,
                       OptionalAttr<DenseI64ArrayAttr>:$parts,
                       UnitAttr:$first_run, UnitAttr:$next_run, UnitAttr:$next_trip);
  let assemblyFormat = "$source `to` $target `signal` $signal (`parts` $parts^)? attr-dict `:` type($source) `to` type($target)";
}

def Schedule_WaitOp : Schedule_Op<"wait"> {
  let summary = "waits for the transfer that was started with this signal";
  let arguments = (ins I64Attr:$signal);
  let assemblyFormat = "$signal attr-dict";
}

def Schedule_WhileOp : Schedule_Op<"while", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "runs `condition`, then while the i1 at `predicate` is true `body` and `condition`";
  let description = [{
    Carried values live in buffers that both regions read and write in place.
    With `trip_count`, where the compiler could prove it, the driver counts:
    there is no predicate and `condition` is empty.
  }];
  let arguments = (ins Optional<AnyMemRef>:$predicate, OptionalAttr<I64Attr>:$trip_count);
  let regions = (region AnyRegion:$condition, SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    (`trips` $trip_count^)? (`on` $predicate^ `:` type($predicate) `condition` $condition)?
    `body` $body attr-dict
  }];
}

def Schedule_CaseOp : Schedule_Op<"case", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "runs the branch that the i32 (or, for an if, i1: true is branch 0) at `index` names; out of range: the last";
  let arguments = (ins AnyMemRef:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
  let assemblyFormat = "$index attr-dict `:` type($index) $branches";
}

def Schedule_LibraryOp : Schedule_Op<"library"> {
  let summary = "a call to a library routine of the runtime (FFT, LAPACK), counted";
  let arguments = (ins StrAttr:$routine, I64Attr:$num_inputs, Variadic<AnyMemRef>:$buffers, DictionaryAttr:$config);
  let assemblyFormat = "$routine `inputs` $num_inputs `(` $buffers `)` $config attr-dict `:` type($buffers)";
}

def Schedule_CustomCallOp : Schedule_Op<"custom_call"> {
  let summary = "a call to a registered FFI target, counted";
  let arguments = (ins StrAttr:$target, I64Attr:$num_inputs, Variadic<AnyMemRef>:$buffers,
                       DictionaryAttr:$config, I32Attr:$api_version);
  let assemblyFormat = "$target `inputs` $num_inputs `(` $buffers `)` $config `api` $api_version attr-dict `:` type($buffers)";
}

#endif
