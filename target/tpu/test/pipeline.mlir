// Iterations of loops overlap: the bundles say how far apart they start and why. Values
// are those of the loops without.
// RUN: spokeshave compile --target tpu --chip=v5e --emit=bundles %s | FileCheck %s --check-prefix=ON
// RUN: spokeshave compile --target tpu --chip=v5e --emit=bundles --option pipelining=off %s | FileCheck %s --check-prefix=OFF
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --option pipelining=off --option unrolling=off %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM
// RUN: not spokeshave time --option pipelining=maybe %s 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not spokeshave time --option pipeline=off %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// ON: kernel @
// ON: // pipelined: an iteration every {{[0-9]+}} cycles, {{[0-9]+}} stages, {{[0-9]+}} copies; bound by
// OFF: kernel @
// OFF-NOT: pipelined
// SIM: agrees with the reference
// BAD: SKS-U006: option pipelining is true or false, not 'maybe'
// UNKNOWN: SKS-U006: No such compile option of the chip: 'pipeline'
func.func @main(%a: tensor<300x1024xf32>, %b: tensor<300x1024xf32>) -> tensor<300x1024xf32> {
  %0 = stablehlo.add %a, %b : tensor<300x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<300x1024xf32>
  %2 = stablehlo.multiply %1, %a : tensor<300x1024xf32>
  return %2 : tensor<300x1024xf32>
}
