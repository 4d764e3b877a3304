// RUN: spokeshave check %s --quiet
// RUN: not spokeshave check --target cpu %s 2>&1 | FileCheck %s
// Types that MLIR has no class for: the interpreter knows them, code does not.
// CHECK: SKS-U003: {{.*}} has elements of type '!narrow.f8E3M4', which code has no form for

func.func @f8E3M4() -> tensor<2xf8E3M4> {
  %0 = stablehlo.constant dense<[1.0, -15.5]> : tensor<2xf8E3M4>
  %1 = stablehlo.add %0, %0 : tensor<2xf8E3M4>
  check.expect_eq_const %1, dense<[2.0, 0xF0]> : tensor<2xf8E3M4>
  %2 = stablehlo.convert %1 : (tensor<2xf8E3M4>) -> tensor<2xf32>
  check.expect_eq_const %2, dense<[2.0, 0xFF800000]> : tensor<2xf32>
  return %1 : tensor<2xf8E3M4>
}

// -----

func.func @scalars_and_splats() {
  %0 = stablehlo.constant dense<0x07> : tensor<f4E2M1FN>
  %1 = stablehlo.convert %0 : (tensor<f4E2M1FN>) -> tensor<f32>
  check.expect_eq_const %1, dense<6.0> : tensor<f32>
  %2 = stablehlo.constant dense<2.5> : tensor<2x2xf6E3M2FN>
  %3 = stablehlo.convert %2 : (tensor<2x2xf6E3M2FN>) -> tensor<2x2xf32>
  check.expect_eq_const %3, dense<2.5> : tensor<2x2xf32>
  %4 = stablehlo.constant dense<[[1.0e1], [-0.1]]> : tensor<2x1xf6E2M3FN>
  check.expect_eq_const %4, dense<[[7.5], [-0.125]]> : tensor<2x1xf6E2M3FN>
  %5 = stablehlo.constant dense<3.5> : tensor<f8E8M0FNU>
  check.expect_eq_const %5, dense<4.0> : tensor<f8E8M0FNU>
  return
}

// -----

// Names and strings that look like such types stay what they are.
func.func @f8E3M4(%f8E3M4: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> attributes {a = "4xf8E3M4"} {
  return %f8E3M4 : tensor<2xf8E3M4> // f8E3M4
}
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E3M4>
  %1 = call @f8E3M4(%0) : (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>
  %2 = "stablehlo.dot_general"(%1, %1) <{dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
    : (tensor<2xf8E3M4>, tensor<2xf8E3M4>) -> tensor<f32>
  check.expect_eq_const %2, dense<5.0> : tensor<f32>
  return
}
