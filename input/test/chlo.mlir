// RUN: spokeshave check --target both --quiet %s
// What chlo has beside functions; those stand in chlo_functions.mlir.

func.func @mulhi() {
  %a = stablehlo.constant dense<[100, -128, 7]> : tensor<3xi8>
  %b = stablehlo.constant dense<[100, -128, -1]> : tensor<3xi8>
  %0 = chlo.mulhi %a, %b : tensor<3xi8>, tensor<3xi8> -> tensor<3xi8>
  check.expect_eq_const %0, dense<[39, 64, -1]> : tensor<3xi8>
  %c = stablehlo.constant dense<[4294967295, 65536]> : tensor<2xui32>
  %1 = chlo.mulhi %c, %c : tensor<2xui32>, tensor<2xui32> -> tensor<2xui32>
  check.expect_eq_const %1, dense<[4294967294, 1]> : tensor<2xui32>
  %d = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, -1, -6000000000]> : tensor<4xi64>
  %e = stablehlo.constant dense<[-9223372036854775808, -1, -1, 5000000000]> : tensor<4xi64>
  %2 = chlo.mulhi %d, %e : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  check.expect_eq_const %2, dense<[4611686018427387904, -1, 0, -2]> : tensor<4xi64>
  %f = stablehlo.constant dense<[18446744073709551615, 12297829382473034410]> : tensor<2xui64>
  %3 = chlo.mulhi %f, %f : tensor<2xui64>, tensor<2xui64> -> tensor<2xui64>
  check.expect_eq_const %3, dense<[18446744073709551614, 8198552921648689606]> : tensor<2xui64>
  return
}

// -----

func.func @broadcasts() {
  %a = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %b = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %c = stablehlo.constant dense<5> : tensor<i32>
  %0 = chlo.broadcast_add %a, %b : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[11, 21, 31], [12, 22, 32]]> : tensor<2x3xi32>
  %1 = chlo.broadcast_subtract %c, %b : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[-5, -15, -25]> : tensor<3xi32>
  %d = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %2 = chlo.broadcast_multiply %0, %d {broadcast_dimensions = array<i64: 0>}
    : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[33, 63, 93], [48, 88, 128]]> : tensor<2x3xi32>
  %3 = chlo.broadcast_compare %b, %c {comparison_direction = #chlo<comparison_direction GT>,
                                      compare_type = #chlo<comparison_type SIGNED>}
    : (tensor<3xi32>, tensor<i32>) -> tensor<3xi1>
  check.expect_eq_const %3, dense<true> : tensor<3xi1>
  %4 = chlo.broadcast_select %3, %c, %b : (tensor<3xi1>, tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %4, dense<5> : tensor<3xi32>
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<1.0> : tensor<f32>
  %5 = chlo.broadcast_complex %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %5, dense<[(1.0, 1.0), (2.0, 1.0)]> : tensor<2xcomplex<f32>>
  %6 = chlo.broadcast_zeta %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_almost_eq_const %6, dense<[0x7F800000, 1.64493406]> : tensor<2xf32>
  return
}

// -----

func.func @constants() {
  %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = "chlo.constant_like"(%0) {value = 7.0 : f32} : (tensor<2xi32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<7.0> : tensor<2xf32>
  %2 = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %3 = chlo.is_inf %2 : tensor<4xf32> -> tensor<4xi1>
  %4 = chlo.is_pos_inf %2 : tensor<4xf32> -> tensor<4xi1>
  %5 = chlo.is_neg_inf %2 : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %3, dense<[false, true, true, false]> : tensor<4xi1>
  check.expect_eq_const %4, dense<[false, true, false, false]> : tensor<4xi1>
  check.expect_eq_const %5, dense<[false, false, true, false]> : tensor<4xi1>
  %6 = chlo.conj %2 : tensor<4xf32> -> tensor<4xf32>
  check.expect_eq %6, %2 : tensor<4xf32>
  return
}

// -----

// Narrow floats are computed in f32 and rounded once.
func.func @narrow() {
  %0 = stablehlo.constant dense<[0.5, -0.25, 1.0]> : tensor<3xbf16>
  %1 = chlo.asin %0 : tensor<3xbf16> -> tensor<3xbf16>
  check.expect_eq_const %1, dense<[0.523438, -0.251953, 1.570313]> : tensor<3xbf16>
  %2 = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf16>
  %3 = chlo.erf %2 : tensor<2xf16> -> tensor<2xf16>
  check.expect_almost_eq_const %3, dense<[0.5205, 0.9953]> : tensor<2xf16>, tolerance = 0.0005
  return
}

// -----

func.func @top_k() {
  %0 = stablehlo.constant dense<[[3.0, 1.0, 7.0, 7.0, 2.0], [-1.0, -5.0, 0.0, 9.0, 4.0]]> : tensor<2x5xf32>
  %1:2 = chlo.top_k(%0, k = 3) : tensor<2x5xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const %1#0, dense<[[7.0, 7.0, 3.0], [9.0, 4.0, 0.0]]> : tensor<2x3xf32>
  check.expect_eq_const %1#1, dense<[[2, 3, 0], [3, 4, 2]]> : tensor<2x3xi32>
  %2 = stablehlo.constant dense<[5, 9, -3]> : tensor<3xi32>
  %3:2 = chlo.top_k(%2, k = 1, is_stable = false) : tensor<3xi32> -> (tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %3#0, dense<9> : tensor<1xi32>
  check.expect_eq_const %3#1, dense<1> : tensor<1xi32>
  return
}

// -----

// The second carried value counts; the output of the body is not what is carried.
func.func @scan() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %sum = stablehlo.constant dense<10> : tensor<2xi32>
  %count = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = chlo.scan(%x) inits(%sum, %count) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %s: tensor<2xi32>, %n: tensor<i32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %s, %a : tensor<2xi32>
    %more = stablehlo.add %n, %one : tensor<i32>
    %out = stablehlo.multiply %next, %a : tensor<2xi32>
    stablehlo.return %out, %next, %more : tensor<2xi32>, tensor<2xi32>, tensor<i32>
  } : (tensor<2x3xi32>, tensor<2xi32>, tensor<i32>) -> (tensor<2x3xi32>, tensor<2xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[[16, 30, 39], [100, 105, 96]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[16, 25]> : tensor<2xi32>
  check.expect_eq_const %0#2, dense<3> : tensor<i32>
  return
}

// -----

// Ragged rows: what belongs to another group does not matter, even infinities.
func.func @ragged_rows() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %b = stablehlo.constant dense<[[[1.0], [1.0]], [[0x7F800000], [2.0]]]> : tensor<2x2x1xf32>
  %sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>]
  } : (tensor<4x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<4x1xf32>
  check.expect_eq_const %0, dense<[[3.0], [7.0], [0x7F800000], [0.0]]> : tensor<4x1xf32>
  return
}

// -----

// Ragged contraction, with sizes per batch.
func.func @ragged_contraction() {
  %a = stablehlo.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi32>
  %b = stablehlo.constant dense<[[[1], [1], [1]], [[1], [10], [100]]]> : tensor<2x3x1xi32>
  %sizes = stablehlo.constant dense<[[1, 2], [2, 0]]> : tensor<2x2xi64>
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [2], rhs_group_dimensions = []>
  } : (tensor<2x1x3xi32>, tensor<2x3x1xi32>, tensor<2x2xi64>) -> tensor<2x2x1x1xi32>
  check.expect_eq_const %0, dense<[[[[1]], [[54]]], [[[5]], [[0]]]]> : tensor<2x2x1x1xi32>
  return
}

// -----

// A ragged batch is a batch.
func.func @ragged_batch() {
  %a = stablehlo.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi32>
  %sizes = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
  %0 = "chlo.ragged_dot"(%a, %a, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = []>
  } : (tensor<2x1x2xi32>, tensor<2x1x2xi32>, tensor<2xi64>) -> tensor<2x1x1xi32>
  check.expect_eq_const %0, dense<[[[5]], [[25]]]> : tensor<2x1x1xi32>
  return
}
