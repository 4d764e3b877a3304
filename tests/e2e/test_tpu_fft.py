# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms on the simulated chip, against NumPy's in f64."""

import test_tpu

PREAMBLE = (
    test_tpu.PREAMBLE
    + """
def check(name, x, epsilon, **options):
    got, _ = both(lambda x: getattr(jnp.fft, name)(x, **options), x)
    want = getattr(np.fft, name)(x.astype(np.complex128 if np.iscomplexobj(x) else np.float64), **options)
    assert got.shape == want.shape
    # In units of the last place of the largest number, and of the steps of a transform.
    steps = max(1, np.log2(x.shape[-1]))
    far = np.abs(got - want).max() / np.abs(want).max() / epsilon / steps
    assert far < 4, (name, x.shape, far)
def normal(*shape):
    return rng.standard_normal(shape)
def complexes(*shape):
    return normal(*shape) + 1j * normal(*shape)
"""
)


def run(program: str, **environment: str) -> str:
    return test_tpu.run(program, PREAMBLE, **environment)


def test_lengths_of_all_kinds():
    """One product, two steps, three steps, primes below and above one product."""
    run("""
    for n in 1, 7, 100, 256, 360, 509:
        check("ifft", complexes(3, n).astype(np.complex64), 6e-8)
        check("rfft", normal(3, n).astype(np.float32), 6e-8)
        check("irfft", complexes(3, n // 2 + 1).astype(np.complex64), 6e-8, n=n)
    for n in 2, 251, 257, 514, 1000, 4096:
        check("fft", complexes(3, n).astype(np.complex64), 6e-8)
    check("fft", complexes(1, 131072).astype(np.complex64), 6e-8)
    """)


def test_several_dimensions_and_axes():
    run("""
    check("fft2", complexes(2, 24, 30).astype(np.complex64), 6e-8)
    check("ifftn", complexes(4, 6, 10).astype(np.complex64), 6e-8)
    check("rfftn", normal(2, 12, 10, 9).astype(np.float32), 6e-8, axes=(1, 2, 3))
    check("irfft2", complexes(3, 8, 9).astype(np.complex64), 6e-8)
    check("fft", complexes(20, 40).astype(np.complex64), 6e-8, axis=0)
    """)


def test_doubles():
    run(
        """
    for n in 12, 60, 97, 300:
        check("fft", complexes(2, n), 1.2e-16)
        check("rfft", normal(2, n), 1.2e-16)
        check("irfft", complexes(2, n // 2 + 1), 1.2e-16, n=n)
    """,
        JAX_ENABLE_X64="1",
    )


def test_in_programs():
    """A convolution by transforms, and the gradient through them."""
    run("""
    x, w = normal(4, 128).astype(np.float32), normal(128).astype(np.float32)
    def convolve(x, w):
        return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(w), n=128)
    def loss(x, w):
        return jnp.sum(convolve(x, w) ** 2)
    for function in convolve, jax.grad(loss):
        got, want = both(function, x, w)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    """)
