// RUN: spokeshave check %s

func.func @dot_general() {
  %a = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %b = stablehlo.constant dense<[[[1, 0], [1, 1]], [[2, 1], [0, 1]]]> : tensor<2x2x2xi32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[3, 2], [7, 4]], [[10, 11], [14, 15]]]> : tensor<2x2x2xi32>
  // Nothing contracted: an outer product. Nothing to contract: zero.
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [] x [] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[1, 2], [2, 4]]> : tensor<2x2xi32>
  %empty = stablehlo.constant dense<> : tensor<2x0xi32>
  %2 = stablehlo.dot_general %empty, %empty, contracting_dims = [1] x [1] : (tensor<2x0xi32>, tensor<2x0xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %2, dense<0> : tensor<2x2xi32>
  return
}

// -----

// Sums are kept wider than the type and rounded once.
func.func @accumulation() {
  %a = stablehlo.constant dense<[1.0, 5.96046448e-08, 5.96046448e-08, -1.0]> : tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.dot_general %a, %one, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  check.expect_eq_const %0, dense<1.1920929e-07> : tensor<f32>
  %b = stablehlo.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
  %c = stablehlo.constant dense<1.0> : tensor<3xbf16>
  %1 = stablehlo.dot_general %b, %c, contracting_dims = [0] x [0] : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<bf16>
  check.expect_eq_const %1, dense<258.0> : tensor<bf16>
  %2 = stablehlo.dot_general %b, %c, contracting_dims = [0] x [0] : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<f32>
  check.expect_eq_const %2, dense<258.0> : tensor<f32>
  return
}

// -----

// An algorithm rounds its operands first.
func.func @algorithm() {
  %a = stablehlo.constant dense<[1.00390625, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %0, dense<3.0> : tensor<f32>
  return
}

// -----

func.func @dot() {
  %m = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = stablehlo.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = stablehlo.dot %m, %v : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[17.0, 39.0]> : tensor<2xf32>
  %p = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %1 = stablehlo.dot %p, %p : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  check.expect_eq %1, %p : tensor<2x2xi1>
  return
}

// -----

func.func @einsum() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[19, 43], [22, 50]]> : tensor<2x2xi32>
  %1 = stablehlo.unary_einsum %a, config = "ii->" : (tensor<2x2xi32>) -> tensor<i32>
  check.expect_eq_const %1, dense<5> : tensor<i32>
  %2 = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[4, 6]> : tensor<2xi32>
  return
}
