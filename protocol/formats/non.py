"""Format `.non`: Steve Simpson's puzzle files, with the keys that nonogram-db added (see docs/formats.md).

Sources: https://www.comp.lancs.ac.uk/~ss/nonogram/fmt2 and
https://github.com/mikix/nonogram-db/blob/master/FORMAT.md
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial

from nonobot.arguments import similar_names
from nonobot.protocol.clues import shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    Draft,
    Format,
    TextLine,
    black_clue,
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
_KEYS = frozenset({*_TEXTS, *_SIDES, *_SIDES.values(), "goal", "color", "maxrule"})
_ASSIGNED = re.compile(r"[A-Za-z]+\s*=")  # as no key of this format is
_WORD = re.compile(r"[A-Za-z][\w-]*(?=\s|$)")


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
        self.goal: TextLine | None = None
        self.part_lines: list[TextLine] = []  # those of the part being read
        self.unknown: list[str] = []  # unknown keys; one may be a missing key, misspelt

    def take(self, line: TextLine) -> None:
        key = _key(line.text)
        if key:
            self._end_part()
            self._take_key(key, line.text[len(key) :].strip(), line)
        elif self.part:
            keep(self.part_lines, line)
        elif line.text:
            hint = self._misspelt(*_SIDES)
            self.refuse(f"{shown(line.text)} is not under 'rows' or 'columns'{hint}", line.number)

    def finished(self) -> Found:
        self._end_part()
        if self.goal:
            self._take_goal(self.goal)
        elif not self.sections:
            self.refuse(f"no 'rows' and no 'columns'{self._misspelt(*_SIDES)}")
        return super().finished()

    def _take_key(self, key: str, value: str, line: TextLine) -> None:
        if key in ("width", "height") or (key in _SIDES and value):
            self._take_side(_SIDES.get(key, key), value, line)
        elif key in PARTS:
            self.section(key, line.number, "separate puzzles by a line '===='")
            self.part, self.part_lines = key, []
        elif key == "goal":
            self.goal = TextLine(line.number, unquoted(value))
        elif key in _TEXTS:
            self.text(_TEXTS[key], value, line.number, key)
            self.texts[_TEXTS[key]] = html.unescape(unquoted(value))
        elif key != "maxrule":  # obsolete, and the clues contain its information
            self.warn(f"{shown(key)} is dropped", line.number)
            self.unknown += [key][: len(self.unknown) < 20 and len(key) < 20]

    def _misspelt(self, *names: str) -> str:
        """Return a hint about an unknown key that resembles a missing one, or nothing."""
        hints = ((key, similar_names(key, names)) for key in self.unknown)
        return next((f"; {shown(key)} is not a key{hint}" for key, hint in hints if hint), "")

    def _take_side(self, side: str, value: str, line: TextLine) -> None:
        number = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
        if not 1 <= number <= MOST_SIDE:
            self.refuse(f"{side} {shown(value)} is not a number from 1 to {MOST_SIDE}", line.number)
        elif side in self.sides:
            self.refuse(f"a second {side}; separate puzzles by a line '===='", line.number)
        else:
            self.sides[side] = number

    def _end_part(self) -> None:
        part, self.part = self.part, ""
        if not part:
            return
        side = _SIDES[part]
        needed = self.sides.get(side)
        if needed is None:
            self.refuse(f"no {side} before '{part}'{self._misspelt(side)}")
            return
        for line in clue_lines(self, self.part_lines, needed, f"the {part} of a board of {side} {needed}"):
            self.clue(part, black_clue(line.text), line.number)

    def _take_goal(self, goal: TextLine) -> None:
        width, height = self.sides.get("width", 0), self.sides.get("height", 0)
        cells = "".join(goal.text.split())
        if not width * height or len(cells) != width * height:
            what = f"the solution is dropped: {len(cells)} cells, expected {width * height} for {width}x{height}"
            self.warn(what, goal.number)
            return
        black = [int(cell != "0") for cell in cells]
        rows = [black[start : start + width] for start in range(0, len(cells), width)]
        self.solution = rows, goal.number


def _text(record: Record) -> str:
    texts = {key: getattr(record, name) for key, name in _TEXTS.items()}
    head = [f'{key} "{html.escape(text)}"' for key, text in texts.items() if text is not None]
    width, height = record.size
    goal = ""
    if record.solution is not None:
        goal = f'\ngoal "{text_from_cells(record.solution)}"\n'
    rows = "\n".join([*head, f"width {width}", f"height {height}", "", "rows", ""])
    return in_lines(record, rows, "\ncolumns\n", goal, with_commas)


FORMAT = Format(
    name="non",
    description="Steve Simpson's .non: keys and values, clues under 'rows' and 'columns'",
    extensions=(".non", ".nonpack"),
    holds=frozenset({*_TEXTS.values(), "solution"}),
    looks_like=_looks_like,
    read=partial(read_lines, draft_of=_Non, divider=re.compile("={4,}")),
    text=_text,
    joined="====\n".join,
)
