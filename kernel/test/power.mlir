// Small multiples of a half as exponents are products and a root; compiled, they give
// what the specification does, also at the edges.
// RUN: spokeshave check --quiet %s

func.func @half_integers() {
  %c = stablehlo.constant dense<[0.0, -0.0, 4.0, -4.0, 0x7F800000, 0xFF800000, 0x7FC00000, 9.0]>
    : tensor<8xf32>
  %x = stablehlo.optimization_barrier %c : tensor<8xf32>
  %a = stablehlo.constant dense<-1.5> : tensor<8xf32>
  %0 = stablehlo.power %x, %a : tensor<8xf32>
  check.expect_eq_const %0, dense<[0x7F800000, 0x7F800000, 0.125, 0x7FC00000, 0.0, 0.0, 0x7FC00000,
                                   0.037037037]> : tensor<8xf32>
  %b = stablehlo.constant dense<0.5> : tensor<8xf32>
  %1 = stablehlo.power %x, %b : tensor<8xf32>
  check.expect_eq_const %1, dense<[0.0, 0.0, 2.0, 0x7FC00000, 0x7F800000, 0x7F800000, 0x7FC00000,
                                   3.0]> : tensor<8xf32>
  return
}

// -----

func.func @integers() {
  %c = stablehlo.constant dense<[0.0, -0.0, 2.0, -2.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.5]>
    : tensor<8xf32>
  %x = stablehlo.optimization_barrier %c : tensor<8xf32>
  %a = stablehlo.constant dense<-3.0> : tensor<8xf32>
  %0 = stablehlo.power %x, %a : tensor<8xf32>
  check.expect_eq_const %0, dense<[0x7F800000, 0xFF800000, 0.125, -0.125, 0.0, -0.0, 0x7FC00000,
                                   0.296296299]> : tensor<8xf32>
  %b = stablehlo.constant dense<0.0> : tensor<8xf32>
  %1 = stablehlo.power %x, %b : tensor<8xf32>
  check.expect_eq_const %1, dense<1.0> : tensor<8xf32>
  return
}
