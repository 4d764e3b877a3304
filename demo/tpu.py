# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The job of 'make demo-tpu': a transformer block on simulated TPU-class chips.

    python demo/tpu.py [--output DIR]

1. The block with values, small, through JAX on spokeshave_tpu, beside an oracle in
   NumPy that rounds the operands of products to bf16 as the matrix unit does.
2. The block at full size, time only, on two chips: reports as pages.
3. A sweep over figures of the first chip: table, plots and page.

Exits with 1 where the results differ from the oracle's, or a time is missing.
"""

import argparse
import os
import pathlib
import sys
import time

os.environ["JAX_PLATFORMS"] = "spokeshave_tpu,cpu"

import jax
import ml_dtypes
import numpy as np
import transformer
from spokeshave.codesign import __main__ as codesign
from spokeshave.codesign import explain, programs, timing

CHIPS = ("v5e", "v6e")
SWEEP = "vmem=32MiB|128MiB, mxu=2..8, hbm=0.8TB/s|1.6TB/s"
# A value that falls on the other side of a rounding to bf16 moves by 2^-8 of itself;
# averaged over the products' depth this stays far below.
TOLERANCE = 5e-3


def say(text: str) -> None:
    """Progress, at once even when the output is a pipe."""
    print(text, flush=True)


def oracle(params: dict, x: np.ndarray, heads: int, rounds: bool) -> np.ndarray:
    """The block in f64; with `rounds` the operands of products are rounded to bf16."""

    def operand(a: np.ndarray) -> np.ndarray:
        return a.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64) if rounds else a

    def product(labels: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum(labels, operand(a), operand(b))

    def norm(a: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return a / np.sqrt(np.mean(a * a, -1, keepdims=True) + 1e-6) * scale

    params = {name: value.astype(np.float64) for name, value in params.items()}
    x = x.astype(np.float64)
    batch, sequence, width = x.shape
    qkv = product("bsd,de->bse", norm(x, params["norm1"]), params["qkv"])
    q, k, v = qkv.reshape(batch, sequence, 3, heads, -1).transpose(2, 0, 3, 1, 4)
    scores = product("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    scores = np.where(np.tril(np.ones((sequence, sequence), bool)), scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    # In one pass over the keys: what the matrix unit rounds is not divided yet.
    mixed = product("bhqk,bhkd->bhqd", weights, v) / weights.sum(-1, keepdims=True)
    mixed = mixed.transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + product("bsd,de->bse", mixed, params["out"])
    h = product("bsd,de->bse", norm(x, params["norm2"]), params["up"])
    h = 0.5 * h * (1 + np.tanh((2 / np.pi) ** 0.5 * (h + 0.044715 * h**3)))
    return x + product("bsd,de->bse", h, params["down"])


def values() -> bool:
    """Whether the small block gives what the oracle gives."""
    shape = transformer.TINY
    say(f"[1/3] with values on the simulated {jax.devices()[0].device_kind}: {shape}, f32")
    params = transformer.init(shape, np.float32)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((shape.batch, shape.sequence, shape.width)).astype(np.float32)
    start = time.perf_counter()
    compiled = jax.jit(lambda p, x: transformer.block(p, x, shape.heads)).lower(params, x).compile()
    got = np.asarray(compiled(params, x), np.float64)
    seconds = time.perf_counter() - start
    cycles = compiled.cost_analysis()["cycles"]
    rounded = np.abs(got - oracle(params, x, shape.heads, True)).max()
    exact = np.abs(got - oracle(params, x, shape.heads, False)).max()
    say(f"      compiled and simulated in {seconds:.1f} s, {cycles:.0f} cycles")
    say(f"      largest difference from the oracle that rounds operands to bf16: {rounded:.1e}")
    say(f"      and from exact products: {exact:.1e} (tolerance {TOLERANCE:.0e} of the former)")
    return bool(rounded < TOLERANCE)


def reports(output: pathlib.Path) -> bool:
    """The large block's time on each chip."""
    say(f"[2/3] time alone: {transformer.LARGE}, bf16")
    program = programs.load(
        str(pathlib.Path(transformer.__file__).with_name("transformer.py:large"))
    )
    for chip in CHIPS:
        start = time.perf_counter()
        report, reason = timing.time_program(program, chip)
        if report is None:
            say(f"      no time on {chip}: {reason}")
            return False
        kernels, _ = explain.explain(report, timing.figures_of(chip))
        say(explain.text(program.name, report, kernels, most=3))
        file = output / f"tpu-{chip}.html"
        explain.write_page(file, program.name, report, kernels)
        say(f"      the three longest of {len(kernels)} kernels; all are in {file}")
        say(f"      (compiled and timed in {time.perf_counter() - start:.1f} s)")
    return True


def sweep(output: pathlib.Path) -> bool:
    """Variants of the first chip."""
    say(f"[3/3] sweep on {CHIPS[0]}: {SWEEP}")
    program = str(pathlib.Path(transformer.__file__).with_name("transformer.py:large"))
    arguments = [program, "--chip", CHIPS[0], "--sweep", SWEEP, "--points", "3"]
    return codesign.main([*arguments, "--out", str(output / "tpu-sweep")]) == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="a transformer block on simulated chips")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("demo-output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    good = [values(), reports(output), sweep(output)]
    say("demo-tpu: " + ("all as expected" if all(good) else "FAILED"))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
