//===- SdyOps.td - the sdy dialect: shardings over meshes --*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How frameworks say which device holds which part of a tensor: the operations
// and attributes of the public Shardy dialect that JAX emits. They occur in
// programs for one device, too. Text forms are hand written (SdyText.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_SDY_OPS
#define SPOKESHAVE_SDY_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::spokeshave::sdy";
  let summary = "shardings of tensors over meshes of devices";
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Enumerations.
//===----------------------------------------------------------------------===//

def Sdy_ReductionOp : I32EnumAttr<"ReductionOp", "how unreduced values combine", [
    I32EnumAttrCase<"SUM", 0, "sum">, I32EnumAttrCase<"MAX", 1, "max">,
    I32EnumAttrCase<"MIN", 2, "min">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::spokeshave::sdy";
}

def Sdy_PropagationDirection
    : I32EnumAttr<"PropagationDirection", "which way shardings may spread", [
        I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>,
        I32EnumAttrCase<"BACKWARD", 2>, I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::spokeshave::sdy";
}

//===----------------------------------------------------------------------===//
// Meshes and shardings.
//===----------------------------------------------------------------------===//

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "one axis of a mesh: \"x\"=4";
  let parameters = (ins StringRefParameter<"name of the axis">:$name, "int64_t":$size);
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "devices as a grid with named axes";
  let description = [{
    Without axes it is one device, given by its number; without device numbers
    they count up in row-major order of the axes.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"MeshAxisAttr">:$axes,
    OptionalArrayRefParameter<"int64_t">:$device_ids);
  let skipDefaultBuilders = 1;
  let builders = [
    // Device numbers that count up are dropped: one mesh has one attribute.
    AttrBuilder<(ins "::llvm::ArrayRef<MeshAxisAttr>":$axes,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$device_ids)>];
  let extraClassDeclaration = [{
    /// The size of the named axis, 0 if there is none.
    int64_t getAxisSize(::llvm::StringRef name) const;
    /// How many devices there are.
    int64_t getTotalSize() const;
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "which part of an axis a sub-axis is: (pre_size)size";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis or a part of one: \"x\" or \"x\":(2)2";
  let parameters = (ins
    StringRefParameter<"name of the axis">:$name,
    OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
}

def Sdy_AxisRefs : OptionalArrayRefParameter<"AxisRefAttr">;

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "how one dimension is split: {\"x\", ?}p1";
  let description = [{
    An open dimension (`?`) may be split further. A smaller priority is spread
    earlier; none is the same as 0.
  }];
  let parameters = (ins
    Sdy_AxisRefs:$axes,
    "bool":$is_closed,
    OptionalParameter<"std::optional<int64_t>">:$priority);
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "how a tensor is split over a mesh";
  let description = [{
    `mesh_or_ref` is a mesh or the symbol of one. Along replicated axes every
    device holds the same values, along unreduced ones a part of a reduction.
  }];
  let parameters = (ins
    "::mlir::Attribute":$mesh_or_ref,
    OptionalArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
    Sdy_AxisRefs:$replicated_axes,
    Sdy_AxisRefs:$unreduced_axes,
    "::spokeshave::sdy::ReductionOp":$reduction_op);
  let builders = [
    AttrBuilder<(ins "::mlir::Attribute":$mesh_or_ref,
                     "::llvm::ArrayRef<DimensionShardingAttr>":$dim_shardings,
                     "::llvm::ArrayRef<AxisRefAttr>":$replicated_axes,
                     "::llvm::ArrayRef<AxisRefAttr>":$unreduced_axes), [{
      return $_get($_ctxt, mesh_or_ref, dim_shardings, replicated_axes, unreduced_axes,
                   ReductionOp::SUM);
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// The mesh: given here, or that of the symbol as seen from `op`; or null.
    MeshAttr getMesh(::mlir::Operation *op) const;
  }];
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "one sharding for each operand or result";
  let parameters = (ins OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "axes along which the program itself says what each device does";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$value);
}

//===----------------------------------------------------------------------===//
// Rules: how an operation's dimensions belong together.
//===----------------------------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "the factors of a dimension: ij";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_indices);
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "the factors of a tensor's dimensions: [i, jk]";
  let parameters = (ins OptionalArrayRefParameter<"DimMappingAttr">:$dim_mappings);
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "which dimensions of operands and results split alike";
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$factor_sizes,
    OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
    OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
    OptionalArrayRefParameter<"int64_t">:$reduction_factors,
    OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
    OptionalArrayRefParameter<"int64_t">:$permutation_factors,
    OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
    DefaultValuedParameter<"bool", "false">:$is_custom_rule);
}

//===----------------------------------------------------------------------===//
// Operations.
//===----------------------------------------------------------------------===//

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "gives a mesh a name";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
  let hasVerifier = 1;
}

// An operation on one value that says how it is split.
class Sdy_ShardedValueOp<string mnemonic, list<Trait> traits = []>
    : Sdy_Op<mnemonic, traits # [SameOperandsAndResultType, InferTypeOpInterface,
                                 DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

// Not pure: without uses it constrains its input.
def Sdy_ShardingConstraintOp : Sdy_ShardedValueOp<"sharding_constraint"> {
  let summary = "asks for a sharding of a value";
}

def Sdy_ReshardOp : Sdy_ShardedValueOp<"reshard", [Pure]> {
  let summary = "a value under another sharding";
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "the results of a region";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp
    : Sdy_Op<"manual_computation", [RecursiveMemoryEffects, IsolatedFromAbove,
                                    SingleBlockImplicitTerminator<"ReturnOp">,
                                    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a computation on each device's own part of the operands";
  let arguments = (ins
    Variadic<AnyType>:$tensors,
    Sdy_TensorShardingPerValue:$in_shardings,
    Sdy_TensorShardingPerValue:$out_shardings,
    Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(`operands`)`
    `in_shardings` `` `=` `` custom<ShardingList>($in_shardings)
    `out_shardings` `` `=` `` custom<ShardingList>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<BodyWithArguments>($body) attr-dict `:` functional-type(operands, results)
  }];
}

def Sdy_NamedComputationOp
    : Sdy_Op<"named_computation", [RecursiveMemoryEffects, RecursivelySpeculatable,
                                   IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "operations that belong together under a name";
  let arguments = (ins
    StrAttr:$name,
    Variadic<AnyType>:$operands,
    OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
    OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `` `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<ShardingList>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<ShardingList>($out_shardings)^)?
    custom<BodyWithArguments>($body) attr-dict `:` functional-type($operands, results)
  }];
}

// Not pure: it changes the group.
def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "values of one group are split alike";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp
    : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType, InferTypeOpInterface]> {
  let summary = "shardings spread through it one way only";
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)
  }];
}

#endif
