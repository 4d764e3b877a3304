//===- Check.td - expectations in test programs -*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `check` dialect, in the text form that StableHLO's tests use, lets a
// program check itself; the `interpreter` dialect runs programs side by side.
// Both exist for tests only: no program that is compiled holds them.
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_REFERENCE_CHECK
#define SPOKESHAVE_REFERENCE_CHECK

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// check
//===----------------------------------------------------------------------===//

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::spokeshave::reference::check";
  let summary = "Expectations that the interpreter tests";
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "both tensors have the same values; NaN equals NaN";
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "the tensor has the values of an attribute";
  let arguments = (ins AnyTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "absolute differences are within a tolerance";
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqConstOp
    : Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "absolute differences to an attribute are within a tolerance";
  let arguments = (ins AnyTensor:$lhs, ElementsAttr:$value,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [AllTypesMatch<["actual", "expected"]>]> {
  let summary = "differences, counted in representable numbers, are within bounds";
  let arguments = (ins AnyTensor:$actual, AnyTensor:$expected,
                       DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
                       DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)?
    `:` attr-dict type($actual) `,` type($expected)
  }];
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "a probe saw this tensor in its given iteration";
  let arguments = (ins AnyTensor:$expected, StrAttr:$probe_id,
                       DefaultValuedOptionalAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)?
    attr-dict `:` type($expected)
  }];
}

//===----------------------------------------------------------------------===//
// interpreter
//===----------------------------------------------------------------------===//

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::spokeshave::reference::check";
  let summary = "What only an interpreter can do";
}

class Interpreter_Op<string mnemonic, list<Trait> traits = []>
    : Op<Interpreter_Dialect, mnemonic, traits>;

def Interpreter_RunParallelOp : Interpreter_Op<"run_parallel"> {
  let summary = "runs a grid of processes, one row of programs per replica";
  let description = [{
    Inputs and results of the processes follow each other in the order of
    process ids. `infeed` names functions whose results an infeed reads in turn.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs,
                       OptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbols">>:$infeed,
                       TypedArrayAttrBase<ArrayAttr, "array of rows">:$programs);
  let results = (outs Variadic<AnyType>:$results);
}

def Interpreter_PrintOp : Interpreter_Op<"print"> {
  let summary = "prints a tensor";
  let arguments = (ins AnyTensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "remembers a tensor under a name, each time it is run";
  let arguments = (ins AnyTensor:$operand, StrAttr:$probe_id);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)";
}

#endif
