// RUN: spokeshave check %s

// The specification's example.
func.func @threefry() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  check.expect_eq_const %0, dense<[1, 6]> : tensor<2xui64>
  check.expect_eq_const %1, dense<[[9236835810183407956, 16087790271692313299], [18212823393184779219, 2658481902456610144]]> : tensor<2x2xui64>
  return
}

// -----

// Philox of Salmon et al. with key and counter 0: known answers.
func.func @philox() {
  %state = stablehlo.constant dense<0> : tensor<3xui64>
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  check.expect_eq_const %0, dense<[0, 1, 0]> : tensor<3xui64>
  check.expect_eq_const %1, dense<[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]> : tensor<4xui32>
  // The counter carries into its high word.
  %last = stablehlo.constant dense<[0, 0xFFFFFFFFFFFFFFFF, 0]> : tensor<3xui64>
  %2, %3 = stablehlo.rng_bit_generator %last, algorithm = DEFAULT : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  check.expect_eq_const %2, dense<[0, 1, 1]> : tensor<3xui64>
  return
}

// -----

func.func @rng() {
  %a = stablehlo.constant dense<2> : tensor<i32>
  %b = stablehlo.constant dense<5> : tensor<i32>
  %shape = stablehlo.constant dense<[50]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<50xi32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.clamp %a, %0, %four : (tensor<i32>, tensor<50xi32>, tensor<i32>) -> tensor<50xi32>
  check.expect_eq %1, %0 : tensor<50xi32>
  // A normal distribution's sample mean is near its mean.
  %mean = stablehlo.constant dense<3.0> : tensor<f64>
  %deviation = stablehlo.constant dense<0.5> : tensor<f64>
  %many = stablehlo.constant dense<[4000]> : tensor<1xi64>
  %2 = stablehlo.rng %mean, %deviation, %many, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<4000xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4000xf64>, tensor<f64>) -> tensor<f64>
  %n = stablehlo.constant dense<4000.0> : tensor<f64>
  %4 = stablehlo.divide %3, %n : tensor<f64>
  check.expect_almost_eq_const %4, dense<3.0> : tensor<f64>, tolerance = 5.0e-2
  return
}
