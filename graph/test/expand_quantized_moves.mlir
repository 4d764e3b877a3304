// RUN: spokeshave-opt --graph-expand-quantized %s | FileCheck %s

!q = !quant.uniform<i8:f32, 0.5:-20>

// Signatures become those of the stored integers; what only moves stays.
// CHECK-LABEL: func.func private @moves(%arg0: tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK-NEXT: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK-NEXT: return
func.func private @moves(%a: tensor<2x3x!q>) -> tensor<3x2x!q> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!q>) -> tensor<3x2x!q>
  return %0 : tensor<3x2x!q>
}

// The scale, then nearest even, within the storage type.
// CHECK-LABEL: func.func @quantize(%arg0: tensor<4xf32>) -> tensor<4xi8>
// CHECK: stablehlo.divide
// CHECK: stablehlo.add
// CHECK: stablehlo.clamp
// CHECK: stablehlo.round_nearest_even
// CHECK: stablehlo.convert {{.*}} : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NOT: quant
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!q> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<4xi8>
func.func @plain(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = stablehlo.add %x, %x : tensor<4xi8>
  return %0 : tensor<4xi8>
}
