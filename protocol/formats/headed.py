"""Text formats with a heading or a key before the clues of the rows and of the columns.

Sources: the comments in Petr Olsak's samples (http://petr.olsak.net/ftp/olsak/grid/) for `g`; `picross_io.h` of
https://github.com/pierre-dejoue/picross-solver for `picross`; `hello.txt` and `hello.toml` among the examples of
https://github.com/tsionyx/pynogram and https://github.com/tsionyx/nonogrid. See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from nonobot.protocol.clues import Clue, Fault, FaultKind, shown
from nonobot.protocol.formats.base import PARTS, Draft, Format, Found, Part, part_named
from nonobot.protocol.formats.text_lines import (
    TextLine,
    black_clue,
    bracketed_clue,
    clue_from_text,
    clues_between_commas,
    is_text,
    lines_of,
    spaced,
    without_comment,
)
from nonobot.protocol.puzzle import Puzzle, Record


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
    return Fault(
        FaultKind.FORMAT, f"clue {shown(text)} has colours or triangles; only black and white puzzles are read"
    )


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


def _take_bracketed(draft: Draft, part: Part | None, line: TextLine) -> None:
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

# --- pynogram and nonogrid ---------------------------------------------------------------------------------------

# Neither `configparser` nor `tomllib` reads them: both return a value without its lines, so that no fault in a
# clue would have a place, and the time of `tomllib` grows with the square of the size of some files.

_SECTION = re.compile(r"\[\s*(?P<name>[\w.-]+)\s*\]")
_VALUE = re.compile(r"(?P<key>[A-Za-z][\w.-]*)\s*[=:]\s*(?P<value>.*)", re.ASCII)
_QUOTES = ('"""', "'''", '"', "'")
_KEYS = ("columns", "rows")


def _has_clues(lines: Sequence[str]) -> bool:
    return any(without_comment(line) == "[clues]" for line in lines)


def _looks_like_toml(lines: Sequence[str]) -> bool:
    """Return whether there are clues, and their values texts in quotes as a whole, which INI's are not."""
    full = [text for line in lines if (text := without_comment(line))]
    values = [
        _is_text(pair["value"], following)
        for line, following in pairwise([*full, ""])
        if (pair := _VALUE.fullmatch(line)) and pair["key"].lower() in _KEYS
    ]
    return _has_clues(full) and bool(values) and all(values)


def _is_text(value: str, following: str) -> bool:
    if value.startswith(_QUOTES[:2]):
        return True
    whole = re.fullmatch(r"""("[^"]*"|'[^']*')""", value)
    return bool(whole) and (not following or bool(_SECTION.match(following) or _VALUE.match(following)))


def _read_clues(data: bytes, in_quotes: bool) -> Iterator[Found]:
    clues: _KeyedLines | None = None
    for line in lines_of(data):
        if line.text and clues is None:
            clues = _KeyedLines(line.number, in_quotes)
        if clues:
            clues.take(line)
    if clues:
        yield clues.finished()


class _KeyedLines:
    """The lines of a file."""

    def __init__(self, line: int, in_quotes: bool) -> None:
        self._draft = Draft(1, line)
        self._in_quotes = in_quotes  # the values, so in TOML
        self._section = ""
        self._key = ""
        self._quote = ""  # of the text that is being read, and the line where it begins
        self._text_line = 0

    def take(self, line: TextLine) -> None:
        """Take the next line."""
        if self._draft.hopeless:
            return
        if self._quote:
            self._take_text(line)
            return
        text = without_comment(line.text)
        section, value = _SECTION.fullmatch(text), _VALUE.fullmatch(text)
        if section:
            self._start_section(section["name"], line)
        elif self._section not in ("clues", ""):
            pass
        elif value:
            self._start_value(value["key"].lower(), TextLine(line.number, value["value"]))
        elif text and (self._in_quotes or not self._key):
            self._stray(text, line)
        elif text:
            self._take_clues(text, line)

    def finished(self) -> Found:
        """Take the end of the file."""
        if self._quote:
            self._draft.refuse(f"the text that starts here has no {self._quote} at its end", self._text_line)
        self._draft.require(_KEYS, "no '{} =' under [clues]")
        return self._draft.finished()

    def _start_section(self, name: str, line: TextLine) -> None:
        self._section, self._key = name, ""
        if name not in ("clues", "colors"):
            self._draft.remark(f"the section {shown(name)} is not kept", line.number)

    def _start_value(self, key: str, value: TextLine) -> None:
        self._key = key
        if not self._section:
            self._draft.refuse(f"{shown(key)} stands under no [clues]", value.number)
        if key in _KEYS:
            self._draft.section(key, value.number, "such a file holds one puzzle")
        else:
            self._draft.remark(f"{shown(key)} is not kept", value.number)
        if not self._in_quotes:
            self._take_clues(value.text, value)
            return
        quote = next((quote for quote in _QUOTES if value.text.startswith(quote)), "")
        if quote:
            self._quote, self._text_line = quote, value.number
            self._take_text(TextLine(value.number, value.text.removeprefix(quote)))
        elif key in _KEYS:
            self._draft.refuse(f'the clues of \'{key}\' stand in no quotes, such as """', value.number)

    def _take_text(self, line: TextLine) -> None:
        """Take a line, or what is left of it, of a text in quotes."""
        text, end, behind = line.text.partition(self._quote)
        if not end and len(self._quote) == 1:
            self._draft.refuse(f"a text that is not ended by {self._quote} on its line", line.number)
        if end or len(self._quote) == 1:
            self._quote = ""
        self._take_clues(without_comment(text), line)
        if without_comment(behind):
            self._stray(behind, line)

    def _take_clues(self, text: str, line: TextLine) -> None:
        part = part_named(self._key)
        if part and text:
            for clue in clues_between_commas(text):
                self._draft.clue(part, clue, line.number)

    def _stray(self, text: str, line: TextLine) -> None:
        self._draft.refuse(f"{shown(text.strip())} stands behind no 'columns =' or 'rows ='", line.number)


def _write_clues(records: Sequence[Record], start: str, end: str) -> str:
    (record,) = records
    lines = ["[clues]"]
    for key, clues in (("columns", record.puzzle.columns), ("rows", record.puzzle.rows)):
        lines += [f"{key} ={start}", *(f"    {spaced(clue)}" for clue in clues), end]
    return "\n".join(lines).rstrip() + "\n"


PYNOGRAM = Format(
    name="pynogram",
    description="pynogram's INI: [clues] with 'columns =' and 'rows =', commas or lines between clues",
    extensions=(".ini",),
    looks_like=_has_clues,
    read=partial(_read_clues, in_quotes=False),
    write=partial(_write_clues, start="", end=""),
)

NONOGRID = Format(
    name="nonogrid",
    description="nonogrid's TOML: [clues] with columns and rows, each a text in quotes",
    extensions=(".toml",),
    looks_like=_looks_like_toml,
    read=partial(_read_clues, in_quotes=True),
    write=partial(_write_clues, start=' """', end='"""\n'),
)
