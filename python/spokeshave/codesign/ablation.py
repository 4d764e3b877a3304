# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each optimisation for the chip gains: every one turned off by itself.

    python -m spokeshave.codesign.ablation [--out docs/tpu-ablation.md]

One compiler, one simulator; the figures are times over that of the compiler with
everything on, so that 1.50 says what the optimisation gains there.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
from collections.abc import Sequence

from spokeshave.codesign import report, standard, timing

CHIPS = ("v5e", "v5p", "v6e")
PROGRAMS = (
    "matmul_bf16_4096",
    "transformer_block",
    "scan_mlp",
    "softmax_8192x4096",
    "gelu_4096x4096",
)
# What is changed, and what the row is called.
VARIANTS: dict[str, dict[str, str]] = {
    "everything on": {},
    "one buffer for a window (no overlap of transfers)": {"buffers": "1"},
    "three buffers": {"buffers": "3"},
    "no pipelining of loops (modulo scheduling)": {"pipelining": "off"},
    "no unrolling of loops": {"unrolling": "off"},
    "attention as products and a softmax": {"attention": "off"},
    "rows along all 1024 lanes": {"row-tiles": "off"},
    "polynomials, not the transcendental unit": {"transcendentals": "off"},
    "nothing stays in VMEM between kernels": {"keep": "off"},
    "no prefetch across kernels": {"prefetch": "off"},
    "no prefetch in slices": {"sliced-prefetch": "off"},
    "no prefetch for the next run": {"cross-program-prefetch": "off"},
    "stacks as a whole, not their layers": {"slice-stacks": "off"},
    "nothing computed again for HBM (all of these fit)": {"rematerialize": "off"},
    "neither": {"keep": "off", "prefetch": "off"},
    "one core works alone": {"megacore": "off"},
    "no fusion": {"fusion": "off"},
}

_HEAD = """\
# What each optimisation gains on the chip

Written by `python -m spokeshave.codesign.ablation --out docs/tpu-ablation.md`: one compiler and one
simulator ([tpu-machine.md](tpu-machine.md)), with one optimisation off at a time. The first row has
microseconds; the others how many times as long the program takes then. The options are those of
[options.md](options.md); the programs are in `python/spokeshave/codesign/standard.py`.
"""


def measure(program: standard.programs.Program, chip: str, settings: dict[str, str]) -> float | str:
    """Microseconds, or why there are none."""
    timed, reason = timing.time_program(program, chip, settings=settings)
    if timed is None:
        return "does not fit" if "SKS-R001" in reason else f"failed: {reason.splitlines()[0]}"
    return float(timed["microseconds"])


def table(times: dict[str, list[float | str]]) -> list[str]:
    """Lines of Markdown; `times` has a row per variant, the first is the base."""
    base = next(iter(times.values()))
    lines = []
    for number, (name, row) in enumerate(times.items()):
        cells = []
        for time, whole in zip(row, base, strict=True):
            if isinstance(time, str):
                cells.append(time)
            elif number == 0:
                cells.append(f"{time:.1f} us")
            else:
                cells.append("-" if isinstance(whole, str) else f"{time / whole:.2f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 1 where a program has no time with everything on."""
    parser = argparse.ArgumentParser(prog="spokeshave.codesign.ablation")
    parser.add_argument("--out", type=pathlib.Path, help="the page; else it is printed")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    loaded = [standard.load(name) for name in options.programs.split(",")]
    page, complete = [_HEAD], True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for chip in options.chips.split(","):
            found = {
                name: [pool.submit(measure, program, chip, settings) for program in loaded]
                for name, settings in VARIANTS.items()
            }
            times = {name: [f.result() for f in row] for name, row in found.items()}
            complete &= not any(isinstance(t, str) for t in times["everything on"])
            names = " | ".join(program.name for program in loaded)
            page += [f"## {chip}\n", f"| off | {names} |", "| --- |" + " --- |" * len(loaded)]
            page += [*table(times), ""]
            print(f"{chip}: done", file=sys.stderr, flush=True)
    text = "\n".join(page)
    report.deliver(text, options.out)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
