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

// -----

// Narrow floats are summed in f32 without being told; f64 must be asked for.
// What units of bf16 are asked for stays as an attribute.
// CHECK-LABEL: func.func @algorithm
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {graph.product_order = 4 : i64} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK: %[[L:.*]] = stablehlo.convert %arg0 : (tensor<3x4xf32>) -> tensor<3x4xf64>
// CHECK: %[[R:.*]] = stablehlo.convert %arg1 : (tensor<4x5xf32>) -> tensor<4x5xf64>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[L]], %[[R]], contracting_dims = [1] x [0] {{.*}}: (tensor<3x4xf64>, tensor<4x5xf64>) -> tensor<3x5xf64>
// CHECK: stablehlo.convert %[[D]] : (tensor<3x5xf64>) -> tensor<3x5xf32>
func.func @algorithm(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 9, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f64, rhs_precision_type = f64, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-2: stablehlo.convert {{.*}} -> tensor<{{.*}}xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
func.func @mixed(%a: tensor<3x4xf8E4M3FN>, %b: tensor<4x5xf8E5M2>) -> tensor<3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf8E4M3FN>, tensor<4x5xf8E5M2>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @of_none
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK-NOT: stablehlo.dot_general
func.func @of_none(%a: tensor<3x0xf32>, %b: tensor<0x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
