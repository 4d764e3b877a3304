# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FFI targets: what users and JAX itself register reaches Spokeshave's runtime.

``jax.ffi.register_ffi_target(name, capsule, platform="spokeshave")`` arrives here,
and so does everything registered for "cpu": a handler for the host CPU works on
our buffers as it does on the stock backend's.
"""

import ctypes
import logging
from typing import Any

from spokeshave import _library

logger = logging.getLogger(__name__)

_CAPSULE_NAME = b"xla._CUSTOM_CALL_TARGET"
_STAGES = ("instantiate", "prepare", "initialize", "execute")


def _address(capsule: Any) -> int:
    """The function pointer inside a capsule. A TypeError for anything else."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(f"an FFI target must be a PyCapsule, got {type(capsule).__name__}")
    name = get_name(capsule)
    if name not in (_CAPSULE_NAME, None):
        raise TypeError(f"an FFI target's capsule has the unexpected name {name!r}")
    return get_pointer(capsule, name)


def _register_one(name: str, stage: str, capsule: Any, api_version: int, traits: int) -> None:
    status = _library.load().spokeshave_register_custom_call(
        name.encode(), stage.encode(), _address(capsule), api_version, traits
    )
    if status != 0:
        raise ValueError(f"the runtime refused the FFI target {name!r} (stage {stage})")


def _handler(name: Any, fn: Any, platform: str, api_version: int = 0, traits: Any = 0) -> None:
    del platform
    name = name.decode() if isinstance(name, bytes) else name
    bits = int(getattr(traits, "value", traits) or 0)
    if isinstance(fn, dict):
        for stage in _STAGES:
            if fn.get(stage) is not None:
                _register_one(name, stage, fn[stage], api_version, bits)
    else:
        _register_one(name, "execute", fn, api_version, bits)


def _cpu_handler(name: Any, fn: Any, platform: str, api_version: int = 0, traits: Any = 0) -> None:
    """Serves the stock CPU as its own handler would, then ours."""
    from jaxlib import xla_client

    xla_client._xla.register_custom_call_target(name, fn, platform, api_version, traits)
    try:
        _handler(name, fn, platform, api_version, traits)
    except (TypeError, ValueError) as error:
        # The stock CPU has the target; ours lacks it and says so when it is called.
        logger.warning("FFI target %s is not available to Spokeshave: %s", name, error)


def register(platform: str) -> None:
    """Asks JAX for all targets registered so far and from now on."""
    from jaxlib import xla_client

    xla_client.register_custom_call_handler(platform, _handler)
    # JAX keeps one handler per platform, the first; ours forwards to the stock one.
    xla_client.register_custom_call_handler("cpu", _cpu_handler)
