// Time on a chip without values, as a table and as JSON; errors of chips.
// RUN: spokeshave time %s | FileCheck %s --check-prefix=TABLE
// RUN: spokeshave time %s --chip=v6e --json | FileCheck %s --check-prefix=JSON
// RUN: spokeshave time %s --trace=%t.json --xplane=%t.xplane.pb && FileCheck %s --check-prefix=TRACE < %t.json
// RUN: not spokeshave time %s --trace=/nowhere/t.json 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not spokeshave time %s --chip=v99 2>&1 | FileCheck %s --check-prefix=NOCHIP
// RUN: not spokeshave time %s --chip=v5e:vmem=1KiB 2>&1 | FileCheck %s --check-prefix=SMALL

// TABLE: cycles on v5e, {{.*}} us
// TABLE: add.0 {{.*}} HBM
// TABLE: bundles simulated in {{.*}} million a second
// JSON: "bundles_per_second":
// JSON: "chip": "v6e"
// JSON: "kernels": [
// JSON: "bound": "HBM"
// JSON: "busy": {
// JSON: "flops": 2097152
// JSON: "microseconds":
// JSON: "minimum_hbm_bytes": 25165824
// TRACE: "traceEvents":[
// TRACE: "name":"core 0 vector"
// TRACE: "bound":"HBM"
// TRACE: "name":"HBM to VMEM"
// TRACE: "name":"HBM bandwidth"
// NOFILE: cannot write '/nowhere/t.json'
// NOCHIP: SKS-U0{{.*}}v99
// SMALL: SKS-{{[UR]}}0{{.*}}
func.func @main(%a: tensor<2048x1024xf32>, %b: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %0 = stablehlo.add %a, %b : tensor<2048x1024xf32>
  return %0 : tensor<2048x1024xf32>
}
