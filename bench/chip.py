# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether results on the simulated chip are right, beside two oracles on the stock CPU.

    JAX_PLATFORMS=spokeshave_tpu,cpu python -m spokeshave.bench.chip [--only NAMES] [--json FILE]

The first oracle has the chip's products: f32 factors are rounded to bf16, sums are in
f32. The second is the program as it stands. Workloads run at their `simulated` size.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "spokeshave_tpu,cpu")

import jax
from spokeshave.bench import compare, platforms
from spokeshave.bench.compare import Difference
from spokeshave.bench.workloads import WORKLOADS

CHIP = "spokeshave_tpu"


def _rounded(value: Any) -> Any:
    """An operand of a product as a matrix unit takes it in."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    element = str(ir.RankedTensorType(value.type).element_type)
    if element == "complex<f32>":
        return hlo.complex(_rounded(hlo.real(value)), _rounded(hlo.imag(value)))
    if element != "f32":
        return value
    bits = ir.IntegerType.get_signless(32)
    return hlo.reduce_precision(value, ir.IntegerAttr.get(bits, 8), ir.IntegerAttr.get(bits, 7))


def _is_on_vector_unit(context: Any, parameters: dict[str, Any]) -> bool:
    """Convolutions with groups, of few features or of few terms are, in f32."""
    layout = parameters.get("dimension_numbers")
    if not hasattr(layout, "rhs_spec"):
        return False
    if parameters["feature_group_count"] > 1 or parameters["batch_group_count"] > 1:
        return True
    kernel = context.avals_in[1]
    features = kernel.shape[layout.rhs_spec[0]]
    return features < 4 or kernel.size < 4 * features or kernel.dtype.kind == "c"


def _is_one_pass(parameters: dict[str, Any]) -> bool:
    """More than the default precision is several passes, whose sum is nearly that of f32."""
    precision = parameters.get("precision")
    wanted = precision if isinstance(precision, tuple) else (precision,)
    return all(one in (None, jax.lax.Precision.DEFAULT) for one in wanted)


@contextlib.contextmanager
def products_of_the_chip() -> Iterator[None]:
    """Programs lowered for the CPU within round the factors of f32 products of the default
    precision to bf16."""
    from jax._src.interpreters import mlir
    from jax._src.lax import convolution, lax

    rules = mlir._platform_specific_lowerings["cpu"]
    before = {p: rules[p] for p in (lax.dot_general_p, convolution.conv_general_dilated_p)}
    for primitive, entry in before.items():
        plain = getattr(entry, "rule", entry)

        def rule(context: Any, left: Any, right: Any, *, plain: Any = plain, **parameters: Any):
            if _is_one_pass(parameters) and not _is_on_vector_unit(context, parameters):
                left, right = _rounded(left), _rounded(right)
            return plain(context, left, right, **parameters)

        mlir.register_lowering(primitive, rule, platform="cpu")
    try:
        yield
    finally:
        rules.update(before)


@dataclasses.dataclass(frozen=True)
class OnChip:
    """A workload's differences from both oracles."""

    name: str
    rounded: Difference
    plain: Difference
    seconds: float  # on the chip, with compiling and simulating

    @property
    def accepted(self) -> bool:
        """Within both tolerances."""
        return self.rounded.accepted and self.plain.accepted


def measure(name: str) -> OnChip:
    """Runs a workload on the chip and twice on the stock CPU."""
    workload = WORKLOADS[name]
    program = workload.program("simulated")
    start = time.perf_counter()
    ours = platforms.run_on(CHIP, program).results
    seconds = time.perf_counter() - start
    plain = platforms.run_on("cpu", program).results
    with products_of_the_chip():
        rounded = platforms.run_on("cpu", program).results
    tolerance = workload.chip_tolerance or workload.tolerance
    return OnChip(
        name,
        compare.difference(ours, rounded, tolerance),
        compare.difference(ours, plain, max(workload.chip_loose, tolerance or 0)),
        seconds,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when everything is as near as it must be."""
    parser = argparse.ArgumentParser(
        prog="python -m spokeshave.bench.chip", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", help="some workloads, by commas")
    parser.add_argument("--json", type=pathlib.Path, help="write the differences there")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else list(WORKLOADS)
    rows: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names, 1):
        print(f"[{number:2d}/{len(names)}] {name:<24}", end=" ", flush=True)
        try:
            found = measure(name)
        except jax.errors.JaxRuntimeError as error:
            rows[name] = {"accepted": False, "error": str(error)}
            print(f"FAILED: {str(error).splitlines()[0][:160]}", flush=True)
            continue
        rows[name] = dataclasses.asdict(found) | {"accepted": found.accepted}
        print(
            f"rounded {found.rounded.error:.1e} of {found.rounded.tolerance:.0e}"
            f"  plain {found.plain.error:.1e}  {found.seconds:5.1f} s"
            f"{'' if found.accepted else '  TOO FAR'}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows))
    return 0 if all(row["accepted"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
