# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs through the reference interpreter, which plays the StableHLO specification.

It shares no code with what Spokeshave compiles to, is exact where the
specification is, and slow: for small shapes only.
"""

import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from spokeshave import _library


class InterpreterError(RuntimeError):
    """The interpreter refused the program."""


def evaluate(function: Callable[..., Any], *arguments: Any, timeout: float = 300) -> Any:
    """What `function` gives for `arguments`, interpreted.

    Args:
      function: as for jax.jit; it is lowered for Spokeshave's platform.
      *arguments: trees of arrays.
      timeout: seconds until the interpreter is stopped.

    Returns:
      The results as NumPy arrays.

    Raises:
      InterpreterError: with the interpreter's message.
    """
    import jax
    from jax import export

    exported = export.export(jax.jit(function), platforms=["spokeshave"])(*arguments)
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
    kept = [leaves[i] for i in exported.module_kept_var_idx]
    results = run(exported.mlir_module_serialized, kept, exported.out_avals, timeout)
    return jax.tree.unflatten(exported.out_tree, results)


def run(
    program: bytes, arguments: list[np.ndarray], results: Any, timeout: float = 300
) -> list[np.ndarray]:
    """Interprets StableHLO, as text or portable bytecode.

    Args:
      program: with a function @main.
      arguments: of @main.
      results: something with shape and dtype for each result.
      timeout: seconds until the interpreter is stopped.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program").write_bytes(program)
        command = [_library.tool_path(), "run", "--level=reference", "--quiet"]
        for i, argument in enumerate(arguments):
            np.save(folder / f"argument{i}.npy", argument)
            command += ["--arg", str(folder / f"argument{i}.npy")]
        command += ["--out", str(folder / "result"), str(folder / "program")]
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if process.returncode != 0:
            raise InterpreterError(process.stderr.strip() or f"exit status {process.returncode}")
        # A file of bf16 holds raw bytes: only the caller knows what they are.
        files = [np.load(folder / f"result{i}.npy") for i in range(len(results))]
        return [f.view(np.dtype(r.dtype)).reshape(r.shape) for f, r in zip(files, results)]
