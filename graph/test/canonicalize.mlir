// RUN: spokeshave-opt --graph-canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @shapes
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK: return %[[B]], %arg0
func.func @shapes(%x: tensor<2x3xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %3, %5 : tensor<4x6xf32>, tensor<2x3xf32>
}

// A start out of range is clamped as at run time.
// CHECK-LABEL: func.func @dynamic_slice
// CHECK: stablehlo.slice %arg0 [3:5]
func.func @dynamic_slice(%x: tensor<5xf32>) -> tensor<2xf32> {
  %start = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %start, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK: stablehlo.slice %arg0 [3:8:2]
// CHECK: stablehlo.slice %arg1 [1:3]
func.func @slices(%x: tensor<10xf32>, %y: tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = stablehlo.slice %x [1:10] : (tensor<10xf32>) -> tensor<9xf32>
  %1 = stablehlo.slice %0 [2:7:2] : (tensor<9xf32>) -> tensor<3xf32>
  %2 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<10xf32>, tensor<4xf32>) -> tensor<14xf32>
  %3 = stablehlo.slice %2 [11:13] : (tensor<14xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<3xf32>, tensor<2xf32>
}

// Exact for floats.
// CHECK-LABEL: func.func @exact
// CHECK-NEXT: stablehlo.constant dense<2.500000e-01>
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0
// CHECK-NEXT: return %arg0, %[[M]], %arg0
func.func @exact(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %four = stablehlo.constant dense<4.0> : tensor<4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %one : tensor<4xf32>
  %1 = stablehlo.divide %x, %four : tensor<4xf32>
  %2 = stablehlo.maximum %low, %x : tensor<4xf32>
  %3 = stablehlo.subtract %2, %zero : tensor<4xf32>
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Must not fire: -0.0 + 0.0 is 0.0; NaN * 0 is NaN; inf - inf is NaN; 1/3 rounds.
// CHECK-LABEL: func.func @inexact
// CHECK: stablehlo.add
// CHECK: stablehlo.multiply
// CHECK: stablehlo.subtract
// CHECK: stablehlo.divide
func.func @inexact(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = stablehlo.constant dense<3.0> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %zero : tensor<4xf32>
  %1 = stablehlo.multiply %x, %zero : tensor<4xf32>
  %2 = stablehlo.subtract %x, %x : tensor<4xf32>
  %3 = stablehlo.divide %x, %three : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK: %[[C:.*]] = stablehlo.constant dense<0> : tensor<4xi32>
// CHECK: return %arg0, %[[C]], %arg0
func.func @integers(%x: tensor<4xi32>, %p: tensor<i1>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.add %x, %zero : tensor<4xi32>
  %1 = stablehlo.multiply %x, %zero : tensor<4xi32>
  %2 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// Nothing is computed for no elements; a sum over none is its initial value.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: stablehlo.dot_general
// CHECK-NOT: stablehlo.sort
// CHECK-DAG: stablehlo.constant dense<> : tensor<0x4xf32>
// CHECK-DAG: stablehlo.constant dense<> : tensor<0x3xf32>
func.func @empty(%x: tensor<0x3xf32>, %y: tensor<3x4xf32>) -> (tensor<0x4xf32>, tensor<0x3xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<0x3xf32>, tensor<3x4xf32>) -> tensor<0x4xf32>
  %1 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return %0, %1 : tensor<0x4xf32>, tensor<0x3xf32>
}
