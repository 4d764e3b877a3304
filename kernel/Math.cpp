//===- Math.cpp - transcendental functions: dispatch -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Math.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"

#include "input/StablehloOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

bool kernel::isMathComposite(StringRef name) {
  return name == "chlo.erf" || name == "chlo.erfc";
}

FailureOr<Num> kernel::emitMath(Operation *op, Num x) {
  using Result = FailureOr<Num>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](hlo::ExpOp) { return exp(x); })
      .Case([&](hlo::Expm1Op) { return expm1(x); })
      .Case([&](hlo::LogOp) { return log(x); })
      .Case([&](hlo::Log1pOp) { return log1p(x); })
      .Case([&](hlo::TanhOp) { return tanh(x); })
      .Case([&](hlo::LogisticOp) { return logistic(x); })
      .Case([&](hlo::SineOp) { return sinCos(x).sin; })
      .Case([&](hlo::CosineOp) { return sinCos(x).cos; })
      .Case([&](hlo::TanOp) { return tan(x); })
      .Case([&](hlo::CbrtOp) { return cbrt(x); })
      .Case([&](hlo::RsqrtOp) { return hasMathUnit(x) ? unitRsqrt(x) : x.constant(1.0) / sqrt(x); })
      .Case([&](hlo::CompositeOp composite) -> Result {
        if (composite.getName() == "chlo.erf")
          return erf(x);
        if (composite.getName() == "chlo.erfc")
          return erfc(x);
        return failure();
      })
      .Default([](Operation *) { return failure(); });
}
