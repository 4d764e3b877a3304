# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `spokeshave`: hands over to the compiled tool inside the package.

`spokeshave bench` is Python and stays here.
"""

import os
import sys

from spokeshave import _library


def main() -> None:
    """Replaces this process by the tool; exits with 127 where it is missing."""
    if sys.argv[1:2] == ["bench"]:
        from spokeshave.bench.__main__ import main as bench

        sys.exit(bench(sys.argv[2:]))
    try:
        tool = _library.tool_path()
    except _library.LibraryNotFoundError as error:
        print(f"spokeshave: {error}; install with 'pip install .'", file=sys.stderr)
        sys.exit(127)
    os.execv(tool, [tool, *sys.argv[1:]])
