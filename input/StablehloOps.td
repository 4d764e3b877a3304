//===- StablehloOps.td - all operations -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Class, operand, attribute and region names are those of the public C++
// interface, so that code and documentation about it hold here too.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_STABLEHLO_OPS
#define SPOKESHAVE_STABLEHLO_OPS

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

include "input/StablehloBase.td"
include "input/StablehloEnums.td"
include "input/StablehloTypes.td"
include "input/StablehloAttrs.td"

include "input/StablehloElementwiseOps.td"
include "input/StablehloTensorOps.td"
include "input/StablehloMathOps.td"
include "input/StablehloControlOps.td"

#endif
