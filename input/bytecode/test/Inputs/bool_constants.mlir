module @jit_bool_constants attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x11xi1>) -> (tensor<9x11xi1> {jax.result_info = "result[0]"}, tensor<9x11xi1> {jax.result_info = "result[1]"}, tensor<9x11xi1> {jax.result_info = "result[2]"}, tensor<8xi1> {jax.result_info = "result[3]"}, tensor<8xi1> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<true> : tensor<9x11xi1>
    %c_0 = stablehlo.constant dense<[[true, false, false, true, false, false, true, false, false, true, false], [false, true, false, false, true, false, false, true, false, false, true], [false, false, true, false, false, true, false, false, true, false, false], [true, false, false, true, false, false, true, false, false, true, false], [false, true, false, false, true, false, false, true, false, false, true], [false, false, true, false, false, true, false, false, true, false, false], [true, false, false, true, false, false, true, false, false, true, false], [false, true, false, false, true, false, false, true, false, false, true], [false, false, true, false, false, true, false, false, true, false, false]]> : tensor<9x11xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<9x11xi1>
    %c_2 = stablehlo.constant dense<true> : tensor<8xi1>
    %c_3 = stablehlo.constant dense<[true, false, false, false, false, false, false, false]> : tensor<8xi1>
    %0 = stablehlo.and %arg0, %c : tensor<9x11xi1>
    %1 = stablehlo.or %arg0, %c_0 : tensor<9x11xi1>
    %2 = stablehlo.xor %arg0, %c_1 : tensor<9x11xi1>
    return %0, %1, %2, %c_2, %c_3 : tensor<9x11xi1>, tensor<9x11xi1>, tensor<9x11xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

