// RUN: spokeshave-opt %s --pass-pipeline="builtin.module(func.func(graph-rematerialize{limit=12000}))" --verify-each --split-input-file 2>/dev/null | FileCheck %s
// RUN: spokeshave-opt %s --pass-pipeline="builtin.module(func.func(graph-rematerialize{limit=12000}))" --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: spokeshave-opt %s --pass-pipeline="builtin.module(func.func(graph-rematerialize{limit=1000000}))" --split-input-file | FileCheck %s --check-prefix=FITS

// The exponential is made again from the argument before its late use; the sum, which
// has a loop of its own, and what is used at the peak are kept.
// REMARK: remark: computes exp again: 4000 bytes for
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[E:.*]] = graph.fusion loop "exp"
// CHECK: %[[P:.*]] = graph.fusion loop "wide"(%{{.*}} = %[[E]]
// CHECK: %[[AGAIN:.*]] = graph.fusion loop "exp"(%{{.*}} = %arg0
// CHECK: graph.fusion loop "late"(%{{.*}} = %[[AGAIN]]
// FITS-LABEL: func.func @elementwise
// FITS: graph.fusion loop "exp"
// FITS-NOT: graph.fusion loop "exp"
// FITS: return
func.func @elementwise(%x: tensor<1000xf32>) -> (tensor<f32>, tensor<1000xf32>) {
  %e = graph.fusion loop "exp"(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %0 = stablehlo.exponential %a : tensor<1000xf32>
    graph.yield %0 : tensor<1000xf32>
  }
  %w = graph.fusion loop "wide"(%a = %e : tensor<1000xf32>) -> tensor<3000xf32> {
    %0 = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) -> tensor<3000xf32>
    graph.yield %0 : tensor<3000xf32>
  }
  %s = graph.fusion reduce "sum"(%a = %w : tensor<3000xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3000xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %0 : tensor<f32>
  }
  %l = graph.fusion loop "late"(%a = %e : tensor<1000xf32>, %b = %s : tensor<f32>) -> tensor<1000xf32> {
    %c = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %0 = stablehlo.multiply %a, %c : tensor<1000xf32>
    graph.yield %0 : tensor<1000xf32>
  }
  return %s, %l : tensor<f32>, tensor<1000xf32>
}

// -----

// Of a product's two results the second is elementwise work on the first, which is
// kept: it is made again from that. The product is not.
// REMARK: remark: computes dot_tanh again: 4000 bytes for
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[D:.*]]:2 = graph.fusion dot "dot_tanh"
// CHECK-NOT: graph.fusion dot
// CHECK: graph.fusion loop "dot_tanh"(%{{.*}} = %[[D]]#0
// CHECK-NOT: dot_general
// CHECK: graph.fusion loop "late"
func.func @epilogue(%x: tensor<1000x1xf32>, %y: tensor<1x1xf32>) -> tensor<1000x1xf32> {
  %d:2 = graph.fusion dot "dot_tanh"(%a = %x : tensor<1000x1xf32>, %b = %y : tensor<1x1xf32>) -> (tensor<1000x1xf32>, tensor<1000x1xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1000x1xf32>, tensor<1x1xf32>) -> tensor<1000x1xf32>
    %1 = stablehlo.tanh %0 : tensor<1000x1xf32>
    graph.yield %0, %1 : tensor<1000x1xf32>, tensor<1000x1xf32>
  }
  %w = graph.fusion loop "wide"(%a = %d#1 : tensor<1000x1xf32>) -> tensor<3000x1xf32> {
    %0 = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<1000x1xf32>, tensor<1000x1xf32>, tensor<1000x1xf32>) -> tensor<3000x1xf32>
    graph.yield %0 : tensor<3000x1xf32>
  }
  %s = graph.fusion reduce "sum"(%a = %w : tensor<3000x1xf32>) -> tensor<f32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<3000x1xf32>, tensor<f32>) -> tensor<f32>
    graph.yield %0 : tensor<f32>
  }
  %l = graph.fusion loop "late"(%a = %d#0 : tensor<1000x1xf32>, %b = %d#1 : tensor<1000x1xf32>, %c = %s : tensor<f32>) -> tensor<1000x1xf32> {
    %v = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<1000x1xf32>
    %0 = stablehlo.multiply %a, %b : tensor<1000x1xf32>
    %1 = stablehlo.multiply %0, %v : tensor<1000x1xf32>
    graph.yield %1 : tensor<1000x1xf32>
  }
  return %l : tensor<1000x1xf32>
}
