// RUN: spokeshave check %s

module {
  func.func private @double(%x: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %x, %x : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %0 = func.call @double(%three) : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %0, dense<6> : tensor<i32>
    %1 = stablehlo.composite "test.double" %three {decomposition = @double} : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %1, dense<6> : tensor<i32>
    return
  }
}

// -----

func.func @branches() {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%yes) ({
    stablehlo.return %one : tensor<i32>
  }, {
    stablehlo.return %two : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  // Out of range: the last branch.
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %1 = "stablehlo.case"(%minus) ({
    stablehlo.return %one : tensor<i32>
  }, {
    stablehlo.return %two : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  return
}

// -----

func.func @while() {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %ten = stablehlo.constant dense<10> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %sum = %zero) : tensor<i64>, tensor<i64>
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i64>
    %s = stablehlo.add %sum, %next : tensor<i64>
    stablehlo.return %next, %s : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %0#0, dense<10> : tensor<i64>
  check.expect_eq_const %0#1, dense<55> : tensor<i64>
  return
}

// -----

func.func @tuples_tokens_barriers() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.tuple %x, %y : tuple<tensor<i32>, tensor<f32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tensor<f32>>) -> tensor<f32>
  check.expect_eq %1, %y : tensor<f32>
  %2 = stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.after_all %2, %2 : !stablehlo.token
  %4:2 = stablehlo.optimization_barrier %x, %y : tensor<i32>, tensor<f32>
  check.expect_eq %4#0, %x : tensor<i32>
  return
}

// -----

func.func @check_calls() {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.constant dense<1.00000012> : tensor<f32>
  stablehlo.custom_call @check.expect_eq(%x, %x) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%x, %y) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
  stablehlo.custom_call @check.expect_close(%x, %y) {has_side_effect = true, max_ulp_difference = 1 : i64, min_ulp_difference = 1 : i64} : (tensor<f32>, tensor<f32>) -> ()
  check.expect_close %x, %y, max_ulp_difference = 1, min_ulp_difference = 1 : tensor<f32>, tensor<f32>
  %0 = stablehlo.custom_call @Sharding(%x) : (tensor<f32>) -> tensor<f32>
  check.expect_eq %0, %x : tensor<f32>
  return
}
