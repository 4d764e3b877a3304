# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of f32 on the simulated chip by the precision that a program asks for.

The expected numbers are sums of the same products of bf16 parts, in f64.
"""

import json

import test_tpu

PREAMBLE = (
    test_tpu.PREAMBLE
    + """
import json
def narrow(x):
    return np.asarray(jnp.asarray(x, jnp.bfloat16).astype(jnp.float32))
def parts(x):
    list = []
    for _ in range(3):
        list.append(narrow(x))
        x = x - list[-1]
    return [part.astype(np.float64) for part in list]
def product(a, b, order, multiply=np.matmul):
    a, b = parts(a), parts(b)
    return sum(multiply(a[i], b[j]) for i in range(3) for j in range(3) if i + j <= order)
a = rng.standard_normal((70, 300)).astype(np.float32)
b = rng.standard_normal((300, 150)).astype(np.float32)
exact = a.astype(np.float64) @ b.astype(np.float64)
scale = np.abs(a).astype(np.float64) @ np.abs(b)
def far(ours, theirs):
    return float(np.max(np.abs(np.asarray(ours, np.float64) - theirs) / scale))
def ours(function, *args, **options):
    device = jax.devices("spokeshave_tpu")[0]
    lowered = jax.jit(function).lower(*jax.device_put(args, device))
    return np.asarray(lowered.compile(**options)(*args))
"""
)


def run(program: str, **environment: str) -> str:
    return test_tpu.run(program, PREAMBLE, **environment)


def test_each_precision_is_its_products_of_parts():
    program = """
    bounds = {None: 1e-2, lax.Precision.HIGH: 2e-5, lax.Precision.HIGHEST: 3e-7}
    for order, (precision, bound) in enumerate(bounds.items()):
        got = ours(lambda a, b: jnp.dot(a, b, precision=precision), a, b)
        assert far(got, product(a, b, order)) < 2e-7, precision
        assert far(got, exact) < bound, precision
    """
    for chip in "v5e", "v6e":
        run(program, SPOKESHAVE_CHIP=chip)


def test_the_context_and_the_option_say_it_too():
    run("""
    with jax.default_matmul_precision("highest"):
        assert far(ours(jnp.dot, a, b), exact) < 3e-7
    options = {"precision": "highest"}
    assert far(ours(jnp.dot, a, b, compiler_options=options), exact) < 3e-7
    assert far(ours(jnp.dot, a, b), exact) > 1e-4
    """)


def test_options_of_the_chip_and_others():
    """All of docs/options.md reach the chip; what it does not have is an error."""
    run("""
    for options in {"buffers": "1"}, {"spokeshave_row-tiles": "off"}, {"keep": "0", "prefetch": "0"}:
        assert far(ours(jnp.dot, a, b, compiler_options=options), product(a, b, 0)) < 2e-7
    for name, text in (("isa", "No such compile option of the chip"), ("buffers", "from 1 to 8")):
        try:
            ours(jnp.dot, a, b, compiler_options={name: "avx2"})
        except Exception as error:
            assert "SKS-U006" in str(error) and text in str(error), error
        else:
            raise AssertionError(name)
    """)


def test_infinities_meet_only_whole_factors():
    """An infinity times a part that is zero by chance would be no number."""
    run("""
    a[0, 0], a[1, 1], b[2, 0] = np.inf, 3.4e38, -np.inf
    b[0, 1], b[0, 2] = 0.5, 0
    got = ours(lambda a, b: jnp.dot(a, b, precision="highest"), a, b)
    with np.errstate(invalid="ignore", over="ignore"):
        want = a @ b
    # Beyond what bf16 holds a product is an infinity, as in one pass.
    np.testing.assert_array_equal(got[1][np.isfinite(got[1])], [])
    np.testing.assert_array_equal(np.isnan(got[0]), np.isnan(want[0]))
    np.testing.assert_array_equal(got[0][np.isinf(want[0])], want[0][np.isinf(want[0])])
    np.testing.assert_array_equal(got[2:, 0][np.isinf(want[2:, 0])], want[2:, 0][np.isinf(want[2:, 0])])
    np.testing.assert_allclose(got[2:, 1:], want[2:, 1:], rtol=1e-4, atol=1e-4)
    """)


def test_convolutions_complex_numbers_and_gradients():
    run("""
    x = rng.standard_normal((2, 10, 10, 16)).astype(np.float32)
    w = rng.standard_normal((3, 3, 16, 24)).astype(np.float32)
    def convolve(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", precision="highest",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    got, want = both(convolve, x, w)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-5)
    c, d = a[:50, :90] + 1j * a[:50, 90:180], b[:90, :40] + 1j * b[90:180, :40]
    got, _ = both(lambda c, d: jnp.dot(c, d, precision="highest"), c, d)
    np.testing.assert_allclose(got, c.astype(complex) @ d, rtol=1e-5, atol=2e-5)
    def loss(a, b):
        return jnp.sum(jnp.tanh(jnp.dot(a, b, precision="highest") * 0.1))
    got, want = both(jax.grad(loss), a, b)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=5e-6)
    """)


def test_attention_of_more_than_one_pass_is_products():
    run("""
    q, k, v = (rng.standard_normal((1, 64, 2, 32)).astype(np.float32) for _ in range(3))
    def attention(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, precision="highest") * 0.2
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v, precision="highest")
    got, want = both(attention, q, k, v)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=3e-6)
    """)


def test_cycles_are_those_of_the_passes():
    text = run("""
    x = jax.device_put(np.zeros((4096, 4096), np.float32), jax.devices()[0])
    cycles = [jax.jit(lambda x: jnp.dot(x, x, precision=precision)).lower(x).compile()
                 .cost_analysis()["cycles"] for precision in ("default", "high", "highest")]
    print(json.dumps(cycles))
    """)
    one, three, six = json.loads(text.splitlines()[-1])
    # 4096^3 multiply-adds in four units of 128 x 128: 1048576 cycles a pass.
    assert 1048576 < one < 1.2 * 1048576
    assert 2.8 < three / one < 3.3
    assert 5.6 < six / one < 6.6
