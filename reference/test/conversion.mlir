// RUN: spokeshave check %s

func.func @convert_to_integers() {
  %x = stablehlo.constant dense<[-1.9, 2.9, 1.0e10, -1.0e10, 0x7FC00000, 300.0]> : tensor<6xf32>
  %0 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xi8>
  check.expect_eq_const %0, dense<[-1, 2, 127, -128, 0, 127]> : tensor<6xi8>
  %1 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xui8>
  check.expect_eq_const %1, dense<[0, 2, 255, 0, 0, 255]> : tensor<6xui8>
  %2 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %2, dense<true> : tensor<6xi1>
  %i = stablehlo.constant dense<[300, -1]> : tensor<2xi32>
  %3 = stablehlo.convert %i : (tensor<2xi32>) -> tensor<2xui8>
  check.expect_eq_const %3, dense<[44, 255]> : tensor<2xui8>
  return
}

// -----

func.func @convert_to_floats() {
  // 2^60 + 2^36 + 1 lies above the middle of two neighbours in f32; rounding to
  // double first would make it a tie and then the lower neighbour.
  %i = stablehlo.constant dense<[1152921573326323713, -3]> : tensor<2xi64>
  %0 = stablehlo.convert %i : (tensor<2xi64>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[0x5D800001, -3.0]> : tensor<2xf32>
  %x = stablehlo.constant dense<[0.1, 464.0, 465.0, 0x7F800000]> : tensor<4xf32>
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  check.expect_eq_const %1, dense<[0.1015625, 448.0, 0x7F, 0x7F]> : tensor<4xf8E4M3FN>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  check.expect_eq_const %2, dense<[0.09375, 448.0, 448.0, 0x7C]> : tensor<4xf8E5M2>
  %z = stablehlo.constant dense<-0.0> : tensor<f32>
  %3 = stablehlo.convert %z : (tensor<f32>) -> tensor<f8E4M3FNUZ>
  check.expect_eq_const %3, dense<0.0> : tensor<f8E4M3FNUZ>
  %c = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xcomplex<f64>>
  %4 = stablehlo.imag %c : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  check.expect_eq_const %4, dense<0.0> : tensor<4xf64>
  return
}

// -----

func.func @complex_real_imag() {
  %re = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %im = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = stablehlo.complex %re, %im : tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(1.0, 3.0), (2.0, 4.0)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq %1, %re : tensor<2xf32>
  %2 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq %2, %im : tensor<2xf32>
  return
}

// -----

func.func @reduce_precision() {
  %x = stablehlo.constant dense<[1.0009765625, 65536.0, 1.0e-6, -0.0]> : tensor<4xf32>
  %0 = stablehlo.reduce_precision %x, format = e5m9 : tensor<4xf32>
  check.expect_eq_const %0, dense<[1.0, 0x7F800000, 0.0, -0.0]> : tensor<4xf32>
  return
}

// -----

func.func @bitcast_convert() {
  %x = stablehlo.constant dense<0x0123456789ABCDEF> : tensor<f64>
  %0 = stablehlo.bitcast_convert %x : (tensor<f64>) -> tensor<4xi16>
  check.expect_eq_const %0, dense<[-12817, -30293, 17767, 291]> : tensor<4xi16>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4xi16>) -> tensor<f64>
  check.expect_eq %1, %x : tensor<f64>
  %2 = stablehlo.bitcast_convert %0 : (tensor<4xi16>) -> tensor<4x4xui4>
  check.expect_eq_const %2, dense<[[15, 14, 13, 12], [11, 10, 9, 8], [7, 6, 5, 4], [3, 2, 1, 0]]> : tensor<4x4xui4>
  %3 = stablehlo.bitcast_convert %2 : (tensor<4x4xui4>) -> tensor<4xbf16>
  %4 = stablehlo.bitcast_convert %3 : (tensor<4xbf16>) -> tensor<4xi16>
  check.expect_eq %4, %0 : tensor<4xi16>
  return
}
