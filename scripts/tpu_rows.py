# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured rows, which of them may be fitted to, and what the cost model says of them."""

import hashlib
import json
import math
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "tests" / "tpu" / "measured.json"
FIT_KEYS = ROOT / "tests" / "tpu" / "fit_keys.json"
CHIPS = ROOT / "machine" / "chips"


def rows() -> list[dict]:
    """All measured rows."""
    return json.loads(MEASURED.read_text())["rows"]


def split(all_rows: list[dict]) -> tuple[list[dict], list[dict]]:
    """The rows to fit to, at most half of each band, and those held out.

    The hash of a row's key decides, and nothing that was measured.
    """
    fit, held = [], []
    for band in dict.fromkeys(row["band"] for row in all_rows):
        members = [row for row in all_rows if row["band"] == band]
        members.sort(key=lambda row: hashlib.sha256(row["key"].encode()).hexdigest())
        fit += members[: len(members) // 2]
        held += members[len(members) // 2 :]
    return fit, held


class Model:
    """Predictions of `spokeshave chip` for a fixed list of kernels, in microseconds."""

    def __init__(self, tool: str, chip: str, kernels: list[dict]):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(kernels, self.file)
        self.file.flush()
        command = [tool, "chip", chip, "--kernels", self.file.name, "--settings-from-stdin"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def times(self, settings: str = "") -> list[float]:
        """With some figures of the chip changed: "cost.window=8MiB,mxu=4"."""
        self.process.stdin.write(settings + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"spokeshave chip stopped at the settings '{settings}'")
        return json.loads(answer)

    def close(self) -> None:
        """Ends the process."""
        self.process.communicate()
        self.file.close()


def quantile(values: list[float], share: float) -> float:
    """Linear between the nearest two."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def cells(errors: list[float]) -> str:
    """Rows, mean, 90th percentile, largest and bias as cells of a table."""
    if not errors:
        return "0 | | | |"
    sizes = [abs(error) for error in errors]
    return (
        f"{len(errors)} | {sum(sizes) / len(sizes):.1%} | {quantile(sizes, 0.9):.1%} | "
        f"{max(sizes):.1%} | {sum(errors) / len(errors):+.1%}"
    )
