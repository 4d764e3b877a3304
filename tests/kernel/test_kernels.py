"""Kernel forms, one fusion at a time, against JAX on its own CPU platform."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from harness import run
from jax import lax

R = np.random.RandomState(0)
CASES = []


def f(*shape):
    return R.randn(*shape).astype(np.float32)


def ints(low, high, *shape, dtype=np.int32):
    return R.randint(low, high, shape).astype(dtype)


def t(name, function, *arguments, kind="loop", exact=None, rtol=2e-5, atol=1e-4):
    """Loops are compared bit by bit unless they contract a product into a sum."""
    exact = kind == "loop" if exact is None else exact
    CASES.append(pytest.param(function, arguments, kind, exact, rtol, atol, id=f"{kind}-{name}"))


def sums(x, *dims):
    return lax.reduce(x, np.array(0, x.dtype), lax.add, dims)


def maxima(x, *dims):
    low = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return lax.reduce(x, np.array(low, x.dtype), lax.max, dims)


def softmax(x):
    e = jnp.exp(x - jnp.max(x, -1, keepdims=True))
    return e / jnp.sum(e, -1, keepdims=True)


def layer_norm(x, g, b):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b


def log_softmax(x):
    m = jnp.max(x, -1, keepdims=True)
    return x - m - jnp.log(jnp.sum(jnp.exp(x - m), -1, keepdims=True)), m


def chain(x):
    for _ in range(60):
        x = x * 1.01 + x[::-1] * 0.1
    return x


def at(x, *i):
    return jnp.asarray(x).at[i].get(mode="clip") * 1


def along(x, i):
    numbers = lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
    return lax.gather(x, i[..., None], numbers, (1, 1), mode="clip") * 1


t("transpose", lambda x: x.T + 0, f(33, 47))
t("transpose3", lambda x: x.transpose(2, 0, 1) + 0, f(5, 17, 19))
t("bcast_row", lambda x, b: x + b, f(33, 47), f(47))
t("bcast_row48", lambda x, b: x + b, f(33, 48), f(48))
t("bcast_col", lambda x, b: x + b[:, None], f(33, 47), f(33))
t("bcast_3", lambda x, b: x + b, f(133, 3), f(3))
t("bcast_mid", lambda x, b: x + b[:, None, :], f(5, 6, 50), f(5, 50))
t("reshape", lambda x, b: (x.reshape(6, 50) + b).reshape(300), f(15, 20), f(50))
t("reshape2", lambda x: x.reshape(4, 6, 10).transpose(1, 0, 2).reshape(24, 10) * 2, f(24, 10))
t("heads", lambda x: x.reshape(2, 7, 4, 32).transpose(0, 2, 1, 3) * 2, f(14, 128))
t("slice", lambda x: x[3:30:2, 5:40] * 1, f(33, 47))
t("slice_strided", lambda x: x[:, 1::3] * 1, f(33, 47))
t("reverse", lambda x: x[::-1, ::-1] * 1, f(33, 47))
t("rev1", lambda x: x + x[::-1] * 0.5, f(470), exact=False)
t("pad", lambda x: jnp.pad(x, ((1, 2), (3, 4)), constant_values=7) * 1, f(13, 27))
t("pad_interior", lambda x: lax.pad(x, np.float32(2), ((1, 2, 1), (-1, 4, 2))) * 1, f(13, 27))
t("pad_neg", lambda x: lax.pad(x, np.float32(2), ((-1, -2, 0), (-3, -4, 0))) * 1, f(13, 27))
t("concat0", lambda x, y: jnp.concatenate([x, y, x]) * 1, f(5, 27), f(3, 27))
t("concat1", lambda x, y: jnp.concatenate([x, y, x], 1) * 1, f(5, 27), f(5, 20))
t("roll", lambda x: jnp.roll(x, 5) * 1, f(100))
t(
    "rot_half",
    lambda x, c: x * c + jnp.concatenate([-x[..., 16:], x[..., :16]], -1) * 1,
    f(3, 5, 32),
    f(32),
    exact=False,
)
t(
    "iota",
    lambda x: (
        x
        + lax.broadcasted_iota(jnp.float32, (13, 27), 1)
        + lax.broadcasted_iota(jnp.float32, (13, 27), 0) * 100
    ),
    f(13, 27),
    exact=False,
)
t("iota_i", lambda x: x + lax.broadcasted_iota(jnp.int32, (13, 27), 1), ints(0, 9, 13, 27))
t(
    "dslice",
    lambda x, i, j: lax.dynamic_slice(x, (i, j), (5, 20)) * 1,
    f(13, 27),
    np.int32(3),
    np.int32(100),
)
t(
    "dslice_neg",
    lambda x, i, j: lax.dynamic_slice(x, (i, j), (5, 20)) * 1,
    f(13, 27),
    np.int64(-3),
    np.int64(2),
)
t(
    "dus",
    lambda x, y, i, j: lax.dynamic_update_slice(x, y, (i, j)) * 1,
    f(13, 47),
    f(4, 20),
    np.int32(3),
    np.int32(10),
)
t("gather_rows", at, f(13, 47), R.randint(-3, 20, (7,)).astype(np.int32))
t("gather_el", at, f(1300), R.randint(-3, 1400, (77,)).astype(np.int32))
t(
    "gather_2",
    at,
    f(13, 47),
    R.randint(0, 13, (77,)).astype(np.int32),
    R.randint(0, 47, (77,)).astype(np.int32),
)
t("take_along", along, f(13, 47), ints(0, 47, 13, 9))
t("scalar", lambda x: x * 2, np.float32(3))
t("multi", lambda x, y: (x * y, x - y, (x > y)), f(13, 47), f(13, 47))
t("const_table", lambda x: x * np.arange(47, dtype=np.float32), f(13, 47))
t("bool", lambda x, y: jnp.where(x, y, -y), f(13, 47) > 0, f(13, 47))
t(
    "bf16",
    lambda x, y: x * y + x,
    f(13, 47).astype(ml_dtypes.bfloat16),
    f(13, 47).astype(ml_dtypes.bfloat16),
)
t("f16", lambda x, y: x * y + x, f(13, 47).astype(np.float16), f(13, 47).astype(np.float16))
t("empty", lambda x: x + 1, f(0, 4))
t("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int8), f(13, 4))
t("bitcast_same", lambda x: lax.bitcast_convert_type(x * 2, jnp.int32), f(13, 4))
t("bitcast_back", lambda x: lax.bitcast_convert_type(x + 1, jnp.float32), ints(0, 2**30, 13, 4))
t(
    "bitcast2",
    lambda x: lax.bitcast_convert_type(x, jnp.int32),
    R.randint(-128, 127, (13, 5, 4)).astype(np.int8),
)
t("bitcast3", lambda x: lax.bitcast_convert_type(x, jnp.uint32), f(13, 4))
t("chain", chain, f(200), exact=False, rtol=1e-3)
t("row", lambda x: sums(x, 1), f(33, 47), kind="reduce")
t("row_big", lambda x: sums(x, 1), f(3, 100000), kind="reduce")
t("row_128", lambda x: sums(x, 1), f(300, 128), kind="reduce")
t("col", lambda x: sums(x, 0), f(33, 47), kind="reduce")
t("col_long", lambda x: sums(x, 0), f(5000, 70), kind="reduce")
t("col_wide", lambda x: sums(x, 0), f(50, 7000), kind="reduce")
t("col3", lambda x: sums(x, 0), f(5000, 3), kind="reduce")
t("full", lambda x: sums(x, 0, 1), f(333, 47), kind="reduce")
t("full_big", lambda x: sums(x, 0), f(1000000), kind="reduce")
t("mid", lambda x: sums(x, 1), f(13, 21, 47), kind="reduce")
t("mixed", lambda x: sums(x, 0, 2), f(13, 21, 47), kind="reduce")
t("mixed2", lambda x: sums(x, 0, 2), f(13, 21, 4, 7), kind="reduce")
t("mixed3", lambda x: sums(x, 1, 3), f(13, 5, 4, 70), kind="reduce")
t("tiny_rows", lambda x: sums(x, 1), f(1300, 3), kind="reduce")
t("max", lambda x: maxima(x, 1), f(33, 47), exact=True, kind="reduce")
t("max_int", lambda x: maxima(x, 1), R.randint(-99, 99, (33, 47)).astype(np.int32), kind="reduce")
t(
    "and",
    lambda x: lax.reduce(x, np.array(True), lax.bitwise_and, (0,)),
    f(33, 47) > -2,
    kind="reduce",
)
t(
    "or",
    lambda x: lax.reduce(x, np.array(False), lax.bitwise_or, (1,)),
    f(33, 47) > 2,
    kind="reduce",
)
t("prod", lambda x: lax.reduce(x, np.float32(1), lax.mul, (1,)), f(33, 4), kind="reduce")
t("i8", lambda x: sums(x, 1), R.randint(-99, 99, (33, 470)).astype(np.int8), kind="reduce")
t("f64", lambda x: sums(x, 1), R.randn(33, 470), kind="reduce")
t("c64", lambda x: sums(x, 1), (f(33, 470) + 1j * f(33, 470)).astype(np.complex64), kind="reduce")
t("argmax", lambda x: lax.argmax(x, 1, np.int32), f(33, 470), exact=True, kind="reduce")
t("argmax0", lambda x: lax.argmax(x, 0, np.int32), f(33, 470), exact=True, kind="reduce")
t(
    "argmin_nan",
    lambda x: lax.argmin(x, 1, np.int32),
    np.where(f(33, 470) > 2.5, np.nan, f(33, 470)).astype(np.float32),
    exact=True,
    kind="reduce",
)
t("producer", lambda x, y: sums(lax.exp(x) * y, 1), f(33, 470), f(33, 470), kind="reduce")
t("epilogue", lambda x, y: (sums(x, 1) * 2 + y, maxima(x, 1)), f(33, 470), f(33), kind="reduce")
t(
    "epilogue_col",
    lambda x, y: (sums(x, 0) * 2 + y, maxima(x, 0)),
    f(33, 470),
    f(470),
    kind="reduce",
)
t(
    "bf16sum",
    lambda x: lax.convert_element_type(
        sums(lax.convert_element_type(x, np.float32), 1), ml_dtypes.bfloat16
    ),
    f(33, 470).astype(ml_dtypes.bfloat16),
    rtol=1e-2,
    kind="reduce",
)
t("transposed", lambda x: sums(x.T, 1), f(330, 47), kind="reduce")
t("row_groups", lambda x: (sums(x, 1), maxima(x, 1) + 1), f(77, 1003), kind="reduce")
t("row_groups_3d", lambda x, y: sums(x, 2) - y, f(5, 9, 130), f(5, 9), kind="reduce")
t("row_groups_i8", lambda x: maxima(x, 1), ints(-99, 99, 41, 999, dtype=np.int8), kind="reduce")
t("empty_r", lambda x: sums(x, 1), f(5, 0), kind="reduce")
t("bcast_in", lambda x, b: sums(x * b[:, None, :], 1, 2), f(6, 7, 50), f(6, 50), kind="reduce")
# products: of matrices and a few vectors, and of transposed matrices
t("matvec", lambda a, x: a @ x, f(133, 77), f(77), kind="dot")
t("matvec_short", lambda a, x: a @ x, f(33, 3), f(3), kind="dot")
t("matvec_few_rows", lambda a, x: a @ x, f(3, 1000), f(1000), kind="dot")
t("matvec_exp", lambda a, x, y: jnp.exp(-jnp.abs(a @ x)) + y, f(500, 20), f(20), f(500), kind="dot")
t("matvec_computed", lambda a, x: (a * 2) @ (x - 1), f(77, 130), f(130), kind="dot")
t("matvec_t", lambda a, x: a.T @ x, f(130, 77), f(130), kind="dot")
t("vecmat", lambda a, x: x @ a, f(130, 77), f(130), kind="dot")
t("vecmat_t", lambda a, x: x @ a.T, f(77, 130), f(130), kind="dot")
t("matvec_3", lambda a, x: a @ x, f(61, 99), f(99, 3), kind="dot")
t("matvec_8", lambda a, x: a @ x, f(61, 99), f(99, 8), kind="dot")
t("matvec_3t", lambda a, x: x.T @ a.T, f(61, 99), f(99, 3), kind="dot")
t("matvec_f64", lambda a, x: a @ x, R.randn(45, 67), R.randn(67), kind="dot")
t(
    "matvec_bf16",
    lambda a, x: a @ x,
    f(45, 67).astype(ml_dtypes.bfloat16),
    f(67).astype(ml_dtypes.bfloat16),
    kind="dot",
    rtol=2e-2,
    atol=2e-1,
)
t(
    "matvec_int",
    lambda a, x: a @ x,
    ints(-99, 99, 45, 67),
    ints(-99, 99, 67),
    kind="dot",
    exact=True,
)
t(
    "matvec_i8",
    lambda a, x: lax.dot(a, x, preferred_element_type=np.int32),
    ints(-99, 99, 45, 67, dtype=np.int8),
    ints(-99, 99, 67, dtype=np.int8),
    kind="dot",
    exact=True,
)
t("matvec_batch", lambda a, x: jnp.einsum("bij,bj->bi", a, x), f(7, 19, 37), f(7, 37), kind="dot")
t("streams", lambda a, x: x @ a + 1, f(130, 777), f(130), kind="dot")
t("streams_t", lambda a, x: a.T @ x, f(300, 512), f(300), kind="dot")
t("streams_3", lambda a, x: x @ a, f(130, 600), f(3, 130), kind="dot")
t("streams_8", lambda a, x: (x * 2) @ a, f(130, 600), f(8, 130), kind="dot")
t("streams_f64", lambda a, x: x @ a, R.randn(130, 513), R.randn(130), kind="dot")
t("streams_int", lambda a, x: x @ a, ints(-99, 99, 130, 600), ints(-99, 99, 130), kind="dot")
t("streams_batch", lambda a, x: jnp.einsum("bi,bij->bj", x, a), f(3, 80, 900), f(3, 80), kind="dot")
t(
    "streams_bf16",
    lambda a, x: lax.dot(x, a, preferred_element_type=np.float32),
    f(130, 1100).astype(ml_dtypes.bfloat16),
    f(2, 130).astype(ml_dtypes.bfloat16),
    kind="dot",
    rtol=1e-3,
    atol=1e-2,
)
t("inner", lambda x, y: x @ y, f(1001), f(1001), kind="dot")
t("tall_t", lambda a, b: a.T @ b, f(70, 200), f(70, 65), kind="dot")
t("tall_t_computed", lambda a, b: lax.max(a, 0 * a).T @ b, f(70, 200), f(70, 129), kind="dot")
t("tall_t_wide", lambda a, b: a.T @ b, f(33, 256), f(33, 1024), kind="dot")
t(
    "tall_t_c64",
    lambda a, b: a.T @ b,
    (f(30, 40) + 1j * f(30, 40)).astype(np.complex64),
    (f(30, 20) - 1j * f(30, 20)).astype(np.complex64),
    kind="dot",
)

t("softmax", softmax, f(33, 47), kind="rows")
t("softmax_n", softmax, f(33, 5), kind="rows")
t("softmax4", softmax, f(2, 3, 16, 128), kind="rows")
t("softmax_big", softmax, f(3, 20000), kind="rows")
t("layernorm", layer_norm, f(33, 384), f(384), f(384), kind="rows")
t(
    "lse",
    lambda x: jnp.log(jnp.sum(jnp.exp(x - jnp.max(x, -1, keepdims=True)), -1)) + jnp.max(x, -1),
    f(33, 384),
    kind="rows",
)
t(
    "masked_softmax",
    lambda x, m: softmax(jnp.where(m[:, None, None, :], x, -1e9)),
    f(2, 3, 16, 50),
    f(2, 50) > 0,
    kind="rows",
)
t("log_softmax", log_softmax, f(33, 384), kind="rows")
t("transpose_a", lambda x: x.T + 0, f(33, 47))
t("transposeb", lambda x: x.T + 0, f(133, 147))
t("transposec", lambda x, y: x.T + y, f(133, 147), f(147, 133))
t("transpose_d", lambda x: x.transpose(2, 0, 1) + 0, f(35, 17, 19))
t("heads_b", lambda x: x.reshape(2, 7, 4, 32).transpose(0, 2, 3, 1) * 2, f(14, 128))
t("headsTb", lambda x: x.reshape(2, 37, 4, 32).transpose(0, 2, 3, 1) * 2, f(74, 128))
t("nhwc", lambda x: x.transpose(0, 3, 1, 2) * 2, f(2, 9, 9, 33))
t("i8_t", lambda x: x.T + np.int8(1), R.randint(-99, 99, (133, 147)).astype(np.int8))
t("bf16_t", lambda x: x.T * x.T, f(133, 147).astype(ml_dtypes.bfloat16))
t("slice_t", lambda x: x[3:, 1:].T * 1, f(133, 147))
t("pad_t", lambda x: lax.pad(x.T, np.float32(1), ((1, 2, 0), (3, 4, 0))) * 1, f(133, 147))
t("bcast_t", lambda x, b: x.T + b, f(133, 147), f(133))
t(
    "dus",
    lambda x, y, i, j: lax.dynamic_update_slice(x, y * 2, (i, j)),
    f(13, 47),
    f(4, 20),
    np.int32(30),
    np.int32(10),
    kind="update",
)
t(
    "dus_rows",
    lambda x, y, i: lax.dynamic_update_slice(x, y * 2, (i, np.int32(0))),
    f(130, 47),
    f(40, 47),
    np.int32(3),
    kind="update",
)


@pytest.mark.parametrize("isa", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("function, arguments, kind, exact, rtol, atol", CASES)
def test_kernel(function, arguments, kind, exact, rtol, atol, isa):
    want = [np.asarray(a) for a in jax.tree.leaves(function(*arguments))]
    got = run(function, *arguments, kind=kind, isa=isa)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        if exact or w.dtype.kind in "iub":
            assert np.array_equal(g.astype(w.dtype), w, equal_nan=w.dtype.kind in "fc")
        else:
            np.testing.assert_allclose(
                g.astype(np.complex128), w.astype(np.complex128), rtol=rtol, atol=atol
            )
