# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was tried to break a process: each ends in an exception that says what and where."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def compile_text(text):
    """Hands StableHLO text to the plugin as jax.jit would."""
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    client = jax.devices("spokeshave")[0].client
    with mlir.make_ir_context() as context:
        module = ir.Module.parse(text, context)
        devices = xla_client.DeviceList((jax.devices("spokeshave")[0],))
        return client.compile_and_load(module, devices, xla_client.CompileOptions())


def test_dynamic_shapes_are_refused(ours):
    text = """
    func.func public @main(%a: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.add %a, %a : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(Exception, match="SKS-U003"):
        compile_text(text)


def test_unsupported_op_names_op(ours):
    text = """
    func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4xf32> {
      %s = stablehlo.constant dense<4> : tensor<1xi64>
      %0 = "stablehlo.rng"(%a, %b, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(Exception, match="stablehlo.rng"):
        compile_text(text)


def test_error_names_the_source_line(ours):
    def f(x):
        return jax.ffi.ffi_call("missing_target", jax.ShapeDtypeStruct((4,), np.float32))(x)

    with pytest.raises(Exception, match=r"test_bad_input\.py"):
        jax.jit(f)(jax.device_put(np.zeros(4, np.float32), ours))


def test_more_memory_than_there_is(ours):
    x = jax.device_put(np.float32(1), ours)
    with pytest.raises(Exception, match="SKS-R001|RESOURCE_EXHAUSTED"):
        jax.block_until_ready(jax.jit(lambda x: jnp.full((1 << 22, 1 << 20), x))(x))
    assert float(jax.jit(lambda x: x + 1)(x)) == 2


def test_wrong_arguments(ours):
    x = jax.device_put(np.zeros(4, np.float32), ours)
    compiled = jax.jit(lambda x: x + 1).lower(x).compile()
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        compiled(jax.device_put(np.zeros(5, np.float32), ours))
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        compiled(jax.device_put(np.zeros(4, np.int32), ours))
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        compiled(x, x)
    assert np.asarray(compiled(x)).tolist() == [1] * 4


def test_wrong_arguments_below_jax(ours):
    """The runtime itself checks, where JAX's own checks are passed by."""
    x = jax.device_put(np.zeros(4, np.float32), ours)
    loaded = jax.jit(lambda x: x + 1).lower(x).compile().runtime_executable()
    for wrong in (
        [],
        [x, x],
        [jax.device_put(np.zeros(5, np.float32), ours)],
        [jax.device_put(np.zeros(4, np.int32), ours)],
    ):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            loaded.execute_sharded(wrong).disassemble_into_single_device_arrays()[0][
                0
            ].block_until_ready()


def test_deleted_buffer(ours):
    x = jax.device_put(np.zeros(4, np.float32), ours)
    x.delete()
    with pytest.raises(RuntimeError, match="delete"):
        jax.jit(lambda x: x + 1)(x)


def test_donated_buffer(ours):
    x = jax.device_put(np.arange(1000, dtype=np.float32), ours)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert float(y[10]) == 11


def test_unknown_option(ours):
    x = jax.device_put(np.zeros(4, np.float32), ours)
    with pytest.raises(Exception, match="SKS-U006|no_such_option"):
        jax.jit(lambda x: x + 1).lower(x).compile(compiler_options={"no_such_option": "1"})


def test_errors_poison_what_depends_on_them(ours):
    def host(x):
        raise ValueError("poison")

    with jax.default_device(ours):
        bad = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.float32), x))
        with pytest.raises(Exception, match="poison"):
            y = bad(jnp.float32(1))
            z = jax.jit(lambda y: y + 1)(y)
            jax.block_until_ready(z)


def run_python(code, **environment):
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_control_c_in_a_long_loop():
    code = """
        import jax, jax.numpy as jnp, numpy as np, sys
        f = jax.jit(lambda x: jax.lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 0 + 1, jnp.sin(s[1])), (0, x)))
        x = jax.device_put(np.ones(1000, np.float32), jax.devices("spokeshave")[0])
        print("ready", flush=True)
        try:
            try:
                jax.block_until_ready(f(x))
            except Exception as e:  # the program was cancelled; Python's own exception follows
                print(type(e).__name__, e)
        except KeyboardInterrupt:
            pass
        print(float(jax.jit(lambda x: x + 1)(jax.device_put(np.float32(1), jax.devices("spokeshave")[0]))), flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout.readline().strip() == "ready"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "2.0" in output, output


def test_the_only_platform():
    """An ordinary program where no other back end exists."""
    code = """
        import jax, jax.numpy as jnp, numpy as np
        assert [d.platform for d in jax.devices()] == ["spokeshave"]
        x = jnp.arange(12.0).reshape(3, 4)
        jax.debug.print("eager {}", x.sum())
        jax.jit(lambda x: jax.debug.print("jitted {}", x.sum()))(x)
        shape = jax.ShapeDtypeStruct((3, 4), jnp.float32)
        y = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * 2, shape, x))(x)
        print("twice", float(y.sum()), jnp.linalg.svd(x)[1].shape, jax.random.normal(jax.random.key(0), (3,)).shape)
    """
    result = run_python(code, JAX_PLATFORMS="spokeshave")
    for line in ("eager 66.0", "jitted 66.0", "twice 132.0 (3,) (3,)"):
        assert line in result.stdout, result.stdout + result.stderr[-2000:]


@pytest.mark.parametrize(
    "first,second",
    [
        ("jax", "scipy.linalg"),
        ("scipy.linalg", "jax"),
        ("torch", "jax"),
        ("jax", "torch"),
        ("triton", "jax"),
        ("jax", "triton"),
    ],
)
def test_import_orders(first, second):
    for module in (first, second):
        pytest.importorskip(module.split(".")[0])
    code = f"""
        import {first}
        import jax; jax.devices("spokeshave")
        import {second}, numpy as np
        x = jax.device_put(np.eye(3, dtype=np.float32), jax.devices("spokeshave")[0])
        print(float(jax.jit(lambda x: (x @ x).sum())(x)))
    """
    result = run_python(code)
    assert result.returncode == 0 and "3.0" in result.stdout, result.stderr[-2000:]


def test_fork():
    code = """
        import jax, numpy as np, os, warnings
        warnings.filterwarnings("ignore")
        device = jax.devices("spokeshave")[0]
        x = jax.device_put(np.ones((300, 300), np.float32), device)
        f = jax.jit(lambda x: (x @ x).sum())
        before = float(f(x))
        pid = os.fork()
        if pid == 0:
            os._exit(0 if float(f(x)) == before else 1)
        _, status = os.waitpid(pid, 0)
        print("child", os.waitstatus_to_exitcode(status), float(f(x)) == before)
    """
    result = run_python(code)
    assert "child 0 True" in result.stdout, result.stdout + result.stderr[-2000:]


def test_concurrent_callers(ours):
    f = jax.jit(lambda x: jnp.sin(x @ x).sum())
    inputs = [jax.device_put(np.full((100, 100), i / 50, np.float32), ours) for i in range(8)]
    want = [float(f(x)) for x in inputs]
    failures = []

    def work(i):
        for _ in range(25):
            if float(f(inputs[i])) != want[i]:
                failures.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_memory_is_flat_over_compiles(ours):
    """Hundreds of compiles leave no memory behind (10,000 in the nightly tier)."""
    import gc

    count = int(os.environ.get("SPOKESHAVE_FLAT_COMPILES", "300"))
    x = jax.device_put(np.zeros(8, np.float32), ours)

    def resident():
        gc.collect()
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    def compile_some(n):
        for i in range(n):
            jax.jit(lambda x, i=i: jnp.sin(x) * i + x.sum()).lower(x).compile()
            if i % 50 == 0:
                jax.clear_caches()
        jax.clear_caches()

    compile_some(100)
    before = resident()
    compile_some(count)
    # A kilobyte a compile, and what allocators and JAX's own caches may keep once.
    assert resident() - before < 8e6 + 1e3 * count, (resident() - before) / count
