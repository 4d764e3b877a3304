# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps over a chip's figures and explanations of times, as a user starts them."""

import csv
import json
import os
import re
import subprocess
import sys
import textwrap

import pytest
from spokeshave.codesign import explain, page, report, sweep, timing

PROGRAM = """
func.func @main(%a: tensor<256x512xf32>, %b: tensor<512x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.tanh %0 : tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}
"""


def _run(module: str, *arguments: str, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", f"spokeshave.codesign{module}", *arguments],
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
    )


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "product.mlir"
    file.write_text(PROGRAM)
    return str(file)


def test_a_sweep_of_four_points(program, tmp_path):
    out = tmp_path / "out"
    done = _run("", program, "--sweep", "mxu=1..2, hbm=0.4TB/s|1.6TB/s", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "4 points" in done.stderr and "[4/4] product mxu=" in done.stderr
    assert "pareto" in done.stdout
    rows = json.loads((out / "sweep.json").read_text())["rows"]
    settings = [(row["settings"]["mxu"], row["settings"]["hbm"]) for row in rows]
    assert settings == [("1", "0.4TB/s"), ("1", "1.6TB/s"), ("2", "0.4TB/s"), ("2", "1.6TB/s")]
    for row in rows:
        assert row["status"] == "ok" and row["microseconds"] > 0
        assert 0 < row["mxu"] <= 1 and 0 < row["hbm"] <= 1
        assert sum(row["bounds"].values()) == pytest.approx(1)
    # Faster memory and more units never make it slower, and take more area.
    assert rows[3]["microseconds"] <= rows[0]["microseconds"]
    assert rows[0]["area"] < rows[1]["area"] < rows[3]["area"]
    with (out / "sweep.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["set.mxu"] for line in lines] == ["1", "1", "2", "2"]


def test_the_page_needs_nothing_else(program, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    done = _run("", program, "--sweep", "mxu=2|4", "--out", str(out))
    assert done.returncode == 0, done.stderr
    text = (out / "index.html").read_text()
    assert text.count('src="data:image/png;base64,') == 4
    assert not re.search(r"(src|href)=\"(?!data:)", text) and "http" not in text.split("<body>")[1]
    for name in ("time", "bound", "utilisation", "pareto"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_what_does_not_fit_is_a_row(program, tmp_path):
    done = _run("", program, "--sweep", "vmem=32KiB|16MiB", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    small, large = json.loads((tmp_path / "sweep.json").read_text())["rows"]
    assert small["status"] == "does not fit" and "SKS-R001" in small["reason"]
    assert "microseconds" not in small and large["status"] == "ok"
    assert "does not fit" in done.stdout


@pytest.mark.parametrize(
    "text, message",
    [
        ("vmem", "must be NAME=LOW..HIGH"),
        ("vmem=16MiB..", "is no number"),
        ("vmem=16MiB..1GiB", "one unit"),
        ("mxu=8..1", "upwards"),
        ("mxu=1..2, mxu=4", "twice"),
        ("mxus=1..2", "a chip has no 'mxus'"),
        ("vmem=1GHz..2GHz", "is no unit"),
    ],
)
def test_a_wrong_sweep_says_what_is_wrong(program, text, message):
    done = _run("", program, "--sweep", text)
    assert done.returncode == 1
    assert message in done.stderr and "Traceback" not in done.stderr


def test_wrong_programs_chips_and_schedulers(program):
    for arguments, message in (
        (["nothing.mlir"], "nothing.mlir"),
        (["nothing.py:f"], "no file nothing.py"),
        ([program, "--chip", "v99"], "no chip 'v99'"),
    ):
        done = _run("", *arguments, "--sweep", "mxu=1")
        assert done.returncode == 1 and message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_a_function_that_jax_lowers(tmp_path):
    (tmp_path / "own.py").write_text(
        textwrap.dedent("""
        import jax, jax.numpy as jnp
        def make():
            return lambda x: jax.lax.erf(x) @ x, (jax.ShapeDtypeStruct((128, 128), jnp.float32),)
        def wrong():
            return 3
        """)
    )
    done = _run("", "own.py:make", "--sweep", "mxu=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "own:make" in done.stdout
    done = _run("", "own.py:wrong", "--sweep", "mxu=4", cwd=tmp_path)
    assert done.returncode == 1 and "must return (function, arguments)" in done.stderr


def test_on_a_dask_cluster(program):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, protocol="tcp"
    ) as cluster:
        done = _run("", program, "--sweep", "mxu=1|2", "--scheduler", cluster.scheduler_address)
    assert done.returncode == 0, done.stderr
    assert "on the Dask cluster" in done.stderr and "pareto" in done.stdout


def test_ranges():
    assert sweep.parse("mxu=1..8")[0].values == ("1", "2", "4", "8")
    assert sweep.parse("vmem=16MiB..100MiB")[0].values == ("16MiB", "32MiB", "64MiB", "100MiB")
    assert sweep.parse("vmem=1MiB..128MiB", 3)[0].values == ("1MiB", "16MiB", "128MiB")
    assert sweep.parse("hbm=1..4TB/s", 3)[0].values == ("1TB/s", "2TB/s", "4TB/s")
    points = list(sweep.grid(sweep.parse("a=1|2,b=3")))
    assert points == [{"a": "1", "b": "3"}, {"a": "2", "b": "3"}]
    assert sweep.chip_text("v5e", points[0]) == "v5e:a=1,b=3"
    assert sweep.chip_text("v5e:c=4", points[0]) == "v5e:c=4,a=1,b=3"


def test_the_front():
    rows = [
        dict(program="p", status="ok", area=a, microseconds=t)
        for a, t in ((1, 9), (2, 5), (3, 5), (4, 6), (5, 1))
    ]
    report.mark_pareto(rows)
    assert [row["pareto"] for row in rows] == [True, True, False, False, True]


def test_figures_and_peaks():
    figures = timing.figures_of("v5e:vmem=16MiB,hbm=0.8TB/s")
    assert figures["memory.vmem"] == 16 * 2**20 and figures["memory.hbm_bandwidth"] == 0.8e12
    assert figures["core.megacore"] == 0 and figures["core.clock"] == 1.5e9
    assert timing.peak_flops(figures)["bf16"] == pytest.approx(196.6e12, rel=1e-3)


def test_text_on_pages_is_escaped():
    text = page.page("<a>", page.table(["<b>"], [["<script>x</script>"]]), page.paragraph("<i>"))
    assert "<script>x" not in text and "&lt;a&gt;" in text and "<i>" not in text


def test_explain(program, tmp_path):
    file = tmp_path / "page.html"
    done = _run(".explain", "--target", "tpu", "--chip", "v5e", "--html", str(file), program)
    assert done.returncode == 0, done.stderr
    assert "of the roofline; busy: MXU" in done.stdout
    assert re.search(r"at \S*product\.mlir:\d+", done.stdout), done.stdout
    assert "product.mlir" in file.read_text()
    done = _run(".explain", "--target", "tpu", "--json", program)
    kernels = json.loads(done.stdout)["kernels"]
    assert sum(k["share"] for k in kernels) == pytest.approx(1)
    (product,) = [k for k in kernels if k["busy"]["matrix"] > 0]
    assert product["flops"] >= 2 * 256 * 512 * 256
    assert product["minimum_hbm_bytes"] >= 4 * (256 * 512 * 2 + 256 * 256)
    for kernel in kernels:
        assert 0 < kernel["of_roofline"] <= 1 and kernel["advice"]


def test_explain_of_what_does_not_fit(program):
    done = _run(".explain", "--target", "tpu", "--chip", "v5e:vmem=32KiB", program)
    assert done.returncode == 1 and "SKS-R001" in done.stderr


def test_advice_names_the_figure():
    figures = timing.figures_of("v5e")
    kernel = dict(
        name="k", launches=4, cycles=10_000, microseconds=7, bound="HBM", location="a.py:1",
        dma_stall_cycles=4_000, matrix_stall_cycles=0, hbm_bytes=5_000_000, transfers=50_000,
        minimum_hbm_bytes=1_000_000, flops=0, spills=3, vmem_bytes=2**20, cores=1, matrix_type="",
        busy=dict(matrix=0, hbm=0.9, cross_lane=0.1),
    )  # fmt: skip
    program = dict(
        cycles=10_000, hbm_bytes_per_cycle=500, launch_cycles=1_000, cores=1, kernels=[kernel]
    )  # fmt: skip
    (found,), _ = explain.explain(program, figures)
    advice = "\n".join(found.advice)
    assert "5.0 times its arrays" in advice and "waits 40% for transfers of 100 B" in advice
    assert "3 values are spilled" in advice and "40% of the time is 4 launches" in advice
    assert found.roof == "HBM" and found.share == 1


def test_advice_of_cores_and_of_types():
    figures = timing.figures_of("v5p")
    kernel = dict(
        name="k", launches=1, cycles=10_000, microseconds=7, bound="XLU", location="a.py:1",
        dma_stall_cycles=0, matrix_stall_cycles=0, hbm_bytes=1_000, transfers=1,
        minimum_hbm_bytes=1_000, flops=2e9, spills=0, vmem_bytes=2**20, cores=1, matrix_type="bf16",
        busy=dict(matrix=0.1, hbm=0.1, cross_lane=0.8),
    )  # fmt: skip
    program = dict(
        cycles=10_000, hbm_bytes_per_cycle=500, launch_cycles=1_000, cores=2, kernels=[kernel]
    )  # fmt: skip
    (found,), _ = explain.explain(program, figures)
    advice = "\n".join(found.advice)
    assert "cross-lane unit busy 80%" in advice and "runs on 1 of 2 cores" in advice
    assert found.roof == "MXU"
    assert found.roofline_us == pytest.approx(2e9 / timing.peak_flops(figures)["bf16"] * 1e6)
