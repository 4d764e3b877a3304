// A suite is a folder: both targets, a share that must pass, reports.
// RUN: rm -rf %t && mkdir -p %t/suite && cp %s %t/suite/cases.mlir
// RUN: not spokeshave check --suite %t/suite --json %t/out.json --out %t/page.md 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
// RUN: FileCheck %s --check-prefix=JSON < %t/out.json
// RUN: FileCheck %s --check-prefix=PAGE < %t/page.md
// RUN: spokeshave check --suite %t/suite --require 60 --require cpu=50 --quiet
// RUN: spokeshave check --suite %t/suite --only "*@sum" | FileCheck %s --check-prefix=ONLY
// RUN: not spokeshave check %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not spokeshave check --suite %t/suite --only none 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not spokeshave check --suite %t/suite --require most 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not spokeshave check --suite %t/suite --target gpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not spokeshave check --suite %t/suite --target tpu 2>&1 | FileCheck %s --check-prefix=CHIP
// ALL-DAG: cases.mlir:{{[0-9]+}} @wrong on reference: failed: {{.*}}cases.mlir:[[#]]:3: 'check.expect_eq_const' op failed: at [1] 5
// ALL-DAG: cases.mlir:{{[0-9]+}} @wrong on cpu: failed: {{.*}}'check.expect_eq_const' op failed: at [1] 5
// ALL-DAG: @probe on cpu: not supported: SKS-U003: expects what a probe within a region saw
// ALL-DAG: spokeshave: SKS-I001: reference: 85.7% of the cases pass, 100.0% are required
// ALL-DAG: reference: 6 of 7 cases pass (85.7%), 1 fail
// ALL-DAG: cpu: 5 of 7 cases pass (71.4%), 1 fail, 1 are not supported
// JSON: "case": "cases.mlir:{{[0-9]+}} @sum"
// JSON: "status": "passed"
// PAGE: | cases.mlir | 6/7 | 5/7 |
// PAGE: ## Not passed on cpu
// ONLY: reference: 1 of 1 cases pass (100.0%)
// ONLY: cpu: 1 of 1 cases pass (100.0%)
// NOFILE: SKS-U004: cannot read
// EMPTY: SKS-U004: there is no case to check
// BAD: SKS-U006: no option '--require'
// TARGET: SKS-U006: no target 'gpu'
// CHIP: @wrong on tpu: failed: {{.*}} at [1] 5 : tensor<i32>, expected 4
// CHIP-NOT: on tpu: failed
// CHIP: @probe on tpu: not supported
// CHIP: tpu: 5 of 7 cases pass

func.func @sum() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.add %0, %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq %1, %1 : tensor<2xi32>
  return
}

// -----

func.func @wrong() {
  %0 = stablehlo.constant dense<[1, 5]> : tensor<2xi32>
  %1 = stablehlo.maximum %0, %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 4]> : tensor<2xi32>
  return
}

// -----

// Calls, a grid of one process, a probe outside of regions.
module {
  func.func private @double(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %a, %a : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main() {
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "interpreter.run_parallel"(%1) {programs = [[@double]]} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = interpreter.probe %2, probe_id = "p" : tensor<2xf32>
    interpreter.print %3 : tensor<2xf32>
    %4 = stablehlo.constant dense<[4.0, 8.0]> : tensor<2xf32>
    check.expect_serialized_eq %4, probe_id = "p" : tensor<2xf32>
    check.expect_close %3, %4, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
    return
  }
}

// -----

module {
  func.func @two(%a: tensor<i32>) -> tensor<i32> {
    return %a : tensor<i32>
  }
  func.func @main() {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1:2 = "interpreter.run_parallel"(%0, %0) {programs = [[@two, @two]]}
      : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    check.expect_eq %1#0, %1#1 : tensor<i32>
    return
  }
}

// -----

func.func @probe() {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.while(%a = %0) : tensor<i32>
  cond {
    %4 = stablehlo.compare LT, %a, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = stablehlo.add %a, %2 : tensor<i32>
    %5 = interpreter.probe %4, probe_id = "p" : tensor<i32>
    stablehlo.return %5 : tensor<i32>
  }
  check.expect_serialized_eq %1, probe_id = "p", iter = 1 : tensor<i32>
  return
}

// -----

// No expectation: it passes because it runs.
func.func @runs() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// Each on a device of its own: one sends, the other one receives; the host feeds.
module {
  func.func @sender(%token: !stablehlo.token) -> !stablehlo.token {
    %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1 = stablehlo.add %0#0, %0#0 : tensor<2xi64>
    %2 = "stablehlo.send"(%1, %0#1) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}
      : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %2 : !stablehlo.token
  }
  func.func @receiver(%token: !stablehlo.token) -> tensor<2xi64> {
    %0:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1 = stablehlo.add %0#0, %0#0 : tensor<2xi64>
    return %1 : tensor<2xi64>
  }
  func.func @fed() -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %0 = stablehlo.after_all : !stablehlo.token
    %1:2 = "interpreter.run_parallel"(%0, %0) {infeed = [@fed], programs = [[@sender], [@receiver]]}
      : (!stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi64>)
    check.expect_eq_const %1#1, dense<[12, 16]> : tensor<2xi64>
    return
  }
}
