module {
  func.func @batch_norm(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>) -> tensor<2x3x4xf32> {
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%0, %arg1, %arg1) <{epsilon = 5.000000e-01 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%output, %arg1, %arg1, %arg1, %arg0) <{epsilon = 0.000000e+00 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    return %grad_operand : tensor<2x3x4xf32>
  }
  func.func @legacy(%arg0: tensor<3x4xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<2xi32>) -> (tensor<3x5xf32>, tensor<2x7x3x4xf32>, tensor<4x3xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.broadcast %arg0, sizes = [2, 7] : (tensor<3x4xf32>) -> tensor<2x7x3x4xf32>
    %1 = stablehlo.einsum %arg0, %arg1, config = "ij,jk->ik" : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %2 = stablehlo.unary_einsum %arg0, config = "ij->ji" : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %3 = "stablehlo.torch_index_select"(%arg0, %arg2) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
    %4 = stablehlo.dot %arg0, %arg1, precision = [HIGH, DEFAULT] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %5 = "stablehlo.map"(%1, %4) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %6 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    return %5, %0, %2, %3 : tensor<3x5xf32>, tensor<2x7x3x4xf32>, tensor<4x3xf32>, tensor<2x4xf32>
  }
  func.func @dynamic(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2x2xi64>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>, tensor<i32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %1 = stablehlo.dynamic_pad %arg0, %cst, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %2 = stablehlo.dynamic_iota %arg1, dim = 1 : (tensor<2xi64>) -> tensor<?x?xf32>
    %3 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %4 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %5 = "stablehlo.dynamic_gather"(%arg0, %arg2, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x4xf32>, tensor<2x2xi64>, tensor<2xi64>) -> tensor<2x?xf32>
    %6 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>, tensor<i32>
  }
  func.func @dynamic_conv(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>, %arg2: tensor<2x2xi64>) -> tensor<1x?x?x4xf32> {
    %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_reversal = array<i1: true, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi64>) -> tensor<1x?x?x4xf32>
    return %0 : tensor<1x?x?x4xf32>
  }
  func.func @bounded(%arg0: tensor<?x4xf32, #stablehlo.bounds<9, ?>>, %arg1: tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<9, ?>> {
    %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<9, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<9, ?>>
    return %0 : tensor<?x4xf32, #stablehlo.bounds<9, ?>>
  }
  func.func @tokens(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) -> (tensor<3xi32>, !stablehlo.token) {
    %0:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "in", layout = [[0]]}> : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%arg0, %0#1) <{outfeed_config = "out"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.send"(%arg0, %1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %4 = stablehlo.create_token : !stablehlo.token
    %5 = stablehlo.after_all %3#1, %4 : !stablehlo.token
    return %0#0, %5 : tensor<3xi32>, !stablehlo.token
  }
  func.func @tuples(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4xf32>, tensor<i32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func @quantized(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func @collectives(%arg0: tensor<4x2xf32>) -> (tensor<2x4xf32>, tensor<ui32>, tensor<ui32>) {
    %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.replica_id : tensor<ui32>
    %2 = stablehlo.partition_id : tensor<ui32>
    return %0, %1, %2 : tensor<2x4xf32>, tensor<ui32>, tensor<ui32>
  }
  func.func @linear_algebra(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x4xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
  func.func @odds(%arg0: tensor<4xf32>, %arg1: tensor<2xui64>, %arg2: tensor<i1>, %arg3: tensor<1xi64>) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.if"(%arg2) ({
      stablehlo.return %arg0 : tensor<4xf32>
    }, {
      %6 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
      stablehlo.return %6 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %1 = stablehlo.rng %cst, %cst, %arg3, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @old(%0) {api_version = 2 : i32, backend_config = "text"} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.compare GE, %2, %1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %4 = stablehlo.select %3, %2, %1 : tensor<4xi1>, tensor<4xf32>
    %5 = stablehlo.logistic %4 : tensor<4xf32>
    return %5 : tensor<4xf32>
  }
}

