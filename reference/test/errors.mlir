// RUN: not spokeshave check --step-limit=1000 %s 2>&1 | FileCheck %s
// What goes wrong while running is an error at the operation.

// CHECK: 'check.expect_eq_const' op failed: at [1] 2 : tensor<i32>, expected 3 : tensor<i32>
func.func @unequal() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  return
}

// -----

// CHECK: 'check.expect_close' op failed: 2 units in the last place, at most 1
func.func @not_close() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.constant dense<0x3F800002> : tensor<f32>
  check.expect_close %0, %1, max_ulp_difference = 1 : tensor<f32>, tensor<f32>
  return
}

// -----

// CHECK: 'stablehlo.dynamic_reshape' op changes the number of elements from 3 to 4
func.func @bad_reshape() {
  %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  // A shape that is computed: the verifier sees constant ones.
  %c = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %1 = stablehlo.add %c, %c : tensor<2xi32>
  %2 = stablehlo.dynamic_reshape %0, %1 : (tensor<3xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  return
}

// -----

// CHECK: 'stablehlo.dynamic_iota' op is asked for a result too large to interpret
func.func @too_large() {
  %0 = stablehlo.constant dense<[1099511627776, 8]> : tensor<2xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  return
}

// -----

// CHECK: 'stablehlo.dynamic_iota' op is asked for a shape with a negative or overflowing size
func.func @negative() {
  %c = stablehlo.constant dense<[1]> : tensor<1xi64>
  %0 = stablehlo.negate %c : tensor<1xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

// CHECK: 'stablehlo.real_dynamic_slice' op slices out of bounds in dimension 0: 1 to 9 step 1 of 3
func.func @bad_slice() {
  %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = stablehlo.constant dense<1> : tensor<1xi32>
  %2 = stablehlo.constant dense<9> : tensor<1xi32>
  %3 = stablehlo.real_dynamic_slice %0, %1, %2, %1 : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  return
}

// -----

// CHECK: 'stablehlo.add' op has operands of different shapes
func.func @dynamic_shapes_differ() {
  %0 = stablehlo.constant dense<2> : tensor<1xi32>
  %1 = stablehlo.constant dense<3> : tensor<1xi32>
  %2 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %3 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %4 = stablehlo.add %2, %3 : tensor<?xi32>
  return
}

// -----

// CHECK: 'stablehlo.custom_call' op calls @nobody, which the interpreter does not know
func.func @unknown_call() {
  stablehlo.custom_call @nobody() {has_side_effect = true} : () -> ()
  return
}

// -----

// CHECK: has nobody at its other end
func.func @no_infeed() {
  %0 = stablehlo.create_token : !stablehlo.token
  %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return
}

// -----

// CHECK: calls and regions nest too deeply
module {
  func.func @main() {
    func.call @main() : () -> ()
    return
  }
}

// -----

// CHECK: 'stablehlo.cross-replica-sum' op waits for processes that never come
module {
  func.func @waits(%x: tensor<i32>) -> tensor<i32> {
    %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @leaves(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@waits], [@leaves]]} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    return
  }
}

// -----

// CHECK: in its replica groups, beyond 1
func.func @no_such_process() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// CHECK: stopped: more than 1000 steps
func.func @endless() {
  %x = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%a = %x) : tensor<i1>
  cond {
    stablehlo.return %a : tensor<i1>
  } do {
    %b = stablehlo.optimization_barrier %a : tensor<i1>
    stablehlo.return %b : tensor<i1>
  }
  return
}

// CHECK: reference: 0.0% of the cases pass, 100.0% are required
