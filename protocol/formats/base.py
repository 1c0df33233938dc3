"""What every format has: its name, what it holds, and how it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nonobot.protocol.faults import Fault, Kind
from nonobot.protocol.record import Found, Record

__all__ = [
    "MOST_BYTES",
    "MOST_SIDE",
    "BrokenOffError",
    "Format",
    "FormatError",
    "Found",
    "Size",
    "UnknownFormatError",
]

MOST_BYTES = 1 << 24
"""Size of the largest file that is read, 16 MiB: some thirty tournament sets."""

MOST_SIDE = 9999
"""Rows or columns of the largest board that is read."""

Size = tuple[int, int] | Literal["auto"]
"""Width and height of all boards of a file; `auto`: they are square, each of the size that its lines make."""


class FormatError(Exception):
    """A file that cannot be read or written at all; the message is one line that says why."""


class UnknownFormatError(FormatError):
    """The content of a file is of no known format."""


class BrokenOffError(Exception):
    """A file that is not read on from `line`: what stands there is broken, or nothing after it can be trusted."""

    def __init__(self, what: str, line: int, kind: Kind = Kind.UNUSABLE_MARKUP) -> None:
        self.fault = Fault(kind, what, line=line)


def _no_problem(record: Record) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Format:
    """A format of puzzle files.

    Attributes
    ----------
    name : str
        What the user writes after `--format`.
    description : str
        A few words.
    extensions : tuple of str
        Ends of file names, with their dot; the first is the usual one.
    several : bool
        Whether a file can hold more than one puzzle.
    looks_like : callable
        Takes the first lines of a file, stripped and without blank ones (at least one), and says whether they
        are of this format. The formats are asked one after the other; see `nonobot.protocol.formats.detect`.
    read : callable
        Takes the bytes of a file and yields its puzzles and their faults. It raises nothing.
    write : callable
        Takes records, which the format can hold, and returns the text of a file.
    holds : frozenset of str
        The fields of a :class:`Record`, beside the puzzle, that a file can hold.
    problem : callable
        Takes a record and says why the format cannot hold its clues, or returns None.
    states_size : bool
        Whether a file says how large its boards are; if not, `read` takes a `Size`, or None, as well.
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    several: bool
    looks_like: Callable[[Sequence[str]], bool]
    read: Callable[..., Iterator[Found]]
    write: Callable[[Sequence[Record]], str]
    holds: frozenset[str] = frozenset()
    problem: Callable[[Record], str | None] = _no_problem
    states_size: bool = True
