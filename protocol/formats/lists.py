"""Nested lists, as in Python, JSON and many other programs: `[[3], [2, 1]]` and `[[1, 2], [1]]`.

See docs/formats.md. Nothing is evaluated, and no parser of a language is used: each clue needs its line, files mix
the brackets and comments of several languages, and they may be of any depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nonobot.protocol.clues import Fault, Kind, clue_from_words, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, BrokenOffError, Draft, Format, Found, Part, parts_of
from nonobot.protocol.puzzle import Clue, Record

__all__ = ["FORMAT"]

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


def _looks_like(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if not line.startswith(("//", "#"))), "")
    return bool(_START.fullmatch(first))


def _read(data: bytes) -> Iterator[Found]:
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    number, parts = 1, dict[Part, _List]()
    try:
        for clues in _clue_lists(text):
            part = _part(clues, "columns" if "rows" in parts else "rows")
            if part in parts:
                yield _puzzle(number, parts)
                number, parts = number + 1, {}
            parts[part] = clues
            if len(parts) == len(PARTS):
                yield _puzzle(number, parts)
                number, parts = number + 1, {}
    except BrokenOffError as broken:
        yield broken.fault.at(number, broken.fault.line)
    else:
        if parts:
            yield _puzzle(number, parts)


def _part(clues: _List, expected: Part) -> Part:
    """Return the part of a puzzle that a list of clues is, by its name or else by its place."""
    if not clues.name:
        return expected
    if clues.name not in (*_ROWS, *_COLUMNS):
        what = f"{shown(clues.name)} is no name for rows or columns"
        raise BrokenOffError(what, clues.line)
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
        clue = Fault(Kind.FORMAT, f"a clue of over {MOST_SIDE} numbers")
    if len(parent.clues) <= MOST_SIDE:  # one more than a board can have, for the fault
        parent.clues.append((clue, closed.line))


def _puzzle(number: int, parts: dict[Part, _List]) -> Found:
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


def _write(records: Sequence[Record]) -> str:
    return "\n".join(map(_text, records))


def _text(record: Record) -> str:
    return "".join(f"{part} = {list(map(list, clues))}\n" for part, clues in parts_of(record.puzzle))


FORMAT = Format(
    name="lists",
    description="nested lists of numbers, as in Python or JSON: rows, then columns",
    extensions=(".lists", ".py", ".json"),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
