// RUN: spokeshave check %s

func.func @gather() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  // Rows 2, 0 and, as 9 is moved in, 2.
  %rows = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi64>
  %0 = "stablehlo.gather"(%x, %rows) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                          start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  }> : (tensor<3x3xi32>, tensor<3x1xi64>) -> tensor<3x3xi32>
  check.expect_eq_const %0, dense<[[7, 8, 9], [1, 2, 3], [7, 8, 9]]> : tensor<3x3xi32>
  // One column per row, rows being a batch.
  %columns = stablehlo.constant dense<[2, 0, 1]> : tensor<3xi32>
  %1 = "stablehlo.gather"(%x, %columns) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1],
        operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>
  }> : (tensor<3x3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[3, 4, 8]> : tensor<3xi32>
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %2 = "stablehlo.dynamic_gather"(%x, %rows, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                          start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<3x3xi32>, tensor<3x1xi64>, tensor<2xi64>) -> tensor<3x3xi32>
  check.expect_eq %2, %0 : tensor<3x3xi32>
  return
}

// -----

func.func @torch_index_select() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[2, 2, 0]> : tensor<3xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[3, 3, 1], [6, 6, 4]]> : tensor<2x3xi32>
  return
}

// -----

func.func @scatter() {
  %x = stablehlo.constant dense<[0, 10, 20, 30]> : tensor<4xi32>
  // Twice to one place; out of bounds is dropped.
  %i = stablehlo.constant dense<[[1], [1], [7], [-1], [3]]> : tensor<5x1xi32>
  %u = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[0, 13, 20, 35]> : tensor<4xi32>
  // Updates replace: the last one stays.
  %1 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %1, dense<[0, 2, 20, 5]> : tensor<4xi32>
  return
}

// -----

func.func @scatter_window_and_two_operands() {
  %x = stablehlo.constant dense<[[0, 0, 0], [0, 0, 0]]> : tensor<2x3xi32>
  %y = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %i = stablehlo.constant dense<[1]> : tensor<1xi32>
  %u = stablehlo.constant dense<[[7, 8, 9]]> : tensor<1x3xi32>
  %v = stablehlo.constant dense<[[2.0, 3.0, 4.0]]> : tensor<1x3xf32>
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
    %m = stablehlo.multiply %b, %d : tensor<f32>
    stablehlo.return %c, %m : tensor<i32>, tensor<f32>
  }) : (tensor<2x3xi32>, tensor<2x3xf32>, tensor<1xi32>, tensor<1x3xi32>, tensor<1x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>)
  check.expect_eq_const %0#0, dense<[[0, 0, 0], [7, 8, 9]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]]> : tensor<2x3xf32>
  return
}
