// RUN: spokeshave-opt --graph-fold-constants %s | FileCheck %s

// CHECK-LABEL: func.func @splat
// CHECK: stablehlo.constant dense<3.000000e+00> : tensor<1000000xf32>
// CHECK: return
func.func @splat() -> tensor<1000000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1000000xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<1000000xf32>
  %2 = stablehlo.add %0, %1 : tensor<1000000xf32>
  return %2 : tensor<1000000xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: stablehlo.constant dense<[2, 1, -2147483648]> : tensor<3xi32>
func.func @small() -> tensor<3xi32> {
  %0 = stablehlo.constant dense<[1, 0, 2147483647]> : tensor<3xi32>
  %1 = stablehlo.constant dense<1> : tensor<3xi32>
  %2 = stablehlo.add %0, %1 : tensor<3xi32>
  return %2 : tensor<3xi32>
}

// Must not fire: the result would be a large constant.
// CHECK-LABEL: func.func @large
// CHECK: stablehlo.concatenate
func.func @large() -> tensor<2000000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1000000xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<1000000xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<2000000xf32>
  return %2 : tensor<2000000xf32>
}
