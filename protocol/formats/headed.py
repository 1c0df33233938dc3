"""Text formats with a heading or key before the rows' and the columns' clues: `hv`, `g`, `non` and three more.

Sources, besides those in docs/formats.md: the comments in Petr Olsak's samples
(http://petr.olsak.net/ftp/olsak/grid/) for `g`, and `picross_io.h` of picross-solver.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial

from nonobot.protocol.clues import UNKNOWN, Fault, clue_from_text, shown, spaced, with_commas
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    Draft,
    Format,
    clue_lines,
    in_lines,
    part_of,
    read_lines,
)
from nonobot.protocol.puzzle import Found, Record, text_from_cells
from nonobot.protocol.text_lines import TextLine, keep

# --- H and V -----------------------------------------------------------------------------------------------------

_DROPPED = "dropped"  # the part in a section that contains no clues
_HEADING = re.compile(r"(?P<bracket>\[\s*+)?(?P<name>[hvHV]|[A-Za-z][A-Za-z _-]*[A-Za-z_-])(?(bracket)\s*\])\s*:?")


def _part(text: str) -> str:
    """Return the one of PARTS that a text line such as 'H' or '[Row clues]' is a heading for, or nothing."""
    heading = _HEADING.fullmatch(text)
    return part_of(heading["name"]) if heading else ""


def _looks_like_hv(lines: Sequence[str]) -> bool:
    if len(lines[0].rstrip(": ")) == 1 and _part(lines[0]):
        # In the format `letters`, H is a block of eight cells, and the second text line has letters too.
        second = "".join(lines[1:2])
        return bool(_part(second)) or not re.fullmatch(r"(?=.*[A-Z])[A-Z0@\s]+", second)
    is_heading = _part(lines[0]) or (lines[0].startswith("[") and _HEADING.fullmatch(lines[0]))
    return bool(is_heading) and set(PARTS) <= set(map(_part, lines))


class _HV(Draft):
    needed = PARTS
    missing = "no heading for the {}; expected H for rows and V for columns"
    blank: int | None = None  # line number of a blank line after the last clue

    def take(self, line: TextLine) -> None:
        if not line.text:
            self.blank = self.blank or line.number
            return
        if part := _part(line.text):
            self.section(part, line.number, "such a file contains one puzzle")
            self.part = part
        elif line.text.startswith("[") and _HEADING.fullmatch(line.text):
            self.warn(f"the section {shown(line.text)} is dropped", line.number)
            self.part = _DROPPED
        elif not self.part:
            self.refuse(f"{shown(line.text)} is before 'H' and 'V'", line.number)
        elif self.part != _DROPPED:
            if self.blank and self.clues[self.part]:
                self.refuse("a blank line between clues; an empty clue is written 0", self.blank)
            self.clue(self.part, clue_from_text(line.text), line.number)
        self.blank = None


HV = Format(
    name="hv",
    description="a line H, the rows' clues, a line V, the columns' clues",
    extensions=(".hv",),
    looks_like=_looks_like_hv,
    sign=r"^[^\w\n]*(h|v|rows?|columns?|cols?|horizontals?|verticals?)\b[^\w\n]*$",
    read=partial(read_lines, draft_of=_HV),
    text=partial(in_lines, rows="H\n", columns="V\n"),
)

# --- Petr Olsak's .g ---------------------------------------------------------------------------------------------

_COLOUR = re.compile(r"(?P<sign>[^\s,]):\S?\s+(?P<name>\S+)")
_BLOCK = re.compile(r"[\d/\\]", re.ASCII)  # the start of a clue, of numbers or with a triangle


def _looks_like_g(lines: Sequence[str]) -> bool:
    starts = [index for index, line in enumerate(lines) if line.startswith(":")]
    return len(starts) > 1 and all(map(_BLOCK.match, lines[starts[0] + 1 : starts[1]][:1]))


class _G(Draft):
    colons = 0  # number of lines ':' so far: before the rows, before the columns, at the end

    def take(self, line: TextLine) -> None:
        key = line.text[:2].lower()
        if self.colons > len(PARTS):
            return
        if line.text.startswith(":"):
            self.colons += 1
        elif self.colons:
            self.clue(PARTS[self.colons - 1], self.clue_in_colour(line.text, line.number), line.number)
        elif key == "#t":
            self.refuse("a triddler; only rectangular grids are supported", line.number)
            self.colons = len(PARTS) + 1  # nothing more is read
        elif colour := _COLOUR.match(line.text):
            self.names["" if colour["sign"] == "1" else colour["sign"]] = colour["name"]

    def finished(self) -> Found:
        if self.colons <= len(PARTS):
            self.refuse(f"no line ':' for {('the rows', 'the columns', 'the end')[self.colons]}")
        return super().finished()


G = Format(
    name="g",
    description="Petr Olsak's .g: lines that start with ':' before the rows' clues, the columns' and the end",
    extensions=(".g",),
    looks_like=_looks_like_g,
    sign="^:",
    read=partial(read_lines, draft_of=_G),
    text=partial(in_lines, rows=": rows\n", columns=": columns\n", end=": end\n", text=partial(spaced, empty="")),
)

# --- picross-solver ----------------------------------------------------------------------------------------------

_GRID = re.compile(r"GRID(?:\s++(?P<name>.*))?", re.IGNORECASE)


def _looks_like_picross(lines: Sequence[str]) -> bool:
    full = [line for line in lines if not line.startswith("#")]
    inside = any(line.lower() in PARTS or re.match(r"\[[\d\s,]*\]", line) for line in full[1:])
    return inside and bool(_GRID.fullmatch(full[0]) or (full[0].lower() in PARTS and full[1].startswith("[")))


class _Picross(Draft):
    needed = PARTS
    missing = "no line for the {}; expected ROWS and COLUMNS"

    def take(self, line: TextLine) -> None:
        if start := _GRID.fullmatch(line.text):
            self.text("title", start["name"] or "", line.number, "name")
        elif line.text.lower() in PARTS:
            self.part = line.text.lower()
            self.section(self.part, line.number, "each puzzle starts with a line 'GRID'")
        elif not line.text.startswith("["):
            message = f"{shown(line.text)} is unexpected; expected GRID, ROWS, COLUMNS or a clue such as [ 2 1 ]"
            self.refuse(message, line.number)
        elif not self.part:
            self.refuse(f"{shown(line.text)} is not under 'ROWS' or 'COLUMNS'", line.number)
        else:
            clue = self.clue_in_colour(line.text[1:-1].strip(), line.number)
            message = f"{shown(line.text)} is not a clue in brackets, such as [ 2 1 ]"
            self.clue(self.part, clue if line.text[-1] == "]" else Fault.of_file(message), line.number)


def _picross_text(record: Record) -> str:
    start = f"GRID {record.title or ''}".rstrip() + "\nROWS\n"
    return in_lines(record, start, "COLUMNS\n", text=lambda clue: " ".join(["[", *map(str, clue), "]"]))


PICROSS = Format(
    name="picross",
    description="picross-solver's GRID, ROWS and COLUMNS, each clue in brackets",
    extensions=(".picross",),
    holds=frozenset({"title"}),
    looks_like=_looks_like_picross,
    sign=r"^GRID\b|^(ROWS|COLUMNS)$|^\[[\d ,]*\]$",
    read=partial(read_lines, draft_of=_Picross, first=_GRID, comment=re.compile("(#.*)?")),
    text=_picross_text,
    joined="\n".join,
)

# --- pynogram and nonogrid ---------------------------------------------------------------------------------------

# `configparser` and `tomllib` are not used: they return no line numbers, and the time of `tomllib` grows with the
# square of the size of some files.

_SECTION = re.compile(r"\[\s*(?P<name>[\w.-]+)\s*\]")
_VALUE = re.compile(r"(?P<key>[A-Za-z][\w.-]*)\s*[=:]\s*(?P<value>.*)", re.ASCII)


def _without_comment(text: str) -> str:
    """Return a text line up to the first `#` or `;`; clues contain neither."""
    return re.split("[#;]", text, maxsplit=1)[0].rstrip()


def _has_clues(lines: Sequence[str], value: str = "") -> bool:
    """Return whether the text lines have a section [clues], with only values for rows and columns like `value`."""
    texts = [_without_comment(line) for line in lines]
    found = [pair["value"] for pair in map(_VALUE.fullmatch, texts) if pair and pair["key"].lower() in PARTS]
    return "[clues]" in map(str.lower, texts) and all(re.match(value, text) for text in found)


class _Ini(Draft):
    needed = ("columns", "rows")
    missing = "no '{} =' under [clues]"
    heading = ""  # name of the section
    key = ""

    def take(self, line: TextLine) -> None:
        text = _without_comment(line.text)
        section, value = _SECTION.fullmatch(text), _VALUE.fullmatch(text)
        if section:
            self.heading, self.key = section["name"].lower(), ""
            if self.heading not in ("clues", "colors"):
                self.warn(f"the section {shown(section['name'])} is dropped", line.number)
        elif value and self.heading == "colors" and value["key"].lower() not in PARTS:
            name, bracket, _ = value["value"].partition("(")[2].partition(")")
            self.names[value["key"]] = name if bracket else value["key"]
        elif value and self.heading in ("clues", "colors", ""):
            self.key, text = value["key"].lower(), value["value"]
            if self.heading != "clues":
                self.refuse(f"{shown(self.key)} is not under [clues]", line.number)
            elif self.key in PARTS:
                self.section(self.key, line.number, "such a file contains one puzzle")
            else:
                self.warn(f"{shown(self.key)} is dropped", line.number)
        elif text and not self.key and self.heading in ("clues", ""):
            self.refuse(f"{shown(text)} is not after 'columns =' or 'rows ='", line.number)
        elif text[:1].isdigit() and self.heading == "colors":
            self.warn(f"{shown(text)} is dropped", line.number)
        if self.key in PARTS and (text := re.sub("\"\"\"|'''", "", text).strip()):
            for word in (word.strip("\"' ") for word in text.removesuffix(",").split(",", MOST_SIDE)):
                message = f"{shown(text)} has an empty clue between commas or quotes; write 0"
                clue = self.clue_in_colour(word, line.number) if word else Fault.of_file(message)
                self.clue(self.key, clue, line.number)


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
    sign=r"^[ \t]*(rows|columns)[ \t]*=[ \t]*([\d'\"]|$)",
    read=partial(read_lines, draft_of=_Ini),
    text=partial(_text_with_keys, start="", end=""),
)

NONOGRID = Format(
    name="nonogrid",
    description="nonogrid's TOML: [clues] with columns and rows, each a text in quotes",
    extensions=(".toml",),
    looks_like=partial(_has_clues, value="\"{3}|'{3}|(\"|')[^\"']*\\1$"),
    read=PYNOGRAM.read,
    text=partial(_text_with_keys, start=' """', end='"""\n'),
)

# --- .non --------------------------------------------------------------------------------------------------------

_FIELDS = ("catalogue", "title", "author", "copyright", "license", "description")
_KEYS_OF_TEXTS = {"by" if field == "author" else field: field for field in _FIELDS}
_SIDES = {"rows": "height", "columns": "width"}
_BOARDS = {"goal": "solution", "saved": "start"}
_KEYS = frozenset({*_KEYS_OF_TEXTS, *_SIDES, *_SIDES.values(), *_BOARDS, "color", "maxrule"})
_WORD = re.compile(r"[A-Za-z][\w-]*(?=\s+[^\s=]|$)")
_IN_COLOURS = re.compile(r"([A-Za-z]\w*):?|([0-9]+)")


def _looks_like_non(lines: Sequence[str]) -> bool:
    return _key(lines[0]) in _KEYS or {"rows", "columns"} <= set(map(_key, lines))


def _key(text: str) -> str:
    """Return the word at the start of a text line, or nothing."""
    word = _WORD.match(text)
    return word[0].lower() if word else ""


def _unquoted(text: str) -> str:
    """Return a text without the quotes around it, if it has any."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


class _Non(Draft):
    def __init__(self, number: int, line: int) -> None:
        super().__init__(number, line)
        self.sides: dict[str, int] = {}
        self.lines: dict[str, list[TextLine]] = {}  # those of each part, and of a drawn board, if there is one
        self.unknown: list[str] = []  # unknown keys; one may be a missing key, misspelt

    def take(self, line: TextLine) -> None:
        if self.part and line.text[:1] in "0123456789":  # or blank
            keep(self.lines[self.part], line)
            return
        key = _key(line.text)
        is_in_colours = self.part in PARTS and re.split("[: ]", line.text)[0].lower() in ("black", *self.names)
        if key and not is_in_colours:
            self._take_key(key, line.text[len(key) :].strip(), line)
        elif self.part and (is_in_colours or re.match("[?,]|-[0-9]", line.text)):
            keep(self.lines[self.part], line)
        elif line.text:
            self.warn(f"{shown(line.text)} is dropped", line.number)

    def finished(self) -> Found:
        for part in PARTS:
            self._take_part(part)
        for key in _BOARDS:
            self._draw(key, self.lines.get(key))
        return super().finished()

    def _take_key(self, key: str, value: str, line: TextLine) -> None:
        self.part = ""
        if key in _SIDES.values() or (key in _SIDES and value):
            self._take_side(_SIDES.get(key, key), value, line)
        elif key in PARTS or (key in _BOARDS and key not in self.lines):
            self.section(key, line.number, "separate puzzles by a line '===='")
            self.part = key
            self.lines[key] = [TextLine(line.number, value)] if value else []
        elif key in _KEYS_OF_TEXTS:
            self.text(_KEYS_OF_TEXTS[key], value, line.number, key)
            self.texts[_KEYS_OF_TEXTS[key]] = html.unescape(_unquoted(value))
        elif key == "color" and value:
            self.names[value.split()[0].lower()] = value.split()[0]
        elif key != "maxrule":  # obsolete, and the clues contain its information
            self.warn(f"{shown(key)} is dropped", line.number)
            self.unknown += [key][: len(self.unknown) < 20 and len(key) < 20]

    def _take_side(self, side: str, value: str, line: TextLine) -> None:
        number = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
        if not 1 <= number <= MOST_SIDE:
            self.refuse(f"{side} {shown(value)} is not a number from 1 to {MOST_SIDE}", line.number)
        elif side in self.sides:
            self.refuse(f"a second {side}; separate puzzles by a line '===='", line.number)
        self.sides[side] = number

    def _take_part(self, part: str) -> None:
        from difflib import get_close_matches  # only here: few files need it

        side = _SIDES[part]
        missing = [name for name in (side, part) if name not in self.sides and name not in self.lines]
        for name in missing:
            likely = "".join(f"; {shown(key)} resembles it" for key in get_close_matches(name, self.unknown, 1))
            self.refuse(f"no line '{name}'{likely}")
        if not missing and self.sides[side]:
            purpose = f"the {part} of a board of {side} {self.sides[side]}"
            for number, text in clue_lines(self, self.lines[part], self.sides[side], purpose):
                if re.match(r"[A-Za-z][\w\s:,]*$", text):
                    blocks = _IN_COLOURS.findall(text)
                    self.use_colours([name.lower() for name, _ in blocks if name], number)
                    clue = clue_from_text(" ".join(digits for _, digits in blocks if digits))
                else:
                    clue = self.clue_in_colour(text, number)
                self.clue(part, clue, number)

    def _draw(self, key: str, lines: Sequence[TextLine] | None) -> None:
        width, height = self.sides.get("width", 0), self.sides.get("height", 0)
        text = "".join("".join(line.text.split()) for line in lines or ())
        cells = [UNKNOWN if sign == "?" else int(sign != "0") for sign in _unquoted(text)]
        problem = "it has unknown cells" if key == "goal" and UNKNOWN in cells else ""
        if len(cells) != width * height:
            problem = f"{len(cells)} cells, expected {width * height} for {width}x{height}"
        if lines and problem:
            self.warn(f"the {_BOARDS[key]} is dropped: {problem}", lines[0].number)
        elif lines:
            rows = [cells[start : start + width] for start in range(0, len(cells), width or 1)]
            setattr(self, _BOARDS[key], (rows, lines[0].number))


def _non_text(record: Record) -> str:
    texts = {key: getattr(record, name) for key, name in _KEYS_OF_TEXTS.items()}
    head = [f'{key} "{html.escape(text)}"' for key, text in texts.items() if text is not None]
    width, height = record.size
    drawn = {"goal": record.solution, "saved": record.start}
    end = "".join(f'\n{key} "{text_from_cells(board)}"\n' for key, board in drawn.items() if board is not None)
    rows = "\n".join([*head, f"width {width}", f"height {height}", "", "rows", ""])
    return in_lines(record, rows, "\ncolumns\n", end, with_commas)


NON = Format(
    name="non",
    description="Steve Simpson's .non: keys and values, clues under 'rows' and 'columns'",
    extensions=(".non", ".nonpack"),
    holds=frozenset({*_KEYS_OF_TEXTS.values(), "solution", "start"}),
    looks_like=_looks_like_non,
    sign=r"^(width|height|rows|columns)\s+\d",
    read=partial(read_lines, draft_of=_Non, divider=re.compile("={4,}")),
    text=_non_text,
    joined="====\n".join,
)
