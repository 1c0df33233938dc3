"""Formats with only clues and many puzzles per file: `oneline`, `letters`, `taai` and `lists`.

See docs/formats.md. Source of `letters`: https://rosettacode.org/wiki/Nonogram_solver
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.clues import Clue, Fault, FaultKind, shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    Draft,
    Format,
    Size,
    TextLine,
    clue_from_text,
    lines_of,
    parts_of,
    with_commas,
)
from nonobot.protocol.puzzle import Found, Record


def _puzzle(
    number: int, parts: Sequence[TextLine], divider: str | None, clue_of_word: Callable[[str], Clue | Fault]
) -> Found:
    """Return the puzzle in a text of rows and a text of columns; `divider` or spaces separate their clues."""
    draft = Draft(number, parts[0].number)
    for name, part in zip(PARTS, parts, strict=True):
        for word in part.text.split(divider, MOST_SIDE):
            draft.clue(name, clue_of_word(word.strip()), part.number)
    return draft.finished()


def _read_oneline(data: bytes) -> Iterator[Found]:
    for number, line in enumerate((line for line in lines_of(data) if line.text), 1):
        parts = line.text.split("-", 2)
        if len(parts) == 2:
            yield _puzzle(number, [TextLine(line.number, part) for part in parts], ":", clue_from_text)
        else:
            count = "more than one" if parts[1:] else "no"
            what = f"{count} '-'; expected the rows' clues, '-', the columns' clues"
            yield Fault(FaultKind.FORMAT, what, number, line.number)


ONELINE = Format(
    name="oneline",
    description="a puzzle a line: rows, '-', columns; ':' between clues, ',' between numbers",
    extensions=(".oneline",),
    looks_like=lambda lines: bool(re.fullmatch(r"[\d,:\s]+-[\d,:\s]+", lines[0], re.ASCII)),
    read=_read_oneline,
    text=lambda record: "-".join(":".join(map(with_commas, clues)) for _, clues in parts_of(record.puzzle)) + "\n",
    joined="".join,
)

_WORDS = re.compile(r"([A-Z]+|0|@)(\s+([A-Z]+|0|@))*")
_BEFORE_A = ord("A") - 1


def _read_letters(data: bytes) -> Iterator[Found]:
    number = 0
    lines = chain(lines_of(data), [TextLine(0, "")])
    for rows in lines:
        if not rows.text:
            continue
        number += 1
        columns = next(lines)
        if columns.text:
            yield _puzzle(number, (rows, columns), None, _clue_in_letters)
        else:
            what = "a line of rows without the line of columns that should follow"
            yield Fault(FaultKind.FORMAT, what, number, rows.number)


def _clue_in_letters(word: str) -> Clue | Fault:
    if word in ("0", "@"):
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        what = f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        return Fault(FaultKind.FORMAT, what)
    return tuple(ord(letter) - _BEFORE_A for letter in word)


def _in_letters(clue: Clue) -> str:
    return "".join(chr(_BEFORE_A + length) for length in clue) or "0"


LETTERS = Format(
    name="letters",
    description="Rosetta Code's strings: a line of rows, a line of columns, A = 1, B = 2",
    extensions=(".letters",),
    looks_like=lambda lines: all(map(_WORDS.fullmatch, lines[:2])),
    read=_read_letters,
    text=lambda record: "".join(" ".join(map(_in_letters, clues)) + "\n" for _, clues in parts_of(record.puzzle)),
    joined="\n".join,
    longest_block=26,
)

# --- the tournaments' batch -------------------------------------------------------------------------------------

# `nonobot.protocol.batch` reads the stream; this reads the same form as a whole.


def _read_taai(data: bytes, size: Size | None) -> Iterator[Found]:
    sides = None if size == "auto" else size or _first_size(data)
    assumed = size is None and sides is None
    for entry in read_batch(io.BytesIO(data), sides):
        if isinstance(entry, Record) and max(entry.size) > MOST_SIDE:
            what = f"board size {entry.size[0]}x{entry.size[1]}: width and height must be 1 to {MOST_SIDE}"
            entry = Fault(FaultKind.FORMAT, what, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # one warning is enough
            size_of_entry = f"{entry.size[0]}x{entry.size[1]}"
            what = f"the file states no size; assuming {size_of_entry} from the number of clue lines"
            entry = replace(entry, warnings=(Fault(FaultKind.ASSUMED_SIZE, what, entry.number, entry.line),))
        yield entry


def _first_size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size if the first puzzle has it and no lines are left over, otherwise None."""
    match list(islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2)):
        case [Record(), Fault(is_in_place=False)]:
            return None
        case [Record(), *_]:
            return DEFAULT_SIZE
    return None


TAAI = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    looks_like=lambda lines: any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines),
    read=_read_taai,
    text=lambda record: format_puzzle(record.number, record.puzzle).decode("ascii"),
    joined="".join,
    states_size=False,
)
