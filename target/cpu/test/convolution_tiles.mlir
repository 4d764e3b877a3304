// How much code a network's convolutions become. Depths of 144, 288 and 576 are of
// one kind: their copies of lhs have one row stride, so that one tile serves them.
// The 49 rows of a 7x7 image are strips of 13 rows and one of 10, which is as any
// other: no second loop, no second tile.
// RUN: spokeshave compile --emit=kernel --isa=avx512 --threads=1 %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave compile --emit=llvm --isa=avx512 --threads=1 %s | FileCheck %s

// KERNEL-COUNT-3: kernel.tile_dot
// KERNEL-NOT: kernel.tile_dot
// CHECK: define {{.*}}void @tile_dot.14x32.
// CHECK: define {{.*}}void @tile_dot.13x32.
// CHECK-NOT: define {{.*}}void @tile_dot.
func.func @main(%x: tensor<1x28x28x16xf32>, %u: tensor<3x3x16x32xf32>,
                %v: tensor<3x3x32x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x7x7x64xf32> {
  %0 = stablehlo.convolution(%x, %u) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x28x28x32xf32>
  %1 = stablehlo.convolution(%0, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x28x28x32xf32>, tensor<3x3x32x64xf32>) -> tensor<1x14x14x64xf32>
  %2 = stablehlo.convolution(%1, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x14x14x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x7x7x64xf32>
  return %2 : tensor<1x7x7x64xf32>
}
