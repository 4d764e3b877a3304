// RUN: spokeshave-opt %s | spokeshave-opt | FileCheck %s
// RUN: spokeshave-opt %s --mlir-print-op-generic | spokeshave-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: %c = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.constant dense<7> : tensor<i32>
  // CHECK-NEXT: %cst = stablehlo.constant {note = "x"} dense<0x7FC00000> : tensor<f32>
  %1 = stablehlo.constant {note = "x"} dense<0x7FC00000> : tensor<f32>
  // CHECK-NEXT: %cst_0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %2 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  // CHECK-NEXT: %cst_1 = stablehlo.constant dense_resource<blob> : tensor<2xf32>
  %3 = stablehlo.constant dense_resource<blob> : tensor<2xf32>
  // CHECK-NEXT: stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>
  %4 = stablehlo.constant() {value = dense<1> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  // CHECK-NEXT: stablehlo.iota dim = 1 : tensor<2x3xi32>
  %5 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%a: tensor<3x8xf32>, %s: tensor<f32>, %i: tensor<i32>) {
  // CHECK-NEXT: stablehlo.slice %arg0 [0:2, 1:8:3] : (tensor<3x8xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.slice %a [0:2, 1:8:3] : (tensor<3x8xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %1 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  // CHECK-NEXT: stablehlo.dynamic_update_slice %arg0, %1, %arg2, %arg2 : (tensor<3x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  %2 = stablehlo.dynamic_update_slice %a, %1, %i, %i : (tensor<3x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  // CHECK-NEXT: stablehlo.pad %arg0, %arg1, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<4x16xf32>
  %3 = stablehlo.pad %a, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<4x16xf32>
  // CHECK-NEXT: stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  %4 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  // CHECK-NEXT: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  // CHECK-NEXT: stablehlo.reverse %arg0, dims = [1] : tensor<3x8xf32>
  %6 = stablehlo.reverse %a, dims = [1] : tensor<3x8xf32>
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %7 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  // CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<3x8xf32>) -> tensor<24xf32>
  %8 = stablehlo.reshape %a : (tensor<3x8xf32>) -> tensor<24xf32>
  // CHECK-NEXT: stablehlo.bitcast_convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8x4xi8>
  %9 = stablehlo.bitcast_convert %a : (tensor<3x8xf32>) -> tensor<3x8x4xi8>
  return
}

// CHECK-LABEL: func.func @indexed
func.func @indexed(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<index_vector_dim = 1, offset_dims = [1], start_index_map = [0], collapsed_slice_dims = [0]>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // CHECK-NEXT: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  %1 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// CHECK-LABEL: func.func @bounds
// CHECK-SAME: tensor<?x4xf32, #stablehlo.bounds<3, ?>>
func.func @bounds(%a: tensor<?x4xf32, #stablehlo.type_extensions<bounds = [3, ?]>>) {
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
