//===- StablehloElementwiseOps.td - operations on one index at a time -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result at an index depends on the operands at that index alone. Included
// by StablehloOps.td.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// One operand.
//===----------------------------------------------------------------------===//

class StableHLO_UnaryOp<string mnemonic, Type operandType, Type resultType = operandType,
                        list<Trait> traits = [HLO_CompatibleTypes]>
    : StableHLO_Op<mnemonic, traits # [HLO_SameShape, Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = mnemonic # ", elementwise";
  let arguments = (ins operandType:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

// A transcendental function, which may be asked for an accuracy.
class StableHLO_TranscendentalOp<string mnemonic>
    : StableHLO_UnaryOp<mnemonic, HLO_FpComplexOrQuantizedIntTensor> {
  let arguments = (ins
    HLO_FpComplexOrQuantizedIntTensor:$operand,
    DefaultValuedOptionalAttr<StableHLO_ResultAccuracyAttr,
        "::spokeshave::stablehlo::ResultAccuracyMode::DEFAULT">:$result_accuracy);
}

def StableHLO_CbrtOp : StableHLO_TranscendentalOp<"cbrt">;
def StableHLO_CosineOp : StableHLO_TranscendentalOp<"cosine">;
def StableHLO_ExpOp : StableHLO_TranscendentalOp<"exponential">;
def StableHLO_Expm1Op : StableHLO_TranscendentalOp<"exponential_minus_one">;
def StableHLO_LogOp : StableHLO_TranscendentalOp<"log">;
def StableHLO_Log1pOp : StableHLO_TranscendentalOp<"log_plus_one">;
def StableHLO_LogisticOp : StableHLO_TranscendentalOp<"logistic">;
def StableHLO_RsqrtOp : StableHLO_TranscendentalOp<"rsqrt">;
def StableHLO_SineOp : StableHLO_TranscendentalOp<"sine">;
def StableHLO_SqrtOp : StableHLO_TranscendentalOp<"sqrt">;
def StableHLO_TanOp : StableHLO_TranscendentalOp<"tan">;
def StableHLO_TanhOp : StableHLO_TranscendentalOp<"tanh">;

def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", HLO_FpOrQuantizedIntTensor>;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", HLO_FpOrQuantizedIntTensor>;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", HLO_FpOrQuantizedIntTensor>;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", HLO_FpOrQuantizedIntTensor>;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros", HLO_IntTensor>;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", HLO_IntTensor>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", HLO_PredOrIntTensor>;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", HLO_IntFpOrComplexOrQuantizedIntTensor>;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", HLO_SignedTensor>;

// Complex numbers in, real numbers out.
def StableHLO_AbsOp : StableHLO_UnaryOp<"abs", HLO_SignedTensor, HLO_SignedRealTensor,
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let hasVerifier = 1;
}
def StableHLO_ImagOp : StableHLO_UnaryOp<"imag", HLO_FpOrComplexTensor, HLO_FpTensor,
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let hasVerifier = 1;
}
def StableHLO_RealOp : StableHLO_UnaryOp<"real", HLO_FpOrComplexTensor, HLO_FpTensor,
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let hasVerifier = 1;
}

def StableHLO_IsFiniteOp : StableHLO_UnaryOp<"is_finite", HLO_FpOrQuantizedIntTensor, HLO_PredTensor,
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$x);
  let results = (outs HLO_PredTensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ConvertOp
    : StableHLO_UnaryOp<"convert", HLO_NonQuantizedTensor, HLO_NonQuantizedTensor, []> {
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$result_element_ty)>];
}

def StableHLO_ReducePrecisionOp
    : StableHLO_Op<"reduce_precision", [Pure, Elementwise, HLO_CompatibleTypes]> {
  let summary = "rounds to a smaller float format, and back";
  let arguments = (ins
    HLO_FpOrQuantizedIntTensor:$operand,
    I32Attr:$exponent_bits,
    I32Attr:$mantissa_bits);
  let results = (outs HLO_FpOrQuantizedIntTensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits)
      attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
}

def StableHLO_UniformQuantizeOp
    : StableHLO_UnaryOp<"uniform_quantize", HLO_FpOrAnyQuantizedTensor, HLO_QuantizedIntTensor, []> {
  let hasVerifier = 1;
}
def StableHLO_UniformDequantizeOp
    : StableHLO_UnaryOp<"uniform_dequantize", HLO_QuantizedIntTensor, HLO_FpTensor, []> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Two operands.
//===----------------------------------------------------------------------===//

class StableHLO_BinaryOp<string mnemonic, Type operandType, list<Trait> traits = [],
                         list<Trait> typing = [HLO_CompatibleTypes], Type resultType = operandType>
    : StableHLO_Op<mnemonic, typing # traits # [HLO_SameShape, Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = mnemonic # ", elementwise";
  let arguments = (ins operandType:$lhs, operandType:$rhs);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_AddOp
    : StableHLO_BinaryOp<"add", HLO_TensorOrPerAxisQuantizedTensor, [Commutative]> {
  let hasVerifier = 1;
}
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", HLO_FpComplexOrQuantizedIntTensor>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", HLO_IntFpOrComplexOrQuantizedIntTensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", HLO_Tensor, [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", HLO_Tensor, [Commutative]>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", HLO_Tensor, [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", HLO_IntFpOrComplexOrQuantizedIntTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", HLO_IntFpOrComplexOrQuantizedIntTensor>;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", HLO_IntTensor>;
def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic", HLO_IntTensor>;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical", HLO_IntTensor>;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", HLO_IntFpOrComplexOrQuantizedIntTensor>;
def StableHLO_AndOp : StableHLO_BinaryOp<"and", HLO_PredOrIntTensor, [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", HLO_PredOrIntTensor, [Commutative]>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", HLO_PredOrIntTensor, [Commutative]>;

def StableHLO_ComplexOp : StableHLO_BinaryOp<"complex", HLO_Fp32Or64Tensor, [],
    [DeclareOpInterfaceMethods<InferTypeOpInterface>], HLO_ComplexTensor> {
  let hasVerifier = 1;
  let assemblyFormat = [{
    operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_CompareOp
    : StableHLO_Op<"compare", [HLO_CompatibleOperandElementTypes, HLO_SameShape, Pure, Elementwise,
                               SameOperandsAndResultShape,
                               DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "compares elementwise";
  let arguments = (ins
    HLO_Tensor:$lhs,
    HLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs HLO_PredTensor);
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
      "::spokeshave::stablehlo::ComparisonDirection":$comparison_direction,
      CArg<"::spokeshave::stablehlo::ComparisonType",
           "::spokeshave::stablehlo::ComparisonType::NOTYPE">:$compare_type)>];
  let assemblyFormat = [{
    custom<Enum>($comparison_direction) `,` $lhs `,` $rhs `` custom<OptionalEnum>($compare_type)
      attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Three operands, of which some may be scalars.
//===----------------------------------------------------------------------===//

def StableHLO_ClampOp
    : StableHLO_Op<"clamp", [Pure, HLO_CompatibleElementTypes,
                             DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "keeps each element between two bounds";
  let arguments = (ins HLO_Tensor:$min, HLO_Tensor:$operand, HLO_Tensor:$max);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
      custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
}

def StableHLO_SelectOp
    : StableHLO_Op<"select", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "takes each element from one of two tensors";
  let arguments = (ins HLO_PredTensor:$pred, HLO_Tensor:$on_true, HLO_Tensor:$on_false);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    operands attr-dict `:`
      custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))
  }];
}
