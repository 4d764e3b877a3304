#!/usr/bin/env python3
"""Writes kernel/MathCoefficients.h: polynomials for the functions of kernel/Math.h.

Needs mpmath. Each is a Chebyshev fit at 60 digits, within a few percent of the
best polynomial of its degree; the header notes the largest error of the fit.

    python3 kernel/fit_polynomials.py > kernel/MathCoefficients.h
"""

from mpmath import (
    atan,
    chebyfit,
    cos,
    erf,
    erfc,
    exp,
    log,
    log1p,
    mp,
    mpf,
    pi,
    sin,
    sqrt,
    tanh,
)

mp.dps = 60
TINY = mpf(10) ** -20


def series_safe(f, at_zero):
    """f, with its limit at 0."""
    return lambda x: f(x) if abs(x) > TINY else at_zero


LN2 = log(mpf(2))
S = (sqrt(2) - 1) / (sqrt(2) + 1)
PI4 = pi / 4

FITS = [
    # name, function, interval, number of coefficients, comment
    (
        "kExp32",
        series_safe(lambda r: (exp(r) - 1 - r) / r**2, mpf(1) / 2),
        (-LN2 / 2, LN2 / 2),
        5,
        "(exp(r) - 1 - r) / r^2, |r| <= ln2/2",
    ),
    (
        "kExp64",
        series_safe(lambda r: (exp(r) - 1 - r) / r**2, mpf(1) / 2),
        (-LN2 / 2, LN2 / 2),
        11,
        "the same for f64",
    ),
    (
        "kLog32",
        series_safe(lambda f: (log1p(f) - f + f * f / 2) / f**3, mpf(1) / 3),
        (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1),
        9,
        "(log(1+f) - f + f^2/2) / f^3, 1+f in [sqrt(1/2), sqrt(2)]",
    ),
    (
        "kLog64",
        lambda z: (
            (log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z if z > TINY else mpf(2) / 3
        ),
        (mpf(0), S * S),
        8,
        "(log((1+s)/(1-s))/s - 2) / z, z = s^2",
    ),
    (
        "kLogTail64",
        lambda z: (
            ((log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z - mpf(2) / 3) / z
            if z > TINY
            else mpf(2) / 5
        ),
        (mpf(0), S * S),
        8,
        "the same beyond its first term, 2/3",
    ),
    (
        "kSin32",
        lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else -mpf(1) / 6,
        (mpf(0), PI4 * PI4 * mpf("1.02")),
        4,
        "(sin(x)/x - 1) / z, z = x^2, |x| <= pi/4",
    ),
    (
        "kCos32",
        lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > TINY else mpf(1) / 24,
        (mpf(0), PI4 * PI4 * mpf("1.02")),
        4,
        "(cos(x) - 1 + z/2) / z^2",
    ),
    (
        "kSin64",
        lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else -mpf(1) / 6,
        (mpf(0), PI4 * PI4 * mpf("1.02")),
        7,
        "as kSin32, for f64",
    ),
    (
        "kCos64",
        lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > TINY else mpf(1) / 24,
        (mpf(0), PI4 * PI4 * mpf("1.02")),
        7,
        "as kCos32, for f64",
    ),
    (
        "kTanh32",
        lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else -mpf(1) / 3,
        (mpf(0), mpf("0.4")),
        6,
        "(tanh(x)/x - 1) / z, z = x^2 <= 0.4",
    ),
    (
        "kTanh64",
        lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else -mpf(1) / 3,
        (mpf(0), mpf("0.3025")),
        13,
        "the same for f64, z <= 0.55^2",
    ),
    (
        "kAtan64",
        lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else -mpf(1) / 3,
        (mpf(0), mpf("0.1716")),
        13,
        "(atan(t)/t - 1) / z, z = t^2, |t| <= tan(pi/8)",
    ),
    (
        "kErf32",
        lambda z: erf(sqrt(z)) / sqrt(z) - 1 if z > TINY else 2 / sqrt(pi) - 1,
        (mpf(0), mpf(1)),
        7,
        "erf(x)/x - 1, z = x^2 <= 1",
    ),
    ("kErfcLog32", lambda x: log(erfc(x)), (mpf(1), mpf(4)), 9, "log(erfc(x)), 1 <= x <= 4"),
    (
        "kErf64",
        lambda z: erf(sqrt(z)) / sqrt(z) - 1 if z > TINY else 2 / sqrt(pi) - 1,
        (mpf(0), mpf("0.36")),
        11,
        "erf(x)/x - 1, z = x^2 <= 0.36",
    ),
    (
        "kErfcx64",
        lambda u: (
            exp(((2 + 2 * u) / (1 - u) * 1) ** 2)
            * erfc((2 + 2 * u) / (1 - u))
            * (1 + (2 + 2 * u) / (1 - u))
        ),
        ((mpf(0) - 2) / (mpf(0) + 2), (mpf(28) - 2) / (mpf(28) + 2)),
        25,
        "(1 + x) exp(x^2) erfc(x), u = (x - 2) / (x + 2), 0 <= x <= 28",
    ),
]

print("""//===- MathCoefficients.h - polynomials of Math*.cpp -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by kernel/fit_polynomials.py: lowest power first.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace spokeshave::kernel {
""")
for name, function, (low, high), count, comment in FITS:
    coefficients, error = chebyfit(function, [low, high], count, error=True)
    print(f"// {comment}; error {float(error):.1e}")
    body = ", ".join(float(c).hex() for c in reversed(coefficients))
    print(f"inline constexpr double {name}[] = {{{body}}};")
print("""
} // namespace spokeshave::kernel""")
