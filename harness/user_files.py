"""Files and sets that the user names: had, read and written, or a line that says why not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from nonobot.arguments import did_you_mean
from nonobot.harness.errors import UnusableError
from nonobot.harness.results.result_files import check_writable
from nonobot.protocol import Record
from nonobot.protocol.faults import Kind
from nonobot.protocol.formats import Size
from nonobot.system import whole_file
from nonobot.tournament_data import PuzzleSet, SetError, load_set

__all__ = ["loaded", "opened", "require_writable", "say_inferred_size", "write_output"]


def loaded(source: str, board_size: Size | None) -> PuzzleSet:
    """Return the set that `source` names; say which size its boards have if that was inferred.

    Raises
    ------
    UnusableError
        If there is none.
    """
    try:
        found = load_set(source, board_size)
    except SetError as error:
        raise UnusableError(str(error)) from None
    say_inferred_size(source, (one.record for one in found.puzzles))
    return found


def say_inferred_size(source: str, records: Iterable[Record]) -> None:
    """Say on stderr which size was made out for the boards of a file that states none, if it is not 25x25."""
    for remark in (remark for record in records for remark in record.remarks):
        if remark.kind is Kind.ASSUMED_SIZE:
            print(f"{source}: remark: {remark}", file=sys.stderr)


@contextlib.contextmanager
def opened(source: str, what: str = "", others: Iterable[str] = ()) -> Iterator[BinaryIO]:
    """Open a file to be read within the block; `-` is stdin.

    Parameters
    ----------
    source : str
    what : str
        What the file is to be, for the message, such as `the answers `.
    others : iterable of str
        What else may have been meant by the name of a file that is not there.

    Raises
    ------
    UnusableError
        If it cannot be read.
    """
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb") as file:
            yield file
    except OSError as error:
        hint = did_you_mean(source, others) if isinstance(error, FileNotFoundError) else ""
        name = "stdin" if source == "-" else source
        raise UnusableError(f"cannot read {what}{name}: {error.strerror}{hint}") from None


def require_writable(path: Path) -> None:
    """See that a file can be written there, and make its folder: before the work, not after it.

    Raises
    ------
    UnusableError
        If not.
    """
    try:
        check_writable(path)
    except OSError as error:
        raise UnusableError(f"cannot write {error.filename or path}: {error.strerror}") from None


def write_output(path: Path, data: bytes) -> None:
    """Write a file, in full or not at all.

    Raises
    ------
    UnusableError
        If it cannot be written.
    """
    try:
        with whole_file(path) as file:
            file.write(data)
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
