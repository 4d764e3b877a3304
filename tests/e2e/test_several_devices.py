# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs over four devices, against four of the stock CPU's.

The number of devices is fixed when a process begins: `test_on_four_devices` runs the
others in a process that has four.
"""

import os
import pathlib
import subprocess
import sys

import conftest
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

COUNT = 4
hasFour = os.environ.get("SPOKESHAVE_NUM_DEVICES") == str(COUNT)
four = pytest.mark.skipif(not hasFour, reason="run by test_on_four_devices")


@pytest.mark.skipif(hasFour, reason="is itself")
def test_on_four_devices():
    environment = dict(os.environ, SPOKESHAVE_NUM_DEVICES=str(COUNT))
    flags = environment.get("XLA_FLAGS", "")
    environment["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={COUNT}".strip()
    here = pathlib.Path(__file__)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", str(here), "-p", "no:cacheprovider"],
        env=environment,
        cwd=here.parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def mesh_of(platform, shape, names):
    devices = np.array(jax.devices(platform)[: np.prod(shape)]).reshape(shape)
    return jax.sharding.Mesh(devices, names, axis_types=(AxisType.Auto,) * len(names))


def run_on(platform, function, args, specs, out, shape=(COUNT,), names=("x",)):
    mesh = mesh_of(platform, shape, names)
    mapped = jax.jit(
        jax.shard_map(lambda *a: function(*a), mesh=mesh, in_specs=specs, out_specs=out)
    )
    placed = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(args, specs)]
    result = jax.block_until_ready(mapped(*placed))
    return jax.tree.map(np.asarray, result)


def compare(function, args, specs, out, **mesh):
    got = run_on("spokeshave", function, args, specs, out, **mesh)
    want = run_on("cpu", function, args, specs, out, **mesh)
    conftest.assert_same(got, want)
    return got


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


@four
@pytest.mark.parametrize("size", [3, 8192])
@pytest.mark.parametrize("reduce", [lax.psum, lax.pmax, lax.pmin, lax.pmean])
def test_reductions(reduce, size):
    compare(lambda x: reduce(x, "x"), [numbers(COUNT, size)], (P("x"),), P())


@four
def test_all_gather():
    x = numbers(COUNT, 6, 5)
    compare(lambda x: lax.all_gather(x, "x", axis=1).sum(1), [x], (P("x"),), P("x"))
    compare(lambda x: lax.all_gather(x, "x", axis=1, tiled=True), [x], (P("x"),), P("x"))
    compare(lambda x: lax.all_gather(x, "x", axis=2, tiled=True), [x], (P("x"),), P("x"))


@four
def test_psum_scatter():
    x = numbers(COUNT, 8, 5)
    compare(
        lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True), [x], (P("x"),), P("x")
    )


@four
@pytest.mark.parametrize("split,concat", [(0, 0), (0, 1), (1, 0), (1, 2)])
def test_all_to_all(split, concat):
    x = numbers(4 * COUNT, 8, 4)
    compare(lambda a: lax.all_to_all(a, "x", split, concat, tiled=True), [x], (P("x"),), P("x"))


@four
def test_ppermute():
    x = numbers(COUNT, 3)
    ring = [(i, (i + 1) % COUNT) for i in range(COUNT)]
    compare(lambda x: lax.ppermute(x, "x", ring), [x], (P("x"),), P("x"))
    compare(lambda x: lax.ppermute(x, "x", [(0, 2), (3, 1)]), [x], (P("x"),), P("x"))


@four
def test_axis_index_and_dtypes():
    compare(lambda x: x + lax.axis_index("x"), [np.arange(COUNT)], (P("x"),), P("x"))
    for dtype in (np.int8, np.bool_, np.uint16, jnp.bfloat16, np.complex64):
        x = np.arange(COUNT * 3).reshape(COUNT, 3).astype(dtype)
        compare(lambda x: lax.all_gather(x, "x", tiled=True), [x], (P("x"),), P("x"))


@four
def test_two_dimensional_mesh():
    def f(x, w):
        part = lax.psum(x @ w, "y")  # a product split along its depth
        return part, lax.psum(part.sum(), "x")

    compare(
        f,
        [numbers(8, 16), numbers(16, 4)],
        (P("x", "y"), P("y", None)),
        (P("x", None), P()),
        shape=(2, 2),
        names=("x", "y"),
    )


@four
def test_in_loops():
    ring = [(i, (i + 1) % COUNT) for i in range(COUNT)]

    def scanned(x):
        def step(carry, _):
            carry = lax.ppermute(jnp.sin(carry), "x", ring)
            return carry, lax.psum(carry.sum(), "x")

        return lax.scan(step, x, None, length=5)

    compare(scanned, [numbers(COUNT, 7)], (P("x"),), (P("x"), P()))

    def until(x):
        return lax.while_loop(lambda c: lax.pmax(c.max(), "x") < 50, lambda c: c * 2 + 1, x)

    compare(until, [np.abs(numbers(COUNT, 2))], (P("x"),), P("x"))


@four
def test_data_parallel_gradients():
    def loss(w, x, y):
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    def step(w, x, y):
        value, gradient = jax.value_and_grad(loss)(w, x, y)
        return w - 0.1 * lax.pmean(gradient, "x"), lax.pmean(value, "x")

    args = [numbers(16, 4), numbers(32, 16), numbers(32, 4)]
    compare(step, args, (P(), P("x"), P("x")), (P(), P()))


@four
def test_pmap():
    def run(platform):
        devices = jax.devices(platform)[:COUNT]
        f = jax.pmap(lambda a: a / lax.psum(a, "i"), axis_name="i", devices=devices)
        return np.asarray(f(np.arange(1.0, 9.0, dtype=np.float32).reshape(COUNT, 2)))

    conftest.assert_same(run("spokeshave"), run("cpu"))


@four
def test_arguments_on_no_mesh_and_donation():
    x = np.arange(8, dtype=np.float32)
    mesh = mesh_of("spokeshave", (COUNT,), ("x",))
    body = jax.shard_map(
        lambda a: a * lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x")
    )
    want = x * np.tile(x.reshape(COUNT, 2).sum(0), COUNT)
    np.testing.assert_array_equal(np.asarray(jax.jit(body)(x)), want)
    placed = jax.device_put(x, NamedSharding(mesh, P("x")))
    got = jax.jit(body, donate_argnums=0)(placed)
    assert placed.is_deleted() and len(got.sharding.device_set) == COUNT
    np.testing.assert_array_equal(np.asarray(got), want)


@four
def test_single_devices():
    x = np.arange(3.0, dtype=np.float32)
    for device in jax.devices("spokeshave"):
        placed = jax.device_put(x, device)
        result = jax.jit(lambda a: a * 2)(placed)
        assert result.devices() == {device}
        np.testing.assert_array_equal(np.asarray(result), x * 2)
    moved = jax.device_put(
        jax.device_put(x, jax.devices("spokeshave")[1]), jax.devices("spokeshave")[3]
    )
    np.testing.assert_array_equal(np.asarray(moved), x)


@four
def test_elementwise_work_outside_stays_on_parts():
    mesh = mesh_of("spokeshave", (COUNT,), ("x",))
    x = jax.device_put(numbers(8, 3), NamedSharding(mesh, P("x")))
    got = jax.jit(lambda a: jnp.exp(a) * 2 + a)(x)
    assert got.sharding.is_equivalent_to(x.sharding, 2)
    np.testing.assert_allclose(
        np.asarray(got), np.exp(numbers(8, 3)) * 2 + numbers(8, 3), rtol=1e-5
    )


@four
def test_what_needs_a_partitioner_is_refused():
    mesh = mesh_of("spokeshave", (COUNT,), ("x",))
    x = jax.device_put(numbers(8, 8), NamedSharding(mesh, P("x")))
    with pytest.raises(Exception, match="SKS-U003.*partitioner"):
        jax.jit(lambda a: a @ a)(x)


@four
def test_a_failing_device_frees_the_others():
    mesh = mesh_of("spokeshave", (COUNT,), ("x",))

    def check(i):
        if i == 2:
            raise ValueError("device two has had enough")
        return np.float32(i)

    def f(x):
        value = jax.pure_callback(
            check,
            jax.ShapeDtypeStruct((), np.float32),
            lax.axis_index("x"),
            vmap_method="sequential",
        )
        return lax.psum(x * value, "x")

    mapped = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False))
    with pytest.raises(Exception, match="device two has had enough"):
        jax.block_until_ready(mapped(numbers(COUNT, 2)))
    # The devices are there for the next program.
    total = jax.shard_map(lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    np.testing.assert_allclose(np.asarray(jax.jit(total)(np.ones(COUNT, np.float32))), [COUNT])


def test_wrong_numbers_of_devices():
    program = "import jax; jax.devices()"
    for number in ("0", "-1", "many", "100000"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=dict(os.environ, SPOKESHAVE_NUM_DEVICES=number, JAX_PLATFORMS="spokeshave"),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode != 0 and "SKS-U006" in done.stderr, done.stderr[-2000:]
