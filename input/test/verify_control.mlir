// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics

// Each function breaks the one constraint of the specification that it is named
// after.

func.func @if_c1(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{if_c1: }}
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_c2(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{if_c2: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_c3(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{if_c3: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

func.func @if_i1(%a: tensor<f32>, %p: tensor<2xi1>) {
  // expected-error @+1 {{if_i1: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2xi1>) -> tensor<f32>
  return
}

// -----

func.func @case_c1(%i: tensor<i32>) {
  // expected-error @+1 {{case_c1: }}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_c3(%i: tensor<i32>, %a: tensor<f32>) {
  // expected-error @+1 {{case_c3: }}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case_c4(%i: tensor<i32>, %a: tensor<f32>) {
  // expected-error @+1 {{case_c4: }}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @while_c1(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{while_c1: }}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_c1_argument(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{while_c1: }}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f64>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f64>):
    stablehlo.return %x : tensor<f64>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_c2(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{while_c2: }}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_c3(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{while_c3: }}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @optimization_barrier_c1(%a: tensor<f32>) {
  // expected-error @+1 {{optimization_barrier_c1: }}
  %0 = "stablehlo.optimization_barrier"(%a) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @get_tuple_element_c1(%a: tuple<tensor<f32>>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{get_tuple_element_c1: }}
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @composite_c1(%a: tensor<f32>) {
  // expected-error @+1 {{composite_c1: }}
  %0 = stablehlo.composite "plain" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @composite_c2(%a: tensor<f32>) {
  // expected-error @+1 {{composite_c2: }}
  %0 = stablehlo.composite "my.op" %a {decomposition = @missing} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @async_done_c1(%a: !stablehlo.future<tensor<f32>>) {
  // expected-error @+1 {{async_done_c1: }}
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<f32>>) -> tensor<f64>
  return
}

// -----

func.func @infeed_c3(%t: !stablehlo.token) {
  // expected-error @+1 {{infeed_c3: }}
  %0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<f32>
  return
}

// -----

func.func @all_gather_c1(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c1: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @all_gather_c2(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c2: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @all_gather_c2_twice(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c2: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @all_gather_c4(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c4: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @all_gather_c5(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c5: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @all_gather_c6(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_gather_c6: }}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @all_reduce_c5(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_reduce_c5: }}
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %sum = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @all_reduce_c6(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_reduce_c6: }}
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @reduce_scatter_c1(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{reduce_scatter_c1: }}
  %0 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reduce_scatter_c2(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{reduce_scatter_c2: }}
  %0 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reduce_scatter_c8(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{reduce_scatter_c8: }}
  %0 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @all_to_all_c1(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_to_all_c1: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 2 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c2(%a: tensor<3x4xf32>) {
  // expected-error @+1 {{all_to_all_c2: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c3(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_to_all_c3: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c4(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_to_all_c4: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c8(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_to_all_c8: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c9(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{all_to_all_c9: }}
  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @collective_permute_c1(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{collective_permute_c1: }}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @collective_permute_c2(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{collective_permute_c2: }}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @collective_permute_c3(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{collective_permute_c3: }}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @collective_permute_c4(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{collective_permute_c4: }}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @send_c5(%a: tensor<4x4xf32>, %t: !stablehlo.token) {
  // expected-error @+1 {{send_c5: }}
  %0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>} : (tensor<4x4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
