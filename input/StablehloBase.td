//===- StablehloBase.td - the dialect, its element types and traits -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the specification says of types, as constraints of operands and results.
// A constraint's text ends up in error messages.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_STABLEHLO_BASE
#define SPOKESHAVE_STABLEHLO_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::spokeshave::stablehlo";
  let summary = "StableHLO 1.22, declared from its public specification";
  let dependentDialects = ["::mlir::quant::QuantizationDialect"];
  // Hand written for the short form of bounds, #stablehlo.bounds<3, ?>.
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, traits> {
  // Used by InferTypeOpInterface, where an operation has it.
  string compatibility = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange a, ::mlir::TypeRange b) {
      return ::spokeshave::stablehlo::areCompatibleTypes(a, b);
    }
  }];
  let extraClassDeclaration = compatibility;
}

//===----------------------------------------------------------------------===//
// Element types. Signless integers are signed; i1 is bool.
//===----------------------------------------------------------------------===//

def HLO_Pred : TypeAlias<I1, "bool">;
def HLO_SInt : SignlessIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def HLO_UInt : UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def HLO_Int : AnyTypeOf<[HLO_SInt, HLO_UInt], "2/4/8/16/32/64-bit integer">;
def HLO_Float : Type<CPred<"::spokeshave::stablehlo::isFloatElement($_self)">, "8/16/32/64-bit float">;
def HLO_Float32Or64 : AnyTypeOf<[F32, F64], "32/64-bit float">;
def HLO_Complex : Complex<HLO_Float32Or64>;
def HLO_QuantizedInt
    : Type<CPred<"::llvm::isa<::mlir::quant::UniformQuantizedType>($_self) && "
                 "::spokeshave::stablehlo::isValidQuantizedElement($_self)">,
           "per-tensor integer quantized">;
def HLO_PerAxisQuantizedInt
    : Type<CPred<"::llvm::isa<::mlir::quant::UniformQuantizedPerAxisType>($_self) && "
                 "::spokeshave::stablehlo::isValidQuantizedElement($_self)">,
           "per-axis integer quantized">;

defvar HLO_Plain = [HLO_Float, HLO_Pred, HLO_Int, HLO_Complex];
defvar HLO_PerTensor = HLO_Plain # [HLO_QuantizedInt];
defvar HLO_Any = HLO_PerTensor # [HLO_PerAxisQuantizedInt];

// The dimension that scales belong to exists and has as many elements as scales.
def HLO_QuantizedDimensionFits
    : CPred<"::spokeshave::stablehlo::hasValidQuantizedDimension($_self)">;

//===----------------------------------------------------------------------===//
// Tensors, tokens, tuples.
//===----------------------------------------------------------------------===//

def HLO_Tensor : RankedTensorOf<HLO_PerTensor>;
def HLO_TensorOrPerAxisQuantizedTensor : RankedTensorOf<HLO_Any, [HLO_QuantizedDimensionFits]>;
def HLO_NonQuantizedTensor : RankedTensorOf<HLO_Plain>;
def HLO_AnyTensor : TensorOf<HLO_Any, [HLO_QuantizedDimensionFits]>;

def HLO_PredTensor : RankedTensorOf<[HLO_Pred]>;
def HLO_IntTensor : RankedTensorOf<[HLO_Int]>;
def HLO_PredOrIntTensor : RankedTensorOf<[HLO_Pred, HLO_Int]>;
def HLO_FpTensor : RankedTensorOf<[HLO_Float]>;
def HLO_Fp32Or64Tensor : RankedTensorOf<[HLO_Float32Or64]>;
def HLO_ComplexTensor : RankedTensorOf<[HLO_Complex]>;
def HLO_FpOrComplexTensor : RankedTensorOf<[HLO_Float, HLO_Complex]>;
def HLO_FpOrQuantizedIntTensor : RankedTensorOf<[HLO_Float, HLO_QuantizedInt]>;
def HLO_IntOrFpTensor : RankedTensorOf<[HLO_Int, HLO_Float]>;
def HLO_PredIntOrFpTensor : RankedTensorOf<[HLO_Pred, HLO_Int, HLO_Float]>;
def HLO_FpComplexOrQuantizedIntTensor
    : RankedTensorOf<[HLO_Float, HLO_Complex, HLO_QuantizedInt]>;
def HLO_IntFpOrComplexOrQuantizedIntTensor
    : RankedTensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_QuantizedInt]>;
def HLO_SignedTensor
    : RankedTensorOf<[HLO_SInt, HLO_Float, HLO_Complex, HLO_QuantizedInt]>;
def HLO_SignedRealTensor : RankedTensorOf<[HLO_SInt, HLO_Float, HLO_QuantizedInt]>;
def HLO_QuantizedIntTensor : RankedTensorOf<[HLO_QuantizedInt, HLO_PerAxisQuantizedInt],
                                            [HLO_QuantizedDimensionFits]>;
def HLO_FpOrAnyQuantizedTensor
    : RankedTensorOf<[HLO_Float, HLO_QuantizedInt, HLO_PerAxisQuantizedInt],
                     [HLO_QuantizedDimensionFits]>;
def HLO_StatisticTensor : 1DTensorOf<[HLO_Float, HLO_QuantizedInt]>;

def HLO_ScalarTensor : 0DTensorOf<HLO_PerTensor>;
def HLO_ScalarIntTensor : 0DTensorOf<[HLO_Int]>;
def HLO_ScalarPredIntOrFpTensor : 0DTensorOf<[HLO_Pred, HLO_Int, HLO_Float]>;
def I32RankedTensor : RankedTensorOf<[I32]>;
def UI32RankedTensor : RankedTensorOf<[UI32]>;

// The shape of a result given as a run-time value.
def HLO_DimensionValue : AnyTypeOf<[Index, HLO_Int]>;
def HLO_DimensionTensor : 1DTensorOf<[HLO_DimensionValue]>;
def HLO_StaticDimensionTensor
    : RankedTensorOf<[HLO_DimensionValue], [HasStaticShapePred, HasAnyRankOfPred<[1]>],
                     "statically shaped 1-dimensional tensor">;
def HLO_Static1DIntTensor
    : RankedTensorOf<[HLO_Int], [HasStaticShapePred, HasAnyRankOfPred<[1]>],
                     "statically shaped 1-dimensional integer tensor">;
def HLO_Static2DIntTensor
    : RankedTensorOf<[HLO_Int], [HasStaticShapePred, HasAnyRankOfPred<[2]>],
                     "statically shaped 2-dimensional integer tensor">;
def HLO_StaticShapeTensor
    : RankedTensorOf<HLO_Any, [HasStaticShapePred, HLO_QuantizedDimensionFits],
                     "statically shaped tensor">;
def HLO_StaticShapeOrBoundedTensor
    : RankedTensorOf<HLO_Any, [HLO_QuantizedDimensionFits, Or<[HasStaticShapePred,
          CPred<"::spokeshave::stablehlo::hasSingleBoundedDimension($_self)">]>],
          "statically shaped or single bounded dimension tensor">;
def HLO_StaticShapeIntOrFpTensor : StaticShapeTensorOf<[HLO_Int, HLO_Float]>;
def HLO_StaticShapeIntFpComplexOrQuantizedTensor
    : StaticShapeTensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_QuantizedInt]>;

def HLO_Token : Type<CPred<"::llvm::isa<::spokeshave::stablehlo::TokenType>($_self)">, "token">;
def HLO_Future : Type<CPred<"::llvm::isa<::spokeshave::stablehlo::FutureType>($_self)">, "future">;
def HLO_Buffer : MemRefOf<HLO_PerTensor>;
def HLO_Tuple : NestedTupleOf<[HLO_TensorOrPerAxisQuantizedTensor, HLO_Buffer, HLO_Token]>;
def HLO_TensorOrToken : AnyTypeOf<[HLO_Tensor, HLO_Token]>;
def HLO_StaticShapeTensorOrToken : AnyTypeOf<[HLO_StaticShapeTensor, HLO_Token]>;
def HLO_Value : AnyTypeOf<[HLO_TensorOrPerAxisQuantizedTensor, HLO_Token]>;
def HLO_ValueOrBuffer : AnyTypeOf<[HLO_Value, HLO_Buffer]>;
def HLO_ValueOrTuple : AnyTypeOf<[HLO_Value, HLO_Tuple]>;
def HLO_ValueTupleOrBuffer : AnyTypeOf<[HLO_ValueOrTuple, HLO_Buffer]>;
def HLO_CustomCallTuple : NestedTupleOf<[HLO_AnyTensor, HLO_Buffer, HLO_Token]>;
def HLO_CustomCallValue
    : AnyTypeOf<[HLO_AnyTensor, HLO_Buffer, HLO_Token, HLO_CustomCallTuple, HLO_Future]>;

//===----------------------------------------------------------------------===//
// Traits.
//===----------------------------------------------------------------------===//

class HLO_OpTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::spokeshave::stablehlo::OpTrait";
}

// Shapes are equal. MLIR's own traits say the same without the constraint's name;
// this one stands before them.
def HLO_SameShape : HLO_OpTrait<"SameShape">;
// Element types are equal, up to the parameters of quantization.
def HLO_CompatibleElementTypes : HLO_OpTrait<"CompatibleElementTypes">;
// Element types of the operands alone.
def HLO_CompatibleOperandElementTypes : HLO_OpTrait<"CompatibleOperandElementTypes">;
// Types are equal, up to dynamic dimensions and the parameters of quantization.
// Gives InferTypeOpInterface: the result has the first operand's type.
def HLO_CompatibleTypes : TraitList<[InferTypeOpInterface, HLO_OpTrait<"CompatibleTypes">]>;
// As many results as operands, pairwise of the same type or element type.
def HLO_PairwiseSameType : TraitList<[InferTypeOpInterface, HLO_OpTrait<"PairwiseSameType">]>;
def HLO_PairwiseSameElementType : HLO_OpTrait<"PairwiseSameElementType">;

#endif
