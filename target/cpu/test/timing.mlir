// Where a compilation's time goes, by phase and by kernel. Equal kernels are one;
// a second compilation takes the code of the first unless told otherwise.
// RUN: spokeshave compile --timing %s | FileCheck %s
// RUN: spokeshave compile --timing --repeat=2 %s | FileCheck %s --check-prefix=TWICE
// RUN: spokeshave compile --timing --repeat=2 --option share-kernels=false %s | FileCheck %s
// RUN: not spokeshave compile --timing --repeat=no %s 2>&1 | FileCheck %s --check-prefix=NO

// CHECK: phase {{ *}}wall ms {{ *}}cpu ms
// CHECK: read
// CHECK: verify
// CHECK: graph.graph-fuse
// CHECK: schedule.schedule-programs
// CHECK: kernel.lower
// CHECK: llvm.emit
// CHECK: llvm.optimize
// CHECK: llvm.generate
// CHECK: all
// A kernel for both sines, its driver.
// CHECK: 1 kernels in 2 objects, 0 of them shared
// CHECK: sine.0{{ *}}loop
// TWICE: 1 kernels in 2 objects, 1 of them shared
// NO: SKS-U006: --repeat is a positive number
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.sine %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
