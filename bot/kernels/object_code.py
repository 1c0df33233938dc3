"""Object code of kernels, compiled by numba for this processor or for another one.

Numba's front end makes the same code for every processor: `kernel_code` does its work once, and `machine_code`
follows for each processor.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba.core import config, event
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext

from nonobot.bot.kernels import compiling
from nonobot.bot.kernels.language import StructType
from nonobot.bot.kernels.machine_code import laid_out
from nonobot.bot.kernels.memory import Struct

_WEBASSEMBLY = "wasm32-unknown-emscripten"
_FEATURES = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"  # features that all browsers have since 2023


_TYPED_SHARE = 0.75  # share of the time that numba takes for all kernels; LLVM takes the rest to optimise them

OnShare = Callable[[float], None]  # called as a compilation proceeds, with the share that is done


class KernelCode(NamedTuple):
    """A kernel with all that it calls, before it is optimised: the name of its function, and numba's library."""

    name: str
    library: Any


def object_code(
    function: Callable[..., Any], struct: Struct | None, numbers: int, on_share: OnShare = lambda share: None
) -> bytes:
    """Return a kernel for this processor, as :func:`machine_code` does."""
    with event.install_listener("numba:compile", _Steps(compiling.kernel_count(function), on_share)):
        code = kernel_code(function, struct, numbers)
    return machine_code(code)


class _Steps(event.Listener):
    """Listens to numba as it compiles one kernel after another, and reports the share that is done."""

    def __init__(self, kernels: int, on_share: OnShare) -> None:
        self._kernels = kernels
        self._on_share = on_share
        self._done: set[Any] = set()

    def on_start(self, _: Any) -> None:
        """Do nothing."""

    def on_end(self, compiled: Any) -> None:
        """Count a kernel; numba may compile it for other arguments, too."""
        self._done.add(compiled.data["dispatcher"])
        self._on_share(_TYPED_SHARE * min(1.0, len(self._done) / self._kernels))


def kernel_code(function: Callable[..., Any], struct: Struct | None, numbers: int) -> KernelCode:
    """Return the code of a kernel that takes a memory of this `struct` and a number of int64."""
    kernel = compiling.kernel(function)
    signature = (*([StructType(struct)] if struct else []), *[numba.int64] * numbers)
    with _without_garbage_collection(), global_compiler_lock, _nothing_but_typed():
        kernel.compile(signature)
    compiled = kernel.overloads[signature]
    name = compiled.fndesc.llvm_func_name
    # Nothing else calls the inner kernels: LLVM then optimises their arguments and results too.
    for inner in compiled.library._final_module.functions:
        if not inner.is_declaration and inner.name != name:
            inner.linkage = "internal"
    return KernelCode(name, compiled.library)


def for_processor(code: KernelCode, processor: str) -> KernelCode:
    """Return a copy of the code for another processor, by LLVM's name for it, such as `x86-64-v3`."""
    before = config.CPU_NAME, config.CPU_FEATURES
    config.CPU_NAME, config.CPU_FEATURES = processor, ""  # read when a code generator is made
    try:
        library = JITCPUCodegen(processor).create_library(code.name)
    finally:
        config.CPU_NAME, config.CPU_FEATURES = before
    library._final_module = llvm.parse_assembly(str(code.library._final_module))
    return KernelCode(code.name, library)


def for_webassembly(code: KernelCode) -> KernelCode:
    """Return a copy of the code for WebAssembly; the name of its function is `kernel`."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(_WEBASSEMBLY)
    machine = target.create_target_machine(features=_FEATURES, opt=config.OPT, reloc="pic")
    codegen = JITCPUCodegen(_WEBASSEMBLY)
    codegen._tm = machine
    module = llvm.parse_assembly(_LANES_OF_MASK.sub(_lanes_by_bits, str(code.library._final_module)))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    for variable in module.global_variables:
        variable.linkage = "internal"  # none is used, and WebAssembly has no `common` ones
    module.get_function(code.name).name = "kernel"
    library = codegen.create_library("kernel")
    library._final_module = module
    return KernelCode("kernel", library)


_LANES_OF_MASK = re.compile(r"(%\S+) = bitcast i(?:16|32|64) (%\S+) to <(16|32|64) x i1>")


def _lanes_by_bits(found: re.Match[str]) -> str:
    """Return LLVM code that tests a bit of a mask in each lane: WebAssembly would fill lane by lane."""
    name, mask, lanes = found[1], found[2], int(found[3])
    count = max(1, lanes // 32)
    own = "%lanes." + name.strip('%"')
    steps = {
        f"{own}.whole": f"{'zext' if lanes < 32 else 'bitcast'} i{lanes} {mask} to i{32 * count}",
        f"{own}.words": f"bitcast i{32 * count} {own}.whole to <{count} x i32>",
        f"{own}.word": f"shufflevector <{count} x i32> {own}.words, <{count} x i32> poison, <{lanes} x i32> "
        + _constants(lane // 32 for lane in range(lanes)),
        f"{own}.bit": f"and <{lanes} x i32> {own}.word, "
        + _constants(1 << lane % 32 if lane % 32 < 31 else -1 << 31 for lane in range(lanes)),
        name: f"icmp ne <{lanes} x i32> {own}.bit, zeroinitializer",
    }
    return "\n  ".join(f"{result} = {how}" for result, how in steps.items())


def _constants(numbers: Iterable[int]) -> str:
    return f"<{', '.join(f'i32 {number}' for number in numbers)}>"


def machine_code(code: KernelCode) -> bytes:
    """Optimise the code; return a zero byte and laid out code, otherwise its name, a zero byte and object code."""
    with _without_garbage_collection(), global_compiler_lock:
        code.library._optimize_final_module()
        made: bytes = code.library.codegen._tm.emit_object(code.library._final_module)
    laid = laid_out(made, code.name)
    return b"\0" + laid if laid else code.name.encode() + b"\0" + made


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Collect no garbage in the block: few of a compiler's millions of objects are garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def _nothing_but_typed() -> Iterator[None]:
    """Keep numba from optimising each kernel with all that it calls, and from making machine code of each.

    The outermost kernel, which includes all others, is optimised once: a third of the time, for equally fast code.
    """
    replaced: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
        (JITCodeLibrary, "_optimize_final_module", lambda library: None),
        (JITCodeLibrary, "_finalize_final_module", lambda library: setattr(library, "_finalized", True)),
        # Numba distinguishes kernels by the result of this: any built-in function, each time another.
        (CPUContext, "get_executable", lambda context, library, *_: library._ensure_finalized() or [].append),
    )
    before = [getattr(owner, name) for owner, name, _ in replaced]
    try:
        for owner, name, function in replaced:
            setattr(owner, name, function)
        yield
    finally:
        for (owner, name, _), function in zip(replaced, before, strict=True):
            setattr(owner, name, function)
