# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads by theme, in the order of reports. Importing this package registers them."""

import importlib

from spokeshave.bench.workloads.registry import SIZES, WORKLOADS, Program, Workload

for _theme in (
    "networks",
    "convolutions",
    "recurrent",
    "simulation",
    "products",
    "elementwise",
    "indexing",
    "transforms",
    "straight",
):
    importlib.import_module(f"{__name__}.{_theme}")

__all__ = ["SIZES", "WORKLOADS", "Program", "Workload"]
