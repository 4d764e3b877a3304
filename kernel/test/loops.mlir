// RUN: spokeshave-opt %s --lower-kernels=isa=avx512 --split-input-file | FileCheck %s

// Whole tiles of 16 lanes without a mask, then the rest under one.
// CHECK-LABEL: kernel.func @add(
// CHECK-SAME: tasks 1 inputs 1
// CHECK: scf.for
// CHECK: kernel.load %{{.*}} : memref<37xf32>, index -> vector<16xf32>
// CHECK: arith.addf
// CHECK: kernel.store
// CHECK: kernel.load %{{.*}} mask %{{.*}} -> vector<16xf32>
// CHECK: kernel.store {{.*}} mask
"schedule.kernel"() <{sym_name = "add"}> ({
^bb0(%x: tensor<37xf32>):
  %0 = graph.fusion loop "add"(%a = %x : tensor<37xf32>) -> tensor<37xf32> {
    %1 = stablehlo.add %a, %a : tensor<37xf32>
    graph.yield %1 : tensor<37xf32>
  }
}) : () -> ()

// -----

// A product that only a sum reads is contracted; the row's bias is loaded with
// the same loop variable, and both dimensions of the reshape are one loop.
// CHECK-LABEL: kernel.func @contract(
// CHECK: kernel.load %{{.*}}[%{{.*}}] : memref<8x32xf32>, index -> vector<16xf32>
// CHECK: kernel.load %{{.*}}[%{{.*}}] : memref<32xf32>, index -> vector<16xf32>
// CHECK: math.fma
// CHECK-NOT: arith.mulf
"schedule.kernel"() <{sym_name = "contract"}> ({
^bb0(%x: tensor<8x32xf32>, %y: tensor<32xf32>):
  %0 = graph.fusion loop "mul_add"(%a = %x : tensor<8x32xf32>, %b = %y : tensor<32xf32>) -> tensor<8x32xf32> {
    %1 = stablehlo.multiply %a, %a : tensor<8x32xf32>
    %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x32xf32>
    graph.yield %3 : tensor<8x32xf32>
  }
}) : () -> ()

// -----

// Transposes load whole rows and exchange lanes in registers: nothing is gathered.
// CHECK-LABEL: kernel.func @transpose(
// CHECK-COUNT-16: kernel.load {{.*}} : memref<64x32xf32>, index -> vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: lane_stride
"schedule.kernel"() <{sym_name = "transpose"}> ({
^bb0(%x: tensor<64x32xf32>):
  %0 = graph.fusion loop "transpose"(%a = %x : tensor<64x32xf32>) -> tensor<32x64xf32> {
    %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    graph.yield %1 : tensor<32x64xf32>
  }
}) : () -> ()

// -----

// The start of a dynamic_slice is read and clamped once, before the loops.
// CHECK-LABEL: kernel.func @slice(
// CHECK: kernel.load %{{.*}} : memref<i32>, index -> i32
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK-NOT: memref<i32>, index
"schedule.kernel"() <{sym_name = "slice"}> ({
^bb0(%x: tensor<100x64xf32>, %i: tensor<i32>):
  %0 = graph.fusion loop "slice"(%a = %x : tensor<100x64xf32>, %b = %i : tensor<i32>) -> tensor<10x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_slice %a, %b, %c, sizes = [10, 64] : (tensor<100x64xf32>, tensor<i32>, tensor<i32>) -> tensor<10x64xf32>
    %2 = stablehlo.negate %1 : tensor<10x64xf32>
    graph.yield %2 : tensor<10x64xf32>
  }
}) : () -> ()

// -----

// jnp.roll by rows: the row to read is chosen by one comparison, without a mask.
// CHECK-LABEL: kernel.func @roll_rows(
// CHECK: scf.for
// CHECK: %[[BEYOND:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: arith.select %[[BEYOND]], %{{.*}} : index
// CHECK-NOT: mask
// CHECK: kernel.store
"schedule.kernel"() <{sym_name = "roll_rows"}> ({
^bb0(%x: tensor<64x32xf32>):
  %0 = graph.fusion loop "concatenate"(%a = %x : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %1 = stablehlo.slice %a [61:64, 0:32] : (tensor<64x32xf32>) -> tensor<3x32xf32>
    %2 = stablehlo.slice %a [0:61, 0:32] : (tensor<64x32xf32>) -> tensor<61x32xf32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<3x32xf32>, tensor<61x32xf32>) -> tensor<64x32xf32>
    graph.yield %3 : tensor<64x32xf32>
  }
}) : () -> ()

// -----

// By columns the lanes differ: loads under masks. Where all lanes are off, a load's
// address is moved into the buffer: on an unmapped page it would cost a trap.
// CHECK-LABEL: kernel.func @roll_columns(
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[MASK:.*]] : vector<16xi1> into i1
// CHECK: %[[AT:.*]] = arith.select %[[ANY]], %{{.*}}, %{{.*}} : index
// CHECK: kernel.load %{{.*}}[%[[AT]]] mask %[[MASK]]
"schedule.kernel"() <{sym_name = "roll_columns"}> ({
^bb0(%x: tensor<64x32xf32>):
  %0 = graph.fusion loop "concatenate"(%a = %x : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %1 = stablehlo.slice %a [0:64, 29:32] : (tensor<64x32xf32>) -> tensor<64x3xf32>
    %2 = stablehlo.slice %a [0:64, 0:29] : (tensor<64x32xf32>) -> tensor<64x29xf32>
    %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<64x3xf32>, tensor<64x29xf32>) -> tensor<64x32xf32>
    graph.yield %3 : tensor<64x32xf32>
  }
}) : () -> ()
