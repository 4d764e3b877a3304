// Every function of chlo, interpreted and compiled: expansions mean the same on both.
// RUN: spokeshave check --target both --quiet %s
// Expected values are those of a computation in more digits, rounded.

// -----

func.func @acos_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -0.75, 1.0, -1.0, 1.0e-09, 0.999999999, 2.0, -3.5]> : tensor<9xf64>
  %want = stablehlo.constant dense<[1.5707963267948966, 1.0471975511965979, 2.4188584057763776, 0.0, 3.141592653589793, 1.5707963257948967, 4.4721358921319356e-05, 0x7FF8000000000000, 0x7FF8000000000000]> : tensor<9xf64>
  %0 = chlo.acos %x0 : tensor<9xf64> -> tensor<9xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf64>, tensor<9xf64>
  return
}

// -----

func.func @acos_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -0.75, 1.0, -1.0, 9.999999717180685e-10, 1.0, 2.0, -3.5]> : tensor<9xf32>
  %want = stablehlo.constant dense<[1.5707963705062866, 1.0471975803375244, 2.418858289718628, 0.0, 3.1415927410125732, 1.5707963705062866, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<9xf32>
  %0 = chlo.acos %x0 : tensor<9xf32> -> tensor<9xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf32>, tensor<9xf32>
  return
}

// -----

func.func @asin_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 1.0e-300, 1.0e-09, -0.999999999, 2.0]> : tensor<10xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.5235987755982989, -0.848062078981481, 1.5707963267948966, -1.5707963267948966, 1.0e-300, 1.0e-09, -1.5707516054359754, 0x7FF8000000000000]> : tensor<10xf64>
  %0 = chlo.asin %x0 : tensor<10xf64> -> tensor<10xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<10xf64>, tensor<10xf64>
  return
}

// -----

func.func @asin_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 0.0, 9.999999717180685e-10, -1.0, 2.0]> : tensor<10xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.5235987901687622, -0.8480620980262756, 1.5707963705062866, -1.5707963705062866, 0.0, 9.999999717180685e-10, -1.5707963705062866, 0x7FC00000]> : tensor<10xf32>
  %0 = chlo.asin %x0 : tensor<10xf32> -> tensor<10xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<10xf32>, tensor<10xf32>
  return
}

// -----

func.func @atan_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 1.0e-300, 1.0e-09, -0.999999999, 0x7FF0000000000000, 0xFFF0000000000000, 1.0e+300, 2.5]> : tensor<13xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.4636476090008061, -0.6435011087932844, 0.7853981633974483, -0.7853981633974483, 1.0e-300, 1.0e-09, -0.7853981628974483, 1.5707963267948966, -1.5707963267948966, 1.5707963267948966, 1.1902899496825317]> : tensor<13xf64>
  %0 = chlo.atan %x0 : tensor<13xf64> -> tensor<13xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf64>, tensor<13xf64>
  return
}

// -----

func.func @atan_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 0.0, 9.999999717180685e-10, -1.0, 0x7F800000, 0xFF800000, 0x7F800000, 2.5]> : tensor<13xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.46364760398864746, -0.6435011029243469, 0.7853981852531433, -0.7853981852531433, 0.0, 9.999999717180685e-10, -0.7853981852531433, 1.5707963705062866, -1.5707963705062866, 1.5707963705062866, 1.1902899742126465]> : tensor<13xf32>
  %0 = chlo.atan %x0 : tensor<13xf32> -> tensor<13xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf32>, tensor<13xf32>
  return
}

// -----

func.func @acosh_f64() {
  %x0 = stablehlo.constant dense<[1.0, 1.0000001, 1.5, 10.0, 10000000000.0, 1.0e+308, 0x7FF0000000000000, 0.5, -2.0]> : tensor<9xf64>
  %want = stablehlo.constant dense<[0.0, 0.0004472135919037347, 0.9624236501192069, 2.993222846126381, 23.7189981105004, 709.889355822726, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF8000000000000]> : tensor<9xf64>
  %0 = chlo.acosh %x0 : tensor<9xf64> -> tensor<9xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf64>, tensor<9xf64>
  return
}

// -----

func.func @acosh_f32() {
  %x0 = stablehlo.constant dense<[1.0, 1.0000001192092896, 1.5, 10.0, 10000000000.0, 0x7F800000, 0x7F800000, 0.5, -2.0]> : tensor<9xf32>
  %want = stablehlo.constant dense<[0.0, 0.00048828125, 0.9624236226081848, 2.993222951889038, 23.718997955322266, 0x7F800000, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<9xf32>
  %0 = chlo.acosh %x0 : tensor<9xf32> -> tensor<9xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf32>, tensor<9xf32>
  return
}

// -----

func.func @asinh_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 1.0e-300, 1.0e-09, -0.999999999, 0x7FF0000000000000, 0xFFF0000000000000, 1.0e+308, -30.0]> : tensor<13xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.48121182505960347, -0.6931471805599453, 0.881373587019543, -0.881373587019543, 1.0e-300, 1.0e-09, -0.8813735863124362, 0x7FF0000000000000, 0xFFF0000000000000, 709.889355822726, -4.09462222433053]> : tensor<13xf64>
  %0 = chlo.asinh %x0 : tensor<13xf64> -> tensor<13xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf64>, tensor<13xf64>
  return
}

// -----

func.func @asinh_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 0.0, 9.999999717180685e-10, -1.0, 0x7F800000, 0xFF800000, 0x7F800000, -30.0]> : tensor<13xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.4812118113040924, -0.6931471824645996, 0.8813735842704773, -0.8813735842704773, 0.0, 9.999999717180685e-10, -0.8813735842704773, 0x7F800000, 0xFF800000, 0x7F800000, -4.0946221351623535]> : tensor<13xf32>
  %0 = chlo.asinh %x0 : tensor<13xf32> -> tensor<13xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf32>, tensor<13xf32>
  return
}

// -----

func.func @atanh_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 1.0e-300, 1.0e-09, -0.999999999, 1.5]> : tensor<10xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.5493061443340549, -0.9729550745276566, 0x7FF0000000000000, 0xFFF0000000000000, 1.0e-300, 1.0e-09, -10.708206522644144, 0x7FF8000000000000]> : tensor<10xf64>
  %0 = chlo.atanh %x0 : tensor<10xf64> -> tensor<10xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<10xf64>, tensor<10xf64>
  return
}

// -----

func.func @atanh_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 0.0, 9.999999717180685e-10, -1.0, 1.5]> : tensor<10xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.5493061542510986, -0.972955048084259, 0x7F800000, 0xFF800000, 0.0, 9.999999717180685e-10, 0xFF800000, 0x7FC00000]> : tensor<10xf32>
  %0 = chlo.atanh %x0 : tensor<10xf32> -> tensor<10xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<10xf32>, tensor<10xf32>
  return
}

// -----

func.func @cosh_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -2.0, 700.0, 710.0, -1000.0, 0x7FF0000000000000]> : tensor<7xf64>
  %want = stablehlo.constant dense<[1.0, 1.1276259652063807, 3.7621956910836314, 5.0711602736750225e+303, 1.1169973830808555e+308, 0x7FF0000000000000, 0x7FF0000000000000]> : tensor<7xf64>
  %0 = chlo.cosh %x0 : tensor<7xf64> -> tensor<7xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<7xf64>, tensor<7xf64>
  return
}

// -----

func.func @cosh_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -2.0, 700.0, 710.0, -1000.0, 0x7F800000]> : tensor<7xf32>
  %want = stablehlo.constant dense<[1.0, 1.1276259422302246, 3.762195587158203, 0x7F800000, 0x7F800000, 0x7F800000, 0x7F800000]> : tensor<7xf32>
  %0 = chlo.cosh %x0 : tensor<7xf32> -> tensor<7xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<7xf32>, tensor<7xf32>
  return
}

// -----

func.func @sinh_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 1.0e-10, 0.5, -2.0, 700.0, -710.0, 1000.0, 0xFFF0000000000000]> : tensor<9xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 1.0e-10, 0.5210953054937474, -3.6268604078470186, 5.0711602736750225e+303, -1.1169973830808555e+308, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<9xf64>
  %0 = chlo.sinh %x0 : tensor<9xf64> -> tensor<9xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf64>, tensor<9xf64>
  return
}

// -----

func.func @sinh_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 1.000000013351432e-10, 0.5, -2.0, 700.0, -710.0, 1000.0, 0xFF800000]> : tensor<9xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 1.000000013351432e-10, 0.5210952758789062, -3.6268603801727295, 0x7F800000, 0xFF800000, 0x7F800000, 0xFF800000]> : tensor<9xf32>
  %0 = chlo.sinh %x0 : tensor<9xf32> -> tensor<9xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<9xf32>, tensor<9xf32>
  return
}

// -----

func.func @tan_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -2.0, 100.0]> : tensor<4xf64>
  %want = stablehlo.constant dense<[0.0, 0.5463024898437905, 2.185039863261519, -0.5872139151569291]> : tensor<4xf64>
  %0 = chlo.tan %x0 : tensor<4xf64> -> tensor<4xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
  return
}

// -----

func.func @tan_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.5, -2.0, 100.0]> : tensor<4xf32>
  %want = stablehlo.constant dense<[0.0, 0.5463024973869324, 2.185039758682251, -0.587213933467865]> : tensor<4xf32>
  %0 = chlo.tan %x0 : tensor<4xf32> -> tensor<4xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @square_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.5, 3.0, 1.0e+200]> : tensor<4xf64>
  %want = stablehlo.constant dense<[0.0, 0.25, 9.0, 0x7FF0000000000000]> : tensor<4xf64>
  %0 = chlo.square %x0 : tensor<4xf64> -> tensor<4xf64>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  return
}

// -----

func.func @square_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.5, 3.0, 0x7F800000]> : tensor<4xf32>
  %want = stablehlo.constant dense<[0.0, 0.25, 9.0, 0x7F800000]> : tensor<4xf32>
  %0 = chlo.square %x0 : tensor<4xf32> -> tensor<4xf32>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @erf_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 1.0e-300, 0.1, -0.5, 0.9, 1.3, -2.9, 4.0, 7.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<13xf64>
  %want = stablehlo.constant dense<[0.0, -0.0, 1.1283791670955126e-300, 0.1124629160182849, -0.5204998778130465, 0.7969082124228322, 0.9340079449406524, -0.9999589021219005, 0.9999999845827421, 1.0, 1.0, -1.0, 0x7FF8000000000000]> : tensor<13xf64>
  %0 = chlo.erf %x0 : tensor<13xf64> -> tensor<13xf64>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf64>, tensor<13xf64>
  return
}

// -----

func.func @erf_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 0.0, 0.10000000149011612, -0.5, 0.8999999761581421, 1.2999999523162842, -2.9000000953674316, 4.0, 7.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<13xf32>
  %want = stablehlo.constant dense<[0.0, -0.0, 0.0, 0.11246291548013687, -0.5204998850822449, 0.7969081997871399, 0.9340079426765442, -0.999958872795105, 1.0, 1.0, 1.0, -1.0, 0x7FC00000]> : tensor<13xf32>
  %0 = chlo.erf %x0 : tensor<13xf32> -> tensor<13xf32>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<13xf32>, tensor<13xf32>
  return
}

// -----

func.func @erfc_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.1, -0.5, 0.9, -1.0, 1.3, -2.9, 4.0, 9.0, 26.0, 30.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<14xf64>
  %want = stablehlo.constant dense<[1.0, 0.887537083981715, 1.5204998778130465, 0.20309178757716786, 1.8427007929497148, 0.06599205505934755, 1.9999589021219006, 1.541725790028002e-08, 4.13703174651381e-37, 5.663192408856143e-296, 0.0, 0.0, 2.0, 0x7FF8000000000000]> : tensor<14xf64>
  %0 = chlo.erfc %x0 : tensor<14xf64> -> tensor<14xf64>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<14xf64>, tensor<14xf64>
  return
}

// -----

func.func @erfc_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.10000000149011612, -0.5, 0.8999999761581421, -1.0, 1.2999999523162842, -2.9000000953674316, 4.0, 9.0, 26.0, 30.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<14xf32>
  %want = stablehlo.constant dense<[1.0, 0.8875370621681213, 1.5204998254776, 0.2030918002128601, 1.8427008390426636, 0.06599206477403641, 1.999958872795105, 1.5417258580896487e-08, 4.137031708073991e-37, 0.0, 0.0, 0.0, 2.0, 0x7FC00000]> : tensor<14xf32>
  %0 = chlo.erfc %x0 : tensor<14xf32> -> tensor<14xf32>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<14xf32>, tensor<14xf32>
  return
}

// -----

func.func @erf_inv_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.1, -0.5, 0.9, -0.999, 0.9999999, 1.0, -1.0, 1.0e-10, 1.5]> : tensor<10xf64>
  %want = stablehlo.constant dense<[0.0, 0.08885599049425769, -0.4769362762044699, 1.1630871536766743, -2.3267537655135246, 3.7665625816384707, 0x7FF0000000000000, 0xFFF0000000000000, 8.862269254527581e-11, 0x7FF8000000000000]> : tensor<10xf64>
  %0 = chlo.erf_inv %x0 : tensor<10xf64> -> tensor<10xf64>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<10xf64>, tensor<10xf64>
  return
}

// -----

func.func @erf_inv_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.10000000149011612, -0.5, 0.8999999761581421, -0.9990000128746033, 0.9999998807907104, 1.0, -1.0, 1.000000013351432e-10, 1.5]> : tensor<10xf32>
  %want = stablehlo.constant dense<[0.0, 0.08885598927736282, -0.4769362807273865, 1.1630871295928955, -2.326756238937378, 3.7439212799072266, 0x7F800000, 0xFF800000, 8.862269251785904e-11, 0x7FC00000]> : tensor<10xf32>
  %0 = chlo.erf_inv %x0 : tensor<10xf32> -> tensor<10xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<10xf32>, tensor<10xf32>
  return
}

// -----

func.func @lgamma_f64() {
  %x0 = stablehlo.constant dense<[0.1, 0.5, 3.5, 10.0, 100.25, 10000000000.0, -0.5, -2.25, -10.75, 0x7FF0000000000000, 0.0, -3.0]> : tensor<12xf64>
  %want = stablehlo.constant dense<[2.252712651734206, 0.5723649429247001, 1.2009736023470743, 12.801827480081469, 360.28455963776423, 220258509288.81058, 1.2655121234846454, 0.5555015450206475, -15.403074503504817, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF0000000000000]> : tensor<12xf64>
  %0 = chlo.lgamma %x0 : tensor<12xf64> -> tensor<12xf64>
  check.expect_close %0, %want, max_ulp_difference = 16 : tensor<12xf64>, tensor<12xf64>
  return
}

// -----

func.func @lgamma_f32() {
  %x0 = stablehlo.constant dense<[0.10000000149011612, 0.5, 3.5, 10.0, 100.25, 10000000000.0, -0.5, -2.25, -10.75, 0x7F800000, 0.0, -3.0]> : tensor<12xf32>
  %want = stablehlo.constant dense<[2.2527127265930176, 0.5723649263381958, 1.200973629951477, 12.801827430725098, 360.2845458984375, 220258516992.0, 1.2655121088027954, 0.5555015206336975, -15.403074264526367, 0x7F800000, 0x7F800000, 0x7F800000]> : tensor<12xf32>
  %0 = chlo.lgamma %x0 : tensor<12xf32> -> tensor<12xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<12xf32>, tensor<12xf32>
  return
}

// -----

func.func @digamma_f64() {
  %x0 = stablehlo.constant dense<[0.1, 0.5, 1.0, 3.5, 10.0, 100.25, 10000000000.0, -0.5, -2.25, 0x7FF0000000000000, 0.0, -3.0]> : tensor<12xf64>
  %want = stablehlo.constant dense<[-10.423754940411076, -1.9635100260214235, -0.5772156649015329, 1.103156640645243, 2.251752589066721, 4.602671243274712, 23.025850929890456, 0.03648997397857652, 4.158583564657972, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<12xf64>
  %0 = chlo.digamma %x0 : tensor<12xf64> -> tensor<12xf64>
  check.expect_close %0, %want, max_ulp_difference = 16 : tensor<12xf64>, tensor<12xf64>
  return
}

// -----

func.func @digamma_f32() {
  %x0 = stablehlo.constant dense<[0.10000000149011612, 0.5, 1.0, 3.5, 10.0, 100.25, 10000000000.0, -0.5, -2.25, 0x7F800000, 0.0, -3.0]> : tensor<12xf32>
  %want = stablehlo.constant dense<[-10.423754692077637, -1.9635100364685059, -0.5772156715393066, 1.1031566858291626, 2.2517526149749756, 4.602671146392822, 23.025850296020508, 0.036489974707365036, 4.158583641052246, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<12xf32>
  %0 = chlo.digamma %x0 : tensor<12xf32> -> tensor<12xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<12xf32>, tensor<12xf32>
  return
}

// -----

func.func @bessel_i1e_f64() {
  %x0 = stablehlo.constant dense<[0.0, 0.1, -1.0, 5.0, 29.5, 30.5, -200.0]> : tensor<7xf64>
  %want = stablehlo.constant dense<[0.0, 0.045298446808809324, -0.20791041534970844, 0.16397226694454237, 0.07250732615718372, 0.071339539285262, -0.02815650339483292]> : tensor<7xf64>
  %0 = chlo.bessel_i1e %x0 : tensor<7xf64> -> tensor<7xf64>
  check.expect_close %0, %want, max_ulp_difference = 8 : tensor<7xf64>, tensor<7xf64>
  return
}

// -----

func.func @bessel_i1e_f32() {
  %x0 = stablehlo.constant dense<[0.0, 0.10000000149011612, -1.0, 5.0, 29.5, 30.5, -200.0]> : tensor<7xf32>
  %want = stablehlo.constant dense<[0.0, 0.04529844596982002, -0.207910418510437, 0.16397227346897125, 0.0725073292851448, 0.07133954018354416, -0.028156504034996033]> : tensor<7xf32>
  %0 = chlo.bessel_i1e %x0 : tensor<7xf32> -> tensor<7xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<7xf32>, tensor<7xf32>
  return
}

// -----

func.func @zeta_f64() {
  %x0 = stablehlo.constant dense<[2.0, 1.5, 3.0, 10.0, 1.0, 0.5, 2.0]> : tensor<7xf64>
  %x1 = stablehlo.constant dense<[1.0, 2.5, 0.25, 7.0, 2.0, 2.0, 0.0]> : tensor<7xf64>
  %want = stablehlo.constant dense<[1.6449340668482264, 1.4037797688568259, 64.66386996876847, 4.927521560880233e-09, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<7xf64>
  %0 = chlo.zeta %x0, %x1 : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
  check.expect_close %0, %want, max_ulp_difference = 16 : tensor<7xf64>, tensor<7xf64>
  return
}

// -----

func.func @zeta_f32() {
  %x0 = stablehlo.constant dense<[2.0, 1.5, 3.0, 10.0, 1.0, 0.5, 2.0]> : tensor<7xf32>
  %x1 = stablehlo.constant dense<[1.0, 2.5, 0.25, 7.0, 2.0, 2.0, 0.0]> : tensor<7xf32>
  %want = stablehlo.constant dense<[1.644934058189392, 1.4037797451019287, 64.66387176513672, 4.927521501940646e-09, 0x7F800000, 0x7FC00000, 0x7F800000]> : tensor<7xf32>
  %0 = chlo.zeta %x0, %x1 : tensor<7xf32>, tensor<7xf32> -> tensor<7xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<7xf32>, tensor<7xf32>
  return
}

// -----

func.func @polygamma_f64() {
  %x0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 5.0, 1.0, -1.0, 1.5]> : tensor<7xf64>
  %x1 = stablehlo.constant dense<[2.5, 1.0, 0.5, 3.0, 50.0, 1.0, 1.0]> : tensor<7xf64>
  %want = stablehlo.constant dense<[0.7031566406452432, 1.6449340668482264, -16.82879664423432, 0.20616743813389676, 0.020201333226697125, 0x7FF8000000000000, 0x7FF8000000000000]> : tensor<7xf64>
  %0 = chlo.polygamma %x0, %x1 : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
  check.expect_close %0, %want, max_ulp_difference = 64 : tensor<7xf64>, tensor<7xf64>
  return
}

// -----

func.func @polygamma_f32() {
  %x0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 5.0, 1.0, -1.0, 1.5]> : tensor<7xf32>
  %x1 = stablehlo.constant dense<[2.5, 1.0, 0.5, 3.0, 50.0, 1.0, 1.0]> : tensor<7xf32>
  %want = stablehlo.constant dense<[0.7031566500663757, 1.644934058189392, -16.82879638671875, 0.20616744458675385, 0.02020133286714554, 0x7FC00000, 0x7FC00000]> : tensor<7xf32>
  %0 = chlo.polygamma %x0, %x1 : tensor<7xf32>, tensor<7xf32> -> tensor<7xf32>
  check.expect_close %0, %want, max_ulp_difference = 1 : tensor<7xf32>, tensor<7xf32>
  return
}

// -----

func.func @next_after_f64() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 0x7FF0000000000000, 2.0, 0x7FF8000000000000, 1.0, 5.0]> : tensor<11xf64>
  %x1 = stablehlo.constant dense<[1.0, -1.0, 2.0, 0.0, 0.0, 0xFFF0000000000000, 1.0, 2.0, 1.0, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<11xf64>
  %want = stablehlo.constant dense<[5.0e-324, -5.0e-324, 1.0000000000000002, 0.9999999999999999, -0.9999999999999999, -1.0000000000000002, 1.7976931348623157e+308, 2.0, 0x7FF8000000000000, 0x7FF8000000000000, 5.000000000000001]> : tensor<11xf64>
  %0 = chlo.next_after %x0, %x1 : tensor<11xf64>, tensor<11xf64> -> tensor<11xf64>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<11xf64>, tensor<11xf64>
  return
}

// -----

func.func @next_after_f32() {
  %x0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 0x7F800000, 2.0, 0x7FC00000, 1.0, 5.0]> : tensor<11xf32>
  %x1 = stablehlo.constant dense<[1.0, -1.0, 2.0, 0.0, 0.0, 0xFF800000, 1.0, 2.0, 1.0, 0x7FC00000, 0x7F800000]> : tensor<11xf32>
  %want = stablehlo.constant dense<[1.401298464324817e-45, -1.401298464324817e-45, 1.0000001192092896, 0.9999999403953552, -0.9999999403953552, -1.0000001192092896, 3.4028234663852886e+38, 2.0, 0x7FC00000, 0x7FC00000, 5.000000476837158]> : tensor<11xf32>
  %0 = chlo.next_after %x0, %x1 : tensor<11xf32>, tensor<11xf32> -> tensor<11xf32>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<11xf32>, tensor<11xf32>
  return
}

// -----

func.func @acos_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %want = stablehlo.constant dense<[(1.0691874735193958, -0.2813960562452928), (1.7918149624177804, -1.4657153519472905), (3.5355339059327376e-09, 1.762747174039086), (3.141592653589793, -1.3169578969248168), (1.0e-100, -1.0e-100), (1.5707963267948966, 0.48121182505960347), (0.7853981633974483, -710.235929413006), (1.5707963267948966, -1.0e-10)]> : tensor<8xcomplex<f64>>
  %0 = chlo.acos %x0 : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  return
}

// -----

func.func @asin_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.5016088532755008, 0.2813960562452928), (-0.22101863562288385, 1.4657153519472905), (1.5707963232593627, -1.762747174039086), (-1.5707963267948966, 1.3169578969248168), (1.5707963267948966, 1.0e-100), (0.0, -0.48121182505960347), (0.7853981633974483, 710.235929413006), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %0 = chlo.asin %x0 : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  return
}

// -----

func.func @atan_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308)]> : tensor<7xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.4842544903299662, 0.20058661813123432), (-1.421546861001807, 0.5003700000525311), (1.2490457723982544, -1.0e-09), (-1.1071487177940904, 0.0), (0.7853981633974483, 5.0e-201), (0.0, -0.5493061443340549), (1.5707963267948966, 5.0e-309)]> : tensor<7xcomplex<f64>>
  %0 = chlo.atan %x0 : tensor<7xcomplex<f64>> -> tensor<7xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<7xcomplex<f64>>, tensor<7xcomplex<f64>>
  return
}

// -----

func.func @acosh_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.2813960562452928, 1.0691874735193958), (1.4657153519472905, 1.7918149624177804), (1.762747174039086, -3.5355339059327376e-09), (1.3169578969248168, 3.141592653589793), (1.0e-100, 1.0e-100), (0.48121182505960347, -1.5707963267948966), (710.235929413006, 0.7853981633974483), (1.0e-10, 1.5707963267948966)]> : tensor<8xcomplex<f64>>
  %0 = chlo.acosh %x0 : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  return
}

// -----

func.func @asinh_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.4926756834207706, 0.2243284526346675), (-1.3618009008578458, 1.2930420702371828), (1.8184464592320668, -3.1622776601683795e-09), (-1.4436354751788103, 0.0), (0.881373587019543, 7.071067811865475e-201), (0.0, -0.5235987755982989), (710.235929413006, 0.7853981633974483), (-1.0e-310, 1.0e-10)]> : tensor<8xcomplex<f64>>
  %0 = chlo.asinh %x0 : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  return
}

// -----

func.func @atanh_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (3.0, -1.0e-08), (-2.0, 0.0), (1.0, 1.0e-200), (0.0, -0.5), (1.0e+308, 1.0e+308)]> : tensor<7xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.5003700000525311, 0.3143981432077165), (-0.09641562020299617, 1.1265564408348223), (0.34657359027997264, -1.5707963255448967), (-0.5493061443340549, 1.5707963267948966), (230.60508288968455, 0.7853981633974483), (0.0, -0.4636476090008061), (5.0e-309, 1.5707963267948966)]> : tensor<7xcomplex<f64>>
  %0 = chlo.atanh %x0 : tensor<7xcomplex<f64>> -> tensor<7xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 3 : tensor<7xcomplex<f64>>, tensor<7xcomplex<f64>>
  return
}

// -----

func.func @cosh_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (1.0, -1.0)]> : tensor<3xcomplex<f64>>
  %want = stablehlo.constant dense<[(1.0925708047319176, 0.12892104172809826), (-0.4692579782290534, -0.473830620416407), (0.833730025131149, -0.9888977057628651)]> : tensor<3xcomplex<f64>>
  %0 = chlo.cosh %x0 : tensor<3xcomplex<f64>> -> tensor<3xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
  return
}

// -----

func.func @sinh_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (1.0, -1.0)]> : tensor<3xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.504895714387995, 0.2789791283502615), (0.2168521629207897, 1.0253473885839877), (0.6349639147847361, -1.2984575814159773)]> : tensor<3xcomplex<f64>>
  %0 = chlo.sinh %x0 : tensor<3xcomplex<f64>> -> tensor<3xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
  return
}

// -----

func.func @tan_complex_f64() {
  %x0 = stablehlo.constant dense<[(0.5, 0.25), (-0.5, 2.0), (1.0, -1.0)]> : tensor<3xcomplex<f64>>
  %want = stablehlo.constant dense<[(0.504500702698564, 0.3124206925025888), (-0.030215987322877575, 0.979940849961738), (0.27175258531951174, -1.0839233273386946)]> : tensor<3xcomplex<f64>>
  %0 = chlo.tan %x0 : tensor<3xcomplex<f64>> -> tensor<3xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 4 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
  return
}

// -----

func.func @square_complex_f64() {
  %x0 = stablehlo.constant dense<[(3.0, 2.0), (1.0e+200, 1.0e+200)]> : tensor<2xcomplex<f64>>
  %want = stablehlo.constant dense<[(5.0, 12.0), (0.0, 0x7FF0000000000000)]> : tensor<2xcomplex<f64>>
  %0 = chlo.square %x0 : tensor<2xcomplex<f64>> -> tensor<2xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  return
}

// -----

func.func @conj_complex_f64() {
  %x0 = stablehlo.constant dense<[(3.0, 2.0), (1.0, -0.0)]> : tensor<2xcomplex<f64>>
  %want = stablehlo.constant dense<[(3.0, -2.0), (1.0, 0.0)]> : tensor<2xcomplex<f64>>
  %0 = chlo.conj %x0 : tensor<2xcomplex<f64>> -> tensor<2xcomplex<f64>>
  check.expect_close %0, %want, max_ulp_difference = 0 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  return
}
