# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions on the simulated chip, which has no library: blocks, products, loops."""

import test_tpu

PREAMBLE = (
    test_tpu.PREAMBLE
    + """
from jax.scipy.linalg import solve_triangular
chip = jax.devices("spokeshave_tpu")[0]
def on_chip(function, *args):
    with jax.default_device(chip):
        return jax.tree.map(np.asarray, jax.jit(function)(*jax.device_put(args, chip)))
def normal(*shape, complex=False):
    x = rng.standard_normal(shape).astype(np.float32)
    return (x + 1j * rng.standard_normal(shape)).astype(np.complex64) if complex else x
def positive(n, *batch, complex=False):
    x = normal(*batch, n, n, complex=complex)
    return x @ np.swapaxes(x.conj(), -1, -2) + n * np.eye(n, dtype=x.dtype)
def adjoint(x):
    return np.swapaxes(x.conj(), -1, -2)
def close(ours, theirs, bound):
    far = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30)
    assert far < bound, far
"""
)


def run(program: str) -> str:
    return test_tpu.run(program, PREAMBLE)


def test_cholesky():
    run("""
    for a in positive(40), positive(33, 3), positive(300), positive(48, complex=True):
        l = on_chip(jnp.linalg.cholesky, a)
        assert np.all(np.triu(l, 1) == 0)
        close(l @ adjoint(l), a, 2e-6)
    u = on_chip(lambda a: jax.scipy.linalg.cholesky(a, lower=False), positive(50))
    assert np.all(np.tril(u, -1) == 0)
    """)


def test_triangular_solves():
    run("""
    a, b = normal(50, 50) + 20 * np.eye(50, dtype=np.float32), normal(50, 7)
    for lower in False, True:
        for trans in "N", "T":
            for unit in False, True:
                scaled = a / 20 if unit else a
                x = on_chip(lambda a, b: solve_triangular(a, b, lower=lower, trans=trans,
                                                          unit_diagonal=unit), scaled, b)
                m = np.tril(scaled) if lower else np.triu(scaled)
                if unit:
                    m = m - np.diag(np.diag(m)) + np.eye(50)
                close((m.T if trans == "T" else m) @ x, b, 2e-5)
    c, d = normal(2, 40, 40, complex=True) + 9 * np.eye(40), normal(2, 5, 40, complex=True)
    for conjugate in False, True:
        x = on_chip(lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=False, lower=True, transpose_a=conjugate, conjugate_a=conjugate),
            c.astype(np.complex64), d)
        m = np.tril(c)
        close(x @ (adjoint(m) if conjugate else m), d, 2e-5)
    """)


def test_systems_and_qr():
    run("""
    a, b = normal(60, 60), normal(60, 3)
    close(on_chip(jnp.linalg.solve, a, b), np.linalg.solve(a.astype(float), b), 1e-3)
    a = positive(40)
    close(on_chip(jnp.linalg.inv, a) @ a, np.eye(40), 1e-5)
    for a in normal(40, 20), normal(20, 30), normal(2, 18, 18), normal(24, 20, complex=True):
        q, r = on_chip(jnp.linalg.qr, a)
        close(q @ r, a, 3e-6)
        close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2), 3e-6)
        assert np.all(np.tril(r, -1) == 0)
    """)


def test_eigenvalues_and_singular_values():
    run("""
    a = normal(24, 24)
    a = a + a.T
    w, v = on_chip(jnp.linalg.eigh, a)
    close(w, np.linalg.eigvalsh(a.astype(float)), 1e-5)
    close((v * w) @ v.T, a, 2e-5)
    a = normal(20, 12)
    u, s, vh = on_chip(lambda a: jnp.linalg.svd(a, full_matrices=False), a)
    close(s, np.linalg.svd(a.astype(float), compute_uv=False), 1e-5)
    close((u * s) @ vh, a, 2e-5)
    """)


def test_eigenvalues_of_any_scale():
    run("""
    a = normal(8, 8)
    a += adjoint(a)
    for scale in (1e-25, 1e21):
        w, v = on_chip(jnp.linalg.eigh, (a * scale).astype(np.float32))
        close(w / scale, np.linalg.eigvalsh(a.astype(np.float64)), 2e-6)
        close(v @ np.diag(w / scale) @ adjoint(v), a, 5e-6)
    w, v = on_chip(jnp.linalg.eigh, np.zeros((5, 5), np.float32))
    assert not w.any() and np.isfinite(v).all()
    a[2, 3] = a[3, 2] = np.nan
    assert all(np.isnan(x).all() for x in on_chip(jnp.linalg.eigh, a))
    """)
