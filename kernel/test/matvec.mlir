// RUN: spokeshave-opt %s --lower-kernels=isa=avx512 --split-input-file | FileCheck %s

// Lanes run along the depth for eight rows at once; then their sums are one
// register, and what the fusion does with them has its lanes along the rows.
// CHECK-LABEL: kernel.func @matvec(
// CHECK-NOT: kernel.tile_dot
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// CHECK: kernel.store {{.*}} : vector<8xf32>
// CHECK: kernel.load {{.*}} -> vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: kernel.store {{.*}} : vector<16xf32>, memref<256x1xf32>
"schedule.kernel"() <{sym_name = "matvec"}> ({
^bb0(%x: tensor<256x1024xf32>, %y: tensor<1024x1xf32>, %z: tensor<256x1xf32>):
  %0 = graph.fusion dot "dot_add"(%a = %x : tensor<256x1024xf32>, %b = %y : tensor<1024x1xf32>, %c = %z : tensor<256x1xf32>) -> tensor<256x1xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x1xf32>) -> tensor<256x1xf32>
    %2 = stablehlo.add %1, %c : tensor<256x1xf32>
    graph.yield %2 : tensor<256x1xf32>
  }
}) : () -> ()

// -----

// The vector from the left and the matrix transposed: the same.
// CHECK-LABEL: kernel.func @vecmat(
// CHECK-NOT: kernel.tile_dot
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
"schedule.kernel"() <{sym_name = "vecmat"}> ({
^bb0(%y: tensor<1x1024xf32>, %x: tensor<256x1024xf32>):
  %0 = graph.fusion dot "dot"(%a = %y : tensor<1x1024xf32>, %b = %x : tensor<256x1024xf32>) -> tensor<1x256xf32> {
    %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %1 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<1x1024xf32>, tensor<1024x256xf32>) -> tensor<1x256xf32>
    graph.yield %1 : tensor<1x256xf32>
  }
}) : () -> ()

// -----

// Rows beside each other: tiles stream over them, with the operands swapped.
// CHECK-LABEL: kernel.func @along_rows(
// CHECK: kernel.tile_dot {{.*}}rows = 1
"schedule.kernel"() <{sym_name = "along_rows"}> ({
^bb0(%x: tensor<1024x256xf32>, %y: tensor<1024x1xf32>):
  %0 = graph.fusion dot "dot"(%a = %x : tensor<1024x256xf32>, %b = %y : tensor<1024x1xf32>) -> tensor<256x1xf32> {
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %1 = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x1xf32>) -> tensor<256x1xf32>
    graph.yield %1 : tensor<256x1xf32>
  }
}) : () -> ()

// -----

// A large matrix is read some rows at a time; the sums of a task's columns wait in
// scratch.
// CHECK-LABEL: kernel.func @streams(
// CHECK: %[[S:.*]] = kernel.scratch
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK: scf.for
// CHECK: kernel.tile_dot {{.*}} to %[[S]]{{.*}} accumulate = true{{.*}} rows = 1
// CHECK: kernel.load %[[S]]
// CHECK: kernel.store
"schedule.kernel"() <{sym_name = "streams"}> ({
^bb0(%y: tensor<1x1024xbf16>, %x: tensor<1024x1000xbf16>):
  %0 = graph.fusion dot "dot"(%a = %y : tensor<1x1024xbf16>, %b = %x : tensor<1024x1000xbf16>) -> tensor<1x1000xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x1024xbf16>, tensor<1024x1000xbf16>) -> tensor<1x1000xf32>
    graph.yield %1 : tensor<1x1000xf32>
  }
}) : () -> ()

// -----

// Many columns are a matrix: tiles.
// CHECK-LABEL: kernel.func @matmul(
// CHECK: kernel.tile_dot
"schedule.kernel"() <{sym_name = "matmul"}> ({
^bb0(%x: tensor<256x1024xf32>, %y: tensor<1024x64xf32>):
  %0 = graph.fusion dot "dot"(%a = %x : tensor<256x1024xf32>, %b = %y : tensor<1024x64xf32>) -> tensor<256x64xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x64xf32>) -> tensor<256x64xf32>
    graph.yield %1 : tensor<256x64xf32>
  }
}) : () -> ()
