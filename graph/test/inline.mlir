// RUN: spokeshave-opt --graph-single-device --graph-inline --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
// CHECK-NOT: func.func private @f
module @calls {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.add"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A composite that kernels know stays, with its decomposition; others go.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.composite{{.*}}chlo.erf
// CHECK-NEXT: stablehlo.cosine
// CHECK: func.func private @erf
// CHECK-NOT: func.func private @other
module @composites {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.composite"(%x) {name = "chlo.erf", decomposition = @erf} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.composite"(%0) {name = "chlo.other", decomposition = @other} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @recursion {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{is a recursive call of @f, which is not supported}}
    %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
module @annotations {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%x) {call_target_name = "Sharding"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// In programs of several devices annotations fall as well, but not what stands for a
// partitioner's work.
module @two attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.custom_call"(%x) {call_target_name = "Sharding"} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{is a conversion for a partitioner, 'SPMDFullToShardShape', which this compiler does not have}}
    %1 = "stablehlo.custom_call"(%0) {call_target_name = "SPMDFullToShardShape"} : (tensor<4xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}

// -----

module @dynamic {
  // expected-error @+1 {{takes tensors of dynamic shape, which is not supported}}
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}
