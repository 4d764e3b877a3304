module @jit_scan_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<8> : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c_1, %iterArg_4 = %cst, %iterArg_5 = %0, %iterArg_6 = %1) : tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
    cond {
      %6 = stablehlo.compare LT, %iterArg_3, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %7 = stablehlo.sine %iterArg_4 : tensor<f32>
      %8 = stablehlo.cosine %iterArg_4 : tensor<f32>
      %9 = stablehlo.multiply %7, %6 : tensor<f32>
      %10 = func.call @dynamic_update_index_in_dim(%iterArg_5, %8, %iterArg_3) : (tensor<8xf32>, tensor<f32>, tensor<i64>) -> tensor<8xf32>
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_6, %7, %iterArg_3) : (tensor<8xf32>, tensor<f32>, tensor<i64>) -> tensor<8xf32>
      %12 = stablehlo.add %iterArg_3, %c : tensor<i64>
      stablehlo.return %iterArg, %12, %9, %10, %11 : tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
    }
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %5:7 = stablehlo.while(%iterArg = %3, %iterArg_3 = %2#3, %iterArg_4 = %arg0, %iterArg_5 = %2#4, %iterArg_6 = %c_1, %iterArg_7 = %cst_2, %iterArg_8 = %4) : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    cond {
      %6 = stablehlo.compare LT, %iterArg_6, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = stablehlo.subtract %c_0, %iterArg_6 : tensor<i64>
      %7 = stablehlo.subtract %6, %c : tensor<i64>
      %8 = func.call @dynamic_index_in_dim(%iterArg, %7) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %9 = func.call @dynamic_index_in_dim(%iterArg_3, %7) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %10 = func.call @dynamic_index_in_dim(%iterArg_4, %7) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %11 = func.call @dynamic_index_in_dim(%iterArg_5, %7) : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
      %12 = stablehlo.multiply %11, %iterArg_7 : tensor<f32>
      %13 = stablehlo.multiply %iterArg_7, %10 : tensor<f32>
      %14 = stablehlo.multiply %13, %9 : tensor<f32>
      %15 = stablehlo.add %8, %14 : tensor<f32>
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_8, %12, %7) : (tensor<8xf32>, tensor<f32>, tensor<i64>) -> tensor<8xf32>
      %17 = stablehlo.add %iterArg_6, %c : tensor<i64>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %17, %15, %16 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    }
    return %5#6 : tensor<8xf32>
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

