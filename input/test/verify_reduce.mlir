// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics

// Each function breaks the one constraint of the specification that it is named
// after.

func.func @reduce_c1(%a: tensor<4x5xf32>, %s: tensor<f32>, %b: tensor<4x6xf32>) {
  // expected-error @+1 {{reduce_c1: }}
  %0:2 = "stablehlo.reduce"(%a, %b, %s, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>)
  return
}

// -----

func.func @reduce_c2(%a: tensor<4x5xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{reduce_c2: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c2_scalar(%a: tensor<4x5xf32>, %s: tensor<5xf32>) {
  // expected-error @+1 {{reduce_c2: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c3(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c3: }}
  %0 = "stablehlo.reduce"(%a, %s, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c4(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c4: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c5(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c5: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0, 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c6(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c6: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %sum = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c6_arguments(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c6: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_c7(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c7: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c8(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_c8: }}
  %0 = "stablehlo.reduce"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf64>
  return
}

// -----

func.func @reduce_window_c3(%a: tensor<4x5xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{reduce_window_c3: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x5xf32>, tensor<i32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c4(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c4: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c5(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c5: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c6(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c6: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c7(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c7: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c8(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c8: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c9(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c9: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, -1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c10(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c10: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c11(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c11: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 0, 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c12(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c12: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2x3xi64>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c13(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c13: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %sum = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c15(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c15: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @reduce_window_c16(%a: tensor<4x5xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{reduce_window_c16: }}
  %0 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf64>
  return
}

// -----

func.func @select_and_scatter_c1(%a: tensor<4x4xf32>, %b: tensor<2x2xf64>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c1: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf64>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c2(%a: tensor<4x4xf32>, %b: tensor<3x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c2: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c3(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f64>) {
  // expected-error @+1 {{select_and_scatter_c3: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c4(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c4: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c5(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c5: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 0>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c6(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c6: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c8(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c8: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<1x2xi64>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c9(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c9: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c10(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c10: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %sum = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c11(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{select_and_scatter_c11: }}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @sort_c2(%a: tensor<4xf32>) {
  // expected-error @+1 {{sort_c2: }}
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @sort_c3(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{sort_c3: }}
  %0:2 = "stablehlo.sort"(%a, %b) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sort_c4(%a: tensor<4xf32>) {
  // expected-error @+1 {{sort_c4: }}
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c5(%a: tensor<4xf32>) {
  // expected-error @+1 {{sort_c5: }}
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{map_c1: }}
  %0 = "stablehlo.map"(%a, %a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @map_c3(%a: tensor<4xf32>) {
  // expected-error @+1 {{map_c3: }}
  %0 = "stablehlo.map"(%a, %a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map_c4(%a: tensor<4xf32>) {
  // expected-error @+1 {{map_c4: }}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
