"""Compiled kernels as object files: compiled once with numba, loaded without it.

Importing numba and loading its own cache takes 0.35 s, two thirds of the time from process start to the first
answer. An object file is loaded by llvmlite alone in a few milliseconds. A kernel that is loaded this way takes
and returns 64-bit words.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import os
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm

from nonobot.bot.cache import cache_folder, note_use, tidy_cache
from nonobot.bot.memory import Struct

__all__ = ["KernelError", "load_kernel"]


class KernelError(Exception):
    """A kernel cannot be had; the text says why and what to do."""


_DIGEST_BYTES = hashlib.sha256().digest_size

_engines: list[llvm.ExecutionEngine] = []  # own the loaded code: they live as long as the process


def load_kernel(
    module: str, name: str, struct: Struct, numbers: int, on_compile: Callable[[], None]
) -> Callable[..., int]:
    """Return the kernel `name` of a module as a function of the address of a memory and some numbers.

    Parameters
    ----------
    module, name : str
        Where the kernel is defined; it is imported only if it has to be compiled.
    struct : Struct
        The map of the memory that it takes first.
    numbers : int
        How many more arguments it takes, each int64; it returns an int64.
    on_compile : callable
        Called before a compilation begins.

    With NUMBA_DISABLE_JIT it is the kernel in plain Python, for a debugger.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        from nonobot.bot.plain import on_plain_memory

        return on_plain_memory(getattr(importlib.import_module(module), name), struct)
    folder = cache_folder()
    path = folder / f"{name}-{struct.name}.o" if folder else None
    code = _read_whole(path) if path else None
    if code is not None:
        note_use()
    else:
        on_compile()
        code = _compile(module, name, struct, numbers)
        if path:
            with contextlib.suppress(OSError):  # a full disk costs the next start a compilation, no more
                _write_whole(path, code)
                tidy_cache()
    return _link(code, 1 + numbers)


def _compile(module: str, name: str, struct: Struct, numbers: int) -> bytes:
    """Return the name of a kernel in its object code, a zero byte, and the object code."""
    import gc

    import numba

    from nonobot.bot.language import StructType

    gc.disable()  # a compiler makes millions of objects, and rubbish is rare among them
    try:
        source = getattr(importlib.import_module(module), name).py_func
        kernel = numba.njit(error_model="numpy", nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
            source
        )
        signature = (StructType(struct), *[numba.int64] * numbers)
        kernel.compile(signature)
        compiled = kernel.overloads[signature]
        code: bytes = compiled.library._get_compiled_object()
    finally:
        gc.enable()
    return compiled.fndesc.llvm_func_name.encode() + b"\0" + code


def _read_whole(path: Path) -> bytes | None:
    """Return what `_write_whole` wrote; None if there is no such file or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write_whole(path: Path, code: bytes) -> None:
    """Write a file so that no other process ever sees a part of it."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(hashlib.sha256(code).digest() + code)
    partial.replace(path)


def _link(code: bytes, words: int) -> Callable[..., int]:
    """Load object code and return its function."""
    symbol, _, object_code = code.partition(b"\0")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    _engines.append(engine)
    # Numba's own calling convention: status, through pointers the result and the exception, then the arguments.
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int64),
        ctypes.POINTER(ctypes.c_void_p),
        *[ctypes.c_int64] * words,
    )
    function = kind(engine.get_function_address(symbol.decode()))
    result, exception = ctypes.c_int64(), ctypes.c_void_p()
    result_pointer, exception_pointer = ctypes.byref(result), ctypes.byref(exception)

    def call(*arguments: int) -> int:
        function(result_pointer, exception_pointer, *arguments)
        return result.value

    return call
