// Bad input is an error with a code and an exit status, never a crash.
// RUN: not spokeshave run %s 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not spokeshave run %s --arg %t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not spokeshave run %t.none 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: echo "func.func @main(" | not spokeshave compile - 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: echo "module {}" | not spokeshave compile - 2>&1 | FileCheck %s --check-prefix=MAIN
// RUN: not spokeshave brew 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: not spokeshave run %s --sugar 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: sed "s/return %x/%y = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<5xf32> return %x/" %s \
// RUN:   | not spokeshave compile - 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: spokeshave doctor --help | FileCheck %s --check-prefix=DOCTOR
// RUN: not spokeshave doctor --all 2>&1 | FileCheck %s --check-prefix=OPTION2
// RUN: spokeshave check --help | FileCheck %s --check-prefix=CHECK-HELP
// RUN: spokeshave run --help | FileCheck %s --check-prefix=RUN-HELP
// RUN: spokeshave compile --help | FileCheck %s --check-prefix=COMPILE-HELP
// RUN: spokeshave opt --help | FileCheck %s --check-prefix=OPT-HELP
// RULE: SKS-U002: {{.*}}-:{{[0-9]+}}{{.*}}'stablehlo.reshape' op reshape_c2
// DOCTOR: usage: spokeshave doctor
// OPTION2: SKS-U006: no option '--all'
// CHECK-HELP: usage: spokeshave check
// RUN-HELP: usage: spokeshave run
// COMPILE-HELP: usage: spokeshave compile
// OPT-HELP: USAGE:
// COUNT: SKS-U004: @main takes 1 arguments, not 0
// FILE: SKS-U004:
// NOFILE: SKS-U004: cannot read
// TEXT: SKS-U001:
// MAIN: SKS-U002: the program has no function @main
// COMMAND: no command 'brew'
// OPTION: SKS-U006: no option '--sugar'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
