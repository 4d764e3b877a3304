# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JAX plugin: found by JAX through the entry point ``jax_plugins``."""

import functools
import logging
import os
from typing import Any

from spokeshave import _library, callbacks, chip, decompositions, dlpack, ffi, lowering

PLATFORM = "spokeshave"
# A simulated TPU-class chip: which one, SPOKESHAVE_CHIP says (default v5e).
TPU_PLATFORM = "spokeshave_tpu"

logger = logging.getLogger(__name__)

_initialized = False


def _allow_persistent_cache() -> None:
    """Our executables serialize, but the platforms that JAX caches are a fixed list."""
    from jax._src import compilation_cache

    is_cache_used = compilation_cache.is_cache_used

    @functools.wraps(is_cache_used)
    def is_used(backend: Any) -> bool:
        if backend.platform == PLATFORM:
            return compilation_cache._is_cache_enabled()
        return is_cache_used(backend)

    compilation_cache.is_cache_used = is_used


def _cpu_options() -> dict[str, Any]:
    """What JAX says of CPU devices counts for ours, unless the environment says more."""
    from jax._src import xla_bridge

    wanted = xla_bridge.num_cpu_devices.value
    if wanted > 0 and "SPOKESHAVE_NUM_DEVICES" not in os.environ:
        return {"num_devices": wanted}
    return {}


def initialize() -> None:
    """Registers platform, lowering rules and FFI targets with JAX.

    JAX calls this once, before it creates any backend. Without an explicit
    ``JAX_PLATFORMS`` the stock CPU stays the default: the priority is below its.
    """
    global _initialized
    if _initialized:  # found both as an entry point and in a source tree
        return
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir

    path = _library.library_path()
    xla_bridge.register_plugin(PLATFORM, priority=-10, library_path=path, options=_cpu_options)
    # Its lowering rules are JAX's defaults: those of the CPU call libraries of the host.
    target = {"target": "tpu", "chip": os.environ.get("SPOKESHAVE_CHIP", "")}
    xla_bridge.register_plugin(TPU_PLATFORM, priority=-20, library_path=path, options=target)
    # JAX knows by name which plugins to warn of, and which platforms donate and cache.
    for platform in (PLATFORM, TPU_PLATFORM):
        xla_bridge._backend_factories[platform].experimental = False
        if platform not in mlir._platforms_with_donation:
            mlir._platforms_with_donation.append(platform)
    _allow_persistent_cache()
    lowering.register(PLATFORM)
    decompositions.register(PLATFORM)
    callbacks.register(PLATFORM)
    ffi.register(PLATFORM)
    dlpack.register(PLATFORM)
    chip.register(TPU_PLATFORM)
    _initialized = True
    logger.debug("registered %s from %s", PLATFORM, path)
