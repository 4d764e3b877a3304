# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures one workload in this process, which should be a fresh one.

    python -m spokeshave.bench.measure NAME --platforms spokeshave,cpu --seconds 2

Prints a JSON object. The platforms take turns call by call, so that what else the
machine does meets all alike; each call takes the next of several copies of the
arguments, so that nothing is measured that only a cache made possible.
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import jax
from spokeshave.bench import compare, platforms
from spokeshave.bench.workloads import WORKLOADS, Program, Workload

# Copies of the arguments together are to be larger than what caches keep, but fit
# into memory beside everything else.
_ROTATED_BYTES = 256 << 20
_MOST_BYTES = 1 << 30
_COPIES = (2, 8)
_FEWEST_ROUNDS = 5
_MOST_SAMPLES = 20_000


def _bytes_of(arguments: Any) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(arguments))


def _copy_count(size: int) -> int:
    fewest, most = _COPIES
    wanted = -(-_ROTATED_BYTES // max(size, 1))
    return max(fewest, min(most, wanted, _MOST_BYTES // max(size, 1)))


def _place(program: Program, device: Any) -> list[Any]:
    """Copies of the arguments on the device, each in memory of its own."""
    count = _copy_count(_bytes_of(program.arguments))
    return [
        jax.block_until_ready(
            jax.device_put(jax.tree.map(lambda x: x.copy(), program.arguments), device)
        )
        for _ in range(count)
    ]


def _time_in_turn(
    compiled: dict[str, platforms.Compiled], inputs: dict[str, list], seconds: float
) -> dict[str, list[float]]:
    """Seconds of single calls, the platforms in turn; who is first changes each round."""
    samples: dict[str, list[float]] = {name: [] for name in compiled}
    order = list(compiled)
    gc.collect()
    gc.disable()
    end = time.perf_counter() + seconds * len(order)
    rounds = 0
    while rounds < _FEWEST_ROUNDS or (time.perf_counter() < end and rounds < _MOST_SAMPLES):
        for name in order:
            call, arguments = compiled[name].call, inputs[name][rounds % len(inputs[name])]
            start = time.perf_counter()
            results = jax.block_until_ready(call(*arguments))
            samples[name].append(time.perf_counter() - start)
            del results
        order.reverse()
        rounds += 1
    gc.enable()
    return samples


def _counts(counted: dict[str, Any], program: Program) -> dict[str, Any]:
    """What the report shows of Spokeshave's statistics."""
    keys = ("kernels", "kernel_kinds", "calls", "structure", "loops", "arena_bytes", "work")
    counts = {key: counted.get(key) for key in keys}
    counts["library_calls"], counts["custom_calls"] = counted["called"]
    counts["argument_bytes"] = _bytes_of(program.arguments)
    return counts


def measure(workload: Workload, names: Sequence[str], seconds: float, size: str) -> dict[str, Any]:
    """Compiles, compares and times `workload` on the platforms `names`."""
    program = workload.program(size)
    inputs = {name: _place(program, jax.devices(name)[0]) for name in names}
    compiled, results, counted = {}, {}, {}
    for name in names:
        with platforms.counting(name) as counts:
            compiled[name] = platforms.compile_on(name, program)
            # The first call compiles once more where JAX keeps its own cache.
            results[name] = jax.block_until_ready(compiled[name].call(*inputs[name][0]))
        if name == platforms.OURS:
            counted = _counts(counts, program)
            counted["result_bytes"] = _bytes_of(results[name])
    row: dict[str, Any] = dict(name=workload.name, theme=workload.theme, counts=counted)
    row["compile_seconds"] = {name: compiled[name].compile_seconds for name in names}
    row["dtypes"] = sorted({leaf.dtype.name for leaf in jax.tree.leaves(program.arguments)})
    if len(names) > 1:
        found = compare.difference(results[names[0]], results[names[1]], workload.tolerance)
        row["difference"] = dict(
            error=found.error,
            tolerance=found.tolerance,
            equal_bits=found.equal_bits,
            accepted=found.accepted or (workload.chaotic and size == "full"),
        )
    results.clear()
    row["samples"] = _time_in_turn(compiled, inputs, seconds) if seconds > 0 else {}
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; an exception reaches the caller as an exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(WORKLOADS))
    parser.add_argument("--platforms", default=platforms.OURS)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--size", default="full")
    options = parser.parse_args(arguments)
    names = options.platforms.split(",")
    # No compilation may come out of a cache of an earlier process.
    jax.config.update("jax_enable_compilation_cache", False)
    row = measure(WORKLOADS[options.name], names, options.seconds, options.size)
    row["pid"] = os.getpid()
    print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
