//===- MathErf.cpp - error functions ---------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"
#include "kernel/MathCoefficients.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// erfc(x) of x in [0, 28], f64: exp(-x^2) times a polynomial in
/// (x - 2) / (x + 2), over 1 + x.
static Num erfcPositive(Num x) {
  Num u = (x - 2.0) / (x + 2.0);
  Pair square = exactProduct(x, x);
  Num decay = exp(-square.high, -square.low);
  return decay * (estrin(u, kErfcx64) / (x + 1.0));
}

static Num erfDouble(Num x) {
  Num size = abs(x);
  Num z = x * x;
  Num small = fma(estrin(z, kErf64), x, x);
  Num large = 1.0 - erfcPositive(select(lt(size, 6.5), size, 6.5));
  return select(isNan(x), x, select(lt(size, 0.6), small, copySign(large, x)));
}

static Num erfSingle(Num x) {
  Num size = abs(x);
  Num small = fma(horner(x * x, kErf32), x, x);
  // 1 - erfc, with erfc as the exponential of a polynomial.
  Num capped = select(lt(size, 4.0), size, 4.0);
  Num large = copySign(1.0 - exp(horner(capped, kErfcLog32)), x);
  return select(isNan(x), x, select(lt(size, 1.0), small, large));
}

Num kernel::erf(Num x) {
  return x.bits() == 64 ? erfDouble(x) : erfSingle(x);
}

Num kernel::erfc(Num x) {
  return inDouble(x, [](Num x) {
    Num size = abs(x);
    Num tail = erfcPositive(select(lt(size, 28.0), size, 28.0));
    Num near = 1.0 - fma(estrin(x * x, kErf64), x, x);
    Num result = select(lt(x, 0.0), 2.0 - tail, tail);
    result = select(lt(size, 0.5), near, result);
    return select(isNan(x), x, result);
  });
}
