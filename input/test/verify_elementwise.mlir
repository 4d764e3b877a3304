// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics

// Each function breaks the one constraint of the specification that it is named
// after.

func.func @add_c1(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{add_c1: }}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @add_c1_shape(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{add_c1: }}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @exponential_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{exponential_c1: }}
  %0 = "stablehlo.exponential"(%a) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @and_c1(%a: tensor<4xi1>, %b: tensor<4xi8>) {
  // expected-error @+1 {{and_c1: }}
  %0 = "stablehlo.and"(%a, %b) : (tensor<4xi1>, tensor<4xi8>) -> tensor<4xi1>
  return
}

// -----

func.func @abs_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{abs_c1: }}
  %0 = "stablehlo.abs"(%a) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @abs_c2(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{abs_c2: }}
  %0 = "stablehlo.abs"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @real_c2(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{real_c2: }}
  %0 = "stablehlo.real"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @is_finite_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{is_finite_c1: }}
  %0 = "stablehlo.is_finite"(%a) : (tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

func.func @convert_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{convert_c1: }}
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @reduce_precision_c2(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduce_precision_c2: }}
  %0 = stablehlo.reduce_precision %a, format = e0m4 : tensor<4xf32>
  return
}

// -----

func.func @complex_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{complex_c1: }}
  %0 = "stablehlo.complex"(%a, %b) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @complex_c3(%a: tensor<4xf32>) {
  // expected-error @+1 {{complex_c3: }}
  %0 = "stablehlo.complex"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @compare_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{compare_c1: }}
  %0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c2(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{compare_c2: }}
  %0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c3(%a: tensor<4xi32>) {
  // expected-error @+1 {{compare_c3: }}
  %0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @clamp_c1(%a: tensor<4xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{clamp_c1: }}
  %0 = stablehlo.clamp %b, %a, %a : (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c2(%a: tensor<4xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{clamp_c2: }}
  %0 = stablehlo.clamp %a, %a, %b : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c3(%a: tensor<4xf32>, %b: tensor<f64>) {
  // expected-error @+1 {{clamp_c3: }}
  %0 = stablehlo.clamp %b, %a, %a : (tensor<f64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c4(%a: tensor<4xf32>) {
  // expected-error @+1 {{clamp_c4: }}
  %0 = stablehlo.clamp %a, %a, %a : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @select_c1(%p: tensor<3xi1>, %a: tensor<4xf32>) {
  // expected-error @+1 {{select_c1: }}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @select_c2(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{select_c2: }}
  %0 = stablehlo.select %p, %a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @add_c3(%a: tensor<1x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error @+1 {{add_c3: }}
  %0 = "stablehlo.add"(%a, %a) : (tensor<1x!quant.uniform<i8:f32, 1.0:17>>, tensor<1x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<1x!quant.uniform<i4:f32, 1.0:1>>
  return
}

// -----

func.func @uniform_dequantize_c2(%a: tensor<1x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error @+1 {{uniform_dequantize_c2: }}
  %0 = stablehlo.uniform_dequantize %a : (tensor<1x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<1xf64>
  return
}
