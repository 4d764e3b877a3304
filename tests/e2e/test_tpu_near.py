# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that stay in the chip's VMEM from kernel to kernel: the same values, less traffic."""

import json
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from spokeshave import _library

OFF = ["--option=keep=off", "--option=prefetch=off"]


def _layers(x, w, v):
    y = jnp.tanh(x @ w)
    return jax.nn.softmax(y @ v, axis=-1), y.sum(0)


def _scan(x, weights):
    def step(h, w):
        h = jnp.tanh(h @ w)
        return h, h.max()

    return lax.scan(step, x, weights)


def _cache(cache, keys):
    """A carried array that is written in part, read in whole and is a result."""

    def step(i, state):
        cache, total = state
        cache = lax.dynamic_update_slice(cache, keys[i][None] + total[:1], (i, 0))
        return cache, total + cache.sum(0)

    return lax.fori_loop(0, 4, step, (cache, jnp.zeros(cache.shape[1])))


def _branches(x, y):
    z = jnp.exp(x) + y
    z = lax.cond(x[0, 0] > y[0, 0], lambda a: a * 2, lambda a: jnp.flip(a, 0), z)
    return z.T @ z, jnp.cumsum(z, 0)


PROGRAMS = {
    "layers": (_layers, (48, 64), (64, 96), (96, 40)),
    "scan": (_scan, (24, 48), (5, 48, 48)),
    "cache": (_cache, (6, 130), (4, 130)),
    "branches": (_branches, (33, 70), (33, 70)),
}


@pytest.fixture
def program(tmp_path):
    def write(name):
        function, *shapes = PROGRAMS[name]
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        exported = export.export(jax.jit(function), platforms=["cpu"])(*arguments)
        file = tmp_path / f"{name}.mlir"
        file.write_bytes(exported.mlir_module_serialized)
        return str(file)

    return write


def _tool(*arguments):
    done = subprocess.run(
        [_library.tool_path(), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _results(file, out, *options):
    run = ["run", "--target=tpu", "--random-args", "--quiet", f"--out={out}", *options]
    _tool(*run, file)
    return [np.load(path) for path in sorted(out.parent.glob(f"{out.name}*.npy"))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_do_not_depend_on_where_they_are(program, tmp_path, name):
    file = program(name)
    apart = _results(file, tmp_path / "apart", *OFF)
    for number, options in enumerate(([], OFF[:1], OFF[1:])):
        near = _results(file, tmp_path / f"near{number}_", *options)
        assert len(near) == len(apart) > 0
        for ours, theirs in zip(near, apart, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    # Factors are rounded to bf16: single values of deep sums may differ by more.
    _tool("run", "--level=reference", "--random-args", "--quiet", f"--out={tmp_path / 'ref'}", file)
    for number, ours in enumerate(apart):
        theirs = np.load(tmp_path / f"ref{number}.npy")
        assert np.abs(ours - theirs).mean() < 2e-2 * np.abs(theirs).mean()


def test_a_carried_value_is_not_moved(program):
    file = program("scan")
    near, apart = (json.loads(_tool("time", "--json", *o, file)) for o in ([], OFF))

    def moved(report):
        return report["step_bytes"] + sum(k["hbm_bytes"] for k in report["kernels"])

    assert near["cycles"] < 0.7 * apart["cycles"]
    assert moved(near) < 0.5 * moved(apart)
    assert near["step_transfers"] > 0 and apart["step_transfers"] == 0


def test_two_cores_keep_nothing(program):
    assert (
        json.loads(_tool("time", "--json", "--chip=v5p", program("layers")))["step_transfers"] == 0
    )


def test_blocks_of_a_value_that_is_changed_in_place(tmp_path):
    """The residual's boxes are read ahead of the result's, in the same memory."""

    def block(x, up, down):
        return x + jax.nn.gelu(x @ up) @ down

    arguments = [jax.ShapeDtypeStruct(s, jnp.bfloat16) for s in _BLOCK]
    exported = export.export(jax.jit(lambda *a: block(block(*a), *a[1:])), platforms=["cpu"])
    file = tmp_path / "blocks.mlir"
    file.write_bytes(exported(*arguments).mlir_module_serialized)
    for chip in ("v5e", "v5e:mxu=2", "v5e:vmem=32MiB", "v5e:vmem=32MiB,mxu=2", "v6e:vmem=64MiB"):
        report = json.loads(_tool("time", "--json", f"--chip={chip}", str(file)))
        assert report["step_transfers"] > 0


_BLOCK = ((4096, 1024), (1024, 4096), (4096, 1024))
