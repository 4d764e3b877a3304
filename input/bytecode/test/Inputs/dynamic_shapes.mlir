module @jit_dynamic_shapes attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf32>, %arg1: tensor<?x2xf32>) -> (tensor<?xf32> {jax.result_info = "result[0]"}, tensor<?xi64> {jax.result_info = "result[1]"}, tensor<?x5xf32> {jax.result_info = "result[2]"}, tensor<?x3xf32> {jax.result_info = "result[3]"}, tensor<?x2xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, 3),args[1].shape = (b, 2). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/501/shape-polymorphism.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, 3),args[1].shape = (b, 2). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/501/shape-polymorphism.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:5 = call @_wrapped_jax_export_main(%1, %3, %arg0, %arg1) : (tensor<i64>, tensor<i64>, tensor<?x3xf32>, tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x2xf32>)
    return %6#0, %6#1, %6#2, %6#3, %6#4 : tensor<?xf32>, tensor<?xi64>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x2xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "a"}, %arg1: tensor<i64> {jax.global_constant = "b"}, %arg2: tensor<?x3xf32>, %arg3: tensor<?x2xf32>) -> (tensor<?xf32> {jax.result_info = "result[0]"}, tensor<?xi64> {jax.result_info = "result[1]"}, tensor<?x5xf32> {jax.result_info = "result[2]"}, tensor<?x3xf32> {jax.result_info = "result[3]"}, tensor<?x2xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i64>
    %c_1 = stablehlo.constant dense<5> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %c_5 = stablehlo.constant dense<6> : tensor<i64>
    %0 = stablehlo.concatenate %arg2, %arg2, dim = 0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %1 = stablehlo.convert %arg0 : tensor<i64>
    %2 = stablehlo.multiply %1, %c_5 : tensor<i64>
    %3 = stablehlo.convert %2 : (tensor<i64>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_reshape %0, %4 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    %6 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.dynamic_iota %7, dim = 0 : (tensor<1xi32>) -> tensor<?xi64>
    %9 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %c_4, %10, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %12 = stablehlo.multiply %11, %8 : tensor<?xi64>
    %13 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %14 = stablehlo.reshape %13 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %c_3, %14, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %16 = stablehlo.add %15, %12 : tensor<?xi64>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %18 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %19, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = "stablehlo.dynamic_gather"(%arg3, %17, %20) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x2xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<?x1xf32>
    %22 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %21, %24, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x5xf32>
    %26 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %27 = stablehlo.convert %arg0 : tensor<i64>
    %28 = stablehlo.add %27, %c_0 : tensor<i64>
    %29 = stablehlo.convert %28 : (tensor<i64>) -> tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %30, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = "stablehlo.dynamic_gather"(%arg2, %26, %31) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x3xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<?x3xf32>
    %33 = call @_pad(%arg0, %arg1, %arg3, %c_3) : (tensor<i64>, tensor<i64>, tensor<?x2xf32>, tensor<i64>) -> tensor<?x2xf32>
    return %5, %16, %25, %32, %33 : tensor<?xf32>, tensor<?xi64>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x2xf32>
  }
  func.func private @_pad(%arg0: tensor<i64> {jax.global_constant = "a"}, %arg1: tensor<i64> {jax.global_constant = "b"}, %arg2: tensor<?x2xf32>, %arg3: tensor<i64>) -> tensor<?x2xf32> {
    %0 = stablehlo.convert %arg3 : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.pad %arg2, %0, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
    return %1 : tensor<?x2xf32>
  }
}

