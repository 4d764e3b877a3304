// RUN: spokeshave check %s

module @all_gather_and_ids {
  func.func @program(%x: tensor<2xi32>) -> (tensor<4xi32>, tensor<ui32>, tensor<ui32>) {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xi32>) -> tensor<4xi32>
    %1 = stablehlo.replica_id : tensor<ui32>
    %2 = stablehlo.partition_id : tensor<ui32>
    return %0, %1, %2 : tensor<4xi32>, tensor<ui32>, tensor<ui32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %0:6 = "interpreter.run_parallel"(%a, %b) {programs = [[@program], [@program]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<ui32>, tensor<ui32>, tensor<4xi32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %0#0, dense<[3, 4, 1, 2]> : tensor<4xi32>
    check.expect_eq_const %0#3, dense<[3, 4, 1, 2]> : tensor<4xi32>
    check.expect_eq_const %0#1, dense<0> : tensor<ui32>
    check.expect_eq_const %0#4, dense<1> : tensor<ui32>
    check.expect_eq_const %0#5, dense<0> : tensor<ui32>
    return
  }
}

// -----

module @all_reduce {
  // Groups across replicas and partitions, by flattened ids.
  func.func @program(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i32>
    %b = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.constant dense<100> : tensor<i32>
    %d = stablehlo.constant dense<1000> : tensor<i32>
    %0:8 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@program, @program], [@program, @program]]} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
    check.expect_eq_const %0#0, dense<1001> : tensor<i32>
    check.expect_eq_const %0#1, dense<10> : tensor<i32>
    check.expect_eq_const %0#2, dense<110> : tensor<i32>
    check.expect_eq_const %0#7, dense<1000> : tensor<i32>
    return
  }
}

// -----

// Replica groups by an axis of a mesh of 2 by 2: the second axis is the minor one.
module @mesh_axes {
  func.func @program(%x: tensor<1xi32>) -> tensor<2xi32> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi32>
    %b = stablehlo.constant dense<2> : tensor<1xi32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %d = stablehlo.constant dense<4> : tensor<1xi32>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@program, @program, @program, @program]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
    check.expect_eq_const %0#0, dense<[1, 3]> : tensor<2xi32>
    check.expect_eq_const %0#1, dense<[2, 4]> : tensor<2xi32>
    check.expect_eq_const %0#2, dense<[1, 3]> : tensor<2xi32>
    return
  }
}

// -----

module @exchanges {
  func.func @program(%x: tensor<2x2xi32>) -> (tensor<4x1xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) {
    %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xi32>) -> tensor<4x1xi32>
    %1 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<2x2xi32>) -> tensor<1x2xi32>
    %2 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %3 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %4 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %5 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
    return %0, %1, %2, %3, %4, %5 : tensor<4x1xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %b = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>
    %0:12 = "interpreter.run_parallel"(%a, %b) {programs = [[@program], [@program]]} : (tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<4x1xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<4x1xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
    check.expect_eq_const %0#0, dense<[[1], [3], [10], [30]]> : tensor<4x1xi32>
    check.expect_eq_const %0#6, dense<[[2], [4], [20], [40]]> : tensor<4x1xi32>
    check.expect_eq_const %0#1, dense<[[11, 22]]> : tensor<1x2xi32>
    check.expect_eq_const %0#7, dense<[[33, 44]]> : tensor<1x2xi32>
    check.expect_eq_const %0#2, dense<0> : tensor<2x2xi32>
    check.expect_eq %0#8, %a : tensor<2x2xi32>
    check.expect_eq %0#3, %b : tensor<2x2xi32>
    check.expect_eq %0#9, %b : tensor<2x2xi32>
    check.expect_eq_const %0#4, dense<[[11, 22], [33, 44]]> : tensor<2x2xi32>
    check.expect_eq_const %0#10, dense<0> : tensor<2x2xi32>
    check.expect_eq_const %0#11, dense<[[11, 22], [33, 44]]> : tensor<2x2xi32>
    return
  }
}

// -----

// An asynchronous operation is done when it starts.
module @asynchronous {
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<2xi32>):
      %1 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb1(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.multiply %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
    %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
    return %2 : tensor<2xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %b = stablehlo.constant dense<[5, 7]> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@program], [@program]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    check.expect_eq_const %0#0, dense<[10, 21]> : tensor<2xi32>
    check.expect_eq_const %0#1, dense<[10, 21]> : tensor<2xi32>
    return
  }
}

// -----

module @channels {
  func.func @sender(%x: tensor<i32>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    %1 = "stablehlo.outfeed"(%x, %0) : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    return %1 : !stablehlo.token
  }
  func.func @receiver(%t: !stablehlo.token) -> (tensor<i32>, tensor<i32>) {
    %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0, %1#0 : tensor<i32>, tensor<i32>
  }
  func.func @fed() -> tensor<i32> {
    %0 = stablehlo.constant dense<9> : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<5> : tensor<i32>
    %t = stablehlo.create_token : !stablehlo.token
    // The receiver runs first, and waits.
    %0:3 = "interpreter.run_parallel"(%t, %x, %t) {infeed = [@fed], programs = [[@receiver], [@sender]]} : (!stablehlo.token, tensor<i32>, !stablehlo.token) -> (tensor<i32>, tensor<i32>, !stablehlo.token)
    check.expect_eq_const %0#0, dense<5> : tensor<i32>
    check.expect_eq_const %0#1, dense<9> : tensor<i32>
    return
  }
}
