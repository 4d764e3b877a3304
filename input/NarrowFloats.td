//===- NarrowFloats.td - floating-point types newer than MLIR --*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StableHLO has five element types that MLIR 19 has no class for. Here they are
// types of a dialect of their own: f8E3M4 is !narrow.f8E3M4. Constants of them
// are dense strings, one per element, either a number or its bits in hexadecimal;
// the interpreter knows the formats (reference/FloatFormat.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_NARROW_FLOATS
#define SPOKESHAVE_NARROW_FLOATS

include "mlir/IR/AttrTypeBase.td"

def Narrow_Dialect : Dialect {
  let name = "narrow";
  let cppNamespace = "::spokeshave::narrow";
  let summary = "floating-point element types newer than MLIR 19";
  let useDefaultTypePrinterParser = 1;
}

class Narrow_Type<string name, string spelled, string what> : TypeDef<Narrow_Dialect, name> {
  let mnemonic = spelled;
  let summary = what;
}

def Narrow_F8E3M4 : Narrow_Type<"Float8E3M4", "f8E3M4", "8 bits, infinities and NaN">;
def Narrow_F8E8M0FNU : Narrow_Type<"Float8E8M0FNU", "f8E8M0FNU", "a power of two in 8 bits">;
def Narrow_F6E2M3FN : Narrow_Type<"Float6E2M3FN", "f6E2M3FN", "6 bits, finite">;
def Narrow_F6E3M2FN : Narrow_Type<"Float6E3M2FN", "f6E3M2FN", "6 bits, finite">;
def Narrow_F4E2M1FN : Narrow_Type<"Float4E2M1FN", "f4E2M1FN", "4 bits, finite">;

#endif
