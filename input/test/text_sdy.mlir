// RUN: spokeshave-opt %s | spokeshave-opt | FileCheck %s
// RUN: spokeshave-opt %s --mlir-print-op-generic | spokeshave-opt | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>
// CHECK: sdy.mesh @turned = <["x"=2], device_ids=[1, 0]> {stablehlo.mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>}
sdy.mesh @turned = <["x"=2], device_ids=[1, 0]> {stablehlo.mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>}
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>

// CHECK-LABEL: func.func @shardings
// CHECK-SAME{LITERAL}: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2}p3], replicated={"y":(2)2}>}
func.func @shardings(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2}p3], replicated={"y":(2)2}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT{LITERAL}: sdy.sharding_constraint %arg0 <@mesh, [{}, {?}], unreduced=max{"x"}> : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {?}], unreduced=max{"x"}> : tensor<8x8xf32>
  // CHECK-NEXT{LITERAL}: sdy.sharding_constraint %arg0 <mesh<["z"=2]>, [{"z"}, {}]> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %a <mesh<["z"=2]>, [{"z"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT{LITERAL}: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
  // CHECK-NEXT: stablehlo.add
  // CHECK-NEXT: stablehlo.all_gather
  // CHECK-SAME: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  // CHECK-NEXT: sdy.return %{{.*}} : tensor<8x8xf32>
  // CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %3 = stablehlo.add %b, %b : tensor<4x8xf32>
    %4 = "stablehlo.all_gather"(%3) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
    sdy.return %4 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT{LITERAL}: stablehlo.custom_call @f(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=8, j=8} reduction={j}, custom>}
  %5 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=8, j=8} reduction={j}, custom>} : (tensor<8x8xf32>) -> tensor<64xf32>
  // CHECK-NEXT: builtin.unrealized_conversion_cast %arg0 : tensor<8x8xf32> to tensor<8x8xf32>
  %6 = builtin.unrealized_conversion_cast %a : tensor<8x8xf32> to tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
