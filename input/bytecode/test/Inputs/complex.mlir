module @jit_complex attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xcomplex<f32>>, %arg1: tensor<8xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}, tensor<8xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<4xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<4xcomplex<f32>> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
    %cst_2 = stablehlo.constant dense<(2.000000e+00,-3.000000e+00)> : tensor<complex<f32>>
    %cst_3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<3.77789319E+22> : tensor<f32>
    %cst_6 = stablehlo.constant dense<2.64697796E-23> : tensor<f32>
    %cst_7 = stablehlo.constant dense<2.44140625E-4> : tensor<f32>
    %cst_8 = stablehlo.constant dense<9.22337203E+18> : tensor<f32>
    %0 = stablehlo.real %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %1 = stablehlo.imag %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = stablehlo.real %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %3 = stablehlo.imag %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %4 = stablehlo.negate %3 : tensor<4xf32>
    %5 = stablehlo.complex %2, %4 : tensor<4xcomplex<f32>>
    %6 = stablehlo.real %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %7 = stablehlo.imag %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %8 = stablehlo.abs %6 : tensor<4xf32>
    %9 = stablehlo.abs %7 : tensor<4xf32>
    %10 = stablehlo.maximum %8, %9 : tensor<4xf32>
    %11 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.compare GE, %10, %11, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %14 = stablehlo.compare LE, %10, %13, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %15 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %18 = stablehlo.multiply %6, %15 : tensor<4xf32>
    %19 = stablehlo.multiply %6, %16 : tensor<4xf32>
    %20 = stablehlo.select %14, %19, %6 : tensor<4xi1>, tensor<4xf32>
    %21 = stablehlo.select %12, %18, %20 : tensor<4xi1>, tensor<4xf32>
    %22 = stablehlo.multiply %7, %15 : tensor<4xf32>
    %23 = stablehlo.multiply %7, %16 : tensor<4xf32>
    %24 = stablehlo.select %14, %23, %7 : tensor<4xi1>, tensor<4xf32>
    %25 = stablehlo.select %12, %22, %24 : tensor<4xi1>, tensor<4xf32>
    %26 = stablehlo.select %14, %15, %17 : tensor<4xi1>, tensor<4xf32>
    %27 = stablehlo.select %12, %16, %26 : tensor<4xi1>, tensor<4xf32>
    %28 = stablehlo.multiply %21, %21 : tensor<4xf32>
    %29 = stablehlo.multiply %25, %25 : tensor<4xf32>
    %30 = stablehlo.add %28, %29 : tensor<4xf32>
    %31 = stablehlo.sqrt %30 : tensor<4xf32>
    %32 = stablehlo.multiply %31, %27 : tensor<4xf32>
    %33 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %34 = stablehlo.compare EQ, %8, %33, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %35 = stablehlo.compare EQ, %9, %33, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %36 = stablehlo.or %34, %35 : tensor<4xi1>
    %37 = stablehlo.select %36, %33, %32 : tensor<4xi1>, tensor<4xf32>
    %38 = stablehlo.complex %arg1, %arg1 : tensor<8xcomplex<f32>>
    %39 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
    %40 = stablehlo.multiply %arg0, %39 : tensor<4xcomplex<f32>>
    %41 = stablehlo.real %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %42 = stablehlo.exponential %41 : tensor<4xf32>
    %43 = stablehlo.compare EQ, %42, %cst_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %44 = stablehlo.multiply %41, %cst_0 : tensor<4xf32>
    %45 = stablehlo.exponential %44 : tensor<4xf32>
    %46 = stablehlo.imag %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %47 = stablehlo.cosine %46 : tensor<4xf32>
    %48 = stablehlo.multiply %45, %47 : tensor<4xf32>
    %49 = stablehlo.multiply %48, %45 : tensor<4xf32>
    %50 = stablehlo.multiply %42, %47 : tensor<4xf32>
    %51 = stablehlo.select %43, %49, %50 : tensor<4xi1>, tensor<4xf32>
    %52 = stablehlo.compare EQ, %46, %cst : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %53 = stablehlo.sine %46 : tensor<4xf32>
    %54 = stablehlo.multiply %45, %53 : tensor<4xf32>
    %55 = stablehlo.multiply %54, %45 : tensor<4xf32>
    %56 = stablehlo.multiply %42, %53 : tensor<4xf32>
    %57 = stablehlo.select %43, %55, %56 : tensor<4xi1>, tensor<4xf32>
    %58 = stablehlo.select %52, %cst, %57 : tensor<4xi1>, tensor<4xf32>
    %59 = stablehlo.complex %51, %58 : tensor<4xcomplex<f32>>
    return %0, %1, %5, %37, %38, %40, %59 : tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xf32>, tensor<8xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
}

