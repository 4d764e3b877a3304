# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python functions called from compiled programs, and FFI targets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def on(device, function, *args):
    with jax.default_device(device):
        return jax.block_until_ready(jax.jit(function)(*jax.device_put(args, device)))


def test_pure_callback(ours):
    def host(x, y):
        return np.asarray(x) * 2 + np.asarray(y), np.asarray(x).sum()

    def f(x, y):
        shapes = (jax.ShapeDtypeStruct((5,), np.float32), jax.ShapeDtypeStruct((), np.float32))
        a, b = jax.pure_callback(host, shapes, x, y)
        return a + 1, b

    x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    a, b = on(ours, f, x, y)
    np.testing.assert_array_equal(np.asarray(a), x * 2 + y + 1)
    assert float(b) == 10


def test_io_callback_ordered_in_a_loop(ours):
    seen = []

    def f(x):
        def body(i, x):
            jax.experimental.io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            return x + i

        return jax.lax.fori_loop(0, 6, body, x)

    import jax.experimental

    assert float(on(ours, f, np.float32(0))) == 15
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3, 4, 5]


def test_debug_print(ours, capfd):
    on(ours, lambda x: (jax.debug.print("x is {x}", x=x), x + 1)[1], np.float32(3))
    jax.effects_barrier()
    assert "x is 3.0" in capfd.readouterr().out


def test_callback_uses_the_same_device(ours):
    def host(x):
        return np.asarray(jax.jit(lambda v: v * 3)(jax.device_put(np.asarray(x), ours)))

    f = lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.float32), x) + 1  # noqa: E731
    assert float(on(ours, f, np.float32(2))) == 7


def test_callback_error_reaches_the_caller(ours):
    def host(x):
        raise ValueError("the oven is cold")

    f = lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.float32), x)  # noqa: E731
    with pytest.raises(Exception, match="the oven is cold"):
        on(ours, f, np.float32(2))
    assert float(on(ours, lambda x: x + 1, np.float32(1))) == 2  # the process lives on


def test_callback_returns_the_wrong_shape(ours):
    f = lambda x: jax.pure_callback(  # noqa: E731
        lambda x: np.zeros(3, np.float32), jax.ShapeDtypeStruct((), np.float32), x
    )
    with pytest.raises(Exception, match="declared"):
        on(ours, f, np.float32(2))


def test_callback_returns_python_numbers(ours):
    """Narrowed as JAX narrows them where 64-bit types are off, refused where they are on."""

    def f(dtype, value):
        return lambda: jax.pure_callback(lambda: value, jax.ShapeDtypeStruct((), dtype))

    assert float(on(ours, f(np.float32, 42.0))) == 42
    assert int(on(ours, f(np.int32, np.int64(7)))) == 7
    with jax.enable_x64(True):
        assert float(on(ours, f(np.float64, 0.1))) == 0.1
        with pytest.raises(Exception, match="Incorrect output dtype for return value #0"):
            on(ours, f(np.float32, np.float64(1)))


def test_failed_callback_is_logged(ours, caplog):
    def fail(x):
        raise ValueError("no luck")

    with pytest.raises(Exception, match="no luck"):
        on(ours, lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.float32), x), 1.0)
    assert "jax.pure_callback failed" in caplog.text and "no luck" in caplog.text


def test_checkify_without_functionalising(ours):
    """A rule of JAX's that calls back on its own."""
    from jax._src import dispatch
    from jax.experimental import checkify

    def f(x):
        checkify.check(x > 0, "x must be positive")
        return x + 1

    jax.config.update("jax_experimental_unsafe_xla_runtime_errors", True)
    try:
        assert float(on(ours, f, np.float32(1))) == 2
        with pytest.raises(Exception, match="x must be positive"):
            on(ours, f, np.float32(-1))
    finally:
        dispatch.runtime_tokens.clear()  # or JAX reports the failure once more at exit
        jax.config.update("jax_experimental_unsafe_xla_runtime_errors", False)


def test_unknown_custom_call(ours):
    def f(x):
        return jax.ffi.ffi_call("nobody_registered_this", jax.ShapeDtypeStruct((4,), np.float32))(x)

    with pytest.raises(Exception, match="nobody_registered_this"):
        on(ours, f, np.zeros(4, np.float32))


def test_sparse_rules_registered_later(ours):
    """Rules that JAX adds for "cpu" after start-up serve Spokeshave too."""
    from jax.experimental import sparse

    m = np.diag(np.arange(1, 5, dtype=np.float32))
    with jax.default_device(ours):
        s = sparse.BCOO.fromdense(jnp.asarray(m))
        out = jax.jit(lambda s, v: s @ v)(s, jnp.ones(4))
    np.testing.assert_array_equal(np.asarray(out), [1, 2, 3, 4])
