// RUN: spokeshave-opt %s --schedule --split-input-file | FileCheck %s

// x + 1: one launch, argument in, result out, no temporary.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>) results(%[[R:.*]]: memref<4xf32>) arena 0 aliases [-1]
// CHECK-NEXT: schedule.parallel {
// CHECK-NEXT:   schedule.launch @add.0 inputs 1(%[[X]], %[[R]]) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
// CHECK: schedule.kernel @add.0(%{{.*}}: tensor<4xf32>) {
// CHECK: graph.fusion loop "add"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.fusion loop "add"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %one = "stablehlo.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
    %1 = "stablehlo.add"(%a, %one) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Two fusions with one body share a kernel, a run of launches is one region, and
// elementwise work is done in place in the result's buffer.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: results(%[[R:.*]]: memref<4xf32>) arena 0 aliases
// CHECK-NEXT: schedule.parallel {
// CHECK-NEXT:   schedule.launch @sine.0 inputs 1(%{{.*}}, %[[R]])
// CHECK-NEXT:   schedule.launch @sine.0 inputs 1(%[[R]], %[[R]])
// CHECK-NEXT: }
// CHECK: schedule.kernel @sine.0
// CHECK-NOT: schedule.kernel
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.fusion loop "sine"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = "stablehlo.sine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  %2 = graph.fusion loop "sine"(%b = %0 : tensor<4xf32>) -> tensor<4xf32> {
    %1 = "stablehlo.sine"(%b) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// -----

// A value returned twice and an argument returned: copies at the end, no more.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %{{.*}}: memref<2xi32>) results(%[[R0:.*]]: memref<4xf32>, %[[R1:.*]]: memref<4xf32>, %[[R2:.*]]: memref<4xf32>) arena 0 aliases [-1, -1, -1]
// CHECK: schedule.launch @sine.0 inputs 1(%[[X]], %[[R0]])
// CHECK: schedule.copy %[[R0]] to %[[R1]]
// CHECK: schedule.copy %[[X]] to %[[R2]]
// CHECK-NOT: schedule.copy
func.func @main(%x: tensor<4xf32>, %unused: tensor<2xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.fusion loop "sine"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = "stablehlo.sine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0, %0, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Donated arguments, swapped: the copies go through a temporary.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:arg0]]: memref<4xf32>, %[[Y:arg1]]: memref<4xf32>)
// CHECK-SAME: arena 64 aliases [0, 1]
// CHECK-NEXT: %[[T:.*]] = schedule.arena at 0 :
// CHECK-NEXT: schedule.copy %[[X]] to %[[T]]
// CHECK-NEXT: schedule.copy %[[Y]] to %[[X]]
// CHECK-NEXT: schedule.copy %[[T]] to %[[Y]]
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// A reshape is a view.
// CHECK-LABEL: schedule.program @main
// CHECK: %[[V:.*]] = schedule.view %{{.*}} : memref<4xf32> to memref<2x2xf32>
// CHECK: schedule.launch @sine.0 inputs 1(%[[V]], %{{.*}})
// CHECK-NOT: schedule.copy
func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %r = "stablehlo.reshape"(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  %0 = graph.fusion loop "sine"(%a = %r : tensor<2x2xf32>) -> tensor<2x2xf32> {
    %1 = "stablehlo.sine"(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    graph.yield %1 : tensor<2x2xf32>
  }
  return %0 : tensor<2x2xf32>
}
