"""`.non`: Steve Simpson's puzzle files, with the keys that the nonogram-db collection added (see docs/formats.md).

Sources: https://www.comp.lancs.ac.uk/~ss/nonogram/fmt2 and
https://github.com/mikix/nonogram-db/blob/master/FORMAT.md
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.clues import shown
from nonobot.protocol.formats.base import MOST_SIDE, Draft, Format, Found, Part, part_named, parts_of
from nonobot.protocol.formats.text_lines import (
    TextLine,
    black_clue,
    clue_lines,
    gathered,
    is_text,
    lines_of,
    unquoted,
    with_commas,
)
from nonobot.protocol.puzzle import Record

_FIELDS = ("catalogue", "title", "author", "copyright", "license", "description")
_TEXTS = {"by" if field == "author" else field: field for field in _FIELDS}
_SIDES = {"rows": "height", "columns": "width"}
_KEYS = frozenset({*_TEXTS, *_SIDES, *_SIDES.values(), "goal", "color", "maxrule"})
_DIVIDER = re.compile(r"={4,}")
_ASSIGNED = re.compile(r"[A-Za-z]+\s*=")  # as no key of this format is
_WORD = re.compile(r"[A-Za-z][\w-]*(?=\s|$)")


def _looks_like(lines: Sequence[str]) -> bool:
    keys = [_key(line) for line in lines if not _ASSIGNED.match(line)]
    return (keys[:1] == [_key(lines[0])] and keys[0] in _KEYS) or {"rows", "columns"} <= set(keys)


def _key(text: str) -> str:
    """Return the word that a line starts with, or nothing if it starts with none."""
    word = _WORD.match(text)
    return word[0].lower() if word else ""


def _read(data: bytes) -> Iterator[Found]:
    number = 0
    puzzle: _Lines | None = None
    for line in lines_of(data):
        if _DIVIDER.fullmatch(line.text):
            if puzzle:
                yield puzzle.finished()
            puzzle = None
        elif puzzle:
            puzzle.take(line)
        elif line.text:
            number += 1
            puzzle = _Lines(number, line.number)
            puzzle.take(line)
    if puzzle:
        yield puzzle.finished()


class _Lines:
    """The lines of one puzzle."""

    def __init__(self, number: int, line: int) -> None:
        self._draft = Draft(number, line)
        self._sides: dict[str, int] = {}
        self._goal: TextLine | None = None
        self._section: Part | None = None  # the part whose clues are read
        self._clues: list[TextLine] = []
        self._has_section = False

    def take(self, line: TextLine) -> None:
        """Take the next line."""
        if self._draft.hopeless:
            return
        key = _key(line.text)
        if self._section and not key:
            self._clues.append(line)
            if len(self._clues) > 4 * MOST_SIDE:
                self._clues = gathered(self._clues)
        elif key:
            self._end_section()
            self._take_key(key, line.text[len(key) :].strip(), line)
        elif line.text:
            self._draft.refuse(f"{shown(line.text)} stands under no 'rows' or 'columns'", line.number)

    def finished(self) -> Found:
        """Take the end of the puzzle."""
        self._end_section()
        if not self._has_section and not self._goal:
            self._draft.refuse("no 'rows' and no 'columns'")
        self._take_goal()
        return self._draft.finished()

    def _take_key(self, key: str, value: str, line: TextLine) -> None:
        if key in ("width", "height") or (key in _SIDES and value):
            self._take_side(_SIDES.get(key, key), value, line)
        elif part := part_named(key):
            self._draft.section(part, line.number, "puzzles are divided by a line '===='")
            self._section, self._clues, self._has_section = part, [], True
        elif key == "goal":
            self._goal = TextLine(line.number, unquoted(value))
        elif key in _TEXTS:
            self._take_text(key, value, line)
        elif key != "maxrule":  # obsolete, and says nothing that the clues do not
            self._draft.remark(f"{shown(key)} is not kept", line.number)

    def _take_side(self, side: str, value: str, line: TextLine) -> None:
        number = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
        if not 1 <= number <= MOST_SIDE:
            what = f"{side} {shown(value)} is not a number from 1 to {MOST_SIDE}"
        elif side in self._sides:
            what = f"a second {side}; puzzles are divided by a line '===='"
        else:
            self._sides[side] = number
            return
        self._draft.refuse(what, line.number)

    def _take_text(self, key: str, value: str, line: TextLine) -> None:
        if not is_text(value):
            self._draft.remark(f"the {key} has bytes that are not UTF-8 text", line.number)
        self._draft.texts[_TEXTS[key]] = html.unescape(unquoted(value))

    def _end_section(self) -> None:
        section, self._section = self._section, None
        if section is None:
            return
        side = _SIDES[section]
        needed = self._sides.get(side)
        if needed is None:
            self._draft.refuse(f"no {side} before '{section}'")
            return
        for line in clue_lines(self._draft, self._clues, needed, f"the {section} of a board of {side} {needed}"):
            self._draft.clue(section, black_clue(line.text), line.number)

    def _take_goal(self) -> None:
        if self._goal is None:
            return
        width, height = self._sides.get("width", 0), self._sides.get("height", 0)
        cells = "".join(self._goal.text.split())
        if not width * height or len(cells) != width * height:
            what = f"the goal is left out: {len(cells)} cells, expected {width * height} for {width}x{height}"
            self._draft.remark(what, self._goal.number)
            return
        black = [int(cell != "0") for cell in cells]
        rows = [black[start : start + width] for start in range(0, len(cells), width)]
        self._draft.solution = rows, self._goal.number


def _write(records: Sequence[Record]) -> str:
    return "====\n".join(map(_text, records))


def _text(record: Record) -> str:
    puzzle = record.puzzle
    lines = []
    for key, name in _TEXTS.items():
        text = getattr(record, name)
        if text is not None:
            lines.append(f'{key} "{html.escape(text)}"')
    lines += [f"width {puzzle.width}", f"height {puzzle.height}"]
    for part, clues in parts_of(puzzle):
        lines += ["", part, *map(with_commas, clues)]
    if record.solution is not None:
        lines += ["", f'goal "{"".join(map(str, record.solution.cells.ravel().tolist()))}"']
    return "\n".join(lines) + "\n"


FORMAT = Format(
    name="non",
    description="Steve Simpson's .non: keys and values, clues under 'rows' and 'columns'",
    extensions=(".non", ".nonpack"),
    holds=frozenset({*_TEXTS.values(), "solution"}),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
