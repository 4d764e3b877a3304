# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowering rules: Spokeshave takes those of JAX's CPU, and its own where it has one.

JAX keeps a dictionary of rules per platform. Rules for "cpu" may be added at any
time (jax.experimental.sparse adds some when it is imported), so the dictionary
of the new platform looks them up when asked instead of copying them once.
"""

from collections.abc import Callable
from typing import Any


class PlatformRules(dict):
    """Rules of one platform, falling back to those of another."""

    def __init__(self, own: dict, fallback: dict):
        super().__init__(own)
        self._fallback = fallback

    def __contains__(self, primitive: object) -> bool:
        return super().__contains__(primitive) or primitive in self._fallback

    def __missing__(self, primitive: Any) -> Any:
        return self._fallback[primitive]

    def get(self, primitive: Any, default: Any = None) -> Any:
        return self[primitive] if primitive in self else default


def register(platform: str) -> None:
    """Makes JAX's CPU rules those of `platform` too. Idempotent."""
    from jax._src.interpreters import mlir
    from jax._src.lax import lax

    rules = mlir._platform_specific_lowerings
    if not isinstance(rules[platform], PlatformRules):
        rules[platform] = PlatformRules(rules[platform], rules["cpu"])
        # The CPU's rule refuses algorithms that its backend would ignore.
        rules[platform][lax.dot_general_p] = mlir._lowerings[lax.dot_general_p]


def set_rule(primitive: Any, rule: Callable[..., Any], platform: str) -> None:
    """A rule of our own, emitted afresh at each use (callbacks must not be shared)."""
    from jax._src.interpreters import mlir

    mlir.register_lowering(primitive, rule, platform=platform, cacheable=False)
