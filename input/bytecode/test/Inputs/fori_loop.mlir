module @jit_fori_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<8> : tensor<i64>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f64>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %c_1 = stablehlo.constant dense<5> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %0:3 = stablehlo.while(%iterArg = %c_2, %iterArg_3 = %c_2, %iterArg_4 = %arg0) : tensor<i64>, tensor<i64>, tensor<8xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg_3, %c_0 : tensor<i64>
      %2 = stablehlo.convert %iterArg_3 : (tensor<i64>) -> tensor<f64>
      %3 = stablehlo.multiply %2, %cst : tensor<f64>
      %4 = stablehlo.compare LT, %iterArg_3, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %5 = stablehlo.add %iterArg_3, %c : tensor<i64>
      %6 = stablehlo.select %4, %5, %iterArg_3 : tensor<i1>, tensor<i64>
      %7 = stablehlo.convert %6 : (tensor<i64>) -> tensor<i32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %9 = stablehlo.convert %3 : (tensor<f64>) -> tensor<f32>
      %10 = "stablehlo.scatter"(%iterArg_4, %8, %9) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
        stablehlo.return %arg2 : tensor<f32>
      }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
      %11 = stablehlo.add %iterArg, %c_0 : tensor<i64>
      stablehlo.return %11, %1, %10 : tensor<i64>, tensor<i64>, tensor<8xf32>
    }
    return %0#2 : tensor<8xf32>
  }
}

