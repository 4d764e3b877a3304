// Transforms as products: a matrix of roots of unity for short ones, two steps with
// roots of unity between for composite lengths, a convolution where a large prime
// divides the length. Real numbers have no imaginary part to multiply.
// RUN: spokeshave-opt -verify-each --graph-expand-fft %s | FileCheck %s

// CHECK-LABEL: @short
// CHECK: stablehlo.constant {{.*}} : tensor<32x32xf32>
// CHECK: stablehlo.concatenate {{.*}} -> tensor<3x32xf32>
// CHECK: stablehlo.dot_general {{.*}}precision = [HIGHEST, HIGHEST]{{.*}} -> tensor<3x32xf32>
// CHECK: stablehlo.complex
// CHECK-NOT: fft
func.func @short(%x: tensor<3x16xcomplex<f32>>) -> tensor<3x16xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [16] : (tensor<3x16xcomplex<f32>>) -> tensor<3x16xcomplex<f32>>
  return %0 : tensor<3x16xcomplex<f32>>
}

// Nine of sixteen results, of both parts.
// CHECK-LABEL: @of_real
// CHECK: stablehlo.constant {{.*}} : tensor<16x18xf32>
// CHECK-NOT: stablehlo.real
// CHECK: stablehlo.dot_general {{.*}} -> tensor<3x18xf32>
func.func @of_real(%x: tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [16] : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
  return %0 : tensor<3x9xcomplex<f32>>
}

// CHECK-LABEL: @to_real
// CHECK: stablehlo.constant {{.*}} : tensor<18x16xf64>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<3x16xf64>
// CHECK: stablehlo.multiply
func.func @to_real(%x: tensor<3x9xcomplex<f64>>) -> tensor<3x16xf64> {
  %0 = stablehlo.fft %x, type = IRFFT, length = [16] : (tensor<3x9xcomplex<f64>>) -> tensor<3x16xf64>
  return %0 : tensor<3x16xf64>
}

// 1000 = 25 x 40, with numbers of 40 and then of 25 beside each other.
// CHECK-LABEL: @composite
// CHECK: stablehlo.dot_general {{.*}} : (tensor<50x50xf32>, tensor<2x50x40xf32>) -> tensor<50x2x40xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<80x80xf32>, tensor<2x25x80xf32>) -> tensor<80x2x25xf32>
// CHECK-NOT: dot_general
func.func @composite(%x: tensor<2x1000xcomplex<f32>>) -> tensor<2x1000xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [1000] : (tensor<2x1000xcomplex<f32>>) -> tensor<2x1000xcomplex<f32>>
  return %0 : tensor<2x1000xcomplex<f32>>
}

// 257 is a prime: by transforms of 1024 = 32 x 32, there and back.
// CHECK-LABEL: @prime
// CHECK-COUNT-4: stablehlo.dot_general {{.*}} -> tensor<64x2x32xf32>
// CHECK-NOT: dot_general
func.func @prime(%x: tensor<2x257xcomplex<f32>>) -> tensor<2x257xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [257] : (tensor<2x257xcomplex<f32>>) -> tensor<2x257xcomplex<f32>>
  return %0 : tensor<2x257xcomplex<f32>>
}

// Along two dimensions; what has no elements stays.
// CHECK-LABEL: @two
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK-LABEL: @none
// CHECK: stablehlo.fft
func.func @two(%x: tensor<4x6x8xcomplex<f32>>) -> tensor<4x6x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = IFFT, length = [6, 8] : (tensor<4x6x8xcomplex<f32>>) -> tensor<4x6x8xcomplex<f32>>
  return %0 : tensor<4x6x8xcomplex<f32>>
}
func.func @none(%x: tensor<0x8xcomplex<f32>>) -> tensor<0x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<0x8xcomplex<f32>>) -> tensor<0x8xcomplex<f32>>
  return %0 : tensor<0x8xcomplex<f32>>
}
