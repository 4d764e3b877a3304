// RUN: spokeshave check %s

func.func @add() {
  %i = stablehlo.constant dense<[127, -128, 5]> : tensor<3xi8>
  %j = stablehlo.constant dense<[1, -1, 2]> : tensor<3xi8>
  %0 = stablehlo.add %i, %j : tensor<3xi8>
  check.expect_eq_const %0, dense<[-128, 127, 7]> : tensor<3xi8>
  %p = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %q = stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
  %1 = stablehlo.add %p, %q : tensor<3xi1>
  check.expect_eq_const %1, dense<[true, false, true]> : tensor<3xi1>
  // 1 + 2^-9 is a tie in bf16 and goes to the even neighbour.
  %f = stablehlo.constant dense<[1.0, 1.0078125]> : tensor<2xbf16>
  %g = stablehlo.constant dense<0.00390625> : tensor<2xbf16>
  %2 = stablehlo.add %f, %g : tensor<2xbf16>
  check.expect_eq_const %2, dense<[1.0, 1.015625]> : tensor<2xbf16>
  return
}

// -----

func.func @subtract() {
  %a = stablehlo.constant dense<[0, 7]> : tensor<2xui4>
  %b = stablehlo.constant dense<[1, 3]> : tensor<2xui4>
  %0 = stablehlo.subtract %a, %b : tensor<2xui4>
  check.expect_eq_const %0, dense<[15, 4]> : tensor<2xui4>
  %c = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %d = stablehlo.constant dense<(0.5, -2.0)> : tensor<complex<f32>>
  %1 = stablehlo.subtract %c, %d : tensor<complex<f32>>
  check.expect_eq_const %1, dense<(0.5, 4.0)> : tensor<complex<f32>>
  return
}

// -----

func.func @multiply() {
  %a = stablehlo.constant dense<[1073741824, -3]> : tensor<2xi32>
  %b = stablehlo.constant dense<[4, 5]> : tensor<2xi32>
  %0 = stablehlo.multiply %a, %b : tensor<2xi32>
  check.expect_eq_const %0, dense<[0, -15]> : tensor<2xi32>
  %c = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f64>>
  %1 = stablehlo.multiply %c, %c : tensor<complex<f64>>
  check.expect_eq_const %1, dense<(-3.0, 4.0)> : tensor<complex<f64>>
  // Overflow of a format without infinities.
  %f = stablehlo.constant dense<[256.0, 2.0]> : tensor<2xf8E4M3FN>
  %2 = stablehlo.multiply %f, %f : tensor<2xf8E4M3FN>
  check.expect_eq_const %2, dense<[0x7F, 4.0]> : tensor<2xf8E4M3FN>
  return
}

// -----

func.func @divide() {
  %a = stablehlo.constant dense<[-7, 7, 5, -2147483648]> : tensor<4xi32>
  %b = stablehlo.constant dense<[2, -2, 0, -1]> : tensor<4xi32>
  %0 = stablehlo.divide %a, %b : tensor<4xi32>
  check.expect_eq_const %0, dense<[-3, -3, -1, -2147483648]> : tensor<4xi32>
  %c = stablehlo.constant dense<[200, 7]> : tensor<2xui8>
  %d = stablehlo.constant dense<[3, 0]> : tensor<2xui8>
  %1 = stablehlo.divide %c, %d : tensor<2xui8>
  check.expect_eq_const %1, dense<[66, 255]> : tensor<2xui8>
  %e = stablehlo.constant dense<[1.0, -1.0, 0.0]> : tensor<3xf32>
  %z = stablehlo.constant dense<[3.0, 0.0, 0.0]> : tensor<3xf32>
  %2 = stablehlo.divide %e, %z : tensor<3xf32>
  check.expect_eq_const %2, dense<[0x3EAAAAAB, 0xFF800000, 0x7FC00000]> : tensor<3xf32>
  return
}

// -----

func.func @remainder() {
  %a = stablehlo.constant dense<[-7, 7, 5, -2147483648]> : tensor<4xi32>
  %b = stablehlo.constant dense<[2, -2, 0, -1]> : tensor<4xi32>
  %0 = stablehlo.remainder %a, %b : tensor<4xi32>
  check.expect_eq_const %0, dense<[-1, 1, 5, 0]> : tensor<4xi32>
  %c = stablehlo.constant dense<[17.1, -5.5, 5.0]> : tensor<3xf64>
  %d = stablehlo.constant dense<[3.0, 2.0, 0x7FF0000000000000]> : tensor<3xf64>
  %1 = stablehlo.remainder %c, %d : tensor<3xf64>
  check.expect_eq_const %1, dense<[0x4000CCCCCCCCCCD0, -1.5, 5.0]> : tensor<3xf64>
  return
}

// -----

func.func @power() {
  %a = stablehlo.constant dense<[3, -2, 2, -1, 0]> : tensor<5xi8>
  %b = stablehlo.constant dense<[4, 3, -1, -3, 0]> : tensor<5xi8>
  %0 = stablehlo.power %a, %b : tensor<5xi8>
  check.expect_eq_const %0, dense<[81, -8, 0, -1, 1]> : tensor<5xi8>
  %c = stablehlo.constant dense<[2.0, 0x7FC00000, 1.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[0.5, 0.0, 0x7FC00000]> : tensor<3xf32>
  %1 = stablehlo.power %c, %d : tensor<3xf32>
  check.expect_eq_const %1, dense<[1.41421354, 1.0, 1.0]> : tensor<3xf32>
  return
}

// -----

func.func @maximum_minimum() {
  %a = stablehlo.constant dense<[0.0, -0.0, 0x7FC00000, 1.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[-0.0, 0.0, 1.0, 2.0]> : tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.maximum %a, %b : tensor<4xf32>
  %1 = stablehlo.minimum %a, %b : tensor<4xf32>
  // The signs of zeros show in the reciprocals.
  %2 = stablehlo.divide %one, %0 : tensor<4xf32>
  %3 = stablehlo.divide %one, %1 : tensor<4xf32>
  check.expect_eq_const %2, dense<[0x7F800000, 0x7F800000, 0x7FC00000, 0.5]> : tensor<4xf32>
  check.expect_eq_const %3, dense<[0xFF800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %u = stablehlo.constant dense<[200, 3]> : tensor<2xui8>
  %v = stablehlo.constant dense<[100, 4]> : tensor<2xui8>
  %4 = stablehlo.maximum %u, %v : tensor<2xui8>
  check.expect_eq_const %4, dense<[200, 4]> : tensor<2xui8>
  return
}

// -----

func.func @clamp() {
  %low = stablehlo.constant dense<-1> : tensor<i32>
  %high = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %x = stablehlo.constant dense<[-9, 1, 9]> : tensor<3xi32>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<i32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[-1, 1, 3]> : tensor<3xi32>
  return
}

// -----

func.func @abs_negate_sign() {
  %a = stablehlo.constant dense<[-128, -3, 4]> : tensor<3xi8>
  %0 = stablehlo.abs %a : tensor<3xi8>
  check.expect_eq_const %0, dense<[-128, 3, 4]> : tensor<3xi8>
  %1 = stablehlo.negate %a : tensor<3xi8>
  check.expect_eq_const %1, dense<[-128, 3, -4]> : tensor<3xi8>
  %2 = stablehlo.sign %a : tensor<3xi8>
  check.expect_eq_const %2, dense<[-1, -1, 1]> : tensor<3xi8>
  %c = stablehlo.constant dense<(3.0, -4.0)> : tensor<complex<f32>>
  %3 = stablehlo.abs %c : (tensor<complex<f32>>) -> tensor<f32>
  check.expect_eq_const %3, dense<5.0> : tensor<f32>
  %4 = stablehlo.sign %c : tensor<complex<f32>>
  check.expect_eq_const %4, dense<(0.6, -0.8)> : tensor<complex<f32>>
  %f = stablehlo.constant dense<[-2.5, 0.0, 0x7FC00000]> : tensor<3xf32>
  %5 = stablehlo.sign %f : tensor<3xf32>
  check.expect_eq_const %5, dense<[-1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  return
}

// -----

func.func @rounding() {
  %a = stablehlo.constant dense<[-2.5, -0.5, 0.5, 1.5, 2.4]> : tensor<5xf16>
  %0 = stablehlo.ceil %a : tensor<5xf16>
  check.expect_eq_const %0, dense<[-2.0, -0.0, 1.0, 2.0, 3.0]> : tensor<5xf16>
  %1 = stablehlo.floor %a : tensor<5xf16>
  check.expect_eq_const %1, dense<[-3.0, -1.0, 0.0, 1.0, 2.0]> : tensor<5xf16>
  %2 = stablehlo.round_nearest_afz %a : tensor<5xf16>
  check.expect_eq_const %2, dense<[-3.0, -1.0, 1.0, 2.0, 2.0]> : tensor<5xf16>
  %3 = stablehlo.round_nearest_even %a : tensor<5xf16>
  check.expect_eq_const %3, dense<[-2.0, -0.0, 0.0, 2.0, 2.0]> : tensor<5xf16>
  return
}
