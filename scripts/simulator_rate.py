#!/usr/bin/env python3
# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many bundles the simulator of the chip plays in a second, in each of its modes.

    scripts/simulator_rate.py build/release/tools/spokeshave [--chip v5e] [FILE.mlir ...]

Decoded: time without values, decoding included. Each: the same, looking at every
instruction. Values: with them. Without files: three small programs, and with --standard
those of spokeshave.codesign.standard, without values. Each rate is the best of some
runs: others on the machine make a run slower, never faster. --least 20e6 exits with 1
where a decoded rate is lower.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
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


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _timed(tool: str, chip: str, file: str, *mode: str) -> float:
    report = _output(tool, "time", "--json", f"--chip={chip}", *mode, file)
    return json.loads(report)["bundles_per_second"]


def _with_values(tool: str, chip: str, file: str) -> float:
    options = ("--target=tpu", f"--chip={chip}", "--random-args", "--quiet")
    found = re.search(
        r"(\d+) bundles simulated in ([\d.]+) s", _output(tool, "run", *options, file)
    )
    return int(found[1]) / max(float(found[2]), 1e-3)


def _write_programs(folder: pathlib.Path, standard: bool) -> list[pathlib.Path]:
    texts = {name: _text(*program).encode() for name, program in PROGRAMS.items()}
    if standard:
        from spokeshave.codesign import standard as programs

        texts = {name: programs.load(name).data for name in programs.ALL}
    for name, text in texts.items():
        (folder / f"{name}.mlir").write_bytes(text)
    return [folder / f"{name}.mlir" for name in texts]


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--chip", default="v5e")
    parser.add_argument("--standard", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    print(f"{'program':24} {'decoded':>12} {'each':>12} {'values':>12}   million bundles a second")
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(file) for file in options.files]
        files = files or _write_programs(pathlib.Path(folder), options.standard)
        for file in files:
            where = (options.tool, options.chip, str(file))
            rates = [max(_timed(*where) for _ in range(options.runs))]
            slow |= rates[0] < options.least
            if not options.standard:
                rates += [_timed(*where, "--every-instruction"), _with_values(*where)]
            cells = [f"{rate * 1e-6:12.2f}" for rate in rates]
            print(f"{file.stem:24}", *cells, flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
