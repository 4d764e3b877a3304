# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How near to the rooflines the chip's programs are: simulated times are the same everywhere."""

import pytest
from spokeshave.codesign import standard, timing


def _report(name, chip, **settings):
    report, reason = timing.time_program(standard.load(name), chip, settings=settings)
    assert report is not None, reason
    return report


@pytest.mark.parametrize(
    ("chip", "dtype", "least"),
    [
        ("v5e", "bf16", 0.93),
        ("v5p", "bf16", 0.92),
        ("v6e", "bf16", 0.82),
        ("v5e", "int8", 0.91),
        ("v5p", "int8", 0.90),
    ],
)
def test_products_reach_the_peak(chip, dtype, least):
    report = _report(f"matmul_{dtype}_4096", chip)
    peak = timing.peak_flops(timing.figures_of(chip))[dtype]
    assert 2 * 4096**3 / peak * 1e6 / report["microseconds"] > least


@pytest.mark.parametrize("name", ["layer_norm_16384x1024", "gemv_8x8192", "softmax_8192x4096"])
def test_two_cores_share_what_streams(name):
    chip = "v5p:cost.write_cost=1"  # what writes cost more is HBM's, which cores share
    on, off = _report(name, chip), _report(name, chip, megacore="off")
    assert on["cycles"] < 0.85 * off["cycles"]


@pytest.mark.parametrize(
    ("chip", "libtpu", "most"),
    [("v5e", 10089895, 0.35), ("v5p", 4630086, 0.40), ("v6e", 2326467, 0.86)],
)
def test_a_transformer_block_beside_libtpu(chip, libtpu, most):
    """libtpu's estimates are those of docs/tpu-libtpu.md."""
    assert _report("transformer_block", chip)["cycles"] < most * libtpu


@pytest.mark.parametrize(("chip", "most"), [("v5e", 1.15), ("v5p", 1.25), ("v6e", 1.4)])
def test_attention_keeps_the_matrix_units_busy(chip, most):
    """Of 128 heads with 1024 rows and keys: 8 rows by one unit's keys in a push, twice."""
    report, figures = _report("transformer_block", chip), timing.figures_of(chip)
    (cycles,) = (k["cycles"] for k in report["kernels"] if k["name"].startswith("attention"))
    pushes = 128 * (1024 / 8) * (1024 / figures["mxu.size"]) * 2
    units = figures["mxu.count"] * (figures["core.count"] if figures["core.megacore"] else 1)
    assert cycles < most * pushes / units * 8 / figures["mxu.bf16_rate"]


@pytest.mark.parametrize("chip", ["v5e", "v6e"])
@pytest.mark.parametrize("name", ["softmax_8192x4096", "gelu_4096x4096", "add_4096x4096"])
def test_streams_reach_the_bandwidth_of_streams(name, chip):
    report = _report(name, f"{chip}:cost.write_cost=1")  # bytes alone count below
    least = sum(k["minimum_hbm_bytes"] for k in report["kernels"]) / report["hbm_bytes_per_cycle"]
    assert report["cycles"] < 1.02 * least


@pytest.mark.parametrize(
    ("name", "chip", "settings", "least"),
    [
        ("transformer_block", "v5e", {"attention": "off"}, 1 / 0.6),
        ("transformer_block", "v5e", {"transcendentals": "off"}, 1.4),
        ("scan_mlp", "v5e", {"keep": "off"}, 1.2),
        ("scan_mlp", "v5e", {"slice-stacks": "off"}, 1.3),
        ("softmax_8192x4096", "v6e", {"pipelining": "off"}, 1.5),
        ("softmax_8192x4096", "v5e", {"row-tiles": "off"}, 3.5),
        ("matmul_bf16_4096", "v5e", {"buffers": "1"}, 1.3),
        ("matmul_bf16_4096", "v5p", {"megacore": "off"}, 1.8),
    ],
)
def test_optimisations_gain(name, chip, settings, least):
    on, off = _report(name, chip), _report(name, chip, **settings)
    assert off["cycles"] > least * on["cycles"]


# What libtpu 0.0.51 estimates (docs/tpu-libtpu.md), without transfers.
@pytest.mark.parametrize(
    ("name", "chip", "estimate"),
    [
        ("matmul_bf16_4096", "v5e", 1083068),
        ("matmul_bf16_4096", "v5p", 544925),
        ("matmul_bf16_4096", "v6e", 301616),
        ("matmul_int8_4096", "v5e", 542476),
        ("matmul_int8_4096", "v5p", 275123),
        ("matmul_int8_4096", "v6e", 226614),
        ("scan_mlp", "v5e", 612160),
        ("scan_mlp", "v6e", 273984),
    ],
)
def test_products_take_what_libtpu_estimates(name, chip, estimate):
    assert _report(name, chip)["cycles"] <= 1.05 * estimate
