# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executables: donation, analyses, caches, serialization, many callers."""

import os
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def on_ours(ours):
    """Everything here runs on Spokeshave."""
    with jax.default_device(ours):
        yield


def _ones(ours, shape=(256, 256)):
    return jax.device_put(np.ones(shape, np.float32), ours)


@pytest.mark.quick
def test_donation_reuses_the_memory(ours):
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.block_until_ready(step(_ones(ours)))
    address = x.unsafe_buffer_pointer()
    for _ in range(50):  # far ahead of the device
        previous, x = x, step(x)
        assert previous.is_deleted()
    jax.block_until_ready(x)
    assert x.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(np.asarray(x), 52)


def test_donation_spares_what_numpy_looks_at(ours):
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.block_until_ready(jax.jit(lambda x: x * 3)(_ones(ours)))
    view = np.asarray(x)
    y = step(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(np.asarray(y), 4)
    np.testing.assert_array_equal(view, 3)


def test_donated_and_read(ours):
    f = jax.jit(lambda x, y: x + 2 * y, donate_argnums=0)
    x = _ones(ours)
    np.testing.assert_array_equal(np.asarray(f(x, x)), 3)
    assert x.is_deleted()


def test_result_read_before_it_is_ready(ours):
    f = jax.jit(lambda x: x * 2)
    x = _ones(ours, (1024, 1024))
    for _ in range(10):
        x = f(x)
        pointer = x.unsafe_buffer_pointer()  # decided before the program has run
    view = np.asarray(x)
    assert view.ctypes.data == pointer
    np.testing.assert_array_equal(view, 1024)


def test_memory_analysis_is_true(ours):
    compiled = jax.jit(lambda x: x + 1, donate_argnums=0).lower(_ones(ours)).compile()
    memory = compiled.memory_analysis()
    size = 256 * 256 * 4
    assert memory.argument_size_in_bytes == size
    assert memory.output_size_in_bytes == size
    assert memory.alias_size_in_bytes == size
    assert memory.generated_code_size_in_bytes > 0
    before = ours.memory_stats()["bytes_in_use"]
    result = jax.block_until_ready(compiled(_ones(ours)))
    assert ours.memory_stats()["bytes_in_use"] - before <= size + 4096
    del result


def test_cost_analysis(ours):
    cost = jax.jit(lambda x: x * x + x).lower(_ones(ours, (1000,))).compile().cost_analysis()
    assert cost["flops"] == 2000
    assert cost["bytes accessed"] >= 8000


def test_program_text(ours):
    compiled = jax.jit(lambda x: x + 41).lower(_ones(ours, (3,))).compile()
    assert "add" in compiled.as_text() and "41" in compiled.as_text()


def test_serialized_executable(ours):
    from jax.experimental import serialize_executable

    x = _ones(ours, (8, 8))
    compiled = jax.jit(lambda x: (x + 1, x * 3)).lower(x).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    for got, want in zip(loaded(x), compiled(x)):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


_CACHE_SCRIPT = """
import sys, jax, numpy as np, logging
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
hits = []
class Handler(logging.Handler):
    def emit(self, record):
        hits.append("Persistent compilation cache hit" in record.getMessage())
logging.getLogger("jax").addHandler(Handler())
logging.getLogger("jax").setLevel(logging.DEBUG)
device = jax.devices("spokeshave")[0]
x = jax.device_put(np.arange(4.0, dtype=np.float32), device)
print(np.asarray(jax.jit(lambda x: x * 7)(x)).tolist(), any(hits))
"""


def test_persistent_cache(tmp_path):
    def run():
        process = subprocess.run(
            [sys.executable, "-c", _CACHE_SCRIPT, str(tmp_path)],
            env={**os.environ, "JAX_PLATFORMS": "spokeshave,cpu"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert process.returncode == 0, process.stderr
        return process.stdout.strip()

    assert run() == "[0.0, 7.0, 14.0, 21.0] False"
    files = [p for p in tmp_path.iterdir() if p.name.endswith("-cache")]
    assert files
    assert run() == "[0.0, 7.0, 14.0, 21.0] True"
    # A damaged entry is compiled again, not run.
    for path in files:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    assert run().startswith("[0.0, 7.0, 14.0, 21.0]")


def test_many_threads(ours):
    f = jax.jit(lambda x, y: x * 2 + y)
    failures = []

    def work(number):
        try:
            x = jax.device_put(np.full((300, 300), number, np.float32), ours)
            y = x
            for _ in range(30):
                y = f(x, y) - x * 2
            np.testing.assert_array_equal(np.asarray(y), number)
        except BaseException as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_compiling_in_many_threads(ours):
    results = {}

    def work(number):
        results[number] = float(jax.jit(lambda x: (x + number) * number)(jnp.float32(1)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: float((1 + i) * i) for i in range(8)}


def test_no_results_and_no_arguments(ours):
    assert jax.jit(lambda x: ())(_ones(ours, (2,))) == ()
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda: jnp.ones(3))()), 1)


def test_empty_arrays(ours):
    x = jax.device_put(np.zeros((0, 5), np.float32), ours)
    y = jax.jit(lambda x: x + 1)(x)
    assert np.asarray(y).shape == (0, 5)


def test_argument_returned_as_it_is(ours):
    x = _ones(ours, (4,))
    y, z = jax.jit(lambda x: (x, x + 1))(x)
    np.testing.assert_array_equal(np.asarray(y), 1)
    x.delete()
    np.testing.assert_array_equal(np.asarray(y), 1)
    np.testing.assert_array_equal(np.asarray(z), 2)
