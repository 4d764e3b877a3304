// A large elementwise program streams through VMEM in windows, two deep; a small
// one is staged as a whole. The simulator's numbers are the reference's.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave compile --target tpu --emit=bundles %s | FileCheck %s --check-prefix=BUNDLES
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM

// The window of the next task is on its way while this one is computed.
// KERNEL: kernel.func @add_exp
// KERNEL: kernel.dma_start
// KERNEL: scf.for
// KERNEL: kernel.dma_start
// KERNEL: kernel.dma_wait
// KERNEL: kernel.store

// BUNDLES: kernel @add_exp
// BUNDLES: add.f.f32x1024
// BUNDLES: st.f32x1024

// SIM: cycles on v5e
// SIM: agrees with the reference
func.func @main(%a: tensor<512x1024xf32>, %b: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = stablehlo.add %a, %b : tensor<512x1024xf32>
  %1 = stablehlo.exponential %0 : tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}
