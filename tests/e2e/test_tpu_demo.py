# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What 'make demo-tpu' runs: values against its oracle, reports, a sweep."""

import pathlib
import subprocess
import sys

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo" / "tpu.py"


def test_all_is_as_expected(tmp_path):
    done = subprocess.run(
        [sys.executable, str(DEMO), "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "demo-tpu: all as expected" in done.stdout
    assert "failed" not in done.stdout
    assert (tmp_path / "tpu-v5e.html").exists() and (tmp_path / "tpu-sweep" / "sweep.csv").exists()
