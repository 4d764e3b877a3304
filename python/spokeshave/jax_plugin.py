# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JAX plugin: found by JAX through the entry point ``jax_plugins``."""

import logging

from spokeshave import _library, callbacks, ffi, lowering

PLATFORM = "spokeshave"

logger = logging.getLogger(__name__)

_initialized = False


def initialize() -> None:
    """Registers platform, lowering rules and FFI targets with JAX.

    JAX calls this once, before it creates any backend. Without an explicit
    ``JAX_PLATFORMS`` the stock CPU stays the default: the priority is below its.
    """
    global _initialized
    if _initialized:  # found both as an entry point and in a source tree
        return
    from jax._src import xla_bridge

    path = _library.library_path()
    xla_bridge.register_plugin(PLATFORM, priority=-10, library_path=path)
    lowering.register(PLATFORM)
    callbacks.register(PLATFORM)
    ffi.register(PLATFORM)
    _initialized = True
    logger.debug("registered %s from %s", PLATFORM, path)
