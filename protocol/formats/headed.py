"""Text formats with a heading or key before the rows' and the columns' clues: `hv`, `g`, `picross` and two more.

Sources: the comments in Petr Olsak's samples (http://petr.olsak.net/ftp/olsak/grid/) for `g`; `picross_io.h` of
https://github.com/pierre-dejoue/picross-solver for `picross`; `hello.txt` and `hello.toml` among the examples of
https://github.com/tsionyx/pynogram and https://github.com/tsionyx/nonogrid. See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from nonobot.protocol.clues import Clue, Fault, FaultKind, shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    Draft,
    Format,
    TextLine,
    black_clue,
    clue_from_text,
    in_lines,
    read_lines,
    spaced,
    unquoted,
)
from nonobot.protocol.puzzle import Found, Record

# --- H and V -----------------------------------------------------------------------------------------------------

_PART_OF_LETTER = {"H": "rows", "V": "columns"}


def _letter(text: str) -> str:
    """Return 'H' or 'V' if `text` is such a heading, otherwise nothing."""
    word = text.removesuffix(":").rstrip().upper()
    return word if word in _PART_OF_LETTER else ""


def _looks_like_hv(lines: Sequence[str]) -> bool:
    if not _letter(lines[0]):
        return False
    # In the format `letters`, H is a block of eight cells, and the second text line has letters too.
    second = lines[1] if len(lines) > 1 else ""
    return bool(_letter(second)) or not re.fullmatch(r"(?=.*[A-Z])[A-Z0@\s]+", second)


class _HV(Draft):
    needed = _PART_OF_LETTER
    missing = "no line '{}'"
    blank: int | None = None  # line number of a blank line after the last clue

    def take(self, line: TextLine) -> None:
        if not line.text:
            self.blank = self.blank or line.number
            return
        if letter := _letter(line.text):
            self.section(letter, line.number, "such a file contains one puzzle")
            self.part = _PART_OF_LETTER[letter]
        elif not self.part:
            self.refuse(f"{shown(line.text)} is before 'H' and 'V'", line.number)
        else:
            if self.blank and self.clues[self.part]:
                self.refuse("a blank line between clues; an empty clue is written 0", self.blank)
            self.clue(self.part, clue_from_text(line.text), line.number)
        self.blank = None


HV = Format(
    name="hv",
    description="a line H, the rows' clues, a line V, the columns' clues",
    extensions=(".hv",),
    looks_like=_looks_like_hv,
    read=partial(read_lines, draft_of=_HV),
    text=partial(in_lines, rows="H\n", columns="V\n"),
)

# --- Petr Olsak's .g ---------------------------------------------------------------------------------------------

_COLOUR = re.compile(r"(?P<sign>[^\d\s,]):")
_BLOCK = re.compile(r"[\d/\\]", re.ASCII)  # the start of a clue, of numbers or with a triangle


def _looks_like_g(lines: Sequence[str]) -> bool:
    starts = [index for index, line in enumerate(lines) if line.startswith(":")]
    return len(starts) > 1 and all(map(_BLOCK.match, lines[starts[0] + 1 : starts[1]][:1]))


class _G(Draft):
    signs: set[str] | None = None  # signs of colours; None before their declaration
    colons = 0  # number of lines ':' so far: before the rows, before the columns, at the end

    def take(self, line: TextLine) -> None:
        key = line.text[:2].lower()
        if self.colons > len(PARTS):
            return
        if line.text.startswith(":"):
            self.colons += 1
        elif self.colons:
            self.clue(PARTS[self.colons - 1], self._signed_clue(line.text), line.number)
        elif key == "#t":
            self.refuse("a triddler; only rectangular grids are supported", line.number)
            self.colons = len(PARTS) + 1  # nothing more is read
        elif self.signs is None:
            self.signs = set() if key == "#d" else None
        elif colour := _COLOUR.match(line.text):
            self.signs.add(colour["sign"])

    def _signed_clue(self, text: str) -> Clue | Fault:
        if not self.signs or self.signs.isdisjoint(text[:1000]):
            return black_clue(text)
        what = f"clue {shown(text)} has colours or triangles; only black and white puzzles are supported"
        return Fault(FaultKind.FORMAT, what)

    def finished(self) -> Found:
        if self.colons <= len(PARTS):
            what = ("the rows", "the columns", "the end")[self.colons]
            self.refuse(f"no line ':' for {what}")
        return super().finished()


G = Format(
    name="g",
    description="Petr Olsak's .g: lines that start with ':' before the rows' clues, the columns' and the end",
    extensions=(".g",),
    looks_like=_looks_like_g,
    read=partial(read_lines, draft_of=_G),
    text=partial(in_lines, rows=": rows\n", columns=": columns\n", end=": end\n", text=partial(spaced, empty="")),
)

# --- picross-solver ----------------------------------------------------------------------------------------------

_GRID = re.compile(r"GRID(?:\s+(?P<name>.*))?")
_WORDS = ("ROWS", "COLUMNS")


def _looks_like_picross(lines: Sequence[str]) -> bool:
    full = [line for line in lines if not line.startswith("#")]
    inside = any(line in _WORDS or line.startswith("[") for line in full[1:])
    return bool(full) and inside and bool(_GRID.fullmatch(full[0]) or full[0] in _WORDS)


class _Picross(Draft):
    needed = _WORDS
    missing = "no line '{}'"

    def take(self, line: TextLine) -> None:
        if start := _GRID.fullmatch(line.text):
            self.text("title", start["name"] or "", line.number, "name")
        elif line.text in _WORDS:
            self.section(line.text, line.number, "each puzzle starts with a line 'GRID'")
            self.part = line.text.lower()
        elif not line.text.startswith("["):
            what = f"{shown(line.text)} is unexpected; expected GRID, ROWS, COLUMNS or a clue such as [ 2 1 ]"
            self.refuse(what, line.number)
        elif not self.part:
            self.refuse(f"{shown(line.text)} is not under 'ROWS' or 'COLUMNS'", line.number)
        else:
            self.clue(self.part, _bracketed_clue(line.text), line.number)


def _bracketed_clue(text: str) -> Clue | Fault:
    if text[-1:] != "]":
        return Fault(FaultKind.FORMAT, f"{shown(text)} is not a clue in brackets, such as [ 2 1 ]")
    return black_clue(text[1:-1].strip())


def _picross_text(record: Record) -> str:
    start = f"GRID {record.title or ''}".rstrip() + "\nROWS\n"
    return in_lines(record, start, "COLUMNS\n", text=lambda clue: " ".join(["[", *map(str, clue), "]"]))


PICROSS = Format(
    name="picross",
    description="picross-solver's GRID, ROWS and COLUMNS, each clue in brackets",
    extensions=(".picross",),
    holds=frozenset({"title"}),
    looks_like=_looks_like_picross,
    read=partial(read_lines, draft_of=_Picross, first=_GRID, comment=re.compile("(#.*)?")),
    text=_picross_text,
    joined="\n".join,
)

# --- pynogram and nonogrid ---------------------------------------------------------------------------------------

# `configparser` and `tomllib` are not used: they return no line numbers, and the time of `tomllib` grows with the
# square of the size of some files.

_SECTION = re.compile(r"\[\s*(?P<name>[\w.-]+)\s*\]")
_VALUE = re.compile(r"(?P<key>[A-Za-z][\w.-]*)\s*[=:]\s*(?P<value>.*)", re.ASCII)
_QUOTES = ('"""', "'''", '"', "'")


def _without_comment(text: str) -> str:
    """Return a text line up to the first `#` or `;`; clues contain neither."""
    return re.split("[#;]", text, maxsplit=1)[0].rstrip()


def _has_clues(lines: Sequence[str]) -> bool:
    return any(_without_comment(line) == "[clues]" for line in lines)


def _looks_like_toml(lines: Sequence[str]) -> bool:
    """Return whether the text lines contain clues in quotes, which TOML has and INI does not."""
    full = [text for line in lines if (text := _without_comment(line))]
    pairs = ((_VALUE.fullmatch(line), following) for line, following in pairwise([*full, ""]))
    of_parts = [(pair["value"], following) for pair, following in pairs if pair and pair["key"].lower() in PARTS]
    return _has_clues(full) and bool(of_parts) and all(_is_in_quotes(*one) for one in of_parts)


def _is_in_quotes(value: str, following: str) -> bool:
    if value.startswith(_QUOTES[:2]):
        return True
    whole = re.fullmatch(r"""("[^"]*"|'[^']*')""", value)
    return bool(whole) and (not following or bool(_SECTION.match(following) or _VALUE.match(following)))


class _Ini(Draft):
    needed = ("columns", "rows")
    missing = "no '{} =' under [clues]"
    in_quotes = False  # whether values are in quotes
    section_name = ""
    key = ""
    quote = ""  # quote at the end of the text being read
    text_line = 0  # first line of that text

    def take(self, line: TextLine) -> None:
        if self.quote:
            self._take_text(line)
            return
        text = _without_comment(line.text)
        section, value = _SECTION.fullmatch(text), _VALUE.fullmatch(text)
        if section:
            self.section_name, self.key = section["name"], ""
            if self.section_name not in ("clues", "colors"):
                self.warn(f"the section {shown(self.section_name)} is dropped", line.number)
        elif self.section_name not in ("clues", ""):
            return
        elif value:
            self._start_value(value["key"].lower(), TextLine(line.number, value["value"]))
        elif text and (self.in_quotes or not self.key):
            self._stray(text, line)
        else:
            self._take_clues(text, line)

    def finished(self) -> Found:
        if self.quote:
            self.refuse(f"the text that starts here has no {self.quote} at its end", self.text_line)
        return super().finished()

    def _start_value(self, key: str, value: TextLine) -> None:
        self.key = key
        if not self.section_name:
            self.refuse(f"{shown(key)} is not under [clues]", value.number)
        if key in PARTS:
            self.section(key, value.number, "such a file contains one puzzle")
        else:
            self.warn(f"{shown(key)} is dropped", value.number)
        if not self.in_quotes:
            self._take_clues(value.text, value)
            return
        self.quote = next((quote for quote in _QUOTES if value.text.startswith(quote)), "")
        if self.quote:
            self.text_line = value.number
            self._take_text(TextLine(value.number, value.text.removeprefix(self.quote)))
        elif key in PARTS:
            self.refuse(f'the clues of \'{key}\' are not in quotes, such as """', value.number)

    def _take_text(self, line: TextLine) -> None:
        """Read a text line, or the rest of one, of a text in quotes."""
        text, end, behind = line.text.partition(self.quote)
        if not end and len(self.quote) == 1:
            self.refuse(f"a text without its closing {self.quote} on the same line", line.number)
        if end or len(self.quote) == 1:
            self.quote = ""
        self._take_clues(_without_comment(text), line)
        if _without_comment(behind):
            self._stray(behind, line)

    def _take_clues(self, text: str, line: TextLine) -> None:
        """Read clues with commas between them, each in quotes or not; a comma at the end is allowed."""
        if self.key not in PARTS or not text:
            return
        nothing = Fault(FaultKind.FORMAT, f"{shown(text)} has an empty clue between commas or quotes; write 0")
        for word in text.removesuffix(",").split(",", MOST_SIDE):
            clue = unquoted(word.strip()).strip()
            self.clue(self.key, black_clue(clue) if clue else nothing, line.number)

    def _stray(self, text: str, line: TextLine) -> None:
        self.refuse(f"{shown(text.strip())} is not after 'columns =' or 'rows ='", line.number)


class _Toml(_Ini):
    in_quotes = True


def _text_with_keys(record: Record, start: str, end: str) -> str:
    lines = ["[clues]"]
    for key, clues in (("columns", record.puzzle.columns), ("rows", record.puzzle.rows)):
        lines += [f"{key} ={start}", *(f"    {spaced(clue)}" for clue in clues), end]
    return "\n".join(lines).rstrip() + "\n"


PYNOGRAM = Format(
    name="pynogram",
    description="pynogram's INI: [clues] with 'columns =' and 'rows =', commas or lines between clues",
    extensions=(".ini",),
    looks_like=_has_clues,
    read=partial(read_lines, draft_of=_Ini),
    text=partial(_text_with_keys, start="", end=""),
)

NONOGRID = Format(
    name="nonogrid",
    description="nonogrid's TOML: [clues] with columns and rows, each a text in quotes",
    extensions=(".toml",),
    looks_like=_looks_like_toml,
    read=partial(read_lines, draft_of=_Toml),
    text=partial(_text_with_keys, start=' """', end='"""\n'),
)
