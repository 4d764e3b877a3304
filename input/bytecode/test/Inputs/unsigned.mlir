module @jit_unsigned attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xui8>, %arg1: tensor<6xui8>) -> (tensor<6xui8> {jax.result_info = "result[0]"}, tensor<6xi1> {jax.result_info = "result[1]"}, tensor<6xui8> {jax.result_info = "result[2]"}, tensor<6xui8> {jax.result_info = "result[3]"}, tensor<ui8> {jax.result_info = "result[4]"}, tensor<6xi8> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui8>
    %c_0 = stablehlo.constant dense<3> : tensor<i64>
    %c_1 = stablehlo.constant dense<1> : tensor<ui8>
    %0 = stablehlo.add %arg0, %arg1 : tensor<6xui8>
    %1 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<6xui8>, tensor<6xui8>) -> tensor<6xi1>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<6xui8>
    %3 = stablehlo.shift_right_logical %arg0, %2 : tensor<6xui8>
    %4 = call @floor_divide(%arg0, %c_0) : (tensor<6xui8>, tensor<i64>) -> tensor<6xui8>
    %5 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<6xui8>, tensor<ui8>) -> tensor<ui8>
    %6 = stablehlo.convert %arg0 : (tensor<6xui8>) -> tensor<6xi8>
    return %0, %1, %3, %4, %5, %6 : tensor<6xui8>, tensor<6xi1>, tensor<6xui8>, tensor<6xui8>, tensor<ui8>, tensor<6xi8>
  }
  func.func private @floor_divide(%arg0: tensor<6xui8>, %arg1: tensor<i64>) -> tensor<6xui8> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<ui8>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui8>) -> tensor<6xui8>
    %2 = stablehlo.divide %arg0, %1 : tensor<6xui8>
    return %2 : tensor<6xui8>
  }
}

