// Two cores: a value of which each core reads the rows that it wrote stays in VMEM, and
// both fetch the weights. One that is read turned goes through HBM. For the next run of the
// program each brings its rows, and both the weights.
// RUN: spokeshave compile --target=tpu --chip=v5p --option=cross-program-prefetch=off --emit=near %s | FileCheck %s
// RUN: spokeshave compile --target=tpu --chip=v5p --emit=near %s | FileCheck %s --check-prefix=RUNS
// RUN: spokeshave compile --target=tpu --chip=v5p --emit=kernel %s | FileCheck %s --check-prefix=KERNEL
// RUN: spokeshave time --chip=v5p --json %s | FileCheck %s --check-prefix=JSON
// RUN: spokeshave compile --target=tpu --chip=v5p --option=megacore=off --emit=near %s | FileCheck %s --check-prefix=ONE
// CHECK: schedule.program @main(%{{.*}}, %[[W:.*]]: memref<{{.*}}>, %[[V:.*]]: memref<{{.*}}>) results
// CHECK: %[[NEAR:.*]] = schedule.near
// CHECK: %[[BETWEEN:.*]] = schedule.near
// CHECK: %[[FAR:.*]] = schedule.arena at 2097152
// CHECK: schedule.start %[[V]] to %{{.*}} signal 0 parts [0, 2097152, 0, 2097152]
// CHECK: schedule.launch @dot_tanh{{.*}}(%{{.*}}, %[[W]], %[[BETWEEN]])
// CHECK: schedule.launch @dot_exp{{.*}}(%[[BETWEEN]], %[[NEAR]], %[[FAR]])
// CHECK: schedule.launch @dot.0 inputs 1(%[[FAR]], %{{.*}})
// RUNS: schedule.program @main(%[[X:.*]]: memref<{{.*}}>, %[[W:.*]]: memref<{{.*}}>, %{{.*}}: memref<{{.*}}>) results
// RUNS-DAG: schedule.start %[[X]] to %{{.*}} parts [0, 1048576, 1048576, 2097152] {first_run}
// RUNS-DAG: schedule.start %[[W]] to %{{.*}} parts [0, 2097152, 0, 2097152] {first_run}
// RUNS: schedule.launch @dot_tanh
// RUNS-DAG: schedule.start %[[X]] to %{{.*}} parts [0, 1048576, 1048576, 2097152] {next_run}
// RUNS-DAG: schedule.start %[[W]] to %{{.*}} parts [0, 2097152, 0, 2097152] {next_run}
// KERNEL: kernel.func @dot_tanh{{.*}} tasks 2 {{.*}}core_parts = array<i64: 0, 1048576, 1048576, 2097152, 0, 2097152, 0, 2097152, 0, 1048576, 1048576, 2097152>
// JSON: "meetings": 2
// ONE-NOT: parts [
func.func @main(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>)
    -> tensor<1024x1024xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = stablehlo.tanh %0 : tensor<1024x1024xbf16>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %3 = stablehlo.exponential %2 : tensor<1024x1024xbf16>
  %4 = stablehlo.dot_general %3, %3, contracting_dims = [0] x [0]
      : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %4 : tensor<1024x1024xbf16>
}
