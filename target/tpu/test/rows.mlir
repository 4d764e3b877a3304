// Rows are worked on eight at a time: registers of 8 rows by 128 columns, partial
// results along the columns, one reduction within the rows' lanes. What a row shares
// needs no broadcast. Turned off, lanes run along one row.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave compile --target tpu --emit=bundles %s | FileCheck %s --check-prefix=BUNDLES
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM

// The maximum, then the sum of the exponentials; these are kept.
// KERNEL: kernel.func @
// KERNEL: kernel.load_rows
// KERNEL: arith.maximumf
// KERNEL: vector.shuffle
// KERNEL: math.exp2
// KERNEL: kernel.store_rows
// KERNEL: vector.shuffle
// KERNEL: arith.divf
// KERNEL: kernel.store_rows
// KERNEL-NOT: vector.broadcast %{{.*}} : f32

// BUNDLES: rot.lanes.f32x1024
// BUNDLES: exp2.f32x1024

// Ragged rows and columns are masked.
// SIM: agrees with the reference
func.func @main(%a: tensor<37x300xf32>) -> tensor<37x300xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%a init: %lowest) applies stablehlo.maximum across dimensions = [1]
      : (tensor<37x300xf32>, tensor<f32>) -> tensor<37xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<37xf32>) -> tensor<37x300xf32>
  %d = stablehlo.subtract %a, %maxes : tensor<37x300xf32>
  %e = stablehlo.exponential %d : tensor<37x300xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<37x300xf32>, tensor<f32>) -> tensor<37xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<37xf32>) -> tensor<37x300xf32>
  %o = stablehlo.divide %e, %sums : tensor<37x300xf32>
  return %o : tensor<37x300xf32>
}
