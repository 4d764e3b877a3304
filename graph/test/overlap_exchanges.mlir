// RUN: spokeshave-opt --graph-overlap-exchanges %s | FileCheck %s

// The collective starts when its operand is there; what does not need it goes
// before what does.
// CHECK-LABEL: func.func @overlap
// CHECK-NEXT: %[[X:.*]] = stablehlo.sine %arg0
// CHECK-NEXT: %[[G:.*]] = "stablehlo.all_gather"(%[[X]])
// CHECK-NEXT: stablehlo.cosine %arg1
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: stablehlo.exponential %[[G]]
func.func @overlap(%a: tensor<1x4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>) {
  %x = stablehlo.sine %a : tensor<1x4xf32>
  %c = stablehlo.cosine %b : tensor<4xf32>
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %e = stablehlo.exponential %g : tensor<2x4xf32>
  %t = stablehlo.tanh %c : tensor<4xf32>
  return %e, %t : tensor<2x4xf32>, tensor<4xf32>
}

// Two collectives keep their order, and readers stay behind what they read.
// CHECK-LABEL: func.func @order
// CHECK-NEXT: "stablehlo.all_gather"(%arg0)
// CHECK-NEXT: "stablehlo.all_gather"(%arg1)
// CHECK-NEXT: stablehlo.exponential
// CHECK-NEXT: stablehlo.add
func.func @order(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %g = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %e = stablehlo.exponential %b : tensor<1x4xf32>
  %h = "stablehlo.all_gather"(%b) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %s = stablehlo.add %g, %h : tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}
