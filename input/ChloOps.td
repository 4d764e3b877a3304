//===- ChloOps.td - the chlo dialect: client operations --*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The public dialect of operations that frameworks' text has beside StableHLO's:
// functions without a StableHLO operation and arithmetic with implicit broadcasts.
// They live while a program is read: ExpandChlo.h turns each into StableHLO, so
// that nothing after input/ knows them. Types are constrained loosely here; the
// expansion says what does not fit.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_CHLO_OPS
#define SPOKESHAVE_CHLO_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::spokeshave::chlo";
  let summary = "client operations, expanded to StableHLO while reading";
  let dependentDialects = ["::spokeshave::stablehlo::StablehloDialect"];
  // Its attributes are those of StableHLO by another name; dimension numbers of
  // ragged_dot become a dictionary.
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
  }];
}

class Chlo_Op<string mnemonic, list<Trait> traits = []> : Op<Chlo_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Elementwise functions.
//===----------------------------------------------------------------------===//

class Chlo_UnaryOp<string mnemonic, string what>
    : Chlo_Op<mnemonic, [Pure, SameOperandsAndResultShape]> {
  let summary = what;
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Chlo_AcosOp : Chlo_UnaryOp<"acos", "inverse cosine">;
def Chlo_AcoshOp : Chlo_UnaryOp<"acosh", "inverse hyperbolic cosine">;
def Chlo_AsinOp : Chlo_UnaryOp<"asin", "inverse sine">;
def Chlo_AsinhOp : Chlo_UnaryOp<"asinh", "inverse hyperbolic sine">;
def Chlo_AtanOp : Chlo_UnaryOp<"atan", "inverse tangent">;
def Chlo_AtanhOp : Chlo_UnaryOp<"atanh", "inverse hyperbolic tangent">;
def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e", "modified Bessel function of order 1 times exp(-|x|)">;
def Chlo_ConjOp : Chlo_UnaryOp<"conj", "complex conjugate">;
def Chlo_CoshOp : Chlo_UnaryOp<"cosh", "hyperbolic cosine">;
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma", "derivative of lgamma">;
def Chlo_ErfOp : Chlo_UnaryOp<"erf", "error function">;
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv", "inverse of the error function">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", "1 - erf">;
def Chlo_IsInfOp : Chlo_UnaryOp<"is_inf", "is infinite">;
def Chlo_IsNegInfOp : Chlo_UnaryOp<"is_neg_inf", "is negative infinity">;
def Chlo_IsPosInfOp : Chlo_UnaryOp<"is_pos_inf", "is positive infinity">;
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma", "logarithm of |gamma|">;
def Chlo_SinhOp : Chlo_UnaryOp<"sinh", "hyperbolic sine">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", "x * x">;
def Chlo_TanOp : Chlo_UnaryOp<"tan", "tangent">;

class Chlo_BinaryOp<string mnemonic, string what>
    : Chlo_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = what;
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Chlo_MulhiOp : Chlo_BinaryOp<"mulhi", "the high half of a product">;
def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", "the number beside lhs towards rhs">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", "derivative of order lhs of digamma">;
def Chlo_ZetaOp : Chlo_BinaryOp<"zeta", "Hurwitz zeta function of lhs and rhs">;

//===----------------------------------------------------------------------===//
// With broadcasts: of the lower rank to trailing dimensions, or to those named.
//===----------------------------------------------------------------------===//

class Chlo_BroadcastBinaryOp<string mnemonic, dag extra = (ins)>
    : Chlo_Op<"broadcast_" # mnemonic, [Pure]> {
  let summary = mnemonic # " of operands brought to one shape";
  let arguments = !con((ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                            OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions), extra);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
}

def Chlo_BroadcastAddOp : Chlo_BroadcastBinaryOp<"add">;
def Chlo_BroadcastAndOp : Chlo_BroadcastBinaryOp<"and">;
def Chlo_BroadcastAtan2Op : Chlo_BroadcastBinaryOp<"atan2">;
def Chlo_BroadcastCompareOp
    : Chlo_BroadcastBinaryOp<"compare", (ins AnyAttr:$comparison_direction,
                                             OptionalAttr<AnyAttr>:$compare_type)>;
def Chlo_BroadcastComplexOp : Chlo_BroadcastBinaryOp<"complex">;
def Chlo_BroadcastDivOp : Chlo_BroadcastBinaryOp<"divide">;
def Chlo_BroadcastMaxOp : Chlo_BroadcastBinaryOp<"maximum">;
def Chlo_BroadcastMinOp : Chlo_BroadcastBinaryOp<"minimum">;
def Chlo_BroadcastMulOp : Chlo_BroadcastBinaryOp<"multiply">;
def Chlo_BroadcastNextAfterOp : Chlo_BroadcastBinaryOp<"next_after">;
def Chlo_BroadcastOrOp : Chlo_BroadcastBinaryOp<"or">;
def Chlo_BroadcastPolygammaOp : Chlo_BroadcastBinaryOp<"polygamma">;
def Chlo_BroadcastPowOp : Chlo_BroadcastBinaryOp<"power">;
def Chlo_BroadcastRemOp : Chlo_BroadcastBinaryOp<"remainder">;
def Chlo_BroadcastShiftLeftOp : Chlo_BroadcastBinaryOp<"shift_left">;
def Chlo_BroadcastShiftRightArithmeticOp : Chlo_BroadcastBinaryOp<"shift_right_arithmetic">;
def Chlo_BroadcastShiftRightLogicalOp : Chlo_BroadcastBinaryOp<"shift_right_logical">;
def Chlo_BroadcastSubOp : Chlo_BroadcastBinaryOp<"subtract">;
def Chlo_BroadcastXorOp : Chlo_BroadcastBinaryOp<"xor">;
def Chlo_BroadcastZetaOp : Chlo_BroadcastBinaryOp<"zeta">;

def Chlo_BroadcastSelectOp : Chlo_Op<"broadcast_select", [Pure]> {
  let summary = "select of operands brought to one shape";
  let arguments = (ins AnyRankedTensor:$pred, AnyRankedTensor:$on_true, AnyRankedTensor:$on_false);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// The others.
//===----------------------------------------------------------------------===//

def Chlo_ConstantOp : Chlo_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "attr-dict $value";
}

def Chlo_ConstantLikeOp : Chlo_Op<"constant_like", [Pure, SameOperandsAndResultShape]> {
  let summary = "a constant of the operand's shape";
  let arguments = (ins TypedAttrInterface:$value, AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
}

def Chlo_RaggedDotOp : Chlo_Op<"ragged_dot", [Pure]> {
  let summary = "dot_general in groups along one dimension of lhs, of sizes given at run time";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$group_sizes,
                       DictionaryAttr:$ragged_dot_dimension_numbers,
                       OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyRankedTensor:$result);
}

def Chlo_ScanOp : Chlo_Op<"scan", [AttrSizedOperandSegments, AttrSizedResultSegments,
                                   IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "a loop over one dimension with carried values";
  let description = [{
    The body takes a slice of each input, without the dimension, and the carried
    values; it gives a slice of each output and the next carried values.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$inits,
                       I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
                       OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<AnyRankedTensor>:$outputs, Variadic<AnyRankedTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Chlo_TopKOp : Chlo_Op<"top_k", [Pure]> {
  let summary = "the k largest elements along the last dimension, and where they are";
  let arguments = (ins AnyRankedTensor:$operand, I64Attr:$k,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:`
    type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

#endif
