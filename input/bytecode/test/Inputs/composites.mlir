module @jit_composites attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<3xf32> {jax.result_info = "result[4][0]"}, tensor<3xi32> {jax.result_info = "result[4][1]"}) {
    %0 = call @arccosh(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.composite "chlo.atanh" %arg0 {decomposition = @chlo.atanh.impl, version = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.composite "chlo.sinh" %arg0 {decomposition = @chlo.sinh.impl, version = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>
    %4:2 = stablehlo.composite "chlo.top_k" %arg0 {composite_attributes = {is_stable = true, k = 3 : i64}, decomposition = @chlo.top_k.impl, version = 1 : i32} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>)
    return %0, %1, %2, %3, %4#0, %4#1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<3xf32>, tensor<3xi32>
  }
  func.func private @chlo.top_k.impl(%arg0: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %4 = stablehlo.compare GT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    %2 = stablehlo.slice %1#0 [0:3] : (tensor<8xf32>) -> tensor<3xf32>
    %3 = stablehlo.slice %1#1 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
    return %2, %3 : tensor<3xf32>, tensor<3xi32>
  }
  func.func private @chlo.erf.impl(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<-0.0142647391> : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<-0.00737332925> : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<-0.00168282702> : tensor<8xf32>
    %cst_4 = stablehlo.constant dense<-2.13374049E-4> : tensor<8xf32>
    %cst_5 = stablehlo.constant dense<-1.45660715E-5> : tensor<8xf32>
    %cst_6 = stablehlo.constant dense<-0.0160960332> : tensor<8xf32>
    %cst_7 = stablehlo.constant dense<-2.954600e-03> : tensor<8xf32>
    %cst_8 = stablehlo.constant dense<-7.34990637E-4> : tensor<8xf32>
    %cst_9 = stablehlo.constant dense<-5.69250624E-5> : tensor<8xf32>
    %cst_10 = stablehlo.constant dense<-2.10102394E-6> : tensor<8xf32>
    %cst_11 = stablehlo.constant dense<2.77068146E-8> : tensor<8xf32>
    %cst_12 = stablehlo.constant dense<-2.72614237E-10> : tensor<8xf32>
    %cst_13 = stablehlo.constant dense<-4.000000e+00> : tensor<8xf32>
    %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<8xf32>
    %0 = stablehlo.clamp %cst_13, %arg0, %cst_14 : tensor<8xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<8xf32>
    %2 = stablehlo.multiply %cst_12, %1 : tensor<8xf32>
    %3 = stablehlo.add %2, %cst_11 : tensor<8xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<8xf32>
    %5 = stablehlo.add %4, %cst_10 : tensor<8xf32>
    %6 = stablehlo.multiply %5, %1 : tensor<8xf32>
    %7 = stablehlo.add %6, %cst_9 : tensor<8xf32>
    %8 = stablehlo.multiply %7, %1 : tensor<8xf32>
    %9 = stablehlo.add %8, %cst_8 : tensor<8xf32>
    %10 = stablehlo.multiply %9, %1 : tensor<8xf32>
    %11 = stablehlo.add %10, %cst_7 : tensor<8xf32>
    %12 = stablehlo.multiply %11, %1 : tensor<8xf32>
    %13 = stablehlo.add %12, %cst_6 : tensor<8xf32>
    %14 = stablehlo.multiply %cst_5, %1 : tensor<8xf32>
    %15 = stablehlo.add %14, %cst_4 : tensor<8xf32>
    %16 = stablehlo.multiply %15, %1 : tensor<8xf32>
    %17 = stablehlo.add %16, %cst_3 : tensor<8xf32>
    %18 = stablehlo.multiply %17, %1 : tensor<8xf32>
    %19 = stablehlo.add %18, %cst_2 : tensor<8xf32>
    %20 = stablehlo.multiply %19, %1 : tensor<8xf32>
    %21 = stablehlo.add %20, %cst_1 : tensor<8xf32>
    %22 = stablehlo.multiply %0, %13 : tensor<8xf32>
    %23 = stablehlo.divide %22, %21 : tensor<8xf32>
    %24 = stablehlo.clamp %cst_0, %23, %cst : tensor<8xf32>
    return %24 : tensor<8xf32>
  }
  func.func private @chlo.sinh.impl(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<8xf32>
    %0 = stablehlo.log %cst_0 : tensor<8xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8xf32>
    %2 = stablehlo.exponential %1 : tensor<8xf32>
    %3 = stablehlo.subtract %0, %arg0 : tensor<8xf32>
    %4 = stablehlo.exponential %3 : tensor<8xf32>
    %5 = stablehlo.subtract %2, %4 : tensor<8xf32>
    %6 = stablehlo.exponential_minus_one %arg0 : tensor<8xf32>
    %7 = stablehlo.add %6, %cst : tensor<8xf32>
    %8 = stablehlo.divide %6, %7 : tensor<8xf32>
    %9 = stablehlo.add %6, %8 : tensor<8xf32>
    %10 = stablehlo.multiply %cst_0, %9 : tensor<8xf32>
    %11 = stablehlo.abs %arg0 : tensor<8xf32>
    %12 = stablehlo.compare LT, %11, %cst : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %13 = stablehlo.select %12, %10, %5 : tensor<8xi1>, tensor<8xf32>
    return %13 : tensor<8xf32>
  }
  func.func private @chlo.atanh.impl(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %0 = stablehlo.abs %arg0 : tensor<8xf32>
    %1 = stablehlo.compare GT, %0, %cst_1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %2 = stablehlo.log_plus_one %arg0 : tensor<8xf32>
    %3 = stablehlo.negate %arg0 : tensor<8xf32>
    %4 = stablehlo.log_plus_one %3 : tensor<8xf32>
    %5 = stablehlo.subtract %2, %4 : tensor<8xf32>
    %6 = stablehlo.multiply %5, %cst : tensor<8xf32>
    %7 = stablehlo.select %1, %cst_0, %6 : tensor<8xi1>, tensor<8xf32>
    return %7 : tensor<8xf32>
  }
  func.func private @arccosh(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.composite "chlo.acosh" %arg0 {decomposition = @chlo.acosh.impl, version = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @chlo.acosh.impl(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<3.40282347E+38> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<8xf32>
    %0 = stablehlo.divide %cst_0, %cst_1 : tensor<8xf32>
    %1 = stablehlo.compare GE, %arg0, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %2 = stablehlo.log %cst_1 : tensor<8xf32>
    %3 = stablehlo.log %arg0 : tensor<8xf32>
    %4 = stablehlo.add %2, %3 : tensor<8xf32>
    %5 = stablehlo.subtract %arg0, %cst : tensor<8xf32>
    %6 = stablehlo.sqrt %5 : tensor<8xf32>
    %7 = stablehlo.add %arg0, %cst : tensor<8xf32>
    %8 = stablehlo.sqrt %7 : tensor<8xf32>
    %9 = stablehlo.add %8, %6 : tensor<8xf32>
    %10 = stablehlo.multiply %6, %9 : tensor<8xf32>
    %11 = stablehlo.log_plus_one %10 : tensor<8xf32>
    %12 = stablehlo.select %1, %4, %11 : tensor<8xi1>, tensor<8xf32>
    return %12 : tensor<8xf32>
  }
}

