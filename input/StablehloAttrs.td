//===- StablehloAttrs.td - structured attributes of the dialect -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimension numbers and their kin. Text forms of the larger ones are hand
// written (StablehloAttrs.cpp), because members that are empty are left out.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_STABLEHLO_ATTRS
#define SPOKESHAVE_STABLEHLO_ATTRS

include "input/StablehloEnums.td"
include "mlir/IR/TensorEncoding.td"

class StableHLO_AttrDef<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def StableHLO_Dims : ArrayRefParameter<"int64_t", "dimensions"> {
  let parser = "::spokeshave::stablehlo::parseDims($_parser)";
  let printer = "::spokeshave::stablehlo::printDims($_printer, $_self)";
}

def StableHLO_ScatterDimensionNumbers
    : StableHLO_AttrDef<"ScatterDimensionNumbers", "scatter"> {
  let summary = "dimension numbers of scatter";
  let parameters = (ins
    StableHLO_Dims:$updateWindowDims,
    StableHLO_Dims:$insertedWindowDims,
    StableHLO_Dims:$inputBatchingDims,
    StableHLO_Dims:$scatterIndicesBatchingDims,
    StableHLO_Dims:$scatterDimsToOperandDims,
    "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_GatherDimensionNumbers : StableHLO_AttrDef<"GatherDimensionNumbers", "gather"> {
  let summary = "dimension numbers of gather";
  let parameters = (ins
    StableHLO_Dims:$offsetDims,
    StableHLO_Dims:$collapsedSliceDims,
    StableHLO_Dims:$operandBatchingDims,
    StableHLO_Dims:$startIndicesBatchingDims,
    StableHLO_Dims:$startIndexMap,
    "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotDimensionNumbers : StableHLO_AttrDef<"DotDimensionNumbers", "dot"> {
  let summary = "dimension numbers of dot_general";
  let parameters = (ins
    StableHLO_Dims:$lhsBatchingDimensions,
    StableHLO_Dims:$rhsBatchingDimensions,
    StableHLO_Dims:$lhsContractingDimensions,
    StableHLO_Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ConvDimensionNumbers : StableHLO_AttrDef<"ConvDimensionNumbers", "conv"> {
  let summary = "which dimensions of a convolution are batch, feature and space";
  let parameters = (ins
    "int64_t":$inputBatchDimension,
    "int64_t":$inputFeatureDimension,
    StableHLO_Dims:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension,
    "int64_t":$kernelOutputFeatureDimension,
    StableHLO_Dims:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension,
    "int64_t":$outputFeatureDimension,
    StableHLO_Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithm : StableHLO_AttrDef<"DotAlgorithm", "dot_algorithm"> {
  let summary = "the arithmetic asked of dot_general";
  let parameters = (ins
    "::mlir::Type":$lhsPrecisionType,
    "::mlir::Type":$rhsPrecisionType,
    "::mlir::Type":$accumulationType,
    "int64_t":$lhsComponentCount,
    "int64_t":$rhsComponentCount,
    "int64_t":$numPrimitiveOperations,
    "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,`
        `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,`
        `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,`
        `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
  let genVerifyDecl = 1;
}

def StableHLO_OutputOperandAlias
    : StableHLO_AttrDef<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "an output of a custom call that shares memory with an operand";
  let parameters = (ins
    StableHLO_Dims:$outputTupleIndices,
    "int64_t":$operandIndex,
    StableHLO_Dims:$operandTupleIndices);
  let assemblyFormat = [{
    `<` `output_tuple_indices` `=` $outputTupleIndices `,`
        `operand_index` `=` $operandIndex `,`
        `operand_tuple_indices` `=` $operandTupleIndices `>`
  }];
}

def StableHLO_ChannelHandle : StableHLO_AttrDef<"ChannelHandle", "channel_handle"> {
  let summary = "names a channel of communication; a handle of 0 or less names none";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_TypeExtensions
    : StableHLO_AttrDef<"TypeExtensions", "type_extensions",
                        [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "bounds of dynamic dimensions, as a tensor type's encoding";
  let description = [{
    One bound per dimension: ShapedType::kDynamic for a static dimension or an
    unbounded one.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let assemblyFormat = "`<` `bounds` `=` ` ` custom<Bounds>($bounds) `>`";
}

def StableHLO_ResultAccuracyAttr : StableHLO_AttrDef<"ResultAccuracy", "result_accuracy"> {
  let summary = "accuracy asked of a transcendental function";
  let parameters = (ins
    APFloatParameter<"absolute tolerance">:$atol,
    APFloatParameter<"relative tolerance">:$rtol,
    "int64_t":$ulps,
    StableHLO_ResultAccuracyModeAttr:$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let constBuilderCall =
    "::spokeshave::stablehlo::ResultAccuracyAttr::get($_builder.getContext(), $0)";
  let builders = [
    AttrOrTypeBuilder<(ins "::spokeshave::stablehlo::ResultAccuracyMode":$mode)>,
    AttrOrTypeBuilder<(ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol, "int64_t":$ulps)>];
}

//===----------------------------------------------------------------------===//
// Replica groups by the axes of a mesh.
//===----------------------------------------------------------------------===//

def StableHLO_SubAxisInfo : StableHLO_AttrDef<"SubAxisInfo", "sub_axis_info"> {
  let summary = "which part of an axis a sub-axis is";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def StableHLO_AxisRef : StableHLO_AttrDef<"AxisRef", "axis_ref"> {
  let summary = "an axis or a part of one";
  let parameters = (ins
    StringRefParameter<"name of the axis">:$name,
    OptionalParameter<"::spokeshave::stablehlo::SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_MeshAxis : StableHLO_AttrDef<"MeshAxis", "mesh_axis"> {
  let summary = "one axis of a mesh";
  let parameters = (ins StringRefParameter<"name of the axis">:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_Mesh : StableHLO_AttrDef<"Mesh", "mesh"> {
  let summary = "devices as a grid with named axes";
  let parameters = (ins
    ArrayRefParameter<"::spokeshave::stablehlo::MeshAxisAttr">:$axes,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let assemblyFormat = [{
    `<` `axes` `` `=` `` `[` $axes `]` (`,` `device_ids` `` `=` `` $device_ids^)? `>`
  }];
}

def StableHLO_ReplicaGroupMeshAxes
    : StableHLO_AttrDef<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "replica groups: the devices along some axes of a mesh";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Attributes without a class of their own.
//===----------------------------------------------------------------------===//

def StableHLO_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxes]>;

def StableHLO_FlatSymbolRefArrayAttr
    : TypedArrayAttrBase<FlatSymbolRefAttr, "flat symbol ref array attribute"> {
  let constBuilderCall = "::mlir::ArrayAttr::get($_builder.getContext(), $0)";
}

class StableHLO_Indices<string summary>
    : Attr<And<[IndexElementsAttr.predicate,
                CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType().getRank() == 1">]>,
           summary> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}

def StableHLO_LayoutAttr : StableHLO_Indices<"a 1D tensor of index type (layout)">;
def StableHLO_ArrayOfLayoutAttr
    : TypedArrayAttrBase<StableHLO_LayoutAttr, "array of layouts (1D tensors of index type)">;
def StableHLO_TilingAttr
    : TypedArrayAttrBase<StableHLO_Indices<"a 1D tensor of index type (tile)">, "array of tiles">;
def StableHLO_ArrayOfTilingAttr
    : TypedArrayAttrBase<StableHLO_TilingAttr, "array of tilings">;
def StableHLO_OutputOperandAliases
    : TypedArrayAttrBase<StableHLO_OutputOperandAlias, "array of output_operand_alias">;

#endif
