# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that carry a state: recurrent networks, an ordinary differential equation."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, workload


def _lstm(inputs: jax.Array, states: jax.Array, sequence: jax.Array) -> jax.Array:
    """The hidden states of an LSTM; gates lie side by side: input, cell, output, forget."""
    hidden = states.shape[0]

    def cell(carried, x):
        output, memory = carried
        gates = x @ inputs + output @ states
        write, candidate, read, keep = jnp.split(gates, 4, axis=-1)
        memory = jax.nn.sigmoid(keep) * memory + jax.nn.sigmoid(write) * jnp.tanh(candidate)
        output = jax.nn.sigmoid(read) * jnp.tanh(memory)
        return (output, memory), output

    start = jnp.zeros((sequence.shape[1], hidden), sequence.dtype)
    _, outputs = lax.scan(cell, (start, start), sequence)
    return outputs


def _lstm_arguments(steps: int, batch: int, features: int, hidden: int) -> tuple:
    samples = Samples(7)
    return (
        samples.normal(features, 4 * hidden, scale=0.1),
        samples.normal(hidden, 4 * hidden, scale=0.1),
        samples.normal(steps, batch, features),
    )


_REDUCED = dict(steps=40, batch=4, features=16, hidden=24)
_TINY = dict(steps=3, batch=2, features=3, hidden=4)
_SIMULATED = dict(batch=16, features=64, hidden=128)


@workload("recurrent", kinds=("dot",), reduced=_REDUCED, tiny=_TINY, simulated=_SIMULATED)
def lstm_forward(steps=500, batch=16, features=64, hidden=128) -> Program:
    """An LSTM over a long sequence."""
    return Program(_lstm, _lstm_arguments(steps, batch, features, hidden))


@workload(
    "recurrent",
    kinds=("dot",),
    reduced=_REDUCED,
    tiny=_TINY,
    simulated=_SIMULATED,
    chip_tolerance=3e-3,
    chip_reason="a state that differs in its last bit may be rounded to bf16 the other way, and"
    " each step is made from the one before",
)
def lstm_grad(steps=500, batch=16, features=64, hidden=128) -> Program:
    """Back-propagation through it."""

    def loss(inputs, states, sequence):
        return jnp.sum(jnp.square(_lstm(inputs, states, sequence)))

    gradient = jax.grad(loss, argnums=(0, 1))
    return Program(gradient, _lstm_arguments(steps, batch, features, hidden))


@workload(
    "recurrent",
    kinds=("while",),
    reduced=dict(steps=2000),
    tiny=dict(steps=20),
    chaotic=True,
)
def lorenz_scan_100k(steps=100_000) -> Program:
    """The Lorenz system by Euler's method, its first coordinate recorded at each step."""

    def derivative(point):
        x, y, z = point
        return jnp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    def solve(start):
        def step(point, _):
            return point + 0.001 * derivative(point), point[0]

        return lax.scan(step, start, length=steps)

    return Program(solve, (np.ones(3, np.float32),))
