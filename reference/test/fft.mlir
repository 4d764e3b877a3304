// RUN: spokeshave check %s

func.func @fft_ifft() {
  %x = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]> : tensor<4xcomplex<f64>>
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0), (-2.0, -2.0)]> : tensor<4xcomplex<f64>>, tolerance = 1.0e-15
  %1 = stablehlo.fft %0, type = IFFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_almost_eq %1, %x, tolerance = 1.0e-15 : tensor<4xcomplex<f64>>
  return
}

// -----

// Real transforms of an odd and of an even length, in two dimensions.
func.func @rfft_irfft() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]> : tensor<2x3xf64>
  %0 = stablehlo.fft %x, type = RFFT, length = [2, 3] : (tensor<2x3xf64>) -> tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[[(22.0, 0.0), (-3.5, 2.5980762113533159)], [(-10.0, 0.0), (0.5, -0.8660254037844386)]]> : tensor<2x2xcomplex<f64>>, tolerance = 1.0e-14
  %1 = stablehlo.fft %0, type = IRFFT, length = [2, 3] : (tensor<2x2xcomplex<f64>>) -> tensor<2x3xf64>
  check.expect_almost_eq %1, %x, tolerance = 1.0e-14 : tensor<2x3xf64>
  %y = stablehlo.constant dense<[1.0, -2.0, 0.5, 4.0]> : tensor<4xf32>
  %2 = stablehlo.fft %y, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %3 = stablehlo.fft %2, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_almost_eq %3, %y, tolerance = 1.0e-6 : tensor<4xf32>
  return
}
