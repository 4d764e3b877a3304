# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack: arrays shared with NumPy, torch and others without a copy.

The device's memory is the host's, so towards other libraries it is a CPU. JAX
decides by the platform's name, which is why its answers are extended here.
"""

import functools
from typing import Any

import numpy as np


class _View:
    """The memory of an array for NumPy, which keeps this object, which keeps the array."""

    def __init__(self, array: Any):
        dtype = np.dtype(array.dtype)
        if dtype.isbuiltin != 1 or dtype.kind not in "biufc":
            raise BufferError(f"DLPack through NumPy has no type for {dtype.name}")
        self._array = array
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": dtype.str,
            # Not marked as read-only: consumers of before DLPack 1.0 would refuse it.
            "data": (array.unsafe_buffer_pointer(), False),
        }


def _export(array: Any, options: dict[str, Any]) -> Any:
    """A capsule with the memory of `array`, which must not be written to."""
    array.block_until_ready()
    options.pop("stream", None)  # a CPU has none
    device = options.pop("dl_device", None)
    if device is not None and int(device[0]) != 1:
        raise BufferError(f"the array is in the host's memory, not on the device {device}")
    wanted = {name: value for name, value in options.items() if value is not None}
    return np.asarray(_View(array)).__dlpack__(**wanted)


def register(platform: str) -> None:
    """Lets arrays of `platform` out as CPU arrays, and CPU arrays in. Idempotent."""
    from jax._src import array, dlpack, xla_bridge

    cls = array.ArrayImpl
    if hasattr(cls.__dlpack__, "__wrapped__"):
        return
    to_capsule, to_device = cls.__dlpack__, cls.__dlpack_device__

    def is_ours(x: Any) -> bool:
        return len(x.sharding.device_set) == 1 and x.platform() == platform

    @functools.wraps(to_capsule)
    def export(self: Any, **options: Any) -> Any:
        return _export(self, options) if is_ours(self) else to_capsule(self, **options)

    @functools.wraps(to_device)
    def device(self: Any) -> tuple[Any, int]:
        return (dlpack.DLDeviceType.kDLCPU, 0) if is_ours(self) else to_device(self)

    cls.__dlpack__, cls.__dlpack_device__ = export, device

    class Platforms(dict):
        """Memory of the host comes to this platform where it is the default."""

        def __getitem__(self, kind: Any) -> str:
            if kind == dlpack.DLDeviceType.kDLCPU and xla_bridge.default_backend() == platform:
                return platform
            return super().__getitem__(kind)

    dlpack._DL_DEVICE_TO_PLATFORM = Platforms(dlpack._DL_DEVICE_TO_PLATFORM)
