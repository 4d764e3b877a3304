// On a device of two cores the tasks of a long kernel are cut in two, a part for each
// core. A short one stays on one core, and so does one whose tasks write one result.
// RUN: spokeshave compile --target=tpu --chip=v5p --emit=kernel %s | FileCheck %s
// RUN: spokeshave compile --target=tpu --chip=v5p --option=megacore=off --emit=kernel %s | FileCheck %s --check-prefix=ONE
// RUN: spokeshave compile --target=tpu --chip=v7x --emit=kernel %s | FileCheck %s --check-prefix=ONE
// RUN: spokeshave time --chip=v5p --json %s | FileCheck %s --check-prefix=JSON

// CHECK-DAG: kernel.func @dot{{.*}} tasks 2
// CHECK-DAG: kernel.func @add{{.*}} tasks 1
// CHECK-DAG: kernel.func @reduce{{.*}} tasks 1
// ONE-NOT: tasks 2
// JSON: "cores": 2
func.func @main(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<64x64xf32>)
    -> (tensor<2048x2048xf32>, tensor<64x64xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = stablehlo.add %c, %c : tensor<64x64xf32>
  %2 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<2048x2048xf32>, tensor<64x64xf32>, tensor<f32>
}
