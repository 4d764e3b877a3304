// Every level of the road can be looked at.
// RUN: spokeshave compile --emit=stablehlo %s | FileCheck %s --check-prefix=STABLEHLO
// RUN: spokeshave compile --emit=graph %s | FileCheck %s --check-prefix=GRAPH
// RUN: spokeshave compile --emit=schedule %s | FileCheck %s --check-prefix=SCHEDULE
// RUN: spokeshave compile --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave compile --emit=llvm %s | FileCheck %s --check-prefix=LLVM
// RUN: spokeshave compile --emit=asm --isa=avx2 %s | FileCheck %s --check-prefix=ASM
// RUN: spokeshave compile %s | FileCheck %s --check-prefix=STATS
// RUN: not spokeshave compile --isa=pdp11 %s 2>&1 | FileCheck %s --check-prefix=ISA
// RUN: not spokeshave compile --emit=tea %s 2>&1 | FileCheck %s --check-prefix=LEVEL

// STABLEHLO: stablehlo.add
// GRAPH: graph.fusion loop "add"
// SCHEDULE: schedule.program @main
// SCHEDULE: schedule.launch @add.0
// SCHEDULE: schedule.kernel @add.0
// KERNEL: kernel.func @add.0
// LLVM: define {{.*}}void @add.0(
// LLVM: define {{.*}}i32 @spokeshave.driver.main(
// ASM: add.0:
// STATS: 1 kernels, 0 library calls, 0 custom calls
// ISA: SKS-U006: isa is one of
// LEVEL: SKS-U006: no level 'tea'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %one : tensor<4xf32>
  return %0 : tensor<4xf32>
}
