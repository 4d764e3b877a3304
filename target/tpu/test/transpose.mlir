// A transpose goes block by block, each side in boxes of its own; 128 x 128 elements
// are turned in registers, by permutations of pairs of them.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave run --target tpu %s --random-args --quiet --check | FileCheck %s --check-prefix=SIM

// KERNEL: kernel.func @
// KERNEL: kernel.dma_start
// KERNEL: kernel.load_rows
// KERNEL: vector.shuffle
// KERNEL-NOT: kernel.load %
// KERNEL: kernel.store_rows

// SIM: agrees with the reference
func.func @main(%a: tensor<256x384xf32>) -> tensor<384x256xf32> {
  %o = stablehlo.transpose %a, dims = [1, 0] : (tensor<256x384xf32>) -> tensor<384x256xf32>
  return %o : tensor<384x256xf32>
}
