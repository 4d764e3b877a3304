# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulation and sampling: Monte Carlo, rollouts, stencils, bodies, a fractal."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench.workloads.registry import Program, Samples, raw_key, workload


# ---------------------------------------------------------------- Monte Carlo
def _leapfrog(slope, position, momentum, steps: int, size: float):
    """Hamilton's equations, kick, drift, kick."""

    def step(_, state):
        position, momentum = state
        momentum = momentum + 0.5 * size * slope(position)
        position = position + size * momentum
        return position, momentum + 0.5 * size * slope(position)

    return lax.fori_loop(0, steps, step, (position, momentum))


@workload(
    "simulation",
    reduced=dict(rows=60, features=6, draws=12),
    tiny=dict(rows=5, features=3, draws=2),
    chaotic=True,
)
def hmc_logistic(rows=500, features=20, draws=200, leaps=10) -> Program:
    """Hamiltonian Monte Carlo over the weights of a logistic regression."""
    samples = Samples(8)
    data = samples.normal(rows, features)
    labels = samples.integers(0, 2, rows, dtype=np.float32)

    def log_density(weights):
        z = data.astype(weights.dtype) @ weights
        likelihood = jnp.sum(labels.astype(weights.dtype) * z - jnp.logaddexp(0.0, z))
        return likelihood - 0.5 * jnp.sum(jnp.square(weights))

    def sample(key, start):
        slope = jax.grad(log_density)

        def draw(weights, key):
            momentum_key, accept_key = jax.random.split(key)
            momentum = jax.random.normal(momentum_key, weights.shape, weights.dtype)
            proposed, final = _leapfrog(slope, weights, momentum, leaps, 0.01)
            gained = log_density(proposed) - log_density(weights)
            gained = gained + 0.5 * (momentum @ momentum - final @ final)
            accept = jnp.log(jax.random.uniform(accept_key, dtype=weights.dtype)) < gained
            weights = jnp.where(accept, proposed, weights)
            return weights, weights

        return lax.scan(draw, start, jax.random.split(key, draws))[1]

    return Program(sample, (raw_key(7), np.zeros(features, np.float32)))


@workload(
    "simulation",
    kinds=("scan",),
    reduced=dict(days=60, paths=500),
    tiny=dict(days=5, paths=6),
    simulated=dict(paths=3000),
)
def black_scholes_mc(days=252, paths=10_000) -> Program:
    """An Asian option priced over random paths."""
    rate, volatility, strike = 0.03, 0.2, 100.0
    drift = (rate - 0.5 * volatility**2) / days
    spread = volatility * days**-0.5

    def price(key):
        shocks = jax.random.normal(key, (days, paths))
        values = strike * jnp.exp(jnp.cumsum(drift + spread * shocks, axis=0))
        return jnp.mean(jnp.maximum(jnp.mean(values, axis=0) - strike, 0.0))

    return Program(price, (raw_key(11),))


# ------------------------------------------------------------------- rollouts
def _cart_pole(state: jax.Array, push_right: jax.Array) -> jax.Array:
    """One step of 0.02 s of the pole on a cart."""
    mass, pole_mass, half_length, gravity = 1.1, 0.1, 0.5, 9.8
    place, speed, angle, turn = state
    force = jnp.where(push_right, 10.0, -10.0)
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    common = (force + pole_mass * half_length * turn * turn * sine) / mass
    inertia = half_length * (4.0 / 3.0 - pole_mass * cosine * cosine / mass)
    turning = (gravity * sine - cosine * common) / inertia
    pushing = common - pole_mass * half_length * turning * cosine / mass
    return state + 0.02 * jnp.stack([speed, pushing, turn, turning])


@workload(
    "simulation",
    kinds=("while",),
    reduced=dict(carts=64, steps=60),
    tiny=dict(carts=2, steps=4),
    simulated=dict(carts=200),
    chaotic=True,
)
def cartpole_rollout(carts=1024, steps=500) -> Program:
    """How long a linear policy keeps each of many poles upright."""
    policy = np.array([0.1, 0.3, 1.0, 0.5], np.float32)

    def run_one(key, policy):
        def step(carried, _):
            state, alive = carried
            moved = _cart_pole(state, state @ policy > 0)
            state = jnp.where(alive, moved, state)
            alive = alive & (jnp.abs(state[0]) < 2.4) & (jnp.abs(state[2]) < 0.21)
            return (state, alive), alive.astype(state.dtype)

        start = jax.random.uniform(key, (4,), policy.dtype, minval=-0.05, maxval=0.05)
        _, alive = lax.scan(step, (start, True), length=steps)
        return jnp.sum(alive)

    def rollouts(key, policy):
        return jax.vmap(run_one, in_axes=(0, None))(jax.random.split(key, carts), policy)

    return Program(rollouts, (raw_key(3), policy))


# --------------------------------------------------------------------- grids
@workload(
    "simulation",
    kinds=("while",),
    reduced=dict(points=48, limit=60),
    tiny=dict(points=6, limit=5),
    tolerance=0,
)
def mandelbrot_while(points=512, limit=200) -> Program:
    """The escape times of the Mandelbrot set over a grid, by a while loop."""
    imaginary, real = np.meshgrid(
        np.linspace(-1.3, 1.3, points, dtype=np.float32),
        np.linspace(-2.1, 0.6, points, dtype=np.float32),
        indexing="ij",
    )

    def escape_times(real, imaginary):
        def unfinished(state):
            return state[0] < limit

        def step(state):
            turn, x, y, count = state
            x2, y2 = x * x, y * y
            inside = x2 + y2 < 4.0
            moved_x = jnp.where(inside, x2 - y2 + real, x)
            moved_y = jnp.where(inside, 2 * x * y + imaginary, y)
            return turn + 1, moved_x, moved_y, count + inside.astype(count.dtype)

        zeros = jnp.zeros_like(real)
        start = (0, zeros, zeros, jnp.zeros(real.shape, jnp.int32))
        return lax.while_loop(unfinished, step, start)[-1]

    return Program(escape_times, (real, imaginary))


@workload(
    "simulation",
    reduced=dict(points=64, steps=10),
    tiny=dict(points=6, steps=2),
    simulated=dict(points=300),
)
def heat_stencil(points=1024, steps=50) -> Program:
    """The heat equation on a torus, a stencil of five points."""

    def neighbours(u):
        around = [jnp.roll(u, shift, axis) for axis in (0, 1) for shift in (1, -1)]
        return sum(around[1:], around[0])

    def diffuse(u):
        return lax.fori_loop(0, steps, lambda _, u: u + 0.1 * (neighbours(u) - 4 * u), u)

    return Program(diffuse, (Samples(9).normal(points, points),))


@workload(
    "simulation",
    reduced=dict(bodies=48, steps=4),
    tiny=dict(bodies=4, steps=2),
    simulated=dict(bodies=300),
)
def nbody(bodies=1024, steps=10) -> Program:
    """Softened gravity between all pairs."""
    samples = Samples(10)

    def pull(positions):
        apart = positions[None, :, :] - positions[:, None, :]
        squared = jnp.sum(jnp.square(apart), axis=-1) + 1e-2
        return jnp.sum(apart * (squared**-1.5)[..., None], axis=1)

    def simulate(positions, speeds):
        def step(_, state):
            positions, speeds = state
            speeds = speeds + 1e-3 * pull(positions)
            return positions + 1e-3 * speeds, speeds

        return lax.fori_loop(0, steps, step, (positions, speeds))

    return Program(simulate, (samples.normal(bodies, 3), samples.normal(bodies, 3)))
