// RUN: spokeshave-opt --graph-drop-barriers --graph-fuse-alone %s | FileCheck %s

// One fusion per operation; splat constants are copied in, reshapes and loops stay.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion loop "add"(%{{.*}} = %arg0 : tensor<4xf32>)
// CHECK-NEXT: dense<1.000000e+00>
// CHECK: graph.fusion reduce "reduce"
// CHECK: stablehlo.while
// CHECK: graph.fusion loop "compare"
// CHECK: graph.fusion loop "mul"
// CHECK-NOT: optimization_barrier
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %one = "stablehlo.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %zero = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "stablehlo.add"(%x, %one) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%0, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.while"(%1) ({
  ^bb0(%a: tensor<f32>):
    %c = "stablehlo.compare"(%a, %zero) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>):
    %m = "stablehlo.multiply"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.optimization_barrier"(%2) : (tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
