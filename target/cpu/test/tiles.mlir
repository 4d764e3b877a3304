// Products of tiles: configured once per call of the kernel, released at its end.
// RUN: spokeshave compile --emit=asm --isa=amx %s | FileCheck %s
// RUN: spokeshave compile --emit=asm --isa=avx2 %s | FileCheck %s --check-prefix=AVX2

// CHECK: ldtilecfg
// CHECK: tilezero
// CHECK: tileloadd
// CHECK: tdpbf16ps
// CHECK: tilestored
// CHECK: tilerelease
// CHECK: ldtilecfg
// CHECK: tdpbssd
// CHECK: tilerelease
// AVX2-NOT: tilezero
func.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xi8>)
    -> (tensor<64x64xf32>, tensor<64x64xi32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xi32>
}
