// RUN: spokeshave-opt --graph-simplify-loops --cse --split-input-file %s | FileCheck %s

// The weights are read where they lie, nobody carries what nobody reads, the
// product of invariants stands before the loop, and the trips are known.
// CHECK-LABEL: func.func @scan
// CHECK: %[[E:.*]] = stablehlo.exponential %arg0
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %arg1) : tensor<i32>, tensor<4xf32> attributes {graph.trip_count = 7 : i64}
// CHECK: do
// CHECK: stablehlo.add %{{.*}}, %[[E]]
func.func @scan(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %a = %w, %b = %x, %dead = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %limit = stablehlo.constant dense<20> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %step = stablehlo.constant dense<3> : tensor<i32>
    %next = stablehlo.add %i, %step : tensor<i32>
    %e = stablehlo.exponential %a : tensor<4xf32>
    %s = stablehlo.add %b, %e : tensor<4xf32>
    %d = stablehlo.add %dead, %s : tensor<4xf32>
    stablehlo.return %next, %a, %s, %d : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#2 : tensor<4xf32>
}

// -----

// Must not fire: the counter wraps before it meets the limit.
// CHECK-LABEL: func.func @wraps
// CHECK-NOT: trip_count
func.func @wraps(%x: tensor<ui8>) -> tensor<ui8> {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.while(%i = %zero) : tensor<ui8>
  cond {
    %limit = stablehlo.constant dense<255> : tensor<ui8>
    %c = stablehlo.compare LT, %i, %limit, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %step = stablehlo.constant dense<2> : tensor<ui8>
    %next = stablehlo.add %i, %step : tensor<ui8>
    stablehlo.return %next : tensor<ui8>
  }
  return %0 : tensor<ui8>
}

// -----

// CHECK-LABEL: func.func @never
// CHECK-NOT: stablehlo.while
// CHECK: return %arg0
func.func @never(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<5> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %step = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %step : tensor<i32>
    %b = stablehlo.sine %a : tensor<f32>
    stablehlo.return %next, %b : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// -----

// Two counters of the same course are one.
// CHECK-LABEL: func.func @counters
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %arg0) : tensor<i32>, tensor<i32> attributes {graph.trip_count = 9 : i64}
func.func @counters(%x: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %j = %zero, %a = %x) : tensor<i32>, tensor<i32>, tensor<i32>
  cond {
    %limit = stablehlo.constant dense<9> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %nextI = stablehlo.add %i, %one : tensor<i32>
    %nextJ = stablehlo.add %j, %one : tensor<i32>
    %b = stablehlo.multiply %a, %j : tensor<i32>
    stablehlo.return %nextI, %nextJ, %b : tensor<i32>, tensor<i32>, tensor<i32>
  }
  return %0#2 : tensor<i32>
}

// -----

// An invariant that the yield also hands to another place.
// CHECK-LABEL: func.func @handed_on_twice
// CHECK: stablehlo.while(%[[I:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}})
// CHECK: stablehlo.return %{{.*}}, %arg0
func.func @handed_on_twice(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %y, %b = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %b, %b : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1, %0#2 : tensor<f32>, tensor<f32>
}
