// Time without values ends where loops and branches inside kernels depend on data:
// a branch that data decides is taken every second time.
// RUN: spokeshave time %s | FileCheck %s
// CHECK: cycles on v5e
// CHECK: top_k
func.func @main(%x: tensor<4x3000xf32>) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %0:2 = chlo.top_k(%x, k = 8) : tensor<4x3000xf32> -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xi32>
}
