# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of the simulated chip, which has no library of decompositions.

Its rules are JAX's defaults, which take LU, SVD and the solves apart. This module
adds QR by Householder's reflections, as LAPACK keeps them, and JAX's own eigenvalues
for TPUs, which are registered for one platform alone.
"""

from typing import Any


def _reflection(column: Any, j: Any) -> tuple[Any, Any, Any]:
    """v, tau and beta such that (1 - conj(tau) v v^H) column is beta in row j and
    zero below, with v zero above row j and one in it."""
    import jax.numpy as jnp
    from jax import lax

    rows = jnp.arange(column.shape[0])
    at = lax.dynamic_index_in_dim(column, j, keepdims=False)
    below = jnp.where(rows > j, column, 0)
    # Squares of large and of small numbers have no place in f32.
    scale = jnp.maximum(jnp.max(jnp.abs(below)), jnp.abs(at))
    scale = jnp.where(scale > 0, scale, 1)
    length = scale * jnp.sqrt(jnp.sum(jnp.abs(below / scale) ** 2) + jnp.abs(at / scale) ** 2)
    beta = jnp.where(at.real >= 0, -length, length).astype(column.dtype)
    is_done = ~jnp.any(below != 0) & (at.imag == 0)
    beta = jnp.where(is_done, at, beta)
    tau = jnp.where(is_done, 0, (beta - at) / jnp.where(is_done, 1, beta))
    v = below / jnp.where(is_done, 1, at - beta)
    return jnp.where(rows == j, 1, v), tau, beta


def _reflected(matrix: Any, v: Any, tau: Any) -> Any:
    """(1 - tau v v^H) matrix. Sums on the vector unit are those of f32."""
    import jax.numpy as jnp

    along = jnp.sum(jnp.conj(v)[:, None] * matrix, axis=0)
    return matrix - tau * v[:, None] * along[None, :]


def _factor(matrix: Any) -> tuple[Any, Any]:
    """R above and on the diagonal, the reflections' vectors below it, and their taus."""
    import jax.numpy as jnp
    from jax import lax

    m, n = matrix.shape
    rows, columns = jnp.arange(m), jnp.arange(n)

    def step(j, state):
        matrix, taus = state
        column = lax.dynamic_index_in_dim(matrix, j, axis=1, keepdims=False)
        v, tau, beta = _reflection(column, j)
        rest = _reflected(matrix, v, jnp.conj(tau))
        column = jnp.where(rows > j, v, jnp.where(rows == j, beta, column))
        matrix = jnp.where(columns > j, rest, jnp.where(columns == j, column[:, None], matrix))
        return matrix, taus.at[j].set(tau)

    taus = jnp.zeros(min(m, n), matrix.dtype)
    return lax.fori_loop(0, min(m, n), step, (matrix, taus))


def _orthogonal(vectors: Any, taus: Any) -> Any:
    """The first columns of the product of the reflections."""
    import jax.numpy as jnp
    from jax import lax

    m, n = vectors.shape
    rows, count = jnp.arange(m), taus.shape[0]

    def step(i, q):
        j = count - 1 - i
        column = lax.dynamic_index_in_dim(vectors, j, axis=1, keepdims=False)
        v = jnp.where(rows > j, column, jnp.where(rows == j, 1, 0).astype(column.dtype))
        return _reflected(q, v, taus[j])

    return lax.fori_loop(0, count, step, jnp.eye(m, n, dtype=vectors.dtype))


def register(platform: str) -> None:
    """Registers the rules with JAX. Idempotent."""
    import jax
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    def batched(function):
        def apply(matrix, *others):
            mapped = function
            for _ in range(matrix.ndim - 2):
                mapped = jax.vmap(mapped)
            return mapped(matrix, *others)

        return apply

    for primitive, function, is_tuple in (
        (linalg.geqrf_p, _factor, True),
        (linalg.householder_product_p, _orthogonal, False),
    ):
        rule = mlir.lower_fun(batched(function), multiple_results=is_tuple)
        mlir.register_lowering(primitive, rule, platform=platform)

    def eigenvalues(ctx, operand, **parameters):
        from jax._src.tpu.linalg import eigh  # noqa: F401  registers the rule

        rule = mlir._platform_specific_lowerings["tpu"][linalg.eigh_p]
        return getattr(rule, "rule", rule)(ctx, operand, **parameters)

    mlir.register_lowering(linalg.eigh_p, eigenvalues, platform=platform)
