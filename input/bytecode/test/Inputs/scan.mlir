module @jit_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<8> : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c_1, %iterArg_3 = %cst, %iterArg_4 = %0) : tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    cond {
      %2 = stablehlo.compare LT, %iterArg_2, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %3 = stablehlo.add %iterArg_3, %2 : tensor<f32>
      %4 = stablehlo.multiply %iterArg_3, %2 : tensor<f32>
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_4, %4, %iterArg_2) : (tensor<8xf32>, tensor<f32>, tensor<i64>) -> tensor<8xf32>
      %6 = stablehlo.add %iterArg_2, %c : tensor<i64>
      stablehlo.return %iterArg, %6, %3, %5 : tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    }
    return %1#2, %1#3 : tensor<f32>, tensor<8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8xf32>, %arg1: tensor<i64>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<8xf32>, tensor<i64>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<i64>) -> tensor<8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<8xf32>, tensor<1xf32>, tensor<i64>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

