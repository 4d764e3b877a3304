// Loops and branches of the driver, checked against the reference interpreter,
// and the same program played at the schedule level.
// RUN: spokeshave run --check --random-args --quiet %s | FileCheck %s
// RUN: spokeshave run --check --random-args=7 --quiet --isa=x86-64 %s | FileCheck %s
// RUN: spokeshave run --check --random-args --quiet --option fusion=off %s | FileCheck %s
// RUN: spokeshave run --check --random-args --quiet --level=schedule %s | FileCheck %s
// CHECK: agrees with the reference

// A counted loop that swaps its values, a loop that looks at its values, a nested
// loop, a case inside a loop, an update of a carried array.
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<100xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %table = stablehlo.constant dense<0.5> : tensor<100xf32>
  %r:5 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %t = %table, %k = %n) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<100xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %at = stablehlo.multiply %i, %two : tensor<i32>
    %t1 = stablehlo.dynamic_update_slice %t, %a, %at : (tensor<100xf32>, tensor<8xf32>, tensor<i32>) -> tensor<100xf32>
    %which = stablehlo.remainder %i, %two : tensor<i32>
    %d = "stablehlo.case"(%which) ({
      %s = stablehlo.cosine %b : tensor<8xf32>
      stablehlo.return %s : tensor<8xf32>
    }, {
      stablehlo.return %b : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %inner:2 = stablehlo.while(%j = %k, %e = %d) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare GT, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %less = stablehlo.subtract %j, %one : tensor<i32>
      %f = stablehlo.reverse %e, dims = [0] : tensor<8xf32>
      stablehlo.return %less, %f : tensor<i32>, tensor<8xf32>
    }
    %more = stablehlo.add %inner#0, %i : tensor<i32>
    stablehlo.return %next, %inner#1, %a, %t1, %more : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<100xf32>, tensor<i32>
  }
  return %r#1, %r#2, %r#3, %r#4 : tensor<8xf32>, tensor<8xf32>, tensor<100xf32>, tensor<i32>
}
