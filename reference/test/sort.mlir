// RUN: spokeshave check %s

// Stable, along the first dimension, with a second operand carried along.
func.func @sort() {
  %k = stablehlo.constant dense<[[3, 1], [1, 1], [3, 0], [2, 5]]> : tensor<4x2xi32>
  %v = stablehlo.iota dim = 0 : tensor<4x2xi32>
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x2xi32>, tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
  check.expect_eq_const %0#0, dense<[[1, 0], [2, 1], [3, 1], [3, 5]]> : tensor<4x2xi32>
  check.expect_eq_const %0#1, dense<[[1, 2], [3, 0], [0, 1], [2, 3]]> : tensor<4x2xi32>
  return
}

// -----

func.func @total_order_descending() {
  %x = stablehlo.constant dense<[1.0, 0x7FC00000, -0.0, 0.0, 0xFF800000]> : tensor<5xf32>
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5xf32>) -> tensor<5xf32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<5xf32>) -> tensor<5xui32>
  check.expect_eq_const %1, dense<[0x7FC00000, 0x3F800000, 0, 0x80000000, 0xFF800000]> : tensor<5xui32>
  return
}
