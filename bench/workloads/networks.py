# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense networks: a perceptron's training step, transformers, decoding with a cache."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload


# ------------------------------------------------------------------ perceptron
def _classify(layers: list, images: jax.Array) -> jax.Array:
    """Logits of a perceptron with rectified hidden layers."""
    *hidden, last = layers
    for layer in hidden:
        images = jax.nn.relu(images @ layer["weight"] + layer["bias"])
    return images @ last["weight"] + last["bias"]


def _cross_entropy(layers: list, images: jax.Array, labels: jax.Array) -> jax.Array:
    scores = jax.nn.log_softmax(_classify(layers, images))
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


@workload(
    "networks",
    kinds=("dot",),
    reduced=dict(widths=(50, 64, 48, 10), batch=32),
    tiny=dict(widths=(6, 8, 5, 3), batch=4),
    simulated=dict(widths=(196, 256, 300, 10), batch=96),
    chip_loose=0.2,
    chip_reason="the new biases are gradients alone, and a rectifier's slope jumps where its"
    " argument is a rounding to bf16 around zero",
)
def mlp_train_step(widths=(784, 1024, 1024, 10), batch=256, rate=0.1) -> Program:
    """One step of gradient descent of a three-layer perceptron."""
    samples = Samples(1)
    layers = [
        dict(weight=samples.weights(fan_in, fan_out), bias=np.zeros(fan_out, np.float32))
        for fan_in, fan_out in zip(widths[:-1], widths[1:])
    ]
    images = samples.normal(batch, widths[0])
    labels = samples.integers(0, widths[-1], batch)

    def step(layers, images, labels):
        gradient = jax.grad(_cross_entropy)(layers, images, labels)
        return jax.tree.map(lambda value, slope: value - rate * slope, layers, gradient)

    return Program(step, (layers, images, labels))


# ---------------------------------------------------------------- transformers
def _layer_weights(samples: Samples, width: int) -> dict[str, np.ndarray]:
    return dict(
        attention_norm=np.ones(width, np.float32),
        query_key_value=samples.weights(width, 3 * width),
        attention_out=samples.weights(width, width),
        feed_norm=np.ones(width, np.float32),
        feed_up=samples.weights(width, 4 * width),
        feed_down=samples.weights(4 * width, width),
    )


def _rms_norm(x: jax.Array, gain: jax.Array) -> jax.Array:
    power = jnp.mean(jnp.square(x), axis=-1, keepdims=True)
    return x * lax.rsqrt(power + 1e-6) * gain


def _causal_attention(x: jax.Array, weights: dict, heads: int) -> jax.Array:
    batch, length, width = x.shape
    projected = x @ weights["query_key_value"]
    query, key, value = (
        part.reshape(batch, length, heads, width // heads)
        for part in jnp.split(projected, 3, axis=-1)
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(width // heads).astype(x.dtype)
    may_look = jnp.tril(jnp.ones((length, length), bool))
    attention = jax.nn.softmax(jnp.where(may_look, scores, -1e9))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", attention, value)
    return mixed.reshape(batch, length, width) @ weights["attention_out"]


def _transformer_layer(x: jax.Array, weights: dict, heads: int) -> jax.Array:
    x = x + _causal_attention(_rms_norm(x, weights["attention_norm"]), weights, heads)
    hidden = jax.nn.gelu(_rms_norm(x, weights["feed_norm"]) @ weights["feed_up"])
    return x + hidden @ weights["feed_down"]


def _transformer(layers: int, width: int, heads: int, batch: int, length: int) -> Program:
    samples = Samples(2)
    stack = [_layer_weights(samples, width) for _ in range(layers)]

    def forward(stack, x):
        for weights in stack:
            x = _transformer_layer(x, weights, heads)
        return x

    return Program(forward, (stack, samples.normal(batch, length, width)))


_SMALL = dict(layers=2, width=64, heads=4, length=24)
_TINY = dict(layers=1, width=8, heads=2, length=5)
_SIMULATED = dict(layers=1, width=256, length=100)
_ATTENTION = dict(
    chip_tolerance=5e-3,
    chip_reason="attention rounds its weights to bf16 before they are divided by their sum",
)


@workload(
    "networks",
    kinds=("dot", "rows"),
    reduced=_SMALL,
    tiny=_TINY,
    simulated=_SIMULATED,
    **_ATTENTION,
)
def transformer_forward_b1(layers=6, width=512, heads=8, length=128) -> Program:
    """A decoder-only transformer over one sequence."""
    return _transformer(layers, width, heads, 1, length)


@workload(
    "networks",
    kinds=("dot", "rows"),
    reduced=dict(_SMALL, batch=3),
    tiny=dict(_TINY, batch=2),
    simulated=_SIMULATED,
    **_ATTENTION,
)
def transformer_forward_b8(layers=6, width=512, heads=8, batch=8, length=128) -> Program:
    """The same over a batch."""
    return _transformer(layers, width, heads, batch, length)


@workload(
    "networks",
    kinds=("dot", "rows"),
    reduced=dict(_SMALL, batch=2),
    tiny=dict(_TINY, batch=1),
    simulated=dict(layers=1, width=128, length=64),
    tolerance=1e-3,
    reason="Adam's first step divides each slope by its own size: where a slope is rounding"
    " noise around zero, so is the step",
    chip_tolerance=3e-2,
    chip_loose=0.1,
    chip_reason="the same, of slopes in which a rounding to bf16 goes the other way",
)
def transformer_train_adam(layers=4, width=256, heads=8, batch=8, length=128) -> Program:
    """A training step: gradients and Adam's update of all weights."""
    program = _transformer(layers, width, heads, batch, length)
    stack, x = program.arguments
    zeros = jax.tree.map(np.zeros_like, stack)

    def update(weights, mean, variance, slope):
        mean = 0.9 * mean + 0.1 * slope
        variance = 0.999 * variance + 0.001 * jnp.square(slope)
        return weights - 1e-3 * mean / (jnp.sqrt(variance) + 1e-8), mean, variance

    def step(stack, means, variances, x):
        def loss(stack):
            return jnp.mean(jnp.square(program.function(stack, x)))

        slopes = jax.grad(loss)(stack)
        updated = jax.tree.map(update, stack, means, variances, slopes)
        return jax.tree.transpose(jax.tree.structure(stack), None, updated)

    return Program(step, (stack, zeros, zeros, x))


# -------------------------------------------------------------------- decoding
def _decoder(dtype: Any, layers: int, width: int, feed: int, heads: int, context: int) -> Program:
    """One token through a stack of layers, whose weights and caches lie in stacked arrays."""
    samples = Samples(3)
    size = width // heads

    def stacked(*shape: int) -> np.ndarray:
        return np.stack([samples.weights(*shape) for _ in range(layers)]).astype(dtype)

    weights = dict(
        query_key_value=stacked(width, 3 * width),
        attention_out=stacked(width, width),
        gate=stacked(width, feed),
        up=stacked(width, feed),
        down=stacked(feed, width),
    )
    caches = samples.normal(layers, 2, heads, context, size).astype(dtype)
    token = samples.normal(width).astype(dtype)
    position = np.int32(context * 3 // 5)

    def attend(x, weights, cache, position):
        query, key, value = (
            part.reshape(heads, 1, size) for part in jnp.split(x @ weights["query_key_value"], 3)
        )
        cache = lax.dynamic_update_slice(cache, jnp.stack([key, value]), (0, 0, position, 0))
        keys, values = cache
        scores = jnp.einsum("hqd,hkd->hqk", query, keys)
        scores = scores.astype(jnp.promote_types(x.dtype, jnp.float32)) * size**-0.5
        scores = jnp.where(jnp.arange(context) <= position, scores, -1e9)
        attention = jax.nn.softmax(scores).astype(x.dtype)
        mixed = jnp.einsum("hqk,hkd->hqd", attention, values)
        return mixed.reshape(width) @ weights["attention_out"], cache

    def step(weights, caches, x, position):
        def layer(x, slices):
            weights, cache = slices
            mixed, cache = attend(x, weights, cache, position)
            x = x + mixed
            gated = jax.nn.silu(x @ weights["gate"]) * (x @ weights["up"])
            return x + gated @ weights["down"], cache

        return lax.scan(layer, x, (weights, caches))

    return Program(step, (weights, caches, token, position))


_DECODER_REDUCED = dict(layers=3, width=64, feed=176, heads=4, context=32)
_DECODER_TINY = dict(layers=2, width=8, feed=12, heads=2, context=6)
_DECODER_SIMULATED = dict(layers=2, width=256, feed=700, context=128)


@workload(
    "networks",
    kinds=("dot", "update"),
    reduced=_DECODER_REDUCED,
    tiny=_DECODER_TINY,
    simulated=_DECODER_SIMULATED,
)
def llm_decode_f32(layers=6, width=1024, feed=2816, heads=16, context=512) -> Program:
    """One token of a language model in f32."""
    return _decoder(np.float32, layers, width, feed, heads, context)


@workload(
    "networks",
    kinds=("dot", "update"),
    reduced=_DECODER_REDUCED,
    tiny=_DECODER_TINY,
    simulated=_DECODER_SIMULATED,
    tolerance=0.06,
    reason="six layers of bf16: where a value is rounded to bf16 depends on what is fused,"
    " and each rounding is 4e-3",
)
def llm_decode_bf16(layers=6, width=1024, feed=2816, heads=16, context=512) -> Program:
    """The same in bf16."""
    return _decoder(jnp.bfloat16, layers, width, feed, heads, context)
