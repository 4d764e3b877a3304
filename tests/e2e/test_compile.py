# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiling costs: kernels are shared, time grows with length and no faster."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import spokeshave


@pytest.fixture(autouse=True)
def on_ours(ours):
    """Everything here is compiled by Spokeshave."""
    with jax.default_device(ours):
        yield


def _compile(name, f, *args, **options):
    """A compiled program and what is known of it."""
    f.__name__ = name
    compiled = jax.jit(f).lower(*args).compile(compiler_options=options or None)
    (stats,) = [s for s in spokeshave.statistics() if s["name"] == f"jit_{name}"]
    return compiled, stats


def _processor_ms(stats):
    return sum(processor for _, _, processor in stats["compile_phases"])


@pytest.mark.quick
@pytest.mark.parametrize("layers", [8, 40])
def test_layers_share_kernels(layers, compare):
    """Layers with other weights and other numbers are one kernel."""
    rng = np.random.default_rng(0)
    w = [rng.normal(size=(48, 48)).astype(np.float32) * 0.2 for _ in range(layers)]
    x = rng.normal(size=(24, 48)).astype(np.float32)

    def network(w, x):
        for i in range(layers):
            x = jnp.tanh(x @ w[i] + 0.1 * i) * (1 - 0.01 * i)
        return x

    compiled, stats = _compile(f"layers_{layers}", network, w, x)
    assert stats["kernels"] <= 5
    # A driver, and perhaps tiles of the products.
    assert stats["objects"] <= stats["kernels"] + 3
    np.testing.assert_array_equal(compare(network, w, x), compiled(w, x))


@pytest.mark.quick
def test_programs_share_kernels():
    """The second program with a kernel does not compile it again."""
    x = jnp.linspace(-1, 1, 1003)

    def first(x):
        return jnp.sinh(x) * jnp.cos(x)

    def second(x):
        y = jnp.sinh(x) * jnp.cos(x)
        return y, jnp.argsort(x)

    def alone(x):
        return jnp.sinh(x) * jnp.cos(x)

    one, stats = _compile("shares_first", first, x)
    assert stats["objects"] > stats["shared_objects"]
    two, stats = _compile("shares_second", second, x)
    assert stats["objects"] > stats["shared_objects"] >= 1
    three, stats = _compile("shares_not", alone, x, **{"share-kernels": "false"})
    assert stats["shared_objects"] == 0
    np.testing.assert_array_equal(one(x), two(x)[0])
    np.testing.assert_array_equal(one(x), three(x))


def _kernels_of_many_shapes(x, n):
    """One kernel per step: no two have the same shape."""
    return [jnp.sum(jnp.sin(x[: 64 + i]) * jnp.cos(x[i : 64 + 2 * i])) for i in range(n)]


def _chain(x, n):
    """Transcendental functions in one line: a single kernel would hold all."""
    for i in range(n):
        x = jnp.sin(x) + 0.1 * i
    return x


def _branches(x, n):
    """The same side by side, with a common reader."""
    return sum(jnp.exp(x * (0.01 * i)) / (1 + i) for i in range(n))


@pytest.mark.parametrize(
    "program, length", [(_kernels_of_many_shapes, 10), (_chain, 60), (_branches, 60)]
)
def test_time_is_linear(program, length):
    """Four times the program takes no more than about four times the time."""
    x = jnp.ones(4096)

    def cost(n):
        times = []
        for attempt in range(3):
            name = f"linear{program.__name__}_{n}_{attempt}"
            _, stats = _compile(name, lambda x: program(x, n), x, **{"share-kernels": "false"})
            times.append(_processor_ms(stats))
        return min(times)

    cost(2)  # what only the first compilation pays
    assert cost(4 * length) < 6 * cost(length) + 10


@pytest.mark.parametrize("setting", ["0", "1"])
def test_process_ends_while_it_warms_up(setting):
    """The compilation in the background ends before what it uses goes."""
    program = "import jax; jax.devices('spokeshave'); print('done')"
    environment = dict(os.environ, SPOKESHAVE_WARM_UP=setting)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
