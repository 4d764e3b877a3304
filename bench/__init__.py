# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bench: ordinary JAX programs on Spokeshave and on JAX's stock CPU, side by side.

    python -m spokeshave.bench --against cpu      speed; writes docs/performance.md
    python -m spokeshave.bench.equality           results; writes docs/equality.md
    python -m spokeshave.bench.chip               results on the simulated chip

`workloads` holds the programs, by theme, each at several sizes; `measure` runs one
in a process of its own; `compare` says how far results differ and how far they
may; `roofline` sets times beside what the machine reaches at best.
"""
