module @jit_elementwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf8E4M3FN>) -> (tensor<10xi1> {jax.result_info = "result[0]"}, tensor<10xf8E4M3FN> {jax.result_info = "result[1]"}, tensor<10xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f8E4M3FN>
    %cst_0 = stablehlo.constant dense<[1.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00]> : tensor<10xf8E4M3FN>
    %0 = stablehlo.compare EQ, %arg0, %cst_0, FLOAT : (tensor<10xf8E4M3FN>, tensor<10xf8E4M3FN>) -> tensor<10xi1>
    %1 = stablehlo.compare EQ, %arg0, %cst_0, FLOAT : (tensor<10xf8E4M3FN>, tensor<10xf8E4M3FN>) -> tensor<10xi1>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f8E4M3FN>) -> tensor<10xf8E4M3FN>
    %3 = call @_where(%1, %arg0, %2) : (tensor<10xi1>, tensor<10xf8E4M3FN>, tensor<10xf8E4M3FN>) -> tensor<10xf8E4M3FN>
    %4 = stablehlo.convert %arg0 : (tensor<10xf8E4M3FN>) -> tensor<10xf32>
    return %0, %3, %4 : tensor<10xi1>, tensor<10xf8E4M3FN>, tensor<10xf32>
  }
  func.func private @_where(%arg0: tensor<10xi1>, %arg1: tensor<10xf8E4M3FN>, %arg2: tensor<10xf8E4M3FN>) -> tensor<10xf8E4M3FN> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<10xi1>, tensor<10xf8E4M3FN>
    return %0 : tensor<10xf8E4M3FN>
  }
}

