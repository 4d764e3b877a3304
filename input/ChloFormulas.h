//===- ChloFormulas.h - what the functions of chlo mean ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each as a formula of StableHLO's functions. Those of 16 bits and less are
// computed in f32 (ExpandChlo.cpp), so that only f32 and f64 come here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/ChloTerm.h"

namespace spokeshave::chlo {

// ChloInverse.cpp
Term acos(Term x);
Term acosh(Term x);
Term asin(Term x);
Term asinh(Term x);
Term atan(Term x);
Term atanh(Term x);
Term cosh(Term x);
Term sinh(Term x);
Term square(Term x);
Term tan(Term x);
Pair acos(Pair z);
Pair acosh(Pair z);
Pair asin(Pair z);
Pair asinh(Pair z);
Pair atan(Pair z);
Pair atanh(Pair z);
Pair cosh(Pair z);
Pair sinh(Pair z);
Pair square(Pair z);
Pair tan(Pair z);

// ChloSpecial.cpp
Term besselI1e(Term x);
Term digamma(Term x);
Term erf(Term x);
Term erfc(Term x);
Term erfInv(Term x);
Term lgamma(Term x);
Term polygamma(Term n, Term x);
Term zeta(Term x, Term q);

} // namespace spokeshave::chlo
