# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the test programs of the bytecode reader with the JAX that runs it.

Each program becomes NAME.mlirbc, a portable artifact as JAX hands it to a
plugin, and NAME.mlir, StableHLO text of what the public reader makes of it. The
tests decode the first and compare with the second.

    python generate.py OUT [--version 1.13.7] [--only NAME,...]

`--version` is the StableHLO version that the artifact targets; programs that
the version cannot express are skipped and named. To renew the committed set:

    python generate.py Inputs --committed
"""

import argparse
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import _jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)
# Source locations name files without the folders of the machine at hand.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

PROGRAMS = {}


def program(*arguments, name=None):
    """Registers the function below as a program called on `arguments`."""

    def register(function):
        PROGRAMS[name or function.__name__.rstrip("_")] = (function, arguments)
        return function

    return register


def zeros(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


VECTOR = zeros((8,))
SQUARE = zeros((4, 4))
KEY = zeros((2,), jnp.uint32)


@program(VECTOR)
def add_one(x):
    return x + 1


for dtype in (
    "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 "
    "uint64 bfloat16 float16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz float8_e4m3fnuz "
    "float8_e5m2fnuz float8_e3m4 float8_e4m3"
).split():

    def elementwise(x):
        # A constant of several values, a splat and a conversion.
        array = np.array([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], dtype=x.dtype)
        return (x == array), jnp.where(x == array, x, jnp.ones_like(x)), x.astype(jnp.float32)

    program(zeros((10,), getattr(jnp, dtype)), name=f"dtype_{dtype}")(elementwise)


@program(VECTOR, VECTOR)
def arithmetic(x, y):
    return [
        x + y,
        x - y,
        x * y,
        x / y,
        x % y,
        x**y,
        -x,
        abs(x),
        jnp.sign(x),
        jnp.maximum(x, y),
        jnp.minimum(x, y),
        jnp.floor(x),
        jnp.ceil(x),
        jnp.round(x),
        lax.round(x),
        jnp.clip(x, 0, 1),
        lax.reduce_precision(x, 5, 10),
        jnp.isfinite(x),
    ]


@program(VECTOR, VECTOR)
def transcendental(x, y):
    return [
        jnp.exp(x),
        jnp.expm1(x),
        jnp.log(x),
        jnp.log1p(x),
        jnp.sin(x),
        jnp.cos(x),
        jnp.tan(x),
        jnp.tanh(x),
        lax.rsqrt(x),
        jnp.sqrt(x),
        jnp.cbrt(x),
        lax.logistic(x),
        jnp.arctan2(x, y),
    ]


@program(VECTOR)
def accuracy(x):
    return (
        lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST),
        lax.tanh(x, accuracy=lax.Tolerance(atol=1e-5, rtol=0.25, ulps=2)),
    )


@program(VECTOR)
def composites(x):
    return [jnp.arccosh(x), jnp.arctanh(x), jnp.sinh(x), lax.erf(x), lax.top_k(x, 3)]


@program(VECTOR)
def composite_attributes(x):
    def body(x, *, scale):
        return x * scale

    return lax.composite(body, "my.scale", version=3)(x, scale=np.float32(2.5))


@program(VECTOR)
def special_functions(x):
    return [lax.erf_inv(x), lax.lgamma(x), lax.digamma(x), lax.bessel_i1e(x), lax.igamma(x, x + 1)]


@program(zeros((6,), jnp.int32), zeros((6,), jnp.int32))
def integers(x, y):
    return [
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << y,
        x >> y,
        lax.shift_right_logical(x, y),
        lax.population_count(x),
        lax.clz(x),
    ]


@program(zeros((6,), jnp.uint8), zeros((6,), jnp.uint8))
def unsigned(x, y):
    return [x + y, x < y, x >> 1, x // 3, jnp.max(x), x.astype(jnp.int8)]


@program(VECTOR, VECTOR)
def comparisons(x, y):
    return [
        x < y,
        x <= y,
        x > y,
        x >= y,
        x == y,
        x != y,
        lax.eq_to_p.bind(x, y),
        lax.lt_to_p.bind(x, y),
    ]


@program(zeros((4,), jnp.complex64), VECTOR)
def complex_(x, y):
    return [x.real, x.imag, jnp.conj(x), abs(x), lax.complex(y, y), x * (2 - 3j), jnp.exp(x)]


@program(zeros((3, 4)), zeros((4, 5)))
def dot(x, y):
    return x @ y


@program(zeros((2, 3, 4), jnp.bfloat16), zeros((2, 4, 5), jnp.bfloat16))
def dot_batched(x, y):
    return lax.dot_general(
        x,
        y,
        (((2,), (1,)), ((0,), (0,))),
        precision=lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )


@program(SQUARE, SQUARE)
def dot_algorithm(x, y):
    return lax.dot_general(
        x, y, (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3
    )


@program(zeros((2, 3, 4)), zeros((2, 4, 3)))
def einsum(x, y):
    return (
        jnp.einsum("bij,bjk->bik", x, y),
        jnp.einsum("bij,bji->b", x, y),
        jnp.einsum("bij->ji", x),
    )


@program(zeros((1, 8, 8, 3)), zeros((3, 3, 3, 4)))
def convolution(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


@program(zeros((1, 4, 9, 9)), zeros((8, 2, 3, 3)))
def convolution_general(x, w):
    return lax.conv_general_dilated(
        x,
        w,
        (2, 1),
        ((1, 0), (0, 2)),
        lhs_dilation=(1, 2),
        rhs_dilation=(2, 1),
        feature_group_count=2,
    )


@program(zeros((1, 8, 8, 3)), zeros((3, 3, 3, 4)))
def convolution_grad(x, w):
    return jax.grad(lambda x, w: jnp.sum(convolution(x, w) ** 2), argnums=(0, 1))(x, w)


@program(zeros((1, 6, 6, 2)), zeros((3, 3, 2, 2)))
def convolution_transpose(x, w):
    return lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(zeros((2, 4, 4, 1)))
def pooling(x):
    window = (1, 2, 2, 1)
    return (
        lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID"),
        lax.reduce_window(
            x,
            0.0,
            lax.add,
            window,
            (1, 1, 1, 1),
            "SAME",
            base_dilation=(1, 2, 1, 1),
            window_dilation=(1, 1, 2, 1),
        ),
    )


@program(zeros((2, 4, 4, 1)))
def pooling_grad(x):
    window = (1, 2, 2, 1)
    return jax.grad(
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, window, "SAME").sum()
    )(x)


@program(VECTOR)
def cumulative(x):
    return [jnp.cumsum(x), lax.cummax(x), lax.cumlogsumexp(x), lax.cumprod(x, reverse=True)]


@program(zeros((3, 4, 5)))
def reductions(x):
    return [
        x.sum(1),
        x.max((0, 2)),
        x.prod(),
        x.mean(0),
        x.var(1),
        jnp.argmax(x, 1),
        jnp.all(x > 0),
        jnp.any(x > 0, 2),
    ]


@program(zeros((3, 4)), zeros((3, 4), jnp.int32))
def reduce_variadic(x, y):
    return lax.reduce(
        (x, y), (np.float32(0), np.int32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)
    )


@program(zeros((3, 4, 5)))
def shapes(x):
    return [
        x.reshape(12, 5),
        x.T,
        x[None],
        jnp.flip(x, (0, 2)),
        jnp.pad(x, ((1, 2), (0, 0), (3, 1))),
        lax.pad(x, np.float32(0), ((-1, 0, 1), (0, 0, 0), (0, 2, 2))),
        jnp.concatenate([x, x], 1),
        x[1:, ::2, 3],
        jnp.broadcast_to(x[:, :1], (2, 3, 4, 5)),
        jnp.arange(10),
        jnp.eye(3),
        lax.broadcasted_iota(jnp.int32, (3, 4), 1),
    ]


@program(zeros((10, 5)), zeros((), jnp.int32))
def dynamic_slices(x, i):
    return lax.dynamic_slice(x, (i, i), (3, 5)), lax.dynamic_update_slice(x, x[:2] * 2, (i, i))


@program(zeros((10, 5)), zeros((4,), jnp.int32))
def gathers(x, i):
    return [
        x[i],
        x[:, 2],
        jnp.take(x, i, axis=1),
        jnp.take_along_axis(x[:4], i[:, None], 1),
        x.at[i].get(mode="fill", indices_are_sorted=True, unique_indices=True),
    ]


@program(zeros((3, 10, 5)), zeros((3, 4), jnp.int32))
def gather_batched(x, i):
    return jax.vmap(lambda x, i: x[i])(x, i)


@program(zeros((10, 5)), zeros((4,), jnp.int32), zeros((4, 5)))
def scatters(x, i, u):
    return [
        x.at[i].set(u),
        x.at[i].add(u),
        x.at[i].mul(u),
        x.at[i].min(u),
        x.at[i].apply(jnp.sin),
        x.at[i].max(u, unique_indices=True, indices_are_sorted=True),
    ]


@program(zeros((3, 10)), zeros((3, 4), jnp.int32))
def scatter_batched(x, i):
    return jax.vmap(lambda x, i: x.at[i].add(1.0))(x, i)


@program(zeros((10, 5)), zeros((4,), jnp.int32))
def gather_grad(x, i):
    return jax.grad(lambda x: (x[i] ** 2).sum())(x)


@program(zeros((4, 6)), zeros((4, 6), jnp.int32))
def sorting(x, y):
    return [
        jnp.sort(x),
        jnp.sort(x, 0, descending=True),
        jnp.argsort(x),
        lax.sort((x, y), num_keys=2),
        lax.sort(x, is_stable=False),
    ]


@program(VECTOR)
def scan(x):
    return lax.scan(lambda c, x: (c + x, c * x), jnp.float32(0), x)


@program(VECTOR)
def scan_grad(x):
    def loss(x):
        return lax.scan(lambda c, x: (jnp.sin(c) * x, c), jnp.float32(1), x)[1].sum()

    return jax.grad(loss)(x)


@program(zeros(()))
def while_loop(x):
    return lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 2), (0, x))


@program(VECTOR)
def fori_loop(x):
    return lax.fori_loop(0, 5, lambda i, x: x.at[i].set(i * 1.5), x)


@program(zeros((), jnp.bool_), VECTOR)
def cond(p, x):
    return lax.cond(p, lambda x: x + 1, lambda x: x * 2, x)


@program(zeros((), jnp.int32), VECTOR)
def switch(i, x):
    return lax.switch(i, [lambda x: x, lambda x: x + 1, lambda x: jnp.sin(x)], x)


@program(zeros((), jnp.int32), VECTOR)
def nested_control(n, x):
    def body(i, x):
        return lax.cond(
            i % 2 == 0, lambda x: lax.fori_loop(0, i, lambda j, x: x + j, x), lambda x: x - 1, x
        )

    return lax.fori_loop(0, n, body, x)


@program(VECTOR)
def nested_functions(x):
    inner = jax.jit(lambda x: jnp.sin(x) + 1)
    return inner(inner(x)) + jax.nn.relu(x) + jax.nn.gelu(x)


@program(VECTOR)
def checkpoint(x):
    return jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum())(x)


@program(VECTOR)
def large_constant(x):
    # More than 4 KiB, less than that.
    return x + np.arange(8 * 130, dtype=np.float32).reshape(130, 8) ** 2, np.arange(80) * 3


@program(zeros((9, 11), jnp.bool_))
def bool_constants(x):
    # Up to 100 elements: longer ones are printed in a form that changed after MLIR 19.
    return [
        x & np.ones((9, 11), bool),
        x | (np.arange(99).reshape(9, 11) % 3 == 0),
        x ^ np.zeros((9, 11), bool),
        np.array([True] * 8),
        np.array([True] + [False] * 7),
    ]


@program(KEY)
def random_uniform(key):
    return jax.random.uniform(key, (10,)), jax.random.split(key), jax.random.fold_in(key, 3)


@program(KEY)
def random_normal(key):
    return jax.random.normal(key, (4,)), jax.random.bernoulli(key, 0.3, (4,))


@program(KEY)
def random_categorical(key):
    return jax.random.categorical(key, jnp.zeros((3, 4))), jax.random.permutation(key, 7)


@program(KEY)
def random_gamma(key):
    return jax.random.gamma(key, 2.0, (3,))


@program(zeros((4,), jnp.uint32))
def rng_bit_generator(key):
    return lax.rng_bit_generator(key, (5,)), lax.rng_uniform(0.0, 1.0, (3,))


@program(zeros((4, 8), jnp.complex64), zeros((4, 8)))
def fft(x, y):
    return [jnp.fft.fft(x), jnp.fft.ifft2(x), jnp.fft.rfft(y), jnp.fft.irfft(x)]


@program(SQUARE)
def cholesky(x):
    return jnp.linalg.cholesky(x)


@program(SQUARE)
def qr(x):
    return jnp.linalg.qr(x)


@program(SQUARE)
def svd(x):
    return jnp.linalg.svd(x)


@program(SQUARE)
def eigh(x):
    return jnp.linalg.eigh(x)


@program(SQUARE)
def eig(x):
    return jnp.linalg.eig(x)


@program(SQUARE, SQUARE)
def solve(x, y):
    return jnp.linalg.solve(x, y), jnp.linalg.det(x), jnp.linalg.inv(x)


@program(SQUARE, SQUARE)
def triangular_solve(x, y):
    return lax.linalg.triangular_solve(
        x, y, left_side=True, lower=True, transpose_a=True, unit_diagonal=True
    )


@program(VECTOR)
def barrier(x):
    return lax.optimization_barrier((x, x * 2))


@program(VECTOR)
def callbacks(x):
    jax.debug.print("x = {}", x)
    return jax.pure_callback(lambda x: np.asarray(x), zeros((8,)), x)


@program(VECTOR)
def effects(x):
    from jax.experimental import io_callback

    io_callback(lambda x: None, None, x, ordered=True)
    return x * 2


@program(VECTOR)
def ffi_call(x):
    return jax.ffi.ffi_call(
        "my_target", zeros((8,)), has_side_effect=True, input_output_aliases={0: 0}
    )(x, text="abc", number=np.int32(3), real=np.float64(0.5), array=np.arange(3), flag=True)


@program(zeros((4, 6)))
def layer_norm(x):
    return jax.nn.softmax(x), jax.nn.standardize(x), jax.nn.one_hot(jnp.arange(4), 6)


@program(zeros((2, 5, 8)), zeros((8, 8)))
def attention(x, w):
    q, k, v = x @ w, x @ w, x @ w
    return jax.nn.dot_product_attention(q[:, :, None], k[:, :, None], v[:, :, None])


@program(zeros((8, 4)), zeros((4, 3)), zeros((8,), jnp.int32))
def training_step(x, w, y):
    def loss(w):
        logits = jnp.tanh(x @ w)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()

    value, gradient = jax.value_and_grad(loss)(w)
    return value, w - 0.1 * gradient


def mesh():
    return Mesh(np.array(jax.devices()[:2]), ("x",))


@program(zeros((8, 4)))
def sharding_constraint(x):
    return lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh(), P("x", None)))


@program(zeros((8, 4)))
def shard_map(x):
    def body(x):
        return lax.psum(x, "x"), lax.all_gather(x, "x"), lax.ppermute(x, "x", [(0, 1), (1, 0)])

    return jax.shard_map(body, mesh=mesh(), in_specs=P("x"), out_specs=(P(), P("x"), P("x")))(x)


@program(zeros((8, 4)))
def shard_map_collectives(x):
    def body(x):
        return (
            lax.all_to_all(x, "x", 1, 0, tiled=True),
            lax.psum_scatter(x, "x", tiled=True),
            lax.pmax(x, "x"),
            lax.axis_index("x")[None],
        )

    return jax.shard_map(
        body, mesh=mesh(), in_specs=P("x"), out_specs=(P("x"), P("x"), P(), P("x"))
    )(x)


@program(zeros((8, 4)))
def sharded_arguments(x):
    return jax.jit(
        lambda x: x * 2,
        in_shardings=NamedSharding(mesh(), P("x")),
        out_shardings=NamedSharding(mesh(), P(None, "x")),
    )(x)


@program(zeros((4, 4)), zeros((4,)))
def donation(x, y):
    return jax.jit(lambda x, y: (x + y, y * 2), donate_argnums=0)(x, y)


def symbolic():
    return export.symbolic_args_specs((zeros((1, 3)), zeros((1, 2))), ("a, 3", "b, 2"))


@program(symbolic)
def dynamic_shapes(x, y):
    # Sizes that are only known at run time bring the dynamic operations.
    return (
        jnp.concatenate([x, x]).reshape(-1),
        jnp.arange(y.shape[0]),
        jnp.broadcast_to(y[:, :1], (y.shape[0], 5)),
        x[:-1],
        jnp.pad(y, ((1, 2), (0, 0))),
    )


# Operations that JAX does not emit are in files of text.
TEXT_PROGRAMS = ["rare_ops", "rare_later_ops", "rare_new_ops"]


def lower(name):
    """The module of program `name` as JAX builds it, or the text of one of ours."""
    if name in TEXT_PROGRAMS:
        return pathlib.Path(__file__).with_name(name + ".stablehlo").read_text()
    function, arguments = PROGRAMS[name]
    if callable(arguments[0]):
        exported = export.export(jax.jit(function))(*arguments[0]())
        with jax_mlir.make_ir_context():
            return ir.Module.parse(exported.mlir_module())
    return jax.jit(function).lower(*arguments).compiler_ir()


def serialize(module, version):
    code = module if isinstance(module, str) else jax_mlir.module_to_bytecode(module)
    return _jax.mlir.serialize_portable_artifact(code, version, True)


def deserialize(artifact):
    with jax_mlir.make_ir_context():
        module = _jax.mlir.deserialize_portable_artifact(artifact)
        if isinstance(module, (bytes, str)):
            module = ir.Module.parse(module)
        return module.operation.get_asm(large_elements_limit=1 << 20) + "\n"


# What is kept in the repository: the default version for all but large ones, and
# older and newer ones where a program's encoding differs.
TOO_LARGE = """special_functions random_gamma random_normal random_categorical random_uniform
    solve training_step attention layer_norm dtype_float8_e3m4 dtype_int2 dtype_int16
    dtype_uint2 dtype_uint16""".split()
COMMITTED_VERSIONS = {
    "0.9.0": [
        "rare_ops",
        "arithmetic",
        "transcendental",
        "convolution",
        "dot",
        "gathers",
        "cond",
        "qr",
    ],
    "1.0.0": ["scatters", "dot_batched", "composites", "while_loop"],
    "1.7.0": ["rare_later_ops"],
    "1.17.0": ["accuracy", "shard_map", "transcendental", "ffi_call"],
    "1.22.0": [
        "rare_ops",
        "rare_new_ops",
        "accuracy",
        "shard_map",
        "shard_map_collectives",
        "ffi_call",
        "eigh",
    ],
}


def write(out, name, version, base=None):
    """Writes program `name`; at another version than `base` only what differs."""
    try:
        artifact = serialize(lower(name), version)
    except Exception as error:  # What this JAX or version cannot express.
        print(f"skipped {name} at {version}: {str(error).splitlines()[0][:120]}", file=sys.stderr)
        return
    stem = name if base is None else f"{name}@{version}"
    text = deserialize(artifact)
    (out / f"{stem}.mlirbc").write_bytes(artifact)
    common = out / f"{name}.mlir"
    if base is None or not common.exists() or text != common.read_text():
        (out / f"{stem}.mlir").write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", default="1.13.7")
    parser.add_argument("--only", default="")
    parser.add_argument("--committed", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only.split(",") if options.only else [*PROGRAMS, *TEXT_PROGRAMS]:
        if not (options.committed and name in TOO_LARGE):
            write(options.out, name, options.version)
    if options.committed:
        for version, names in COMMITTED_VERSIONS.items():
            for name in names:
                write(options.out, name, version, options.version)


if __name__ == "__main__":
    main()
