// RUN: spokeshave check --target both --quiet %s
// RUN: spokeshave check --target cpu --option fusion=false --quiet %s
// Bodies that use values from outside: JAX makes none, but nothing forbids them.

func.func @sort_captures() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.remainder %a, %d : tensor<f32>
    %q = stablehlo.remainder %b, %d : tensor<f32>
    %1 = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[-1.0, -4.0, 2.0, 3.0]> : tensor<4xf32>
  return
}

// -----

func.func @reduce_captures() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %b, %d : tensor<f32>
    %2 = stablehlo.add %a, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @scatter_captures() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %b, %d : tensor<f32>
    %2 = stablehlo.add %a, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[3.0, 39.0, 2.0, 76.0]> : tensor<4xf32>
  return
}

// -----

func.func @while_captures() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %d = stablehlo.multiply %c, %c : tensor<4xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %v, %d : tensor<4xf32>
    %2 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
  }
  check.expect_eq_const %0#1, dense<[15.0, 11.0, 14.0, 8.0]> : tensor<4xf32>
  return
}

// -----

func.func @map_window_captures() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.multiply %a, %d : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[12.0, -4.0, 8.0, -16.0]> : tensor<4xf32>
  %2 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    %3 = stablehlo.minimum %1, %c : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %2, dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  return
}

// -----

func.func @all_in_sort() {
  %x = stablehlo.constant dense<[3.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
  %k = stablehlo.constant dense<[[1, 0, 0, 1], [1, 1, 0, 0]]> : tensor<2x4xi32>
  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %z = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = "stablehlo.sort"(%k, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.and %1, %z : tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<2x4xi32>, tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>)
  check.expect_eq_const %0#1, dense<[[1, 2, 0, 3], [2, 3, 0, 1]]> : tensor<2x4xi32>
  return
}
