// RUN: spokeshave-opt --graph-split-reductions --graph-canonicalize --split-input-file %s | FileCheck %s

// Groups of rows become one row each, twice; then the rest is reduced at once.
// CHECK-LABEL: func.func @all
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<4096x2048xf32>) -> tensor<128x32x2048xf32>
// CHECK: %[[P:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK-SAME: -> tensor<128x2048xf32>
// CHECK: %[[Y:.*]] = stablehlo.reshape %[[P]] : (tensor<128x2048xf32>) -> tensor<4x32x2048xf32>
// CHECK: %[[Q:.*]] = stablehlo.reduce(%[[Y]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.reduce(%[[Q]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1]
func.func @all(%x: tensor<4096x2048xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<4096x2048xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// One long row becomes rows; narrow floats are summed as f32.
// CHECK-LABEL: func.func @row
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<1000000xbf16>) -> tensor<5x25x8000xbf16>
// CHECK: %[[W:.*]] = stablehlo.convert %[[R]]
// CHECK: %[[P:.*]] = stablehlo.reduce(%[[W]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1]
// CHECK-SAME: -> tensor<5x8000xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1]
// CHECK: stablehlo.convert %[[S]] : (tensor<f32>) -> tensor<bf16>
func.func @row(%x: tensor<1000000xbf16>, %z: tensor<bf16>) -> tensor<bf16> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0]
      : (tensor<1000000xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// What is kept stays around the parts.
// CHECK-LABEL: func.func @columns
// CHECK: stablehlo.reshape %arg0 : (tensor<2x65536x16xf32>) -> tensor<2x32x2048x16xf32>
// CHECK: stablehlo.reduce{{.*}} across dimensions = [2] {{.*}} -> tensor<2x32x16xf32>
// CHECK: stablehlo.reduce{{.*}} across dimensions = [1] {{.*}} -> tensor<2x16xf32>
func.func @columns(%x: tensor<2x65536x16xf32>) -> tensor<2x16xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<2x65536x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

// Columns between what is kept and what is not: the first step reduces groups of
// the leading dimension alone.
// CHECK-LABEL: func.func @around
// CHECK: stablehlo.reshape %arg0 : (tensor<256x4x512xf32>) -> tensor<8x32x4x512xf32>
// CHECK: stablehlo.reduce{{.*}} across dimensions = [1] {{.*}} -> tensor<8x4x512xf32>
// CHECK: stablehlo.reduce{{.*}} across dimensions = [0, 2] {{.*}} -> tensor<4xf32>
func.func @around(%x: tensor<256x4x512xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2]
      : (tensor<256x4x512xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Small ones, those with many results, and prime extents stay.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: stablehlo.reduce
// CHECK-NOT: stablehlo.reduce
func.func @whole(%a: tensor<1024xf32>, %b: tensor<512x1024xf32>, %c: tensor<1000003xf32>)
    -> (tensor<f32>, tensor<512xf32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<1000003xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<512xf32>, tensor<f32>
}

// -----

// A product of a long depth is a batch of products, summed.
// CHECK-LABEL: func.func @product
// CHECK: stablehlo.dot_general {{.*}} batching_dims = [0] x [0], contracting_dims = [1] x [1]
// CHECK-SAME: (tensor<128x8192x4xbf16>, tensor<128x8192x3xbf16>) -> tensor<128x4x3xf32>
// CHECK: stablehlo.reduce{{.*}} applies stablehlo.add across dimensions = [0]
// CHECK: stablehlo.convert {{.*}} -> tensor<4x3xbf16>
func.func @product(%a: tensor<1048576x4xbf16>, %b: tensor<1048576x3xbf16>) -> tensor<4x3xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
      : (tensor<1048576x4xbf16>, tensor<1048576x3xbf16>) -> tensor<4x3xbf16>
  return %0 : tensor<4x3xbf16>
}
