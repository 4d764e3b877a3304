// RUN: spokeshave check %s

func.func @cholesky() {
  %a = stablehlo.constant dense<[[4.0, 99.0, 99.0], [2.0, 5.0, 99.0], [-2.0, 3.0, 14.0]]> : tensor<3x3xf32>
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  check.expect_eq_const %0, dense<[[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [-1.0, 2.0, 3.0]]> : tensor<3x3xf32>
  %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.cholesky %1 : tensor<3x3xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  check.expect_eq %3, %0 : tensor<3x3xf32>
  // Hermitian, in a batch with one that is not positive definite.
  %b = stablehlo.constant dense<[[[(2.0, 0.0), (0.0, 0.0)], [(0.0, 2.0), (6.0, 0.0)]], [[(-1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]]> : tensor<2x2x2xcomplex<f64>>
  %4 = stablehlo.cholesky %b, lower = true : tensor<2x2x2xcomplex<f64>>
  check.expect_almost_eq_const %4, dense<[[[(1.4142135623730951, 0.0), (0.0, 0.0)], [(0.0, 1.4142135623730951), (2.0, 0.0)]], [[(0x7FF8000000000000, 0x7FF8000000000000), (0x7FF8000000000000, 0x7FF8000000000000)], [(0x7FF8000000000000, 0x7FF8000000000000), (0x7FF8000000000000, 0x7FF8000000000000)]]]> : tensor<2x2x2xcomplex<f64>>, tolerance = 1.0e-15
  return
}

// -----

func.func @triangular_solve() {
  // What lies above the diagonal is not read.
  %a = stablehlo.constant dense<[[2.0, 99.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0], [11.0]]> : tensor<2x1xf32>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %0, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %1, dense<[[-31.0], [11.0]]> : tensor<2x1xf32>
  // x a = b: 2 x0 + 3 x1 = 8, 4 x1 = 8.
  %c = stablehlo.constant dense<[[8.0, 8.0]]> : tensor<1x2xf32>
  %2 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %2, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  // i x = 2 has the adjoint's solution -x.
  %d = stablehlo.constant dense<[[(0.0, 1.0)]]> : tensor<1x1xcomplex<f32>>
  %e = stablehlo.constant dense<[[(2.0, 0.0)]]> : tensor<1x1xcomplex<f32>>
  %3 = "stablehlo.triangular_solve"(%d, %e) <{left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  check.expect_eq_const %3, dense<[[(0.0, 2.0)]]> : tensor<1x1xcomplex<f32>>
  return
}
