# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times without values: equal to those of a walk over every instruction, and fast; their traces."""

import json
import os
import struct
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax import export, lax
from spokeshave import _library


def _mlir(function, *shapes, dtype=jnp.float32):
    arguments = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]
    exported = export.export(jax.jit(function), platforms=["cpu"])(*arguments)
    return exported.mlir_module_serialized


def _layer(x, w, v):
    y = jnp.tanh(x @ w)
    return jax.nn.softmax(y @ v, axis=-1)


PROGRAMS = {
    "product": lambda: _mlir(lambda a, b: a @ b, (700, 520), (520, 390)),
    "layer": lambda: _mlir(_layer, (512, 256), (256, 512), (512, 256)),
    "large layer": lambda: _mlir(_layer, (2048, 1024), (1024, 2048), (2048, 512)),
    "norm": lambda: _mlir(lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1), (64, 64)),
    "sort": lambda: _mlir(lambda x: jnp.sort(x, axis=-1), (16, 300)),
    "cumsum": lambda: _mlir(lambda x: jnp.cumsum(x, axis=0), (100, 70)),
    "loop": lambda: _mlir(
        lambda x: lax.fori_loop(0, 5, lambda i, y: jnp.sin(y @ y) * 0.5 + i, x), (130, 130)
    ),
    "while": lambda: _mlir(
        lambda x: lax.while_loop(lambda y: y[0, 0] < 3, lambda y: y * 2 + 1, x), (9, 200)
    ),
    "gather": lambda: _mlir(lambda x: x[jnp.argsort(x[:, 0])][::-2], (40, 40)),
}


@pytest.fixture
def program(tmp_path):
    def write(name):
        file = tmp_path / f"{name.replace(' ', '_')}.mlir"
        file.write_bytes(PROGRAMS[name]())
        return str(file)

    return write


def _time(file, *options):
    command = [_library.tool_path(), "time", "--json", *options, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    report.pop("bundles_per_second")
    return report


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("chip", ["v5e", "v5p", "v6e"])
def test_times_are_those_of_every_instruction(program, name, chip):
    file = program(name)
    fast = _time(file, f"--chip={chip}")
    assert fast == _time(file, f"--chip={chip}", "--every-instruction")
    assert fast == _time(file, f"--chip={chip}")  # and the same each time
    assert fast["cycles"] > 0 and fast["simulated_bundles"] > 0


def _fields(data):
    """The fields of a protocol buffer: numbers, bytes, doubles."""
    at, fields = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            fields.append((tag >> 3, varint()))
        elif tag & 7 == 1:
            fields.append((tag >> 3, struct.unpack("<d", data[at : at + 8])[0]))
            at += 8
        else:
            assert tag & 7 == 2
            size = varint()
            fields.append((tag >> 3, data[at : at + size]))
            at += size
    return fields


@pytest.mark.parametrize("chip", ["v5e", "v5p"])
def test_timeline(program, tmp_path, chip):
    file, json_file, proto = program("large layer"), tmp_path / "t.json", tmp_path / "t.pftrace"
    report = _time(file, f"--chip={chip}", "--trace", str(json_file))
    events = json.loads(json_file.read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    cores = report["cores"]
    assert {"kernels", "core 0 vector", "core 0 matrix", "core 0 DMA 0"} <= set(names.values())
    assert ("core 1 matrix" in names.values()) == (cores == 2)
    slices = [e for e in events if e["ph"] == "X"]
    kernels = [e for e in slices if names[e["tid"]] == "kernels"]
    assert len(kernels) == sum(k["launches"] for k in report["kernels"])
    meetings = [e for e in slices if e["name"] == "meeting of the cores"]
    assert len(meetings) == report["meetings"] == cores - 1
    assert sum(e["dur"] for e in kernels + meetings) == pytest.approx(
        report["microseconds"], rel=1e-3
    )
    assert all(e["args"]["bound"] and "source" in e["args"] for e in kernels)
    moved = sum(e["args"]["bytes"] for e in slices if "DMA" in names[e["tid"]])
    assert moved == sum(k["hbm_bytes"] for k in report["kernels"]) + report["step_bytes"]
    # Slices of a track do not overlap.
    for track in names:
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["tid"] == track)
        assert all(a[1] <= b[0] + 1e-6 for a, b in zip(own, own[1:], strict=False)), names[track]
    assert max(e["args"]["GB/s"] for e in events if e["ph"] == "C") > 1

    _time(file, f"--chip={chip}", "--trace", str(proto))
    packets = [dict(_fields(packet)) for _, packet in _fields(proto.read_bytes())]
    types = [dict(_fields(p[11]))[9] for p in packets if 11 in p]
    assert types.count(1) == types.count(2) == len(slices)
    assert sum(60 in p for p in packets) == len(names) + 2


def test_a_run_with_values_has_a_timeline(program, tmp_path):
    out = tmp_path / "t.json"
    command = [_library.tool_path(), "run", "--target=tpu", "--random-args", "--quiet"]
    done = subprocess.run(
        [*command, f"--trace={out}", program("norm")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["traceEvents"]
    done = subprocess.run(
        [_library.tool_path(), "run", f"--trace={out}", program("norm")],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "--target=tpu" in done.stderr


def test_a_profile_that_jax_reads(program, tmp_path):
    file, out = program("layer"), tmp_path / "p.xplane.pb"
    report = _time(file, "--xplane", str(out))
    profile = jax.profiler.ProfileData.from_file(str(out))
    plane = profile.find_plane_with_name("/device:TPU:0")
    stats = dict(plane.stats)
    assert stats["peak_teraflops_per_second"] == pytest.approx(197, rel=0.01)
    assert stats["peak_hbm_bw_gigabytes_per_second"] == pytest.approx(819, rel=0.01)
    lines = {line.name: list(line.events) for line in plane.lines}
    assert set(lines) == {"Steps", "XLA Modules", "XLA Ops"}
    (module,) = lines["XLA Modules"]
    assert module.duration_ns == pytest.approx(report["microseconds"] * 1e3, rel=1e-3)
    operations = lines["XLA Ops"]
    assert len(operations) == sum(k["launches"] for k in report["kernels"])
    assert sum(e.duration_ns for e in operations) == pytest.approx(module.duration_ns, rel=1e-3)
    names = {k["name"] for k in report["kernels"]}
    for event in operations:
        assert event.name.split(" ")[0].lstrip("%") in names
        assert dict(event.stats)["bound"]


def test_a_profile_that_xprof_reads(program, tmp_path):
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data")
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    out = folder / "host.xplane.pb"
    report = _time(program("layer"), "--xplane", str(out))
    data, _ = convert.xspace_to_tool_data([str(out)], "op_profile", {})
    whole = json.loads(data)["byProgram"]["metrics"]
    assert whole["rawTime"] == pytest.approx(report["microseconds"] * 1e6, rel=1e-3)
    assert whole["rawFlops"] == sum(k["flops"] for k in report["kernels"])
    moved = sum(k["hbm_bytes"] for k in report["kernels"])
    assert whole["rawBytesAccessedArray"][0] == pytest.approx(moved, rel=1e-3)
    data, _ = convert.xspace_to_tool_data([str(out)], "roofline_model", {})
    names = {k["name"] for k in report["kernels"]}
    assert names <= {cell["v"] for row in json.loads(data)[0]["rows"] for cell in row["c"]}


# The rate of a program of many products: what a page says of LLM layers.
BENCHMARK = """
func.func @main(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
"""


def test_the_rate_is_printed_and_high(tmp_path):
    file = tmp_path / "product.mlir"
    file.write_text(BENCHMARK)
    command = [_library.tool_path(), "time", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "million a second" in done.stdout
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=300)
    # Hundreds of millions on a quiet machine.
    assert json.loads(done.stdout)["bundles_per_second"] > 20e6


def test_two_cores_halve_a_product(tmp_path):
    file = tmp_path / "product.mlir"
    file.write_text(BENCHMARK)
    both, one = (
        _time(str(file), "--chip=v5p"),
        _time(str(file), "--chip=v5p", "--option=megacore=off"),
    )
    assert both["kernels"][0]["cores"] == 2 and one["kernels"][0]["cores"] == 1
    assert 0.4 < both["cycles"] / one["cycles"] < 0.7
    assert both["kernels"][0]["flops"] == one["kernels"][0]["flops"]
    # A chip whose cores are devices of their own has one.
    assert _time(str(file), "--chip=v7x")["cores"] == 1


PREAMBLE = """
import numpy as np, jax, jax.numpy as jnp
rng = np.random.default_rng(0)
def on(platform, function, *args):
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        return np.asarray(jax.jit(function)(*jax.device_put(args, device)))
"""


def test_two_cores_give_the_same_bits():
    program = (
        PREAMBLE
        + """
a = rng.standard_normal((1100, 520)).astype(np.float32)
b = rng.standard_normal((520, 1300)).astype(np.float32)
x = rng.standard_normal((700, 5000)).astype(np.float32)
for name, function, args in (
    ("product", lambda a, b: jnp.tanh(a @ b), (a, b)),
    ("tanh", lambda x: jnp.tanh(x) * jnp.exp(x) + jnp.sin(x), (x,)),
    ("softmax", lambda x: jax.nn.softmax(x, axis=-1), (x,)),
):
    print(name, hash(on("spokeshave_tpu", function, *args).tobytes()))
"""
    )
    outputs = []
    for chip in ("v5p", "v5p:cores=1"):
        env = dict(
            os.environ, JAX_PLATFORMS="spokeshave_tpu,cpu", SPOKESHAVE_CHIP=chip, PYTHONHASHSEED="0"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr[-2000:]
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
