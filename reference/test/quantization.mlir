// RUN: spokeshave check %s

// Per axis, as in the specification's examples; 1000 is clamped.
func.func @quantize_dequantize() {
  %x = stablehlo.constant dense<[[4.0, 15.0], [1000.0, -4.0]]> : tensor<2x2xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>) -> tensor<2x2xi8>
  check.expect_eq_const %1, dense<[[10, 10], [127, -28]]> : tensor<2x2xi8>
  %2 = stablehlo.uniform_dequantize %0 : (tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>) -> tensor<2x2xf32>
  check.expect_almost_eq_const %2, dense<[[4.0, 15.0], [15.7, -4.0]]> : tensor<2x2xf32>, tolerance = 1.0e-5
  return
}

// -----

// Any other operation computes on the numbers that are meant.
func.func @dequantize_op_quantize() {
  %i = stablehlo.constant dense<[2, 100, -100]> : tensor<3xi8>
  %0 = stablehlo.bitcast_convert %i : (tensor<3xi8>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.add %0, %0 : tensor<3x!quant.uniform<i8:f32, 0.5>>
  %2 = stablehlo.bitcast_convert %1 : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xi8>
  check.expect_eq_const %2, dense<[4, 127, -128]> : tensor<3xi8>
  %3 = stablehlo.reverse %0, dims = [0] : tensor<3x!quant.uniform<i8:f32, 0.5>>
  %4 = stablehlo.bitcast_convert %3 : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xi8>
  check.expect_eq_const %4, dense<[-100, 100, 2]> : tensor<3xi8>
  return
}

// -----

// Floats by quantized weights.
func.func @hybrid_dot() {
  %x = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %i = stablehlo.constant dense<[[2], [4]]> : tensor<2x1xi8>
  %w = stablehlo.bitcast_convert %i : (tensor<2x1xi8>) -> tensor<2x1x!quant.uniform<i8:f32, 0.5>>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1xf32>
  check.expect_eq_const %0, dense<5.0> : tensor<1x1xf32>
  return
}
