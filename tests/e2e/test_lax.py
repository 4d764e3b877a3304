# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One case for each kind of failure that JAX's own tests showed (docs/conformance-jax.md)."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

RNG = np.random.default_rng(0)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n,k", [(1, 1), (2, 2), (5, 3), (16, 16), (17, 17), (31, 18), (40, 33)])
def test_top_k_of_short_rows(compare, n, k):
    """All elements within the first registers: none may be inserted twice."""
    compare(lambda x: lax.top_k(x, k), f32(3, n))
    compare(lambda x: lax.top_k(x, k), np.arange(n, dtype=np.int32))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_tan_and_expm1_at_infinity(ours, x64, dtype):
    """No limit, no number: tan(x + i y) for infinite x and large y, expm1(-inf + i inf)."""
    with jax.default_device(ours):
        for real in (-np.inf, np.inf):
            for imaginary in (30.0, -1e30):
                result = np.asarray(jnp.tan(jnp.asarray(complex(real, imaginary), dtype)))
                assert np.isnan(result.real) and np.isnan(result.imag)
        assert np.asarray(jnp.tan(jnp.asarray(complex(1.5, np.inf), dtype))) == 1j
        result = np.asarray(jnp.expm1(jnp.asarray(complex(-np.inf, np.inf), dtype)))
        assert np.isnan(result.real) and np.isnan(result.imag)
        assert np.asarray(jnp.expm1(jnp.asarray(complex(-np.inf, 2.0), dtype))) == -1


# Those of f8 cannot be serialized for versions of StableHLO before the newest.
@pytest.mark.parametrize(
    "algorithm", [a.name for a in lax.DotAlgorithmPreset if "F8" not in a.name]
)
def test_dot_algorithms(ours, x64, algorithm):
    """Each is computed at least as precisely as it asks for."""
    if algorithm.startswith("BF16") and "X" not in algorithm:
        dtype, limit = ml_dtypes.bfloat16, 1e-2
    elif algorithm.startswith("F16"):
        dtype, limit = np.float16, 2e-3
    elif algorithm.startswith("F64"):
        dtype, limit = np.float64, 1e-14
    else:
        dtype, limit = np.float32, 1e-5
    a, b = RNG.random((5, 40)).astype(dtype), RNG.random((40, 7)).astype(dtype)
    with jax.default_device(ours):
        result = np.asarray(lax.dot(a, b, precision=algorithm))
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(result.astype(np.float64), want, rtol=limit)


def test_dot_of_two_byte_formats(ours):
    a = f32(9, 20).astype(ml_dtypes.float8_e4m3fn)
    b = f32(20, 6).astype(ml_dtypes.float8_e5m2)
    with jax.default_device(ours):
        result = lax.dot(a, b, preferred_element_type=jnp.float32)
    np.testing.assert_allclose(result, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5)


def test_dce_sink(ours):
    """Its operand is computed, the call does nothing."""

    def f(x):
        if hasattr(lax, "dce_sink"):
            lax.dce_sink(x + 1, prevent_mlir_dce=True)
        return x * 2

    with jax.default_device(ours):
        np.testing.assert_array_equal(jax.jit(f)(f32(3) * 0 + 1), [2, 2, 2])


def test_no_elements(compare):
    """Products, sorts, windows and scatters of nothing; products over nothing."""
    x, y = np.zeros((0, 3), np.float32), np.ones((3, 4), np.float32)
    compare(lambda x, y: (x @ y, y.T @ x.T, x.T @ x, jnp.sort(x, 0), jnp.cumsum(x, 0)), x, y)
    compare(lambda x: (x.at[:, 1].set(2.0), x[:, :2], lax.top_k(x, 2)), x)
    images = np.zeros((0, 8, 8, 3), np.float32)
    compare(
        lambda i, k: lax.conv_general_dilated(
            i, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        images,
        f32(3, 3, 3, 5),
    )
    batch = np.zeros((0, 3, 3), np.float32)
    compare(lambda a: (jnp.linalg.cholesky(a), jnp.linalg.inv(a), jnp.linalg.svd(a)), batch)


@pytest.mark.parametrize("n", [0, 1])
def test_constants_without_elements(compare, n):
    """JAX folds such programs to splats of no elements."""
    compare(lambda: jax.scipy.linalg.dft(n))
    compare(lambda: jax.lax.iota(np.float32, n) ** 2 > 1)


@pytest.mark.parametrize("mode", ["drop", "fill", "clip"])
def test_scatter_into_dimensions_of_one(compare, mode):
    """The only index inside is 0; all others must still be looked at."""
    i = np.array([0, 0, 1, 2, -7, 1, 0], np.int32)
    compare(lambda i: jnp.zeros(1, jnp.int32).at[i].add(1, mode=mode), i)
    compare(lambda i: jnp.zeros((1, 4), jnp.int32).at[i].add(1, mode=mode), i)
    compare(lambda i: jnp.zeros((4, 1), jnp.int32).at[i, i].add(1, mode=mode), i)
    compare(lambda i: jnp.zeros((1, 3)).at[i[2], 1:].set(7, mode=mode), i)
    compare(lambda i: jnp.zeros((3, 1)).at[:, i[1:3]].set(7, mode=mode), i)
    compare(lambda x: jnp.nonzero(x, size=1, fill_value=-1), i > 0)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_abs_and_sign_of_extremes(ours, x64, dtype):
    """Squares of the parts overflow or vanish; the modulus does not."""
    info = np.finfo(dtype)
    for size in (info.max * 0.7, info.max * 1e-9, info.tiny, info.smallest_subnormal * 8):
        z = np.array([size, size * 1j, size * 0.6 + size * 0.8j], dtype)
        with jax.default_device(ours):
            modulus, sign = np.asarray(jnp.abs(z)), np.asarray(jnp.sign(z))
        np.testing.assert_allclose(modulus / size, 1, rtol=0.2 if size < info.tiny else 1e-6)
        np.testing.assert_allclose(np.abs(sign.astype(np.complex128)), 1, rtol=1e-6)


def test_loop_hands_an_invariant_on_twice(compare):
    """What a loop does not change is also what another carried value becomes."""

    def f(x, y):
        body = lambda i, carried: (carried[1], carried[1], carried[0] + carried[2])  # noqa: E731
        return lax.fori_loop(0, 3, body, (y, x, y))

    compare(f, np.float32(2), np.float32(5))
