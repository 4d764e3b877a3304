// RUN: spokeshave-opt --graph-expand --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @threefry
// CHECK-NOT: rng_bit_generator
// CHECK: stablehlo.constant dense<466688986>
// CHECK: stablehlo.concatenate
// CHECK: return
func.func @threefry(%key: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %key, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
  return %0, %1 : tensor<2xui64>, tensor<3x4xui32>
}

// -----

// CHECK-LABEL: func.func @batch_norm
// CHECK-NOT: batch_norm
// CHECK: stablehlo.sqrt
// CHECK: stablehlo.divide
// CHECK: return
func.func @batch_norm(%x: tensor<2x8x3xf32>, %f: tensor<3xf32>) -> tensor<2x8x3xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %f, %f, %f, %f) {epsilon = 0.001 : f32, feature_index = 2 : i64}
      : (tensor<2x8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x8x3xf32>
  return %0 : tensor<2x8x3xf32>
}

// -----

// CHECK-LABEL: func.func @einsum
// CHECK: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [1], contracting_dims = [2] x [0]
// CHECK: stablehlo.transpose %[[D]], dims = [1, 2, 0]
func.func @einsum(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<3x5x2xf32> {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bmk,kbn->mnb"} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<3x5x2xf32>
  return %0 : tensor<3x5x2xf32>
}

// -----

// CHECK-LABEL: func.func @index_select
// CHECK: "stablehlo.gather"(%arg0, %arg1)
// CHECK-SAME: offset_dims = [0]
func.func @index_select(%a: tensor<3x4xf32>, %i: tensor<7xi32>) -> tensor<3x7xf32> {
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<3x4xf32>, tensor<7xi32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}
