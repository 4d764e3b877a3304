"""Runs a JAX function as one kernel through kernel-run, and gives NumPy results."""

import os
import subprocess
import tempfile
from pathlib import Path

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("KERNEL_RUN", ROOT / "build/dev/tests/kernel-run"))
_BYTE = {np.dtype(bool)}


def to_bytes(x):
    """The bytes of a kernel's buffer: one per element for types below a byte."""
    return np.ascontiguousarray(x).tobytes()


def stablehlo(function, *arguments):
    """The generic text of the StableHLO of `function`, with calls inlined by hand not needed."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    module = lowered.compiler_ir("stablehlo")
    return module.operation.get_asm(print_generic_op_form=True, large_elements_limit=None)


_NAMES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "i1",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
}


def unary_text(op, x):
    """One operation on one tensor; names with a dot that are no StableHLO become composites."""
    t = f"tensor<{''.join(f'{d}x' for d in x.shape)}{_NAMES[x.dtype.name]}>"
    if op.startswith("chlo."):
        call = (
            f'"stablehlo.composite"(%0) <{{name = "{op}", decomposition = @stub, version = 1 : i32, '
            f"composite_attributes = {{}}}}> : ({t}) -> {t}"
        )
    else:
        call = f'"stablehlo.{op}"(%0) : ({t}) -> {t}'
    return (
        f"module {{ func.func @main(%0: {t}) -> {t} {{ %1 = {call}\n return %1 : {t} }}\n"
        f"func.func private @stub(%0: {t}) -> {t} {{ return %0 : {t} }} }}"
    )


def run(function, *arguments, kind="loop", isa="native", text=None, time=False):
    """Results (a list of arrays) of `function` computed by one kernel."""
    arguments = [np.asarray(a) for a in arguments]
    shapes = jax.tree.leaves(jax.eval_shape(function, *arguments))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "in.mlir").write_text(text or stablehlo(function, *arguments))
        names = []
        for i, a in enumerate(arguments):
            names.append(str(folder / f"a{i}.bin"))
            Path(names[-1]).write_bytes(to_bytes(a))
        environment = dict(os.environ)
        if time:
            environment["KERNEL_RUN_TIME"] = "1"
        done = subprocess.run(
            [str(BINARY), str(folder / "in.mlir"), kind, isa, str(folder / "out"), *names],
            capture_output=True,
            text=True,
            env=environment,
        )
        if os.environ.get("KERNEL_RUN_DUMP"):
            print(done.stderr)
        if done.returncode:
            raise RuntimeError(done.stderr[-4000:])
        results = []
        for i, s in enumerate(shapes):
            data = (folder / f"out{i}").read_bytes()
            dtype = np.dtype(s.dtype)
            results.append(np.frombuffer(data, dtype).reshape(s.shape))
        if time:
            words = done.stdout.split()
            return results, int(words[1]), int(words[3])
        return results


def ulp_error(got, want):
    """Largest error in units in the last place; NaNs and infinities must agree."""
    dtype = got.dtype
    info = np.finfo(dtype) if dtype.kind == "f" else ml_dtypes.finfo(dtype)
    rounded = want.astype(dtype)
    special = ~np.isfinite(rounded.astype(np.float64)) | ~np.isfinite(got.astype(np.float64))
    both = (
        np.where(special, rounded.astype(np.float64), 0),
        np.where(special, got.astype(np.float64), 0),
    )
    mismatch = ~((both[0] == both[1]) | (np.isnan(both[0]) & np.isnan(both[1])))
    # Overflow that is right to within an ulp of the largest number is no mismatch here.
    spacing = np.spacing(np.maximum(np.abs(rounded), info.smallest_normal).astype(dtype)).astype(
        np.longdouble
    )
    error = np.abs(got.astype(np.longdouble) - want.astype(np.longdouble)) / np.abs(spacing)
    error = np.where(special, np.where(mismatch, np.inf, 0), error)
    return error
