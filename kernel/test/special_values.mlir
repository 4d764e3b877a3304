// RUN: spokeshave check --target both --quiet %s
// Values at the edge of what operations are defined for, compiled as interpreted.

// The real part alone says whether a complex number is true.
func.func @complex_to_bool() {
  %0 = stablehlo.constant dense<[(-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)]> : tensor<3xcomplex<f64>>
  %1 = stablehlo.convert %0 : (tensor<3xcomplex<f64>>) -> tensor<3xi1>
  check.expect_eq_const %1, dense<[true, false, true]> : tensor<3xi1>
  return
}

// -----

// Without a mantissa there is no NaN.
func.func @reduce_precision_without_mantissa() {
  %0 = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, 1.75, 0x7F800000]> : tensor<4xf32>
  %1 = stablehlo.reduce_precision %0, format = e5m0 : tensor<4xf32>
  check.expect_eq_const %1, dense<[0x7F800000, 0xFF800000, 2.0, 0x7F800000]> : tensor<4xf32>
  %2 = stablehlo.reduce_precision %0, format = e5m1 : tensor<4xf32>
  check.expect_eq_const %2, dense<[0x7FC00000, 0xFFC00000, 2.0, 0x7F800000]> : tensor<4xf32>
  return
}

// -----

// Zero times a direction that is none.
func.func @exponential_of_infinities() {
  %0 = stablehlo.constant dense<[(0xFF800000, 0x7F800000), (0xFF800000, 1.0), (0xFF800000, 0.0),
                                 (0x7F800000, 0.0)]> : tensor<4xcomplex<f32>>
  %1 = stablehlo.exponential %0 : tensor<4xcomplex<f32>>
  check.expect_eq_const %1, dense<[(0x7FC00000, 0x7FC00000), (0.0, 0.0), (0.0, 0.0),
                                   (0x7F800000, 0.0)]> : tensor<4xcomplex<f32>>
  return
}
