// Programs for several devices: whole arrays in and out, on the CPU and on chips.
// RUN: spokeshave run %s --random-args --out=%t.cpu --quiet
// RUN: spokeshave run %s --random-args --out=%t.tpu --target=tpu --chips=2x2 | FileCheck %s --check-prefix=CHIPS
// RUN: cmp %t.cpu0.npy %t.tpu0.npy
// RUN: spokeshave run %s --random-args | FileCheck %s
// RUN: not spokeshave run %s --random-args --check 2>&1 | FileCheck %s --check-prefix=CHECK-OPTION
// RUN: not spokeshave run %s --random-args --target=tpu --chips=3 2>&1 | FileCheck %s --check-prefix=SHAPE

// CHIPS: cycles on v5e
// CHIPS: collective_permute 1 {{[0-9]+ [0-9]+}} 16 ICI latency
// Each device gives its part to the next.
// CHECK: tensor<4x4xf32>
// CHECK-OPTION: SKS-U006: programs for several devices run as executables
// SHAPE: SKS-U006: the program is for 4 chips, not for 3
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> tensor<4x4xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {"x"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%p: tensor<2x2xf32>) {
      %1 = "stablehlo.collective_permute"(%p) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      sdy.return %1 : tensor<2x2xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
