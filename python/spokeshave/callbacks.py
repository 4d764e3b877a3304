# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pure_callback, io_callback, debug_callback and debug_print on Spokeshave.

JAX's own rules hard-code the platforms that they serve, so these emit a custom
call of our own. Its handler is a C function made by ctypes, which takes the GIL,
wraps the buffers as NumPy arrays and calls the user's function. A number in the
call's backend_config finds that function; it outlives the lowered module a little.

Calls with side effects run in program order, which is what ordered effects ask
for: their tokens are passed through.
"""

import collections
import ctypes
import dataclasses
import functools
import itertools
import json
import logging
import time
import traceback
import uuid
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spokeshave import _library, lowering

TARGET = "spokeshave_python_callback"

# XLA's "status returning, unified" convention: outputs, inputs, opaque, its length, status.
_HANDLER_TYPE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_size_t,
    ctypes.c_void_p,
)
_API_VERSION = 3

logger = logging.getLogger(__name__)

# What JAX makes of 64-bit types where they are off.
_NARROW = {
    np.dtype(wide): np.dtype(narrow)
    for wide, narrow in (
        (np.int64, np.int32),
        (np.uint64, np.uint32),
        (np.float64, np.float32),
        (np.complex128, np.complex64),
    )
}


@dataclasses.dataclass(frozen=True)
class Callback:
    """One call site: the function and the types that it was traced with."""

    function: Callable[..., Sequence[Any]]
    inputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    outputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    x64: bool  # whether the program was lowered with 64-bit types

    def __call__(self, out: int, ins: Any) -> None:
        """Runs the function on the buffers at the addresses `ins`, writing to `out`."""
        import jax

        arguments = [_view(ins[i], *spec).copy() for i, spec in enumerate(self.inputs)]
        # The setting of the caller's thread is not that of this one.
        with jax.enable_x64(self.x64):
            results = self.function(*arguments)
        if len(results) != len(self.outputs):
            raise RuntimeError(
                f"the callback returned {len(results)} values, {len(self.outputs)} were declared"
            )
        addresses = _output_addresses(out, len(self.outputs))
        for i, (value, spec, address) in enumerate(zip(results, self.outputs, addresses)):
            value = np.asarray(value)
            if not self.x64:  # Python's numbers and NumPy's defaults have 64 bits
                value = value.astype(_NARROW.get(value.dtype, value.dtype), copy=False)
            if value.shape != spec[0]:
                raise RuntimeError(
                    f"Incorrect output shape for return value #{i}: declared {list(spec[0])},"
                    f" returned {list(value.shape)}"
                )
            if value.dtype != spec[1]:
                raise RuntimeError(
                    f"Incorrect output dtype for return value #{i}: declared {spec[1]},"
                    f" returned {value.dtype}"
                )
            _view(address, *spec)[...] = value


class _Lease:
    """Lives as long as a lowered module and what is compiled from it."""


_callbacks: dict[int, Callback] = {}
_retired: collections.deque[tuple[float, int]] = collections.deque()
# Execution is asynchronous: a program may still run when nobody holds it any more.
_GRACE_SECONDS = 600
_numbers = itertools.count()
# Numbers mean nothing in another process, which may load a program from a cache.
_PROCESS = uuid.uuid4().hex


def _retire(number: int) -> None:
    """Forgets a callback some time after its last lease; called by the collector."""
    _retired.append((time.monotonic(), number))
    while _retired and _retired[0][0] < time.monotonic() - _GRACE_SECONDS:
        _callbacks.pop(_retired.popleft()[1], None)


def _view(address: int | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array over foreign memory. Empty arrays may have no address."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0 or not address:
        return np.empty(shape, dtype)
    raw = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(raw, np.uint8).view(dtype).reshape(shape)


def _output_addresses(out: int | None, count: int) -> list[int | None]:
    """One result is passed directly, several as an array of pointers."""
    if count == 1:
        return [out]
    if count == 0:
        return []
    return list((ctypes.c_void_p * count).from_address(out))


@_HANDLER_TYPE
def _handler(out, ins, opaque, opaque_length, status):
    try:
        config = json.loads(ctypes.string_at(opaque, opaque_length))
        callback = _callbacks.get(config["callback"]) if config["process"] == _PROCESS else None
        if callback is None:
            raise RuntimeError("the Python function of this callback no longer exists")
        callback(out, ins)
    except BaseException:  # whatever it is must not cross C frames; it reaches the user as a status
        message = traceback.format_exc().encode()
        _library.load().spokeshave_custom_call_set_failure(status, message, len(message))


def _specs(avals: Sequence[Any]) -> tuple[tuple[tuple[int, ...], np.dtype], ...]:
    return tuple((tuple(aval.shape), np.dtype(aval.dtype)) for aval in avals)


def _emit(
    ctx: Any,
    operands: Sequence[Any],
    function: Callable,
    side_effect: bool,
    avals: tuple[Sequence[Any], Sequence[Any]] | None = None,
) -> list[Any]:
    """Emits the custom call and ties the function's life to the module's."""
    from jax._src import config, core
    from jax._src.interpreters import mlir

    avals_in, avals_out = (
        [a for a in side if a is not core.abstract_token]
        for side in avals or (ctx.avals_in, ctx.avals_out)
    )
    callback = Callback(
        function, _specs(avals_in), _specs(avals_out), bool(config.enable_x64.value)
    )
    number = next(_numbers)
    _callbacks[number] = callback
    lease = _Lease()
    weakref.finalize(lease, _retire, number)
    ctx.module_context.add_keepalive(lease)
    call = mlir.custom_call(
        TARGET,
        result_types=[mlir.aval_to_ir_type(ctx.module_context, a) for a in avals_out],
        operands=operands,
        backend_config=json.dumps({"callback": number, "process": _PROCESS}),
        has_side_effect=side_effect,
        api_version=_API_VERSION,
    )
    return list(call.results)


def _call_flat(
    callback: Callable, name: str, drop_results: bool = False
) -> Callable[..., Sequence[Any]]:
    """The user's function on flat jax.Arrays, as JAX documents it; logs its exceptions."""

    def run(*arrays: np.ndarray) -> Sequence[Any]:
        import jax

        try:
            results = callback(*jax.device_put(arrays))
        except BaseException:
            logger.exception("jax.%s failed", name)
            raise
        return () if drop_results else tuple(np.asarray(r) for r in results)

    return run


def _run_debug_print(*args: Any, fmt: str, ordered: bool, **params: Any) -> tuple[()]:
    """What jax.debug.print does on the host with values of its format string."""
    from jax._src import debugging

    del ordered
    dynamic = list(args)
    callback = functools.partial(
        debugging._format_print_callback,
        fmt,
        dict(params["np_printoptions"]),
        params["has_placeholders"],
        params["logging_record"],
    )
    flat = debugging._make_flat_callback(params["in_tree"], callback, params["static_args"])
    flat(*dynamic)
    return ()


def _pass_tokens(ctx: Any, effect: Any) -> None:
    """Program order is the order of effects: each token goes out as it came in."""
    token = ctx.tokens_in.get(effect)
    from jax._src.interpreters import mlir

    ctx.set_tokens_out(mlir.TokenSet({effect: token}))


def _serve_eager_debugging() -> None:
    """Lets debug callbacks outside of jit run where Spokeshave is the only platform.

    JAX's own implementation moves the arguments to its stock CPU first and fails
    without one; the function can as well take them where they are.
    """
    from jax._src import debugging, xla_bridge

    original = debugging.debug_callback_impl

    @functools.wraps(original)
    def run(*args: Any, callback: Callable[..., Any], **params: Any) -> tuple[()]:
        if "cpu" in xla_bridge.backends():
            return original(*args, callback=callback, **params)
        callback(*args)
        return ()

    debugging.debug_callback_p.def_impl(run)
    debugging.debug_callback_impl = run  # debug_print calls it by this name


def _serve_other_rules(platform: str) -> None:
    """Rules of JAX's CPU that call back on their own (checkify, sparse solvers) do it our way."""
    import jax.interpreters.mlir
    from jax._src import callback as jax_callback

    original = jax_callback.emit_python_callback

    @functools.wraps(original)
    def emit(ctx, callback, token, operands, operand_avals, result_avals, **options):
        avals = (operand_avals, result_avals)
        if tuple(ctx.module_context.platforms) != (platform,):
            return original(ctx, callback, token, operands, *avals, **options)
        side_effect = options["has_side_effect"]
        return _emit(ctx, operands, callback, side_effect, avals), token, None

    jax_callback.emit_python_callback = emit
    jax.interpreters.mlir.emit_python_callback = emit


def register(platform: str) -> None:
    """Registers the handler with the runtime and the rules with JAX. Idempotent."""
    from jax._src import callback as jax_callback
    from jax._src import debugging

    address = ctypes.cast(_handler, ctypes.c_void_p)
    _library.load().spokeshave_register_custom_call(TARGET.encode(), b"execute", address, 0, 0)

    def pure(ctx, *args, callback, **_):
        return _emit(ctx, args, _call_flat(callback, "pure_callback"), side_effect=False)

    def io(ctx, *args, callback, ordered, **_):
        results = _emit(ctx, args, _call_flat(callback, "io_callback"), side_effect=True)
        if ordered:
            _pass_tokens(ctx, jax_callback._OrderedIOEffect)
        return results

    def debug(ctx, *args, callback, effect, **_):
        run = _call_flat(callback, "debug.callback", drop_results=True)
        results = _emit(ctx, args, run, side_effect=True)
        if effect is debugging.ordered_debug_effect:
            _pass_tokens(ctx, effect)
        return results

    def debug_print(ctx, *args, ordered, **params):
        callback = functools.partial(_run_debug_print, ordered=ordered, **params)
        effect = debugging.ordered_debug_effect if ordered else debugging.debug_effect
        return debug(ctx, *args, callback=callback, effect=effect)

    lowering.set_rule(jax_callback.pure_callback_p, pure, platform)
    lowering.set_rule(jax_callback.io_callback_p, io, platform)
    lowering.set_rule(debugging.debug_callback_p, debug, platform)
    lowering.set_rule(debugging.debug_print_p, debug_print, platform)
    _serve_eager_debugging()
    _serve_other_rules(platform)
