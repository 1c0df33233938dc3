"""Writing puzzles in any format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nonobot.protocol.faults import CannotHold, Fault, LeftOut
from nonobot.protocol.formats.base import Format, FormatError
from nonobot.protocol.formats.registry import format_named, formats
from nonobot.protocol.record import TEXT_FIELDS, Record
from nonobot.protocol.taai import DEFAULT_SIZE

__all__ = ["Written", "write"]


@dataclass(frozen=True, slots=True)
class Written:
    """What came of writing.

    Attributes
    ----------
    data : bytes
        The file; empty if no puzzle could be written.
    count : int
        Number of puzzles in it.
    faults : tuple of Fault
        The puzzles that the format cannot hold: they are not in the file.
    remarks : tuple of Fault
        What the format has no place for, of the puzzles that are in the file.
    """

    data: bytes
    count: int
    faults: tuple[Fault, ...]
    remarks: tuple[Fault, ...]


def write(records: Iterable[Record], format: str) -> Written:
    """Return the file that holds `records` in a format.

    Puzzles that the format cannot write are left out and named; what it cannot say about a puzzle (a title, a
    start) is left out and named, too.

    Raises
    ------
    FormatError
        If there is no such format; if it holds one puzzle a file and there are several; or if it states no size
        and nobody could tell the sizes of these boards.
    """
    to = format_named(format)
    kept: list[Record] = []
    faults: list[Fault] = []
    remarks: list[Fault] = []
    for record in records:
        problem = to.problem(record)
        if problem:
            faults.append(CannotHold(f"cannot be written as {to.name}: {problem}", record.number))
        else:
            kept.append(record)
            remarks += _left_out(record, to)
    _check_count(kept, to)
    if not to.states_size:
        remarks += _unstated_size(kept, to)
    data = to.write(kept).encode() if kept else b""
    return Written(data, len(kept), tuple(faults), tuple(remarks))


def _check_count(records: Sequence[Record], to: Format) -> None:
    if len(records) > 1 and not to.several:
        several = ", ".join(one.name for one in formats() if one.several)
        raise FormatError(
            f"{to.name} holds one puzzle a file, not {len(records)}; several can be held by {several}"
        )


def _unstated_size(records: Sequence[Record], to: Format) -> list[Fault]:
    """Return what a reader has to be told about the sizes of the boards."""
    sizes = sorted({(record.puzzle.width, record.puzzle.height) for record in records})
    names = [f"{width}x{height}" for width, height in sizes]
    if len(sizes) > 1 and any(width != height for width, height in sizes):
        raise FormatError(
            f"{to.name} states no sizes; a file can mix square boards only, and here are {', '.join(names[:5])}"
        )
    if len(sizes) > 1:
        return [LeftOut(f"{to.name} does not state the sizes of the boards; to be read with --size auto")]
    if sizes and sizes[0] != DEFAULT_SIZE:
        return [LeftOut(f"{to.name} does not state the size of the boards; to be read with --size {names[0]}")]
    return []


def _left_out(record: Record, to: Format) -> list[Fault]:
    names = [name for name in (*TEXT_FIELDS, "start", "goal") if getattr(record, name) is not None]
    lost = [name for name in names if name not in to.holds]
    return [LeftOut(f"{to.name} has no place for the {', '.join(lost)}", record.number)] if lost else []
