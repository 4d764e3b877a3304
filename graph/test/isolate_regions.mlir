// RUN: spokeshave-opt --graph-isolate-regions %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: "stablehlo.sort"
// CHECK: ^bb0
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK: stablehlo.compare EQ, %{{.*}}, %[[Z]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare EQ, %a, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
