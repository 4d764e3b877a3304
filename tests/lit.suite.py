# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every .mlir file of the source tree is a test; it stands beside what it tests."""

import os
import platform

import lit.formats

config = globals()["config"]  # lit gives it to this file
config.name = "spokeshave"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
# Build trees, environments and data of other tests hold no lit tests.
config.excludes = ["build", "e2e", "Inputs", "demo-output"] + [
    name for name in os.listdir(config.test_source_root) if name.startswith(".")
]

config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# A crash inside a test prints its stack at once instead of asking for symbols.
config.environment["LLVM_DISABLE_CRASH_REPORT"] = "1"

config.available_features.add(platform.machine())
