"""Elementwise operations on every type, bit by bit where the result is exact."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from harness import run, unary_text
from jax import lax

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
F8 = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e4m3,
]
COMPLEX = [np.complex64, np.complex128]


def values(dtype, n=300, seed=0):
    r = np.random.RandomState(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return r.rand(n) > 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = r.randint(info.min, info.max, n, dtype=dtype)
        edge = [
            0,
            1,
            info.min,
            info.max,
            info.max - 1,
            info.min + 1,
            2,
            3,
            7,
            dtype.itemsize * 8 - 1,
            dtype.itemsize * 8,
        ]
        if info.min < 0:
            edge += [-1, -2, -7]
        small = r.randint(max(info.min, -9), 9, n).astype(dtype)
        return np.concatenate([x, small, np.array(edge).astype(dtype)])
    if dtype.kind == "c":
        return (
            values(dtype.type(0).real.dtype, n, seed)
            + 1j * values(dtype.type(0).real.dtype, n, seed + 1)[::-1]
        ).astype(dtype)
    x = r.randn(n) * np.exp2(r.uniform(-12, 12, n))
    edge = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        np.inf,
        -np.inf,
        np.nan,
        1e-8,
        6e-8,
        65504,
        65520,
        1e6,
        -3e9,
        1e20,
        3e38,
        1e-40,
        448,
        464,
        0.001953125,
        255.7,
        300,
        -129,
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([x, edge]).astype(dtype)


def pairs(dtype):
    a = values(dtype)
    b = np.random.RandomState(5).permutation(values(dtype, seed=3))
    edge = a[-14:]
    x, y = np.meshgrid(edge, edge)
    return np.concatenate([a, x.ravel()]), np.concatenate([b, y.ravel()])


def check(function, *arguments, want=None, isa="native", ulps=0, **options):
    with np.errstate(all="ignore"):
        want = np.asarray(function(*[jnp.asarray(a) for a in arguments])) if want is None else want
    (got,) = run(function, *arguments, isa=isa, **options)
    assert got.dtype == want.dtype
    wide = (
        np.complex128
        if got.dtype.kind == "c"
        else np.float64
        if got.dtype.kind not in "iub"
        else got.dtype
    )
    g, w = got.astype(wide), want.astype(wide)
    same = g == w
    if got.dtype.kind not in "iub":
        same |= np.isnan(g) & np.isnan(w)
        if ulps:
            with np.errstate(all="ignore"):
                same |= np.abs(g - w) <= ulps * float(ml_dtypes.finfo(got.dtype).eps) * np.abs(w)
    bad = ~same
    assert not bad.any(), [
        tuple(np.asarray(a)[bad][:6] for a in arguments if np.shape(a) == bad.shape),
        got[bad][:6],
        want[bad][:6],
    ]


@pytest.mark.parametrize("isa", ["native", "x86-64"])
@pytest.mark.parametrize("dtype", INTS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "op",
    [
        lax.add,
        lax.sub,
        lax.mul,
        lax.div,
        lax.rem,
        lax.max,
        lax.min,
        lax.bitwise_and,
        lax.bitwise_or,
        lax.bitwise_xor,
        lax.shift_left,
        lax.shift_right_arithmetic,
        lax.shift_right_logical,
        lax.eq,
        lax.lt,
        lax.ge,
    ],
    ids=lambda o: o.__name__,
)
def test_integer_binary(op, dtype, isa):
    check(op, *pairs(dtype), isa=isa)


@pytest.mark.parametrize("dtype", INTS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "op",
    [lax.abs, lax.neg, lax.sign, lax.bitwise_not, lax.population_count, lax.clz],
    ids=lambda o: o.__name__,
)
def test_integer_unary(op, dtype):
    if op is lax.abs and np.dtype(dtype).kind == "u":
        pytest.skip("no abs of unsigned numbers")
    check(op, values(dtype))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int32, np.uint8, np.int64], ids=lambda d: np.dtype(d).name
)
def test_integer_power(dtype):
    x = values(dtype)
    y = np.random.RandomState(1).randint(0, 12, x.shape).astype(dtype)
    name = {"int8": "i8", "int32": "i32", "uint8": "ui8", "int64": "i64"}[np.dtype(dtype).name]
    t = f"tensor<{x.size}x{name}>"
    text = (
        f'module {{ func.func @main(%0: {t}, %1: {t}) -> {t} {{ %2 = "stablehlo.power"(%0, %1) : ({t}, {t}) -> {t}\n'
        f" return %2 : {t} }} }}"
    )
    check(lax.add, x, y, want=np.power(x, y), text=text)


@pytest.mark.parametrize("isa", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "max", "min", "lt", "ge", "eq", "ne"])
def test_float_binary(op, dtype, isa):
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        reference = {
            "add": np.add,
            "sub": np.subtract,
            "mul": np.multiply,
            "div": np.divide,
            "max": np.maximum,
            "min": np.minimum,
            "lt": np.less,
            "ge": np.greater_equal,
            "eq": np.equal,
            "ne": np.not_equal,
        }[op]
        want = reference(x, y)
    check(
        getattr(lax, op),
        x,
        y,
        want=want.astype(bool) if op in ("lt", "ge", "eq", "ne") else want.astype(dtype),
        isa=isa,
    )


@pytest.mark.parametrize("isa", ["native", "x86-64"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "op", ["abs", "neg", "sign", "floor", "ceil", "is_finite", "round0", "round1", "sqrt"]
)
def test_float_unary(op, dtype, isa):
    functions = {
        "round0": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        "round1": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    }
    x = values(dtype)
    wide = x.astype(np.float64)

    def away(v):
        return np.where(
            np.abs(v) - np.floor(np.abs(v)) >= 0.5,
            np.copysign(np.floor(np.abs(v)) + 1, v),
            np.trunc(v),
        )

    exact = {
        "abs": np.abs,
        "neg": np.negative,
        "sign": np.sign,
        "floor": np.floor,
        "ceil": np.ceil,
        "is_finite": np.isfinite,
        "round0": away,
        "round1": np.rint,
        "sqrt": np.sqrt,
    }[op]
    with np.errstate(all="ignore"):
        want = exact(wide)
        want = want if op == "is_finite" else want.astype(dtype)
    check(functions.get(op) or getattr(lax, op), x, want=want, isa=isa)


ALL = INTS + FLOATS + [bool] + COMPLEX


@pytest.mark.parametrize("isa", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("source", ALL, ids=lambda d: np.dtype(d).name)
def test_convert(source, isa):
    x = values(source)
    for target in ALL + F8:
        if np.dtype(source).kind == "c" and np.dtype(target).kind != "c":
            continue
        kind, to = np.dtype(source).kind, np.dtype(target)
        want = None
        if kind not in "iub" and kind != "c" and to.kind in "iu":
            # Saturating, NaN to 0.
            info = np.iinfo(to)
            with np.errstate(all="ignore"):
                wide = np.trunc(
                    np.nan_to_num(x.astype(np.longdouble), nan=0, posinf=np.inf, neginf=-np.inf)
                )
                want = np.array(
                    [
                        0
                        if v != v
                        else info.max
                        if v > info.max
                        else info.min
                        if v < info.min
                        else int(v)
                        for v in wide
                    ],
                    dtype=to,
                )
        elif to.kind == "b":
            want = x != 0
        elif to.kind == "c":
            part = to.type(0).real.dtype
            with np.errstate(all="ignore"):
                want = np.empty(x.shape, to)
                want.real = (
                    x.real.astype(part) if kind == "c" else round_to(x.astype(np.longdouble), part)
                )
                want.imag = x.imag.astype(part) if kind == "c" else 0
        elif to.kind not in "iubc" or to in [np.dtype(t) for t in F8 + FLOATS]:
            # One rounding, from numbers that are exact in 80 bits.
            with np.errstate(all="ignore"):
                want = round_to(x.astype(np.longdouble) if kind != "c" else x, to)
        check(lambda v: lax.convert_element_type(v, target), x, want=want, isa=isa)


def round_to(x, to):
    """x (80-bit) to `to`, rounding once: through f64 rounded to odd where `to` is narrow."""
    if to in (np.dtype(np.float32), np.dtype(np.float64)):
        return x.astype(to)
    d = x.astype(np.float64)
    inexact = (d.astype(np.longdouble) != x) & np.isfinite(d)
    away = np.abs(d.astype(np.longdouble)) > np.abs(x)
    d = np.where(inexact & away, np.nextafter(d, 0), d)
    bits = d.view(np.int64) | inexact
    d = bits.view(np.float64)
    # f64 to f32 to odd, then ml_dtypes and NumPy round f32 once.
    s = d.astype(np.float32)
    inexact = (s.astype(np.float64) != d) & np.isfinite(s) & np.isfinite(d)
    away = np.abs(s.astype(np.float64)) > np.abs(d)
    s = np.where(inexact & away, np.nextafter(s, np.float32(0)), s)
    s = (s.view(np.int32) | inexact).view(np.float32)
    return s.astype(to)


@pytest.mark.parametrize("isa", ["native", "x86-64"])
@pytest.mark.parametrize(
    "dtype", F8 + [np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name
)
def test_small_floats_all_codes(dtype, isa):
    width = np.dtype(dtype).itemsize * 8
    codes = np.arange(2**width).astype(f"uint{width}").view(dtype)
    check(
        lambda x: lax.convert_element_type(x, np.float32),
        codes,
        want=codes.astype(np.float32),
        isa=isa,
    )
    x = values(np.float32, 3000)
    with np.errstate(all="ignore"):
        check(lambda x: lax.convert_element_type(x, dtype), x, want=x.astype(dtype), isa=isa)


@pytest.mark.parametrize("dtype", FLOATS[:1] + FLOATS[2:], ids=lambda d: np.dtype(d).name)
def test_reduce_precision(dtype):
    x = values(dtype)
    x = x[~((np.abs(x.astype(np.float64)) < 1e-37) & (x != 0))]  # the reference loses subnormals
    for e, m in [(5, 10), (8, 7), (4, 3), (8, 23), (5, 2)]:
        check(lambda x: lax.reduce_precision(x, e, m), x)


def test_select_clamp():
    x, y = pairs(np.float32)
    check(lambda p, x, y: lax.select(p, x, y), x > 0, x, y)
    check(
        lambda x: lax.clamp(np.float32(-1), x, np.float32(2)),
        x,
        want=np.minimum(np.maximum(x, np.float32(-1)), np.float32(2)),
    )
    check(lambda x: lax.clamp(np.int32(-1), x, np.int32(2)), values(np.int32))
    check(lambda x: lax.clamp(np.uint8(3), x, np.uint8(200)), values(np.uint8))


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "op",
    [
        "add",
        "sub",
        "mul",
        "div",
        "eq",
        "ne",
        "exp",
        "log",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tan",
        "tanh",
        "expm1",
        "log1p",
        "logistic",
        "neg",
        "abs",
        "sign",
        "conj",
        "pow",
    ],
)
def test_complex(op, dtype):
    r = np.random.RandomState(0)
    n = 500
    z = ((r.randn(n) + 1j * r.randn(n)) * np.exp2(r.uniform(-8, 4, n))).astype(dtype)
    w = ((r.randn(n) + 1j * r.randn(n)) * np.exp2(r.uniform(-3, 2, n))).astype(dtype)

    def wide(a):
        return a.astype(np.clongdouble)

    reference = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "eq": np.equal,
        "ne": np.not_equal,
        "exp": np.exp,
        "log": np.log,
        "sqrt": np.sqrt,
        "rsqrt": lambda a: 1 / np.sqrt(a),
        "sin": np.sin,
        "cos": np.cos,
        "tan": np.tan,
        "tanh": np.tanh,
        "expm1": np.expm1,
        "log1p": np.log1p,
        "logistic": lambda a: 1 / (1 + np.exp(-a)),
        "neg": np.negative,
        "abs": np.abs,
        "sign": lambda a: a / np.abs(a),
        "conj": np.conj,
        "pow": np.power,
    }[op]
    arguments = (z, w) if op in ("add", "sub", "mul", "div", "eq", "ne", "pow") else (z,)
    if op in ("eq", "ne"):
        w[::2] = z[::2]
    want = reference(*[wide(a) for a in arguments])
    # JAX decomposes abs of complex numbers itself.
    text = (
        op == "abs"
        and unary_text("abs", z)
        .replace(f"-> tensor<{n}xcomplex<f32>>", f"-> tensor<{n}xf32>")
        .replace(f"-> tensor<{n}xcomplex<f64>>", f"-> tensor<{n}xf64>")
        .replace("return %1 : tensor<500xcomplex<f32>>", "return %1 : tensor<500xf32>")
        .replace("return %1 : tensor<500xcomplex<f64>>", "return %1 : tensor<500xf64>")
        .split("\nfunc")[0]
        + "}"
    )
    (got,) = run(getattr(lax, op), *arguments, text=text if op == "abs" else None)
    if op in ("eq", "ne"):
        assert np.array_equal(got, want)
        return
    eps = np.finfo(dtype).eps
    error = np.abs(got - want) / np.abs(want)
    assert error.max() < (40 if op == "pow" else 6) * eps, (
        z[error.argmax()],
        got[error.argmax()],
        want[error.argmax()],
        error.max() / eps,
    )


def test_complex_hard_points():
    """Points where a naive formula overflows or cancels."""
    points = [
        ("tan", -1 - 45j),
        ("tanh", 45 + 1j),
        ("sqrt", -1e38 - 1e38j),
        ("log1p", 1e-10 + 1e-5j),
        ("sqrt", complex(3.4e38, 3.4e38)),
        ("exp", complex(88.8, 1e-3)),
        ("log", 1 + 1e-4j),
        ("log", 3e38 + 3e38j),
    ]
    for name, z in points:
        z = np.array([z], np.complex64)
        want = getattr(np, name)(z.astype(np.complex128))
        (got,) = run(getattr(lax, name), z)
        want = want.astype(got.dtype)
        assert np.allclose(got, want, rtol=1e-6, atol=0), (name, z, got, want)
