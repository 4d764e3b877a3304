# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bench's workloads on simulated chips: right at their `simulated` size, timed at full size.

bench/chip.py has the oracles, the workloads their sizes and tolerances.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import pytest
from spokeshave.bench.workloads import WORKLOADS

CHIPS = ("v5e", "v6e")


def _run_all(chip, folder):
    """Rows of bench/chip.py by the workload's name. A process has one kind of chip."""
    out = folder / f"{chip}.json"
    command = [sys.executable, "-m", "spokeshave.bench.chip", "--json", str(out)]
    env = dict(os.environ, JAX_PLATFORMS="spokeshave_tpu,cpu", SPOKESHAVE_CHIP=chip)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert out.exists(), done.stderr[-3000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chips")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(CHIPS, pool.map(lambda chip: _run_all(chip, folder), CHIPS), strict=True))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("chip", CHIPS)
def test_results(found, chip, name):
    row = found[chip][name]
    assert "error" not in row, row["error"]
    for oracle in ("rounded", "plain"):
        error, tolerance = row[oracle]["error"], row[oracle]["tolerance"]
        assert error <= tolerance, f"{oracle}: {error:.1e} of {tolerance:.1e}"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "page.md"
    command = [sys.executable, "-m", "spokeshave.codesign.workloads", "--out", str(out)]
    env = dict(os.environ, JAX_PLATFORMS="cpu")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert out.exists(), done.stderr[-3000:]
    return out.read_text().splitlines()


@pytest.fixture(scope="module")
def documented():
    return (
        (pathlib.Path(__file__).parents[2] / "docs" / "tpu-workloads.md").read_text().splitlines()
    )


def _row(lines, name, chip):
    (line,) = (line for line in lines if line.startswith(f"| {name} | {chip} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("chip", CHIPS)
def test_full_sizes_are_timed(page, documented, chip, name):
    cells = _row(page, name, chip)
    # No program is faster than the roofline; what is tiny is bound by its launch.
    assert float(cells[2]) > 0 and float(cells[4]) > 0.95, cells
    # The page is one JAX's; others lower some programs to a little more.
    assert float(cells[2]) < 1.1 * float(_row(documented, name, chip)[2]), cells
