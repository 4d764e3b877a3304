// RUN: spokeshave-opt --graph-fuse --graph-annotate --split-input-file %s | FileCheck %s

// Pointwise: both inputs may be overwritten. Reversed: only the other one.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion loop "add"
// CHECK-SAME: graph.may_share = array<i64: 0, 0, 1, 0>
// CHECK: graph.fusion loop "mul"
// CHECK-SAME: graph.may_share = array<i64: 1, 0>
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<32xf32>, %w: tensor<32xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
  %0 = stablehlo.add %x, %y : tensor<64xf32>
  %1 = stablehlo.reverse %z, dims = [0] : tensor<32xf32>
  %2 = stablehlo.multiply %1, %w : tensor<32xf32>
  return %0, %2 : tensor<64xf32>, tensor<32xf32>
}

// -----

// The updated tensor, but not where it is also read elsewhere.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion update "update"(%[[A:.*]] = %arg0
// CHECK-SAME: graph.may_share = array<i64: 0, 0>
func.func @main(%b: tensor<64xf32>, %u: tensor<8xf32>, %i: tensor<i32>) -> tensor<64xf32> {
  %0 = stablehlo.dynamic_update_slice %b, %u, %i : (tensor<64xf32>, tensor<8xf32>, tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: graph.fusion update "unsafe"
// CHECK-SAME: graph.may_share = array<i64>
// CHECK: graph.fusion update "one_element"
// CHECK-SAME: graph.may_share = array<i64: 0, 0>
func.func @main(%b: tensor<64xf32>, %i: tensor<i32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = graph.fusion update "unsafe"(%x = %b : tensor<64xf32>, %n = %i : tensor<i32>) -> tensor<64xf32> {
    %s = stablehlo.slice %x [0:8] : (tensor<64xf32>) -> tensor<8xf32>
    %r = stablehlo.dynamic_update_slice %x, %s, %n : (tensor<64xf32>, tensor<8xf32>, tensor<i32>) -> tensor<64xf32>
    graph.yield %r : tensor<64xf32>
  }
  %1 = graph.fusion update "one_element"(%x = %b : tensor<64xf32>, %n = %i : tensor<i32>) -> tensor<64xf32> {
    %s = stablehlo.slice %x [0:1] : (tensor<64xf32>) -> tensor<1xf32>
    %r = stablehlo.dynamic_update_slice %x, %s, %n : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
    graph.yield %r : tensor<64xf32>
  }
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// Ten products of 2 * 8 * 8 * 8 operations.
// CHECK-LABEL: func.func @main
// CHECK-SAME: graph.cost = array<i64: 10240
func.func @main(%x: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = stablehlo.while(%i = %zero, %a = %1) : tensor<i32>, tensor<8x8xf32> attributes {graph.trip_count = 8 : i64}
  cond {
    %limit = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %limit : tensor<i1>
  } do {
    %b = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %i, %b : tensor<i32>, tensor<8x8xf32>
  }
  return %2#1 : tensor<8x8xf32>
}
