// RUN: spokeshave-opt %s --schedule --split-input-file | FileCheck %s

// The stack that the loop fills lies in the result from the beginning.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: results(%[[R:.*]]: memref<100xf32>)
// CHECK: schedule.launch @broadcast.0 inputs 0(%[[R]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.launch @loop.0 inputs 2(%{{.*}}, %[[R]], %[[R]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<f32>) -> tensor<100xf32> {
  %y = graph.fusion loop "broadcast"() -> tensor<100xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<100xf32>
    graph.yield %z : tensor<100xf32>
  }
  %0 = graph.fusion while "loop"(%a = %x : tensor<f32>, %b = %y : tensor<100xf32>) -> tensor<100xf32> attributes {graph.single_state} {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.constant dense<100> : tensor<i32>
    %1:2 = stablehlo.while(%i = %i0, %s = %b) : tensor<i32>, tensor<100xf32> attributes {graph.trip_count = 100 : i64}
    cond {
      %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %f = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %s, %f, %i : (tensor<100xf32>, tensor<1xf32>, tensor<i32>) -> tensor<100xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %u : tensor<i32>, tensor<100xf32>
    }
    graph.yield %1#1 : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// -----

// Must not share: the array that the loop updates is read beside it. It is copied.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[Y:.*]]: memref<100xf32>) results(%[[R:.*]]: memref<100xf32>)
// CHECK: schedule.copy %[[Y]] to %[[R]]
// CHECK: schedule.launch @loop.0 inputs 1(%[[Y]], %[[R]])
func.func @main(%y: tensor<100xf32>) -> tensor<100xf32> {
  %0 = graph.fusion while "loop"(%b = %y : tensor<100xf32>) -> tensor<100xf32> attributes {graph.single_state} {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.constant dense<100> : tensor<i32>
    %1:2 = stablehlo.while(%i = %i0, %s = %b) : tensor<i32>, tensor<100xf32> attributes {graph.trip_count = 100 : i64}
    cond {
      %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %f = stablehlo.slice %b [99:100] : (tensor<100xf32>) -> tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %s, %f, %i : (tensor<100xf32>, tensor<1xf32>, tensor<i32>) -> tensor<100xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %u : tensor<i32>, tensor<100xf32>
    }
    graph.yield %1#1 : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}
