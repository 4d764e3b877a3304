// RUN: spokeshave-opt --graph-form-attention --split-input-file %s | FileCheck %s --check-prefixes=CHECK,ANY
// RUN: spokeshave-opt --graph-form-attention=one-pass --split-input-file %s | FileCheck %s --check-prefixes=CHECK,ONE

// Products in normal form around a softmax, with a scale and a causal mask. The mask is
// computed inside, queries are read through their transpose, the result leaves where it
// is wanted.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = graph.fusion attention "attention"(%{{.*}} = %arg0 : tensor<2x64x4x32xf32>, %{{.*}} = %arg1 : tensor<8x32x64xf32>, %{{.*}} = %arg2 : tensor<8x64x16xf32>) -> tensor<2x64x4x16xf32>
// CHECK: stablehlo.iota
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: graph.yield
// CHECK: return %[[A]]
func.func @main(%x: tensor<2x64x4x32xf32>, %k: tensor<8x32x64xf32>, %v: tensor<8x64x16xf32>) -> tensor<2x64x4x16xf32> {
  %scale = stablehlo.constant dense<0.125> : tensor<8x64x64xf32>
  %low = stablehlo.constant dense<-1.0e9> : tensor<8x64x64xf32>
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<2x64x4x32xf32>) -> tensor<2x4x64x32xf32>
  %q = stablehlo.reshape %t : (tensor<2x4x64x32xf32>) -> tensor<8x64x32xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x64x32xf32>, tensor<8x32x64xf32>) -> tensor<8x64x64xf32>
  %scaled = stablehlo.multiply %s, %scale : tensor<8x64x64xf32>
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %c = stablehlo.compare GE, %i, %j, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %seen = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<64x64xi1>) -> tensor<8x64x64xi1>
  %z = stablehlo.select %seen, %scaled, %low : tensor<8x64x64xi1>, tensor<8x64x64xf32>
  %m = stablehlo.reduce(%z init: %inf) applies stablehlo.maximum across dimensions = [2] : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x64xf32>
  %d = stablehlo.subtract %z, %mb : tensor<8x64x64xf32>
  %e = stablehlo.exponential %d : tensor<8x64x64xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x64xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x64x64xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x64x64xf32>, tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  %r = stablehlo.reshape %o : (tensor<8x64x16xf32>) -> tensor<2x4x64x16xf32>
  %out = stablehlo.transpose %r, dims = [0, 2, 1, 3] : (tensor<2x4x64x16xf32>) -> tensor<2x64x4x16xf32>
  return %out : tensor<2x64x4x16xf32>
}

// -----

// Weights as the right factor, in another order of dimensions, and in bf16; the
// maximum is guarded.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion attention
// CHECK: graph.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @main(%q: tensor<6x64x32xbf16>, %k: tensor<6x32x96xbf16>, %v: tensor<6x16x96xbf16>) -> tensor<6x16x64xbf16> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<2x3x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<2x3x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x64x32xbf16>, tensor<6x32x96xbf16>) -> tensor<6x64x96xf32>
  %z = stablehlo.reshape %s : (tensor<6x64x96xf32>) -> tensor<2x3x64x96xf32>
  %m = stablehlo.reduce(%z init: %inf) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x64x96xf32>, tensor<f32>) -> tensor<2x3x64xf32>
  %g = stablehlo.maximum %low, %m : tensor<2x3x64xf32>
  %f = stablehlo.is_finite %g : (tensor<2x3x64xf32>) -> tensor<2x3x64xi1>
  %h = stablehlo.select %f, %g, %none : tensor<2x3x64xi1>, tensor<2x3x64xf32>
  %mb = stablehlo.broadcast_in_dim %h, dims = [0, 1, 2] : (tensor<2x3x64xf32>) -> tensor<2x3x64x96xf32>
  %d = stablehlo.subtract %z, %mb : tensor<2x3x64x96xf32>
  %e = stablehlo.exponential %d : tensor<2x3x64x96xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x64x96xf32>, tensor<f32>) -> tensor<2x3x64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x3x64xf32>) -> tensor<2x3x64x96xf32>
  %p = stablehlo.divide %e, %lb : tensor<2x3x64x96xf32>
  %b = stablehlo.convert %p : (tensor<2x3x64x96xf32>) -> tensor<2x3x64x96xbf16>
  %t = stablehlo.transpose %b, dims = [0, 1, 3, 2] : (tensor<2x3x64x96xbf16>) -> tensor<2x3x96x64xbf16>
  %w = stablehlo.reshape %t : (tensor<2x3x96x64xbf16>) -> tensor<6x96x64xbf16>
  %o = stablehlo.dot_general %v, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x16x96xbf16>, tensor<6x96x64xbf16>) -> tensor<6x16x64xbf16>
  return %o : tensor<6x16x64xbf16>
}

// -----

// The weights are a result as well: they have to be a tensor.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%q: tensor<64x32xf32>, %k: tensor<32x96xf32>, %v: tensor<96x16xf32>) -> (tensor<64x16xf32>, tensor<64x96xf32>) {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x96xf32>) -> tensor<64x96xf32>
  %m = stablehlo.reduce(%s init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %d = stablehlo.subtract %s, %mb : tensor<64x96xf32>
  %e = stablehlo.exponential %d : tensor<64x96xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x96xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x16xf32>) -> tensor<64x16xf32>
  return %o, %p : tensor<64x16xf32>, tensor<64x96xf32>
}

// -----

// The scores are read by another sum.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%q: tensor<64x32xf32>, %k: tensor<32x96xf32>, %v: tensor<96x16xf32>) -> (tensor<64x16xf32>, tensor<64xf32>) {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x96xf32>) -> tensor<64x96xf32>
  %m = stablehlo.reduce(%s init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %d = stablehlo.subtract %s, %mb : tensor<64x96xf32>
  %e = stablehlo.exponential %d : tensor<64x96xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x96xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x16xf32>) -> tensor<64x16xf32>
  %other = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  return %o, %other : tensor<64x16xf32>, tensor<64xf32>
}

// -----

// A softmax along the rows is none along the keys.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%q: tensor<64x32xf32>, %k: tensor<32x64xf32>, %v: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %m = stablehlo.reduce(%s init: %inf) applies stablehlo.maximum across dimensions = [0] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %d = stablehlo.subtract %s, %mb : tensor<64x64xf32>
  %e = stablehlo.exponential %d : tensor<64x64xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x64xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %o : tensor<64x16xf32>
}

// -----

// The sum is of something else than the weights.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%q: tensor<64x32xf32>, %k: tensor<32x96xf32>, %v: tensor<96x16xf32>, %u: tensor<64x96xf32>) -> tensor<64x16xf32> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x96xf32>) -> tensor<64x96xf32>
  %m = stablehlo.reduce(%s init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %d = stablehlo.subtract %s, %mb : tensor<64x96xf32>
  %e = stablehlo.exponential %d : tensor<64x96xf32>
  %l = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x96xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x16xf32>) -> tensor<64x16xf32>
  return %o : tensor<64x16xf32>
}

// -----

// Scores that are no product, too few rows, f64.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%s: tensor<64x96xf32>, %v: tensor<96x16xf32>, %q: tensor<2x32xf32>, %k: tensor<32x96xf32>) -> (tensor<64x16xf32>, tensor<2x16xf32>) {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%s init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %d = stablehlo.subtract %s, %mb : tensor<64x96xf32>
  %e = stablehlo.exponential %d : tensor<64x96xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x96xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x16xf32>) -> tensor<64x16xf32>
  %s2 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x96xf32>) -> tensor<2x96xf32>
  %m2 = stablehlo.reduce(%s2 init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<2x96xf32>, tensor<f32>) -> tensor<2xf32>
  %mb2 = stablehlo.broadcast_in_dim %m2, dims = [0] : (tensor<2xf32>) -> tensor<2x96xf32>
  %d2 = stablehlo.subtract %s2, %mb2 : tensor<2x96xf32>
  %e2 = stablehlo.exponential %d2 : tensor<2x96xf32>
  %l2 = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x96xf32>, tensor<f32>) -> tensor<2xf32>
  %lb2 = stablehlo.broadcast_in_dim %l2, dims = [0] : (tensor<2xf32>) -> tensor<2x96xf32>
  %p2 = stablehlo.divide %e2, %lb2 : tensor<2x96xf32>
  %o2 = stablehlo.dot_general %p2, %v, contracting_dims = [1] x [0] : (tensor<2x96xf32>, tensor<96x16xf32>) -> tensor<2x16xf32>
  return %o, %o2 : tensor<64x16xf32>, tensor<2x16xf32>
}

// -----

// Where units multiply bf16, a kernel of one pass would not be as precise as asked.
// CHECK-LABEL: func.func @main
// ANY: graph.fusion attention
// ONE-NOT: graph.fusion attention
func.func @main(%q: tensor<64x32xf32>, %k: tensor<32x64xf32>, %v: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %m = stablehlo.reduce(%z init: %inf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %d = stablehlo.subtract %z, %mb : tensor<64x64xf32>
  %e = stablehlo.exponential %d : tensor<64x64xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %p = stablehlo.divide %e, %lb : tensor<64x64xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %o : tensor<64x16xf32>
}
