# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on the device: every dtype in and out, zero-copy, deletion, statistics."""

import gc
import weakref

import jax
import ml_dtypes
import numpy as np
import pytest

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("int2", "uint2", "int4", "uint4"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"),
]


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def _example(dtype):
    values = np.arange(1, 13).reshape(3, 4) % (2 if np.dtype(dtype).kind == "b" else 3)
    return values.astype(np.float32).astype(dtype)


def _put(array, device):
    with jax.enable_x64(True):
        return jax.device_put(array, device)


def _bits(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@pytest.mark.quick
@pytest.mark.parametrize("name", DTYPES)
def test_round_trip(ours, name):
    x = _example(_dtype(name))
    views = [x, x.T, x[:, ::2], x[::-1], x[1:2, 1:], x[:0], x[0, 0]]
    views += [np.broadcast_to(x[0], (5, 4)), np.asfortranarray(x)]
    for view in views:
        y = np.asarray(_put(view, ours))
        assert y.dtype == view.dtype and y.shape == view.shape
        np.testing.assert_array_equal(_bits(y), _bits(view))


def _aligned(count):
    """Ones, aligned as the device's own memory is."""
    raw = np.zeros(count * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start : start + count * 4].view(np.float32)
    array[:] = 1
    return array


def test_zero_copy_in_and_out(ours):
    x = _aligned(1 << 18)
    y = jax.device_put(x, ours)
    assert y.unsafe_buffer_pointer() == x.ctypes.data
    assert np.asarray(y).ctypes.data == x.ctypes.data


def test_arrays_that_are_not_aligned_are_copied(ours):
    x = _aligned((1 << 18) + 1)[1:]
    y = jax.device_put(x, ours)
    x[:] = 2
    assert np.asarray(y).max() == 1


def test_memory_of_numpy_lives_as_long_as_the_buffer(ours):
    x = _aligned(1 << 18)
    memory = weakref.ref(x.base)
    y = jax.device_put(x, ours)
    address = x.ctypes.data
    del x
    gc.collect()
    assert memory() is not None and y.unsafe_buffer_pointer() == address
    del y
    gc.collect()
    jax.device_put(np.ones(1), ours)  # gives released arrays back
    assert memory() is None


def test_views_survive_deletion(ours):
    y = jax.device_put(np.arange(100_000, dtype=np.float32), ours)
    view = np.asarray(y)
    y.delete()
    assert y.is_deleted()
    assert view[99_999] == 99_999
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(y)


def test_memory_statistics(ours):
    before = ours.memory_stats()
    kept = jax.device_put(np.ones(1 << 20, np.float32)[::-1], ours)  # strided: copied
    during = ours.memory_stats()
    assert during["bytes_in_use"] - before["bytes_in_use"] >= 4 << 20
    assert during["bytes_limit"] > during["peak_bytes_in_use"] >= during["bytes_in_use"]
    kept.delete()
    after = ours.memory_stats()
    assert after["bytes_in_use"] <= during["bytes_in_use"] - (4 << 20)


def test_device(ours):
    assert ours.platform == "spokeshave"
    assert ours.device_kind.startswith("cpu")
    assert [m.kind for m in ours.addressable_memories()] == ["device"]
    assert repr(ours) == "SpokeshaveDevice(id=0)"


def test_copies_between_devices(ours, stock):
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    y = jax.device_put(jax.device_put(x, stock), ours)
    z = jax.device_put(y, stock)
    np.testing.assert_array_equal(np.asarray(y), x)
    np.testing.assert_array_equal(np.asarray(z), x)
    assert y.devices() == {ours} and z.devices() == {stock}


def test_too_large_an_array(ours):
    x = np.broadcast_to(np.float32(1), (1 << 22, 1 << 22))
    with pytest.raises(Exception, match="RESOURCE_EXHAUSTED"):
        jax.device_put(x, ours)
    assert np.asarray(jax.device_put(np.ones(3), ours)).sum() == 3  # the process lives on


@pytest.mark.parametrize("name", ["float32", "int64", "uint8", "float16", "complex64", "bool"])
def test_dlpack_shares_memory(ours, name):
    x = _put(_example(np.dtype(name)), ours)
    y = np.from_dlpack(x)
    assert y.ctypes.data == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(y, np.asarray(x))
    del x
    gc.collect()
    np.testing.assert_array_equal(y, _example(np.dtype(name)))


def test_dlpack_in_and_back(ours):
    source = _aligned(64).reshape(8, 8)
    x = jax.dlpack.from_dlpack(source)
    assert x.devices() == {ours}
    assert x.unsafe_buffer_pointer() == source.ctypes.data
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(x)), 1)


def test_dlpack_of_types_that_numpy_lacks(ours):
    with pytest.raises(BufferError, match="bfloat16"):
        np.from_dlpack(_put(_example(_dtype("bfloat16")), ours))


def test_dlpack_with_torch(ours):
    torch = pytest.importorskip("torch")
    x = jax.device_put(np.arange(12, dtype=np.float32).reshape(3, 4), ours)
    t = torch.from_dlpack(x)
    assert t.data_ptr() == x.unsafe_buffer_pointer() and t.shape == (3, 4)
    y = jax.dlpack.from_dlpack(t * 2)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x) * 2)
