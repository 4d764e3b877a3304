// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics

// Each function breaks the one constraint of the specification that it is named
// after.

func.func @iota_c1() {
  // expected-error @+1 {{iota_c1: }}
  %0 = stablehlo.iota dim = 2 : tensor<2x3xi32>
  return
}

// -----

func.func @iota_c1_negative() {
  // expected-error @+1 {{iota_c1: }}
  %0 = "stablehlo.iota"() {iota_dimension = -1 : i64} : () -> tensor<2x3xi32>
  return
}

// -----

func.func @bitcast_convert_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{bitcast_convert_c1: }}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi8>
  return
}

// -----

func.func @bitcast_convert_c2(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{bitcast_convert_c2: }}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xcomplex<f32>>) -> tensor<4xi64>
  return
}

// -----

func.func @reshape_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{reshape_c1: }}
  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @reshape_c2(%a: tensor<4xf32>) {
  // expected-error @+1 {{reshape_c2: }}
  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{transpose_c1: }}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xi32>
  return
}

// -----

func.func @transpose_c2(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{transpose_c2: }}
  %0 = stablehlo.transpose %a, dims = [1, 1] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @transpose_c3(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{transpose_c3: }}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @reverse_c1(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{reverse_c1: }}
  %0 = stablehlo.reverse %a, dims = [1] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @reverse_c2(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{reverse_c2: }}
  %0 = stablehlo.reverse %a, dims = [1, 1] : tensor<3x8xf32>
  return
}

// -----

func.func @reverse_c3(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{reverse_c3: }}
  %0 = stablehlo.reverse %a, dims = [2] : tensor<3x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_c1(%a: tensor<3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c1: }}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<3xf32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @broadcast_in_dim_c2(%a: tensor<3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c2: }}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%a: tensor<3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c3: }}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_in_dim_c4(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c4: }}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 0] : (tensor<3x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_in_dim_c5(%a: tensor<3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c5: }}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @slice_c1(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c1: }}
  %0 = stablehlo.slice %a [0:1, 0:1] : (tensor<3x8xf32>) -> tensor<1x1xi32>
  return
}

// -----

func.func @slice_c2(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c2: }}
  %0 = stablehlo.slice %a [0:1] : (tensor<3x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @slice_c3(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c3: }}
  %0 = stablehlo.slice %a [0:4, 0:1] : (tensor<3x8xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @slice_c3_order(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c3: }}
  %0 = stablehlo.slice %a [2:1, 0:1] : (tensor<3x8xf32>) -> tensor<0x1xf32>
  return
}

// -----

func.func @slice_c4(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c4: }}
  %0 = stablehlo.slice %a [0:1, 0:1:0] : (tensor<3x8xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @slice_c5(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{slice_c5: }}
  %0 = stablehlo.slice %a [0:1, 0:7:2] : (tensor<3x8xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c1: }}
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xi32>
  return
}

// -----

func.func @dynamic_slice_c2(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c2: }}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%a: tensor<3x8xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{dynamic_slice_c3: }}
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i64>) -> tensor<1x4xf32>
  return
}

// -----

func.func @dynamic_slice_c4(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c4: }}
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dynamic_slice_c5(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c5: }}
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_update_slice_c1: }}
  %0 = stablehlo.dynamic_update_slice %a, %a, %i, %i : (tensor<3x8xf32>, tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%a: tensor<3x8xf32>, %u: tensor<1x1xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_update_slice_c2: }}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<3x8xf32>, tensor<1x1xi32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @dynamic_update_slice_c3(%a: tensor<3x8xf32>, %u: tensor<1xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_update_slice_c3: }}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<3x8xf32>, tensor<1xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4(%a: tensor<3x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_update_slice_c4: }}
  %0 = stablehlo.dynamic_update_slice %a, %a, %i : (tensor<3x8xf32>, tensor<3x8xf32>, tensor<i32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @dynamic_update_slice_c6(%a: tensor<3x8xf32>, %u: tensor<4x1xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_update_slice_c6: }}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<3x8xf32>, tensor<4x1xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @concatenate_c1(%a: tensor<3x8xf32>, %b: tensor<3x8xi32>) {
  // expected-error @+1 {{concatenate_c1: }}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<3x8xf32>, tensor<3x8xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @concatenate_c2(%a: tensor<3x8xf32>, %b: tensor<3x7xf32>) {
  // expected-error @+1 {{concatenate_c2: }}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<3x8xf32>, tensor<3x7xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @concatenate_c3() {
  // expected-error @+1 {{concatenate_c3: }}
  %0 = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<6x8xf32>
  return
}

// -----

func.func @concatenate_c4(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{concatenate_c4: }}
  %0 = stablehlo.concatenate %a, dim = 2 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @concatenate_c5(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{concatenate_c5: }}
  %0 = stablehlo.concatenate %a, dim = 0 : (tensor<3x8xf32>) -> tensor<3x8xi32>
  return
}

// -----

func.func @concatenate_c6(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{concatenate_c6: }}
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pad_c1(%a: tensor<3x8xf32>, %p: tensor<i32>) {
  // expected-error @+1 {{pad_c1: }}
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x8xf32>, tensor<i32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pad_c2(%a: tensor<3x8xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{pad_c2: }}
  %0 = stablehlo.pad %a, %p, low = [0], high = [0, 0], interior = [0, 0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pad_c3(%a: tensor<3x8xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{pad_c3: }}
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pad_c4(%a: tensor<3x8xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{pad_c4: }}
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pad_c4_overflow(%a: tensor<3x8xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{pad_c4: }}
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 0], interior = [0, 9223372036854775807] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @get_dimension_size_c1(%a: tensor<3x8xf32>) {
  // expected-error @+1 {{get_dimension_size_c1: }}
  %0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<3x8xf32>) -> tensor<i32>
  return
}

// -----

func.func @dynamic_reshape_c2(%a: tensor<4xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  // expected-error @+1 {{dynamic_reshape_c2: }}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_iota_c2(%s: tensor<2xi32>) {
  // expected-error @+1 {{dynamic_iota_c2: }}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?xi32>
  return
}
