// RUN: spokeshave-opt %s --schedule --schedule-slice-stacks --schedule-near-memory="bytes=6291456 across-runs=1" --verify-each --split-input-file | FileCheck %s
// RUN: spokeshave-opt %s --schedule --schedule-slice-stacks --schedule-near-memory="bytes=6291456 prefetch=0" --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: spokeshave-opt %s --schedule --schedule-slice-stacks --schedule-near-memory="bytes=6291456 slices=0" --split-input-file | FileCheck %s --check-prefix=WHOLE

// The run before brings the first kernel's argument, while its last kernel works. The
// second one's is used to the end: its place is not free then.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %[[Y:.*]]: memref<2000xf32>)
// CHECK: schedule.start %[[X]] to %[[NEAR:.*]] signal [[S:[0-9]+]] {first_run}
// CHECK: schedule.wait [[S]]
// CHECK: schedule.launch @exp.0 inputs 1(%{{.*}}, %{{.*}})
// CHECK: schedule.start %[[X]] to %{{.*}} signal [[S]] {next_run}
// CHECK-NOT: schedule.wait [[S]]
// CHECK: schedule.launch @dot.0
// OFF-LABEL: schedule.program @main
// OFF-NOT: schedule.start
// OFF: schedule.kernel
func.func @main(%x: tensor<1000xf32>, %y: tensor<2000xf32>) -> tensor<f32> {
  %0 = graph.fusion loop "exp"(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %e = stablehlo.exponential %a : tensor<1000xf32>
    graph.yield %e : tensor<1000xf32>
  }
  %1 = graph.fusion reduce "dot"(%a = %0 : tensor<1000xf32>, %b = %y : tensor<2000xf32>) -> tensor<f32> {
    %s = stablehlo.slice %b [0:1000] : (tensor<2000xf32>) -> tensor<1000xf32>
    %m = stablehlo.multiply %a, %s : tensor<1000xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  return %1 : tensor<f32>
}

// -----

// While the second kernel of a trip works, the next trip's layer of the first one comes.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %[[W:.*]]: memref<5x1000xf32>)
// CHECK: %[[FIRST:.*]] = schedule.view %[[W]] : memref<5x1000xf32> to memref<1x1000xf32>
// CHECK: schedule.start %[[FIRST]] to %[[NEAR:.*]] signal [[S:[0-9]+]]
// CHECK: schedule.while trips 5
// CHECK: schedule.wait [[S]]
// CHECK: schedule.launch @add.0.slice{{.*}}%[[NEAR]]
// CHECK: %[[TRIP:.*]] = schedule.trip 1 step 1
// CHECK: %[[NEXT:.*]] = schedule.slice %[[W]] at(%[[TRIP]])
// CHECK: schedule.start %[[NEXT]] to %[[NEAR]] signal [[S]] {next_trip}
// CHECK: schedule.launch @sine
// OFF-LABEL: schedule.program @main
// OFF-NOT: next_trip
// OFF: schedule.kernel
func.func @main(%x: tensor<1000xf32>, %w: tensor<5x1000xf32>) -> tensor<1000xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<1000xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<1000xf32>):
    %n = graph.fusion loop "add"(%a = %v : tensor<1000xf32>, %b = %w : tensor<5x1000xf32>, %j = %i : tensor<i32>) -> tensor<1000xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %s = stablehlo.dynamic_slice %b, %j, %z, sizes = [1, 1000] : (tensor<5x1000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1000xf32>
      %r = stablehlo.reshape %s : (tensor<1x1000xf32>) -> tensor<1000xf32>
      %t = stablehlo.add %a, %r : tensor<1000xf32>
      graph.yield %t : tensor<1000xf32>
    }
    %m = graph.fusion loop "sine"(%a = %n : tensor<1000xf32>) -> tensor<1000xf32> {
      %t = stablehlo.sine %a : tensor<1000xf32>
      graph.yield %t : tensor<1000xf32>
    }
    %next = graph.fusion loop "add"(%j = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %t = stablehlo.add %j, %one : tensor<i32>
      graph.yield %t : tensor<i32>
    }
    stablehlo.return %next, %m : tensor<i32>, tensor<1000xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<i32>, tensor<1000xf32>) -> (tensor<i32>, tensor<1000xf32>)
  return %0#1 : tensor<1000xf32>
}

// -----

// Beside the first kernel there is room for seven eighths of the second one's argument:
// the rest comes when that kernel has ended.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.view %[[Y:.*]] {byte_offset = 2465792 : i64} : memref<700000xf32> to memref<334208xi8>
// CHECK-COUNT-7: schedule.start
// CHECK: schedule.launch @exp
// CHECK: schedule.view %[[Y]] : memref<700000xf32> to memref<352256xi8>
// CHECK: schedule.start
// CHECK-COUNT-8: schedule.wait
// CHECK: schedule.launch @sine
// WHOLE-LABEL: schedule.program @main
// WHOLE-LABEL: schedule.program @main
// WHOLE-LABEL: schedule.program @main
// WHOLE-NOT: schedule.start
// WHOLE: schedule.kernel
func.func @main(%x: tensor<450000xf32>, %y: tensor<700000xf32>) -> (tensor<450000xf32>, tensor<700000xf32>) {
  %0 = graph.fusion loop "exp"(%a = %x : tensor<450000xf32>) -> tensor<450000xf32> {
    %e = stablehlo.exponential %a : tensor<450000xf32>
    graph.yield %e : tensor<450000xf32>
  }
  %1 = graph.fusion loop "sine"(%a = %y : tensor<700000xf32>) -> tensor<700000xf32> {
    %e = stablehlo.sine %a : tensor<700000xf32>
    graph.yield %e : tensor<700000xf32>
  }
  return %0, %1 : tensor<450000xf32>, tensor<700000xf32>
}
