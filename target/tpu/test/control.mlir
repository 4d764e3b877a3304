// Loops and branches of the program are the sequencer's; integers do not take the
// matrix units; rows are reduced in VMEM.
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s

// CHECK: agrees with the reference
func.func @main(%a: tensor<5x40xi32>, %n: tensor<i32>, %x: tensor<30x100xf32>) -> (tensor<5x5xi32>, tensor<30x100xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %product = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<5x40xi32>, tensor<5x40xi32>) -> tensor<5x5xi32>
  %i, %y = stablehlo.while(%c = %n, %v = %x) : tensor<i32>, tensor<30x100xf32>
   cond {
    %limit = stablehlo.constant dense<12> : tensor<i32>
    %go = stablehlo.compare LT, %c, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<30x100xf32>, tensor<f32>) -> tensor<30xf32>
    %rows = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<30xf32>) -> tensor<30x100xf32>
    %scaled = stablehlo.tanh %rows : tensor<30x100xf32>
    %mixed = stablehlo.add %v, %scaled : tensor<30x100xf32>
    %next = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %next, %mixed : tensor<i32>, tensor<30x100xf32>
  }
  return %product, %y : tensor<5x5xi32>, tensor<30x100xf32>
}
