// RUN: spokeshave-opt %s --lower-kernels=isa=amx --split-input-file | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: spokeshave-opt %s --lower-kernels=isa=x86-64 --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE

// Tiles read lhs where it lies; rhs is packed in pairs: two rows make one of words.
// CHECK-LABEL: kernel.func @bf16(
// AMX: kernel.load %[[B:.*]][%{{.*}}] : memref<128x96xbf16>, index -> vector<16xi16>
// AMX: kernel.load %[[B]]
// AMX: arith.ori
// AMX: kernel.store {{.*}} : vector<16xi32>
// AMX: kernel.tile_dot %arg1[%{{.*}}]
// AMX-SAME: a_row_stride = 128
// AMX-SAME: columns = 32
// AMX-SAME: depth_pack = 2
// AMX-SAME: rows = 32
// AMX-SAME: unit_rows = 16
// WIDE-NOT: depth_pack
"schedule.kernel"() <{sym_name = "bf16"}> ({
^bb0(%x: tensor<64x128xbf16>, %y: tensor<128x96xbf16>):
  %0 = graph.fusion dot "bf16"(%a = %x : tensor<64x128xbf16>, %b = %y : tensor<128x96xbf16>) -> tensor<64x96xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
    graph.yield %1 : tensor<64x96xf32>
  }
}) : () -> ()

// -----

// More than the default precision keeps denormals, which only wide products do.
// CHECK-LABEL: kernel.func @highest(
// CHECK: kernel.tile_dot
// CHECK-NOT: depth_pack
"schedule.kernel"() <{sym_name = "highest"}> ({
^bb0(%x: tensor<64x128xbf16>, %y: tensor<128x96xbf16>):
  %0 = graph.fusion dot "highest"(%a = %x : tensor<64x128xbf16>, %b = %y : tensor<128x96xbf16>) -> tensor<64x96xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
    graph.yield %1 : tensor<64x96xf32>
  }
}) : () -> ()

// -----

// Bytes of both kinds, seen through their conversions; a depth that must be padded
// keeps lhs from being read in place.
// CHECK-LABEL: kernel.func @bytes(
// AMX: kernel.tile_dot
// AMX-SAME: a_unsigned
// AMX-SAME: depth_pack = 4
// AMX-NOT: b_unsigned
// AMX-SAME: unit_rows = 10
// AMX-SAME: memref<{{[0-9]+}}xi8>, memref<{{[0-9]+}}xi8>, memref<{{[0-9]+}}xi32>
// WIDE: kernel.tile_dot
// WIDE-SAME: memref<{{[0-9]+}}xi32>, memref<{{[0-9]+}}xi32>, memref<{{[0-9]+}}xi32>
"schedule.kernel"() <{sym_name = "bytes"}> ({
^bb0(%x: tensor<20x30xui8>, %y: tensor<30x40xi8>):
  %0 = graph.fusion dot "bytes"(%a = %x : tensor<20x30xui8>, %b = %y : tensor<30x40xi8>) -> tensor<20x40xi32> {
    %1 = stablehlo.convert %a : (tensor<20x30xui8>) -> tensor<20x30xi32>
    %2 = stablehlo.convert %b : (tensor<30x40xi8>) -> tensor<30x40xi32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<20x30xi32>, tensor<30x40xi32>) -> tensor<20x40xi32>
    graph.yield %3 : tensor<20x40xi32>
  }
}) : () -> ()

// -----

// -1 as an unsigned number and then as a float is no byte.
// CHECK-LABEL: kernel.func @no_bytes(
// CHECK: kernel.tile_dot
// CHECK-NOT: depth_pack
"schedule.kernel"() <{sym_name = "no_bytes"}> ({
^bb0(%x: tensor<20x30xi8>, %y: tensor<30x40xi8>):
  %0 = graph.fusion dot "no_bytes"(%a = %x : tensor<20x30xi8>, %b = %y : tensor<30x40xi8>) -> tensor<20x40xf32> {
    %1 = stablehlo.convert %a : (tensor<20x30xi8>) -> tensor<20x30xui16>
    %2 = stablehlo.convert %1 : (tensor<20x30xui16>) -> tensor<20x30xf32>
    %3 = stablehlo.convert %b : (tensor<30x40xi8>) -> tensor<30x40xf32>
    %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0] : (tensor<20x30xf32>, tensor<30x40xf32>) -> tensor<20x40xf32>
    graph.yield %4 : tensor<20x40xf32>
  }
}) : () -> ()
