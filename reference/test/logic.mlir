// RUN: spokeshave check %s

func.func @bitwise() {
  %a = stablehlo.constant dense<[12, -1]> : tensor<2xi4>
  %b = stablehlo.constant dense<[10, 3]> : tensor<2xi4>
  %0 = stablehlo.and %a, %b : tensor<2xi4>
  check.expect_eq_const %0, dense<[-8, 3]> : tensor<2xi4>
  %1 = stablehlo.or %a, %b : tensor<2xi4>
  check.expect_eq_const %1, dense<[-2, -1]> : tensor<2xi4>
  %2 = stablehlo.xor %a, %b : tensor<2xi4>
  check.expect_eq_const %2, dense<[6, -4]> : tensor<2xi4>
  %3 = stablehlo.not %a : tensor<2xi4>
  check.expect_eq_const %3, dense<[3, 0]> : tensor<2xi4>
  %p = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %4 = stablehlo.not %p : tensor<2xi1>
  check.expect_eq_const %4, dense<[false, true]> : tensor<2xi1>
  return
}

// -----

func.func @shifts() {
  %a = stablehlo.constant dense<[-128, 3, 3, -1]> : tensor<4xi8>
  %n = stablehlo.constant dense<[1, 6, 8, -1]> : tensor<4xi8>
  %0 = stablehlo.shift_left %a, %n : tensor<4xi8>
  check.expect_eq_const %0, dense<[0, -64, 0, 0]> : tensor<4xi8>
  %1 = stablehlo.shift_right_arithmetic %a, %n : tensor<4xi8>
  check.expect_eq_const %1, dense<[-64, 0, 0, -1]> : tensor<4xi8>
  %2 = stablehlo.shift_right_logical %a, %n : tensor<4xi8>
  check.expect_eq_const %2, dense<[64, 0, 0, 0]> : tensor<4xi8>
  return
}

// -----

func.func @counting() {
  %a = stablehlo.constant dense<[0, 1, -1]> : tensor<3xi16>
  %0 = stablehlo.count_leading_zeros %a : tensor<3xi16>
  check.expect_eq_const %0, dense<[16, 15, 0]> : tensor<3xi16>
  %1 = stablehlo.popcnt %a : tensor<3xi16>
  check.expect_eq_const %1, dense<[0, 1, 16]> : tensor<3xi16>
  return
}

// -----

func.func @compare() {
  %nan = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0]> : tensor<3xf32>
  %x = stablehlo.constant dense<[0x7FC00000, 2.0, 0.0]> : tensor<3xf32>
  %0 = stablehlo.compare EQ, %nan, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %0, dense<[false, false, true]> : tensor<3xi1>
  %1 = stablehlo.compare NE, %nan, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %1, dense<[true, true, false]> : tensor<3xi1>
  %2 = stablehlo.compare LT, %nan, %x, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %2, dense<[false, true, true]> : tensor<3xi1>
  %3 = stablehlo.compare GE, %nan, %x, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %3, dense<[false, false, true]> : tensor<3xi1>
  %u = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %v = stablehlo.constant dense<[1, 1]> : tensor<2xui8>
  %4 = stablehlo.compare GT, %u, %v, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %4, dense<[true, false]> : tensor<2xi1>
  %c = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %d = stablehlo.constant dense<(1.0, 3.0)> : tensor<complex<f32>>
  %5 = stablehlo.compare LE, %c, %d, FLOAT : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
  check.expect_eq_const %5, dense<true> : tensor<i1>
  return
}

// -----

func.func @is_finite_select() {
  %x = stablehlo.constant dense<[1.0, 0x7F800000, 0x7FC00000]> : tensor<3xf32>
  %0 = stablehlo.is_finite %x : (tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %0, dense<[true, false, false]> : tensor<3xi1>
  %y = stablehlo.constant dense<[7.0, 8.0, 9.0]> : tensor<3xf32>
  %1 = stablehlo.select %0, %x, %y : tensor<3xi1>, tensor<3xf32>
  check.expect_eq_const %1, dense<[1.0, 8.0, 9.0]> : tensor<3xf32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %2 = stablehlo.select %no, %x, %y : tensor<i1>, tensor<3xf32>
  check.expect_eq %2, %y : tensor<3xf32>
  return
}
