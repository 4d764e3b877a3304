// RUN: spokeshave-opt --graph-normalize-dots --graph-canonicalize --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @attention
// CHECK: %[[L:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1, 3]
// CHECK: %[[L3:.*]] = stablehlo.reshape %[[L]] : (tensor<2x8x16x4xf32>) -> tensor<16x16x4xf32>
// CHECK: %[[R:.*]] = stablehlo.transpose %arg1, dims = [0, 2, 3, 1]
// CHECK: %[[R3:.*]] = stablehlo.reshape %[[R]] : (tensor<2x8x4x32xf32>) -> tensor<16x4x32xf32>
// CHECK: stablehlo.dot_general %[[L3]], %[[R3]], batching_dims = [0] x [0], contracting_dims = [2] x [1]
// CHECK: stablehlo.reshape
func.func @attention(%q: tensor<2x16x8x4xf32>, %k: tensor<2x32x8x4xf32>) -> tensor<2x8x16x32xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
      : (tensor<2x16x8x4xf32>, tensor<2x32x8x4xf32>) -> tensor<2x8x16x32xf32>
  return %0 : tensor<2x8x16x32xf32>
}

// -----

// A weight's gradient is written in its own order.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0]
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[T]], %arg0
// CHECK: return %[[D]] : tensor<7x5xf32>
func.func @gradient(%dz: tensor<3x5xf32>, %x: tensor<3x7xf32>) -> tensor<7x5xf32> {
  %0 = stablehlo.dot_general %dz, %x, contracting_dims = [0] x [0] : (tensor<3x5xf32>, tensor<3x7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}
