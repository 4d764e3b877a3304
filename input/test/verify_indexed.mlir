// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics

// Each function breaks the one constraint of the specification that it is named
// after.

func.func @gather_c1(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c1: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c2(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c2: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c3(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c3: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c4(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c4: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<1x8x5xf32>
  return
}

// -----

func.func @gather_c5(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c5: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c6(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c6: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_c7(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c7: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_c8(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c8: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c9(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c9: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c11(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c11: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [2], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c14(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c14: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c15(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c15: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c16(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c16: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c17(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c17: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c18(%a: tensor<3x8xf32>, %i: tensor<5x2xi32>) {
  // expected-error @+1 {{gather_c18: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x2xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c19(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c19: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c20(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c20: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c21(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c21: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_c22(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{gather_c22: }}
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>} : (tensor<3x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @scatter_c2(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c2: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c4(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error @+1 {{scatter_c4: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c4_window(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x9xf32>) {
  // expected-error @+1 {{scatter_c4: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x9xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c6(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xi32>) {
  // expected-error @+1 {{scatter_c6: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c8(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c8: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c9(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c9: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c11(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c11: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c19(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c19: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c21(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c21: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c22(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c22: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c23(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c23: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @scatter_c24(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c24: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatter_c25(%a: tensor<3x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{scatter_c25: }}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<3x8xf64>
  return
}
