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


def run(program: str, **environment: str) -> str:
    env = dict(os.environ, JAX_PLATFORMS="spokeshave_tpu,cpu", **environment)
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)],
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
