// RUN: spokeshave-opt --graph-canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @static_types
// CHECK: stablehlo.reshape %arg0 : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
func.func @static_types(%x: tensor<6xf32>, %shape: tensor<2xi32>, %size: tensor<1xi32>)
    -> (tensor<2x3xf32>, tensor<2x6xf32>, tensor<4xi32>) {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  %2 = stablehlo.dynamic_iota %size, dim = 0 : (tensor<1xi32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x6xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @constant_sizes
// CHECK: stablehlo.constant dense<6> : tensor<i32>
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [1], high = [2], interior = [0]
// CHECK: stablehlo.slice %arg0 [1:5:2]
// CHECK: "stablehlo.gather"(%arg0, %arg1) {{.*}}slice_sizes = array<i64: 1>
func.func @constant_sizes(%x: tensor<6xf32>, %i: tensor<3x1xi32>)
    -> (tensor<9xf32>, tensor<2xf32>, tensor<3xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<1xi64>
  %c1 = stablehlo.constant dense<1> : tensor<1xi64>
  %c2 = stablehlo.constant dense<2> : tensor<1xi64>
  %c5 = stablehlo.constant dense<5> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %x, %zero, %c1, %c2, %c0
    : (tensor<6xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
  %1 = stablehlo.real_dynamic_slice %x, %c1, %c5, %c2
    : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %2 = "stablehlo.dynamic_gather"(%x, %i, %c1) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  } : (tensor<6xf32>, tensor<3x1xi32>, tensor<1xi64>) -> tensor<3xf32>
  %3 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<6xf32>) -> tensor<i32>
  return %0, %1, %2, %3 : tensor<9xf32>, tensor<2xf32>, tensor<3xf32>, tensor<i32>
}

// CHECK-LABEL: func.func @constant_padding
// CHECK: stablehlo.convolution(%arg0, %arg1)
// CHECK-SAME{LITERAL}: pad = [[1, 0]]
func.func @constant_padding(%x: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x4x1xf32> {
  %pad = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %pad) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x4x1xf32>
  return %0 : tensor<1x4x1xf32>
}

// Sizes that are known when run only, and types that are dynamic, stay.
// CHECK-LABEL: func.func @stays
// CHECK: stablehlo.dynamic_pad
// CHECK: stablehlo.dynamic_reshape
func.func @stays(%x: tensor<6xf32>, %zero: tensor<f32>, %c: tensor<1xi64>, %s: tensor<2xi32>)
    -> (tensor<9xf32>, tensor<?x?xf32>) {
  %0 = stablehlo.dynamic_pad %x, %zero, %c, %c, %c
    : (tensor<6xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
  %1 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<9xf32>, tensor<?x?xf32>
}
