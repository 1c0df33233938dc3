"""Formats with many puzzles a file and nothing but clues: `oneline`, `letters`, `taai` and `lists`.

See docs/formats.md. Source of `letters`: https://rosettacode.org/wiki/Nonogram_solver
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.clues import Clue, Fault, FaultKind, clue_from_words, shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    BrokenOffError,
    Draft,
    Format,
    Found,
    Part,
    Size,
    parts_of,
)
from nonobot.protocol.formats.text_lines import TextLine, clue_from_text, lines_of, with_commas
from nonobot.protocol.puzzle import Record


def _puzzle(
    number: int, parts: Sequence[TextLine], divider: str | None, clue_of_word: Callable[[str], Clue | Fault]
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
            yield _puzzle(number, [TextLine(line.number, part) for part in parts], ":", clue_from_text)
        else:
            count = "more than one" if parts[1:] else "no"
            what = f"{count} '-'; expected the rows' clues, '-', the columns' clues"
            yield Fault(FaultKind.FORMAT, what, number, line.number)


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
    rows: TextLine | None = None
    for line in chain(lines_of(data), [TextLine(0, "")]):
        if rows:
            if line.text:
                yield _puzzle(number, (rows, line), None, _clue_in_letters)
            else:
                what = "a line of rows without the line of columns that should follow"
                yield Fault(FaultKind.FORMAT, what, number, rows.number)
            rows = None
        elif line.text:
            number += 1
            rows = line


def _clue_in_letters(word: str) -> Clue | Fault:
    if word in ("0", "@"):
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        what = f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        return Fault(FaultKind.FORMAT, what)
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
            entry = Fault(FaultKind.FORMAT, what, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # said once
            what = f"no size is stated; by the number of lines this is {entry.size[0]}x{entry.size[1]}"
            entry = replace(entry, remarks=(Fault(FaultKind.ASSUMED_SIZE, what, entry.number, entry.line),))
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

# --- nested lists ------------------------------------------------------------------------------------------------

# Nothing is evaluated, and no parser of a language is used: each clue needs its line, files mix the brackets and
# comments of several languages, and they may be of any depth.

MOST_DEPTH = 16

_ROWS = ("rows", "row", "x")
_COLUMNS = ("columns", "column", "cols", "col", "y")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_START = re.compile(r"(//.*|#.*|[A-Za-z_]\w*\s*[=:]\s*[\[({].*|[\[({].*)", re.ASCII)
_TOKEN = re.compile(
    r"""(?P<end>\n) | (?P<space>[^\S\n]+ | [,;]) | (?P<comment>(?://|\#)[^\n]*)
      | (?P<name>(?:[A-Za-z_]\w*|"[A-Za-z_]\w*"|'[A-Za-z_]\w*')(?=\s*[=:])) | (?P<is>[=:])
      | (?P<open>[\[({]) | (?P<close>[\])}]) | (?P<text>"[^"\n]*"|'[^'\n]*')
      | (?P<word>[+-]?[\w.]+) | (?P<other>.)""",
    re.VERBOSE | re.ASCII,
)


def _looks_like_lists(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if not line.startswith(("//", "#"))), "")
    return bool(_START.fullmatch(first))


def _read_lists(data: bytes) -> Iterator[Found]:
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    number, parts = 1, dict[Part, _List]()
    try:
        for clues in _clue_lists(text):
            part = _part(clues, "columns" if "rows" in parts else "rows")
            if part in parts:
                yield _puzzle_of_lists(number, parts)
                number, parts = number + 1, {}
            parts[part] = clues
            if len(parts) == len(PARTS):
                yield _puzzle_of_lists(number, parts)
                number, parts = number + 1, {}
    except BrokenOffError as broken:
        yield broken.fault.at(number, broken.fault.line)
    else:
        if parts:
            yield _puzzle_of_lists(number, parts)


def _part(clues: _List, expected: Part) -> Part:
    """Return the part of a puzzle that a list of clues is, by its name or else by its place."""
    if not clues.name:
        return expected
    if clues.name not in (*_ROWS, *_COLUMNS):
        raise BrokenOffError(f"{shown(clues.name)} is no name for rows or columns", clues.line)
    return "rows" if clues.name in _ROWS else "columns"


@dataclass
class _List:
    """A list, open or closed: of numbers (a clue), of clues, or of further lists."""

    closing: str
    line: int
    name: str = ""
    words: list[str] = field(default_factory=list)  # of a clue
    clues: list[tuple[Clue | Fault, int]] = field(default_factory=list)  # of a list of clues
    outer: bool = False  # holds lists of clues, or lists that do
    too_many: bool = False


def _clue_lists(text: str) -> Iterator[_List]:
    """Yield the lists of clues, each with its name."""
    opened: list[_List] = []
    line, name = 1, ""
    for token in _TOKEN.finditer(text):
        kind, word = token.lastgroup, token[0]
        if kind == "end":
            line += 1
        elif kind == "name":
            name = word.strip("\"'").lower()
        elif kind == "open":
            if len(opened) == MOST_DEPTH:
                raise BrokenOffError(f"lists nested more than {MOST_DEPTH} deep", line)
            opened.append(_List(_CLOSING[word], line, name))
            name = ""
        elif kind == "close":
            if not opened or opened[-1].closing != word:
                raise BrokenOffError(f"{shown(word)} closes no bracket", line)
            closed = opened.pop()
            if closed.clues:
                yield closed
            _close(closed, opened[-1] if opened else None, line)
        elif kind == "word":
            _take_word(word, opened, line)
        elif kind == "text":
            raise BrokenOffError(f"a text, {shown(word[1:-1])}, has no place among lists of numbers", line)
        elif kind == "other":
            raise BrokenOffError(f"{shown(word)} has no place among lists of numbers", line)
    if opened:
        raise BrokenOffError(f"the bracket of line {opened[-1].line} is not closed at the end of the file", line)


def _take_word(word: str, opened: list[_List], line: int) -> None:
    if not opened or opened[-1].clues or opened[-1].outer:
        raise BrokenOffError(f"{shown(word)} stands in no list of numbers", line)
    clue = opened[-1]
    if len(clue.words) < MOST_SIDE:
        clue.words.append(word)
    else:
        clue.too_many = True


def _close(closed: _List, parent: _List | None, line: int) -> None:
    """Put a closed list into the one around it."""
    if closed.clues or closed.outer:
        if parent:
            parent.outer = True
            if parent.clues or parent.words:
                raise BrokenOffError("a list of clues beside clues or numbers", line)
        return
    if parent is None or parent.outer or parent.words:
        raise BrokenOffError("a clue stands in no list of clues", closed.line)
    clue = clue_from_words(closed.words)
    if closed.too_many:
        clue = Fault(FaultKind.FORMAT, f"a clue of over {MOST_SIDE} numbers")
    if len(parent.clues) <= MOST_SIDE:  # one more than a board can have, for the fault
        parent.clues.append((clue, closed.line))


def _puzzle_of_lists(number: int, parts: dict[Part, _List]) -> Found:
    draft = Draft(number, min(clues.line for clues in parts.values()))
    for part in PARTS:
        if part not in parts:
            draft.refuse(f"no list of {part}")
        elif len(parts[part].clues) > MOST_SIDE:
            draft.refuse(f"more than {MOST_SIDE} {part}", parts[part].line)
        else:
            for clue, line in parts[part].clues:
                draft.clue(part, clue, line)
    return draft.finished()


def _write_lists(records: Sequence[Record]) -> str:
    return "\n".join(map(_text_lists, records))


def _text_lists(record: Record) -> str:
    return "".join(f"{part} = {list(map(list, clues))}\n" for part, clues in parts_of(record.puzzle))


LISTS = Format(
    name="lists",
    description="nested lists of numbers, as in Python or JSON: rows, then columns",
    extensions=(".lists", ".py", ".json"),
    several=True,
    looks_like=_looks_like_lists,
    read=_read_lists,
    write=_write_lists,
)
