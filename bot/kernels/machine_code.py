"""Machine code that needs no linker: laid out once, when kernels are compiled, and mapped into memory unchanged.

Loading llvmlite takes as long as everything else from process start to the first answer, only to place the parts
of a kernel in memory. Numba's code for x86-64 contains whole addresses: so its sections are put one after the
other, with lists of the places that contain an address. llvmlite loads object code that needs more than that.

Source: System V ABI, chapter 4 (object files), and its AMD64 supplement, section 4.4 (relocation).
"""

from __future__ import annotations

import os
from struct import Struct
from typing import NamedTuple

OUTSIDE = "clock_gettime"  # the only function outside of themselves that kernels call; of the C library

# -- object files
_ELF64_LITTLE_ENDIAN = b"\x7fELF\x02\x01"
_X86_64 = 62
_MACHINE, _SECTION_TABLE = Struct("<18xH"), Struct("<40xQ12xH")  # of the header
_SECTION = Struct("<4xIQ8xQQIIQ8x")
_SYMBOL = Struct("<I2xHQ8x")
_RELOCATION = Struct("<QIIq")
_WHOLE_ADDRESS = 1  # R_X86_64_64
_TO_DO_MORE = (9, 14, 15, 16)  # kinds of sections: relocations of another form, and functions to call at the start

# -- laid out code
_HEAD = Struct("<QQQ")  # place of the function; numbers of places with an address within, and outside
_WORD = Struct("<Q")


class ForbiddenError(ValueError):
    """The system forbids a program to run code that it wrote; `number` is the number of the system's error."""

    def __init__(self, number: int) -> None:
        super().__init__(f"the system lets no program run machine code that it made itself: {os.strerror(number)}")


class _Section(NamedTuple):
    kind: int  # 1: code or constants, 2: symbols, 4: relocations; others are ignored, except _TO_DO_MORE
    flags: int  # 1: writable, 2: needed in memory
    offset: int  # in the file
    size: int
    link: int  # of symbols, the section of their names
    target: int  # of relocations, the section that they change
    alignment: int


def laid_out(object_code: bytes, function: str) -> bytes | None:
    """Return an object file laid out for :func:`map_code`; `function` is the symbol of the function to call.

    None: the file is of another kind or machine, or needs more than this module does.
    """
    if not object_code.startswith(_ELF64_LITTLE_ENDIAN) or _MACHINE.unpack_from(object_code) != (_X86_64,):
        return None
    table, count = _SECTION_TABLE.unpack_from(object_code)
    sections = [_Section(*_SECTION.unpack_from(object_code, table + i * _SECTION.size)) for i in range(count)]
    code, place_of = bytearray(), {}
    for number, section in enumerate(sections):
        if section.kind in _TO_DO_MORE:
            return None
        if section.kind == 1 and section.flags & 2 and section.size:
            if section.flags & 1:
                return None
            code += bytes(-len(code) % max(1, section.alignment))
            place_of[number] = len(code)
            code += _content(object_code, section)
    symbols = _symbols(object_code, sections)
    within, outside = [], []
    for section in sections:
        if section.kind != 4 or section.target not in place_of:
            continue
        for offset, kind, symbol, addend in _RELOCATION.iter_unpack(_content(object_code, section)):
            name, home, value = symbols[symbol]
            place = place_of[section.target] + offset
            if kind != _WHOLE_ADDRESS:
                return None
            if home in place_of and place_of[home] + value + addend >= 0:
                _WORD.pack_into(code, place, place_of[home] + value + addend)
                within.append(place)
            elif name == OUTSIDE and not addend:
                outside.append(place)
            else:
                return None
    starts = [place_of[home] + value for name, home, value in symbols if name == function and home in place_of]
    if not starts:
        return None
    head = _HEAD.pack(starts[0], len(within), len(outside))
    return head + b"".join(map(_WORD.pack, within + outside)) + code


def _content(object_code: bytes, section: _Section) -> bytes:
    return object_code[section.offset : section.offset + section.size]


def _symbols(object_code: bytes, sections: list[_Section]) -> list[tuple[str, int, int]]:
    """Return the name of each symbol, the number of its section and its place there."""
    [table] = [section for section in sections if section.kind == 2]
    names = _content(object_code, sections[table.link])
    return [
        (names[name : names.index(b"\0", name)].decode(), home, value)
        for name, home, value in _SYMBOL.iter_unpack(_content(object_code, table))
    ]


def without_addresses(code: bytes) -> bytes:
    """Return code without addresses, laid out for :func:`map_code`; its function is at its start."""
    return _HEAD.pack(0, 0, 0) + code


def parts_of(laid: bytes) -> tuple[int, list[int], list[int], bytes]:
    """Return the parts of laid out code: the place of its function, the places of addresses, and the code.

    The first places contain an offset within the code; the others need the address of OUTSIDE.
    """
    start, within, outside = _HEAD.unpack_from(laid)
    begin = _HEAD.size + _WORD.size * (within + outside)
    places = [place for (place,) in _WORD.iter_unpack(laid[_HEAD.size : begin])]
    return start, places[:within], places[within:], laid[begin:]


def map_code(laid: bytes) -> int:
    """Map laid out code into memory, for the rest of the process, and return the address of its function.

    ForbiddenError: the system does not let a program run memory that it wrote.
    """
    import ctypes
    import mmap

    start, within, outside, code = parts_of(laid)
    try:
        room = mmap.mmap(-1, len(code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError from None
    room.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    library = ctypes.CDLL(None, use_errno=True)
    called = ctypes.cast(library[OUTSIDE], ctypes.c_void_p).value
    for place in within:
        _WORD.pack_into(room, place, address + _WORD.unpack_from(room, place)[0])
    for place in outside:
        _WORD.pack_into(room, place, called)
    rights = mmap.PROT_READ | mmap.PROT_EXEC
    if library.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(room)), rights):
        raise ForbiddenError(ctypes.get_errno())
    # Never unmapped, not even as the process ends: a daemon thread of the program may still run it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(room))
    return address + start
