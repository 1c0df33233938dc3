"""Files and sets that the user of a judge's command names: how they are read; what was read is never replaced."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from nonobot.arguments import similar_names
from nonobot.harness import UnusableError
from nonobot.protocol import Fault, Record
from nonobot.protocol.clues import FaultKind, count
from nonobot.protocol.formats import Size
from nonobot.system import (
    descriptor_of,
    lines_in,
    note_read,
    pieces_in,
    reason_of,
    report,
    was_read,
    whole_file,
)
from nonobot.tournament_data import PuzzleSet, SetError, load_set

MOST_SHOWN = 5  # puzzles of a file that have faults
OF_SIZE = (FaultKind.EXTRA_LINES, FaultKind.MISSING_LINES)  # faults that another size may mend
MOST_ANSWER_BYTES = 1 << 30  # longest answer file: five hundred thousand boards of 25x25


def loaded(source: str, board_size: Size | None, waits: bool = True) -> PuzzleSet:
    """Return the set that `source` names, printing an inferred size on stderr; UnusableError if it has none.

    It may come from a pipe, unless its name comes from a file: then do not let it `wait`.
    """
    try:
        puzzle_set = load_set(source, board_size, waits)
    except SetError as error:
        raise UnusableError(str(error)) from None
    say_inferred_size(source, (puzzle.record for puzzle in puzzle_set.puzzles))
    report_faults(f"{source}: warning", puzzle_set.faults, " (not counted)")
    return puzzle_set


def report_faults(place: str, faults: Iterable[Fault], of_lost_puzzle: str = "") -> None:
    """Print the faults of the first puzzles on stderr, and how many more have any."""
    of_puzzles: list[list[Fault]] = []  # the numbers of a file may repeat
    for fault in faults:
        if fault.kind is FaultKind.EXTRA_LINES and of_puzzles and of_puzzles[-1][0].number == fault.number:
            of_puzzles[-1].append(fault)
        else:
            of_puzzles.append([fault])
    for fault in chain(*of_puzzles[:MOST_SHOWN]):
        report(f"{place}: {fault}{of_lost_puzzle if fault.is_in_place else ''}")
    if more := of_puzzles[MOST_SHOWN:]:
        is_of_size = any(fault.kind in OF_SIZE for fault in chain(*of_puzzles))
        report(f"{place}: and {count(len(more), 'more puzzle')}{'; check --size' if is_of_size else ''}")


def say_inferred_size(source: str, records: Iterable[Record]) -> None:
    """Print on stderr the size that was inferred for a file without one, if it is not 25x25."""
    for warning in (warning for record in records for warning in record.warnings):
        if warning.kind is FaultKind.ASSUMED_SIZE:
            report(f"{source}: warning: {warning}")


@contextlib.contextmanager
def opened(source: str, prefix: str = "", others: Iterable[str] = (), waits: bool = True) -> Iterator[BinaryIO]:
    """Open a file, or stdin as `-`, for reading within the block; UnusableError if it cannot be read.

    `prefix` stands before its name in the message (`the answers `); `others` are names to suggest if it does not
    exist. It may be a pipe if it `waits`.
    """
    try:
        with contextlib.ExitStack() as stack:
            if source == "-":
                with contextlib.suppress(io.UnsupportedOperation):
                    note_read(sys.stdin.fileno())
                yield sys.stdin.buffer
            else:
                descriptor = stack.enter_context(descriptor_of(source, waits))
                yield stack.enter_context(os.fdopen(descriptor, "rb", closefd=False))
    except OSError as error:
        hint = similar_names(source, others) if isinstance(error, FileNotFoundError) else ""
        name = "stdin" if source == "-" else source
        raise UnusableError(f"cannot read {prefix}{name}: {reason_of(error)}{hint}") from None


def answer_lines(file: BinaryIO, most_bytes: int = MOST_ANSWER_BYTES) -> Iterator[bytes]:
    """Yield the text lines of an answer file; OSError if it has more than `most_bytes`."""
    return lines_in(pieces_in(file.read1, most_bytes))  # type: ignore[attr-defined]


def require_writable(path: Path, *, replaces_input: bool = False) -> None:
    """Create the folder of a file; UnusableError if :func:`output` would refuse the file, before the work is done.

    Stdout, `-`, needs nothing.
    """
    if str(path) == "-":
        return
    require_writable_folder(path.parent, path)
    if path.is_dir():
        raise UnusableError(f"cannot write {path}: Is a directory")
    if not replaces_input:
        _refuse_input(path)


def require_writable_folder(folder: Path, wanted: Path | None = None) -> None:
    """Create a folder; UnusableError, about `wanted` or the folder, if no file can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UnusableError(f"cannot write {wanted or folder}: {reason_of(error)}") from None


def _refuse_input(path: Path) -> None:
    if was_read(path):
        raise UnusableError(f"{path}: this file is read; name another one to write to")


@contextlib.contextmanager
def output(path: Path, *, follows: bool = True, replaces_input: bool = False) -> Iterator[BinaryIO]:
    """Open a file that a command writes, in full or not at all; UnusableError if it cannot be opened.

    A file that the command has read, under any name, is refused, unless the command `replaces_input`. A name that
    the user has not given may be a stranger's link or pipe; unless the writer `follows` it, the file replaces it.
    """
    if follows and not replaces_input:
        _refuse_input(path)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(whole_file(path, follows=follows))
        except OSError as error:
            raise UnusableError(f"cannot write {path}: {reason_of(error)}") from None
        yield file


def write_output(path: Path, data: bytes, *, follows: bool = True, replaces_input: bool = False) -> None:
    """Write a whole file, see :func:`output`, or to stdout if it is `-`; UnusableError if it cannot be written."""
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        with output(path, follows=follows, replaces_input=replaces_input) as file:
            file.write(data)
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {reason_of(error)}") from None
