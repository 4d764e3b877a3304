// RUN: spokeshave-opt %s --graph-update-stacks --graph-canonicalize --split-input-file | FileCheck %s

// A cache of keys: each layer gets a row, is read, and is put into a new stack. The
// rows go to the stack, which begins as the old one, and the layer is read there.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[CACHE:.*]]: tensor<6x8x4xf32>, %[[ROW:.*]]: tensor<1x4xf32>, %[[AT:.*]]: tensor<i32>
// CHECK: stablehlo.while(%[[I:.*]] = %{{.*}}, %[[STACK:.*]] = %[[CACHE]], %{{.*}} = %{{.*}})
// CHECK: do {
// CHECK: %[[PART:.*]] = stablehlo.reshape %[[ROW]] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
// CHECK: %[[NEW:.*]] = stablehlo.dynamic_update_slice %[[STACK]], %[[PART]], %[[I]], %[[AT]], %{{.*}}
// CHECK: stablehlo.dynamic_slice %[[NEW]], %[[I]],
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_update_slice
// CHECK: stablehlo.return %{{.*}}, %[[NEW]], %{{.*}}
func.func @main(%cache: tensor<6x8x4xf32>, %row: tensor<1x4xf32>, %at: tensor<i32>, %x: tensor<8x4xf32>) -> (tensor<6x8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<6x8x4xf32>
  %0:3 = "stablehlo.while"(%zero, %empty, %x) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x8x4xf32>, %y: tensor<8x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x8x4xf32>, %y: tensor<8x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %taken = stablehlo.dynamic_slice %cache, %i, %zero, %zero, sizes = [1, 8, 4] : (tensor<6x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %layer = stablehlo.reshape %taken : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %new = stablehlo.dynamic_update_slice %layer, %row, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %z = stablehlo.multiply %y, %new : tensor<8x4xf32>
    %put = stablehlo.reshape %new : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
    %t = stablehlo.dynamic_update_slice %s, %put, %i, %zero, %zero : (tensor<6x8x4xf32>, tensor<1x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t, %z : tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>
  }) : (tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>) -> (tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>)
  return %0#1, %0#2 : tensor<6x8x4xf32>, tensor<8x4xf32>
}

// -----

// Five of six layers: the last one is zero, not the old one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[CACHE:.*]]: tensor<6x8x4xf32>,
// CHECK: stablehlo.dynamic_slice %[[CACHE]]
func.func @main(%cache: tensor<6x8x4xf32>, %row: tensor<1x4xf32>, %at: tensor<i32>) -> tensor<6x8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<6x8x4xf32>
  %0:2 = "stablehlo.while"(%zero, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x8x4xf32>):
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x8x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %taken = stablehlo.dynamic_slice %cache, %i, %zero, %zero, sizes = [1, 8, 4] : (tensor<6x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %layer = stablehlo.reshape %taken : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %new = stablehlo.dynamic_update_slice %layer, %row, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %put = stablehlo.reshape %new : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
    %t = stablehlo.dynamic_update_slice %s, %put, %i, %zero, %zero : (tensor<6x8x4xf32>, tensor<1x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<6x8x4xf32>
  }) : (tensor<i32>, tensor<6x8x4xf32>) -> (tensor<i32>, tensor<6x8x4xf32>)
  return %0#1 : tensor<6x8x4xf32>
}

// -----

// The new stack is read inside: it must be the new one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[CACHE:.*]]: tensor<6x4xf32>,
// CHECK: stablehlo.dynamic_slice %[[CACHE]]
func.func @main(%cache: tensor<6x4xf32>, %part: tensor<1xf32>, %at: tensor<i32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<6x4xf32>
  %0:3 = "stablehlo.while"(%zero, %empty, %empty) ({
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>, %sum: tensor<6x4xf32>):
    %n = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<6x4xf32>, %sum: tensor<6x4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %taken = stablehlo.dynamic_slice %cache, %i, %zero, sizes = [1, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %layer = stablehlo.reshape %taken : (tensor<1x4xf32>) -> tensor<4xf32>
    %new = stablehlo.dynamic_update_slice %layer, %part, %at : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    %put = stablehlo.reshape %new : (tensor<4xf32>) -> tensor<1x4xf32>
    %t = stablehlo.dynamic_update_slice %s, %put, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %more = stablehlo.add %sum, %s : tensor<6x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t, %more : tensor<i32>, tensor<6x4xf32>, tensor<6x4xf32>
  }) : (tensor<i32>, tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return %0#1, %0#2 : tensor<6x4xf32>, tensor<6x4xf32>
}
