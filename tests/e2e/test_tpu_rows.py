# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows, streams, transposes and the transcendental unit of the simulated chip."""

from test_tpu import run


def test_rows_of_all_shapes():
    """Whole and ragged groups of rows and columns; windows and single tasks."""
    run("""
    def norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        v = ((x - m) ** 2).mean(-1, keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-5) * g + b
    for shape in ((8, 128), (64, 512), (37, 300), (9, 7), (3, 2000), (300, 257), (2, 5, 40, 130)):
        x = rng.standard_normal(shape).astype(np.float32)
        g = rng.standard_normal(shape[-1]).astype(np.float32)
        b = rng.standard_normal(shape[-1]).astype(np.float32)
        for function in (
            lambda x, g, b: jax.nn.softmax(x, axis=-1),
            norm,
            lambda x, g, b: (x.sum(-1), x.max(-1), x.min(-1)),
            lambda x, g, b: x * g + b,
            lambda x, g, b: x - x[..., :1],
        ):
            for ours, theirs in zip(*map(jax.tree.leaves, both(function, x, g, b))):
                np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=3e-6)
        ours, theirs = both(lambda x: x.sum(0), x)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=3e-5)
        ours, theirs = both(lambda x: jnp.argmax(x, -1), x)
        np.testing.assert_array_equal(ours, theirs)
    """)


def test_narrow_rows():
    run("""
    x = rng.standard_normal((40, 200)).astype(jnp.bfloat16)
    for function in (
        lambda x: jax.nn.softmax(x, axis=-1),
        lambda x: x.astype(jnp.float32).sum(-1),
        lambda x: x * x[:, :1],
        lambda x: x.T + 1,
    ):
        ours, theirs = (y.astype(np.float32) for y in both(function, x))
        np.testing.assert_allclose(ours, theirs, rtol=8e-3, atol=1e-6)
    for x in (rng.integers(-9, 9, (24, 150)).astype(np.int8), rng.random((24, 150)) < 0.5):
        for function in (lambda x: x.astype(np.int32).sum(1), lambda x: x.max(1), lambda x: x.T):
            np.testing.assert_array_equal(*both(function, x))
    """)


def test_transposes_and_slices_are_exact():
    run("""
    for shape, order in (((256, 384), (1, 0)), ((300, 200), (1, 0)), ((4, 128, 256), (0, 2, 1)),
                         ((2, 16, 8, 64), (0, 2, 1, 3)), ((128, 8, 128), (2, 1, 0)),
                         ((128, 100), (1, 0)), ((100, 128), (1, 0))):
        x = rng.standard_normal(shape).astype(np.float32)
        for function in (
            lambda x: x.transpose(order),
            lambda x: x.transpose(order) * 2 + 1,
            lambda x: x[..., : shape[-1] // 2] - x[..., shape[-1] // 2 :],
        ):
            np.testing.assert_array_equal(*both(function, x))
    """)


def test_large_streams_go_in_windows():
    run("""
    x = rng.standard_normal((300_001,)).astype(np.float32)
    np.testing.assert_array_equal(*both(lambda x: x * 2 + x, x))
    x = rng.standard_normal((700, 1100)).astype(np.float32)
    np.testing.assert_array_equal(*both(lambda x: jnp.maximum(x, 0) - x[:, :1], x))
    for ours, theirs in zip(*both(lambda x: jnp.stack([x.sum(0), x.max(0)]), x)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)
    """)


def test_columns_of_rows_that_do_not_fit():
    """Rows longer than a task's share come in boxes of some columns, of all rows."""
    run("""
    for shape in (9, 300_007), (3, 8, 300_001), (64, 1 << 20):
        x = rng.integers(-9, 9, shape).astype(np.float32)  # sums are exact
        for function in (lambda x: x.sum(-2), lambda x: (x * 2 - x.max(-2, keepdims=True)).min(-2)):
            np.testing.assert_array_equal(*both(function, x))
    """)


def test_functions_of_the_transcendental_unit_are_within_their_ulps():
    run("""
    x = np.concatenate([
        rng.uniform(-110, 95, 3000), rng.standard_normal(3000), 10.0 ** rng.uniform(-30, 2, 2000),
        -(10.0 ** rng.uniform(-30, 2, 2000)),
    ]).astype(np.float32)
    wide = x.astype(np.float64)
    exact = {
        "exp": (np.exp(wide), 2), "tanh": (np.tanh(wide), 1), "expm1": (np.expm1(wide), 4),
        "log": (np.log(np.abs(wide)), 2), "log1p": (np.log1p(np.abs(wide)), 4),
        "logistic": (1 / (1 + np.exp(-wide)), 4),
        "rsqrt": (1 / np.sqrt(np.abs(wide)), 1),
        "reciprocal": (1 / wide, 0.501),
    }
    functions = {
        "exp": jnp.exp, "tanh": jnp.tanh, "expm1": jnp.expm1,
        "log": lambda x: jnp.log(jnp.abs(x)), "log1p": lambda x: jnp.log1p(jnp.abs(x)),
        "logistic": jax.nn.sigmoid, "rsqrt": lambda x: lax.rsqrt(jnp.abs(x)),
        "reciprocal": lambda x: 1 / x,
    }
    device = jax.devices("spokeshave_tpu")[0]
    for name, (want, ulps) in exact.items():
        ours = np.asarray(jax.jit(functions[name])(jax.device_put(x, device))).astype(np.float64)
        with np.errstate(over="ignore"):
            rounded = want.astype(np.float32)
        finite = np.isfinite(rounded)
        np.testing.assert_array_equal(ours[~finite], rounded[~finite])
        if name == "logistic":  # JAX writes it with exp(-x), which is infinite beyond
            finite = x > -88
        unit = np.spacing(np.maximum(np.abs(rounded[finite]), np.float32(2.0**-126)))
        error = np.abs(ours[finite] - want[finite]) / unit
        print(name, error.max())
        assert error.max() <= ulps, (name, error.max(), x[finite][error.argmax()])
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 88.7, -103.9], np.float32)
    for name, function in functions.items():
        ours, theirs = both(function, special)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-44, err_msg=name)
    """)
