# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `spokeshave`: hands over to the compiled tool inside the package.

`spokeshave bench`, `codesign` and `explain` are Python and stay here.
"""

import importlib
import os
import sys

from spokeshave import _library

_PYTHON = {
    "bench": "spokeshave.bench.__main__",
    "codesign": "spokeshave.codesign.__main__",
    "explain": "spokeshave.codesign.explain",
}


def main() -> None:
    """Replaces this process by the tool; exits with 127 where it is missing."""
    if len(sys.argv) > 1 and sys.argv[1] in _PYTHON:
        sys.exit(importlib.import_module(_PYTHON[sys.argv[1]]).main(sys.argv[2:]))
    try:
        tool = _library.tool_path()
    except _library.LibraryNotFoundError as error:
        print(f"spokeshave: {error}; install with 'pip install .'", file=sys.stderr)
        sys.exit(127)
    os.execv(tool, [tool, *sys.argv[1:]])
