// A known exponent of few factors needs neither a logarithm nor an exponential.
// RUN: spokeshave compile --emit=kernel --isa=avx512 %s | FileCheck %s

// CHECK: math.sqrt
// CHECK-NOT: math.fma
// CHECK: arith.divf
// CHECK-NOT: math.fma
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = stablehlo.constant dense<-1.5> : tensor<64xf32>
  %0 = stablehlo.power %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
}
