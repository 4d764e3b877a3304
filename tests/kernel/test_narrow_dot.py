"""Matrix products of bf16 and of bytes, on each instruction set that this machine has.

Sums of bytes are exact. Sums of bf16 are compared with float64 within the error of a sum in f32.
"""

from pathlib import Path

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from harness import run
from jax import lax

R = np.random.RandomState(0)
bf16 = ml_dtypes.bfloat16

FLAGS = Path("/proc/cpuinfo").read_text().split()
LEVELS = ["x86-64"]
LEVELS += ["avx2"] if "avx2" in FLAGS else []
LEVELS += ["avx512"] if "avx512bw" in FLAGS else []
LEVELS += ["avx512+pairs"] if {"avx512bw", "avx512_bf16"} <= set(FLAGS) else []
LEVELS += ["amx"] if {"amx_int8", "amx_bf16"} <= set(FLAGS) else []

# m, k, n: whole tiles, remainders each way, less than a tile, several blocks.
SHAPES = [
    (32, 64, 32),
    (64, 128, 96),
    (33, 64, 17),
    (17, 65, 33),
    (50, 70, 40),
    (5, 7, 3),
    (1, 64, 48),
    (9, 3, 100),
    (100, 33, 1),
    (130, 256, 200),
    (300, 192, 70),
]


def signed(*shape):
    return R.randint(-128, 128, shape).astype(np.int8)


def unsigned(*shape):
    return R.randint(0, 256, shape).astype(np.uint8)


def floats(*shape):
    return R.randn(*shape).astype(bf16)


def dot(a, b, to=jnp.int32):
    return lax.dot(a, b, preferred_element_type=to)


def converted(a, b):
    """What JAX makes of operands of different types."""
    return dot(a.astype(jnp.int32), b.astype(jnp.int32))


def exact(a, b):
    return a.astype(np.int64) @ b.astype(np.int64)


def close(got, a, b, extra=0.0):
    """Within the error of a sum in f32, and of rounding the result to its own type."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    bound = a.shape[-1] * 2.0**-23 * (np.abs(a) @ np.abs(b)) + extra
    want = a @ b
    got_wide = got.astype(np.float64)
    bound += np.abs(want) * float(ml_dtypes.finfo(got.dtype).eps)
    assert np.all(np.abs(got_wide - want) <= bound)


@pytest.mark.parametrize("isa", LEVELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bytes(shape, isa):
    m, k, n = shape
    for make_a, make_b in ((signed, signed), (unsigned, signed), (signed, unsigned)):
        a, b = make_a(m, k), make_b(k, n)
        product = dot if make_a is make_b else converted
        got = run(product, a, b, kind="dot", isa=isa)[0]
        assert np.array_equal(got, exact(a, b))
    a, b = unsigned(m, k), unsigned(k, n)
    got = run(lambda x, y: dot(x, y, jnp.uint32), a, b, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(a, b))


@pytest.mark.parametrize("isa", LEVELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bf16(shape, isa):
    m, k, n = shape
    a, b = floats(m, k), floats(k, n)
    close(run(lambda x, y: dot(x, y, jnp.float32), a, b, kind="dot", isa=isa)[0], a, b)
    got = run(lambda x, y: x @ y, a, b, kind="dot", isa=isa)[0]
    assert got.dtype == bf16
    close(got, a, b)


def batched(a, b, to):
    return lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), preferred_element_type=to)


FORMS = {
    "transposed_lhs": lambda make: (lambda x, y: (x.T, y), make(70, 50), make(70, 40)),
    "transposed_rhs": lambda make: (lambda x, y: (x, y.T), make(50, 70), make(40, 70)),
    "transposed_both": lambda make: (lambda x, y: (x.T, y.T), make(130, 64), make(64, 130)),
    "sliced": lambda make: (lambda x, y: (x[3:, 2:66], y[1:65, 5:]), make(60, 70), make(70, 47)),
    "reversed": lambda make: (lambda x, y: (x[::-1], y[:, ::-1]), make(40, 64), make(64, 40)),
    "broadcast": lambda make: (
        lambda x, y: (jnp.broadcast_to(x, (40, 64)), y),
        make(1, 64),
        make(64, 40),
    ),
}


@pytest.mark.parametrize("isa", LEVELS)
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, isa):
    operands, a, b = FORMS[form](signed)
    got = run(lambda x, y: dot(*operands(x, y)), a, b, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(*map(np.asarray, operands(a, b))))
    operands, a, b = FORMS[form](floats)
    got = run(lambda x, y: dot(*operands(x, y), jnp.float32), a, b, kind="dot", isa=isa)[0]
    close(got, *map(np.asarray, operands(a, b)))


@pytest.mark.parametrize("isa", LEVELS)
def test_batched(isa):
    a, b = signed(5, 20, 33), signed(5, 33, 18)
    got = run(lambda x, y: batched(x, y, jnp.int32), a, b, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(a, b))
    a, b = floats(3, 40, 64), floats(3, 64, 48)
    close(run(lambda x, y: batched(x, y, jnp.float32), a, b, kind="dot", isa=isa)[0], a, b)


@pytest.mark.parametrize("isa", LEVELS)
def test_result_types(isa):
    a, b = signed(40, 64), signed(64, 40)
    assert np.array_equal(
        run(lambda x, y: x @ y, a, b, kind="dot", isa=isa)[0], exact(a, b).astype(np.int8)
    )
    got = run(lambda x, y: dot(x, y, jnp.float32), a, b, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(a, b).astype(np.float32))
    # Bytes that were converted to floats are bytes; negative numbers as unsigned are not.
    got = run(
        lambda x, y: x.astype(jnp.float32) @ y.astype(jnp.float32), a, b, kind="dot", isa=isa
    )[0]
    assert np.array_equal(got, exact(a, b).astype(np.float32))
    got = run(
        lambda x, y: x.astype(jnp.uint16).astype(jnp.float32) @ y.astype(jnp.float32),
        a,
        b,
        kind="dot",
        isa=isa,
    )[0]
    want = a.astype(np.uint16).astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=100)


@pytest.mark.parametrize("isa", LEVELS)
def test_wraps_around(isa):
    a = np.full((8, 140_000), -128, np.int8)
    b = np.full((140_000, 12), -128, np.int8)
    got = run(dot, a, b, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(a, b).astype(np.int32))


@pytest.mark.parametrize("isa", LEVELS)
def test_fused(isa):
    """Producers and consumers of the product within one kernel."""
    a, b = R.randn(50, 70).astype(np.float32), R.randn(70, 90).astype(np.float32)
    bias = R.randn(90).astype(np.float32)

    def layer(x, w, c):
        y = dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), jnp.float32)
        return jnp.maximum(y + c, 0) * 2

    got = run(layer, a, b, bias, kind="dot", isa=isa)[0]
    rounded = a.astype(bf16).astype(np.float64), b.astype(bf16).astype(np.float64)
    want = np.maximum(rounded[0] @ rounded[1] + bias, 0) * 2
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)

    a, b = signed(50, 70), signed(70, 90)
    scale = np.abs(bias)

    def dequantised(x, w, s):
        return dot(x, w).astype(jnp.float32) * s[None, :]

    got = run(dequantised, a, b, scale, kind="dot", isa=isa)[0]
    assert np.array_equal(got, exact(a, b).astype(np.float32) * scale)


@pytest.mark.parametrize("isa", LEVELS)
def test_special_values(isa):
    """Padding with zeros meets no infinity or NaN of another element."""
    a, b = floats(40, 37), floats(37, 40)
    a[3, 36], a[7, 0], b[36, 5] = np.inf, np.nan, -np.inf
    got = run(lambda x, y: dot(x, y, jnp.float32), a, b, kind="dot", isa=isa)[0]
    with np.errstate(invalid="ignore"):
        want = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.array_equal(np.isinf(got), np.isinf(want))


@pytest.mark.parametrize("isa", LEVELS)
def test_denormals(isa):
    """Kept at the highest precision; at the default one they may count as zeros."""
    a = np.full((40, 64), 2.0**-130, np.float32).astype(bf16)
    b = np.full((64, 40), 2.0**100, np.float32).astype(bf16)

    def highest(x, y):
        return lax.dot(x, y, precision=lax.Precision.HIGHEST, preferred_element_type=jnp.float32)

    got = run(highest, a, b, kind="dot", isa=isa)[0]
    assert np.all(got == np.float32(64 * 2.0**-30))
    got = run(lambda x, y: dot(x, y, jnp.float32), a, b, kind="dot", isa=isa)[0]
    assert np.all((got == 0) | (got == np.float32(64 * 2.0**-30)))
