module @jit_elementwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xui8>) -> (tensor<10xi1> {jax.result_info = "result[0]"}, tensor<10xui8> {jax.result_info = "result[1]"}, tensor<10xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<1> : tensor<ui8>
    %c_0 = stablehlo.constant dense<[1, 0, 1, 1, 0, 1, 0, 0, 1, 1]> : tensor<10xui8>
    %0 = stablehlo.compare EQ, %arg0, %c_0, UNSIGNED : (tensor<10xui8>, tensor<10xui8>) -> tensor<10xi1>
    %1 = stablehlo.compare EQ, %arg0, %c_0, UNSIGNED : (tensor<10xui8>, tensor<10xui8>) -> tensor<10xi1>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<10xui8>
    %3 = call @_where(%1, %arg0, %2) : (tensor<10xi1>, tensor<10xui8>, tensor<10xui8>) -> tensor<10xui8>
    %4 = stablehlo.convert %arg0 : (tensor<10xui8>) -> tensor<10xf32>
    return %0, %3, %4 : tensor<10xi1>, tensor<10xui8>, tensor<10xf32>
  }
  func.func private @_where(%arg0: tensor<10xi1>, %arg1: tensor<10xui8>, %arg2: tensor<10xui8>) -> tensor<10xui8> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<10xi1>, tensor<10xui8>
    return %0 : tensor<10xui8>
  }
}

