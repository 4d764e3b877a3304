# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulated times of published rows that no figure was fitted to: docs/tpu-validation.md."""

import pathlib
import sys

import pytest
from spokeshave import _library

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import tpu_programs
from tpu_rows import quantile, rows, split


# Every so many rows, and the mean and 90th percentile that their errors may have.
@pytest.mark.parametrize(
    ("band", "step", "mean", "tail"),
    [
        ("v4 gemm 128-512", 5, 0.10, 0.20),
        ("v4 gemm 1024-4096", 5, 0.10, 0.20),
        ("v4 add", 8, 0.05, 0.10),
        ("v4 layer norm", 8, 0.12, 0.22),
        ("v6e gemm", 1, 0.15, None),
        ("v6e elementwise", 1, 0.15, None),
    ],
)
def test_times_are_near_published_ones(band, step, mean, tail):
    _, held = split(rows())
    members = [row for row in held if row["band"] == band][::step]
    found = tpu_programs.reports(_library.tool_path(), members)
    errors = [
        abs(tpu_programs.microseconds(row, found[row["key"]]) / row["microseconds"] - 1)
        for row in members
    ]
    assert sum(errors) / len(errors) <= mean
    assert tail is None or quantile(errors, 0.9) <= tail
