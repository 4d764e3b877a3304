// Products on matrix units: windows of both operands and of the result, blocks of k
// that share sums, weights latched ahead, whichever way rhs lies.
// RUN: split-file %s %t
// RUN: spokeshave compile --target tpu --emit=kernel %t/blocks.mlir | FileCheck %s --check-prefix=BLOCKS
// RUN: spokeshave compile --target tpu --emit=kernel %t/turned.mlir | FileCheck %s --check-prefix=TURNED
// RUN: spokeshave compile --target tpu --emit=bundles %t/turned.mlir | FileCheck %s --check-prefix=LATCH
// RUN: spokeshave run --target tpu %t/ragged.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v6e %t/ragged.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/turned.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v6e %t/turned.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v5e:vmem=1MiB %t/small.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/bytes.mlir --random-args --quiet --check=0 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v7x %t/bytes.mlir --random-args --quiet --check=0 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/epilogue.mlir --random-args --quiet --check=2e-2 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v5e:vmem=1MiB %t/epilogue.mlir --random-args --quiet --check=2e-2 | FileCheck %s --check-prefix=SIM

// SIM: agrees with the reference

// BLOCKS: kernel.dma_start %arg1{{.*}} strides [8192, 1] to
// BLOCKS: kernel.dma_start %arg2{{.*}} strides [8192, 1] to
// BLOCKS: scf.for
// BLOCKS: kernel.dma_start %arg1
// BLOCKS: kernel.dma_start %arg2
// BLOCKS: kernel.matrix_latch
// BLOCKS: kernel.matrix_push
// BLOCKS: kernel.dma_start {{.*}} to %arg3

// TURNED: kernel.matrix_latch {{.*}}transposed
// LATCH: mxu.latch.t

//--- blocks.mlir
func.func @main(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

//--- turned.mlir
func.func @main(%a: tensor<3x50x200xbf16>, %b: tensor<3x150x200xbf16>) -> tensor<3x50x150xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x50x200xbf16>, tensor<3x150x200xbf16>) -> tensor<3x50x150xf32>
  return %0 : tensor<3x50x150xf32>
}

//--- ragged.mlir
func.func @main(%a: tensor<101x777xbf16>, %b: tensor<777x333xbf16>) -> tensor<101x333xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<101x777xbf16>, tensor<777x333xbf16>) -> tensor<101x333xf32>
  return %0 : tensor<101x333xf32>
}

// Blocks of rows, columns and k, the last of each not full.
//--- small.mlir
func.func @main(%a: tensor<300x1300xbf16>, %b: tensor<1300x500xbf16>) -> tensor<300x500xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<300x1300xbf16>, tensor<1300x500xbf16>) -> tensor<300x500xf32>
  return %0 : tensor<300x500xf32>
}

//--- bytes.mlir
func.func @main(%a: tensor<70x300xui8>, %b: tensor<300x140xui8>) -> tensor<70x140xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<70x300xui8>, tensor<300x140xui8>) -> tensor<70x140xi32>
  return %0 : tensor<70x140xi32>
}

// A bias along the columns, a scale of each row, something of the result's shape.
//--- epilogue.mlir
func.func @main(%a: tensor<200x700xbf16>, %b: tensor<700x300xbf16>, %bias: tensor<300xf32>, %scale: tensor<200xf32>, %more: tensor<200x300xf32>) -> tensor<200x300xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<200x700xbf16>, tensor<700x300xbf16>) -> tensor<200x300xf32>
  %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<300xf32>) -> tensor<200x300xf32>
  %2 = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<200xf32>) -> tensor<200x300xf32>
  %3 = stablehlo.add %0, %1 : tensor<200x300xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<200x300xf32>
  %5 = stablehlo.add %4, %more : tensor<200x300xf32>
  return %5 : tensor<200x300xf32>
}
