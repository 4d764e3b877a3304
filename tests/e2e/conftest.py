# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs through JAX: each runs on Spokeshave and on the stock CPU and is compared.

SPOKESHAVE_TEST_PLATFORM=spokeshave_tpu does so on the simulated chip, beside the stock
CPU with the chip's products.
"""

import contextlib
import os

PLATFORM = os.environ.get("SPOKESHAVE_TEST_PLATFORM", "spokeshave")
os.environ.setdefault("JAX_PLATFORMS", f"{PLATFORM},cpu")

import jax
import numpy as np
import pytest

# Relative and absolute tolerance per dtype: what reassociated sums of a few hundred
# terms and transcendental functions within 2 ulp may differ by.
TOLERANCE = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: part of the quick tier")


def assert_same(got, want, tolerance=None):
    """Equal trees: integers and bools exactly, floats within the dtype's tolerance."""
    got_leaves, got_tree = jax.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    assert got_tree == want_tree
    for a, b in zip(got_leaves, want_leaves):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
        limit = TOLERANCE.get(a.dtype.name) if tolerance is None else tolerance
        if limit is None:
            np.testing.assert_array_equal(a.astype(np.float64) if a.dtype.kind == "V" else a, b)
            continue
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=limit, atol=limit)


@pytest.fixture(scope="session")
def ours():
    """Spokeshave's device."""
    return jax.devices(PLATFORM)[0]


@pytest.fixture(scope="session")
def stock():
    """JAX's own CPU device."""
    return jax.devices("cpu")[0]


def products_of_platform():
    """Within it the stock CPU's products are those of the platform."""
    if PLATFORM == "spokeshave":
        return contextlib.nullcontext()
    from spokeshave.bench import chip

    return chip.products_of_the_chip()


@pytest.fixture(scope="session")
def compare(ours, stock):
    """compare(f, *args): jits f on both devices, asserts equal results, returns ours."""

    def run(function, *args, tolerance=None):
        results = []
        for device, products in ((ours, contextlib.nullcontext()), (stock, products_of_platform())):
            # A new function object each time: JAX caches traces, not devices.
            jitted = jax.jit(lambda *a: function(*a))
            placed = jax.device_put(args, device)
            with jax.default_device(device), products:
                results.append(jax.block_until_ready(jitted(*placed)))
        assert_same(results[0], results[1], tolerance)
        return results[0]

    return run


@pytest.fixture
def x64():
    """64-bit types within one test."""
    with jax.enable_x64(True):
        yield
