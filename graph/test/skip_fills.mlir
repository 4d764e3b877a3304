// RUN: spokeshave-opt %s --graph-skip-fills --split-input-file | FileCheck %s

// A scan writes each layer once: the zeros are never seen.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.broadcast_in_dim
// CHECK: graph.unset = array<i64: 1>
func.func @main(%row: tensor<1x4xf32>, %x: tensor<f32>) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<5> : tensor<i32>
    %down = stablehlo.subtract %last, %i : tensor<i32>
    %t = stablehlo.dynamic_update_slice %s, %row, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>)
  return %0#1 : tensor<6x4xf32>
}

// -----

// Downwards too.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.broadcast_in_dim
// CHECK: graph.unset = array<i64: 1>
func.func @main(%row: tensor<1x4xf32>, %x: tensor<f32>) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<5> : tensor<i32>
    %down = stablehlo.subtract %last, %i : tensor<i32>
    %t = stablehlo.dynamic_update_slice %s, %row, %down, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>)
  return %0#1 : tensor<6x4xf32>
}

// -----

// The last layer stays zero.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.broadcast_in_dim
// CHECK-NOT: graph.unset
func.func @main(%row: tensor<1x4xf32>, %x: tensor<f32>) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<5> : tensor<i32>
    %down = stablehlo.subtract %last, %i : tensor<i32>
    %t = stablehlo.dynamic_update_slice %s, %row, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>)
  return %0#1 : tensor<6x4xf32>
}

// -----

// Computed values are left to those who compute them.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.broadcast_in_dim
// CHECK-NOT: graph.unset
func.func @main(%row: tensor<1x4xf32>, %x: tensor<f32>) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<5> : tensor<i32>
    %down = stablehlo.subtract %last, %i : tensor<i32>
    %t = stablehlo.dynamic_update_slice %s, %row, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>)
  return %0#1 : tensor<6x4xf32>
}

// -----

// The zeros are read.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.broadcast_in_dim
// CHECK-NOT: graph.unset
func.func @main(%row: tensor<1x4xf32>, %x: tensor<f32>) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<5> : tensor<i32>
    %down = stablehlo.subtract %last, %i : tensor<i32>
    %old = stablehlo.dynamic_slice %s, %i, %zero, sizes = [1, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %more = stablehlo.add %old, %row : tensor<1x4xf32>
    %t = stablehlo.dynamic_update_slice %s, %more, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>)
  return %0#1 : tensor<6x4xf32>
}
