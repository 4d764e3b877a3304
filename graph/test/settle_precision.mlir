// Products in bf16 that make each product: from its algorithm, its precision, the least
// that is asked for, and what the machine calls full.
// RUN: spokeshave-opt -verify-each --graph-normalize-dots --graph-settle-precision %s | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: spokeshave-opt -verify-each --graph-normalize-dots --graph-settle-precision="least=1 full-passes=3" %s | FileCheck %s --check-prefixes=CHECK,LEAST

// CHECK-LABEL: @precisions
// PLAIN: stablehlo.dot_general {{.*}}graph.product_order = 0
// PLAIN: stablehlo.dot_general {{.*}}graph.product_order = 1
// PLAIN: stablehlo.dot_general {{.*}}graph.product_order = 2
// LEAST: stablehlo.dot_general {{.*}}graph.product_order = 1
// LEAST: stablehlo.dot_general {{.*}}graph.product_order = 1
// LEAST: stablehlo.dot_general {{.*}}graph.product_order = 1
func.func @precisions(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0], precision = [DEFAULT, HIGH] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: @algorithms
// CHECK: stablehlo.dot_general {{.*}}graph.product_order = 0
// CHECK: stablehlo.dot_general {{.*}}graph.product_order = 4
// CHECK: stablehlo.dot_general {{.*}}graph.product_order = 1
// CHECK: stablehlo.dot_general {{.*}}graph.product_order = 2
func.func @algorithms(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 9, allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.dot_general %2, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
