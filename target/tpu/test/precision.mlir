// Products of f32 by precision: as many products of parts in bf16, the smallest first.
// What is bf16 already has one part. f16 has two.
// RUN: split-file %s %t
// RUN: spokeshave compile --target tpu --emit=graph %t/algorithm.mlir | FileCheck %s --check-prefix=GRAPH
// RUN: spokeshave compile --target tpu --emit=kernel %t/default.mlir | FileCheck %s --check-prefix=ONE --implicit-check-not=arith.subf
// RUN: spokeshave compile --target tpu --emit=kernel %t/high.mlir | FileCheck %s --check-prefix=THREE --implicit-check-not=kernel.matrix_push
// RUN: spokeshave compile --target tpu --emit=kernel %t/highest.mlir | FileCheck %s --check-prefix=SIX --implicit-check-not=kernel.matrix_push
// RUN: spokeshave compile --target tpu --chip v5e:mxu.f32_passes=3 --emit=kernel %t/highest.mlir | FileCheck %s --check-prefix=THREE --implicit-check-not=kernel.matrix_push
// RUN: spokeshave compile --target tpu --option precision=high --emit=kernel %t/default.mlir | FileCheck %s --check-prefix=THREE --implicit-check-not=kernel.matrix_push
// RUN: spokeshave compile --target tpu --emit=kernel %t/mixed.mlir | FileCheck %s --check-prefix=THREE --implicit-check-not=kernel.matrix_push
// RUN: not spokeshave time --option precision=most %t/high.mlir 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: spokeshave run --target tpu %t/high.mlir --random-args --quiet --check=3e-4 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/highest.mlir --random-args --quiet --check=2e-6 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu --chip v6e %t/large.mlir --random-args --quiet --check=5e-5 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/mixed.mlir --random-args --quiet --check=2e-6 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/convolution.mlir --random-args --quiet --check=1e-5 | FileCheck %s --check-prefix=SIM

// SIM: agrees with the reference
// ERROR: SKS-U006: option precision is default, high or highest, not 'most'

// GRAPH: stablehlo.dot_general {{.*}}graph.product_order = 4

// ONE: kernel.matrix_push
// THREE-COUNT-3: kernel.matrix_push
// SIX-COUNT-6: kernel.matrix_push

//--- default.mlir
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

//--- high.mlir
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

//--- highest.mlir
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// All bits of f32, three parts of each factor.
//--- algorithm.mlir
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 9, allow_imprecise_accumulation = false> : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

//--- mixed.mlir
func.func @main(%a: tensor<8x32xbf16>, %b: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.convert %a : (tensor<8x32xbf16>) -> tensor<8x32xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// Several blocks, edges, a batch.
//--- large.mlir
func.func @main(%a: tensor<2x300x700xf32>, %b: tensor<2x200x700xf32>) -> tensor<2x300x200xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x300x700xf32>, tensor<2x200x700xf32>) -> tensor<2x300x200xf32>
  return %0 : tensor<2x300x200xf32>
}

//--- convolution.mlir
func.func @main(%x: tensor<2x12x12x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<2x12x12x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x12x12x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x12x12x32xf32>
  return %0 : tensor<2x12x12x32xf32>
}
