//===- spokeshave-opt.cpp - runs passes on text -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a program, runs the passes named on the command line, prints the result:
// what lit tests are made of.
//
//===----------------------------------------------------------------------===//
#include "tools/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  spokeshave::registerAllDialects(registry);
  spokeshave::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Spokeshave's optimizer driver\n", registry));
}
