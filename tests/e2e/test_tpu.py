# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX programs on the simulated TPU-class chip, platform spokeshave_tpu.

Each test is a process of its own: the platforms of a process are chosen once.
"""

import os
import subprocess
import sys
import textwrap

PREAMBLE = """
import numpy as np, jax, jax.numpy as jnp
from jax import lax
rng = np.random.default_rng(0)
def both(function, *args):
    results = []
    for platform in ("spokeshave_tpu", "cpu"):
        device = jax.devices(platform)[0]
        with jax.default_device(device):
            results.append(np.asarray(jax.jit(function)(*jax.device_put(args, device))))
    return results
"""


def run(program: str, preamble: str = PREAMBLE, **environment: str) -> str:
    env = dict(os.environ, JAX_PLATFORMS="spokeshave_tpu,cpu", **environment)
    done = subprocess.run(
        [sys.executable, "-c", preamble + textwrap.dedent(program)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_elementwise_reductions_and_control_flow():
    run("""
    x = rng.standard_normal((37, 300)).astype(np.float32)
    for function in (
        lambda x: jnp.tanh(x) * 2 + jnp.exp(-x * x),
        lambda x: jax.nn.softmax(x, axis=-1),
        lambda x: x.T @ jnp.ones((37, 1), x.dtype) * 0 + x.sum(0)[:, None],
        lambda x: lax.fori_loop(0, 5, lambda i, y: y * 0.5 + i, x),
        lambda x: lax.cond(x[0, 0] > 0, lambda y: y + 1, lambda y: y - 1, x),
        lambda x: x[::-1, 5:50],
    ):
        ours, theirs = both(function, x)
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)
    """)


def test_integers_and_random_bits_are_exact():
    run("""
    x = rng.integers(-100, 100, (20, 33)).astype(np.int32)
    for function in (
        lambda x: x @ x.T,
        lambda x: jnp.sort(x, axis=1),
        lambda x: jax.random.bits(jax.random.key(x[0, 0]), (50,)),
        lambda x: jax.random.uniform(jax.random.key(x[0, 0]), (50,)),
    ):
        ours, theirs = both(function, x)
        np.testing.assert_array_equal(ours, theirs)
    """)


def test_products_are_those_of_the_matrix_unit():
    """Factors of f32 are rounded to bf16, sums are in f32: the oracle does the same."""
    run("""
    a = rng.standard_normal((70, 200)).astype(np.float32)
    b = rng.standard_normal((200, 150)).astype(np.float32)
    ours, _ = both(lambda a, b: a @ b, a, b)
    round = lambda x: np.asarray(jnp.asarray(x, jnp.bfloat16).astype(jnp.float32), np.float64)
    np.testing.assert_allclose(ours, round(a) @ round(b), rtol=1e-5, atol=1e-4)
    """)


def test_products_of_all_shapes_and_layouts():
    """Vectors, edges that fill no block, factors and results that lie any way."""
    run("""
    round = lambda x: np.asarray(jnp.asarray(x, jnp.bfloat16).astype(jnp.float32), np.float64)
    def check(function, want, *args):
        ours, _ = both(function, *args)
        np.testing.assert_allclose(ours, want, rtol=1e-5, atol=2e-5 * np.abs(want).max())
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    for m, n, k in (1, 300, 500), (300, 1, 500), (5, 7, 3), (1, 1, 100), (257, 129, 300):
        a, b = normal(m, k), normal(k, n)
        want = round(a) @ round(b)
        check(lambda a, b: a @ b, want, a, b)
        check(lambda a, b: a @ b.T, want, a, b.T.copy())
        check(lambda a, b: a.T @ b, want, a.T.copy(), b)
        check(lambda a, b: (a.T @ b.T).T * 2, 2 * want.T, a.T.copy(), b.T.copy())
    q, k = normal(2, 33, 4, 64), normal(2, 65, 4, 64)
    check(lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.125,
          np.einsum("bqhd,bkhd->bhqk", round(q), round(k)) * 0.125, q, k)
    heads, w = normal(2, 4, 128, 64), normal(256, 130)
    joined = lambda x: x.transpose(0, 2, 1, 3).reshape(256, 256)
    check(lambda x, w: joined(x) @ w, joined(round(heads)) @ round(w), heads, w)
    x, w, bias = normal(100, 200), normal(200, 200), normal(200)
    check(lambda x, w, b: jnp.maximum((2 * x) @ w + b, 0) + x,
          np.maximum(round(2 * x) @ round(w) + bias, 0) + x, x, w, bias)
    check(lambda x: x @ x.T, round(x) @ round(x).T, x)
    """)


def test_products_of_bytes_are_exact():
    run("""
    for dtype in np.int8, np.uint8:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max + 1, (70, 300)).astype(dtype)
        b = rng.integers(info.min, info.max + 1, (300, 130)).astype(dtype)
        ours, theirs = both(lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), a, b)
        np.testing.assert_array_equal(ours, a.astype(np.int32) @ b.astype(np.int32))
    """)


def test_larger_matrix_units():
    """An array of 256 x 256 takes two registers a push."""
    program = """
    a = rng.standard_normal((200, 700)).astype(np.float32)
    b = rng.standard_normal((700, 300)).astype(np.float32)
    round = lambda x: np.asarray(jnp.asarray(x, jnp.bfloat16).astype(jnp.float32), np.float64)
    ours, _ = both(lambda a, b: a @ b, a, b)
    np.testing.assert_allclose(ours, round(a) @ round(b), rtol=1e-5, atol=1e-3)
    ours, _ = both(lambda a, b: a @ b.T, a, b.T.copy())
    np.testing.assert_allclose(ours, round(a) @ round(b), rtol=1e-5, atol=1e-3)
    """
    run(program, SPOKESHAVE_CHIP="v6e")


def test_cost_analysis_gives_cycles():
    out = run("""
    x = jnp.ones((512, 1024))
    compiled = jax.jit(lambda x: x + 1).lower(x).compile()
    print(jax.devices()[0].device_kind)
    print(compiled.cost_analysis()["cycles"])
    """)
    kind, cycles = out.splitlines()
    assert kind.startswith("tpu v5e ")
    # 4 MiB move at some 500 bytes a cycle.
    assert 7_000 < float(cycles) < 40_000


def test_another_chip_and_one_that_does_not_exist():
    program = "print(jax.devices()[0].device_kind); print(jnp.ones(3) + 1)"
    assert run(program, SPOKESHAVE_CHIP="v6e").startswith("tpu v6e ")
    message = run(
        "try:\n    jax.devices('spokeshave_tpu')\nexcept RuntimeError as e:\n    print(e)",
        SPOKESHAVE_CHIP="v99",
    )
    assert "no chip 'v99'" in message and "v5e" in message


def test_narrow_integers_keep_their_sign():
    run("""
    for dtype in (jnp.int4, jnp.uint4, jnp.int2):
        low = -(2 ** (jnp.iinfo(dtype).bits - 1)) if jnp.iinfo(dtype).min else 0
        x = jnp.arange(low, low + 2 ** jnp.iinfo(dtype).bits).astype(dtype)
        y = x[::-1]
        for function in (
            lambda x, y: jnp.maximum(x, y).astype(jnp.int32),
            lambda x, y: jnp.minimum(x, y).astype(jnp.float32),
            lambda x, y: (x + y).astype(jnp.int32),
            lambda x, y: (x < y),
        ):
            ours, theirs = both(function, x, y)
            np.testing.assert_array_equal(ours, theirs)
    """)


def test_epilogues_end_at_the_last_column():
    """Blocks are padded to the matrix units' width; what lies beyond is not another row."""
    for chip in ("v5e", "v6e", "v5p"):
        run(
            """
    for n in (10, 130, 300, 400, 520):
        a, b = (rng.integers(-3, 4, (96, k)).astype(np.float32) for k in (256, n))
        w = rng.integers(-99, 99, (256, n)).astype(np.float32)
        ours, theirs = both(lambda a, b, w: w - 0.5 * (jax.nn.relu(a).T @ b), a, b, w)
        np.testing.assert_array_equal(ours, theirs)
    """,
            SPOKESHAVE_CHIP=chip,
        )
