// RUN: spokeshave check %s

func.func @slices() {
  %x = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %0 = stablehlo.slice %x [1:3, 0:4:2] : (tensor<3x4xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[4, 6], [8, 10]]> : tensor<2x2xi32>
  // Starts are moved so that the box fits.
  %i = stablehlo.constant dense<5> : tensor<i32>
  %j = stablehlo.constant dense<-3> : tensor<i32>
  %1 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<3x4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[4, 5], [8, 9]]> : tensor<2x2xi32>
  %huge = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %2 = stablehlo.dynamic_slice %x, %huge, %huge, sizes = [1, 1] : (tensor<3x4xi32>, tensor<ui64>, tensor<ui64>) -> tensor<1x1xi32>
  check.expect_eq_const %2, dense<11> : tensor<1x1xi32>
  return
}

// -----

func.func @dynamic_update_slice() {
  %x = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %u = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %i = stablehlo.constant dense<1> : tensor<i64>
  %j = stablehlo.constant dense<2> : tensor<i64>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[0, 1, 2], [3, 7, 8]]> : tensor<2x3xi32>
  // The operand itself is as it was.
  check.expect_eq_const %x, dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  return
}

// -----

func.func @real_dynamic_slice() {
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %start = stablehlo.constant dense<1> : tensor<1xi32>
  %limit = stablehlo.constant dense<6> : tensor<1xi32>
  %stride = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<6xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 3, 5]> : tensor<3xi32>
  return
}
