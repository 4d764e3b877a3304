// RUN: spokeshave check %s

func.func @padding_strides_dilations() {
  %x = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi32>
  %k = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %0, dense<[[[10], [32], [4]]]> : tensor<1x3x1xi32>
  // lhs dilated: 1 . 2 . 3 . 4; rhs dilated: 1 . 10.
  %1 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {lhs_dilate = [2], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x5x1xi32>
  check.expect_eq_const %1, dense<[[[21], [0], [32], [0], [43]]]> : tensor<1x5x1xi32>
  %2 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %2, dense<[[[12], [23], [34]]]> : tensor<1x3x1xi32>
  return
}

// -----

func.func @groups() {
  %x = stablehlo.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi32>
  %k = stablehlo.constant dense<[[[10, 100]]]> : tensor<1x1x2xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x2x2xi32>, tensor<1x1x2xi32>) -> tensor<1x2x2xi32>
  check.expect_eq_const %0, dense<[[[10, 200], [30, 400]]]> : tensor<1x2x2xi32>
  %y = stablehlo.constant dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi32>
  %1 = stablehlo.convolution(%y, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
    : (tensor<2x2x1xi32>, tensor<1x1x2xi32>) -> tensor<1x2x2xi32>
  check.expect_eq_const %1, dense<[[[10, 300], [20, 400]]]> : tensor<1x2x2xi32>
  return
}

// -----

func.func @layouts_and_dynamic_conv() {
  // Features first, kernel as output, input, space.
  %x = stablehlo.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<1x2x3xf32>
  %k = stablehlo.constant dense<[[[1.0, 1.0], [0.5, -1.0]]]> : tensor<1x2x2xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[0, b, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> tensor<2x1x1xf32>
  check.expect_eq_const %0, dense<[[[0.0]], [[1.5]]]> : tensor<2x1x1xf32>
  %pad = stablehlo.constant dense<0> : tensor<1x2xi32>
  %1 = "stablehlo.dynamic_conv"(%x, %k, %pad) <{
    dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[0, b, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  }> : (tensor<1x2x3xf32>, tensor<1x2x2xf32>, tensor<1x2xi32>) -> tensor<2x1x1xf32>
  check.expect_eq %1, %0 : tensor<2x1x1xf32>
  return
}
