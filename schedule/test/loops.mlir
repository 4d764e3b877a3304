// RUN: spokeshave-opt %s --schedule --split-input-file | FileCheck %s

// A carried array that the body updates: nothing is copied in the loop, and the
// array lives in the result's buffer.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: results(%[[R:.*]]: memref<1000xf32>)
// CHECK: schedule.while
// CHECK-NOT: schedule.copy
// CHECK: schedule.launch @update.0 inputs 3(%[[R]], %{{.*}}, %{{.*}}, %[[R]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<1000xf32>, %u: tensor<1xf32>) -> tensor<1000xf32> {
  %i0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%i0, %x) ({
  ^bb0(%i: tensor<i32>, %y: tensor<1000xf32>):
    %p = graph.fusion loop "compare"(%a = %i : tensor<i32>) -> tensor<i1> {
      %n = "stablehlo.constant"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
      %c = "stablehlo.compare"(%a, %n) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      graph.yield %c : tensor<i1>
    }
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %y: tensor<1000xf32>):
    %z = graph.fusion update "update"(%a = %y : tensor<1000xf32>, %b = %u : tensor<1xf32>, %c = %i : tensor<i32>) -> tensor<1000xf32> {
      %d = "stablehlo.dynamic_update_slice"(%a, %b, %c) : (tensor<1000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1000xf32>
      graph.yield %d : tensor<1000xf32>
    }
    %j = graph.fusion loop "add"(%a = %i : tensor<i32>) -> tensor<i32> {
      %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %c = "stablehlo.add"(%a, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      graph.yield %c : tensor<i32>
    }
    "stablehlo.return"(%j, %z) : (tensor<i32>, tensor<1000xf32>) -> ()
  }) : (tensor<i32>, tensor<1000xf32>) -> (tensor<i32>, tensor<1000xf32>)
  return %0#1 : tensor<1000xf32>
}

// -----

// Swapped values go through a temporary; the trips are known, so no condition.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.while trips 7 body {
// CHECK-NEXT: schedule.copy %[[A:.*]] to %[[T:.*]] :
// CHECK-NEXT: schedule.copy %[[B:.*]] to %[[A]] :
// CHECK-NEXT: schedule.copy %[[T]] to %[[B]] :
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %i0 = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0:2 = "stablehlo.while"(%x, %y) ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    "stablehlo.return"(%i0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    "stablehlo.return"(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) {graph.trip_count = 7 : i64} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What the body only passes on is read where it is: the argument is not copied.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[W:.*]]: memref<4xf32>, %[[X:.*]]: memref<4xf32>)
// CHECK-NOT: schedule.copy %[[W]]
// CHECK: schedule.launch @add.0 inputs 2(%[[W]],
// CHECK-NOT: schedule.copy
func.func @main(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %true = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0:2 = "stablehlo.while"(%w, %x) ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    "stablehlo.return"(%true) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %z = graph.fusion loop "add"(%c = %a : tensor<4xf32>, %d = %b : tensor<4xf32>) -> tensor<4xf32> {
      %e = "stablehlo.add"(%c, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    "stablehlo.return"(%a, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) {graph.trip_count = 7 : i64} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

// A donated argument goes through the loop in its own memory.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<1000xf32>) results({{.*}}) arena 0 aliases [0] {
// CHECK-NEXT: schedule.while trips 5 body {
// CHECK-NEXT: schedule.parallel {
// CHECK-NEXT: schedule.launch @sine.0 inputs 1(%[[X]], %[[X]])
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<1000xf32> {tf.aliasing_output = 0 : i32}) -> tensor<1000xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%y: tensor<1000xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%y: tensor<1000xf32>):
    %z = graph.fusion loop "sine"(%a = %y : tensor<1000xf32>) -> tensor<1000xf32> {
      %d = stablehlo.sine %a : tensor<1000xf32>
      graph.yield %d : tensor<1000xf32>
    }
    stablehlo.return %z : tensor<1000xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// The new value is written while the old one is still to be copied: it must not
// take the old one's memory.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.while trips 5
// CHECK: schedule.launch @add.0 inputs 2(%[[A:[a-z0-9]*]], %[[B:[a-z0-9]*]], %[[N:[a-z0-9]*]])
// CHECK: schedule.copy %[[B]] to %[[A]]
// CHECK: schedule.copy %[[N]] to %[[B]]
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = "stablehlo.while"(%x, %w) ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %z = graph.fusion loop "add"(%c = %a : tensor<4xf32>, %d = %b : tensor<4xf32>) -> tensor<4xf32> {
      %e = stablehlo.add %c, %d : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    stablehlo.return %b, %z : tensor<4xf32>, tensor<4xf32>
  }) {graph.trip_count = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A stencil cannot work in place. Two trips in one bring the value back to its
// place, and nothing is copied in the loop; of an odd number one stands before it.
// CHECK-LABEL: schedule.program @main
// CHECK-SAME: (%[[X:.*]]: memref<4096xf32>) results(%[[R:.*]]: memref<4096xf32>)
// CHECK: schedule.launch @reverse.0 inputs 1(%[[X]], %[[R]])
// CHECK: schedule.while trips 3 body {
// CHECK-NEXT: schedule.parallel {
// CHECK-NEXT: schedule.launch @reverse.0 inputs 1(%[[R]], %[[T:.*]]) :
// CHECK-NEXT: schedule.launch @reverse.0 inputs 1(%[[T]], %[[R]]) :
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%y: tensor<4096xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%y: tensor<4096xf32>):
    %z = graph.fusion loop "reverse"(%a = %y : tensor<4096xf32>) -> tensor<4096xf32> {
      %d = stablehlo.reverse %a, dims = [0] : tensor<4096xf32>
      graph.yield %d : tensor<4096xf32>
    }
    stablehlo.return %z : tensor<4096xf32>
  }) {graph.trip_count = 7 : i64} : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// Large values that are swapped are not copied either.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.while trips 4 body {
// CHECK-NOT: schedule.copy
// CHECK: schedule.kernel
func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = "stablehlo.while"(%x, %y) ({
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    %z = graph.fusion loop "sine"(%c = %a : tensor<4096xf32>) -> tensor<4096xf32> {
      %d = stablehlo.sine %c : tensor<4096xf32>
      graph.yield %d : tensor<4096xf32>
    }
    stablehlo.return %b, %z : tensor<4096xf32>, tensor<4096xf32>
  }) {graph.trip_count = 8 : i64} : (tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>)
  return %0#0, %0#1 : tensor<4096xf32>, tensor<4096xf32>
}

// -----

// What another trip does not help stays one: the trips of a loop that is left by its
// condition cannot be paired.
// CHECK-LABEL: schedule.program @main
// CHECK: schedule.launch @reverse.0
// CHECK: schedule.copy
// CHECK-NOT: schedule.launch @reverse.0
// CHECK: schedule.kernel
func.func @main(%x: tensor<4096xf32>, %p: tensor<i1>) -> tensor<4096xf32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%y: tensor<4096xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%y: tensor<4096xf32>):
    %z = graph.fusion loop "reverse"(%a = %y : tensor<4096xf32>) -> tensor<4096xf32> {
      %d = stablehlo.reverse %a, dims = [0] : tensor<4096xf32>
      graph.yield %d : tensor<4096xf32>
    }
    stablehlo.return %z : tensor<4096xf32>
  }) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
