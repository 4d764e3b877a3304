# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single functions: random numbers beside the stock CPU's, transcendentals beside the truth."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from spokeshave.bench import compare, platforms
from spokeshave.bench.workloads import Program


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of one argument, and how far from its measure it may be."""

    name: str
    call: Callable[[Any], Any]
    argument: Callable[[], np.ndarray]
    most_ulp: float  # 0: equal bits
    truth: Callable[[np.ndarray], np.ndarray] | None = None  # in f64; None: the stock CPU


@dataclasses.dataclass(frozen=True)
class Distance:
    """How far the result is from its measure, in units in the last place."""

    ulp: float
    equal_bits: bool
    stock_ulp: float  # of the stock CPU's result

    def accepted(self, function: Function) -> bool:
        """Equal bits where that is promised, else within the stated ulp."""
        return self.equal_bits if function.most_ulp == 0 else self.ulp <= function.most_ulp

    def __str__(self) -> str:
        return "equal bits" if self.equal_bits else f"{self.ulp:.2g} ulp"


def measure(function: Function) -> Distance:
    """Runs it on Spokeshave and on the stock CPU."""
    argument = function.argument()
    program = Program(function.call, (argument,))
    ours = platforms.run_on(platforms.OURS, program).results
    stock = platforms.run_on("cpu", program).results
    if function.truth is None:
        found = compare.difference(ours, stock)
        return Distance(found.ulp, found.equal_bits, 0.0)
    truth = function.truth(argument.astype(np.float64))
    equal = np.array_equal(ours, truth.astype(ours.dtype), equal_nan=True)
    return Distance(compare.ulps(ours, truth), equal, compare.ulps(stock, truth))


def _key() -> np.ndarray:
    return np.array([17, 42], np.uint32)


def _between(low: float, high: float) -> Callable[[], np.ndarray]:
    """Numbers spread evenly, and many in each binade around 1."""

    def make():
        generator = np.random.default_rng(0)
        even = generator.uniform(low, high, 20_000)
        near = np.ldexp(generator.uniform(-1, 1, 4000), generator.integers(-20, 3, 4000))
        return np.concatenate([even, near[(near > low) & (near < high)]]).astype(np.float32)

    return make


_N = (10_007,)
# Releases of JAX before 0.11 send erfc as their own polynomial.
_ERFC_ULP = 2 if jax.__version_info__ >= (0, 11) else 40

RANDOM = [
    Function("bits", lambda k: jax.random.bits(k, _N), _key, 0),
    Function("bits, uint8", lambda k: jax.random.bits(k, _N, jnp.uint8), _key, 0),
    Function("split, fold_in", lambda k: jax.random.split(jax.random.fold_in(k, 7), 9), _key, 0),
    Function("randint", lambda k: jax.random.randint(k, _N, -50, 999), _key, 0),
    Function("uniform", lambda k: jax.random.uniform(k, _N), _key, 0),
    Function("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, _N), _key, 0),
    Function("permutation", lambda k: jax.random.permutation(k, 1000), _key, 0),
    Function("choice", lambda k: jax.random.choice(k, 1000, (500,)), _key, 0),
    Function("normal", lambda k: jax.random.normal(k, _N), _key, 4),
    Function("truncated_normal", lambda k: jax.random.truncated_normal(k, -2, 2, _N), _key, 4),
    Function("exponential", lambda k: jax.random.exponential(k, _N), _key, 4),
]

TRANSCENDENTAL = [
    Function("exp", lax.exp, _between(-87, 88), 2, np.exp),
    Function("expm1", lax.expm1, _between(-20, 88), 2, np.expm1),
    Function("log", lax.log, _between(1e-30, 1e6), 2, np.log),
    Function("log1p", lax.log1p, _between(-0.999, 1e6), 2, np.log1p),
    Function("sin", lax.sin, _between(-1000, 1000), 2, np.sin),
    Function("cos", lax.cos, _between(-1000, 1000), 2, np.cos),
    Function("tan", lax.tan, _between(-100, 100), 2, np.tan),
    Function("tanh", lax.tanh, _between(-10, 10), 2, np.tanh),
    Function("logistic", lax.logistic, _between(-30, 30), 3, lambda x: 1 / (1 + np.exp(-x))),
    Function("erf", lax.erf, _between(-5, 5), 2, np.vectorize(math.erf)),
    Function("erfc", lax.erfc, _between(-5, 8), _ERFC_ULP, np.vectorize(math.erfc)),
    # JAX's own polynomial, which is what is measured, not the truth.
    Function("erf_inv", lax.erf_inv, _between(-0.9999, 0.9999), 4),
    Function("sqrt", lax.sqrt, _between(0, 1e6), 0, np.sqrt),
    Function("rsqrt", lax.rsqrt, _between(1e-30, 1e6), 2, lambda x: 1 / np.sqrt(x)),
    Function("cbrt", lax.cbrt, _between(-1e6, 1e6), 2, np.cbrt),
    Function("asinh", lax.asinh, _between(-1e4, 1e4), 4, np.arcsinh),
    Function(
        "atan2",
        lambda x: lax.atan2(x, jnp.flip(x)),
        _between(-50, 50),
        2,
        lambda x: np.arctan2(x, x[::-1]),
    ),
    Function("pow", lambda x: lax.pow(jnp.abs(x), x), _between(-9, 9), 2, lambda x: np.abs(x) ** x),
]

GROUPS = {
    "Random numbers, beside the stock CPU's": RANDOM,
    "Transcendental functions in f32, beside the truth": TRANSCENDENTAL,
}
