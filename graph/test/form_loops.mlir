// RUN: spokeshave-opt --graph-form-loops --split-input-file %s | FileCheck %s

// A scan over a small state: one fusion holds the loop. The stack that it fills is
// an input, the splat that it begins with is not.
// CHECK-LABEL: func.func @main
// CHECK: %[[STACK:.*]] = stablehlo.broadcast_in_dim
// CHECK: graph.fusion while "while_mul_update_add"(%{{.*}} = %arg0 : tensor<100x3xf32>, %[[IN:.*]] = %[[STACK]] : tensor<100xf32>) -> tensor<100xf32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %[[ZERO]], %{{.*}} = %[[IN]])
// CHECK: graph.yield
// CHECK-NOT: stablehlo.while
func.func @main(%xs: tensor<100x3xf32>) -> tensor<100xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<100> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.constant dense<0.0> : tensor<3xf32>
  %half = stablehlo.constant dense<0.5> : tensor<3xf32>
  %stack = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<100xf32>
  %0:3 = stablehlo.while(%i = %i0, %c = %c0, %y = %stack) : tensor<i32>, tensor<3xf32>, tensor<100xf32>
  cond {
    %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %x = stablehlo.dynamic_slice %xs, %i, %i0, sizes = [1, 3] : (tensor<100x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %v = stablehlo.reshape %x : (tensor<1x3xf32>) -> tensor<3xf32>
    %d = stablehlo.multiply %c, %half : tensor<3xf32>
    %s = stablehlo.slice %c [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %u = stablehlo.dynamic_update_slice %y, %s, %i : (tensor<100xf32>, tensor<1xf32>, tensor<i32>) -> tensor<100xf32>
    %n = stablehlo.add %d, %v : tensor<3xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n, %u : tensor<i32>, tensor<3xf32>, tensor<100xf32>
  }
  return %0#2 : tensor<100xf32>
}

// -----

// A large state that is a batch of small ones.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion while
func.func @main(%x: tensor<1000x4xf32>, %n: tensor<i32>) -> tensor<1000x4xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %i0, %a = %x) : tensor<i32>, tensor<1000x4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %l = stablehlo.slice %a [0:1000, 0:1] : (tensor<1000x4xf32>) -> tensor<1000x1xf32>
    %r = stablehlo.slice %a [0:1000, 1:4] : (tensor<1000x4xf32>) -> tensor<1000x3xf32>
    %b = stablehlo.concatenate %r, %l, dim = 1 : (tensor<1000x3xf32>, tensor<1000x1xf32>) -> tensor<1000x4xf32>
    %s = stablehlo.sine %b : tensor<1000x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s : tensor<i32>, tensor<1000x4xf32>
  }
  return %0#1 : tensor<1000x4xf32>
}

// -----

// Must not fire: members meet their neighbours, so that all must be in memory.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%x: tensor<1000xf32>, %n: tensor<i32>) -> tensor<1000xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %i0, %a = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %l = stablehlo.slice %a [0:1] : (tensor<1000xf32>) -> tensor<1xf32>
    %r = stablehlo.slice %a [1:1000] : (tensor<1000xf32>) -> tensor<999xf32>
    %b = stablehlo.concatenate %r, %l, dim = 0 : (tensor<999xf32>, tensor<1xf32>) -> tensor<1000xf32>
    %s = stablehlo.add %a, %b : tensor<1000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s : tensor<i32>, tensor<1000xf32>
  }
  return %0#1 : tensor<1000xf32>
}

// -----

// Must not fire on the outer loop, whose product is large; the inner one goes.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general
// CHECK: graph.fusion while
// CHECK: stablehlo.while
func.func @main(%w: tensor<200x200xf32>, %x: tensor<200xf32>, %n: tensor<i32>) -> (tensor<200xf32>, tensor<f32>) {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0:3 = stablehlo.while(%i = %i0, %a = %x, %b = %z) : tensor<i32>, tensor<200xf32>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %d = stablehlo.dot_general %w, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, tensor<200xf32>) -> tensor<200xf32>
    %1:2 = stablehlo.while(%k = %i0, %c = %b) : tensor<i32>, tensor<f32>
    cond {
      %p = stablehlo.compare LT, %k, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %e = stablehlo.sine %c : tensor<f32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %l, %e : tensor<i32>, tensor<f32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %d, %1#1 : tensor<i32>, tensor<200xf32>, tensor<f32>
  }
  return %0#1, %0#2 : tensor<200xf32>, tensor<f32>
}

// -----

// Members of a batch that stop one by one: each lane group runs until its own are done.
// CHECK-LABEL: func.func @main
// CHECK: graph.fusion while
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %limit = stablehlo.constant dense<9.0> : tensor<64xf32>
  %0 = stablehlo.while(%a = %x) : tensor<64xf32>
  cond {
    %w = stablehlo.compare LT, %a, %limit, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %p = stablehlo.reduce(%w init: %false) applies stablehlo.or across dimensions = [0] : (tensor<64xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.compare LT, %a, %limit, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %b = stablehlo.add %a, %a : tensor<64xf32>
    %c = stablehlo.select %w, %b, %a : tensor<64xi1>, tensor<64xf32>
    stablehlo.return %c : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Must not fire: done members go on as long as others do.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %limit = stablehlo.constant dense<9.0> : tensor<64xf32>
  %0 = stablehlo.while(%a = %x) : tensor<64xf32>
  cond {
    %w = stablehlo.compare LT, %a, %limit, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %p = stablehlo.reduce(%w init: %false) applies stablehlo.or across dimensions = [0] : (tensor<64xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.add %a, %a : tensor<64xf32>
    stablehlo.return %b : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Must not fire: a trip reads and writes more than it computes, and the members
// lie apart.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fusion
func.func @main(%xs: tensor<100x64x2xf32>, %z: tensor<64xf32>, %stack: tensor<100x64x2xf32>) -> tensor<100x64x2xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<100> : tensor<i32>
  %0:3 = stablehlo.while(%i = %i0, %c = %z, %y = %stack) : tensor<i32>, tensor<64xf32>, tensor<100x64x2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %x = stablehlo.dynamic_slice %xs, %i, %i0, %i0, sizes = [1, 64, 2] : (tensor<100x64x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x2xf32>
    %l = stablehlo.slice %x [0:1, 0:64, 0:1] : (tensor<1x64x2xf32>) -> tensor<1x64x1xf32>
    %v = stablehlo.reshape %l : (tensor<1x64x1xf32>) -> tensor<64xf32>
    %n = stablehlo.add %c, %v : tensor<64xf32>
    %u = stablehlo.dynamic_update_slice %y, %x, %i, %i0, %i0 : (tensor<100x64x2xf32>, tensor<1x64x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<100x64x2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n, %u : tensor<i32>, tensor<64xf32>, tensor<100x64x2xf32>
  }
  return %0#2 : tensor<100x64x2xf32>
}
