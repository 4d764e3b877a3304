# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spokeshave: an ML compiler and runtime for JAX programs.

Installing the package registers a JAX plugin; choose it by the environment
variable ``JAX_PLATFORMS=spokeshave``. The functions here look at the compiler
from Python; none of them imports JAX.
"""

from spokeshave._library import custom_call_counts, library_path, machine, statistics, version

__all__ = [
    "custom_call_counts",
    "library_path",
    "machine",
    "statistics",
    "version",
    "__version__",
]

__version__ = "0.1.0"
