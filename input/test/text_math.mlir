// RUN: spokeshave-opt %s | spokeshave-opt | FileCheck %s
// RUN: spokeshave-opt %s --mlir-print-op-generic | spokeshave-opt | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %v: tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK-NEXT: stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> :
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x2x5xf32>
  // CHECK-NEXT: stablehlo.dot %arg2, %arg2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %2 = stablehlo.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @convolution
func.func @convolution(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>) {
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = {{\[\[}}1, 1], [0, 2{{]]}}, rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x4x4xf32>
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 2]], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x4x4xf32>
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {
  %1 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%a: tensor<2x3xf32>, %i: tensor<2x3xi32>, %s: tensor<f32>, %n: tensor<i32>) {
  // CHECK-NEXT: stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.maximum across dimensions = [0, 1] {note = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [0, 1] {note = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[C:.*]]: tensor<i32>, %[[D:.*]]: tensor<i32>) {
  // CHECK-NEXT:   stablehlo.return %[[A]], %[[D]] : tensor<f32>, tensor<i32>
  %1:2 = stablehlo.reduce(%a init: %s), (%i init: %n) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %t: tensor<i32>)  {
    stablehlo.return %p, %t : tensor<f32>, tensor<i32>
  }
  // A body that does not commute, or in other order, keeps its region.
  // CHECK: stablehlo.reduce(%arg0 init: %arg2) across dimensions = [0]
  // CHECK-NEXT: reducer
  %2 = stablehlo.reduce(%a init: %s) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%p: tensor<f32>, %q: tensor<f32>)  {
    %3 = stablehlo.subtract %p, %q : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  // CHECK: stablehlo.reduce(%arg0 init: %arg2) across dimensions = [0]
  // CHECK-NEXT: reducer
  %4 = stablehlo.reduce(%a init: %s) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%p: tensor<f32>, %q: tensor<f32>)  {
    %5 = stablehlo.add %q, %p : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%c: tensor<16xcomplex<f32>>, %m: tensor<4x4xf32>, %k: tensor<4xui32>, %s: tensor<f32>, %n: tensor<1xi64>) {
  // CHECK-NEXT: stablehlo.fft %arg0, type = FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
  %0 = stablehlo.fft %c, type = FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
  // CHECK-NEXT: stablehlo.cholesky %arg1, lower = true : tensor<4x4xf32>
  %1 = stablehlo.cholesky %m, lower = true : tensor<4x4xf32>
  // CHECK-NEXT: %output_state, %output = stablehlo.rng_bit_generator %arg2, algorithm = THREE_FRY : (tensor<4xui32>) -> (tensor<4xui32>, tensor<8xui32>)
  %2:2 = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<4xui32>) -> (tensor<4xui32>, tensor<8xui32>)
  // CHECK-NEXT: stablehlo.rng %arg3, %arg3, %arg4, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %3 = stablehlo.rng %s, %s, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return
}
