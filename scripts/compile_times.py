# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints CPU seconds per compiled file, the slowest first, and their sum.

    compile_times.py FILE [--budget MINUTES]

FILE is what timed_compile.sh wrote. Exits with 1 where the sum is over the budget.
"""

import argparse
import pathlib
import re
import sys


def main() -> int:
    """Prints the table; 0 when within the budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--budget", type=float, help="CPU minutes")
    options = parser.parse_args()
    rows = {}
    for line in options.file.read_text().splitlines() if options.file.is_file() else []:
        value, output = line.split(" ", 1)
        rows[re.sub(r"CMakeFiles/[^/]+\.dir/|\.o$", "", output)] = float(value)
    for name, value in sorted(rows.items(), key=lambda row: -row[1]):
        print(f"{value:8.2f} s  {name}")
    total = sum(rows.values())
    print(f"{total:8.2f} CPU seconds in {len(rows)} files compiled by this build")
    if options.budget and total > options.budget * 60:
        print(f"error: over the budget of {options.budget:g} CPU minutes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
