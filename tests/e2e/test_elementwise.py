# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations on every dtype, with the values that break naive versions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

UNARY = {
    "neg": lax.neg,
    "abs": lax.abs,
    "sign": lax.sign,
    "exp": lax.exp,
    "expm1": lax.expm1,
    "log": lax.log,
    "log1p": lax.log1p,
    "sqrt": lax.sqrt,
    "rsqrt": lax.rsqrt,
    "cbrt": lax.cbrt,
    "logistic": lax.logistic,
    "sin": lax.sin,
    "cos": lax.cos,
    "tan": lax.tan,
    "tanh": lax.tanh,
    "floor": lax.floor,
    "ceil": lax.ceil,
    "round": lax.round,
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "is_finite": lax.is_finite,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "erf_inv": lax.erf_inv,
    "lgamma": lax.lgamma,
    "digamma": lax.digamma,
    "asin": lax.asin,
    "acos": lax.acos,
    "atan": lax.atan,
    "sinh": lax.sinh,
    "cosh": lax.cosh,
    "asinh": lax.asinh,
    "acosh": lax.acosh,
    "atanh": lax.atanh,
}
BINARY = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "ge": lax.ge,
}


def floats(dtype, n=1003, seed=0):
    """Ordinary values, then signed zeros, infinities, NaN, and large and small magnitudes."""
    rng = np.random.default_rng(seed)
    ordinary = rng.standard_normal(n) * 3
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e4, -1e4, 1e-3]
    return np.concatenate([ordinary, special]).astype(dtype)


def integers(dtype, n=517, seed=0):
    """The whole range, with its ends, zero and one."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    values = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    return np.concatenate([values, np.array([info.min, info.max, 0, 1], dtype)])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(compare, x64, name, dtype):
    compare(UNARY[name], floats(jnp.dtype(dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*BINARY, "pow", "atan2", "nextafter"])
def test_binary_float(compare, x64, name, dtype):
    function = (
        BINARY.get(name) or {"pow": lax.pow, "atan2": lax.atan2, "nextafter": lax.nextafter}[name]
    )
    if name == "nextafter" and dtype in ("float16", "bfloat16"):
        pytest.skip("JAX's own CPU has no nextafter for 16-bit floats")
    a, b = floats(jnp.dtype(dtype)), floats(jnp.dtype(dtype), seed=1)
    compare(function, a, np.concatenate([b[-14:][::-1], b[:-14]]))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_binary_integer(compare, x64, name, dtype):
    a, b = integers(dtype), integers(dtype, seed=1)
    b = np.concatenate([[0, 1], b[:-2]]).astype(dtype)  # division by zero, and MIN / -1 below
    if dtype.startswith("int"):
        a[5], b[5] = np.iinfo(dtype).min, -1
    compare(BINARY[name], a, b)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "operation",
    [
        lax.bitwise_and,
        lax.bitwise_or,
        lax.bitwise_xor,
        lax.shift_left,
        lax.shift_right_logical,
        lax.shift_right_arithmetic,
    ],
)
def test_bits(compare, x64, operation, dtype):
    a = integers(dtype)
    shift = (np.arange(len(a)) % (2 * np.iinfo(dtype).bits)).astype(dtype)
    compare(operation, a, shift)
    compare(lambda x: (lax.bitwise_not(x), lax.population_count(x), lax.clz(x)), a)


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, "bool"])
@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS, "bool"])
def test_convert(compare, x64, source, target):
    kind = np.dtype(source).kind if source != "bfloat16" else "f"
    values = {"f": floats, "i": integers, "u": integers}.get(kind, lambda d: floats("float32") > 0)
    compare(lambda x: x.astype(target), values(jnp.dtype(source)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    "name",
    [
        "neg",
        "abs",
        "exp",
        "log",
        "log1p",
        "expm1",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tanh",
        "sign",
        "logistic",
    ],
)
def test_complex_unary(compare, x64, name, dtype):
    rng = np.random.default_rng(0)
    z = (rng.standard_normal(501) + 1j * rng.standard_normal(501)).astype(dtype)
    compare(UNARY[name], z)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_binary(compare, x64, dtype):
    rng = np.random.default_rng(0)
    a, b = (
        (rng.standard_normal(301) + 1j * rng.standard_normal(301)).astype(dtype) for _ in range(2)
    )
    compare(
        lambda a, b: (a + b, a - b, a * b, a / b, a**b, a == b, a.real, b.imag, jnp.conj(a)), a, b
    )


def test_casts_saturate(ours, x64):
    """The golden table: out of range saturates, NaN becomes 0."""
    x = jax.device_put(
        np.array([-20, 300.7, 1e10, -1e20, np.nan, np.inf, -np.inf], np.float32), ours
    )

    def cast(t):
        return np.asarray(jax.jit(lambda v: v.astype(t))(x)).tolist()

    assert cast("uint8") == [0, 255, 255, 0, 0, 255, 0]
    assert cast("int32") == [-20, 300, 2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31)]


@pytest.mark.quick
def test_first_light(compare):
    compare(lambda x: x + 1, np.float32(1))
    compare(lambda x: x + 1, np.arange(1000, dtype=np.float32).reshape(10, 100))


@pytest.mark.quick
def test_chain(compare):
    compare(lambda x: jax.nn.gelu(jnp.tanh(x) * 2 + 1) * jnp.exp(-x * x), floats("float32")[:1003])


def test_clamp_select(compare):
    x = floats("float32")
    compare(lambda x: (jnp.clip(x, -1, 2), jnp.where(x > 0, x, -x), lax.clamp(-1.0, x, x * 2)), x)


def test_nan_of_min_max(compare, x64):
    compare(
        lambda a, b: (jnp.minimum(a, b), jnp.maximum(a, b), jnp.max(jnp.stack([a, b, a]))),
        3.0,
        np.nan,
    )


def test_no_inverse_folds(ours):
    """log(exp(x)) and sqrt(x*x) overflow to infinity; no rewrite may hide it."""
    x = jax.device_put(np.array([89.0, 200.0], np.float32), ours)
    assert np.isinf(np.asarray(jax.jit(lambda x: jnp.log(jnp.exp(x)))(x))).all()
    y = jax.device_put(np.array([1e30], np.float32), ours)
    assert np.isinf(np.asarray(jax.jit(lambda x: jnp.sqrt(jnp.square(x)))(y))).all()


def test_bitcast(compare):
    x = floats("float32")
    compare(lambda x: lax.bitcast_convert_type(x, jnp.int32), x)
    compare(lambda x: lax.bitcast_convert_type(x, jnp.uint8), x)
    compare(
        lambda x: lax.bitcast_convert_type(x, jnp.float32),
        np.arange(400, dtype=np.uint8).reshape(100, 4),
    )
