// RUN: spokeshave check %s

// On one device, shardings change nothing.
module {
  sdy.mesh @mesh = <["x"=1]>
  func.func @main() {
    %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<2xi32>
    check.expect_eq %0, %x : tensor<2xi32>
    %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xi32>) {
      %2 = stablehlo.add %y, %y : tensor<2xi32>
      sdy.return %2 : tensor<2xi32>
    } : (tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
    return
  }
}
