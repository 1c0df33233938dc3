"""The `8x11` text form: a size, then sections with the clues and, drawn, the start and the solution.

See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Fault, Kind, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, Draft, Format, Found, parts_of
from nonobot.protocol.formats.text_lines import (
    Line,
    cells_from_lines,
    clue_from_text,
    clue_lines,
    gathered,
    is_text,
    sized_puzzle,
    with_commas,
)
from nonobot.protocol.puzzle import BLACK, UNKNOWN, WHITE, PartialGrid, Solution
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_SIZE = re.compile(r"(?P<width>\d+)\s*[xX*\u00d7]\s*(?P<height>\d+)", re.ASCII)
_NO_SIZE = "is not WIDTHxHEIGHT, such as 8x11"
_TEXTS = ("title", "author")
_DRAWN = {
    "grid": {".": UNKNOWN, "#": BLACK, "X": WHITE, "x": WHITE},
    "solution": {".": WHITE, "#": BLACK, "X": WHITE, "x": WHITE},
}
_SECTIONS = (*_TEXTS, "rows", "columns", *_DRAWN)
_HEADING = re.compile(r"(?P<bracket>\[)?(?P<name>[A-Za-z]\w*)(?(bracket)\])(?:(?::\s*|\s+|$)(?P<behind>.*))")
_CELLS = re.compile(r"[.#xX]+")


def _looks_like(lines: Sequence[str]) -> bool:
    return bool(_SIZE.fullmatch(lines[0]))


def _read(data: bytes) -> Iterator[Found]:
    return sized_puzzle(data, _SIZE, _NO_SIZE, _take)


def _take(draft: Draft, width: int, height: int, lines: Iterator[Line]) -> None:
    sections = _sections(lines, draft)
    for name, content in sections.items():
        if name in _TEXTS:
            _take_text(draft, name, content)
        elif name in _DRAWN:
            _take_drawn(draft, name, content)
    for part, count in zip(PARTS, (height, width), strict=True):
        if part not in sections:
            draft.refuse(Kind.MISSING_LINES, f"no section '{part}'")
            continue
        for line in _clues(draft, sections[part], count, part):
            draft.clue(part, clue_from_text(line.text), line.number)


def _sections(lines: Iterator[Line], draft: Draft) -> dict[str, list[Line]]:
    """Return the lines of each section, the blank ones among them."""
    sections: dict[str, list[Line]] = {}
    name = ""
    for line in lines:
        if draft.hopeless:
            break
        if name in _TEXTS and not sections[name]:  # whatever stands there, also the name of a section
            sections[name].append(line)
        elif heading := _heading(name, line):
            name, behind = heading
            if name in _SECTIONS:
                draft.section(name, line.number, "such a file holds one puzzle")
            else:
                draft.fault(_no_section(name), line.number)
            sections[name] = [behind] if behind.text else []
        elif name and name not in _TEXTS:
            _keep(sections[name], line)
        elif line.text:
            draft.fault(_no_section(line.text), line.number)
    return sections


def _heading(section: str, line: Line) -> tuple[str, Line] | None:
    """Return the name of the section that starts on a line within `section`, and what stands behind it."""
    if section in _DRAWN and _CELLS.fullmatch(line.text):
        return None
    heading = _HEADING.fullmatch(line.text)
    return (heading["name"].lower(), Line(line.number, heading["behind"])) if heading else None


def _no_section(text: str) -> Fault:
    return Fault(Kind.UNKNOWN_SECTION, f"{shown(text)} is no section; expected {', '.join(_SECTIONS)}")


def _keep(content: list[Line], line: Line) -> None:
    content.append(line)
    if len(content) > 5 * MOST_SIDE:
        content[:] = gathered(content)


def _take_text(draft: Draft, name: str, lines: Sequence[Line]) -> None:
    for line in lines[:1]:
        if not is_text(line.text):
            draft.remark(Kind.NOT_TEXT, f"the {name} has bytes that are not UTF-8 text", line.number)
        draft.texts[name] = line.text


def _clues(draft: Draft, lines: Sequence[Line], count: int, name: str) -> Sequence[Line]:
    full = [line for line in lines if line.text]
    if len(full) == 1 and count > 1:
        words = full[0].text.split(maxsplit=MOST_SIDE)
        if len(words) == count:
            return [Line(full[0].number, word) for word in words]
    return clue_lines(draft, lines, count, f"the {count} {name}")


def _take_drawn(draft: Draft, name: str, lines: Sequence[Line]) -> None:
    full = [line for line in lines if line.text]
    cells = cells_from_lines(full, _DRAWN[name])
    if isinstance(cells, Fault):
        draft.fault(cells)
    elif name == "grid":
        draft.start = cells, full[0].number
    else:
        draft.solution = cells, full[0].number


def _write(records: Sequence[Record]) -> str:
    (record,) = records
    puzzle = record.puzzle
    lines = [f"{puzzle.width}x{puzzle.height}"]
    lines += [f"{name}: {getattr(record, name)}" for name in _TEXTS if getattr(record, name)]
    lines += [line for part, clues in parts_of(puzzle) for line in (part, *map(with_commas, clues))]
    for name, grid in (("grid", record.start), ("solution", record.solution)):
        if grid is not None:
            lines += [name, *_drawn(name, grid)]
    return "\n".join(lines) + "\n"


def _drawn(name: str, grid: PartialGrid | Solution) -> list[str]:
    signs = {value: sign for sign, value in reversed(_DRAWN[name].items())}
    return ["".join(signs[cell] for cell in row) for row in grid.cells.tolist()]


FORMAT = Format(
    name="grid",
    description="8x11, then sections title, author, rows, columns, grid, solution",
    extensions=(".grid",),
    holds=frozenset({*_TEXTS, "start", "solution"}),
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
