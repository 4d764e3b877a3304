module @jit_shapes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4x5xf32>) -> (tensor<12x5xf32> {jax.result_info = "result[0]"}, tensor<5x4x3xf32> {jax.result_info = "result[1]"}, tensor<1x3x4x5xf32> {jax.result_info = "result[2]"}, tensor<3x4x5xf32> {jax.result_info = "result[3]"}, tensor<6x4x9xf32> {jax.result_info = "result[4]"}, tensor<4x4x15xf32> {jax.result_info = "result[5]"}, tensor<3x8x5xf32> {jax.result_info = "result[6]"}, tensor<2x2xf32> {jax.result_info = "result[7]"}, tensor<2x3x4x5xf32> {jax.result_info = "result[8]"}, tensor<10xi64> {jax.result_info = "result[9]"}, tensor<3x3xf64> {jax.result_info = "result[10]"}, tensor<3x4xi32> {jax.result_info = "result[11]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.reshape %arg0 : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
    %1 = stablehlo.transpose %arg0, dims = [2, 1, 0] : (tensor<3x4x5xf32>) -> tensor<5x4x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<3x4x5xf32>) -> tensor<1x3x4x5xf32>
    %3 = call @_flip(%arg0) : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
    %4 = call @_pad(%arg0, %c) : (tensor<3x4x5xf32>, tensor<i64>) -> tensor<6x4x9xf32>
    %5 = stablehlo.pad %arg0, %cst, low = [-1, 0, 0], high = [0, 0, 2], interior = [1, 0, 2] : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<4x4x15xf32>
    %6 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
    %7 = stablehlo.slice %arg0 [1:3, 0:4:2, 3:4] : (tensor<3x4x5xf32>) -> tensor<2x2x1xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x2x1xf32>) -> tensor<2x2xf32>
    %9 = stablehlo.slice %arg0 [0:3, 0:1, 0:5] : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2, 3] : (tensor<3x1x5xf32>) -> tensor<2x3x4x5xf32>
    %11 = stablehlo.iota dim = 0 : tensor<10xi64>
    %12 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %13 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %14 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %15 = stablehlo.add %12, %14 : tensor<3x3xi64>
    %16 = stablehlo.compare EQ, %15, %13, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %17 = stablehlo.convert %16 : (tensor<3x3xi1>) -> tensor<3x3xf64>
    %18 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    return %0, %1, %2, %3, %4, %5, %6, %8, %10, %11, %17, %18 : tensor<12x5xf32>, tensor<5x4x3xf32>, tensor<1x3x4x5xf32>, tensor<3x4x5xf32>, tensor<6x4x9xf32>, tensor<4x4x15xf32>, tensor<3x8x5xf32>, tensor<2x2xf32>, tensor<2x3x4x5xf32>, tensor<10xi64>, tensor<3x3xf64>, tensor<3x4xi32>
  }
  func.func private @_flip(%arg0: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<3x4x5xf32>
    return %0 : tensor<3x4x5xf32>
  }
  func.func private @_pad(%arg0: tensor<3x4x5xf32>, %arg1: tensor<i64>) -> tensor<6x4x9xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0, 3], high = [2, 0, 1], interior = [0, 0, 0] : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<6x4x9xf32>
    return %1 : tensor<6x4x9xf32>
  }
}

