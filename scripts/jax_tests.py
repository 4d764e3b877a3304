# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs JAX's own tests on Spokeshave and counts what passes, however they end.

    jax_tests.py CHECKOUT NAME... [--sample N] [--only REGEX] [--device-as cpu] [--json FILE]

CHECKOUT is a copy of JAX's repository at the tag of the installed JAX; NAME is a test file of
its `tests/` without `.py`. Tests run one after the other in a worker process, which takes a
chunk of them at a time. A worker that dies (abort, segmentation fault) or hangs costs one
test, which is counted as `abort` or `hang`; the next worker goes on behind it.

Prints a table by file, then what failed, grouped by the first line of the error. The JSON
holds every test that did not pass, and the commit of this repository.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
OUTCOMES = ["passed", "failed", "error", "abort", "hang", "skipped"]


# ---- the worker: runs the tests whose names come as arguments of a file, and tells each outcome


def flatten(suite):
    """Every test case of a nested suite."""
    for test in suite:
        yield from flatten(test) if hasattr(test, "__iter__") else [test]


def load_tests(checkout: str, module: str, device_as: str):
    """The test cases of one file by name, in its order."""
    import importlib
    import unittest

    import absl.flags

    sys.path.insert(0, os.path.join(checkout, "tests"))
    absl.flags.FLAGS(["jax_tests"])
    import jax

    if device_as:  # declared by jax._src.test_util, which the test file would import anyway
        import jax._src.test_util

        jax.config.update("jax_test_dut", device_as)
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module))
    return {f"{type(test).__name__}.{test._testMethodName}": test for test in flatten(suite)}


def summarize(trace: str) -> str:
    """The line of a traceback that names the error, and the one after it where that one is empty."""
    lines = [line for line in trace.strip().splitlines() if line and not line.startswith(" ")]
    errors = [
        i
        for i, line in enumerate(lines)
        if re.match(r"^[\w.]*(Error|Exception|Failure|Interrupt|Warning)\b", line)
    ]
    if not errors:
        return lines[-1][:300] if lines else ""
    at = errors[-1]
    return " ".join(lines[at : at + 3])[:300]


def run_worker(options) -> None:
    """Runs the tests listed in a file; one JSON line before and one after each."""
    import unittest

    report = os.fdopen(options.worker, "w", buffering=1)

    def tell(*what):
        report.write(json.dumps(what) + "\n")

    tests = load_tests(options.checkout, options.names[0], options.device_as)
    if options.list:
        tell("list", list(tests))
        return
    for name in json.loads(pathlib.Path(options.chunk_file).read_text()):
        tell("start", name)
        begin = time.monotonic()
        result = unittest.TestResult()
        unittest.TestSuite([tests[name]]).run(result)
        took = time.monotonic() - begin
        bad = result.failures + result.errors
        if bad:
            trace = bad[0][1]
            tell(
                "end", name, "failed" if result.failures else "error", took, summarize(trace), trace
            )
        elif result.skipped:
            tell("end", name, "skipped", took, result.skipped[0][1], "")
        else:
            tell("end", name, "passed", took, "", "")


# ---- the driver: starts workers and survives them


class Worker:
    """One worker process, whose report is read line by line with a limit on the wait."""

    def __init__(self, options, module: str, extra: list[str]):
        reads, writes = os.pipe()
        self.output = tempfile.TemporaryFile()
        command = [sys.executable, str(HERE), options.checkout, module, "--worker", str(writes)]
        command += ["--device-as", options.device_as, *extra]
        self.process = subprocess.Popen(
            command,
            pass_fds=[writes],
            stdout=self.output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(writes)
        self.reads, self.pending = reads, b""

    def line(self, seconds: float):
        """The next line of the report; None where it ended; TimeoutError where it takes too long."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if not select.select([self.reads], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError
            data = os.read(self.reads, 1 << 16)
            if not data:
                return None
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def close(self) -> str:
        """Ends the process and all it started; returns how it ended and its last words."""
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = self.process.wait()
        os.close(self.reads)
        self.output.seek(0, os.SEEK_END)
        self.output.seek(max(0, self.output.tell() - 6000))
        return f"exit {code}\n" + self.output.read().decode(errors="replace")


def run_chunk(options, module: str, names: list[str], records: list) -> int:
    """Runs names in one worker and appends a record each; returns how many were dealt with."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as chunk:
        json.dump(names, chunk)
        chunk.flush()
        worker = Worker(options, module, ["--chunk-file", chunk.name])
        running, done, hung = None, 0, False
        while done < len(names):
            try:
                line = worker.line(options.timeout if running else 300)
            except TimeoutError:
                hung = True
                worker.process.send_signal(signal.SIGABRT)  # absl then prints the stack
                break
            if line is None:
                break
            if line[0] == "start":
                running = line[1]
                continue
            _, name, outcome, seconds, summary, trace = line
            records.append(
                dict(
                    test=name,
                    outcome=outcome,
                    seconds=round(seconds, 3),
                    summary=summary,
                    trace=trace,
                )
            )
            running, done = None, done + 1
        words = worker.close()
    if done < len(names):  # dead or stuck; before the first test, blame the first test
        words_line = words.replace("\n", " ")[:200]
        records.append(
            dict(
                test=running or names[done],
                outcome="hang" if hung else "abort",
                seconds=options.timeout if hung else 0,
                summary=words_line,
                trace=words,
            )
        )
        done += 1
    return done


def run_file(options, module: str) -> list:
    """All records of one test file."""
    worker = Worker(options, module, ["--list"])
    line = worker.line(300)
    words = worker.close()
    if line is None:
        print(words, file=sys.stderr)
        raise SystemExit(f"{module} cannot be loaded")
    names = [name for name in line[1] if re.search(options.only, name)]
    if options.names_from:
        wanted = set(pathlib.Path(options.names_from).read_text().split())
        names = [name for name in names if name in wanted]
    if options.sample and len(names) > options.sample:  # evenly spread, always the same
        names = [names[i * len(names) // options.sample] for i in range(options.sample)]
    records = []
    while len(records) < len(names):
        at = len(records)
        run_chunk(options, module, names[at : at + options.chunk], records)
        counts = collections.Counter(record["outcome"] for record in records)
        print(f"{module}: {len(records)}/{len(names)} {dict(counts)}", file=sys.stderr, flush=True)
    return records


def kind(record) -> str:
    """The error without numbers, names of values and shapes, so that equal failures group."""
    return re.sub(r"0x[0-9a-f]+|[-\d.]+(e[-+]?\d+)?|loc\(.*?\)", "#", record["summary"])[:110]


def print_table(results: dict) -> None:
    """Counts by file, then failures by kind."""
    print("| file | " + " | ".join(OUTCOMES) + " | passed of run |")
    print("| --- |" + " --- |" * (len(OUTCOMES) + 1))
    for module, records in results.items():
        counts = collections.Counter(record["outcome"] for record in records)
        ran = len(records) - counts["skipped"]
        print(
            f"| {module} | "
            + " | ".join(str(counts[o]) for o in OUTCOMES)
            + f" | {100 * counts['passed'] / max(1, ran):.1f}% |"
        )
    for module, records in results.items():
        kinds = collections.defaultdict(list)
        for record in records:
            if record["outcome"] not in ("passed", "skipped"):
                kinds[record["outcome"] + ": " + kind(record)].append(record["test"])
        for text, tests in sorted(kinds.items(), key=lambda item: -len(item[1])):
            print(f"{module}: {len(tests)} x {text}\n    " + "\n    ".join(tests[:4]))


def main() -> None:
    """Parses the command line and runs the driver, or the worker that it started."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--sample", type=int, default=0, help="at most so many tests per file")
    parser.add_argument("--only", default="", help="regular expression on Class.test")
    parser.add_argument("--names-from", default="", help="file of Class.test names to run")
    parser.add_argument("--device-as", default="", help="let tests adapt to this device's name")
    parser.add_argument("--timeout", type=float, default=60, help="seconds per test")
    parser.add_argument("--chunk", type=int, default=150, help="tests per worker")
    parser.add_argument("--json", default="")
    parser.add_argument("--worker", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--chunk-file", default="", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker >= 0:
        run_worker(options)
        return
    results = {}
    for module in options.names:
        results[module] = run_file(options, module)
        if options.json:  # after each file, so that nothing is lost
            write_json(options, results)
    print_table(results)


def write_json(options, results: dict) -> None:
    """Counts and everything that did not pass."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=HERE.parent, capture_output=True, text=True, check=False
    ).stdout.strip()
    files = {}
    for module, records in results.items():
        counts = collections.Counter(record["outcome"] for record in records)
        rest = [record for record in records if record["outcome"] != "passed"]
        slow = sorted(records, key=lambda record: -record["seconds"])[:10]
        files[module] = dict(
            counts={outcome: counts[outcome] for outcome in OUTCOMES},
            slowest={record["test"]: record["seconds"] for record in slow},
            not_passed=rest,
        )
    settings = {name: value for name, value in os.environ.items() if name.startswith("JAX_")}
    text = json.dumps(
        dict(commit=commit, settings=settings, device_as=options.device_as, files=files), indent=1
    )
    pathlib.Path(options.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
