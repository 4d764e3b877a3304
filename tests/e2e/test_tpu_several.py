# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX programs on several simulated chips: right values, and what the links take."""

import json

import test_tpu

PREAMBLE = """
import json, numpy as np, jax, jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, PartitionSpec as P
rng = np.random.default_rng(0)
def mapped(platform, function, specs, out):
    devices = np.array(jax.devices(platform)[:4])
    mesh = jax.sharding.Mesh(devices, ("x",), axis_types=(AxisType.Auto,))
    return jax.jit(jax.shard_map(lambda *a: function(*a), mesh=mesh, in_specs=specs,
                                 out_specs=out, check_vma=False))
"""


def run(program: str) -> str:
    return test_tpu.run(
        program,
        PREAMBLE,
        SPOKESHAVE_NUM_DEVICES="4",
        SPOKESHAVE_CHIP="v5e",
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )


def test_values_are_those_of_the_stock_cpu():
    run("""
    x = rng.standard_normal((64, 128)).astype(np.float32)
    ring = [(i, (i + 1) % 4) for i in range(4)]
    for function, out in (
        (lambda x: lax.psum(x, "x"), P()),
        (lambda x: lax.pmax(jnp.tile(x, (3, 1)), "x"), P()),
        (lambda x: lax.all_gather(x, "x", tiled=True)[:8], P()),
        (lambda x: lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True), P("x")),
        (lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True), P("x")),
        (lambda x: lax.ppermute(x, "x", ring) * lax.axis_index("x"), P("x")),
        (lambda x: lax.ppermute(x, "x", [(2, 0)]), P("x")),
        (lambda x: lax.fori_loop(0, 3, lambda i, y: lax.ppermute(y, "x", ring) + i, x), P("x")),
    ):
        ours, theirs = (np.asarray(mapped(p, function, P("x"), out)(x))
                        for p in ("spokeshave_tpu", "cpu"))
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)
    """)


def test_the_links_take_time():
    text = run("""
    x = np.zeros((4096, 1024), np.float32)
    costs = []
    for function in (lambda x: x * 2, lambda x: lax.psum(x, "x") * 2):
        compiled = mapped("spokeshave_tpu", function, P("x"), P("x")).lower(x).compile()
        costs.append(compiled.cost_analysis()["cycles"])
    print(json.dumps(costs))
    """)
    alone, together = json.loads(text.splitlines()[-1])
    # 4 MiB on each chip, 2x2 of them: 3/4 of it twice over four links of 45 GB/s.
    seconds = 2 * 0.75 * (4 << 20) / (4 * 45e9)
    assert together > alone + seconds * 1.5e9
    assert together < alone + 2.5 * seconds * 1.5e9


def test_chips_that_do_not_meet():
    run("""
    # One chip takes the branch, and meets nobody there.
    def apart(x):
        return lax.cond(lax.axis_index("x") == 1, lambda y: lax.psum(y, "x"), lambda y: y, x)
    x = np.ones((4, 8), np.float32)
    try:
        jax.block_until_ready(mapped("spokeshave_tpu", apart, P("x"), P("x"))(x))
    except Exception as error:
        assert "SKS-R006" in str(error), error
    else:
        raise AssertionError("no error")
    """)
