// Attention in blocks against the reference: several blocks of keys and one that is
// shorter, rows that no block divides, a causal mask and a bias. Once per instruction
// set, since blocks and tiles depend on it.
// RUN: spokeshave run %s --random-args --quiet --check=2e-5 --isa=avx2
// RUN: spokeshave run %s --random-args --quiet --check=2e-5 --isa=x86-64
// RUN: spokeshave run %s --random-args --quiet --check=2e-5
// RUN: spokeshave run %s --random-args --quiet --check=2e-5 --option attention=false
// RUN: spokeshave compile --emit=kernel %s | FileCheck %s
// RUN: spokeshave compile --emit=graph --option attention=false %s | FileCheck %s --check-prefix=APART

// The maximum of a row, its exponentials, then the second product onto what is mixed.
// CHECK: kernel.func {{.*}}fusion_name = "attention"
// CHECK: kernel.tile_dot {{.*}}accumulate = false
// CHECK: arith.maximumf
// CHECK: kernel.tile_dot {{.*}}accumulate = true
// CHECK-NOT: kernel.func

// APART-NOT: attention
func.func @main(%q: tensor<2x150x24xf32>, %k: tensor<2x1000x24xf32>, %v: tensor<2x1000x40xf32>, %bias: tensor<1000xf32>) -> tensor<2x150x40xf32> {
  %low = stablehlo.constant dense<-1.0e9> : tensor<2x150x1000xf32>
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x150x24xf32>, tensor<2x1000x24xf32>) -> tensor<2x150x1000xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [2] : (tensor<1000xf32>) -> tensor<2x150x1000xf32>
  %sb = stablehlo.add %s, %b : tensor<2x150x1000xf32>
  %i = stablehlo.iota dim = 0 : tensor<150x1000xi32>
  %ahead = stablehlo.constant dense<400> : tensor<150x1000xi32>
  %ia = stablehlo.add %i, %ahead : tensor<150x1000xi32>
  %j = stablehlo.iota dim = 1 : tensor<150x1000xi32>
  %c = stablehlo.compare GE, %ia, %j, SIGNED : (tensor<150x1000xi32>, tensor<150x1000xi32>) -> tensor<150x1000xi1>
  %seen = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<150x1000xi1>) -> tensor<2x150x1000xi1>
  %z = stablehlo.select %seen, %sb, %low : tensor<2x150x1000xi1>, tensor<2x150x1000xf32>
  %m = stablehlo.reduce(%z init: %inf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x150x1000xf32>, tensor<f32>) -> tensor<2x150xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x150xf32>) -> tensor<2x150x1000xf32>
  %d = stablehlo.subtract %z, %mb : tensor<2x150x1000xf32>
  %e = stablehlo.exponential %d : tensor<2x150x1000xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x150x1000xf32>, tensor<f32>) -> tensor<2x150xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x150xf32>) -> tensor<2x150x1000xf32>
  %p = stablehlo.divide %e, %lb : tensor<2x150x1000xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x150x1000xf32>, tensor<2x1000x40xf32>) -> tensor<2x150x40xf32>
  return %o : tensor<2x150x40xf32>
}
