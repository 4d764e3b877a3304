// RUN: spokeshave check --target both --quiet %s
// Computation on quantized tensors, compiled and interpreted.

!q = !quant.uniform<i8:f32, 0.5:-20>
!p = !quant.uniform<i8:f32:1, {0.5, 0.25:4}>
!u = !quant.uniform<u8:f32, 0.25:128>

func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [-3.25, 100.0]]> : tensor<2x2xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!q>
  %1 = stablehlo.add %0, %0 : tensor<2x2x!q>
  %2 = stablehlo.bitcast_convert %1 : (tensor<2x2x!q>) -> tensor<2x2xi8>
  check.expect_eq_const %2, dense<[[-16, -12], [-32, 127]]> : tensor<2x2xi8>
  // A scale per column, and saturation.
  %3 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!p>
  %4 = stablehlo.bitcast_convert %3 : (tensor<2x2x!p>) -> tensor<2x2xi8>
  check.expect_eq_const %4, dense<[[2, 12], [-6, 127]]> : tensor<2x2xi8>
  %5 = stablehlo.uniform_dequantize %3 : (tensor<2x2x!p>) -> tensor<2x2xf32>
  check.expect_eq_const %5, dense<[[1.0, 2.0], [-3.0, 30.75]]> : tensor<2x2xf32>
  // Unsigned storage, from one scale to another, and no number.
  %6 = stablehlo.uniform_quantize %0 : (tensor<2x2x!q>) -> tensor<2x2x!u>
  %7 = stablehlo.bitcast_convert %6 : (tensor<2x2x!u>) -> tensor<2x2xui8>
  check.expect_eq_const %7, dense<[[132, 136], [116, 255]]> : tensor<2x2xui8>
  %n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %8 = stablehlo.uniform_quantize %n : (tensor<f32>) -> tensor<!q>
  %9 = stablehlo.bitcast_convert %8 : (tensor<!q>) -> tensor<i8>
  check.expect_eq_const %9, dense<0> : tensor<i8>
  return
}
