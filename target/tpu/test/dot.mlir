// Products run on the matrix units: weights latched, rows pushed, products popped.
// Rows, columns and depth are no multiples of the unit's size.
// RUN: spokeshave compile --target tpu --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave compile --target tpu --emit=bundles %s | FileCheck %s --check-prefix=BUNDLES
// RUN: spokeshave run --target tpu %s --random-args --quiet --check=2e-2 | FileCheck %s --check-prefix=SIM

// KERNEL: kernel.matrix_latch
// KERNEL: kernel.matrix_swap
// KERNEL: kernel.matrix_push
// KERNEL: kernel.matrix_pop

// BUNDLES-DAG: mxu.latch
// BUNDLES-DAG: mxu.push
// BUNDLES-DAG: mxu.pop

// SIM: agrees with the reference

// What comes after staging counts as well: tables of masks.
// RUN: not spokeshave compile --target tpu --chip=v5e:vmem=140KiB %s 2>&1 | FileCheck %s --check-prefix=TABLES
// TABLES: SKS-R001: kernel @dot.0 needs {{[0-9]+}} bytes of VMEM with its tables
func.func @main(%a: tensor<45x200xbf16>, %b: tensor<200x300xbf16>) -> tensor<45x300xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<45x200xbf16>, tensor<200x300xbf16>) -> tensor<45x300xbf16>
  return %0 : tensor<45x300xbf16>
}
