# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of stacks on the chip: kernels take and write one where it lies."""

import json
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from spokeshave import _library

# An eighth of VMEM is what makes a stack: 128 KiB here. As a whole nothing of it stays
# near from launch to launch.
CHIP = "--chip=v5e:vmem=1MiB"
STACK = (6, 128, 96)


def _scan(x, weights):
    def layer(h, w):
        h = jnp.tanh(h @ w @ w.T)
        return h, h

    return lax.scan(layer, x, weights)


def _gradient(x, weights):
    return jax.grad(lambda w: (_scan(x, w)[0] ** 2).sum())(weights)


def _given(x, weights, i):
    return x @ weights[i], lax.dynamic_update_slice(weights, x[None, :, :96], (i, 0, 0))


def _cache(x, keys, i):
    """A token's keys go to a box of each layer: rows of two heads, far apart."""

    def layer(h, stacked):
        stacked = lax.dynamic_update_slice(stacked, jnp.tanh(h)[:2, None, :96], (0, i, 0))
        return h + stacked.sum((0, 1)).sum(), stacked

    return lax.scan(layer, x, keys)


def _from_the_end(x, weights):
    return lax.fori_loop(0, 6, lambda i, h: jnp.tanh(h @ weights[-1 - i] @ weights[i].T), x)


def _odd_trips(x, weights):
    """Two trips stand in one, and one before them."""
    return lax.scan(lambda h, w: (jnp.flip(h, 0) @ w @ w.T, None), x, weights[:5])[0]


F32, I32 = jnp.float32, jnp.int32
X = ((128, 128), F32)
PROGRAMS = {
    "scan": (_scan, X, (STACK, F32)),
    "gradient": (_gradient, X, (STACK, F32)),
    "given": (_given, X, (STACK, F32), ((), I32)),
    "cache": (_cache, X, ((6, 2, 64, 96), F32), ((), I32)),
    "from_the_end": (_from_the_end, X, (STACK, F32)),
    "odd_trips": (_odd_trips, X, (STACK, F32)),
}


def _export(function, arguments, file):
    shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in arguments]
    exported = export.export(jax.jit(function), platforms=["cpu"])(*shapes)
    file.write_bytes(exported.mlir_module_serialized)
    return str(file)


def _tool(*arguments):
    done = subprocess.run(
        [_library.tool_path(), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _time(file, *options):
    return json.loads(_tool("time", "--json", *options, file))


def _moved(report):
    return report["step_bytes"] + sum(kernel["hbm_bytes"] for kernel in report["kernels"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_slices_hold_what_stacks_hold(name, tmp_path):
    function, *arguments = PROGRAMS[name]
    file = _export(function, arguments, tmp_path / "program.mlir")
    run = ["run", "--target=tpu", "--random-args", "--quiet", "--option=verify-each-pass=on"]
    for number, option in enumerate(("on", "off")):
        out = f"--out={tmp_path / f'r{number}_'}"
        _tool(*run, CHIP, f"--option=slice-stacks={option}", out, file)
    ours = [np.load(path) for path in sorted(tmp_path.glob("r0_*.npy"))]
    theirs = [np.load(path) for path in sorted(tmp_path.glob("r1_*.npy"))]
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        # Blocks differ in size, and so does the order of sums.
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    sliced, whole = (_time(file, CHIP, f"--option=slice-stacks={o}") for o in ("on", "off"))
    assert any(".slice" in kernel["name"] for kernel in sliced["kernels"])
    assert _moved(sliced) < _moved(whole)
    # Without values, the same transfers.
    exact = _time(file, CHIP, "--every-instruction")
    assert exact["cycles"] == sliced["cycles"]


def _counted_in_bytes(x, weights):
    """The counter has no sign: from 200 on it is no negative number."""

    def layer(state):
        i, h = state
        return i + np.uint8(1), jnp.tanh(h @ weights[i - np.uint8(200)] @ weights[0].T)

    return lax.while_loop(lambda state: state[0] < 206, layer, (np.uint8(200), x))[1]


def _below_zero(x, weights):
    """0 - 1 without a sign is far beyond the last layer."""

    def layer(state):
        i, h = state
        w = lax.dynamic_index_in_dim(weights, i - np.uint32(1), keepdims=False)
        return i + np.uint32(1), jnp.tanh(h @ w @ weights[0].T)

    return lax.while_loop(lambda state: state[0] < 6, layer, (np.uint32(0), x))[1]


def _branches(x, weights):
    """A counter that only a branch's index reads."""

    def layer(i, h):
        return lax.switch(i, [lambda h: h @ weights[0], lambda h: h[:, ::-1], jnp.tanh], h)

    return lax.fori_loop(0, 3, layer, x[:, :96] @ weights[1].T[:, :96])


@pytest.mark.parametrize("function", [_counted_in_bytes, _below_zero, _branches])
def test_counters_keep_their_types(function, tmp_path):
    shapes = X, ((6, 128, 96), F32)
    if function is _branches:
        shapes = X, ((6, 96, 96), F32)
    file = _export(function, shapes, tmp_path / "program.mlir")
    run = ["run", "--target=tpu", CHIP, "--random-args", "--quiet"]
    for option in ("on", "off"):
        _tool(*run, f"--option=slice-stacks={option}", f"--out={tmp_path / option}", file)
    ours, theirs = (np.load(tmp_path / f"{option}0.npy") for option in ("on", "off"))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_an_index_of_branches_is_counted(tmp_path):
    """StableHLO's own case, whose index JAX would clamp."""
    file = tmp_path / "case.mlir"
    file.write_text(CASE)
    run = ["run", "--target=tpu", CHIP, "--random-args", "--quiet", "--check=1e-5"]
    _tool(*run, str(file))


CASE = """
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<64x64xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = "stablehlo.case"(%i) ({
      %a = stablehlo.add %v, %x : tensor<64x64xf32>
      stablehlo.return %a : tensor<64x64xf32>
    }, {
      %b = stablehlo.transpose %v, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
      stablehlo.return %b : tensor<64x64xf32>
    }, {
      %c = stablehlo.multiply %v, %x : tensor<64x64xf32>
      stablehlo.return %c : tensor<64x64xf32>
    }) : (tensor<i32>) -> tensor<64x64xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
}
"""


def _deep(x, weights):
    """Two products a layer: one's weights come while the other one works."""

    def layer(h, w):
        up, down = w
        return jnp.tanh(jnp.tanh(h @ up) @ down) + h.sum(0), None

    return lax.scan(layer, x, weights)[0]


def test_the_next_layer_arrives_while_this_one_works(tmp_path):
    weights = [jax.ShapeDtypeStruct((5, 256, 256), F32)] * 2
    rows = jax.ShapeDtypeStruct((512, 256), F32)
    exported = export.export(jax.jit(_deep), platforms=["cpu"])(rows, weights)
    file = tmp_path / "deep.mlir"
    file.write_bytes(exported.mlir_module_serialized)
    chip = "--chip=v5e:vmem=8MiB"
    ahead, late = (_time(str(file), chip, *o) for o in ([], ["--option=prefetch=off"]))
    # The same bytes, but in steps' transfers: two a trip, none for a sixth one.
    assert ahead["step_transfers"] - late["step_transfers"] == 2 * 5
    assert ahead["cycles"] < late["cycles"]
    results = []
    for number, options in enumerate(([], ["--option=prefetch=off"])):
        out = tmp_path / f"ahead{number}_"
        _tool(
            "run",
            "--target=tpu",
            chip,
            "--random-args",
            "--quiet",
            f"--out={out}",
            *options,
            str(file),
        )
        results.append(np.load(f"{out}0.npy"))
    np.testing.assert_array_equal(*results)


def test_two_cores_do_not_meet_for_each_layer(tmp_path):
    """Each takes its rows of what the layer before made, and writes its rows of a layer."""
    file = _export(_scan, (((512, 256), F32), ((6, 256, 256), F32)), tmp_path / "scan.mlir")
    chip = "--chip=v5p:vmem=8MiB"
    report = _time(file, chip)
    assert any(".slice" in kernel["name"] for kernel in report["kernels"])
    assert all(kernel["cores"] == 2 for kernel in report["kernels"])
    assert report["meetings"] == 1
    results = []
    for number, option in enumerate(("on", "off")):
        out = tmp_path / f"m{number}_"
        options = [f"--out={out}", f"--option=megacore={option}"]
        _tool("run", "--target=tpu", chip, "--random-args", "--quiet", *options, file)
        results.append([np.load(f"{out}{result}.npy") for result in range(2)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def _products_and_sums(a, b, w, y):
    return jnp.tanh(a @ b) @ w, jnp.exp(y).sum(1)


def test_what_has_not_all_of_its_place_arrives_in_slices(tmp_path):
    """Beside the products, between which a value stays, there is room for most of the last
    kernel's 10 MB."""
    bf16 = jnp.bfloat16
    factors = ((2048, 4096), bf16), ((4096, 512), bf16), ((512, 512), bf16)
    file = _export(_products_and_sums, (*factors, ((1300, 2048), F32)), tmp_path / "p.mlir")
    chip, off = "--chip=v5e:vmem=16MiB", "--option=sliced-prefetch=off"
    sliced, whole = _time(file, chip), _time(file, chip, off)
    assert sliced["step_transfers"] - whole["step_transfers"] == 8
    assert sliced["cycles"] < whole["cycles"]
    assert _moved(sliced) == _moved(whole)
    results = []
    for number, options in enumerate(([], [off])):
        out = tmp_path / f"s{number}_"
        _tool(
            "run", "--target=tpu", chip, "--random-args", "--quiet", f"--out={out}", *options, file
        )
        results.append([np.load(f"{out}{result}.npy") for result in range(2)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def _two_products(x, first, second):
    return jnp.tanh(x @ first) @ second


def test_a_run_brings_the_next_ones_first_argument(tmp_path):
    sizes = ((1024, 512), (512, 1024), (1024, 1024))
    arguments = [jax.ShapeDtypeStruct(size, jnp.bfloat16) for size in sizes]
    exported = export.export(jax.jit(_two_products), platforms=["cpu"])(*arguments)
    file = tmp_path / "products.mlir"
    file.write_bytes(exported.mlir_module_serialized)
    carried = _time(str(file))
    alone = _time(str(file), "--option=cross-program-prefetch=off")
    assert carried["runs"] > 1 and carried["next_run_bytes"] > 0
    assert carried["cycles"] < carried["first_run_cycles"]
    assert carried["cycles"] < alone["cycles"]
    assert alone["runs"] == 1 and alone["first_run_cycles"] == alone["cycles"]
    # Deterministic, and the text says which run it is.
    assert _time(str(file))["cycles"] == carried["cycles"]
    assert "steady state, run" in _tool("time", str(file))
    # One buffer less to fetch leaves the values as they are.
    for number, value in enumerate(("on", "off")):
        _tool(
            "run",
            "--target=tpu",
            "--random-args",
            "--quiet",
            f"--out={tmp_path / f'c{number}_'}",
            f"--option=cross-program-prefetch={value}",
            str(file),
        )
    np.testing.assert_array_equal(np.load(tmp_path / "c0_0.npy"), np.load(tmp_path / "c1_0.npy"))


WIDTH, LAYERS, HEADS = 4096, 32, 32


def _norm(x):
    wide = x.astype(F32)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
    return (centred * scale).astype(x.dtype)


def _mlp(w, x):
    return x + jax.nn.gelu(_norm(x) @ w["up"]) @ w["down"]


def _forward(weights, x):
    def layer(h, w):
        batch, sequence, width = h.shape
        qkv = (_norm(h) @ w["qkv"]).reshape(batch, sequence, 3, HEADS, width // HEADS)
        q, k, v = (qkv[:, :, i] for i in range(3))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32)
        attention = jax.nn.softmax(scores * q.shape[-1] ** -0.5, -1).astype(v.dtype)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", attention, v)
        return _mlp(w, h + mixed.reshape(h.shape) @ w["out"]), None

    return lax.scan(layer, x, weights)[0]


def _decode(weights, keys, values, position, x):
    def layer(h, stacked):
        w, k_cache, v_cache = stacked
        batch, width = h.shape
        q, k, v = jnp.split(_norm(h) @ w["qkv"], 3, -1)
        q, k, v = (t.reshape(batch, HEADS, width // HEADS) for t in (q, k, v))
        k_cache = lax.dynamic_update_slice(k_cache, k[:, :, None], (0, 0, position, 0))
        v_cache = lax.dynamic_update_slice(v_cache, v[:, :, None], (0, 0, position, 0))
        scores = jnp.einsum("bhd,bhtd->bht", q, k_cache, preferred_element_type=F32)
        seen = jnp.arange(k_cache.shape[2]) <= position
        scores = jnp.where(seen, scores * q.shape[-1] ** -0.5, -1e30)
        attention = jax.nn.softmax(scores, -1).astype(h.dtype)
        mixed = jnp.einsum("bht,bhtd->bhd", attention, v_cache)
        return _mlp(w, h + mixed.reshape(h.shape) @ w["out"]), (k_cache, v_cache)

    return lax.scan(layer, x, (weights, keys, values))


def _weights():
    sizes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH)}
    sizes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    return {n: jax.ShapeDtypeStruct((LAYERS, *s), jnp.bfloat16) for n, s in sizes.items()}


@pytest.mark.parametrize("chip", ["v4", "v5e:hbm_capacity=64GiB", "v6e"])
@pytest.mark.parametrize("step", ["forward", "decode"])
def test_a_language_model_is_timed(chip, step, tmp_path):
    """32 layers of 4096: 13 GB of weights, each read once for a token."""
    bf16 = jnp.bfloat16
    weights = _weights()
    batch, length = (1, 1024) if step == "forward" else (8, 1024)
    if step == "forward":
        arguments = (weights, jax.ShapeDtypeStruct((batch, length, WIDTH), bf16))
        function = _forward
    else:
        cache = jax.ShapeDtypeStruct((LAYERS, batch, HEADS, length, WIDTH // HEADS), bf16)
        position = jax.ShapeDtypeStruct((), I32)
        arguments = (weights, cache, cache, position, jax.ShapeDtypeStruct((batch, WIDTH), bf16))
        function = _decode
    file = tmp_path / "model.mlir"
    exported = export.export(jax.jit(function), platforms=["cpu"])(*arguments)
    file.write_bytes(exported.mlir_module_serialized)
    report = _time(str(file), f"--chip={chip}")
    kept = 2 * 2 * LAYERS * batch * length * WIDTH if step == "decode" else 0
    read = kept + sum(2 * np.prod(w.shape) for w in weights.values())
    # In 16 MiB there is no room for all rows of the forward pass: weights come again, and
    # to both of two cores, which cut the rows.
    assert read <= _moved(report) < (1.6 if step == "decode" else 6.5) * read
    launches = sum(kernel["launches"] for kernel in report["kernels"])
    assert launches < 16 * LAYERS
