"""Object code of kernels, compiled by numba for this processor or for another one.

Numba's front end makes the same code for every processor: `kernel_code` does its work once, and `machine_code`
follows for each processor.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nonobot.bot.kernels import compiling
from nonobot.bot.kernels.language import StructType
from nonobot.bot.kernels.machine_code import laid_out
from nonobot.bot.kernels.memory import Struct
from nonobot.bot.kernels.numba_names import (
    CPUContext,
    JITCodeLibrary,
    config,
    event,
    global_compiler_lock,
    llvm,
    types,
)

_WEBASSEMBLY = "wasm32-unknown-emscripten"
_FEATURES = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"  # features that all browsers have since 2023

_TYPED_SHARE = 0.75  # share of the time that numba takes for all kernels; LLVM takes the rest to optimise them

OnShare = Callable[[float], None]  # called as a compilation proceeds, with the share that is done


class KernelCode(NamedTuple):
    """A kernel with all that it calls, in LLVM's language, before it is optimised for a machine."""

    name: str  # of its function
    module: Any
    machine: Any


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
    """Return the code, for this processor, of a kernel that takes a memory of this `struct` and some int64."""
    signature = (*([StructType(struct)] if struct else []), *[types.int64] * numbers)
    with _without_garbage_collection(), global_compiler_lock, _nothing_but_typed():
        kernel = compiling.kernel(function, signature)
    module = llvm.parse_assembly(kernel.inspect_llvm(signature))
    defined = [each for each in module.functions if not each.is_declaration]
    [outermost] = (each for each in defined if each.linkage is llvm.Linkage.external)
    _require_convention([argument.type for argument in outermost.arguments], len(signature))
    for inner in defined:
        if inner.name != outermost.name:
            inner.linkage = "internal"  # nothing else calls it: LLVM then optimises its arguments and result too
    processor, features = config.CPU_NAME, config.CPU_FEATURES
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return KernelCode(outermost.name, module, _machine(processor or llvm.get_host_cpu_name(), features))


def _require_convention(parameters: Sequence[Any], numbers: int) -> None:
    """Raise LookupError unless a kernel is called as `loading` does: a wrong call could end the process."""
    if [kind.is_pointer for kind in parameters] != [True, True, *[False] * numbers]:
        raise LookupError(f"the parameters of a kernel are {', '.join(map(str, parameters))}")


def _machine(processor: str, features: str) -> Any:
    """Return LLVM's target for code of this process, for a processor by LLVM's name, such as `x86-64-v3`."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    places = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(processor, features, 3, places, "jitdefault", jit=True)


def for_processor(code: KernelCode, processor: str) -> KernelCode:
    """Return the code for another processor, by LLVM's name for it, such as `x86-64-v3`."""
    return code._replace(machine=_machine(processor, ""))


def for_webassembly(code: KernelCode) -> KernelCode:
    """Return the code for WebAssembly; the name of its function is `kernel`."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(_WEBASSEMBLY)
    machine = target.create_target_machine(features=_FEATURES, opt=3, reloc="pic")
    module = llvm.parse_assembly(_LANES_OF_MASK.sub(_lanes_by_bits, str(code.module)))
    for variable in module.global_variables:
        variable.linkage = "internal"  # none is used, and WebAssembly has no `common` ones
    module.get_function(code.name).name = "kernel"
    return KernelCode("kernel", module, machine)


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
    module = code.module.clone()
    module.triple, module.data_layout = code.machine.triple, str(code.machine.target_data)
    with _without_garbage_collection():
        _optimise(module, code.machine)
        made: bytes = code.machine.emit_object(module)
    laid = laid_out(made, code.name)
    return b"\0" + laid if laid else code.name.encode() + b"\0" + made


def _optimise(module: Any, machine: Any) -> None:
    """Optimise as numba does: first what makes loops simple, then all."""
    for level in (0, 3):
        tuning = llvm.create_pipeline_tuning_options(level)
        tuning.loop_vectorization, tuning.slp_vectorization = level > 0, False
        builder = llvm.create_pass_builder(machine, tuning)
        passes = builder.getModulePassManager()
        if level == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.run(module, builder)


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
