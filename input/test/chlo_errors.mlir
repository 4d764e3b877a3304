// RUN: not spokeshave check %s 2>&1 | FileCheck %s
// What chlo is not defined for, or has no text for, is an error at its line.

// CHECK: SKS-U003: {{.*}}:[[#]]:8: 'chlo.acos' op is not defined for 'tensor<2xi32>'
func.func @integers() {
  %0 = stablehlo.constant dense<1> : tensor<2xi32>
  %1 = chlo.acos %0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

// CHECK: SKS-U003: {{.*}} 'chlo.top_k' op takes at most as many elements as a line has, got 3
func.func @too_many() {
  %0 = stablehlo.constant dense<1> : tensor<2xi32>
  %1:2 = chlo.top_k(%0, k = 3) : tensor<2xi32> -> (tensor<3xi32>, tensor<3xi32>)
  return
}

// -----

// CHECK: SKS-U003: {{.*}} 'chlo.broadcast_add' op cannot bring 'tensor<2xi32>' to its result's shape
func.func @broadcast() {
  %0 = stablehlo.constant dense<1> : tensor<2xi32>
  %1 = stablehlo.constant dense<1> : tensor<3xi32>
  %2 = chlo.broadcast_add %0, %1 : (tensor<2xi32>, tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

// CHECK: SKS-U002: {{.*}} 'chlo.scan' op has a body that does not give slices
func.func @scan() {
  %0 = stablehlo.constant dense<1> : tensor<2xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2:2 = chlo.scan(%0) inits(%1) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  } : (tensor<2xi32>, tensor<i32>) -> (tensor<2xi32>, tensor<i32>)
  return
}

// -----

// CHECK: SKS-U001: {{.*}} no attribute of chlo: sugar
func.func @attribute() attributes {a = #chlo<sugar X>} {
  return
}

// -----

// CHECK: SKS-U003: {{.*}} 'chlo.ragged_dot' op needs a group dimension
func.func @groups() {
  %0 = stablehlo.constant dense<1> : tensor<2x2xi32>
  %1 = stablehlo.constant dense<1> : tensor<2xi32>
  %2 = "chlo.ragged_dot"(%0, %0, %1) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],
      lhs_ragged_dimensions = [0]>
  } : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}
