// Attention on the matrix units: boxes of queries, keys, values and the result, both
// products, the softmax between them through the transcendental unit. The causal mask
// hides whole blocks of keys, and is one comparison where the diagonal crosses.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s
// RUN: spokeshave run --target tpu %s --random-args --quiet --check=2e-2
// RUN: spokeshave run --target tpu %s --random-args --quiet --check=2e-2 --option attention=false
// RUN: spokeshave compile --target tpu --chip=v6e --emit=bundles %s | FileCheck %s --check-prefix=STREAM
// RUN: spokeshave time --chip v5e --option attention=false %s | FileCheck %s --check-prefix=APART

// CHECK-COUNT-1: kernel.func
// CHECK: kernel.dma_start
// CHECK: kernel.matrix_latch {{.*}}transposed
// CHECK: arith.cmpi sge, {{.*}} : vector<1024xi32>
// CHECK: arith.maximumf
// CHECK: math.exp2
// CHECK: kernel.matrix_latch
// CHECK-NOT: kernel.func

// The weights of one item, the products of others: in one bundle, with few spills.
// STREAM: kernel @attention.0: {{.*}} registers, {{[0-9]}} spills
// STREAM: exp2.{{.*}} mxu.pop
// STREAM: mxu.latch.t{{.*}} mxu.push

// APART-NOT: attention
func.func @main(%q: tensor<2x1024x64xbf16>, %k: tensor<2x1024x64xbf16>, %v: tensor<2x1024x64xbf16>) -> tensor<2x1024x64xbf16> {
  %low = stablehlo.constant dense<-1.0e30> : tensor<2x1024x1024xf32>
  %scale = stablehlo.constant dense<0.125> : tensor<2x1024x1024xf32>
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x1024x64xbf16>, tensor<2x1024x64xbf16>) -> tensor<2x1024x1024xf32>
  %scaled = stablehlo.multiply %s, %scale : tensor<2x1024x1024xf32>
  %i = stablehlo.iota dim = 0 : tensor<1024x1024xi32>
  %j = stablehlo.iota dim = 1 : tensor<1024x1024xi32>
  %c = stablehlo.compare GE, %i, %j, SIGNED : (tensor<1024x1024xi32>, tensor<1024x1024xi32>) -> tensor<1024x1024xi1>
  %seen = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<1024x1024xi1>) -> tensor<2x1024x1024xi1>
  %z = stablehlo.select %seen, %scaled, %low : tensor<2x1024x1024xi1>, tensor<2x1024x1024xf32>
  %m = stablehlo.reduce(%z init: %inf) applies stablehlo.maximum across dimensions = [2] : (tensor<2x1024x1024xf32>, tensor<f32>) -> tensor<2x1024xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x1024xf32>) -> tensor<2x1024x1024xf32>
  %d = stablehlo.subtract %z, %mb : tensor<2x1024x1024xf32>
  %e = stablehlo.exponential %d : tensor<2x1024x1024xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x1024x1024xf32>, tensor<f32>) -> tensor<2x1024xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x1024xf32>) -> tensor<2x1024x1024xf32>
  %p = stablehlo.divide %e, %lb : tensor<2x1024x1024xf32>
  %w = stablehlo.convert %p : (tensor<2x1024x1024xf32>) -> tensor<2x1024x1024xbf16>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1024x1024xbf16>, tensor<2x1024x64xbf16>) -> tensor<2x1024x64xbf16>
  return %o : tensor<2x1024x64xbf16>
}
