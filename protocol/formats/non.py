"""Format `.non`: Steve Simpson's puzzle files, with the keys that nonogram-db added (see docs/formats.md).

Sources: https://www.comp.lancs.ac.uk/~ss/nonogram/fmt2 and
https://github.com/mikix/nonogram-db/blob/master/FORMAT.md
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial

from nonobot.protocol.clues import UNKNOWN, shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    Draft,
    Format,
    TextLine,
    clue_lines,
    in_lines,
    keep,
    read_lines,
    unquoted,
    with_commas,
)
from nonobot.protocol.puzzle import Found, Record, text_from_cells

_FIELDS = ("catalogue", "title", "author", "copyright", "license", "description")
_TEXTS = {"by" if field == "author" else field: field for field in _FIELDS}
_SIDES = {"rows": "height", "columns": "width"}
_DRAWN = {"goal": "solution", "saved": "start"}
_KEYS = frozenset({*_TEXTS, *_SIDES, *_SIDES.values(), *_DRAWN, "color", "maxrule"})
_ASSIGNED = re.compile(r"[A-Za-z]+\s*=")  # as no key of this format is
_WORD = re.compile(r"[A-Za-z][\w-]*(?=:?\s|:?$)")
_IN_COLOURS = re.compile(r"([A-Za-z]\w*):?|(\d+)")


def _looks_like(lines: Sequence[str]) -> bool:
    keys = [_key(line) for line in lines if not _ASSIGNED.match(line)]
    return (keys[:1] == [_key(lines[0])] and keys[0] in _KEYS) or {"rows", "columns"} <= set(keys)


def _key(text: str) -> str:
    """Return the word at the start of a text line, or nothing."""
    word = _WORD.match(text)
    return word[0].lower() if word else ""


class _Non(Draft):
    def __init__(self, number: int, line: int) -> None:
        super().__init__(number, line)
        self.sides: dict[str, int] = {}
        self.lines: dict[str, list[TextLine]] = {}  # those of each part, and of a drawn board, if there is one
        self.unknown: list[str] = []  # unknown keys; one may be a missing key, misspelt

    def take(self, line: TextLine) -> None:
        key = _key(line.text)
        is_clue = self.part in PARTS and (key == "black" or key in self.names)
        if key and not is_clue:
            self._take_key(key, line.text[len(key) :].removeprefix(":").strip(), line)
        elif self.part and (is_clue or not line.text or line.text[0] in "0123456789?-,"):
            keep(self.lines[self.part], line)
        elif line.text:
            self.warn(f"{shown(line.text)} is dropped", line.number)

    def finished(self) -> Found:
        for part in PARTS:
            self._take_part(part, self.lines.get(part))
        for key in _DRAWN:
            self._draw(key, self.lines.get(key))
        return super().finished()

    def _take_key(self, key: str, value: str, line: TextLine) -> None:
        self.part = ""
        if key in _SIDES.values() or (key in _SIDES and value):
            self._take_side(_SIDES.get(key, key), value, line)
        elif key in PARTS or (key in _DRAWN and key not in self.lines):
            self.section(key, line.number, "separate puzzles by a line '===='")
            self.part = key
            self.lines[key] = [TextLine(line.number, value)] if value else []
        elif key in _TEXTS:
            self.text(_TEXTS[key], value, line.number, key)
            self.texts[_TEXTS[key]] = html.unescape(unquoted(value))
        elif key == "color" and value:
            self.names[value.split()[0].lower()] = value.split()[0]
        elif key != "maxrule":  # obsolete, and the clues contain its information
            self.warn(f"{shown(key)} is dropped", line.number)
            self.unknown += [key][: len(self.unknown) < 20 and len(key) < 20]

    def _misspelt(self, name: str) -> str:
        """Return a hint about an unknown key that resembles a missing one, or nothing."""
        from difflib import get_close_matches  # only here: few files need it

        return "".join(f"; {shown(key)} resembles it" for key in get_close_matches(name, self.unknown, 1, 0.75))

    def _take_side(self, side: str, value: str, line: TextLine) -> None:
        number = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
        if not 1 <= number <= MOST_SIDE:
            self.refuse(f"{side} {shown(value)} is not a number from 1 to {MOST_SIDE}", line.number)
        elif side in self.sides:
            self.refuse(f"a second {side}; separate puzzles by a line '===='", line.number)
        else:
            self.sides[side] = number

    def _take_part(self, part: str, lines: Sequence[TextLine] | None) -> None:
        side = _SIDES[part]
        needed = self.sides.get(side)
        if lines is None:
            self.refuse(f"no line '{part}'{self._misspelt(part)}")
        elif needed is None:
            self.refuse(f"no {side}{self._misspelt(side)}")
        else:
            what = f"the {part} of a board of {side} {needed}"
            for number, text in clue_lines(self, lines, needed, what):
                words = _IN_COLOURS.findall(text) if text[:1].isalpha() else ()
                self.use_colours([name.lower() for name, _ in words if name], number)
                text = " ".join(digits for _, digits in words if digits) if words else text
                self.clue(part, self.clue_in_colour(text, number), number)

    def _draw(self, key: str, lines: Sequence[TextLine] | None) -> None:
        width, height = self.sides.get("width", 0), self.sides.get("height", 0)
        text = "".join("".join(line.text.split()) for line in lines or ())
        cells = [UNKNOWN if sign == "?" else int(sign != "0") for sign in unquoted(text)]
        if lines and len(cells) != width * height:
            what = (
                f"the {_DRAWN[key]} is dropped: {len(cells)} cells, expected {width * height} for {width}x{height}"
            )
            self.warn(what, lines[0].number)
        elif lines:
            rows = [cells[start : start + width] for start in range(0, len(cells), width)]
            setattr(self, _DRAWN[key], (rows, lines[0].number))


def _text(record: Record) -> str:
    texts = {key: getattr(record, name) for key, name in _TEXTS.items()}
    head = [f'{key} "{html.escape(text)}"' for key, text in texts.items() if text is not None]
    width, height = record.size
    drawn = {"goal": record.solution, "saved": record.start}
    end = "".join(f'\n{key} "{text_from_cells(board)}"\n' for key, board in drawn.items() if board is not None)
    rows = "\n".join([*head, f"width {width}", f"height {height}", "", "rows", ""])
    return in_lines(record, rows, "\ncolumns\n", end, with_commas)


FORMAT = Format(
    name="non",
    description="Steve Simpson's .non: keys and values, clues under 'rows' and 'columns'",
    extensions=(".non", ".nonpack"),
    holds=frozenset({*_TEXTS.values(), "solution", "start"}),
    looks_like=_looks_like,
    read=partial(read_lines, draft_of=_Non, divider=re.compile("={4,}")),
    text=_text,
    joined="====\n".join,
)
