//===- StablehloControlOps.td - control flow, effects, calls, communication -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that order, branch, loop, call out of the program or talk to other
// devices. Included by StablehloOps.td.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Control flow.
//===----------------------------------------------------------------------===//

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "the results of a region";
  let arguments = (ins Variadic<HLO_ValueOrBuffer>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_IfOp : StableHLO_BodyOp<"if"> {
  let summary = "one of two branches";
  let arguments = (ins HLO_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<HLO_Value>);
  let hasVerifier = 1;
}

def StableHLO_CaseOp : StableHLO_BodyOp<"case"> {
  let summary = "the branch of an index; out of range means the last";
  let arguments = (ins I32RankedTensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<HLO_Value>);
  let hasVerifier = 1;
}

// Not speculatable: it may run forever.
def StableHLO_WhileOp
    : StableHLO_Op<"while", [RecursiveMemoryEffects, HLO_PairwiseSameType,
                             SingleBlockImplicitTerminator<"ReturnOp">, OpAsmOpInterface]> {
  let summary = "runs a body as long as a condition holds";
  let arguments = (ins Variadic<HLO_ValueOrBuffer>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<HLO_ValueOrBuffer>);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = compatibility # [{
    // Condition and body are printed under one list of names.
    void getAsmBlockArgumentNames(::mlir::Region &region,
                                  ::mlir::OpAsmSetValueNameFn setNameFn) {
      for (::mlir::BlockArgument argument : region.getArguments())
        setNameFn(argument, "iterArg");
    }
  }];
}

def StableHLO_OptimizationBarrierOp
    : StableHLO_Op<"optimization_barrier", [Pure, HLO_PairwiseSameType]> {
  let summary = "keeps the compiler from moving work across it";
  let arguments = (ins Variadic<HLO_TensorOrToken>:$operand);
  let results = (outs Variadic<HLO_TensorOrToken>:$result);
  // `()` stands for no operands; without it the next line would be read as one.
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
}

def StableHLO_CompositeOp
    : StableHLO_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an operation of a name, and a function that says what it does";
  let arguments = (ins
    Variadic<HLO_ValueOrTuple>:$inputs,
    StrAttr:$name,
    DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
    FlatSymbolRefAttr:$decomposition,
    DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<HLO_ValueOrTuple>);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_CustomCallOp
    : StableHLO_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a call to code outside the program";
  let arguments = (ins
    Variadic<HLO_CustomCallValue>:$inputs,
    StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
        "::spokeshave::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<StableHLO_FlatSymbolRefArrayAttr, "{}">:$called_computations,
    OptionalAttr<StableHLO_ArrayOfLayoutAttr>:$operand_layouts,
    OptionalAttr<StableHLO_ArrayOfLayoutAttr>:$result_layouts,
    DefaultValuedOptionalAttr<StableHLO_OutputOperandAliases, "{}">:$output_operand_aliases,
    OptionalAttr<StableHLO_ArrayOfTilingAttr>:$result_tilings);
  let results = (outs Variadic<HLO_CustomCallValue>);
  let hasVerifier = 1;
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)`
      attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Tokens, tuples, futures.
//===----------------------------------------------------------------------===//

def StableHLO_CreateTokenOp
    : StableHLO_Op<"create_token", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a token that nothing came before";
  let results = (outs HLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_AfterAllOp
    : StableHLO_Op<"after_all", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a token after all given tokens";
  let arguments = (ins Variadic<HLO_Token>:$inputs);
  let results = (outs HLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict
      `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

def StableHLO_TupleOp
    : StableHLO_Op<"tuple", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a tuple of values";
  let arguments = (ins Variadic<HLO_ValueTupleOrBuffer>:$val);
  let results = (outs HLO_Tuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
}

def StableHLO_GetTupleElementOp
    : StableHLO_Op<"get_tuple_element", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "one value of a tuple";
  let arguments = (ins HLO_Tuple:$operand, I32Attr:$index);
  let results = (outs HLO_ValueTupleOrBuffer);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
}

def StableHLO_AsyncStartOp
    : StableHLO_Op<"async_start", [IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "starts an operation and does not wait for it";
  let arguments = (ins Variadic<HLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs HLO_Future);
  let hasVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done"> {
  let summary = "waits for an operation";
  let arguments = (ins HLO_Future:$operand);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Host communication. Each kind keeps its own order.
//===----------------------------------------------------------------------===//

class StableHLO_Queue<string name> : Resource<"::spokeshave::stablehlo::" # name>;
def StableHLO_InfeedQueue : StableHLO_Queue<"InfeedQueue">;
def StableHLO_OutfeedQueue : StableHLO_Queue<"OutfeedQueue">;
def StableHLO_SendQueue : StableHLO_Queue<"SendQueue">;
def StableHLO_RecvQueue : StableHLO_Queue<"RecvQueue">;

class StableHLO_QueueOp<string mnemonic, Resource queue>
    : StableHLO_Op<mnemonic, [MemoryEffects<[MemRead<queue>, MemWrite<queue>]>]>;

def StableHLO_InfeedOp : StableHLO_QueueOp<"infeed", StableHLO_InfeedQueue> {
  let summary = "takes values from the host";
  let arguments = (ins
    HLO_Token:$token,
    DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
    OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<HLO_StaticShapeTensorOrToken>);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_QueueOp<"outfeed", StableHLO_OutfeedQueue> {
  let summary = "gives values to the host";
  let arguments = (ins
    Variadic<HLO_TensorOrPerAxisQuantizedTensor>:$inputs,
    HLO_Token:$token,
    DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs HLO_Token);
}

def StableHLO_SendOp : StableHLO_QueueOp<"send", StableHLO_SendQueue> {
  let summary = "sends values over a channel";
  let arguments = (ins
    Variadic<HLO_TensorOrPerAxisQuantizedTensor>:$inputs,
    HLO_Token:$token,
    StableHLO_ChannelHandle:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs HLO_Token);
  let hasVerifier = 1;
}

def StableHLO_RecvOp : StableHLO_QueueOp<"recv", StableHLO_RecvQueue> {
  let summary = "receives values over a channel";
  let arguments = (ins
    HLO_Token:$token,
    StableHLO_ChannelHandle:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<HLO_StaticShapeTensorOrToken>);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Devices and collectives. Collectives have effects: all devices must meet.
//===----------------------------------------------------------------------===//

def StableHLO_ReplicaIdOp
    : StableHLO_Op<"replica_id", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "which replica this is";
  let results = (outs UI32RankedTensor);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_PartitionIdOp
    : StableHLO_Op<"partition_id", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "which partition this is";
  let results = (outs UI32RankedTensor);
  let assemblyFormat = "attr-dict `:` type(results)";
}

// Its replica groups may name a mesh by symbol.
class StableHLO_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def StableHLO_AllGatherOp : StableHLO_CollectiveOp<"all_gather", [HLO_PairwiseSameElementType]> {
  let summary = "joins every device's tensor along a dimension";
  let arguments = (ins
    Variadic<HLO_Tensor>:$operands,
    I64Attr:$all_gather_dim,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_AllReduceOp
    : StableHLO_CollectiveOp<"all_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines every device's tensor";
  let arguments = (ins
    Variadic<HLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_ReduceScatterOp
    : StableHLO_CollectiveOp<"reduce_scatter", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines every device's tensor and leaves each a part";
  let arguments = (ins
    HLO_Tensor:$operand,
    I64Attr:$scatter_dimension,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_AllToAllOp : StableHLO_CollectiveOp<"all_to_all", [HLO_PairwiseSameElementType]> {
  let summary = "each device gives each other a part";
  let arguments = (ins
    Variadic<HLO_Tensor>:$operands,
    I64Attr:$split_dimension,
    I64Attr:$concat_dimension,
    I64Attr:$split_count,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectiveBroadcastOp : StableHLO_CollectiveOp<"collective_broadcast"> {
  let summary = "one device's tensor to all";
  let arguments = (ins
    Variadic<HLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
    UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectiveReduceOp
    : StableHLO_CollectiveOp<"collective_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines every device's tensor on one device";
  let arguments = (ins
    Variadic<HLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
    UnitAttr:$use_global_device_ids,
    UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp
    : StableHLO_Op<"collective_permute", [HLO_CompatibleElementTypes]> {
  let summary = "each device's tensor to another device";
  let arguments = (ins
    HLO_Tensor:$operand,
    I64ElementsAttr:$source_target_pairs,
    OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_CrossReplicaSumOp
    : StableHLO_Op<"cross-replica-sum", [HLO_CompatibleTypes]> {
  let summary = "sums every replica's tensor";
  let arguments = (ins HLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs HLO_Tensor);
}
