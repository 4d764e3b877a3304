// RUN: spokeshave-opt --graph-lower-collectives --split-input-file --verify-diagnostics %s | FileCheck %s

// The sum is a fold over the members in the group's order, small ones on every
// device alike.
// CHECK-LABEL: module @small
// CHECK: %[[ONE:.*]] = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%[[ONE]]) <{all_gather_dim = 0
// CHECK-SAME{LITERAL}: replica_groups = dense<[[0, 1], [2, 3]]>
// CHECK-SAME: (tensor<1x4xf32>) -> tensor<2x4xf32>
// CHECK: %[[S0:.*]] = stablehlo.slice %[[ALL]] [0:1, 0:4]
// CHECK: %[[A:.*]] = stablehlo.reshape %[[S0]]
// CHECK: %[[S1:.*]] = stablehlo.slice %[[ALL]] [1:2, 0:4]
// CHECK: %[[B:.*]] = stablehlo.reshape %[[S1]]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK: return %[[SUM]]
module @small attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Large ones in two steps, each device summing its part.
// CHECK-LABEL: module @large
// CHECK: "stablehlo.all_to_all"{{.*}} {graph.of_reduction} : (tensor<2x4096xf32>) -> tensor<2x4096xf32>
// CHECK: stablehlo.add {{.*}} : tensor<4096xf32>
// CHECK: "stablehlo.all_gather"{{.*}} : (tensor<1x4096xf32>) -> tensor<2x4096xf32>
module @large attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<8192xf32>) -> tensor<8192xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8192xf32>) -> tensor<8192xf32>
    return %0 : tensor<8192xf32>
  }
}

// -----

// A reducer of several operations is mapped over the tensors.
// CHECK-LABEL: module @reducer
// CHECK: "stablehlo.map"
// CHECK: stablehlo.multiply
// CHECK: stablehlo.add
module @reducer attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.multiply %a, %b : tensor<f32>
      %2 = stablehlo.add %1, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Ids across replicas are those of each partition; layouts change in kernels.
// CHECK-LABEL: module @gather
// CHECK: "stablehlo.all_gather"
// CHECK-SAME{LITERAL}: replica_groups = dense<[[0, 2], [1, 3]]>
// CHECK-SAME: (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: stablehlo.transpose {{.*}} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK: stablehlo.reshape {{.*}} : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
module @gather attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<3x4xf32>) -> tensor<3x8xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3x4xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
}

// -----

// Groups by the axes of a mesh.
// CHECK-LABEL: module @axes
// CHECK{LITERAL}: replica_groups = dense<[[0, 2], [1, 3]]>
module @axes attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<3xf32>) -> tensor<6xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, use_global_device_ids,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<3xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// On one device nothing is done here.
// CHECK-LABEL: module @one
// CHECK: "stablehlo.all_gather"{{.*}}all_gather_dim = 1
module @one {
  func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

// -----

module @beyond attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{has id 2 in its groups, but the program has only 2 of them}}
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module @left_out attributes {mhlo.num_replicas = 3 : i32} {
  func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has replica groups that leave out device 2 of 3}}
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
