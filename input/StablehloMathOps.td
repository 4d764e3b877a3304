//===- StablehloMathOps.td - contractions, windows, reductions, linear algebra, random numbers -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations whose result at an index depends on many operand elements. Included
// by StablehloOps.td.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Contractions.
//===----------------------------------------------------------------------===//

def StableHLO_DotOp : StableHLO_Op<"dot", [Pure]> {
  let summary = "product of vectors and matrices";
  let arguments = (ins
    HLO_Tensor:$lhs,
    HLO_TensorOrPerAxisQuantizedTensor:$rhs,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let summary = "batched sums of products over contracted dimensions";
  let arguments = (ins
    HLO_Tensor:$lhs,
    HLO_TensorOrPerAxisQuantizedTensor:$rhs,
    StableHLO_DotDimensionNumbers:$dot_dimension_numbers,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
    OptionalAttr<StableHLO_DotAlgorithm>:$algorithm);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
    custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let summary = "sum of products in Einstein's notation";
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let summary = "sum and transpose in Einstein's notation";
  let arguments = (ins HLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [Pure]> {
  let summary = "dot products of a kernel with windows of a tensor";
  let arguments = (ins
    HLO_Tensor:$lhs,
    HLO_TensorOrPerAxisQuantizedTensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbers:$dimension_numbers,
    I64Attr:$feature_group_count,
    I64Attr:$batch_group_count,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool hasWindowReversal() {
      return getWindowReversal() && ::llvm::is_contained(*getWindowReversal(), true);
    }
  }];
  let assemblyFormat = [{
    `(`operands`)`
       `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
       `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation,
                                                 $rhs_dilation, $window_reversal) `}`
       attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicConvOp : StableHLO_Op<"dynamic_conv", [Pure]> {
  let summary = "convolution with padding known when run";
  let arguments = (ins
    HLO_Tensor:$lhs,
    HLO_Tensor:$rhs,
    HLO_Static2DIntTensor:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbers:$dimension_numbers,
    I64Attr:$feature_group_count,
    I64Attr:$batch_group_count,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions and windows.
//===----------------------------------------------------------------------===//

// An operation with a body of its own, which has effects only if the body has.
class StableHLO_BodyOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [RecursiveMemoryEffects, RecursivelySpeculatable,
                                       SingleBlockImplicitTerminator<"ReturnOp">]>;

def StableHLO_ReduceOp : StableHLO_BodyOp<"reduce", [SameVariadicOperandSize]> {
  let summary = "combines elements along dimensions";
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    Variadic<HLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$init_values,
      "::mlir::DenseI64ArrayAttr":$dimensions, "::mlir::TypeRange":$element_types)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_BodyOp<"reduce_window", [SameVariadicOperandSize]> {
  let summary = "combines the elements of each window";
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    Variadic<HLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
    OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
    OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_SelectAndScatterOp : StableHLO_BodyOp<"select_and_scatter"> {
  let summary = "scatters a source to the element chosen in each window";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_Tensor:$source,
    HLO_Tensor:$init_value,
    OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_SortOp : StableHLO_BodyOp<"sort"> {
  let summary = "sorts tensors together along a dimension";
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, CArg<"int64_t", "-1">:$dimension,
                   CArg<"bool", "false">:$is_stable)>];
  let hasVerifier = 1;
}

def StableHLO_MapOp : StableHLO_BodyOp<"map", [HLO_SameShape, SameOperandsAndResultShape]> {
  let summary = "applies a computation to each index";
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Normalisation.
//===----------------------------------------------------------------------===//

def StableHLO_BatchNormGradOp
    : StableHLO_Op<"batch_norm_grad", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "gradients of batch_norm_training";
  let arguments = (ins
    HLO_FpOrQuantizedIntTensor:$operand,
    HLO_StatisticTensor:$scale,
    HLO_StatisticTensor:$mean,
    HLO_StatisticTensor:$variance,
    HLO_FpOrQuantizedIntTensor:$grad_output,
    F32Attr:$epsilon,
    I64Attr:$feature_index);
  let results = (outs
    HLO_FpOrQuantizedIntTensor:$grad_operand,
    HLO_StatisticTensor:$grad_scale,
    HLO_StatisticTensor:$grad_offset);
  let hasVerifier = 1;
}

def StableHLO_BatchNormInferenceOp
    : StableHLO_Op<"batch_norm_inference", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "normalises with given mean and variance";
  let arguments = (ins
    HLO_FpOrQuantizedIntTensor:$operand,
    HLO_StatisticTensor:$scale,
    HLO_StatisticTensor:$offset,
    HLO_StatisticTensor:$mean,
    HLO_StatisticTensor:$variance,
    F32Attr:$epsilon,
    I64Attr:$feature_index);
  let results = (outs HLO_FpOrQuantizedIntTensor:$result);
  let hasVerifier = 1;
}

def StableHLO_BatchNormTrainingOp
    : StableHLO_Op<"batch_norm_training", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "normalises with the batch's own mean and variance";
  let arguments = (ins
    HLO_FpOrQuantizedIntTensor:$operand,
    HLO_StatisticTensor:$scale,
    HLO_StatisticTensor:$offset,
    F32Attr:$epsilon,
    I64Attr:$feature_index);
  let results = (outs
    HLO_FpOrQuantizedIntTensor:$output,
    HLO_StatisticTensor:$batch_mean,
    HLO_StatisticTensor:$batch_var);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Linear algebra and Fourier transforms.
//===----------------------------------------------------------------------===//

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", [Pure, HLO_CompatibleTypes]> {
  let summary = "Cholesky decomposition of a batch of matrices";
  let arguments = (ins
    HLO_FpComplexOrQuantizedIntTensor:$a,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict
      `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}

def StableHLO_TriangularSolveOp
    : StableHLO_Op<"triangular_solve", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "solves systems with triangular matrices";
  let arguments = (ins
    HLO_FpOrComplexTensor:$a,
    HLO_FpOrComplexTensor:$b,
    BoolAttr:$left_side,
    BoolAttr:$lower,
    BoolAttr:$unit_diagonal,
    StableHLO_TransposeAttr:$transpose_a);
  let results = (outs HLO_FpOrComplexTensor);
  let hasVerifier = 1;
}

def StableHLO_FftOp : StableHLO_Op<"fft", [Pure]> {
  let summary = "Fourier transforms along the minor dimensions";
  let arguments = (ins
    HLO_FpOrComplexTensor:$operand,
    StableHLO_FftTypeAttr:$fft_type,
    DenseI64ArrayAttr:$fft_length);
  let results = (outs HLO_FpOrComplexTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<Enum>($fft_type) `,` `length` `=` $fft_length
      attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Random numbers.
//===----------------------------------------------------------------------===//

// Draws from hidden state, so it is neither pure nor to be merged.
def StableHLO_RngOp : StableHLO_Op<"rng", [AllElementTypesMatch<["a", "b", "result"]>]> {
  let summary = "random numbers from the machine's own state";
  let arguments = (ins
    HLO_ScalarPredIntOrFpTensor:$a,
    HLO_ScalarPredIntOrFpTensor:$b,
    HLO_StaticDimensionTensor:$shape,
    StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs HLO_PredIntOrFpTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Enum>($rng_distribution)
      attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [Pure]> {
  let summary = "random bits and a new state from a given state";
  let arguments = (ins
    StableHLO_RngAlgorithmAttr:$rng_algorithm,
    HLO_IntOrFpTensor:$initial_state);
  let results = (outs
    HLO_IntOrFpTensor:$output_state,
    HLO_StaticShapeIntOrFpTensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Enum>($rng_algorithm) attr-dict
      `:` functional-type(operands, results)
  }];
}
