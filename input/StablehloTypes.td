//===- StablehloTypes.td - tokens and futures -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are MLIR's own; only these two types are the dialect's.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_STABLEHLO_TYPES
#define SPOKESHAVE_STABLEHLO_TYPES

include "input/StablehloBase.td"

class StableHLO_Type<string name, string typeMnemonic> : TypeDef<Stablehlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def StableHLO_Token : StableHLO_Type<"Token", "token"> {
  let summary = "orders operations with effects";
}

def StableHLO_Future : StableHLO_Type<"Future", "future"> {
  let summary = "the results of an asynchronous operation, once it is done";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

#endif
