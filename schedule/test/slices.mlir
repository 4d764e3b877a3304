// RUN: spokeshave-opt %s --schedule --schedule-slice-stacks --verify-each --split-input-file | FileCheck %s
// RUN: spokeshave-opt %s --schedule --schedule-slice-stacks="least-bytes=1000000" --split-input-file | FileCheck %s --check-prefix=SMALL

// A scan takes its layer by the number of the trip; nothing counts in memory.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[W:.*]]: memref<5x8xf32>)
// CHECK: schedule.while trips 5
// CHECK: %[[TRIP:.*]] = schedule.trip 0 step 1
// CHECK: %[[LAYER:.*]] = schedule.slice %[[W]] at(%[[TRIP]]) limits [4] strides [32] wraps [0] : memref<5x8xf32>, (memref<i64>) to memref<1x8xf32>
// CHECK: schedule.launch @{{.*}}.slice inputs 2(%{{.*}}, %[[LAYER]], %{{.*}})
// CHECK-NOT: schedule.launch
// CHECK: schedule.kernel
// SMALL-NOT: schedule.slice
func.func @main(%x: tensor<8xf32>, %w: tensor<5x8xf32>) -> tensor<8xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    %n = graph.fusion loop "add"(%a = %v : tensor<8xf32>, %b = %w : tensor<5x8xf32>, %j = %i : tensor<i32>) -> tensor<8xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %s = stablehlo.dynamic_slice %b, %j, %z, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %r = stablehlo.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
      %t = stablehlo.add %a, %r : tensor<8xf32>
      graph.yield %t : tensor<8xf32>
    }
    %next = graph.fusion loop "add"(%j = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %t = stablehlo.add %j, %one : tensor<i32>
      graph.yield %t : tensor<i32>
    }
    stablehlo.return %next, %n : tensor<i32>, tensor<8xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}

// -----

// From the last layer to the first, computed in the kernel; the counter is a result.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.while trips 5
// CHECK: schedule.trip 4 step -1
// CHECK: schedule.launch @add
// CHECK: schedule.kernel
func.func @main(%x: tensor<8xf32>, %w: tensor<5x8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    %n = graph.fusion loop "mul"(%a = %v : tensor<8xf32>, %b = %w : tensor<5x8xf32>, %j = %i : tensor<i32>) -> tensor<8xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %at = stablehlo.subtract %four, %j : tensor<i32>
      %s = stablehlo.dynamic_slice %b, %at, %z, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %r = stablehlo.reshape %s : (tensor<1x8xf32>) -> tensor<8xf32>
      %t = stablehlo.multiply %a, %r : tensor<8xf32>
      graph.yield %t : tensor<8xf32>
    }
    %next = graph.fusion loop "add"(%j = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %t = stablehlo.add %j, %one : tensor<i32>
      graph.yield %t : tensor<i32>
    }
    stablehlo.return %next, %n : tensor<i32>, tensor<8xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<i32>, tensor<8xf32>
}

// -----

// A start that only memory has; an update writes its slice alone, a box of two runs
// is computed and copied. A slice that is no run of bytes stays in the kernel.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<4x6xf32>, %[[Y:.*]]: memref<1x6xf32>, %[[Z:.*]]: memref<2x1xf32>, %[[I:.*]]: memref<i32>)
// CHECK: schedule.launch @{{.*}}inputs 2(%[[X]], %[[I]],
// CHECK: %[[TO:.*]] = schedule.slice %{{.*}} at(%[[I]]) limits [3] strides [24]
// CHECK: schedule.launch @{{.*}}inputs 1(%[[Y]], %[[TO]])
// CHECK: %[[BOX:.*]] = schedule.slice %{{.*}} at(%[[I]], %[[I]]) limits [5, 2] strides [4, 24] wraps [0, 0] {pitch = 24 : i64, rows = 2 : i64}
// CHECK: schedule.launch @{{.*}}inputs 1(%[[Z]], %[[PART:.*]])
// CHECK: schedule.copy %[[PART]] to %[[BOX]]
// CHECK: schedule.kernel
func.func @main(%x: tensor<4x6xf32>, %y: tensor<1x6xf32>, %z: tensor<2x1xf32>, %i: tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<2x1xf32>) {
  %0 = graph.fusion update "update"(%a = %x : tensor<4x6xf32>, %b = %y : tensor<1x6xf32>, %j = %i : tensor<i32>) -> tensor<4x6xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.negate %b : tensor<1x6xf32>
    %u = stablehlo.dynamic_update_slice %a, %n, %j, %zero : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    graph.yield %u : tensor<4x6xf32>
  }
  %1 = graph.fusion update "box"(%a = %x : tensor<4x6xf32>, %b = %z : tensor<2x1xf32>, %j = %i : tensor<i32>) -> tensor<4x6xf32> {
    %n = stablehlo.negate %b : tensor<2x1xf32>
    %u = stablehlo.dynamic_update_slice %a, %n, %j, %j : (tensor<4x6xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    graph.yield %u : tensor<4x6xf32>
  }
  %2 = graph.fusion loop "column"(%a = %x : tensor<4x6xf32>, %j = %i : tensor<i32>) -> tensor<2x1xf32> {
    %s = stablehlo.dynamic_slice %a, %j, %j, sizes = [2, 1] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
    %n = stablehlo.negate %s : tensor<2x1xf32>
    graph.yield %n : tensor<2x1xf32>
  }
  return %0, %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<2x1xf32>
}
