# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of test_programs.py on the simulated chip, with the CPU's tolerances.

The oracle is the stock CPU with the chip's products (bench/chip.py).
"""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

# What the chip has no library for, and the error that says so.
REFUSED = {
    # JAX has no rule to lower it for the platform.
    "test_linalg_custom_calls[eig]": "NotImplementedError",
}


def test_programs_on_the_chip(tmp_path):
    out = tmp_path / "results.xml"
    programs = pathlib.Path(__file__).with_name("test_programs.py")
    env = dict(os.environ, JAX_PLATFORMS="spokeshave_tpu,cpu")
    env |= {"SPOKESHAVE_TEST_PLATFORM": "spokeshave_tpu", "SPOKESHAVE_CHIP": "v5e"}
    command = [sys.executable, "-m", "pytest", "-q", str(programs), f"--junitxml={out}"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert out.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    failed = {}
    cases = list(xml.etree.ElementTree.parse(out).iter("testcase"))
    for case in cases:
        for failure in case.iter("failure"):
            errors = re.findall(r"SKS-\w\d+|NotImplementedError", failure.text or "")
            failed[case.get("name")] = errors[-1] if errors else failure.get("message")
    assert len(cases) > 100
    assert failed == REFUSED
