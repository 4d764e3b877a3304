//===- Dialects.cpp - the dialects that programs come in --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// builtin.unrealized_conversion_cast, which portable bytecode has around sdy
// operations, belongs to the builtin dialect that every context has.
//
//===----------------------------------------------------------------------===//
#include "input/Dialects.h"

#include "input/ChloOps.h"
#include "input/NarrowFloats.h"
#include "input/SdyOps.h"
#include "input/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"

using namespace mlir;

namespace spokeshave {

void registerInputDialects(DialectRegistry &registry) {
  registry.insert<chlo::ChloDialect, func::FuncDialect, narrow::NarrowDialect,
                  quant::QuantizationDialect, sdy::SdyDialect, stablehlo::StablehloDialect>();
}

void loadInputDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerInputDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

} // namespace spokeshave
