// Calls of the runtime's library through the driver's table.
// RUN: spokeshave run --check=1e-4 --random-args --quiet %s | FileCheck %s
// RUN: spokeshave compile %s | FileCheck %s --check-prefix=STATS
// CHECK: agrees with the reference
// STATS: 1 library calls, 0 custom calls
func.func @main(%x: tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
  %1 = stablehlo.add %0, %x : tensor<16xcomplex<f32>>
  return %1 : tensor<16xcomplex<f32>>
}
