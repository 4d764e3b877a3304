# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed: a StableHLO file, or a function of a Python file that JAX lowers."""

import dataclasses
import importlib.util
import os
import pathlib
import sys
from typing import Any

# The version of StableHLO's portable form that the supported JAX all write.
_PORTABLE_VERSION = "1.9.0"
# Whose lowering rules: JAX's defaults, without calls of libraries of the host.
_PLATFORM = "spokeshave_tpu"


class ProgramError(ValueError):
    """The program cannot be read or lowered; the message names it."""


@dataclasses.dataclass(frozen=True)
class Program:
    """StableHLO text or portable bytecode under a short name."""

    name: str
    file: str  # for locations in text
    data: bytes


def _portable(module: Any) -> bytes:
    from jax._src.interpreters import mlir

    try:
        from jax._src.lib import _jax as library
    except ImportError:
        from jax._src.lib import xla_client

        library = xla_client._xla
    bytecode = mlir.module_to_bytecode(module)
    return library.mlir.serialize_portable_artifact(bytecode, _PORTABLE_VERSION)


def lower(function: Any, arguments: tuple) -> bytes:
    """Portable bytecode of `function` on arguments, or on their shapes."""
    import jax

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    lowered = jitted.trace(*arguments).lower(lowering_platforms=(_PLATFORM,))
    return _portable(lowered.compiler_ir("stablehlo"))


def _from_python(text: str, file: pathlib.Path, name: str) -> Program:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # lowering needs no other
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    # Registered and on the path, as if the file were imported from its folder.
    sys.path.insert(0, str(file.parent.resolve()))
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
        maker = getattr(module, name, None)
        if maker is None:
            raise ProgramError(f"{text}: {file} has no function '{name}'")
        made = maker()
        if not isinstance(made, tuple) or len(made) != 2 or not callable(made[0]):
            raise ProgramError(f"{text}: '{name}' must return (function, arguments)")
        function, arguments = made
        if not isinstance(arguments, tuple):
            raise ProgramError(f"{text}: the arguments that '{name}' returns must be a tuple")
        return Program(f"{file.stem}:{name}", str(file), lower(function, arguments))
    except ProgramError:
        raise
    except Exception as error:  # whatever the user's file does
        raise ProgramError(f"{text}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.parent.resolve()))


def load(text: str) -> Program:
    """A file of StableHLO, or FILE.py:FUNCTION or MODULE:FUNCTION.

    Raises:
      ProgramError: it cannot be read or lowered.
    """
    place, colon, name = text.rpartition(":")
    if colon and not pathlib.Path(text).exists():
        file = pathlib.Path(place)
        if file.suffix != ".py":
            file = pathlib.Path(place.replace(".", "/") + ".py")
        if not file.is_file():
            raise ProgramError(f"{text}: there is no file {file}")
        return _from_python(text, file, name)
    file = pathlib.Path(text)
    try:
        return Program(file.stem, str(file), file.read_bytes())
    except OSError as error:
        raise ProgramError(f"{text}: {error.strerror}") from error
