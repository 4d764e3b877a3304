//===- StablehloTensorOps.td - constants, shapes, data movement -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that make tensors or move elements without computing. Included by
// StablehloOps.td.
//
//===----------------------------------------------------------------------===//

defvar HLO_Functional = "operands attr-dict `:` functional-type(operands, results)";

//===----------------------------------------------------------------------===//
// Tensors out of nothing.
//===----------------------------------------------------------------------===//

def StableHLO_ConstantOp
    : StableHLO_Op<"constant", [ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a constant tensor";
  let description = [{
    `value` may be a dense attribute or a resource: large constants are kept
    outside the context.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLO_StaticShapeTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Attribute":$value)>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r);
  }];
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let summary = "counts along a dimension";
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs HLO_StaticShapeIntFpComplexOrQuantizedTensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}

def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota", [Pure]> {
  let summary = "iota of a shape known when run";
  let arguments = (ins HLO_StaticDimensionTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// The same elements under another shape.
//===----------------------------------------------------------------------===//

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure]> {
  let summary = "the same bits as another element type";
  let arguments = (ins HLO_TensorOrPerAxisQuantizedTensor:$operand);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins HLO_TensorOrPerAxisQuantizedTensor:$operand);
  let results = (outs HLO_StaticShapeOrBoundedTensor);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

def StableHLO_DynamicReshapeOp
    : StableHLO_Op<"dynamic_reshape", [Pure]> {
  let summary = "reshape to a shape known when run";
  let arguments = (ins
    HLO_TensorOrPerAxisQuantizedTensor:$operand, HLO_StaticDimensionTensor:$output_shape);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

def StableHLO_BroadcastOp : StableHLO_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "repeats a tensor along new leading dimensions";
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_BroadcastInDimOp
    : StableHLO_Op<"broadcast_in_dim", [Pure, HLO_CompatibleElementTypes]> {
  let summary = "repeats a tensor along dimensions of size one and new dimensions";
  let arguments = (ins
    HLO_TensorOrPerAxisQuantizedTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs HLO_StaticShapeOrBoundedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicBroadcastInDimOp : StableHLO_Op<"dynamic_broadcast_in_dim", [Pure]> {
  let summary = "broadcast_in_dim to a shape known when run";
  let arguments = (ins
    HLO_TensorOrPerAxisQuantizedTensor:$operand,
    HLO_StaticDimensionTensor:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions
      attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_TransposeOp
    : StableHLO_Op<"transpose", [Pure, HLO_CompatibleElementTypes,
                                 DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "permutes dimensions";
  let arguments = (ins
    HLO_TensorOrPerAxisQuantizedTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs HLO_TensorOrPerAxisQuantizedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReverseOp : StableHLO_Op<"reverse", [Pure, HLO_CompatibleTypes]> {
  let summary = "reverses the order of elements along dimensions";
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions
      attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Parts of tensors.
//===----------------------------------------------------------------------===//

def StableHLO_SliceOp
    : StableHLO_Op<"slice", [Pure,
                             DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "every so many elements of a box known when compiled";
  let arguments = (ins
    HLO_Tensor:$operand,
    DenseI64ArrayAttr:$start_indices,
    DenseI64ArrayAttr:$limit_indices,
    DenseI64ArrayAttr:$strides);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
      attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicSliceOp
    : StableHLO_Op<"dynamic_slice", [Pure,
                                     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a box at a place known when run; the place is clamped";
  let arguments = (ins
    HLO_Tensor:$operand,
    Variadic<HLO_ScalarIntTensor>:$start_indices,
    DenseI64ArrayAttr:$slice_sizes);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices)
      `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RealDynamicSliceOp
    : StableHLO_Op<"real_dynamic_slice", [Pure, AllElementTypesMatch<["operand", "result"]>,
        AllTypesMatch<["start_indices", "limit_indices", "strides"]>]> {
  let summary = "slice with numbers known when run";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_DimensionTensor:$start_indices,
    HLO_DimensionTensor:$limit_indices,
    HLO_DimensionTensor:$strides);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

def StableHLO_DynamicUpdateSliceOp
    : StableHLO_Op<"dynamic_update_slice", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a tensor with a box replaced, at a place known when run";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_Tensor:$update,
    Variadic<HLO_ScalarIntTensor>:$start_indices);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

def StableHLO_ConcatenateOp
    : StableHLO_Op<"concatenate", [Pure,
                                   DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "joins tensors along a dimension";
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension
      attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_PadOp
    : StableHLO_Op<"pad", [Pure,
                           DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "puts a value around and between elements; negative edges cut";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_ScalarTensor:$padding_value,
    DenseI64ArrayAttr:$edge_padding_low,
    DenseI64ArrayAttr:$edge_padding_high,
    DenseI64ArrayAttr:$interior_padding);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high
      `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicPadOp
    : StableHLO_Op<"dynamic_pad", [Pure,
        AllElementTypesMatch<["operand", "padding_value", "result"]>,
        AllTypesMatch<["edge_padding_low", "edge_padding_high", "interior_padding"]>,
        AllRanksMatch<["operand", "result"]>]> {
  let summary = "pad with numbers known when run";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_ScalarTensor:$padding_value,
    HLO_StaticDimensionTensor:$edge_padding_low,
    HLO_StaticDimensionTensor:$edge_padding_high,
    HLO_StaticDimensionTensor:$interior_padding);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = HLO_Functional;
}

//===----------------------------------------------------------------------===//
// Elements at given indices.
//===----------------------------------------------------------------------===//

def StableHLO_GatherOp
    : StableHLO_Op<"gather", [Pure]> {
  let summary = "boxes of a tensor at many places";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_IntTensor:$start_indices,
    StableHLO_GatherDimensionNumbers:$dimension_numbers,
    DenseI64ArrayAttr:$slice_sizes,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs HLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_DynamicGatherOp : StableHLO_Op<"dynamic_gather", [Pure]> {
  let summary = "gather with box sizes known when run";
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_IntTensor:$start_indices,
    HLO_Static1DIntTensor:$slice_sizes,
    StableHLO_GatherDimensionNumbers:$dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_ScatterOp
    : StableHLO_Op<"scatter", [RecursiveMemoryEffects, RecursivelySpeculatable,
                               SameVariadicOperandSize]> {
  let summary = "tensors with boxes combined into them at many places";
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    RankedTensorOf<[AnyInteger, Index]>:$scatter_indices,
    Variadic<HLO_Tensor>:$updates,
    StableHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", [Pure]> {
  let summary = "slices of a tensor chosen by indices along a dimension";
  let arguments = (ins HLO_Tensor:$operand, HLO_Tensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs HLO_Tensor);
}

//===----------------------------------------------------------------------===//
// Sizes of dynamic dimensions.
//===----------------------------------------------------------------------===//

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size", [Pure]> {
  let summary = "the size of a dimension";
  let arguments = (ins HLO_TensorOrPerAxisQuantizedTensor:$operand, I64Attr:$dimension);
  let results = (outs I32RankedTensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure]> {
  let summary = "cuts a dimension to a size known when run";
  let arguments = (ins HLO_Tensor:$operand, I32RankedTensor:$size, I64Attr:$dimension);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}
