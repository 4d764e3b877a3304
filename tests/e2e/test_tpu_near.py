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


def _turned(x, y):
    """Other halves of what the first kernels make are read by the later ones."""
    z = jnp.exp(x) * y
    u = jax.nn.softmax(z, axis=-1)
    return (u - z.mean(-1, keepdims=True)).T, (u * z).sum(0), jnp.tanh(u.T @ z), u @ z


def _until(x, w):
    """A loop that data ends."""
    return lax.while_loop(
        lambda s: s[1].max() < 6.0, lambda s: (s[0] + 1, jnp.tanh(s[1] @ w) + s[1] + 0.1), (0, x)
    )


PROGRAMS = {
    "layers": (_layers, (48, 64), (64, 96), (96, 40)),
    "scan": (_scan, (24, 48), (5, 48, 48)),
    "cache": (_cache, (6, 130), (4, 130)),
    "branches": (_branches, (33, 70), (33, 70)),
    "turned": (_turned, (256, 256), (256, 256)),
    "until": (_until, (64, 64), (64, 64)),
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


@pytest.mark.parametrize("chip", ["v5e", "v5p"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_do_not_depend_on_where_they_are(program, tmp_path, name, chip):
    file = program(name)
    apart = _results(file, tmp_path / "apart", f"--chip={chip}", *OFF)
    for number, options in enumerate(([], OFF[:1], OFF[1:])):
        near = _results(file, tmp_path / f"near{number}_", f"--chip={chip}", *options)
        assert len(near) == len(apart) > 0
        for ours, theirs in zip(near, apart, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    # Factors are rounded to bf16: single values of deep sums may differ by more.
    _tool("run", "--level=reference", "--random-args", "--quiet", f"--out={tmp_path / 'ref'}", file)
    for number, ours in enumerate(apart):
        theirs = np.load(tmp_path / f"ref{number}.npy")
        assert np.abs(ours - theirs).mean() <= 2e-2 * np.abs(theirs).mean()


def test_a_carried_value_is_not_moved(program):
    file = program("scan")
    near, apart = (json.loads(_tool("time", "--json", *o, file)) for o in ([], OFF))

    def moved(report):
        return report["step_bytes"] + sum(k["hbm_bytes"] for k in report["kernels"])

    assert near["cycles"] < 0.7 * apart["cycles"]
    assert moved(near) < 0.5 * moved(apart)
    assert near["step_transfers"] > 0 and apart["step_transfers"] == 0


def _layers_on_two_cores(h, w):
    return lax.fori_loop(0, 16, lambda i, h: jax.nn.relu(h @ w), h)


@pytest.fixture
def layers(tmp_path):
    arguments = [jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16)] * 2
    exported = export.export(jax.jit(_layers_on_two_cores), platforms=["cpu"])(*arguments)
    file = tmp_path / "layers.mlir"
    file.write_bytes(exported.mlir_module_serialized)
    return str(file)


def test_two_cores_keep_their_rows_and_do_not_wait(layers):
    both, one, far = (
        json.loads(_tool("time", "--json", "--chip=v5p", *options, layers))
        for options in ([], ["--option=megacore=off"], OFF)
    )
    assert both["cycles"] < 0.75 * one["cycles"]
    # In neither the loop's counter is in memory, so that far ones gain as well.
    assert both["cycles"] < 0.75 * far["cycles"]
    # After the last layer alone; far, once more for what was copied before the loop: each
    # core fetches rows that it wrote itself.
    assert both["meetings"] == 1 and far["meetings"] == 2
    products = [k for k in both["kernels"] if k["kind"] == "dot"]
    assert all(k["cores"] == 2 and k["hbm_bytes"] == 0 for k in products)


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
