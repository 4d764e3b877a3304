# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shared library: where it is, and the C functions that it exports besides PJRT's."""

import ctypes
import functools
import json
import os
import pathlib
from typing import Any

_NAME = "libspokeshave_pjrt.so"


class LibraryNotFoundError(ImportError):
    """The package was installed without its compiled library."""


def library_path() -> str:
    """The path of the compiled plugin.

    ``SPOKESHAVE_LIBRARY`` overrides it, for a build tree.

    Raises:
      LibraryNotFoundError: neither the package nor the variable leads to a file.
    """
    override = os.environ.get("SPOKESHAVE_LIBRARY")
    path = pathlib.Path(override) if override else pathlib.Path(__file__).parent / _NAME
    if not path.is_file():
        raise LibraryNotFoundError(
            f"Spokeshave's compiled library was not found at {path}. Install the package with"
            " 'pip install .' or set SPOKESHAVE_LIBRARY to a build's " + _NAME + "."
        )
    return str(path)


def tool_path() -> str:
    """The path of the compiled command `spokeshave`: the package's, or that of a build tree.

    Raises:
      LibraryNotFoundError: it is in neither.
    """
    library = pathlib.Path(library_path())
    candidates = [
        pathlib.Path(__file__).parent / "bin" / "spokeshave",
        library.parents[2] / "tools" / "spokeshave",
    ]
    for path in candidates:
        if path.is_file():
            return str(path)
    raise LibraryNotFoundError(f"the command is neither at {candidates[0]} nor at {candidates[1]}")


@functools.cache
def load() -> ctypes.CDLL:
    """The library with the signatures of its exported functions declared.

    Loaded with local binding, so that its LLVM never meets another one's symbols.
    """
    lib = ctypes.CDLL(library_path(), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    lib.spokeshave_version.restype = ctypes.c_char_p
    lib.spokeshave_version.argtypes = []
    lib.spokeshave_register_custom_call.restype = ctypes.c_int
    lib.spokeshave_register_custom_call.argtypes = [
        ctypes.c_char_p,  # target
        ctypes.c_char_p,  # stage: execute, instantiate, prepare, initialize
        ctypes.c_void_p,  # function
        ctypes.c_int,  # 0: untyped, 1: typed FFI
        ctypes.c_uint,  # traits
    ]
    lib.spokeshave_custom_call_set_failure.restype = None
    lib.spokeshave_custom_call_set_failure.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    lib.spokeshave_statistics_json.restype = ctypes.c_void_p
    lib.spokeshave_statistics_json.argtypes = []
    lib.spokeshave_machine_json.restype = ctypes.c_void_p
    lib.spokeshave_machine_json.argtypes = [ctypes.c_int]
    lib.spokeshave_free.restype = None
    lib.spokeshave_free.argtypes = [ctypes.c_void_p]
    lib.spokeshave_call_counts.restype = None
    lib.spokeshave_call_counts.argtypes = [ctypes.POINTER(ctypes.c_int64)] * 2
    return lib


def _take_json(text: int) -> Any:
    """What a C string of the library says, which is freed."""
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        load().spokeshave_free(text)


def statistics() -> list[dict[str, Any]]:
    """What this process compiled, one dictionary per executable that is still alive.

    See docs/counters.md for each key. Static: id, name, kernels, kernel_kinds,
    library_calls, custom_calls, calls, structure, loops, instructions, work,
    arena_bytes, code_bytes, compile_ms. Of its runs so far: runs, run_ms, run.
    """
    return _take_json(load().spokeshave_statistics_json())


def machine(measure: bool = False) -> dict[str, Any]:
    """What this machine is, and what of it is used.

    Args:
      measure: also run small loops that tell what it reaches at best, on one thread
        and on all, under the key ``rates``. Takes about a second.
    """
    return _take_json(load().spokeshave_machine_json(int(measure)))


def version() -> str:
    """What was built: Spokeshave's version, LLVM's and the ABI's."""
    return load().spokeshave_version().decode()


def custom_call_counts() -> tuple[int, int]:
    """How many calls have left compiled code in this process.

    Returns:
      (library calls such as FFT and LAPACK, custom calls of FFI targets).
    """
    library, custom = ctypes.c_int64(), ctypes.c_int64()
    load().spokeshave_call_counts(ctypes.byref(library), ctypes.byref(custom))
    return library.value, custom.value
