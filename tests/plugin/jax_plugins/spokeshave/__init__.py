# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets JAX find the plugin in a source tree: put tests/plugin and python on PYTHONPATH."""

from spokeshave.jax_plugin import initialize

__all__ = ["initialize"]
