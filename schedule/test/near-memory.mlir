// RUN: spokeshave-opt %s --schedule --schedule-near-memory="bytes=65536" --split-input-file | FileCheck %s
// RUN: spokeshave-opt %s --schedule --schedule-near-memory="bytes=65536 keep=0" --split-input-file | FileCheck %s --check-prefix=FETCH
// RUN: spokeshave-opt %s --schedule --schedule-near-memory="bytes=65536 prefetch=0" --split-input-file | FileCheck %s --check-prefix=KEEP

// The value between the two kernels stays; the second one's argument is fetched
// while the first one runs.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %[[Y:.*]]: memref<2000xf32>)
// CHECK: %[[FETCHED:.*]] = schedule.near at 45056 : memref<2000xf32>
// CHECK: %[[BETWEEN:.*]] = schedule.near at 57344 : memref<1000xf32>
// CHECK: schedule.start %[[Y]] to %{{.*}} signal 0
// CHECK: schedule.launch @{{.*}}(%[[X]], %[[BETWEEN]])
// CHECK: schedule.wait 0
// CHECK: schedule.launch @{{.*}}(%[[BETWEEN]], %[[FETCHED]], %{{.*}})
// FETCH-LABEL: schedule.program @main
// FETCH-NOT: schedule.near {{.*}} memref<1000xf32>
// FETCH: schedule.start
// KEEP-LABEL: schedule.program @main
// KEEP: schedule.near {{.*}} memref<1000xf32>
// KEEP-NOT: schedule.start
// KEEP: schedule.kernel
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

// A carried value stays near through all of the loop and is written back after it;
// what the loop only reads is fetched once.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %[[Y:.*]]: memref<1000xf32>) results(%[[R:.*]]: memref<1000xf32>)
// CHECK: schedule.start %[[Y]] to
// CHECK: schedule.start %[[X]] to
// CHECK: schedule.while trips 10
// CHECK-NOT: schedule.start
// CHECK: schedule.launch @{{.*}}inputs 2
// CHECK: }
// CHECK: schedule.start %{{.*}} to %[[R]]
// CHECK: schedule.wait
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%v: tensor<1000xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%v: tensor<1000xf32>):
    %w = graph.fusion loop "add"(%a = %v : tensor<1000xf32>, %b = %y : tensor<1000xf32>) -> tensor<1000xf32> {
      %s = stablehlo.add %a, %b : tensor<1000xf32>
      graph.yield %s : tensor<1000xf32>
    }
    stablehlo.return %w : tensor<1000xf32>
  }) {graph.trip_count = 10 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// The predicate is read by the sequencer and stays in far memory; a value that only
// one launch touches gains nothing.
// CHECK-LABEL: schedule.program @main
// CHECK-NOT: schedule.near
// CHECK: schedule.kernel
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = graph.fusion loop "exp"(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %e = stablehlo.exponential %a : tensor<1000xf32>
    graph.yield %e : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// -----

// The last value lives beside one that lies under another's former place and one that
// reaches up over both: it gets a place under the latter.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.near at 8192 : memref<900xf32>
// CHECK-NEXT: schedule.near at 20480 : memref<1000xf32>
// CHECK-NEXT: schedule.near at 28672 : memref<2000xf32>
// CHECK-NEXT: schedule.near at 16384 : memref<4500xf32>
// CHECK-NEXT: schedule.near at 40960 : memref<4500xf32>
func.func @main(%x: tensor<4500xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %a = graph.fusion loop "a"(%v = %x : tensor<4500xf32>) -> tensor<1000xf32> {
    %s = stablehlo.slice %v [0:1000] : (tensor<4500xf32>) -> tensor<1000xf32>
    %e = stablehlo.exponential %s : tensor<1000xf32>
    graph.yield %e : tensor<1000xf32>
  }
  %d = graph.fusion loop "d"(%v = %x : tensor<4500xf32>) -> tensor<2000xf32> {
    %s = stablehlo.slice %v [0:2000] : (tensor<4500xf32>) -> tensor<2000xf32>
    %e = stablehlo.exponential %s : tensor<2000xf32>
    graph.yield %e : tensor<2000xf32>
  }
  %0 = graph.fusion reduce "sum_d"(%v = %d : tensor<2000xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2000xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %c = graph.fusion loop "c"(%v = %x : tensor<4500xf32>) -> tensor<900xf32> {
    %s = stablehlo.slice %v [0:900] : (tensor<4500xf32>) -> tensor<900xf32>
    %e = stablehlo.exponential %s : tensor<900xf32>
    graph.yield %e : tensor<900xf32>
  }
  %1 = graph.fusion reduce "sum_a"(%v = %a : tensor<1000xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %b = graph.fusion loop "b"(%v = %x : tensor<4500xf32>) -> tensor<4500xf32> {
    %e = stablehlo.exponential %v : tensor<4500xf32>
    graph.yield %e : tensor<4500xf32>
  }
  %2 = graph.fusion reduce "sum_b"(%v = %b : tensor<4500xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4500xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %3 = graph.fusion reduce "sum_c"(%v = %c : tensor<900xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<900xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
