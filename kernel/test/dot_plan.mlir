// RUN: spokeshave-opt %s --lower-kernels=isa=avx512 --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: spokeshave-opt %s --lower-kernels=isa=avx2 --split-input-file | FileCheck %s --check-prefixes=CHECK,NARROW

// Tiles fill the registers with sums: of 32 registers 14 x 2, of 16 registers 6 x 2, the
// others hold a row of rhs and a broadcast of lhs. The last strip has what is left of the
// rows: 512 = 36 * 14 + 8 = 85 * 6 + 2.
// CHECK-LABEL: kernel.func @square(
// WIDE: kernel.tile_dot
// WIDE-SAME: columns = 32 : i64, rows = 14 : i64
// WIDE: kernel.tile_dot
// WIDE-SAME: columns = 32 : i64, rows = 8 : i64
// NARROW: kernel.tile_dot
// NARROW-SAME: columns = 16 : i64, rows = 6 : i64
// NARROW: kernel.tile_dot
// NARROW-SAME: columns = 16 : i64, rows = 2 : i64
"schedule.kernel"() <{sym_name = "square"}> ({
^bb0(%x: tensor<512x500xf32>, %y: tensor<500x512xf32>):
  %0 = graph.fusion dot "square"(%a = %x : tensor<512x500xf32>, %b = %y : tensor<500x512xf32>) -> tensor<512x512xf32> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x500xf32>, tensor<500x512xf32>) -> tensor<512x512xf32>
    graph.yield %1 : tensor<512x512xf32>
  }
}) : () -> ()

// -----

// Of doubles a register holds half as many columns.
// CHECK-LABEL: kernel.func @doubles(
// WIDE: kernel.tile_dot
// WIDE-SAME: columns = 16 : i64, rows = 14 : i64
// NARROW: kernel.tile_dot
// NARROW-SAME: columns = 8 : i64, rows = 6 : i64
"schedule.kernel"() <{sym_name = "doubles"}> ({
^bb0(%x: tensor<84x250xf64>, %y: tensor<250x512xf64>):
  %0 = graph.fusion dot "doubles"(%a = %x : tensor<84x250xf64>, %b = %y : tensor<250x512xf64>) -> tensor<84x512xf64> {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<84x250xf64>, tensor<250x512xf64>) -> tensor<84x512xf64>
    graph.yield %1 : tensor<84x512xf64>
  }
}) : () -> ()
