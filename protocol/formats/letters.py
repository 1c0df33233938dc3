"""Letter strings, as the task "Nonogram solver" of Rosetta Code has them: A is 1, B is 2, up to Z for 26.

A puzzle is two lines: the rows' clues and the columns', a word for each clue, a letter for each block. Blank lines
stand between puzzles. Source: https://rosettacode.org/wiki/Nonogram_solver

The task has no empty clue. Here it is a `0`; `@`, the character before A, is read as one, too. Blocks of more than
26 cells cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Fault, Kind, shown
from nonobot.protocol.formats.base import MOST_SIDE, Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import Line, lines_of
from nonobot.protocol.puzzle import Clue
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_EMPTY = ("0", "@")
_WORDS = re.compile(r"([A-Z]+|0|@)(\s+([A-Z]+|0|@))*")
_BEFORE_A = ord("A") - 1
_LARGEST = 26


def _looks_like(lines: Sequence[str]) -> bool:
    return all(_WORDS.fullmatch(line) for line in lines[:2])


def _read(data: bytes) -> Iterator[Found]:
    number = 0
    rows: Line | None = None
    for line in lines_of(data):
        if rows and line.text:
            yield _puzzle(number, rows, line)
            rows = None
        elif rows:
            yield _without_columns(number, rows)
            rows = None
        elif line.text:
            number += 1
            rows = line
    if rows:
        yield _without_columns(number, rows)


def _without_columns(number: int, rows: Line) -> Found:
    draft = Draft(number, rows.number)
    draft.refuse(Kind.MISSING_LINES, "a line of rows without the line of columns that should follow")
    return draft.finished()


def _puzzle(number: int, rows: Line, columns: Line) -> Found:
    draft = Draft(number, rows.number)
    for line, take in ((rows, draft.row), (columns, draft.column)):
        words = line.text.split(maxsplit=MOST_SIDE)
        if len(words) > MOST_SIDE:
            draft.refuse(Kind.BAD_SIZE, f"more than {MOST_SIDE} clues", line.number)
            continue
        for word in words:
            take(_clue(word), line.number)
    return draft.finished()


def _clue(word: str) -> Clue | Fault:
    if word in _EMPTY:
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        return Fault(
            Kind.NOT_A_NUMBER, f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        )
    return tuple(ord(letter) - _BEFORE_A for letter in word)


def _problem(record: Record) -> str | None:
    longest = max((max(clue, default=0) for clue in (*record.puzzle.rows, *record.puzzle.columns)), default=0)
    return f"a block of {longest} cells, letters end at {_LARGEST}" if longest > _LARGEST else None


def _write(records: Sequence[Record]) -> str:
    return "\n".join(f"{_text(record.puzzle.rows)}\n{_text(record.puzzle.columns)}\n" for record in records)


def _text(clues: Sequence[Clue]) -> str:
    return " ".join("".join(chr(_BEFORE_A + length) for length in clue) or "0" for clue in clues)


FORMAT = Format(
    name="letters",
    description="Rosetta Code's strings: a line of rows, a line of columns, A = 1, B = 2",
    extensions=(".letters",),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
    problem=_problem,
)
