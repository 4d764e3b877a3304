// RUN: spokeshave-opt %s --pass-pipeline='builtin.module(func.func(graph-lift-constants))' --split-input-file | FileCheck %s

// Four steps that differ in a number are one kernel with an input more.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK: graph.fusion loop "sine_add"(%{{.*}} = %{{.*}} : tensor<8xf32>, %[[N:.*]] = %[[A]] : tensor<f32>)
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// The constant that all have stays inside.
// CHECK: stablehlo.constant dense<5.000000e-01>
// CHECK: stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK: stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK: stablehlo.constant dense<4.000000e+00> : tensor<f32>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.fusion loop "sine_add"(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %h = stablehlo.constant dense<0.5> : tensor<8xf32>
    %s = stablehlo.sine %a : tensor<8xf32>
    %m = stablehlo.multiply %s, %h : tensor<8xf32>
    %r = stablehlo.add %m, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %1 = graph.fusion loop "sine_add"(%a = %0 : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<8xf32>
    %h = stablehlo.constant dense<0.5> : tensor<8xf32>
    %s = stablehlo.sine %a : tensor<8xf32>
    %m = stablehlo.multiply %s, %h : tensor<8xf32>
    %r = stablehlo.add %m, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %2 = graph.fusion loop "sine_add"(%a = %1 : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<3.0> : tensor<8xf32>
    %h = stablehlo.constant dense<0.5> : tensor<8xf32>
    %s = stablehlo.sine %a : tensor<8xf32>
    %m = stablehlo.multiply %s, %h : tensor<8xf32>
    %r = stablehlo.add %m, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %3 = graph.fusion loop "sine_add"(%a = %2 : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<4.0> : tensor<8xf32>
    %h = stablehlo.constant dense<0.5> : tensor<8xf32>
    %s = stablehlo.sine %a : tensor<8xf32>
    %m = stablehlo.multiply %s, %h : tensor<8xf32>
    %r = stablehlo.add %m, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  return %3 : tensor<8xf32>
}

// -----

// Two kernels are not worth it, nor are integers, which may be positions.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tensor<f32>
// CHECK-NOT: tensor<i32>
// CHECK: return
func.func @main(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0 = graph.fusion loop "add"(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %r = stablehlo.add %a, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %1 = graph.fusion loop "add"(%a = %0 : tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<8xf32>
    %r = stablehlo.add %a, %c : tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %2 = graph.fusion loop "iadd"(%a = %i : tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<1> : tensor<8xi32>
    %r = stablehlo.add %a, %c : tensor<8xi32>
    graph.yield %r : tensor<8xi32>
  }
  %3 = graph.fusion loop "iadd"(%a = %2 : tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<2> : tensor<8xi32>
    %r = stablehlo.add %a, %c : tensor<8xi32>
    graph.yield %r : tensor<8xi32>
  }
  %4 = graph.fusion loop "iadd"(%a = %3 : tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<3> : tensor<8xi32>
    %r = stablehlo.add %a, %c : tensor<8xi32>
    graph.yield %r : tensor<8xi32>
  }
  %5 = graph.fusion loop "iadd"(%a = %4 : tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<4> : tensor<8xi32>
    %r = stablehlo.add %a, %c : tensor<8xi32>
    graph.yield %r : tensor<8xi32>
  }
  return %1, %5 : tensor<8xf32>, tensor<8xi32>
}
