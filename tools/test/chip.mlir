// A chip's figures, what kernels cost on it, and what is wrong with a chip.
// RUN: spokeshave chip | FileCheck %s --check-prefix=NAMES
// RUN: spokeshave chip v6e:mxu=4 | FileCheck %s --check-prefix=FIGURES
// RUN: spokeshave chip v4 --gemm 4096,4096,4096,bf16 | FileCheck %s --check-prefix=GEMM
// RUN: echo '[{"kernel": "layer_norm", "rows": 64, "columns": 512}]' > %t.json
// RUN: spokeshave chip v4 --kernels %t.json | FileCheck %s --check-prefix=KERNELS
// RUN: echo 'mxu=2' | spokeshave chip v4 --kernels %t.json --settings-from-stdin | FileCheck %s --check-prefix=TIMES
// RUN: not spokeshave chip v99 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not spokeshave chip v4:vmem=3 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: echo '{"schema": 1, "memory": {"vmen": 1}}' > %t.chip.json
// RUN: not spokeshave chip %t.chip.json 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: echo '[{"kernel": "gemm", "m": 0}]' > %t.bad.json
// RUN: not spokeshave chip v4 --kernels %t.bad.json 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not spokeshave chip v4 --gemm 1,2 2>&1 | FileCheck %s --check-prefix=SHAPE
// NAMES-DAG: v2
// NAMES-DAG: v7x
// NAMES-DAG: example
// FIGURES: v6e: TPU v6e (2024): one core
// FIGURES: mxu.count 4 set by hand
// FIGURES: mxu.latency {{.*}} fitted: not published
// FIGURES: hash
// GEMM: v4: {{[0-9.]+}} us, {{[0-9]+}} cycles on 2 core(s), bound by matrix
// KERNELS: "bound":"{{.*}}","cores":{{.*}}"microseconds":
// TIMES: [{{[0-9.]+}}]
// NONE: SKS-U006: no chip 'v99': there are
// UNIT: SKS-U006: chip setting 'vmem=3': '' is no unit of this; use B, KiB, MiB
// FIELD: SKS-U006: {{.*}}chip.json:1: memory.vmen: no such field
// KERNEL: SKS-U004: kernel 0 of the list:
// SHAPE: SKS-U006: --gemm takes M,K,N,TYPE, not '1,2'
