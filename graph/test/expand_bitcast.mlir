// RUN: spokeshave check --target both --quiet %s
// Bits of complex numbers, to and from other widths.

func.func @complex_to_complex() {
  %0 = stablehlo.constant dense<[(0x0123456789ABCDEF, 0x0000000011111111)]> : tensor<1xcomplex<f64>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<1xcomplex<f64>>) -> tensor<1x2xcomplex<f32>>
  check.expect_eq_const %1, dense<[[(0x89ABCDEF, 0x01234567), (0x11111111, 0x00000000)]]> : tensor<1x2xcomplex<f32>>
  %2 = stablehlo.bitcast_convert %1 : (tensor<1x2xcomplex<f32>>) -> tensor<1xcomplex<f64>>
  check.expect_eq %2, %0 : tensor<1xcomplex<f64>>
  return
}

// Between complex and other types there is no cast by the specification.
