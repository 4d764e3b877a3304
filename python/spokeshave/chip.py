# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of the simulated chip, which has no library of decompositions.

Its rules are JAX's defaults, which take LU, SVD and the solves apart. This module
adds QR by Householder's reflections, as LAPACK keeps them, and eigenvalues by Jacobi's
method. Larger Hermitian matrices are divided by JAX's own rule for TPUs, which is
registered for one platform alone.
"""

import functools
from typing import Any

# JAX's division goes on down to this size, too.
_LARGEST_JACOBI = 256


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


def _rotations(left: Any, right: Any, lower: Any) -> tuple[Any, ...]:
    """For 2 x 2 matrices [[left, right], [., lower]]: c, s, and the eigenvalues."""
    import jax.numpy as jnp

    size = jnp.abs(right)
    is_done = size == 0
    safe = jnp.where(is_done, 1, size)
    tau = (lower - left).real / (2 * safe)
    t = jnp.where(tau >= 0, 1, -1) / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau))
    t = jnp.where(is_done, 0, t)
    c = 1 / jnp.sqrt(1 + t * t)
    return c, t * c * right / safe, left.real - t * size, lower.real + t * size


def _next_pairs(top: Any, bottom: Any, axis: int) -> tuple[Any, Any]:
    """All but the first go around: in n - 1 steps each meets every other one."""
    import jax.numpy as jnp
    from jax import lax

    half = top.shape[axis]
    if half == 1:
        return top, bottom
    part = lambda x, begin, end: lax.slice_in_dim(x, begin, end, axis=axis)  # noqa: E731
    first, rest = part(top, 0, 1), part(top, 1, half - 1)
    above = jnp.concatenate([first, part(bottom, 0, 1), rest], axis)
    below = jnp.concatenate([part(bottom, 1, half), part(top, half - 1, half)], axis)
    return above, below


def _jacobi_step(blocks: tuple[Any, ...], vectors: tuple[Any, ...]) -> tuple[Any, Any]:
    """Rotates row and column i of the upper half with those of the lower one, all i."""
    import jax.numpy as jnp

    tl, tr, bl, br = blocks
    diagonal = jnp.eye(tl.shape[0], dtype=bool)
    c, s, first, second = _rotations(jnp.diagonal(tl), jnp.diagonal(tr), jnp.diagonal(br))
    c = c.astype(tl.dtype)

    def rows(top, bottom):
        a, b = c[:, None], s[:, None]
        return a * top - b * bottom, jnp.conj(b) * top + a * bottom

    def columns(left, right):
        return c * left - jnp.conj(s) * right, s * left + c * right

    (tl, bl), (tr, br), vectors = rows(tl, bl), rows(tr, br), rows(*vectors)
    (tl, tr), (bl, br) = columns(tl, tr), columns(bl, br)
    # What is known is set, so that rounding does not pile up there.
    tl, br = (
        jnp.where(diagonal, x[:, None].astype(tl.dtype), y) for x, y in ((first, tl), (second, br))
    )
    tr, bl = jnp.where(diagonal, 0, tr), jnp.where(diagonal, 0, bl)
    (tl, bl), (tr, br) = _next_pairs(tl, bl, 0), _next_pairs(tr, br, 0)
    (tl, tr), (bl, br) = _next_pairs(tl, tr, 1), _next_pairs(bl, br, 1)
    return (tl, tr, bl, br), _next_pairs(*vectors, 0)


def _jacobi(matrix: Any) -> tuple[Any, Any]:
    """Eigenvectors and ascending eigenvalues of a Hermitian matrix. All are NaN where an
    element is not finite."""
    import jax.numpy as jnp

    # Squares of large and of small numbers have no place in f32.
    largest = jnp.max(jnp.abs(matrix), initial=0)
    is_finite = jnp.isfinite(largest)
    scale = jnp.where((largest > 0) & is_finite, largest, 1)
    vectors, values = _jacobi_of_scaled(matrix / scale)
    nan = jnp.where(is_finite, 0, jnp.nan).astype(values.dtype)
    return vectors + nan, values * scale + nan


def _jacobi_of_scaled(matrix: Any) -> tuple[Any, Any]:
    """As _jacobi, of elements within 1.

    Jacobi's method with n / 2 rotations at once (R. P. Brent and F. T. Luk, 1985).
    """
    import jax.numpy as jnp
    from jax import lax

    n = matrix.shape[0]
    even, real = n + n % 2, jnp.finfo(matrix.dtype).dtype
    half, norm = even // 2, jnp.sqrt(jnp.sum(jnp.abs(matrix) ** 2))
    if even > n:  # an eigenvalue above all others, which nothing turns
        matrix = jnp.pad(matrix, (0, 1)).at[n, n].set(2 * norm.astype(matrix.dtype) + 1)
    split = lambda x: (x[:half, :half], x[:half, half:], x[half:, :half], x[half:, half:])  # noqa: E731
    unit = jnp.eye(even, dtype=matrix.dtype)

    def is_off(state):
        sweep, (tl, tr, bl, br), _ = state
        off = sum(jnp.sum(jnp.abs(x) ** 2) for x in (tr, bl))
        off += sum(jnp.sum(jnp.abs(x - jnp.diag(jnp.diagonal(x))) ** 2) for x in (tl, br))
        return (sweep < 15) & (jnp.sqrt(off) > jnp.finfo(real).eps * norm)

    def sweep(state):
        number, blocks, vectors = state
        blocks, vectors = lax.fori_loop(
            0, even - 1, lambda _, two: _jacobi_step(*two), (blocks, vectors)
        )
        return number + 1, blocks, vectors

    start = (0, split(matrix), (unit[:half], unit[half:]))
    _, (tl, _, _, br), vectors = lax.while_loop(is_off, sweep, start)
    values = jnp.concatenate([jnp.diagonal(tl), jnp.diagonal(br)]).real
    order = jnp.argsort(values)[:n]
    rows = jnp.concatenate(vectors)[order, :n]
    return jnp.conj(rows.T), values[order]


def _eigenvalues(matrix: Any, *, lower: bool, subset_by_index: Any) -> tuple[Any, Any]:
    import jax.numpy as jnp

    n = matrix.shape[0]
    half = jnp.tril(matrix) if lower else jnp.conj(jnp.triu(matrix).T)
    strict = jnp.where(jnp.eye(n, dtype=bool), 0, half)
    diagonal = jnp.where(jnp.eye(n, dtype=bool), half.real, 0).astype(matrix.dtype)
    vectors, values = _jacobi(strict + jnp.conj(strict.T) + diagonal)
    begin, end = subset_by_index or (0, n)
    return vectors[:, begin:end], values[begin:end]


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

    def eigenvalues(ctx, operand, *, lower, subset_by_index=None, **parameters):
        n = ctx.avals_in[0].shape[-1]
        if 0 < n <= _LARGEST_JACOBI:
            function = functools.partial(_eigenvalues, lower=lower, subset_by_index=subset_by_index)
            rule = mlir.lower_fun(batched(function), multiple_results=True)
            return rule(ctx, operand)
        from jax._src.tpu.linalg import eigh  # noqa: F401  registers the rule

        rule = mlir._platform_specific_lowerings["tpu"][linalg.eigh_p]
        rule = getattr(rule, "rule", rule)
        return rule(ctx, operand, lower=lower, subset_by_index=subset_by_index, **parameters)

    mlir.register_lowering(linalg.eigh_p, eigenvalues, platform=platform)
