// RUN: spokeshave-opt %s | spokeshave-opt | FileCheck %s
// RUN: spokeshave-opt %s --mlir-print-op-generic | spokeshave-opt | FileCheck %s

// The short form prints a type once where operands and results share it.

// CHECK-LABEL: func.func @one_type
func.func @one_type(%a: tensor<4xf32>, %p: tensor<4xi1>) {
  // CHECK-NEXT: stablehlo.exponential %arg0 : tensor<4xf32>
  %0 = stablehlo.exponential %a : tensor<4xf32>
  // CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %1 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
  %2 = stablehlo.clamp %a, %a, %a : tensor<4xf32>
  // CHECK-NEXT: stablehlo.select %arg1, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
  %3 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
  %4 = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>
  return
}

// Where they differ it is a function type.

// CHECK-LABEL: func.func @several_types
func.func @several_types(%a: tensor<4xf32>, %d: tensor<?xf32>, %s: tensor<f32>, %z: tensor<4xcomplex<f32>>) {
  // CHECK-NEXT: stablehlo.add %arg0, %arg1 : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  %0 = stablehlo.add %a, %d : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.clamp %arg2, %arg0, %arg2 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.abs %arg3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
  %3 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK-NEXT: stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
  %4 = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @members
func.func @members(%a: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK-NEXT: stablehlo.compare LT, %arg0, %arg0, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: stablehlo.compare EQ, %arg1, %arg1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = stablehlo.compare EQ, %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
  %2 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>
  // CHECK-NEXT: stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %3 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}
