// Large factorisations as loops over blocks of smaller ones and products; what a kernel
// takes stays.
// RUN: spokeshave-opt -verify-each --graph-expand-decompositions %s | FileCheck %s

// CHECK-LABEL: @solve
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}}precision = [HIGHEST, HIGHEST]{{.*}} : (tensor<16x48xf32>, tensor<48x5xf32>) -> tensor<16x5xf32>
// CHECK: "stablehlo.triangular_solve"{{.*}}left_side = true, lower = true{{.*}} : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
// CHECK: stablehlo.slice {{.*}} -> tensor<40x5xf32>
func.func @solve(%a: tensor<40x40xf32>, %b: tensor<40x5xf32>) -> tensor<40x5xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
    : (tensor<40x40xf32>, tensor<40x5xf32>) -> tensor<40x5xf32>
  return %0 : tensor<40x5xf32>
}

// From the right with an upper matrix: the transposed system, a lower one already.
// CHECK-LABEL: @right
// CHECK-NOT: reverse
// CHECK: stablehlo.while
// CHECK: "stablehlo.triangular_solve"{{.*}}unit_diagonal = true{{.*}} : (tensor<2x16x16xf32>, tensor<2x16x3xf32>)
func.func @right(%a: tensor<2x32x32xf32>, %b: tensor<2x3x32xf32>) -> tensor<2x3x32xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
    : (tensor<2x32x32xf32>, tensor<2x3x32xf32>) -> tensor<2x3x32xf32>
  return %0 : tensor<2x3x32xf32>
}

// Blocks of 128, and these in blocks of 16.
// CHECK-LABEL: @factor
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} -> tensor<384x128xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.cholesky {{.*}}lower = true : tensor<16x16xf32>
func.func @factor(%a: tensor<300x300xf32>) -> tensor<300x300xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<300x300xf32>
  return %0 : tensor<300x300xf32>
}

// CHECK-LABEL: @small
// CHECK-NEXT: stablehlo.cholesky
func.func @small(%a: tensor<9x16x16xf32>) -> tensor<9x16x16xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<9x16x16xf32>
  return %0 : tensor<9x16x16xf32>
}
