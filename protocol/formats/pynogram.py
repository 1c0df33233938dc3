"""`[clues]` with `columns` and `rows`: the INI files of pynogram, and the TOML files of its successor nonogrid.

Sources: `hello.txt` and `hello.toml` among the examples of https://github.com/tsionyx/pynogram and
https://github.com/tsionyx/nonogrid (see docs/formats.md).

Neither `configparser` nor `tomllib` reads them: both return a value without its lines, so that no fault in a clue
would have a place, and the time of `tomllib` grows with the square of the size of some files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from nonobot.protocol.clues import shown
from nonobot.protocol.formats.base import Draft, Format, Found, part_named
from nonobot.protocol.formats.text_lines import Line, clues_between_commas, lines_of, spaced, without_comment
from nonobot.protocol.puzzle import Record

__all__ = ["NONOGRID", "PYNOGRAM"]

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


def _read(data: bytes, in_quotes: bool) -> Iterator[Found]:
    clues: _Clues | None = None
    for line in lines_of(data):
        if line.text and clues is None:
            clues = _Clues(line.number, in_quotes)
        if clues:
            clues.take(line)
    if clues:
        yield clues.finished()


class _Clues:
    """The lines of a file."""

    def __init__(self, line: int, in_quotes: bool) -> None:
        self._draft = Draft(1, line)
        self._in_quotes = in_quotes  # the values, so in TOML
        self._section = ""
        self._key = ""
        self._quote = ""  # of the text that is being read, and the line where it begins
        self._text_line = 0

    def take(self, line: Line) -> None:
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
            self._start_value(value["key"].lower(), Line(line.number, value["value"]))
        elif text and (self._in_quotes or not self._key):
            self._stray(text, line)
        elif text:
            self._take_clues(text, line)

    def finished(self) -> Found:
        """Take the end of the file."""
        if self._quote:
            what = f"the text that starts here has no {self._quote} at its end"
            self._draft.refuse(what, self._text_line)
        self._draft.require(_KEYS, "no '{} =' under [clues]")
        return self._draft.finished()

    def _start_section(self, name: str, line: Line) -> None:
        self._section, self._key = name, ""
        if name not in ("clues", "colors"):
            self._draft.remark(f"the section {shown(name)} is not kept", line.number)

    def _start_value(self, key: str, value: Line) -> None:
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
            self._take_text(Line(value.number, value.text.removeprefix(quote)))
        elif key in _KEYS:
            self._draft.refuse(f'the clues of \'{key}\' stand in no quotes, such as """', value.number)

    def _take_text(self, line: Line) -> None:
        """Take a line, or what is left of it, of a text in quotes."""
        text, end, behind = line.text.partition(self._quote)
        if not end and len(self._quote) == 1:
            self._draft.refuse(f"a text that is not ended by {self._quote} on its line", line.number)
        if end or len(self._quote) == 1:
            self._quote = ""
        self._take_clues(without_comment(text), line)
        if without_comment(behind):
            self._stray(behind, line)

    def _take_clues(self, text: str, line: Line) -> None:
        part = part_named(self._key)
        if part and text:
            for clue in clues_between_commas(text):
                self._draft.clue(part, clue, line.number)

    def _stray(self, text: str, line: Line) -> None:
        self._draft.refuse(f"{shown(text.strip())} stands behind no 'columns =' or 'rows ='", line.number)


def _write(records: Sequence[Record], start: str, end: str) -> str:
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
    read=partial(_read, in_quotes=False),
    write=partial(_write, start="", end=""),
)

NONOGRID = Format(
    name="nonogrid",
    description="nonogrid's TOML: [clues] with columns and rows, each a text in quotes",
    extensions=(".toml",),
    looks_like=_looks_like_toml,
    read=partial(_read, in_quotes=True),
    write=partial(_write, start=' """', end='"""\n'),
)
