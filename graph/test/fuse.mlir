// RUN: spokeshave-opt --graph-fill-splats --graph-fuse --split-input-file %s | FileCheck %s

// A product with all of its elementwise end.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion dot "dot_add_max"
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: graph.fusion rows
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8x16xf32>
  %3 = stablehlo.exponential %2 : tensor<8x16xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %6 = stablehlo.divide %3, %5 : tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}

// -----

// Two reductions of one tensor are one pass over it.
// CHECK-LABEL: func.func @main
// CHECK: %{{.*}}:2 = graph.fusion reduce
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @main(%x: tensor<8x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = stablehlo.multiply %x, %x : tensor<8x16xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0, %2 : tensor<16xf32>, tensor<16xf32>
}

// -----

// A transcendental is not computed again for a second map: it is stored once.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: stablehlo.sine
// CHECK-NOT: stablehlo.sine
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = stablehlo.sine %x : tensor<16xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<16xf32>
  %2 = stablehlo.add %0, %1 : tensor<16xf32>
  %3 = stablehlo.reverse %2, dims = [0] : tensor<16xf32>
  %4 = stablehlo.add %2, %3 : tensor<16xf32>
  return %4 : tensor<16xf32>
}

// -----

// b[1:] = b[:-1] in place must not read b while it is written: the slice is made
// before. b[i] = 2 * b[i] may.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion loop
// CHECK: graph.fusion update "update"
// CHECK-NOT: stablehlo.slice
// CHECK: graph.fusion update "mul_update"
// CHECK: stablehlo.dynamic_slice
func.func @main(%b: tensor<64x16xf32>, %c: tensor<64x16xf32>, %i: tensor<i32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<1x16xf32>
  %0 = stablehlo.slice %b [0:63, 0:16] : (tensor<64x16xf32>) -> tensor<63x16xf32>
  %1 = stablehlo.dynamic_update_slice %b, %0, %one, %zero : (tensor<64x16xf32>, tensor<63x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  %2 = stablehlo.dynamic_slice %c, %i, %zero, sizes = [1, 16] : (tensor<64x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  %3 = stablehlo.multiply %2, %two : tensor<1x16xf32>
  %4 = stablehlo.dynamic_update_slice %c, %3, %i, %zero : (tensor<64x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  return %1, %4 : tensor<64x16xf32>, tensor<64x16xf32>
}

// -----

// Reshapes between elementwise work are views at the border.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion dot
// CHECK-NOT: stablehlo.reshape
// CHECK: graph.yield
// CHECK: stablehlo.reshape
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %r: tensor<2x4x4xf32>, %b: tensor<4xf32>) -> tensor<2x4x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<4xf32>) -> tensor<2x4x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<2x4x4xf32>
  %4 = stablehlo.add %3, %r : tensor<2x4x4xf32>
  return %4 : tensor<2x4x4xf32>
}

// -----

// What is made of constants is computed in the loop, and a large splat that a
// loop begins with is filled in, not stored beside the code.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion loop "broadcast"
// CHECK: stablehlo.while
// CHECK: do
// CHECK: stablehlo.iota
func.func @main(%n: tensor<i32>) -> tensor<256xi32> {
  %zero = stablehlo.constant dense<0> : tensor<256xi32>
  %iota = stablehlo.iota dim = 0 : tensor<256xi32>
  %0:2 = stablehlo.while(%i = %n, %a = %zero) : tensor<i32>, tensor<256xi32>
  cond {
    %limit = stablehlo.constant dense<20> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.add %a, %iota : tensor<256xi32>
    stablehlo.return %next, %b : tensor<i32>, tensor<256xi32>
  }
  return %0#1 : tensor<256xi32>
}

// -----

// A splat cannot be updated in place: it is filled first, however small.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]] = graph.fusion loop "broadcast"
// CHECK: graph.fusion update "update"(%{{.*}} = %[[F]] : tensor<32xf32>
func.func @main(%u: tensor<1xf32>, %i: tensor<i32>) -> tensor<32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<32xf32>
  %0 = stablehlo.dynamic_update_slice %zero, %u, %i : (tensor<32xf32>, tensor<1xf32>, tensor<i32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
