// What is counted of a loop over a stack of weights that updates a table: the
// weights are read where they lie, an update writes its rows alone.
// RUN: spokeshave compile %s | FileCheck %s
// RUN: spokeshave run --check=1e-4 --random-args --quiet %s | FileCheck %s --check-prefix=AGREES
// RUN: spokeshave run --level=reference --random-args --quiet --out %t %s && ls %t0.npy %t1.npy
// RUN: not spokeshave run --level=tea %s 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: spokeshave doctor --measure | FileCheck %s --check-prefix=DOCTOR
// RUN: not spokeshave doctor --guess 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: program: {{[0-9]+}} launches in {{[0-9]+}} regions, {{[0-9]+}} copies of {{[0-9]+}} bytes
// CHECK: an iteration of the loop at {{.*}} (trips 6): {{[0-9]+}} launches in 1 regions, {{[0-9]+}} copies of {{[0-9]+}} bytes, 256 bytes moved by kernels
// A product reads one matrix of 64 by 64, a vector, and writes a vector.
// CHECK: dot_tanh{{.*}} 6 {{.*}} 8192 16900
// AGREES: agrees with the reference
// LEVEL: SKS-U006: no level 'tea'
// DOCTOR: on one thread {{.*}}f32 multiply-add {{[0-9.]+}} GFLOP/s{{.*}}memory read {{[0-9.]+}} GB/s
// OPTION: SKS-U006: no option '--guess'
func.func @main(%weights: tensor<6x64x64xf32>, %x: tensor<1x64xf32>, %table: tensor<6x64xf32>) -> (tensor<1x64xf32>, tensor<6x64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %t = %table) : tensor<i32>, tensor<1x64xf32>, tensor<6x64xf32>
  cond {
    %c = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.dynamic_slice %weights, %i, %zero, %zero, sizes = [1, 64, 64] : (tensor<6x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %m = stablehlo.reshape %w : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %y = stablehlo.dot_general %v, %m, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    %z = stablehlo.tanh %y : tensor<1x64xf32>
    %u = stablehlo.dynamic_update_slice %t, %z, %i, %zero : (tensor<6x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<6x64xf32>
    stablehlo.return %next, %z, %u : tensor<i32>, tensor<1x64xf32>, tensor<6x64xf32>
  }
  return %r#1, %r#2 : tensor<1x64xf32>, tensor<6x64xf32>
}
