// Several chips: what collectives take, and what of it other work hides.
// RUN: spokeshave time %s --chip=v5e | FileCheck %s --check-prefix=TABLE
// RUN: spokeshave time %s --chip=v5e --chips=4x1 --json | FileCheck %s --check-prefix=JSON
// RUN: spokeshave time %s --chip=v5e:ici=450GB/s | FileCheck %s --check-prefix=FAST
// RUN: spokeshave time %s --chip=v5e --no-overlap --option prefetch=off | FileCheck %s --check-prefix=APART
// RUN: not spokeshave time %s --chip=v5e --chips=8 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not spokeshave time %s --chip=v5e --chips=2xtwo 2>&1 | FileCheck %s --check-prefix=SHAPE

// 4 MiB, 3/4 of it over four links of 45 GB/s, with one hop in each of two dimensions:
// 19.5 us at 1.5 GHz, partly behind the other product.
// TABLE: between chips times cycles exposed bytes bound by
// TABLE: all_reduce by reduce_scatter 1 292{{[0-9][0-9] [0-9]+}} 4194304 ICI
// TABLE: all_reduce by all_gather 1 292{{[0-9][0-9] [0-9]+}} 1048576 ICI
// One dimension has half of the links.
// JSON: "chips": "4x1"
// JSON: "bound": "ICI"
// JSON: "cycles": 554{{[0-9][0-9]}}
// FAST: all_reduce by reduce_scatter 1 56{{[0-9][0-9]}}
// APART: all_reduce by reduce_scatter 1 [[CYCLES:292[0-9][0-9]]] [[CYCLES]] 4194304
// OTHER: SKS-U006: the program is for 4 chips, not for 8
// SHAPE: SKS-U006: '2xtwo' is no number or shape of chips
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>)
      -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
    %0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %1 = stablehlo.tanh %0 : tensor<1024x1024xf32>
    %2 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %1, %2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
}
