// RUN: spokeshave-opt %s --lower-kernels=isa=avx512 --split-input-file | FileCheck %s

// A single state: three scalars are carried, the stack is written where it lies.
// So many trips look at the cancel word.
// CHECK-LABEL: kernel.func @single(
// CHECK-SAME: %{{[a-z0-9]*}}: index, %[[X:[a-z0-9]*]]: memref<3xf32>, %{{[a-z0-9]*}}: memref<9000000xf32>, %[[Y:[a-z0-9]*]]: memref<9000000xf32>)
// CHECK-SAME: tasks 1 inputs 2 attributes {{.*}}polls_cancel
// CHECK-COUNT-3: kernel.load %[[X]]
// CHECK: scf.while
// CHECK: kernel.cancelled
// CHECK: scf.condition
// CHECK-NOT: kernel.load
// CHECK: math.fma
// CHECK: kernel.store %{{.*}}, %[[Y]]
// CHECK: scf.yield
// CHECK-NOT: kernel.store
schedule.kernel @single(%x: tensor<3xf32>, %y: tensor<9000000xf32>) {
  %0 = graph.fusion while "loop"(%a = %x : tensor<3xf32>, %b = %y : tensor<9000000xf32>) -> tensor<9000000xf32> {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.constant dense<9000000> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<3xf32>
    %1:3 = stablehlo.while(%i = %i0, %c = %a, %s = %b) : tensor<i32>, tensor<3xf32>, tensor<9000000xf32> attributes {graph.trip_count = 9000000 : i64}
    cond {
      %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %r = stablehlo.reverse %c, dims = [0] : tensor<3xf32>
      %m = stablehlo.multiply %r, %half : tensor<3xf32>
      %n = stablehlo.add %m, %c : tensor<3xf32>
      %f = stablehlo.slice %c [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %s, %f, %i : (tensor<9000000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<9000000xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %n, %u : tensor<i32>, tensor<3xf32>, tensor<9000000xf32>
    }
    graph.yield %1#2 : tensor<9000000xf32>
  }
}

// -----

// A batch: a task takes lanes of it through all trips; the counter is one for all.
// CHECK-LABEL: kernel.func @batch(
// CHECK-SAME: tasks {{16|32|63}} inputs 1
// CHECK-NOT: polls_cancel
// CHECK-COUNT-2: kernel.load {{.*}}lane_stride = 2{{.*}} -> vector<{{16|32|64}}xf32>
// CHECK: scf.for {{.*}} -> (i32, vector<{{16|32|64}}xf32>, vector<{{16|32|64}}xf32>)
// CHECK: math.fma {{.*}} : vector<{{16|32|64}}xf32>
// CHECK: scf.yield
// CHECK-COUNT-2: kernel.store {{.*}}lane_stride = 2
schedule.kernel @batch(%x: tensor<1000x2xf32>) {
  %0 = graph.fusion while "loop"(%a = %x : tensor<1000x2xf32>) -> tensor<1000x2xf32> {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.constant dense<100> : tensor<i32>
    %1:2 = stablehlo.while(%i = %i0, %c = %a) : tensor<i32>, tensor<1000x2xf32> attributes {graph.trip_count = 100 : i64}
    cond {
      %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %r = stablehlo.reverse %c, dims = [1] : tensor<1000x2xf32>
      %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000x2xf32>
      %m = stablehlo.multiply %r, %g : tensor<1000x2xf32>
      %n = stablehlo.add %m, %c : tensor<1000x2xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %n : tensor<i32>, tensor<1000x2xf32>
    }
    graph.yield %1#1 : tensor<1000x2xf32>
  }
}

// -----

// A branch on a scalar is a branch; only what it gives is carried over.
// CHECK-LABEL: kernel.func @branch(
// CHECK: scf.while
// CHECK: arith.cmpf
// CHECK: scf.condition
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: math.sqrt
// CHECK: else
// CHECK: arith.addf
schedule.kernel @branch(%x: tensor<f32>) {
  %0 = graph.fusion while "loop"(%a = %x : tensor<f32>) -> tensor<f32> {
    %limit = stablehlo.constant dense<9.0> : tensor<f32>
    %1 = stablehlo.while(%c = %a) : tensor<f32>
    cond {
      %p = stablehlo.compare LT, %c, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %q = stablehlo.compare GT, %c, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %n = "stablehlo.if"(%q) ({
        %r = stablehlo.sqrt %c : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }, {
        %r = stablehlo.add %c, %a : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %n : tensor<f32>
    }
    graph.yield %1 : tensor<f32>
  }
}
