// RUN: spokeshave check %s

func.func @float64() {
  %x = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf64>
  %y = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf64>
  %0 = stablehlo.atan2 %x, %y : tensor<2xf64>
  check.expect_almost_eq_const %0, dense<[0.4636476090008061, 2.5535900500422257]> : tensor<2xf64>, tolerance = 1.0e-15
  %1 = stablehlo.cbrt %x : tensor<2xf64>
  check.expect_almost_eq_const %1, dense<[0.7937005259840998, 1.2599210498948732]> : tensor<2xf64>, tolerance = 1.0e-15
  %2 = stablehlo.cosine %x : tensor<2xf64>
  check.expect_almost_eq_const %2, dense<[0.8775825618903728, -0.4161468365471424]> : tensor<2xf64>, tolerance = 1.0e-15
  %3 = stablehlo.exponential %x : tensor<2xf64>
  check.expect_almost_eq_const %3, dense<[1.6487212707001282, 7.38905609893065]> : tensor<2xf64>, tolerance = 1.0e-15
  %4 = stablehlo.exponential_minus_one %x : tensor<2xf64>
  check.expect_almost_eq_const %4, dense<[0.6487212707001282, 6.38905609893065]> : tensor<2xf64>, tolerance = 1.0e-15
  %5 = stablehlo.log %x : tensor<2xf64>
  check.expect_almost_eq_const %5, dense<[-0.6931471805599453, 0.6931471805599453]> : tensor<2xf64>, tolerance = 1.0e-15
  %6 = stablehlo.log_plus_one %x : tensor<2xf64>
  check.expect_almost_eq_const %6, dense<[0.4054651081081644, 1.0986122886681098]> : tensor<2xf64>, tolerance = 1.0e-15
  %7 = stablehlo.logistic %x : tensor<2xf64>
  check.expect_almost_eq_const %7, dense<[0.6224593312018546, 0.8807970779778823]> : tensor<2xf64>, tolerance = 1.0e-15
  %8 = stablehlo.rsqrt %x : tensor<2xf64>
  check.expect_almost_eq_const %8, dense<[1.4142135623730951, 0.7071067811865476]> : tensor<2xf64>, tolerance = 1.0e-15
  %9 = stablehlo.sine %x : tensor<2xf64>
  check.expect_almost_eq_const %9, dense<[0.479425538604203, 0.9092974268256817]> : tensor<2xf64>, tolerance = 1.0e-15
  %10 = stablehlo.sqrt %x : tensor<2xf64>
  check.expect_eq_const %10, dense<[0.7071067811865476, 1.4142135623730951]> : tensor<2xf64>
  %11 = stablehlo.tan %x : tensor<2xf64>
  check.expect_almost_eq_const %11, dense<[0.5463024898437905, -2.185039863261519]> : tensor<2xf64>, tolerance = 1.0e-15
  %12 = stablehlo.tanh %x : tensor<2xf64>
  check.expect_almost_eq_const %12, dense<[0.46211715726000973, 0.9640275800758169]> : tensor<2xf64>, tolerance = 1.0e-15
  %13 = stablehlo.power %x, %y : tensor<2xf64>
  check.expect_eq_const %13, dense<[0.5, 0.125]> : tensor<2xf64>
  return
}

// -----

// What is small, large or not a number.
func.func @edges() {
  %x = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-10]> : tensor<5xf32>
  %0 = stablehlo.exponential_minus_one %x : tensor<5xf32>
  check.expect_eq_const %0, dense<[-0.0, 0x7F800000, -1.0, 0x7FC00000, 1.0e-10]> : tensor<5xf32>
  %1 = stablehlo.log %x : tensor<5xf32>
  check.expect_eq_const %1, dense<[0xFF800000, 0x7F800000, 0x7FC00000, 0x7FC00000, -23.0258503]> : tensor<5xf32>
  %2 = stablehlo.logistic %x : tensor<5xf32>
  check.expect_eq_const %2, dense<[0.5, 1.0, 0.0, 0x7FC00000, 0.5]> : tensor<5xf32>
  %3 = stablehlo.rsqrt %x : tensor<5xf32>
  check.expect_eq_const %3, dense<[0xFF800000, 0.0, 0x7FC00000, 0x7FC00000, 1.0e5]> : tensor<5xf32>
  // Denormals are kept.
  %tiny = stablehlo.constant dense<1.0e-40> : tensor<f32>
  %4 = stablehlo.sine %tiny : tensor<f32>
  check.expect_eq_const %4, dense<1.0e-40> : tensor<f32>
  return
}

// -----

func.func @complex() {
  %z = stablehlo.constant dense<(0.5, -1.25)> : tensor<complex<f64>>
  %w = stablehlo.constant dense<(2.0, 1.0)> : tensor<complex<f64>>
  %0 = stablehlo.exponential %z : tensor<complex<f64>>
  check.expect_almost_eq_const %0, dense<(0.5198786860084937, -1.5646111274988195)> : tensor<complex<f64>>, tolerance = 1.0e-15
  %1 = stablehlo.log %0 : tensor<complex<f64>>
  check.expect_almost_eq %1, %z, tolerance = 1.0e-15 : tensor<complex<f64>>
  %2 = stablehlo.sqrt %z : tensor<complex<f64>>
  %3 = stablehlo.multiply %2, %2 : tensor<complex<f64>>
  check.expect_almost_eq %3, %z, tolerance = 1.0e-15 : tensor<complex<f64>>
  %4 = stablehlo.rsqrt %z : tensor<complex<f64>>
  %5 = stablehlo.multiply %4, %2 : tensor<complex<f64>>
  check.expect_almost_eq_const %5, dense<(1.0, 0.0)> : tensor<complex<f64>>, tolerance = 1.0e-15
  %6 = stablehlo.cbrt %z : tensor<complex<f64>>
  %7 = stablehlo.multiply %6, %6 : tensor<complex<f64>>
  %8 = stablehlo.multiply %7, %6 : tensor<complex<f64>>
  check.expect_almost_eq %8, %z, tolerance = 1.0e-15 : tensor<complex<f64>>
  // sin^2 + cos^2 = 1 and tan = sin / cos.
  %9 = stablehlo.sine %z : tensor<complex<f64>>
  %10 = stablehlo.cosine %z : tensor<complex<f64>>
  %11 = stablehlo.multiply %9, %9 : tensor<complex<f64>>
  %12 = stablehlo.multiply %10, %10 : tensor<complex<f64>>
  %13 = stablehlo.add %11, %12 : tensor<complex<f64>>
  check.expect_almost_eq_const %13, dense<(1.0, 0.0)> : tensor<complex<f64>>, tolerance = 1.0e-15
  %14 = stablehlo.tan %z : tensor<complex<f64>>
  %15 = stablehlo.divide %9, %10 : tensor<complex<f64>>
  check.expect_almost_eq %14, %15, tolerance = 1.0e-15 : tensor<complex<f64>>
  // tanh(z) = 2 logistic(2 z) - 1.
  %two = stablehlo.constant dense<(2.0, 0.0)> : tensor<complex<f64>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
  %16 = stablehlo.multiply %two, %z : tensor<complex<f64>>
  %17 = stablehlo.logistic %16 : tensor<complex<f64>>
  %18 = stablehlo.multiply %two, %17 : tensor<complex<f64>>
  %19 = stablehlo.subtract %18, %one : tensor<complex<f64>>
  %20 = stablehlo.tanh %z : tensor<complex<f64>>
  check.expect_almost_eq %20, %19, tolerance = 1.0e-14 : tensor<complex<f64>>
  %21 = stablehlo.exponential_minus_one %z : tensor<complex<f64>>
  %22 = stablehlo.add %21, %one : tensor<complex<f64>>
  check.expect_almost_eq %22, %0, tolerance = 1.0e-15 : tensor<complex<f64>>
  %23 = stablehlo.log_plus_one %21 : tensor<complex<f64>>
  check.expect_almost_eq %23, %z, tolerance = 1.0e-15 : tensor<complex<f64>>
  // z^w = exp(w log z).
  %24 = stablehlo.log %z : tensor<complex<f64>>
  %25 = stablehlo.multiply %w, %24 : tensor<complex<f64>>
  %26 = stablehlo.exponential %25 : tensor<complex<f64>>
  %27 = stablehlo.power %z, %w : tensor<complex<f64>>
  check.expect_almost_eq %27, %26, tolerance = 1.0e-14 : tensor<complex<f64>>
  %28 = stablehlo.atan2 %one, %two : tensor<complex<f64>>
  check.expect_almost_eq_const %28, dense<(0.4636476090008061, 0.0)> : tensor<complex<f64>>, tolerance = 1.0e-15
  return
}
