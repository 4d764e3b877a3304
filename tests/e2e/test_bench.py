# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bench itself: its command, its arithmetic, the counters and the machine it reports."""

import json
import math
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import spokeshave
from jax import lax
from spokeshave import reference
from spokeshave.bench import compare, machine, roofline, summary
from spokeshave.bench.workloads import WORKLOADS


def _bench(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "spokeshave.bench", "--size", "tiny", *arguments],
        env={**os.environ, "JAX_PLATFORMS": "spokeshave,cpu"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_command(tmp_path):
    report, figures = tmp_path / "report.md", tmp_path / "figures.json"
    process = _bench(
        *("--against", "cpu", "--seconds", "0.05", "--only", "matmul_odd,fft2_1024"),
        *("--out", str(report), "--json", str(figures)),
    )
    assert process.returncode == 0, process.stderr
    assert "[ 2/2] fft2_1024" in process.stdout and "Geometric mean" in process.stdout
    text = report.read_text()
    assert "| matmul_odd |" in text and "multiply-add" in text and "**Failed" not in text
    again = tmp_path / "again.md"
    assert _bench("--figures", str(figures), "--out", str(again)).returncode == 0
    assert again.read_text() == text
    rows = json.loads(figures.read_text())["rows"]
    assert [row["counts"]["library_calls"] for row in rows] == [0, 1]
    for row in rows:
        assert row["calls"] >= 5 and row["difference"]["accepted"]
        times = row["times"]["spokeshave"]
        assert 0 < times["low"] <= times["median"] <= times["high"]
        assert row["ratio"]["low"] <= row["ratio"]["high"]


def test_a_failing_workload_is_a_row(tmp_path):
    report = tmp_path / "report.md"
    process = _bench("--only", "matmul_odd", "--timeout", "0.01", "--out", str(report))
    assert process.returncode == 1
    assert "did not end within" in process.stdout
    assert "| matmul_odd | **failed:**" in report.read_text()


def test_an_unknown_workload():
    process = _bench("--only", "matmul_even")
    assert process.returncode == 1 and "matmul_even" in process.stderr


def test_small_sizes_are_of_one_kind():
    def kinds(workload, size):
        leaves = jax.tree.leaves(workload.program(size).arguments)
        return {(leaf.ndim, leaf.dtype.name) for leaf in leaves}

    for workload in WORKLOADS.values():
        assert kinds(workload, "reduced") == kinds(workload, "tiny"), workload.name


def test_the_command_spokeshave_bench():
    script = "import sys; sys.argv[1:] = ['bench', '--list', '--only', 'networks'];"
    script += "from spokeshave._command import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stderr
    names = [line.split()[0] for line in process.stdout.splitlines()]
    assert names[0] == "mlp_train_step" and len(names) == 6


def test_ratios_and_spreads():
    found = summary.spread([3.0, 1.0, 2.0, 4.0, 5.0])
    assert (found.low, found.median, found.high) == (2.0, 3.0, 4.0)
    generator = np.random.default_rng(0)
    ours, theirs = generator.normal(1, 0.1, 400), generator.normal(3, 0.1, 400)
    found = summary.ratio(ours, theirs)
    assert found.low <= found.value <= found.high and found.high - found.low < 0.2
    assert found.value == pytest.approx(3, rel=0.05)
    assert summary.geometric_mean([1, 4]) == pytest.approx(2)
    assert math.isnan(summary.geometric_mean([]))


def test_units_in_the_last_place():
    one = np.array([1.0, -1.0, 0.0, np.nan, np.inf], np.float32)
    assert compare.ulps(one, one) == 0
    near = np.nextafter(one[:2], np.float32(9))
    assert compare.ulps(near, one[:2]) == pytest.approx(1)
    assert compare.ulps(np.array([np.nan], np.float32), np.ones(1)) == np.inf
    halves = np.array([1.0, 2.0]).astype(ml_dtypes.bfloat16)
    assert compare.ulps(halves, np.array([1.0078125, 2.0])) == pytest.approx(1)


def test_differences():
    got = {"a": np.float32([1, 2]), "b": np.int32([3])}
    assert compare.difference(got, got).equal_bits
    near = {"a": np.float32([1, 2 + 1e-5]), "b": np.int32([3])}
    found = compare.difference(got, near)
    assert found.accepted and not found.equal_bits and found.dtype == "float32"
    assert not compare.difference(got, near, tolerance=1e-7).accepted
    other = compare.difference(got, {"a": got["a"], "b": np.int32([4])}, tolerance=1.0)
    assert not other.accepted and other.dtype == "int32"
    assert not compare.difference({"a": np.float32([np.nan, 2])}, {"a": got["a"]}).accepted
    with pytest.raises(ValueError, match="float64"):
        compare.difference({"a": np.float64([1, 2]), "b": got["b"]}, got)


def test_bounds():
    rates = machine.Rates(2, 100.0, 400.0, 0.0, 10.0, 20.0)
    counts = dict(work=dict(flops=1e9, bytes=0), argument_bytes=10**9, result_bytes=10**9)
    found = roofline.bound(counts, ["float32"], rates)
    assert (found.flops_seconds, found.bytes_seconds, found.kind) == (0.01, 0.1, "bytes")
    assert rates.peak({"bfloat16"}) == 400 and rates.peak({"int8"}) == 100


def test_the_machine_is_measured():
    facts = spokeshave.machine(measure=True)
    assert facts["isa"] in ("amx", "avx512", "avx2", "x86-64") and facts["threads_used"] >= 1
    for rates in facts["rates"]:
        assert rates["fma_gflops"] > 1 and rates["read_gb_per_s"] > 0.1
    assert "rates" not in spokeshave.machine()


def test_statistics_of_a_loop(ours):
    def stack(weights, x):
        return lax.scan(lambda x, w: (jnp.tanh(w @ x), x), x, weights)

    with jax.default_device(ours):
        weights, x = jnp.ones((5, 32, 32)) / 40, jnp.ones(32)
        jitted = jax.jit(stack)
        jax.block_until_ready(jitted(weights, x))
        (row,) = [r for r in spokeshave.statistics() if r["name"] == "jit_stack"]
    (loop,) = row["loops"]
    assert loop["trips"] == 5 and loop["regions"] == 1
    assert "test_bench.py" in loop["location"]
    assert loop["copied_bytes"] + loop["moved_bytes"] < 32 * 32 * 4
    assert row["calls"] == {} and row["kernel_kinds"]["dot"] == 1 and row["runs"] == 1
    assert row["work"]["flops"] >= 5 * 2 * 32 * 32
    # The weights once, and vectors: a slice of a stack does not cost the stack.
    assert row["work"]["bytes"] < 2 * weights.nbytes


@pytest.mark.parametrize("size, calls", [(8, {}), (40, {"lapack_spotrf_ffi": 1})])
def test_small_decompositions_are_kernels(ours, compare, size, calls):
    factor = np.random.default_rng(0).standard_normal((30, size, size)).astype(np.float32)
    positive = factor @ factor.transpose(0, 2, 1) + size * np.eye(size, dtype=np.float32)
    positive[3] *= -1  # not positive definite: all NaN
    positive[5, -1, -1] = -1
    result = compare(jnp.linalg.cholesky, positive)
    assert np.isnan(np.asarray(result)[[3, 5]]).any(axis=(1, 2)).all()
    with jax.default_device(ours):
        compiled = jax.jit(lambda x: jnp.linalg.cholesky(x)).lower(positive).compile()
        newest = max(spokeshave.statistics(), key=lambda row: row["id"])
        assert newest["calls"] == calls
        del compiled


def test_small_triangular_solves(compare):
    generator = np.random.default_rng(1)
    matrix = (generator.standard_normal((7, 6, 6)) + 6 * np.eye(6)).astype(np.float32)
    right = generator.standard_normal((7, 6, 3)).astype(np.float32)
    for lower in (True, False):
        for transpose in (True, False):
            compare(
                lambda a, b: lax.linalg.triangular_solve(
                    a, b, left_side=True, lower=lower, transpose_a=transpose
                ),
                matrix,
                right,
            )
    compare(lambda a, b: lax.linalg.triangular_solve(a, b.mT, lower=True), matrix, right)
    z = (matrix + 1j * matrix[::-1]).astype(np.complex64)
    compare(
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=True, transpose_a=True, conjugate_a=True, unit_diagonal=True
        ),
        z * np.complex64(0.1),
        right.astype(np.complex64),
    )


def test_the_reference_interpreter():
    found = reference.evaluate(
        lambda x, y: {"sum": x + y[0], "bf16": y[1]},
        np.arange(3.0, dtype=np.float32),
        (np.float32([1, 2, 3]), np.ones(2, ml_dtypes.bfloat16)),
    )
    np.testing.assert_array_equal(found["sum"], [1, 3, 5])
    assert found["bf16"].dtype == ml_dtypes.bfloat16 and found["bf16"][1] == 1
    with pytest.raises(reference.InterpreterError, match="SKS-U"):
        reference.run(b"func.func @main() { nonsense }", [], [])
