# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that includes point up the road: a folder includes only itself and earlier phases."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The order of flow; tests may include anything.
PHASES = (
    "support machine input reference graph schedule kernel target runtime observe python tools"
).split()
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z]+)/', re.MULTILINE)


def violations() -> list[str]:
    """A line per include that points down the road."""
    found = []
    for rank, phase in enumerate(PHASES):
        for file in sorted((ROOT / phase).rglob("*")):
            if file.suffix not in {".h", ".cpp", ".td"}:
                continue
            for target in INCLUDE.findall(file.read_text()):
                if target in PHASES and PHASES.index(target) > rank:
                    found.append(f"{file.relative_to(ROOT)} includes {target}/, a later phase")
    return found


def main() -> int:
    """Prints the violations; 0 when there are none."""
    found = violations()
    print("\n".join(found) if found else "includes: all point up the road")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
