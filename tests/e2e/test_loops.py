# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops with a small state, which run in registers, alone and over batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

RNG = np.random.default_rng(7)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def lorenz(x0):
    def step(x, _):
        dx = jnp.stack([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])
        return x + 0.001 * dx, x[0]

    return lax.scan(step, x0, None, length=2000)


def pendulum(x):
    """Branches of its own: a kick at each turn, friction else."""

    def step(s, t):
        theta, omega = s
        omega = omega - 0.01 * jnp.sin(theta)
        omega = lax.cond(theta > 1.0, lambda w: w * 0.99 - 0.001, lambda w: w + 0.0001 * t, omega)
        omega = lax.switch(t.astype(jnp.int32) % 3, [jnp.sin, lambda w: w, jnp.tanh], omega)
        return (theta + 0.01 * omega, omega), (theta, omega > 0)

    return lax.scan(step, (x[0], x[1]), jnp.arange(300.0))


def cartpole(key, w):
    def env(s, a):
        x, v, th, om = s
        force = jnp.where(a, 10.0, -10.0)
        c, sn = jnp.cos(th), jnp.sin(th)
        t = (force + 0.05 * om * om * sn) / 1.1
        al = (9.8 * sn - c * t) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
        ac = t - 0.05 * al * c / 1.1
        return jnp.stack([x + 0.02 * v, v + 0.02 * ac, th + 0.02 * om, om + 0.02 * al])

    def one(key):
        s0 = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)

        def step(c, _):
            s, alive = c
            s = jnp.where(alive, env(s, s @ w > 0), s)
            alive = alive & (jnp.abs(s[0]) < 2.4) & (jnp.abs(s[2]) < 0.21)
            return (s, alive), alive.astype(jnp.float32)

        return lax.scan(step, (s0, True), None, length=100)[1].sum()

    return jax.vmap(one)(jax.random.split(key, 77))


def collatz(n):
    def body(s):
        n, k = s
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1

    return lax.while_loop(lambda s: s[0] != 1, body, (n, jnp.int32(0)))


def mandelbrot(x, y):
    def body(s):
        i, a, b, n = s
        a2, b2 = a * a, b * b
        inside = a2 + b2 < 4.0
        a, b = jnp.where(inside, a2 - b2 + x, a), jnp.where(inside, 2 * a * b + y, b)
        return i + 1, a, b, n + inside

    z = jnp.zeros_like(x)
    state = (0, z, z, jnp.zeros(x.shape, jnp.int32))
    return lax.while_loop(lambda s: s[0] < 40, body, state)


def filter_reversed(x):
    """Reads and writes stacks from their ends, of vectors."""
    step = lambda c, v: (c * 0.9 + v, (c, v[0] * c[1]))  # noqa: E731
    return lax.scan(step, jnp.zeros(3), x, reverse=True)


def newton(a):
    """Inner loops that end by themselves."""

    def root(c, v):
        r = lax.while_loop(
            lambda s: jnp.abs(s[0] * s[0] - v) > 1e-3 * v,
            lambda s: (0.5 * (s[0] + v / s[0]), s[1] + 1),
            (v, 0),
        )
        return c + r[0], r

    return lax.scan(root, jnp.zeros((), a.dtype), a)


def ring(x):
    """A history in registers, at an index that is known when run."""

    def step(c, v):
        h, i = c
        y = h[(i * 3) % 5] - 0.5 * h[i % 5]
        return (lax.dynamic_update_index_in_dim(h, v + y, i % 5, 0), i + 1), y

    return lax.scan(step, (jnp.zeros(5), 0), x)


def history(x):
    """An array that is updated where it lies and read too."""

    def body(i, a):
        v = lax.dynamic_index_in_dim(a, i, keepdims=False)
        w = lax.dynamic_index_in_dim(a, i - 1, keepdims=False)
        return lax.dynamic_update_index_in_dim(a, v * 0.5 + w, i, 0)

    return lax.fori_loop(1, x.shape[0], body, x)


def two_updates(x):
    def body(i, a):
        a = lax.dynamic_update_slice(a, jnp.stack([i, i + 1.0]) * x, (i,))
        return lax.dynamic_update_slice(a, jnp.full((1,), -x * i), (i + 30,))

    return lax.fori_loop(0, 40, body, jnp.zeros(100))


def random_walk(key):
    def step(c, _):
        key, x = c
        key, k = jax.random.split(key)
        return (key, x + jax.random.uniform(k)), x

    return lax.scan(step, (key, jnp.float32(0)), None, length=50)


def small_network(w, x):
    def cell(h, v):
        h = jnp.tanh(w @ h + v)
        return h, (h.max(), jnp.argmax(h), jnp.cumprod(h[:1]))

    return lax.scan(cell, jnp.zeros(6), x)


def gradient(x):
    """The backward loop reads what the forward loop stacked."""

    def loss(s, k):
        step = lambda c, v: (jnp.sin(c) * k + v, jnp.cos(c).sum())  # noqa: E731
        c, y = lax.scan(step, s, x)
        return (c * c).sum() + y.sum()

    return jax.value_and_grad(loss, (0, 1))(x[0], jnp.float32(0.7))


def walkers(x, rate):
    """A batch with inputs, outputs and a state of several vectors per member."""

    def one(x, r):
        def step(c, v):
            p, q = c
            p = p * r[:, None] + v[:, None] * q
            return (p, q * 0.5 + p.sum(0)), (p[:, 0] + q[1], v.max())

        return lax.scan(step, (jnp.zeros((2, 3)), jnp.ones(3)), x)

    return jax.vmap(one, in_axes=(1, None))(x, rate)


def waiting(n):
    """Members of a batch stop one by one."""
    return jax.vmap(collatz)(n)


def waiting_pairs(x):
    def one(x):
        return lax.while_loop(
            lambda s: jnp.abs(s[0][0]) < 10, lambda s: (s[0] * 1.3 + s[1], -s[1]), (x, x[::-1])
        )

    return jax.vmap(one)(x)


def table(x):
    """Constants that are no splats, and the same splat as two stacks."""
    steps = jnp.array([0.1, -0.2, 0.3, 0.05])

    def body(i, s):
        c, a, b = s
        c = c * 0.9 + steps * steps[i % 4]
        return (
            c,
            lax.dynamic_update_index_in_dim(a, c[1], 29 - i, 0),
            lax.dynamic_update_index_in_dim(b, c[2], i, 0),
        )

    return lax.fori_loop(0, 30, body, (x, jnp.zeros(30), jnp.zeros(30)))


PROGRAMS = {
    "table": (table, f32(4)),
    "lorenz": (lorenz, np.ones(3, np.float32)),
    "lorenz_batch": (jax.vmap(lorenz), np.ones((37, 3), np.float32) + 0.01 * f32(37, 3)),
    "pendulum": (pendulum, f32(2)),
    "pendulum_batch": (jax.vmap(pendulum), f32(40, 2)),
    "cartpole": (cartpole, np.array([0, 3], np.uint32), np.array([0.1, 0.3, 1, 0.5], np.float32)),
    "collatz": (collatz, np.int32(27)),
    "collatz_none": (collatz, np.int32(1)),
    "collatz_u8": (lambda n: collatz(n)[1], np.uint8(6)),
    "mandelbrot": (mandelbrot, f32(9, 40), f32(9, 40)),
    "mandelbrot_odd": (mandelbrot, f32(3, 5, 7), f32(3, 5, 7)),
    "filter_reversed": (filter_reversed, f32(50, 3)),
    "filter_batch": (jax.vmap(filter_reversed), f32(19, 50, 3)),
    "filter_batch_minor": (jax.vmap(filter_reversed, in_axes=2), f32(50, 3, 21)),
    "newton": (newton, np.abs(f32(20)) + 0.1),
    "newton_batch": (jax.vmap(newton), np.abs(f32(33, 20)) + 0.1),
    "ring": (ring, f32(64)),
    "ring_batch": (jax.vmap(ring), f32(24, 64)),
    "history": (history, f32(300)),
    "history_batch": (jax.vmap(history), f32(35, 100)),
    "history_batch_minor": (jax.vmap(history, in_axes=1, out_axes=1), f32(100, 35)),
    "two_updates": (two_updates, np.float32(0.3)),
    "random_walk": (random_walk, np.array([0, 9], np.uint32)),
    "random_walks": (
        jax.vmap(random_walk),
        np.stack([np.arange(18), np.arange(18) * 7], 1).astype(np.uint32),
    ),
    "small_network": (small_network, f32(6, 6), f32(30, 6)),
    "small_networks": (jax.vmap(small_network, in_axes=(None, 1)), f32(6, 6), f32(30, 20, 6)),
    "gradient": (gradient, f32(25, 4)),
    "walkers": (walkers, f32(31, 18, 2), f32(2)),
    "waiting": (waiting, np.arange(1, 60, dtype=np.int32)),
    "waiting_few": (waiting, np.arange(20, 27, dtype=np.int32)),
    "waiting_pairs": (waiting_pairs, f32(45, 2) + 2),
    "complex": (
        lambda z: lax.fori_loop(0, 30, lambda i, z: z * z * 0.5 + (0.1 + 0.2j), z),
        np.complex64(0.3 - 0.4j),
    ),
    "complex_batch": (
        lambda z: lax.fori_loop(0, 30, lambda i, z: z * jnp.conj(z) * 0.5 + (0.1 + 0.2j), z),
        (0.3 * f32(50) + 0.2j * f32(50)).astype(np.complex64),
    ),
    "flags": (
        lambda b: lax.fori_loop(0, 13, lambda i, s: (s[1] ^ (i % 3 == 0), s[0]), (b, ~b)),
        RNG.integers(0, 2, 70).astype(bool),
    ),
    "zero_trips": (
        lambda x, n: lax.fori_loop(0, n, lambda i, s: (s[1], s[0] + i), (x, -x)),
        f32(3),
        np.int32(-4),
    ),
    "long": (lambda n: lax.fori_loop(0, n, lambda i, k: k * 3 + i, 1), np.int32(3_000_000)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loop(compare, name):
    function, *arguments = PROGRAMS[name]
    compare(function, *arguments)


@pytest.mark.parametrize("name", ["lorenz", "gradient", "newton", "history", "ring_batch"])
def test_loop_f64(compare, x64, name):
    function, *arguments = PROGRAMS[name]
    compare(function, *(np.asarray(a).astype(np.float64) for a in arguments))


def test_loop_i64(compare, x64):
    compare(lambda n: collatz(n), np.int64(837799))


def test_loop_f16(ours):
    """Each operation rounds, in registers too."""
    x = f32(40).astype(np.float16)
    want = x
    for _ in range(50):
        want = want * np.float16(0.99) + np.float16(0.01)
    step = lambda i, v: v * 0.99 + 0.01  # noqa: E731
    got = jax.jit(lambda v: lax.fori_loop(0, 50, step, v))(jax.device_put(x, ours))
    np.testing.assert_array_equal(np.asarray(got), want)


def test_wide_batch(compare):
    """Many tasks, the last one overlapping the one before."""
    x = np.linspace(-2, 0.5, 10_007).astype(np.float32)
    compare(mandelbrot, x, x * 0.1)
