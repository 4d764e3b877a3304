# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small Cholesky decompositions and triangular solves, which have kernels of their own.

JAX's rules for the CPU call LAPACK for each matrix. For matrices up to 16 by 16
Spokeshave keeps them as operations of the program: a batch of them becomes one
kernel, with a matrix per lane. Larger ones go to LAPACK as on the stock CPU.
"""

from collections.abc import Callable
from typing import Any

# What kernel/LowerDecomposition.cpp unrolls.
_LARGEST = 16


def _rule_of(entry: Any) -> Callable[..., Any]:
    """The function of a rule; newer releases of JAX wrap it."""
    return getattr(entry, "rule", entry)


def _mask_failures(factor: Any) -> Any:
    """All NaN where a matrix was not positive definite, as LAPACK's caller has it.

    A pivot that is not positive makes each later one NaN, so the last one tells.
    """
    import jax.numpy as jnp

    return jnp.where(factor[..., -1:, -1:].real > 0, factor, jnp.nan)


def register(platform: str) -> None:
    """Registers the rules with JAX. Idempotent."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    def choose(primitive: Any, small: Callable[..., Any]) -> None:
        large = _rule_of(mlir._platform_specific_lowerings["cpu"][primitive])

        def rule(ctx, matrix, *others, **parameters):
            fits = 0 < ctx.avals_in[0].shape[-1] <= _LARGEST
            return (small if fits else large)(ctx, matrix, *others, **parameters)

        mlir.register_lowering(primitive, rule, platform=platform)

    plain_cholesky = _rule_of(mlir._lowerings[linalg.cholesky_p])
    mask = mlir.lower_fun(_mask_failures, multiple_results=False)

    def small_cholesky(ctx, matrix, **parameters):
        factor = plain_cholesky(ctx, matrix, **parameters)
        return mask(ctx.replace(avals_in=ctx.avals_out, primitive=None), *factor)

    choose(linalg.cholesky_p, small_cholesky)
    choose(linalg.triangular_solve_p, _rule_of(mlir._lowerings[linalg.triangular_solve_p]))
