# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `spokeshave`: hands over to the compiled tool inside the package."""

import os
import pathlib
import sys


def main() -> None:
    """Replaces this process by the tool; exits with 127 where it is missing."""
    tool = pathlib.Path(__file__).parent / "bin" / "spokeshave"
    if not tool.is_file():
        sys.exit(
            f"spokeshave: the compiled tool is missing at {tool}; install with 'pip install .'"
        )
    os.execv(tool, [str(tool), *sys.argv[1:]])
