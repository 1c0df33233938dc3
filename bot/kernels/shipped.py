"""Kernels that come with the bot, compiled for the levels of x86-64 and for WebAssembly: which of them to load.

Each file begins with checksums of its code and of its sources (`sealed`). So the bot runs no damaged kernel, and
none of another version.

Source: System V ABI, AMD64 supplement, section 3.1.1 (the levels and their features).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from struct import Struct

from nonobot.bot import IN_BROWSER
from nonobot.bot.kernels.cache import kernel_sources
from nonobot.bot.kernels.machine_code import map_code, without_addresses
from nonobot.bot.kernels.memory import LINKED
from nonobot.system import report

LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")  # by LLVM's names; each includes those before it
WASM32 = "wasm32"  # WebAssembly, as the only level that a browser has
NATIVE = "native"

_BOT = Path(__file__).parents[1]
_FOLDER = _BOT / "kernels" / "built"
_FOLDER_OF_CLONE = _BOT.parent / "build" / "kernels"

_SEAL = Struct("<IIQ")  # the checksum of the code, and the checksum and the length of the sources

# cpuid(eax, ecx, registers): push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi; cpuid;
# mov [r8], eax; mov [r8+4], ebx; mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
_CPUID = bytes.fromhex("534989d089f889f10fa241890041895804418948084189500c5bc3")
# xgetbv(ecx): mov ecx, edi; xgetbv; ret
_XGETBV = bytes.fromhex("89f90f01d0c3")

# Features by level: bits of the registers that cpuid(1), cpuid(7) and cpuid(0x80000001) set.
_V2 = {"1c": (0, 9, 13, 19, 20, 23), "ec": (0,)}  # SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT, LAHF
# FMA MOVBE OSXSAVE AVX F16C, BMI1 AVX2 BMI2, LZCNT
_V3 = {"1c": (12, 22, 27, 28, 29), "7b": (3, 5, 8), "ec": (5,)}
_V4 = {"7b": (16, 17, 28, 30, 31)}  # AVX-512: F DQ CD BW VL
_AVX_STATE, _AVX512_STATE = 0x06, 0xE6  # bits of XCR0: the registers that the system keeps for a process


def chosen_level() -> str | None:
    """Return the level of the kernels to load; None: compile kernels for exactly this processor.

    $NONOBOT_KERNELS selects `native` or a level, at most the processor's own.
    """
    chosen = os.environ.get("NONOBOT_KERNELS")
    level = None if chosen == NATIVE else processor_level()
    if level is None or not chosen:
        return level
    levels = (WASM32,) if IN_BROWSER else LEVELS
    if chosen not in levels:
        raise ValueError(f"NONOBOT_KERNELS={chosen}: no such level; choose {NATIVE}, {', '.join(levels)}")
    return min(level, chosen, key=levels.index)


@cache
def processor_level() -> str | None:
    """Return the best level that this processor has; None on a processor of another kind."""
    if IN_BROWSER:
        return WASM32
    if os.uname().machine != "x86_64":
        return None
    if LINKED:
        return LEVELS[LINKED.level()]
    import ctypes

    registers = (ctypes.c_uint32 * 4)()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
    ask = kind(map_code(without_addresses(_CPUID)))

    def cpuid(leaf: int) -> list[int]:
        ask(leaf, 0, ctypes.addressof(registers))
        return list(registers)

    facts = {"1c": cpuid(1)[2], "7b": cpuid(7)[1] if cpuid(0)[0] >= 7 else 0, "ec": cpuid(0x80000001)[2]}

    def has(features: Mapping[str, tuple[int, ...]]) -> bool:
        return all(facts[register] >> bit & 1 for register, bits in features.items() for bit in bits)

    if not has(_V2):
        return LEVELS[0]
    if not has(_V3):
        return LEVELS[1]
    kept = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(map_code(without_addresses(_XGETBV)))(0)
    if kept & _AVX_STATE != _AVX_STATE:
        return LEVELS[1]
    return LEVELS[3] if has(_V4) and kept & _AVX512_STATE == _AVX512_STATE else LEVELS[2]


def linked_kernel(name: str) -> Callable[..., int] | None:
    """Return a kernel of this executable, of a lower level if one is damaged; None: this is not an executable."""
    if not LINKED:
        return None
    best = chosen_level()
    if best is None:
        raise ValueError(f"this executable compiles no kernels; remove --native and NONOBOT_KERNELS={NATIVE}")
    damaged: ValueError | None = None
    for level in range(LEVELS.index(best), -1, -1):
        try:
            kernel: Callable[..., int] = LINKED.kernel(name, level)
        except ValueError as error:
            damaged = damaged or error
            continue
        if damaged:
            report(f"nonobot: {damaged}")
        return kernel
    assert damaged
    raise damaged


def has_kernels() -> bool:
    """Return whether kernels came with the bot, and are to be used."""
    return bool(LINKED) or bool((level := chosen_level()) and (_FOLDER / level).is_dir())


def shipped_code(name: str) -> bytes | None:
    """Return the code of a kernel that came with the bot, or None; report a damaged or older one.

    The next lower level replaces it. ValueError: in a browser there is none.
    """
    if not has_kernels():  # as in a clone without built kernels
        return None
    best = str(chosen_level())
    for level in (WASM32,) if IN_BROWSER else LEVELS[LEVELS.index(best) :: -1]:
        path = _FOLDER / level / f"{name}.code"
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        if is_whole(content):
            return content[_SEAL.size :]
        if level == best:
            problem = "is damaged, or belongs to another version" if content else "cannot be read"
            fault = f"the kernel {path} {problem}; install nonobot again"
            if IN_BROWSER:
                raise ValueError(fault)
            report(f"nonobot: {fault}")
    return None


def wasm_kernels() -> list[Path]:
    """Return the files with kernels for browsers, installed or built in a clone; none if one has other sources."""
    for folder in (_FOLDER, _FOLDER_OF_CLONE):
        files = sorted((folder / WASM32).glob("*.code"))
        if files and all(is_whole(file.read_bytes()) for file in files):
            return files
    return []


def sealed(code: bytes) -> bytes:
    """Return the content of a kernel's file: checksums of the code and of the present sources, then the code."""
    return _SEAL.pack(zlib.crc32(code), *_facts_of_sources()) + code


def is_whole(content: bytes) -> bool:
    """Return whether this is the content of a kernel's file, undamaged and made from the present sources."""
    return bool(content) and sealed(content[_SEAL.size :]) == content


@cache
def _facts_of_sources() -> tuple[int, int]:
    """Return a checksum of the sources of the kernels, and their length."""
    check = length = 0
    for source in kernel_sources():
        content = source.read_bytes()
        name = source.relative_to(_BOT).as_posix()
        check = zlib.crc32(content, zlib.crc32(f"{len(content)} {name}\n".encode(), check))
        length += len(content)
    return check, length
