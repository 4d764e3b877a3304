// RUN: spokeshave-opt --graph-several-devices --split-input-file --verify-diagnostics %s | FileCheck %s

// Arguments and results are parts; the computation stands in its place.
// CHECK-LABEL: func.func public @main(%arg0: tensor<2x2xf32> {graph.parts = array<i64: 4, 1, 0, 1, 2, 3>})
// CHECK-SAME: -> (tensor<2x2xf32> {graph.parts = array<i64: 4, 1, 0, 1, 2, 3>})
// CHECK-NEXT: %[[R:.*]] = stablehlo.sine %arg0 : tensor<2x2xf32>
// CHECK-NEXT: stablehlo.reshape %[[R]]
module @manual attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x2xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x2xf32>) {
      %1 = stablehlo.sine %a : tensor<2x2xf32>
      sdy.return %1 : tensor<2x2xf32>
    } : (tensor<8x2xf32>) -> tensor<8x2xf32>
    return %0 : tensor<8x2xf32>
  }
}

// -----

// An argument that is not said to be cut is cut as its only reader wants it. What a
// result is wanted in whole is gathered, elementwise work before that is on parts.
// CHECK-LABEL: func.func public @main(%arg0: tensor<2xf32> {graph.parts = array<i64: 2, 0, 1>}) -> tensor<4xf32>
// CHECK: stablehlo.add {{.*}} : tensor<2xf32>
// CHECK: "stablehlo.all_gather"{{.*}} : (tensor<1x2xf32>) -> tensor<2x2xf32>
module @gathered attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
      sdy.return %a : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// A whole value is sliced by the device's number.
// CHECK-LABEL: func.func public @main(%arg0: tensor<4xf32>)
// CHECK: stablehlo.partition_id
// CHECK: stablehlo.dynamic_slice %arg0, {{.*}}, sizes = [2]
module @sliced attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
      sdy.return %a : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @partitioner attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    // expected-error @+1 {{needs a partitioner; this compiler has none}}
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

module @uneven attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  // expected-error @+1 {{splits dimension 0 of 'tensor<3xf32>' into 2 parts, which does not come out even}}
  func.func public @main(%x: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

module @other_mesh attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  // expected-error @+1 {{has a mesh of 4 devices in a program for 2}}
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
