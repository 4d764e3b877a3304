// RUN: spokeshave check %s

func.func @iota_reshape_transpose() {
  %0 = stablehlo.iota dim = 0 : tensor<6xi32>
  check.expect_eq_const %0, dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %1 = stablehlo.reshape %0 : (tensor<6xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %2, dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi32>
  %3 = stablehlo.iota dim = 1 : tensor<2x2xcomplex<f32>>
  check.expect_eq_const %3, dense<[[(0.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  return
}

// -----

func.func @broadcasts() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<2x1xi32>) -> tensor<2x1x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2]], [[1, 2]]]> : tensor<2x1x2xi32>
  %1 = stablehlo.broadcast %x, sizes = [2] : (tensor<2x1xi32>) -> tensor<2x2x1xi32>
  check.expect_eq_const %1, dense<[[[1], [2]], [[1], [2]]]> : tensor<2x2x1xi32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %2 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0, 1] : (tensor<2x1xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  %3 = stablehlo.get_dimension_size %2, dim = 1 : (tensor<?x?xi32>) -> tensor<i32>
  check.expect_eq_const %3, dense<3> : tensor<i32>
  %4 = stablehlo.dynamic_reshape %2, %shape : (tensor<?x?xi32>, tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %4, dense<[[1, 1, 1], [2, 2, 2]]> : tensor<2x3xi32>
  return
}

// -----

func.func @reverse_concatenate() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[4, 3], [2, 1]]> : tensor<2x2xi32>
  %1 = stablehlo.concatenate %x, %0, dim = 1 : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x4xi32>
  check.expect_eq_const %1, dense<[[1, 2, 4, 3], [3, 4, 2, 1]]> : tensor<2x4xi32>
  %empty = stablehlo.constant dense<> : tensor<0x2xi32>
  %2 = stablehlo.concatenate %empty, %x, dim = 0 : (tensor<0x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq %2, %x : tensor<2x2xi32>
  return
}

// -----

func.func @pads() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %v = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.pad %x, %v, low = [-1], high = [2], interior = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  check.expect_eq_const %0, dense<[9, 2, 9, 3, 9, 9]> : tensor<6xi32>
  %low = stablehlo.constant dense<-1> : tensor<1xi32>
  %high = stablehlo.constant dense<2> : tensor<1xi32>
  %interior = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.dynamic_pad %x, %v, %low, %high, %interior : (tensor<3xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xi32>
  check.expect_eq %0, %1 : tensor<6xi32>
  return
}

// -----

func.func @dynamic_sizes() {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %1 = stablehlo.set_dimension_size %0, %two, dim = 1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x?xi32, #stablehlo.bounds<?, 3>>
  %2 = stablehlo.get_dimension_size %1, dim = 1 : (tensor<2x?xi32, #stablehlo.bounds<?, 3>>) -> tensor<i32>
  check.expect_eq_const %2, dense<2> : tensor<i32>
  return
}
