// RUN: spokeshave-opt %s | spokeshave-opt | FileCheck %s
// RUN: spokeshave-opt %s --mlir-print-op-generic | spokeshave-opt | FileCheck %s

// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<4xf32>, tensor<i32> attributes {note = 1 : i32}
  // CHECK-NEXT: cond {
  // CHECK-NEXT:   %[[P:.*]] = stablehlo.compare LT, %iterArg_0, %arg1 :
  // CHECK-NEXT:   stablehlo.return %[[P]] : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.add %iterArg, %iterArg : tensor<4xf32>
  // CHECK-NEXT:   stablehlo.return %[[S]], %iterArg_0 : tensor<4xf32>, tensor<i32>
  %0:2 = stablehlo.while(%x = %a, %i = %n) : tensor<4xf32>, tensor<i32> attributes {note = 1 : i32}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %1, %i : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}

// Types that differ do not fit the short form.

// CHECK-LABEL: func.func @loop_of_two_types
func.func @loop_of_two_types(%a: tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.while(%arg0) ({
  // CHECK-NEXT: ^bb0(%iterArg: tensor<?xf32>):
  // CHECK: }) : (tensor<4xf32>) -> tensor<?xf32>
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<?xf32>):
    %1 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<?xf32>):
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @endless
func.func @endless() {
  // CHECK-NEXT: stablehlo.while()
  // CHECK-NEXT: cond {
  stablehlo.while()
  cond {
    %0 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    // CHECK: } do {
    // CHECK-NEXT: stablehlo.return
    stablehlo.return
  }
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.custom_call @sort(%arg0) {backend_config = "fast", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.custom_call @sort(%a) {backend_config = "fast", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.custom_call @"with space"(%arg0) {api_version = 4 : i32, backend_config = {n = 1 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @"with space"(%a) {api_version = 4 : i32, backend_config = {n = 1 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 2 : i64}, decomposition = @my_op, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "my.op" %a {composite_attributes = {k = 2 : i64}, decomposition = @my_op, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @my_op(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%a: tensor<4xf32>, %i: tensor<i32>) {
  // CHECK-NEXT: stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK-NEXT: stablehlo.after_all %0, %0 : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  // CHECK-NEXT: stablehlo.tuple %arg0, %0 : tuple<tensor<4xf32>, !stablehlo.token>
  %2 = stablehlo.tuple %a, %0 : tuple<tensor<4xf32>, !stablehlo.token>
  // CHECK-NEXT: stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<i32>
  %4:2 = stablehlo.optimization_barrier %a, %i : tensor<4xf32>, tensor<i32>
  // CHECK-NEXT: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  // CHECK-NEXT: stablehlo.replica_id : tensor<ui32>
  %5 = stablehlo.replica_id : tensor<ui32>
  return
}
