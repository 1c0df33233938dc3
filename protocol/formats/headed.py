"""Text formats with a heading before the rows' clues and one before the columns': `hv`, `g` and `picross`.

Sources: the comments in Petr Olsak's samples (http://petr.olsak.net/ftp/olsak/grid/) for `g`; `picross_io.h` of
https://github.com/pierre-dejoue/picross-solver for `picross`. See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from nonobot.protocol.clues import Clue, Fault, Kind, shown
from nonobot.protocol.formats.base import PARTS, Draft, Format, Found, Part
from nonobot.protocol.formats.text_lines import (
    Line,
    black_clue,
    bracketed_clue,
    clue_from_text,
    is_text,
    lines_of,
    spaced,
)
from nonobot.protocol.puzzle import Puzzle, Record

__all__ = ["HV", "PICROSS", "G"]


def _lines(puzzle: Puzzle, headings: Sequence[str], text_of: Callable[[Clue], str]) -> list[str]:
    """Return the lines of a puzzle, a heading before the rows and one before the columns."""
    parts = zip(headings, (puzzle.rows, puzzle.columns), strict=True)
    return [line for heading, clues in parts for line in (heading, *map(text_of, clues))]


# --- H and V -----------------------------------------------------------------------------------------------------

_PART_OF_LETTER: dict[str, Part] = {"H": "rows", "V": "columns"}


def _letter(text: str) -> str:
    """Return 'H' or 'V' if `text` is such a heading, otherwise nothing."""
    word = text.removesuffix(":").rstrip().upper()
    return word if word in _PART_OF_LETTER else ""


def _looks_like_hv(lines: Sequence[str]) -> bool:
    return bool(_letter(lines[0])) and not (len(lines) > 1 and _is_letters(lines[1]))


def _is_letters(line: str) -> bool:
    """Return whether `line` is one of a file of letters, whose single row may be one block of eight, H."""
    in_letters = re.fullmatch(r"[A-Z0@\s]+", line) and re.search("[A-Z]", line)
    return bool(in_letters) and not _letter(line)


def _read_hv(data: bytes) -> Iterator[Found]:
    draft: Draft | None = None
    part: Part | None = None
    clues = 0  # under this heading
    blank: int | None = None  # line number of a blank line after the last clue
    for line in lines_of(data):
        if draft and draft.hopeless:
            break
        if not line.text:
            blank = blank or line.number
            continue
        draft = draft or Draft(1, line.number)
        if letter := _letter(line.text):
            draft.section(letter, line.number, "such a file holds one puzzle")
            part, clues = _PART_OF_LETTER[letter], 0
        elif part is None:
            draft.refuse(f"{shown(line.text)} stands before 'H' and 'V'", line.number)
        else:
            if blank and clues:
                draft.refuse("a blank line between clues; an empty clue is written 0", blank)
            clues += 1
            draft.clue(part, clue_from_text(line.text), line.number)
        blank = None
    if draft:
        draft.require(_PART_OF_LETTER, "no line '{}'")
        yield draft.finished()


def _write_hv(records: Sequence[Record]) -> str:
    (record,) = records
    return "\n".join(_lines(record.puzzle, ("H", "V"), spaced)) + "\n"


HV = Format(
    name="hv",
    description="a line H, the rows' clues, a line V, the columns' clues",
    extensions=(".hv",),
    looks_like=_looks_like_hv,
    read=_read_hv,
    write=_write_hv,
)

# --- Petr Olsak's .g ---------------------------------------------------------------------------------------------

_COLOUR = re.compile(r"(?P<sign>[^\d\s,]):")
_BLOCK = re.compile(r"[\d/\\]", re.ASCII)  # the begin of a clue, of numbers or with a triangle


def _looks_like_g(lines: Sequence[str]) -> bool:
    starts = [index for index, line in enumerate(lines) if line.startswith(":")]
    return len(starts) > 1 and all(map(_BLOCK.match, lines[starts[0] + 1 : starts[1]][:1]))


def _read_g(data: bytes) -> Iterator[Found]:
    draft: Draft | None = None
    signs: set[str] | None = None  # those of colours, once they are declared
    section = -1  # index in PARTS; before and after them there is text
    for line in lines_of(data):
        draft = draft or (Draft(1, line.number) if line.text else None)
        if draft is None:
            continue
        if line.text.startswith(":"):
            section += 1
            if section == len(PARTS):
                break
        elif section >= 0:
            draft.clue(PARTS[section], _signed_clue(line.text, signs or set()), line.number)
            if draft.hopeless:
                break
        elif line.text[:2].lower() == "#t":
            draft.refuse("a triddler; only grids are read", line.number)
            break
        elif signs is None:
            signs = set() if line.text[:2].lower() == "#d" else None
        elif colour := _COLOUR.match(line.text):
            signs.add(colour["sign"])
    else:
        if draft:
            missing = ("the rows", "the columns", "the end")[section + 1]
            draft.refuse(f"no line ':' for {missing}")
    if draft:
        yield draft.finished()


def _signed_clue(text: str, signs: set[str]) -> Clue | Fault:
    if signs.isdisjoint(text[:1000]):
        return black_clue(text)
    what = f"clue {shown(text)} has colours or triangles; only black and white puzzles are read"
    return Fault(Kind.FORMAT, what)


def _write_g(records: Sequence[Record]) -> str:
    (record,) = records
    lines = _lines(record.puzzle, (": rows", ": columns"), lambda clue: spaced(clue) if clue else "")
    return "\n".join([*lines, ": end"]) + "\n"


G = Format(
    name="g",
    description="Petr Olsak's .g: lines that start with ':' before the rows' clues, the columns' and the end",
    extensions=(".g",),
    looks_like=_looks_like_g,
    read=_read_g,
    write=_write_g,
)

# --- picross-solver ----------------------------------------------------------------------------------------------

_GRID = re.compile(r"GRID(?:\s+(?P<name>.*))?")
_PART_OF_WORD: dict[str, Part] = {"ROWS": "rows", "COLUMNS": "columns"}


def _looks_like_picross(lines: Sequence[str]) -> bool:
    full = [line for line in lines if not line.startswith("#")]
    inside = any(line in _PART_OF_WORD or line.startswith("[") for line in full[1:])
    return bool(full) and inside and bool(_GRID.fullmatch(full[0]) or full[0] in _PART_OF_WORD)


def _read_picross(data: bytes) -> Iterator[Found]:
    draft: Draft | None = None
    part: Part | None = None
    for line in lines_of(data):
        if not line.text or line.text.startswith("#"):
            continue
        start = _GRID.fullmatch(line.text)
        if start or not draft:
            if draft:
                yield _finished_grid(draft)
            draft, part = Draft(draft.number + 1 if draft else 1, line.number), None
        if start:
            draft.texts["title"] = start["name"] or ""
            if not is_text(draft.texts["title"]):
                draft.remark("the name has bytes that are not UTF-8 text", line.number)
        elif draft.hopeless:
            continue
        elif line.text in _PART_OF_WORD:
            draft.section(line.text, line.number, "each puzzle starts with a line 'GRID'")
            part = _PART_OF_WORD[line.text]
        else:
            _take_bracketed(draft, part, line)
    if draft:
        yield _finished_grid(draft)


def _take_bracketed(draft: Draft, part: Part | None, line: Line) -> None:
    if not line.text.startswith("["):
        what = f"{shown(line.text)} has no place here; expected GRID, ROWS, COLUMNS or a clue such as [ 2 1 ]"
        draft.refuse(what, line.number)
    elif part is None:
        draft.refuse(f"{shown(line.text)} stands under no 'ROWS' or 'COLUMNS'", line.number)
    else:
        draft.clue(part, bracketed_clue(line.text), line.number)


def _finished_grid(draft: Draft) -> Found:
    draft.require(_PART_OF_WORD, "no line '{}'")
    return draft.finished()


def _write_picross(records: Sequence[Record]) -> str:
    return "\n".join(map(_grid_text, records))


def _grid_text(record: Record) -> str:
    lines = _lines(record.puzzle, ("ROWS", "COLUMNS"), lambda clue: f"[ {spaced(clue)} ]" if clue else "[ ]")
    return "\n".join([f"GRID {record.title or ''}".rstrip(), *lines]) + "\n"


PICROSS = Format(
    name="picross",
    description="picross-solver's GRID, ROWS and COLUMNS, each clue in brackets",
    extensions=(".picross",),
    holds=frozenset({"title"}),
    several=True,
    looks_like=_looks_like_picross,
    read=_read_picross,
    write=_write_picross,
)
