# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as JAX programs write it: one kernel where its scores are large, and right."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import spokeshave


def _inputs(shape, count=3, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.standard_normal(shape), dtype) for _ in range(count)]


def _heads_first(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


def _heads_inside(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def _scaled_queries(q, k, v):
    return jax.nn.softmax((q * 0.125) @ k.swapaxes(-1, -2)) @ v


def _capped(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    return jax.nn.softmax(30 * jnp.tanh(scores / 30)) @ v


def _window(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    i, j = jnp.arange(scores.shape[-2])[:, None], jnp.arange(scores.shape[-1])
    seen = (i >= j) & (i - j < 100)
    return jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)) @ v


def _hand_written(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    top = jnp.max(scores, -1, keepdims=True)
    weights = jnp.exp(scores - jax.lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0)))
    return (weights / weights.sum(-1, keepdims=True)) @ v


def _divided_last(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    weights = jnp.exp(scores - scores.max(-1, keepdims=True))
    return (weights @ v) / weights.sum(-1, keepdims=True)


FORMS = {
    "heads first": (_heads_first, (2, 3, 300, 64)),
    "heads inside": (_heads_inside, (2, 320, 4, 32)),
    "scaled queries": (_scaled_queries, (600, 48)),
    "capped": (_capped, (1, 3, 300, 40)),
    "window": (_window, (1, 2, 400, 64)),
    "hand written": (_hand_written, (2, 2, 520, 16)),
    "divided last": (_divided_last, (2, 2, 400, 24)),
    "library": (jax.nn.dot_product_attention, (2, 320, 4, 64)),
    "library, causal": (
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
        (1, 700, 2, 64),
    ),
}


def _kernels(ours, f, *args):
    """Kinds of the kernels that a program has on our device."""
    with jax.default_device(ours):
        name = f"attention_{_kernels.count}"
        _kernels.count += 1

        def program(*args):
            return f(*args)

        program.__name__ = name
        jax.jit(program).lower(*args).compile()
    (stats,) = [s for s in spokeshave.statistics() if s["name"] == f"jit_{name}"]
    return stats["kernel_kinds"]


_kernels.count = 0


@pytest.mark.quick
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, compare, ours):
    """Each form is recognised, and gives what the stock CPU gives."""
    f, shape = FORMS[form]
    args = _inputs(shape)
    compare(f, *args)
    assert "attention" in _kernels(ours, f, *args)


@pytest.mark.parametrize("form", FORMS)
def test_bf16(form, compare):
    """Factors in bf16."""
    f, shape = FORMS[form]
    compare(f, *_inputs(shape, dtype=jnp.bfloat16))


def test_grouped_queries(compare, ours):
    """Four heads of queries share one of keys and values."""
    (q,), (k, v) = _inputs((2, 320, 8, 32), 1), _inputs((2, 320, 2, 32), 2, seed=1)

    def library(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    compare(library, q, k, v)
    assert "attention" in _kernels(ours, library, q, k, v)

    def repeated(q, k, v):
        k, v = (jnp.repeat(t, 4, axis=2) for t in (k, v))
        return _heads_inside(q, k, v)

    compare(repeated, q, k, v)

    def grouped(q, k, v):
        q = q.reshape(2, 320, 2, 4, 32)
        scores = jnp.einsum("bqngd,bknd->bngqk", q, k)
        return jnp.einsum("bngqk,bknd->bqngd", jax.nn.softmax(scores), v)

    compare(grouped, q, k, v)


@pytest.mark.parametrize("rows, keys", [(17, 2000), (130, 257), (1000, 96), (257, 1025)])
def test_ragged(rows, keys, compare):
    """Sizes that no block divides, and values of another width."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((4, rows, 24), dtype=np.float32)
    k = rng.standard_normal((4, keys, 24), dtype=np.float32)
    v = rng.standard_normal((4, keys, 72), dtype=np.float32)
    bias = rng.standard_normal((rows, keys), dtype=np.float32)

    def f(q, k, v, bias):
        return jax.nn.softmax(q @ k.swapaxes(-1, -2) + bias) @ v

    compare(f, q, k, v, bias)


def test_masks(compare):
    """Masks that are inputs: of elements, of keys, and as a bias of -inf."""
    q, k, v = _inputs((2, 3, 300, 32))
    rng = np.random.default_rng(3)
    elements, keys = rng.random((300, 300)) < 0.7, rng.random((2, 1, 1, 300)) < 0.5

    def masked(q, k, v, seen):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
        return jax.nn.softmax(jnp.where(seen, scores, -1e30)) @ v

    compare(masked, q, k, v, elements)
    compare(masked, q, k, v, keys)

    def biased(q, k, v, bias):
        return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) + bias) @ v

    compare(biased, q, k, v, np.where(keys, 0, -np.inf).astype(np.float32))


def test_rows_without_keys(compare):
    """A row that sees nothing is NaN under -inf and a mean under a finite number."""
    q, k, v = _inputs((1, 2, 400, 32))
    seen = np.ones((400, 400), bool)
    seen[7] = seen[200:230] = False

    def f(hidden):
        def attention(q, k, v, seen):
            scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
            return jax.nn.softmax(jnp.where(seen, scores, hidden)) @ v

        return attention

    assert np.isnan(compare(f(-jnp.inf), q, k, v, seen)[0, :, 7]).all()
    compare(f(-1e9), q, k, v, seen)


def test_nan_and_infinity(compare):
    """What is no number spreads as in the program."""
    q, k, v = (np.array(t) for t in _inputs((1, 2, 400, 32)))
    q[0, 0, 5, 3], k[0, 1, 300, 2], v[0, 0, 17, 1] = np.nan, np.nan, np.inf
    q[0, 0, 9] = 1e30
    compare(_heads_first, q, k, v)


def test_scores_with_other_readers(compare, ours):
    """Probabilities that are a result, or that a gradient needs, are a tensor."""

    def also_weights(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k))
        return weights @ v, weights

    q, k, v = _inputs((2, 3, 300, 32))
    compare(also_weights, q, k, v)
    assert "attention" not in _kernels(ours, also_weights, q, k, v)

    def gradient(q, k, v):
        return jax.grad(lambda *a: jnp.sum(_heads_first(*a) ** 2), argnums=(0, 1, 2))(q, k, v)

    compare(gradient, q, k, v, tolerance=2e-4)


def test_in_scan(compare, ours):
    """Layers of a scan; the mask is made outside of it."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((3, 4, 64, 64)).astype(np.float32) / 8
    x = rng.standard_normal((2, 320, 64)).astype(np.float32)

    def network(w, x):
        seen = jnp.tril(jnp.ones((320, 320), bool))

        def layer(x, w):
            q, k, v = ((x @ w[i]).reshape(2, 320, 4, 16) for i in range(3))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25
            weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(2, 320, 64)
            return x + mixed @ w[3], ()

        return jax.lax.scan(layer, x, w)[0]

    compare(network, w, x, tolerance=1e-4)
    assert "attention" in _kernels(ours, network, w, x)
