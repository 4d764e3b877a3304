// f16 becomes f32 and comes of it by sequences on the vector ALUs, exactly; products take
// it as it is, and round their sums at a price that depends on the number of tasks.
// RUN: split-file %s %t
// RUN: spokeshave run --target tpu %t/unpack.mlir --random-args --quiet --check=0 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave run --target tpu %t/pack.mlir --random-args --quiet --check=0 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave compile --target tpu --emit=bundles %t/unpack.mlir | FileCheck %s --check-prefix=UNPACK
// RUN: spokeshave compile --target tpu --emit=bundles %t/pack.mlir | FileCheck %s --check-prefix=PACK
// RUN: spokeshave compile --target tpu --chip v4 --emit=kernel %t/product.mlir | FileCheck %s --check-prefix=PRODUCT
// RUN: spokeshave run --target tpu --chip v4 %t/product.mlir --random-args --quiet --check=2e-3 | FileCheck %s --check-prefix=SIM
// RUN: spokeshave compile --target tpu --chip v4 --emit=kernel %t/blocks.mlir | FileCheck %s --check-prefix=BLOCKS
// RUN: spokeshave compile --target tpu --chip v4 --emit=bundles %t/norm.mlir | FileCheck %s --check-prefix=NORM
// RUN: spokeshave run --target tpu --chip v4 %t/norm.mlir --random-args --quiet --check=1e-3 | FileCheck %s --check-prefix=SIM

// SIM: agrees with the reference

// UNPACK: shr.s.i32x1024
// UNPACK: mul.f.f32x1024
// UNPACK-NOT: f2f
// PACK: cmp.i.i32x1024
// PACK-NOT: f2f

// PRODUCT: kernel.matrix_push {{.*}} of f16
// PRODUCT: arith.truncf {{.*}}{kernel.of_product = false}
// BLOCKS: kernel.cores = 2
// BLOCKS: kernel.matrix_push {{.*}} of f16
// BLOCKS: arith.truncf {{.*}}{kernel.of_product = true}

// What was unpacked for the mean is kept as f32: it is unpacked once.
// NORM: ld.rows.i16x1024
// NORM: st.rows.f32x1024
// NORM: ld.rows.f32x1024

// All of f16, by its bits.
//--- unpack.mlir
func.func @main() -> tensor<65536xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<65536xui32>
  %1 = stablehlo.convert %0 : (tensor<65536xui32>) -> tensor<65536xui16>
  %2 = stablehlo.bitcast_convert %1 : (tensor<65536xui16>) -> tensor<65536xf16>
  %3 = stablehlo.convert %2 : (tensor<65536xf16>) -> tensor<65536xf32>
  return %3 : tensor<65536xf32>
}

// f32 of all exponents, with ties and what lies beside them.
//--- pack.mlir
func.func @main() -> tensor<524288xf16> {
  %0 = stablehlo.iota dim = 0 : tensor<524288xui32>
  %1 = stablehlo.constant dense<8193> : tensor<524288xui32>
  %2 = stablehlo.constant dense<4095> : tensor<524288xui32>
  %3 = stablehlo.multiply %0, %1 : tensor<524288xui32>
  %4 = stablehlo.add %3, %2 : tensor<524288xui32>
  %5 = stablehlo.bitcast_convert %4 : (tensor<524288xui32>) -> tensor<524288xf32>
  %6 = stablehlo.convert %5 : (tensor<524288xf32>) -> tensor<524288xf16>
  return %6 : tensor<524288xf16>
}

//--- product.mlir
func.func @main(%a: tensor<100x200xf16>, %b: tensor<200x150xf16>) -> tensor<100x150xf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<100x200xf16>, tensor<200x150xf16>) -> tensor<100x150xf16>
  return %0 : tensor<100x150xf16>
}

//--- blocks.mlir
func.func @main(%a: tensor<2048x2048xf16>, %b: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  return %0 : tensor<2048x2048xf16>
}

//--- norm.mlir
func.func @main(%x: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<512.0> : tensor<64xf32>
  %w = stablehlo.convert %x : (tensor<64x512xf16>) -> tensor<64x512xf32>
  %s = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
  %m = stablehlo.divide %s, %count : tensor<64xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
  %d = stablehlo.subtract %w, %m2 : tensor<64x512xf32>
  %z = stablehlo.convert %d : (tensor<64x512xf32>) -> tensor<64x512xf16>
  return %z : tensor<64x512xf16>
}
