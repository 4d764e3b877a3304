// RUN: spokeshave-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Blocks of 4 x 16 of a matrix, numbered row by row: the last ones are not full.
// CHECK-LABEL: kernel.func @block(
// CHECK: kernel.window %arg1 at 0 tasks [3, 2] sizes [4, 16] strides [30, 1] limits [10, 30] digits [0, 1] steps [4, 16]
kernel.func @block(%task: index, %a: memref<10x30xf32>) tasks 6 inputs 1 {
  %w = kernel.window %a at 0 tasks [3, 2] sizes [4, 16] strides [30, 1] limits [10, 30] digits [0, 1] steps [4, 16] : memref<10x30xf32> to memref<64xf32>
}

// -----

kernel.func @strided(%task: index, %a: memref<10x30xf32>) tasks 1 inputs 1 {
  // expected-error @below {{needs contiguous elements along its last dimension}}
  %w = kernel.window %a at 0 tasks [1] sizes [10] strides [30] limits [10] digits [-1] steps [0] : memref<10x30xf32> to memref<10xf32>
}

// -----

kernel.func @size(%task: index, %a: memref<30xf32>) tasks 1 inputs 1 {
  // expected-error @below {{has 8 elements of 'memref<30xf32>', not 'memref<9xf32>'}}
  %w = kernel.window %a at 0 tasks [1] sizes [8] strides [1] limits [30] digits [-1] steps [0] : memref<30xf32> to memref<9xf32>
}

// -----

kernel.func @digit(%task: index, %a: memref<30xf32>) tasks 4 inputs 1 {
  // expected-error @below {{moves with a digit that the task's number does not have}}
  %w = kernel.window %a at 0 tasks [4] sizes [8] strides [1] limits [30] digits [1] steps [8] : memref<30xf32> to memref<8xf32>
}
