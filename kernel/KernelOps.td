//===- KernelOps.td - the kernel dialect -----------------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel computes one fusion. It is written with this dialect's memory
// operations, `scf` for loops and branches, and `arith`, `math` and one-
// dimensional `vector` values no larger than a register tile. Index arithmetic
// is `index`; indices that differ from lane to lane are vectors of i32, or of i64
// where a buffer has 2^31 elements or more.
//
// Values in registers: integers are signless (the operation knows the sign),
// predicates are i1. f16, bf16 and the f8 types are loaded and stored as their
// bits (i16, i8); kernel/ computes on them in f32 and rounds after each
// operation. Complex values are pairs.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_KERNEL_OPS
#define SPOKESHAVE_KERNEL_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::spokeshave::kernel";
  let summary = "Kernels of tiles over explicit memory spaces";
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_FuncOp : Kernel_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "a kernel: the body is one task of the grid";
  let description = [{
    Block arguments: the task number (`index`, 0 <= task < tasks), then the
    buffers of a launch, inputs then outputs, as memrefs with identity layout.
    Tasks are independent and may run on any thread in any order; so that bits
    do not depend on the thread count, what a task computes depends on its
    number alone.

    An output may be the same memory as an input that is read only at the
    position that is being written: a kernel loads whatever an iteration needs
    before it stores.

    With `updates_outputs` the outputs hold data when the kernel starts, and it
    may write parts of them only.

    `near_offsets` has a number per buffer: the byte of near memory where it is
    already when the kernel starts, or -1 for one in far memory (kernel/Stage.h).

    `core_parts` has, for each buffer and each core of the device, the bytes [begin, end)
    that the core's part of the tasks touches, on machines whose cores share kernels.

    A kernel with long loops inside has `polls_cancel`: its launches pass the
    address of the execution's cancel word behind the buffers, for kernel.cancelled.

    ```
    kernel.func @add(%task: index, %x: memref<8xf32>, %y: memref<8xf32>)
        tasks 1 inputs 1 { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$tasks, I64Attr:$num_inputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$task_cost_ns,
                       OptionalAttr<StrAttr>:$fusion_name,
                       OptionalAttr<DenseI64ArrayAttr>:$near_offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$core_parts,
                       UnitAttr:$updates_outputs, UnitAttr:$polls_cancel);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "int64_t":$tasks, "int64_t":$inputs,
                                 "mlir::TypeRange":$buffers)>];
  let extraClassDeclaration = [{
    mlir::Block &getBlock() { return getBody().front(); }
    mlir::Value getTask() { return getBlock().getArgument(0); }
    /// Inputs, then outputs.
    mlir::ValueRange getBuffers() { return getBlock().getArguments().drop_front(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Kernel_LoadOp : Kernel_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "loads a scalar or a register tile";
  let description = [{
    One index per dimension, or a single one that counts elements in row-major
    order over the whole buffer. Each is an `index` or, for a gather, a vector
    of i32 or i64 with one element per lane. With a vector result and only
    scalar indices, lane l reads l * `lane_stride` elements (in row-major order)
    beyond the indices; stride 0 reads one element into all lanes. Lanes whose
    mask is off read nothing and give zero. Indices must be in bounds where the
    mask is on; vector indices are signed.

    The result has the buffer's element type, or integers of the same width.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Variadic<AnyType>:$indices,
                       Optional<AnyType>:$mask, DefaultValuedAttr<I64Attr, "1">:$lane_stride);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` (`mask` $mask^)? attr-dict
    `:` type($buffer) `,` type($indices) (`,` `mask` type($mask)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_StoreOp : Kernel_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "stores a scalar or a register tile; indices, lanes and mask as for load";
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer,
                       Variadic<AnyType>:$indices, Optional<AnyType>:$mask,
                       DefaultValuedAttr<I64Attr, "1">:$lane_stride);
  let assemblyFormat = [{
    $value `,` $buffer `[` $indices `]` (`mask` $mask^)? attr-dict
    `:` type($value) `,` type($buffer) `,` type($indices) (`,` `mask` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_ScratchOp : Kernel_Op<"scratch", [Pure]> {
  let summary = "a typed view of this worker's scratch memory at a byte offset";
  let description = [{
    Offsets are multiples of 64. Contents are undefined when a task begins.
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
}

def Kernel_TableOp : Kernel_Op<"table", [Pure]> {
  let summary = "a small constant array that lives beside the code";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Kernel_PrefetchOp : Kernel_Op<"prefetch"> {
  let summary = "hints that the element at the indices will be read soon";
  let arguments = (ins AnyMemRef:$buffer, Variadic<AnyType>:$indices,
                       DefaultValuedAttr<I64Attr, "3">:$locality);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `,` type($indices)";
}

def Kernel_ReduceAngleOp : Kernel_Op<"reduce_angle", [Pure]> {
  let summary = "the exact remainder of large f64 angles modulo pi/2";
  let description = [{
    For finite |angle| >= 2^20: `quadrant` q (0..3, as f64) and `high` + `low`, the
    angle minus the nearest multiple of pi/2, that multiple being q modulo 4.
    Other lanes give unspecified values. It is the rare slow path of sine, cosine
    and tangent (Payne and Hanek's method), a call rather than inline code.
  }];
  let arguments = (ins AnyType:$angle);
  let results = (outs AnyType:$quadrant, AnyType:$high, AnyType:$low);
  let assemblyFormat = "$angle attr-dict `:` type($angle) `->` type($quadrant) `,` type($high) `,` type($low)";
}

def Kernel_WindowOp : Kernel_Op<"window", [Pure]> {
  let summary = "the box of a buffer that a task uses, in near memory";
  let description = [{
    How a lowering that knows its blocks tells kernel/Stage.h of them. The task's
    number is read in a mixed radix: `radices`, outermost digit first, whose product
    is the number of tasks. The box has `sizes`[d] positions along dimension d,
    outermost first, `strides`[d] elements of the buffer apart; the innermost stride
    is 1. It begins `base` elements into the buffer, plus, along each dimension,
    `steps`[d] positions for each step of digit `digits`[d] (-1: none moves it).
    There are `limits`[d] positions: of a box that reaches beyond, what is beyond is
    not moved, and undefined.

    The result holds the box row-major, of `sizes` elements. Of an input it is to be
    read only; of an output all that lies within the limits is to be written before
    the last of the tasks that share the box ends. The digits that move an output's
    box are the outermost ones, and no box is used twice.
  }];
  let arguments = (ins AnyMemRef:$buffer, I64Attr:$base, DenseI64ArrayAttr:$radices,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$digits,
                       DenseI64ArrayAttr:$steps);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $buffer `at` $base `tasks` $radices `sizes` $sizes `strides` $strides `limits` $limits
    `digits` $digits `steps` $steps attr-dict `:` type($buffer) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_DmaStartOp : Kernel_Op<"dma_start"> {
  let summary = "starts a transfer between two memories";
  let description = [{
    Copies a box of elements: dimension d, outermost first, has `counts`[d] steps
    of `source_strides`[d] and `target_strides`[d] elements; the innermost strides
    are 1. One of the buffers is an argument of the kernel (far memory) or near memory
    that is kept between kernels, the other the kernel's scratch. The data may be used once a dma_wait on the same
    semaphore has passed. Transfers with a count of zero move nothing.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Index:$source_offset,
                       Arg<AnyMemRef, "", [MemWrite]>:$target, Index:$target_offset,
                       Variadic<Index>:$counts, Index:$semaphore,
                       DenseI64ArrayAttr:$source_strides, DenseI64ArrayAttr:$target_strides);
  let assemblyFormat = [{
    $source `[` $source_offset `]` `to` $target `[` $target_offset `]` `counts` `(` $counts `)`
    `strides` $source_strides `to` $target_strides `signals` $semaphore attr-dict
    `:` type($source) `to` type($target)
  }];
}

def Kernel_DmaWaitOp : Kernel_Op<"dma_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all transfers that signal the semaphore are done";
  let arguments = (ins Index:$semaphore);
  let assemblyFormat = "$semaphore attr-dict";
}

// Matrix units: a target expands tile_dot into these where it has such units.

def Kernel_LoadRowsOp : Kernel_Op<"load_rows"> {
  let summary = "loads a register of rows: 8 rows of 128 elements";
  let description = [{
    Lane 128 * r + c is the element at `offset` + r * `row_stride` + c, counted in
    elements. Lanes whose mask is off read nothing and give zero.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Index:$offset,
                       Optional<AnyType>:$mask, I64Attr:$row_stride);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $buffer `[` $offset `]` (`mask` $mask^ `:` type($mask))? attr-dict `:` type($buffer) `->` type($result)
  }];
}

def Kernel_StoreRowsOp : Kernel_Op<"store_rows"> {
  let summary = "stores a register of rows; lanes as for load_rows";
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, Index:$offset,
                       Optional<AnyType>:$mask, I64Attr:$row_stride);
  let assemblyFormat = [{
    $value `,` $buffer `[` $offset `]` (`mask` $mask^ `:` type($mask))? attr-dict
    `:` type($value) `,` type($buffer)
  }];
}

def Kernel_MatrixLatchOp : Kernel_Op<"matrix_latch", [MemoryEffects<[MemWrite]>]> {
  let summary = "gives the unit 8 more rows of weights, which become active with the next swap";
  let description = [{
    `rows` are the first 128 columns, `more` the second ones of a unit with 256.
    `transposed`: they are 8 more columns instead, `rows` their first 128 steps of k;
    all latches between two swaps are of one kind.
  }];
  let arguments = (ins AnyType:$rows, Optional<AnyType>:$more, I64Attr:$unit, TypeAttr:$element,
                       UnitAttr:$transposed, UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $rows (`and` $more^ `:` type($more))? `unit` $unit `of` $element attr-dict `:` type($rows)
  }];
}

def Kernel_MatrixSwapOp : Kernel_Op<"matrix_swap", [MemoryEffects<[MemWrite]>]> {
  let summary = "the rows latched since the last swap become the unit's weights";
  let arguments = (ins I64Attr:$unit);
  let assemblyFormat = "`unit` $unit attr-dict";
}

def Kernel_MatrixPushOp : Kernel_Op<"matrix_push", [MemoryEffects<[MemWrite]>]> {
  let summary = "multiplies 8 rows with the unit's weights; the product joins its queue";
  let description = "`rows` are the first 128 steps of k, `more` the second ones of a unit with 256.";
  let arguments = (ins AnyType:$rows, Optional<AnyType>:$more, I64Attr:$unit, TypeAttr:$element,
                       TypeAttr:$sum, UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $rows (`and` $more^ `:` type($more))? `unit` $unit `of` $element `to` $sum attr-dict
    `:` type($rows)
  }];
}

def Kernel_MatrixPopOp : Kernel_Op<"matrix_pop", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "takes 8 rows of 128 of the oldest product from the unit's queue";
  let description = "A product of a unit with 256 columns is popped in two halves.";
  let arguments = (ins I64Attr:$unit);
  let results = (outs AnyType:$rows);
  let assemblyFormat = "`unit` $unit attr-dict `:` type($rows)";
}

def Kernel_CancelledOp : Kernel_Op<"cancelled", [MemoryEffects<[MemRead]>]> {
  let summary = "whether the execution is to end as soon as possible";
  let description = [{
    For loops that may run long, of a kernel with `polls_cancel`. Results of a
    cancelled execution are of no use: a kernel just returns.
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Kernel_TileDotOp : Kernel_Op<"tile_dot"> {
  let summary = "a register tile of a matrix product, over a whole panel of depth";
  let description = [{
    c[i * c_row_stride + j] (+)= sum over k < depth of
        a[i * a_row_stride + k * a_depth_stride] * b[k * b_depth_stride + j * b_column_stride]
    for i < rows, j < columns, each buffer counted in elements from its offset;
    `accumulate` says whether c is added to or overwritten. k runs upwards, so
    the order of the sum is fixed.

    Integers and narrow floats are widened to the element type of c before they
    are multiplied; float products are fused into the sum where the machine can.
    c is scratch memory, its rows padded to whole registers: lanes beyond
    `columns` of the last register are undefined. b is read within `columns`.

    rows times the registers of a row must leave two registers of the file free.
    Machines with matrix units have no such bound; they alone take a
    `b_column_stride` other than 1, where `b_depth_stride` is 1, and bytes that
    `a_unsigned` or `b_unsigned` says are unsigned without packing them.

    Packed operands, `depth_pack` = p > 1: bf16 in pairs, summed in f32, or bytes
    in fours, summed in i32. Then
        a[i * a_row_stride + k] and b[(k / p) * b_depth_stride + j * p + k % p]
    are multiplied as they are, bytes as signed numbers unless `a_unsigned` or
    `b_unsigned`. `a_excess` is subtracted from each byte of a: a machine that
    multiplies only unsigned with signed bytes takes signed ones 128 too high.
    The depth is a multiple of p; b is read in whole registers. Sums of bytes are
    exact; those of bf16 treat denormals as zeros, and their order is the
    machine's within a group of p.

    Units that take bf16 multiply f32 in parts: a is the sum of `a_parts` bf16
    numbers, the largest first, b of `b_parts`, and part i of a is multiplied with
    part j of b where i + j <= `order`, the smallest products first.

    A matrix unit, `unit_rows` = r > 0: packed operands again. rows is r or 2 r,
    columns one or two registers, the depth a multiple of 64 bytes; all of a and
    b is read and all of c is written. All tile_dots of a kernel have the same r.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$a, Index:$a_offset,
                       Arg<AnyMemRef, "", [MemRead]>:$b, Index:$b_offset,
                       Arg<AnyMemRef, "", [MemRead, MemWrite]>:$c, Index:$c_offset, Index:$depth,
                       I64Attr:$rows, I64Attr:$columns, I64Attr:$a_row_stride,
                       I64Attr:$a_depth_stride, I64Attr:$b_depth_stride, I64Attr:$c_row_stride,
                       BoolAttr:$accumulate, DefaultValuedAttr<I64Attr, "1">:$depth_pack,
                       DefaultValuedAttr<I64Attr, "0">:$unit_rows,
                       DefaultValuedAttr<I64Attr, "0">:$a_excess, UnitAttr:$a_unsigned,
                       UnitAttr:$b_unsigned, DefaultValuedAttr<I64Attr, "1">:$b_column_stride,
                       DefaultValuedAttr<I64Attr, "1">:$a_parts,
                       DefaultValuedAttr<I64Attr, "1">:$b_parts,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let assemblyFormat = [{
    $a `[` $a_offset `]` `,` $b `[` $b_offset `]` `to` $c `[` $c_offset `]` `depth` $depth
    attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
}

#endif
