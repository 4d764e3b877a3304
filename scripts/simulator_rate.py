#!/usr/bin/env python3
# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many bundles the simulator of the chip plays in a second, in each of its modes.

    scripts/simulator_rate.py build/release/tools/spokeshave [--chip v5e] [FILE.mlir ...]

Decoded: time without values. Each: the same, looking at every instruction. Values: with them.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

PROGRAMS = {
    "product": ("dot_general %a, %b, contracting_dims = [1] x [0]", 1024),
    "sum": ("add %a, %b", 2048),
    "tanh": ("tanh %a", 1024),
}


def _text(operation: str, size: int) -> str:
    kind = f"tensor<{size}x{size}xf32>"
    unary = "%b" not in operation
    types = kind if unary else f"({kind}, {kind}) -> {kind}"
    return (
        f"func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{\n"
        f"  %0 = stablehlo.{operation} : {types}\n  return %0 : {kind}\n}}\n"
    )


def _rates(tool: str, chip: str, file: str) -> list[float]:
    """Bundles a second: decoded, each instruction, values."""
    rates = []
    for mode in ([], ["--every-instruction"]):
        done = subprocess.run(
            [tool, "time", "--json", f"--chip={chip}", *mode, file],
            capture_output=True,
            text=True,
            check=True,
        )
        rates.append(json.loads(done.stdout)["bundles_per_second"])
    done = subprocess.run(
        [tool, "run", "--target=tpu", f"--chip={chip}", "--random-args", "--quiet", file],
        capture_output=True,
        text=True,
        check=True,
    )
    rates.append(float(re.search(r"([\d.]+) million a second", done.stdout)[1]) * 1e6)
    return rates


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--chip", default="v5e")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    print(f"{'program':24} {'decoded':>12} {'each':>12} {'values':>12}   million bundles a second")
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(file) for file in options.files]
        if not files:
            for name, (operation, size) in PROGRAMS.items():
                files.append(pathlib.Path(folder) / f"{name}.mlir")
                files[-1].write_text(_text(operation, size))
        for file in files:
            rates = _rates(options.tool, options.chip, str(file))
            print(f"{file.stem:24}", *(f"{rate * 1e-6:12.2f}" for rate in rates))


if __name__ == "__main__":
    main()
