// Two products with other epilogues pack alike and multiply in equal tiles: both
// are functions that the kernels call.
// RUN: spokeshave compile --emit=llvm --isa=avx2 --threads=1 %s | FileCheck %s
// RUN: spokeshave compile --timing --isa=avx2 --threads=1 %s | FileCheck %s --check-prefix=OBJECTS

// CHECK-LABEL: define {{.*}}void @dot_exp.0(
// CHECK: call void @loop.[[PACK:[0-9a-f]+]](
// CHECK: call void @tile_dot.[[TILE:[0-9a-fx.]+]](
// CHECK: define {{.*}}void @loop.[[PACK]](
// CHECK: define {{.*}}void @tile_dot.[[TILE]](
// CHECK: define {{.*}}void @dot_sine.0(
// CHECK: call void @loop.[[PACK]](
// CHECK: call void @tile_dot.[[TILE]](
// CHECK-NOT: define {{.*}}void @tile_dot.
// OBJECTS: 2 kernels in {{[34]}} objects, 0 of them shared
func.func @main(%x: tensor<120x96xf32>, %y: tensor<96x64xf32>, %z: tensor<120x96xf32>)
    -> (tensor<120x64xf32>, tensor<120x64xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<120x96xf32>, tensor<96x64xf32>) -> tensor<120x64xf32>
  %1 = stablehlo.exponential %0 : tensor<120x64xf32>
  %2 = stablehlo.dot_general %z, %y, contracting_dims = [1] x [0]
    : (tensor<120x96xf32>, tensor<96x64xf32>) -> tensor<120x64xf32>
  %3 = stablehlo.sine %2 : tensor<120x64xf32>
  return %1, %3 : tensor<120x64xf32>, tensor<120x64xf32>
}
