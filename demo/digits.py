# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small network learns scikit-learn's handwritten digits, Adam inside lax.scan."""

import jax
import jax.numpy as jnp
import numpy as np

SIZES = (64, 128, 64, 10)
BATCH = 128


def dataset(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The 1797 digits as f32[n, 64] in [0, 1] and i32[n], shuffled: 1437 train, 360 test."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(x))
    x, y = (x[order] / 16.0).astype(np.float32), y[order].astype(np.int32)
    return x[:1437], y[:1437], x[1437:], y[1437:]


def init(seed: int = 0) -> list:
    """He-initialised weights f32[in, out] and zero biases f32[out]."""
    rng = np.random.default_rng(seed)
    return [
        (
            (rng.standard_normal((m, n)) * (2 / m) ** 0.5).astype(np.float32),
            np.zeros(n, np.float32),
        )
        for m, n in zip(SIZES, SIZES[1:])
    ]


def logits(params: list, x: jax.Array) -> jax.Array:
    """f32[n, 64] to f32[n, 10]."""
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params: list, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean cross-entropy."""
    log_probabilities = jax.nn.log_softmax(logits(params, x))
    return -jnp.mean(jnp.take_along_axis(log_probabilities, y[:, None], 1))


def _adam(params, grads, m, v, step, rate=1e-3, b1=0.9, b2=0.999):
    """One step of Adam (Kingma and Ba, 2015) with bias correction."""
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
    scale = rate * jnp.sqrt(1 - b2**step) / (1 - b1**step)
    params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return params, m, v


def train_epoch(state: tuple, x: jax.Array, y: jax.Array, key: jax.Array) -> tuple:
    """One pass over the data in shuffled batches, as one compiled scan.

    Args:
      state: (params, first moments, second moments, step as f32).

    Returns:
      The new state, and the loss of each step, f32[steps].
    """
    steps = x.shape[0] // BATCH
    order = jax.random.permutation(key, x.shape[0])[: steps * BATCH].reshape(steps, BATCH)

    def step(state, rows):
        params, m, v, count = state
        value, grads = jax.value_and_grad(loss)(params, x[rows], y[rows])
        count = count + 1
        params, m, v = _adam(params, grads, m, v, count)
        return (params, m, v, count), value

    return jax.lax.scan(step, state, order)


def accuracy(params: list, x: jax.Array, y: jax.Array) -> jax.Array:
    """The fraction of right answers, a float32 scalar."""
    return jnp.mean((jnp.argmax(logits(params, x), 1) == y).astype(jnp.float32))
