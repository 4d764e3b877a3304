// Two cores cut a product of few rows along its columns. What each writes lies between what
// the other one writes, so the value goes through HBM, and they meet.
// RUN: spokeshave compile --target=tpu --chip=v5p --emit=near %s | FileCheck %s
// RUN: spokeshave time --chip=v5p --json %s | FileCheck %s --check-prefix=JSON

// CHECK: %[[BETWEEN:.*]] = schedule.arena at 0 : memref<64x8192xbf16>
// CHECK: schedule.launch @dot_tanh{{.*}}(%{{.*}}, %{{.*}}, %[[BETWEEN]])
// JSON: "meetings": 2
func.func @main(%x: tensor<64x2048xbf16>, %w: tensor<2048x8192xbf16>, %v: tensor<8192x2048xbf16>)
    -> tensor<64x2048xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x2048xbf16>, tensor<2048x8192xbf16>) -> tensor<64x8192xbf16>
  %1 = stablehlo.tanh %0 : tensor<64x8192xbf16>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<64x8192xbf16>, tensor<8192x2048xbf16>) -> tensor<64x2048xbf16>
  return %2 : tensor<64x2048xbf16>
}
