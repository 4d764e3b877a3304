# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional networks: a ResNet-18's inference and gradient, a depthwise layer."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload

_LAYOUT = ("NHWC", "HWIO", "NHWC")


def _convolve(x: jax.Array, kernel: jax.Array, stride: int = 1, groups: int = 1) -> jax.Array:
    return lax.conv_general_dilated(
        x,
        kernel,
        window_strides=(stride, stride),
        padding="SAME",
        dimension_numbers=_LAYOUT,
        feature_group_count=groups,
    )


def _residual_block(x: jax.Array, weights: dict[str, jax.Array]) -> jax.Array:
    """Two 3x3 convolutions and a way past them; halves the image where that way has weights."""
    shortcut, stride = x, 1
    if "shortcut" in weights:
        stride = 2
        shortcut = _convolve(x, weights["shortcut"], stride)
    inner = jax.nn.relu(_convolve(x, weights["first"], stride))
    return jax.nn.relu(_convolve(inner, weights["second"]) + shortcut)


def _resnet18_weights(samples: Samples, channels: tuple[int, ...], classes: int) -> dict:
    blocks, width = [], channels[0]
    for stage in channels:
        for _ in range(2):
            block = dict(
                first=samples.weights(3, 3, width, stage),
                second=samples.weights(3, 3, stage, stage),
            )
            if stage != width:
                block["shortcut"] = samples.weights(1, 1, width, stage)
            blocks.append(block)
            width = stage
    return dict(
        stem=samples.normal(7, 7, 3, channels[0], scale=0.1),
        blocks=blocks,
        head=samples.weights(width, classes),
    )


def _resnet18(weights: dict, images: jax.Array) -> jax.Array:
    x = jax.nn.relu(_convolve(images, weights["stem"], stride=2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for block in weights["blocks"]:
        x = _residual_block(x, block)
    return jnp.mean(x, axis=(1, 2)) @ weights["head"]


_CHANNELS = (64, 128, 256, 512)
_REDUCED = dict(channels=(8, 12, 16, 24), classes=20, pixels=32)
_TINY = dict(channels=(2, 3, 4, 5), classes=3, pixels=16)


@workload(
    "convolutions",
    kinds=("convolution", "window"),
    reduced=_REDUCED,
    tiny=_TINY,
    simulated=dict(channels=(32, 40, 64, 130), pixels=96),
    chip_tolerance=1e-2,
    chip_reason="a value that differs in its last bit may be rounded to bf16 the other way, and"
    " there are seventeen layers; each by itself is within 3e-7",
)
def resnet18_forward(channels=_CHANNELS, classes=1000, pixels=224) -> Program:
    """ResNet-18 (without batch normalisation) on one image."""
    samples = Samples(4)
    weights = _resnet18_weights(samples, channels, classes)
    return Program(_resnet18, (weights, samples.normal(1, pixels, pixels, 3)))


@workload(
    "convolutions",
    kinds=("convolution", "window"),
    reduced=dict(_REDUCED, batch=2),
    tiny=dict(_TINY, batch=1),
    tolerance=2e-3,
    reason="the slope of a rectifier or a maximum jumps where its argument is rounding noise"
    " around zero or a tie",
    chip_tolerance=1e-2,
    chip_loose=0.2,
    chip_reason="the same, of arguments in which a rounding to bf16 goes the other way",
)
def resnet18_grad_64px(channels=_CHANNELS, classes=1000, pixels=64, batch=8) -> Program:
    """The gradient of its weights on a batch of small images."""
    samples = Samples(5)
    weights = _resnet18_weights(samples, channels, classes)

    def loss(weights, images):
        return jnp.mean(jnp.square(_resnet18(weights, images)))

    return Program(jax.grad(loss), (weights, samples.normal(batch, pixels, pixels, 3)))


@workload(
    "convolutions",
    kinds=("convolution",),
    reduced=dict(batch=2, pixels=14, channels=24),
    tiny=dict(batch=1, pixels=4, channels=3),
    simulated=dict(pixels=56, channels=128),
)
def depthwise_conv(batch=4, pixels=56, channels=128) -> Program:
    """A 3x3 convolution of each channel with a kernel of its own."""
    samples = Samples(6)
    images = samples.normal(batch, pixels, pixels, channels)
    kernel = samples.normal(3, 3, 1, channels)
    assert kernel.dtype == np.float32
    return Program(lambda x, k: _convolve(x, k, groups=channels), (images, kernel))
