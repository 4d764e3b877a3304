// RUN: spokeshave-opt %s --schedule --split-input-file | FileCheck %s

// One branch updates the carried array, the other passes it on: in place, and
// nothing is copied in the loop.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %{{.*}}: memref<1xf32>, %{{.*}}: memref<i1>) results(%[[R:.*]]: memref<1000xf32>)
// CHECK: schedule.copy %[[X]] to %[[R]]
// CHECK: schedule.while trips 5
// CHECK-NOT: schedule.copy
// CHECK: schedule.case %{{.*}} : memref<i1> {
// CHECK-NOT: schedule.copy
// CHECK: schedule.launch @update.0 inputs 3(%[[R]], %{{.*}}, %{{.*}}, %[[R]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<1000xf32>, %u: tensor<1xf32>, %p: tensor<i1>) -> tensor<1000xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%y: tensor<1000xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%y: tensor<1000xf32>):
    %r = "stablehlo.if"(%p) ({
      %z = graph.fusion update "update"(%a = %y : tensor<1000xf32>, %b = %u : tensor<1xf32>, %c = %i0 : tensor<i32>) -> tensor<1000xf32> {
        %d = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<1000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1000xf32>
        graph.yield %d : tensor<1000xf32>
      }
      stablehlo.return %z : tensor<1000xf32>
    }, {
      stablehlo.return %y : tensor<1000xf32>
    }) : (tensor<i1>) -> tensor<1000xf32>
    stablehlo.return %r : tensor<1000xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// The old value is read after the update in program order: the reader moves
// before it, and only the undonated argument is copied.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>, %{{.*}}: memref<1xf32>) results(%[[R:.*]]: memref<1000xf32>, %[[S:.*]]: memref<1000xf32>)
// CHECK: schedule.launch @sine.0 inputs 1(%[[X]], %[[R]])
// CHECK-NEXT: schedule.launch @cosine.0 inputs 1(%[[R]], %[[S]])
// CHECK-NEXT: schedule.launch @update.0 inputs 3(%[[R]], %{{.*}}, %{{.*}}, %[[R]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<1000xf32>, %u: tensor<1xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %y = graph.fusion loop "sine"(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %d = stablehlo.sine %a : tensor<1000xf32>
    graph.yield %d : tensor<1000xf32>
  }
  %z = graph.fusion update "update"(%a = %y : tensor<1000xf32>, %b = %u : tensor<1xf32>, %c = %i0 : tensor<i32>) -> tensor<1000xf32> {
    %d = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<1000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1000xf32>
    graph.yield %d : tensor<1000xf32>
  }
  %w = graph.fusion loop "cosine"(%a = %y : tensor<1000xf32>) -> tensor<1000xf32> {
    %d = stablehlo.cosine %a : tensor<1000xf32>
    graph.yield %d : tensor<1000xf32>
  }
  return %z, %w : tensor<1000xf32>, tensor<1000xf32>
}

// -----

// The update reads the array elsewhere too: it gets a copy to write to.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.launch @sine.0 inputs 1(%{{.*}}, %[[Y:.*]])
// CHECK: schedule.copy %[[Y]] to %[[Z:.*]] :
// CHECK: schedule.launch @update.0 inputs 2(%[[Y]], %{{.*}}, %[[Z]])
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %y = graph.fusion loop "sine"(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %d = stablehlo.sine %a : tensor<1000xf32>
    graph.yield %d : tensor<1000xf32>
  }
  %z = graph.fusion update "update"(%a = %y : tensor<1000xf32>, %c = %i0 : tensor<i32>) -> tensor<1000xf32> {
    %s = stablehlo.slice %a [5:10] : (tensor<1000xf32>) -> tensor<5xf32>
    %d = stablehlo.dynamic_update_slice %a, %s, %c : (tensor<1000xf32>, tensor<5xf32>, tensor<i32>) -> tensor<1000xf32>
    graph.yield %d : tensor<1000xf32>
  }
  return %z : tensor<1000xf32>
}

// -----

// Branches that give different values write them where the result is.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[I:.*]]: memref<i32>, %[[X:.*]]: memref<4xf32>) results(%[[R:.*]]: memref<4xf32>) arena 0
// CHECK-NEXT: schedule.case %[[I]] : memref<i32> {
// CHECK-NEXT:   schedule.parallel {
// CHECK-NEXT:     schedule.launch @sine.0 inputs 1(%[[X]], %[[R]])
// CHECK-NEXT:   }
// CHECK-NEXT: }, {
// CHECK-NEXT:   schedule.copy %[[X]] to %[[R]]
// CHECK-NEXT: }
func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%i) ({
    %y = graph.fusion loop "sine"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %d = stablehlo.sine %a : tensor<4xf32>
      graph.yield %d : tensor<4xf32>
    }
    stablehlo.return %y : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
