//===- StablehloOps.h - the StableHLO dialect -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StableHLO's operations, attributes and types, declared from the public
// specification. Class and accessor names are those of the public C++ interface.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "input/StablehloTraits.h"

// Dialect, enumerations, types and attributes.
#include "input/StablehloDialect.h.inc"
#include "input/StablehloEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "input/StablehloTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "input/StablehloAttrs.h.inc"

namespace spokeshave::stablehlo {

// What an infeed, outfeed, send or recv reads and writes: one queue per kind, so
// that each kind keeps its order and no other effect is ordered with it.
struct InfeedQueue : ::mlir::SideEffects::Resource::Base<InfeedQueue> {
  ::llvm::StringRef getName() final { return "infeed"; }
};
struct OutfeedQueue : ::mlir::SideEffects::Resource::Base<OutfeedQueue> {
  ::llvm::StringRef getName() final { return "outfeed"; }
};
struct SendQueue : ::mlir::SideEffects::Resource::Base<SendQueue> {
  ::llvm::StringRef getName() final { return "send"; }
};
struct RecvQueue : ::mlir::SideEffects::Resource::Base<RecvQueue> {
  ::llvm::StringRef getName() final { return "recv"; }
};

} // namespace spokeshave::stablehlo

#define GET_OP_CLASSES
#include "input/StablehloOps.h.inc"
