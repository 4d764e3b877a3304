// RUN: spokeshave-opt %s --lower-kernels=isa=avx512 --split-input-file | FileCheck %s

// A row is reduced along the lanes, then halves of the register are combined.
// CHECK-LABEL: kernel.func @rows(
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK: vector.shuffle
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: kernel.store {{.*}} : f32, memref<8xf32>, index
"schedule.kernel"() <{sym_name = "rows"}> ({
^bb0(%x: tensor<8x256xf32>, %i: tensor<f32>):
  %0 = graph.fusion reduce "reduce"(%a = %x : tensor<8x256xf32>, %z = %i : tensor<f32>) -> tensor<8xf32> {
    %1 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x256xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  }
}) : () -> ()

// -----

// Columns: a result per lane, nothing crosses lanes.
// CHECK-LABEL: kernel.func @columns(
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK-NOT: vector.shuffle
"schedule.kernel"() <{sym_name = "columns"}> ({
^bb0(%x: tensor<8x256xf32>, %i: tensor<f32>):
  %0 = graph.fusion reduce "reduce"(%a = %x : tensor<8x256xf32>, %z = %i : tensor<f32>) -> tensor<256xf32> {
    %1 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x256xf32>, tensor<f32>) -> tensor<256xf32>
    graph.yield %1 : tensor<256xf32>
  }
}) : () -> ()
