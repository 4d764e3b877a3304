// Sums of columns whose rows are longer than a task's share of the stream: each task
// takes some columns of all rows, a box that lies row by row in VMEM.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM

// CHECK: kernel.func @reduce
// CHECK: kernel.dma_start %arg1[%{{.*}}] to %{{.*}} counts(%{{.*}}, %{{.*}}) strides [300007, 1] to [[[COUNT:[0-9]+]], 1]
// CHECK: scf.for
// CHECK: kernel.load

// SIM: agrees with the reference
func.func @main(%a: tensor<9x300007xf32>) -> tensor<300007xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<9x300007xf32>, tensor<f32>) -> tensor<300007xf32>
  return %r : tensor<300007xf32>
}
