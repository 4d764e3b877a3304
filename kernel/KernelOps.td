//===- KernelOps.td - the kernel dialect -----------------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel computes one fusion. It is written with this dialect's memory
// operations, `scf` for loops and branches, and `arith`, `math` and `vector`
// on values no larger than a register tile. Index arithmetic is `index`.
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
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$tasks, I64Attr:$num_inputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$task_cost_ns,
                       OptionalAttr<StrAttr>:$fusion_name);
  let regions = (region SizedRegion<1>:$body);
}

def Kernel_LoadOp : Kernel_Op<"load"> {
  let summary = "loads a scalar or a register tile";
  let description = [{
    Each index is an `index` or, for a gather, a `vector<Nxindex>`. With a
    vector result and only scalar indices, lane l reads at the given indices
    with `lane_dim`'s index advanced by l * `lane_stride`. Lanes whose mask is
    off read nothing and give zero. Indices must be in bounds where the mask is
    on.
  }];
  let arguments = (ins AnyMemRef:$buffer, Variadic<AnyType>:$indices, Optional<AnyType>:$mask,
                       OptionalAttr<I64Attr>:$lane_dim, DefaultValuedAttr<I64Attr, "1">:$lane_stride);
  let results = (outs AnyType:$result);
}

def Kernel_StoreOp : Kernel_Op<"store"> {
  let summary = "stores a scalar or a register tile; indices, lanes and mask as for load";
  let arguments = (ins AnyType:$value, AnyMemRef:$buffer, Variadic<AnyType>:$indices,
                       Optional<AnyType>:$mask, OptionalAttr<I64Attr>:$lane_dim,
                       DefaultValuedAttr<I64Attr, "1">:$lane_stride);
}

#endif
