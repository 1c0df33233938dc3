"""Compiled kernels as files: compiled once with numba, loaded without it.

Importing numba and loading its own cache takes 0.35 s, seven times as long as a whole start without it; loading
llvmlite alone, for object code, as long as that start. Laid out code (`machine_code.py`) needs neither. A kernel
takes the address of a memory and numbers, and returns a number.

This depends on inner parts of numba: compilation of a kernel with its callees in one step, and the calling
convention. Both are tried on a small function before a kernel is compiled. If one has changed, numba loads and
calls the kernels itself, and a message on standard error reports this.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.util import source_hash
from pathlib import Path
from typing import Any

from nonobot.bot import IN_BROWSER
from nonobot.bot.kernels.cache import cache_folder, is_private, note_use
from nonobot.bot.kernels.compiler import in_one_line, numba_fits, require_compiler, version_of_numba
from nonobot.bot.kernels.machine_code import map_code
from nonobot.bot.kernels.memory import Memory, Struct
from nonobot.bot.kernels.notices import Clock, OnCompile, unnoticed
from nonobot.bot.kernels.shipped import linked_kernel, shipped_code
from nonobot.system import reason_of, report, whole_file

_DIGEST_BYTES = len(source_hash(b""))

_ROOM_OF_NUMBA, _ROOM_TO_COMPILE = 380 << 20, 200 << 20  # address space; the largest kernel: 371 and 185 MiB

Kernel = Callable[..., int]

_engines: list[Any] = []  # these own the loaded code and live as long as the process
_loaded: dict[tuple[str, str, str], Kernel] = {}
_loading = threading.Lock()


def load_kernel(module: str, name: str, struct: Struct, numbers: int, on_compile: OnCompile = unnoticed) -> Kernel:
    """Return a kernel as a function of the address of a memory and of `numbers` int64, which returns an int64.

    A process loads it once; threads may call it at the same time, without the interpreter's lock, each with its
    own memory. Only compiling for this `struct` imports the module and calls `on_compile`. With NUMBA_DISABLE_JIT,
    it is the kernel in plain Python.
    ValueError: too little memory or address space, or the system forbids a program to run code that it wrote.
    CompilerError: numba is missing, or cannot compile the kernels.
    """
    with _loading:
        key = module, name, struct.name
        if key not in _loaded:
            try:
                _loaded[key] = _load(module, name, struct, numbers, on_compile)
            except MemoryError:
                raise _no_room() from None
        return _loaded[key]


def _load(module: str, name: str, struct: Struct, numbers: int, on_compile: OnCompile) -> Kernel:
    """Return a kernel from its file, or compiled, or in plain Python."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        with numba_fits():
            from nonobot.bot.kernels.interpreter import on_plain_memory

        return on_plain_memory(getattr(importlib.import_module(module), name), struct)
    file = f"{name}-{struct.name}"
    if linked := linked_kernel(file):
        return linked
    code = shipped_code(file)
    if code is not None:
        return _link(code, 1 + numbers)
    require_compiler()
    folder = cache_folder()
    path = folder / f"{file}.code" if folder else None
    code = _read_whole(path) if path else None
    if code is not None:
        note_use()
        return _link(code, 1 + numbers)
    left, needed = _room()
    if left is not None and left < needed:  # LLVM would abort the process
        raise _no_room()
    if change := _change_in_numba():
        return _called_by_numba(module, name, struct, on_compile, change)
    from nonobot.bot.kernels.compiling import kernel_count
    from nonobot.bot.kernels.object_code import object_code

    function = getattr(importlib.import_module(module), name).py_func
    clock = Clock(kernel_count(function), on_compile)
    try:
        with numba_fits():
            code = object_code(function, struct, numbers, clock.done)
    finally:
        clock.done(1.0)
    _keep(code, path)
    return _link(code, 1 + numbers)


def _no_room() -> ValueError:
    """Return the error of too little memory or address space to compile kernels."""
    left, needed = _room()
    room = "the system gives no more" if left is None else f"{left >> 20} MiB are left"
    needs = f"to compile the kernels takes {needed >> 20} MiB of address space"
    return ValueError(f"{needs}, and {room}; raise the limit (ulimit -v)")


def _room() -> tuple[int | None, int]:
    """Return the bytes of address space that a limit leaves (None: no limit), and those that compiling takes."""
    import mmap
    import resource

    needed = _ROOM_TO_COMPILE + (0 if "numba" in sys.modules else _ROOM_OF_NUMBA)
    limit, facts = resource.getrlimit(resource.RLIMIT_AS)[0], Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not facts.exists():
        return None, needed
    return max(0, limit - int(facts.read_bytes().split()[0]) * mmap.PAGESIZE), needed


def _keep(code: bytes, path: Path | None) -> None:
    """Write code to a file; report it if that fails, since the next start has to compile again."""
    why = "no folder can be written"
    try:
        if path:
            with whole_file(path, is_private=True) as file:
                file.write(source_hash(code) + code)
            note_use(tidy=True)
            return
    except OSError as error:
        why = f"{path}: {reason_of(error)}"
    report(f"nonobot: compiled kernels cannot be kept ({why}); the next start compiles them again")


def _read_whole(path: Path) -> bytes | None:
    """Return the code in a file; None: it is missing or damaged, or other users may write to it."""
    if not (path.is_file() and is_private(path)):
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if source_hash(code) == digest else None


def _link(code: bytes, parameters: int) -> Kernel:
    """Load what `object_code` made and return its function."""
    import ctypes

    name, _, content = code.partition(b"\0")
    load = _load_side_module if IN_BROWSER else _load_object_code
    address = load(content, name.decode()) if name else map_code(content)
    # Numba's own calling convention: status, through pointers the result and the exception, then the arguments.
    pointers = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, *[ctypes.c_int64] * parameters)(address)

    def call(*arguments: int) -> int:
        result, exception = ctypes.c_int64(), ctypes.c_void_p()
        function(ctypes.byref(result), ctypes.byref(exception), *arguments)
        return result.value

    return call


def _load_side_module(module: bytes, name: str) -> int:
    """Load WebAssembly as a shared library of Emscripten, and return the address of a function of it."""
    import ctypes
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile() as file:
        file.write(module)
        file.flush()
        try:
            library = ctypes.CDLL(file.name)
        except OSError as error:
            raise ValueError(" ".join(f"this browser cannot load the kernels: {error}".split())) from None
    _engines.append(library)
    address = ctypes.cast(library[name], ctypes.c_void_p).value
    assert address
    return address


def _load_object_code(object_code: bytes, name: str) -> int:
    """Load object code with llvmlite and return the address of a function of it."""
    with numba_fits():
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        engine.finalize_object()
        _engines.append(engine)
        address: int = engine.get_function_address(name)
        if not address:
            raise LookupError(f"the object code has no function {name}")
    return address


# --- where numba has changed -----------------------------------------------------------------------------------


def _sample(first: int, second: int) -> int:
    """Return a number that shows whether both arguments arrived in order, without using them as addresses."""
    return first - second


@cache
def _change_in_numba() -> str:
    """Compile, load and call a small function; return why that fails, or nothing if it does not."""
    first, second = 0x0123_4567_89AB_CDEF, 0x00FE_DCBA_9876_5432
    try:
        from nonobot.bot.kernels.numba_names import moved

        if moved:
            raise moved
        from nonobot.bot.kernels.object_code import object_code

        result = _link(object_code(_sample, None, 2), 2)(first, second)
    except MemoryError:
        raise
    except Exception as error:  # a different numba may fail in any way
        return in_one_line(error)
    return "" if result == first - second else f"a call returned {result:#x} in place of {first - second:#x}"


@cache
def _report_change(change: str) -> None:
    """Report once that numba loads the kernels."""
    changed = f"numba {version_of_numba()} has changed in what lets kernels be loaded without it ({change})"
    report(f"nonobot: {changed}; numba loads them itself, and each start takes longer")


def _called_by_numba(module: str, name: str, struct: Struct, on_compile: OnCompile, change: str) -> Kernel:
    """Return a kernel as :func:`load_kernel` does; numba loads and calls it, from its own cache if it is there."""
    with numba_fits():
        from nonobot.bot.kernels.compiling import entry, kernel_count

        kernel = entry(getattr(importlib.import_module(module), name).py_func)
    is_new = True

    def call(address: int, *numbers: int) -> int:
        nonlocal is_new
        folder = cache_folder()
        # As numba names the index of its cache; it compiles at the first call.
        if is_new and (folder is None or not any(folder.rglob(f"*.{name}-*.nbi"))):
            Clock(3 * kernel_count(kernel.py_func), on_compile)  # it optimises each with all that it calls
        is_new = False
        handle = Memory.__new__(Memory)  # numba only needs its map and its address
        handle.struct, handle.address = struct, address
        with numba_fits():
            result = int(kernel(handle, *numbers))
        _report_change(change)
        return result

    return call
