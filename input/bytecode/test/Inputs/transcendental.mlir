module @jit_transcendental attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8xf32> {jax.result_info = "result[5]"}, tensor<8xf32> {jax.result_info = "result[6]"}, tensor<8xf32> {jax.result_info = "result[7]"}, tensor<8xf32> {jax.result_info = "result[8]"}, tensor<8xf32> {jax.result_info = "result[9]"}, tensor<8xf32> {jax.result_info = "result[10]"}, tensor<8xf32> {jax.result_info = "result[11]"}, tensor<8xf32> {jax.result_info = "result[12]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.exponential %arg0 : tensor<8xf32>
    %1 = stablehlo.exponential_minus_one %arg0 : tensor<8xf32>
    %2 = stablehlo.log %arg0 : tensor<8xf32>
    %3 = stablehlo.log_plus_one %arg0 : tensor<8xf32>
    %4 = stablehlo.sine %arg0 : tensor<8xf32>
    %5 = stablehlo.cosine %arg0 : tensor<8xf32>
    %6 = stablehlo.tan %arg0 : tensor<8xf32>
    %7 = stablehlo.tanh %arg0 : tensor<8xf32>
    %8 = stablehlo.rsqrt %arg0 : tensor<8xf32>
    %9 = stablehlo.sqrt %arg0 : tensor<8xf32>
    %10 = stablehlo.cbrt %arg0 : tensor<8xf32>
    %11 = stablehlo.negate %arg0 : tensor<8xf32>
    %12 = stablehlo.exponential %11 : tensor<8xf32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %14 = stablehlo.add %13, %12 : tensor<8xf32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8xf32>
    %17 = stablehlo.atan2 %arg0, %arg1 : tensor<8xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %16, %17 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

