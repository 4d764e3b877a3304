module {
  func.func @quantized_per_axis(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8<-100:100>:f32:1, {5.000000e-01:3,2.500000e-01:-4}>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<4x2x!quant.uniform<i8<-100:100>:f32:1, {5.000000e-01:3,2.500000e-01:-4}>>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func @typed_call(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @odd(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i8, b = "text", c = [1.500000e+00 : f16, true, f64]}, called_computations = [@quantized_per_axis], has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @broadcast(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
  func.func @tangent(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tan %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

