"""Formats with many puzzles a file and nothing but clues: `oneline`, `letters` and `taai` (see docs/formats.md).

Source of `letters`: https://rosettacode.org/wiki/Nonogram_solver
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.clues import Clue, Fault, Kind, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, Draft, Format, Found, Size
from nonobot.protocol.formats.text_lines import Line, clue_from_text, lines_of, with_commas
from nonobot.protocol.puzzle import Record

__all__ = ["LETTERS", "ONELINE", "TAAI"]


def _puzzle(
    number: int, parts: Sequence[Line], divider: str | None, clue_of_word: Callable[[str], Clue | Fault]
) -> Found:
    """Return the puzzle of a text of rows and one of columns, whose clues are divided by `divider` or spaces."""
    draft = Draft(number, parts[0].number)
    for name, part in zip(PARTS, parts, strict=True):
        words = part.text.split(divider, MOST_SIDE)
        if len(words) > MOST_SIDE:
            draft.refuse(f"more than {MOST_SIDE} clues", part.number)
            continue
        for word in words:
            draft.clue(name, clue_of_word(word.strip()), part.number)
    return draft.finished()


def _looks_like_oneline(lines: Sequence[str]) -> bool:
    return bool(re.fullmatch(r"[\d,:\s]+-[\d,:\s]+", lines[0], re.ASCII))


def _read_oneline(data: bytes) -> Iterator[Found]:
    for number, line in enumerate((line for line in lines_of(data) if line.text), 1):
        parts = line.text.split("-", 2)
        if len(parts) == 2:
            yield _puzzle(number, [Line(line.number, part) for part in parts], ":", clue_from_text)
        else:
            what = (
                f"{'more than one' if parts[1:] else 'no'} '-'; expected the rows' clues, '-', the columns' clues"
            )
            yield Fault(Kind.FORMAT, what, number, line.number)


def _write_oneline(records: Sequence[Record]) -> str:
    parts = ((record.puzzle.rows, record.puzzle.columns) for record in records)
    return "".join("-".join(":".join(map(with_commas, clues)) for clues in both) + "\n" for both in parts)


ONELINE = Format(
    name="oneline",
    description="a puzzle a line: rows, '-', columns; ':' between clues, ',' between numbers",
    extensions=(".oneline",),
    several=True,
    looks_like=_looks_like_oneline,
    read=_read_oneline,
    write=_write_oneline,
)

_WORDS = re.compile(r"([A-Z]+|0|@)(\s+([A-Z]+|0|@))*")
_BEFORE_A = ord("A") - 1
_LARGEST = 26


def _looks_like_letters(lines: Sequence[str]) -> bool:
    return all(_WORDS.fullmatch(line) for line in lines[:2])


def _read_letters(data: bytes) -> Iterator[Found]:
    number = 0
    rows: Line | None = None
    for line in chain(lines_of(data), [Line(0, "")]):
        if rows:
            yield _puzzle(number, (rows, line), None, _clue_in_letters) if line.text else _no_columns(number, rows)
            rows = None
        elif line.text:
            number += 1
            rows = line


def _no_columns(number: int, rows: Line) -> Fault:
    what = "a line of rows without the line of columns that should follow"
    return Fault(Kind.FORMAT, what, number, rows.number)


def _clue_in_letters(word: str) -> Clue | Fault:
    if word in ("0", "@"):
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        what = f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        return Fault(Kind.FORMAT, what)
    return tuple(ord(letter) - _BEFORE_A for letter in word)


def _letters_problem(record: Record) -> str | None:
    longest = max((max(clue, default=0) for clue in (*record.puzzle.rows, *record.puzzle.columns)), default=0)
    return f"a block of {longest} cells, letters end at {_LARGEST}" if longest > _LARGEST else None


def _write_letters(records: Sequence[Record]) -> str:
    return "\n".join(f"{_text(record.puzzle.rows)}\n{_text(record.puzzle.columns)}\n" for record in records)


def _text(clues: Sequence[Clue]) -> str:
    return " ".join("".join(chr(_BEFORE_A + length) for length in clue) or "0" for clue in clues)


LETTERS = Format(
    name="letters",
    description="Rosetta Code's strings: a line of rows, a line of columns, A = 1, B = 2",
    extensions=(".letters",),
    several=True,
    looks_like=_looks_like_letters,
    read=_read_letters,
    write=_write_letters,
    problem=_letters_problem,
)

# --- the tournaments' batch -------------------------------------------------------------------------------------

# The stream is read by `nonobot.protocol.batch`; this is the same form, read as a whole.


def _looks_like_taai(lines: Sequence[str]) -> bool:
    return any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines)


def _read_taai(data: bytes, size: Size | None) -> Iterator[Found]:
    sides = None if size == "auto" else size or _first_size(data)
    assumed = size is None and sides is None
    for entry in read_batch(io.BytesIO(data), sides):
        if isinstance(entry, Record) and max(entry.size) > MOST_SIDE:
            what = f"a board of {entry.size[0]}x{entry.size[1]}; sides are 1 to {MOST_SIDE}"
            entry = Fault(Kind.FORMAT, what, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # said once
            what = f"no size is stated; by the number of lines this is {entry.size[0]}x{entry.size[1]}"
            entry = replace(entry, remarks=(Fault(Kind.ASSUMED_SIZE, what, entry.number, entry.line),))
        yield entry


def _first_size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size if the first puzzle has it and no lines are left over, otherwise None."""
    match list(islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2)):
        case [Record(), Fault(is_in_place=False)]:
            return None
        case [Record(), *_]:
            return DEFAULT_SIZE
    return None


def _write_taai(records: Sequence[Record]) -> str:
    return b"".join(format_puzzle(record.number, record.puzzle) for record in records).decode("ascii")


TAAI = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    several=True,
    looks_like=_looks_like_taai,
    read=_read_taai,
    write=_write_taai,
    states_size=False,
)
