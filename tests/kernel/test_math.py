"""Accuracy of the transcendental functions: ulps against 80-bit or mpmath values."""

import numpy as np
import pytest
from harness import run, ulp_error, unary_text
from jax import lax

mpmath = pytest.importorskip("mpmath")

N = 20000


def samples(dtype, low, high, seed=0):
    """Numbers spread over the range, many in every binade, and the specials."""
    r = np.random.RandomState(seed)
    x = r.uniform(low / 4, high / 4, N) * 4
    small = np.exp2(r.uniform(-30, 2, N)) * np.sign(x)
    small = small[(small > low) & (small < high)]
    bits = r.randint(0, 2**31 - 1, N).astype(np.uint32).view(np.float32).astype(np.float64)
    bits = bits[(bits > low) & (bits < high)]
    special = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 1e-45, 1e-310, -1e-310, 5e-324]
    )
    return np.concatenate([x, small, bits, -bits if low < 0 else bits[:0], special]).astype(dtype)


def longdouble(f):
    return lambda x: f(x.astype(np.longdouble))


def with_mpmath(f):
    def g(x):
        with mpmath.workprec(120):
            return np.array(
                [
                    np.longdouble(mpmath.nstr(f(mpmath.mpf(float(v))), 30))
                    if np.isfinite(v)
                    else np.longdouble(float(f(mpmath.mpf(float(v)))))
                    if v == v
                    else np.longdouble("nan")
                    for v in x
                ]
            )

    return g


L = np.longdouble
CASES = [
    # name, function, exact, range of f32, range of f64, allowed ulps f32, f64
    ("exp", lax.exp, longdouble(np.exp), (-104, 89), (-746, 710), 1.5, 1.5),
    ("expm1", lax.expm1, longdouble(np.expm1), (-20, 89), (-50, 710), 1, 2),
    ("log", lax.log, longdouble(np.log), (0, 3e38), (0, 1e308), 1.5, 1.5),
    ("log1p", lax.log1p, longdouble(np.log1p), (-1, 3e38), (-1, 1e308), 1, 2),
    ("tanh", lax.tanh, longdouble(np.tanh), (-10, 10), (-20, 20), 2, 2),
    (
        "logistic",
        lax.logistic,
        lambda x: np.where(x >= 0, 1 / (1 + np.exp(-L(x))), np.exp(L(x)) / (1 + np.exp(L(x)))),
        (-100, 20),
        (-740, 40),
        2,
        2,
    ),
    ("sin", lax.sin, longdouble(np.sin), (-1000, 1000), (-1000, 1000), 1.5, 1.5),
    ("cos", lax.cos, longdouble(np.cos), (-1000, 1000), (-1000, 1000), 1.5, 1.5),
    ("sin_large", lax.sin, with_mpmath(mpmath.sin), (-3e38, 3e38), (-1e308, 1e308), 1.5, 1.5),
    ("cos_large", lax.cos, with_mpmath(mpmath.cos), (-3e38, 3e38), (-1e308, 1e308), 1.5, 1.5),
    ("tan", lax.tan, longdouble(np.tan), (-1000, 1000), (-1000, 1000), 1, 2),
    ("cbrt", lax.cbrt, longdouble(np.cbrt), (-3e38, 3e38), (-1e308, 1e308), 1, 1),
    ("rsqrt", lax.rsqrt, lambda x: 1 / np.sqrt(L(x)), (0, 3e38), (0, 1e308), 1.5, 1.5),
    ("sqrt", lax.sqrt, longdouble(np.sqrt), (0, 3e38), (0, 1e308), 0.51, 0.51),
    ("erf", lax.erf, with_mpmath(mpmath.erf), (-5, 5), (-7, 7), 2, 2),
    ("erfc", lax.erfc, with_mpmath(mpmath.erfc), (-5, 10), (-7, 26), 1, 8),
]


@pytest.mark.parametrize("isa", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_unary(case, dtype, isa):
    name, function, exact, range32, range64, allowed32, allowed64 = case
    low, high = range32 if dtype == np.float32 else range64
    x = samples(dtype, low, high)
    if "erf" in name or "large" in name:
        x = np.concatenate([x[::20], x[-13:]])
    with np.errstate(all="ignore"):
        want = exact(x)
    # JAX decomposes some functions itself: name the operation.
    op = {"logistic": "logistic", "erf": "chlo.erf", "erfc": "chlo.erfc"}.get(name)
    (got,) = run(function, x, isa=isa, text=op and unary_text(op, x))
    error = ulp_error(got, want)
    worst = np.argmax(error)
    allowed = allowed32 if dtype == np.float32 else allowed64
    assert error[worst] <= allowed, (x[worst], got[worst], want[worst], error[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pow(dtype):
    r = np.random.RandomState(1)
    x = np.concatenate([r.uniform(0, 3, N), np.exp2(r.uniform(-100, 100, N)), r.uniform(-5, 5, N)])
    y = np.concatenate([r.uniform(-300, 300, N), r.uniform(-8, 8, N), r.randint(-20, 20, N)])
    if dtype == np.float32:
        y[:N] /= 8
    s = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -2, 0.5, -0.5, 3, -3, 1e30, -1e30])
    a, b = np.meshgrid(s, s)
    x, y = (
        np.concatenate([x, a.ravel()]).astype(dtype),
        np.concatenate([y, b.ravel()]).astype(dtype),
    )
    with np.errstate(all="ignore"):
        want = np.power(x.astype(L), y.astype(L))
    (got,) = run(lax.pow, x, y)
    error = ulp_error(got, want)
    worst = np.argmax(error)
    assert error[worst] <= 1.5, (x[worst], y[worst], got[worst], want[worst], error[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_atan2(dtype):
    r = np.random.RandomState(1)
    y, x = r.randn(2, N) * np.exp2(r.uniform(-60, 60, (2, N)))
    s = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e38, 1e-38])
    a, b = np.meshgrid(s, s)
    y, x = (
        np.concatenate([y, a.ravel()]).astype(dtype),
        np.concatenate([x, b.ravel()]).astype(dtype),
    )
    want = np.arctan2(y.astype(L), x.astype(L))
    (got,) = run(lax.atan2, y, x)
    error = ulp_error(got, want)
    worst = np.argmax(error)
    assert error[worst] <= 1.5, (y[worst], x[worst], got[worst], want[worst], error[worst])
    assert np.array_equal(np.signbit(got[~np.isnan(want)]), np.signbit(want[~np.isnan(want)]))


@pytest.mark.parametrize("isa", ["native", "x86-64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_rem(dtype, isa):
    r = np.random.RandomState(1)
    x, y = (r.randn(2, N) * np.exp2(r.uniform(-12, 12, (2, N)))).astype(dtype)
    if dtype != np.float16:
        x[:100] *= dtype(1e30)
        y[50:150] *= dtype(1e-30)
    s = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5])
    a, b = np.meshgrid(s, s)
    x, y = (
        np.concatenate([x, a.ravel()]).astype(dtype),
        np.concatenate([y, b.ravel()]).astype(dtype),
    )
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    (got,) = run(lax.rem, x, y, isa=isa)
    bad = ~((got == want) | (np.isnan(got) & np.isnan(want)))
    assert not bad.any(), (x[bad][:5], y[bad][:5], got[bad][:5], want[bad][:5])
