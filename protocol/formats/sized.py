"""Formats that begin with the size of the board: `.nin`, `.mk`, `.cwd` and the `8x11` text form, `.grid`.

Sources: the survey of solvers (https://webpbn.com/survey/) for `.nin`, of Jakub Wilk's solver; pbnsolve's
documentation (https://webpbn.com/pbnsolve.html) for `.mk`, of Petr Olsak's solver, and `.cwd`, of QNonograms and
of Vladimir Sukhoy's solver. See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import dropwhile, groupby

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Fault, FaultKind, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, Draft, Format, Found, parts_of
from nonobot.protocol.formats.text_lines import (
    NUMBERS,
    TextLine,
    cells_from_lines,
    clue_from_text,
    clue_lines,
    gathered,
    is_text,
    sized_puzzle,
    spaced,
    with_commas,
)
from nonobot.protocol.puzzle import PartialGrid, Puzzle, Record, Solution

# --- clue lines only, rows before columns -----------------------------------------------------------------------

_WIDTH_FIRST = re.compile(r"(?P<width>\d+)\s+(?P<height>\d+)", re.ASCII)
_HEIGHT_FIRST = re.compile(r"(?P<height>\d+)\s+(?P<width>\d+)", re.ASCII)


def _sizes(line: str) -> tuple[int, int] | None:
    """Return the two sides that a line states, as they stand there, if it does."""
    size = _WIDTH_FIRST.fullmatch(line) if len(line) < 40 else None
    sides = (int(size[1]), int(size[2])) if size else (0, 0)
    return sides if all(sides) else None


def _is_counted(sides: tuple[int, int] | None, clues: Sequence[str]) -> bool:
    """Return whether lines may be the clues for a size: some lines, of numbers, no more than it needs.

    A file of clues alone, without a size, has more: of r rows and c columns the first clue needs at most c cells,
    and so its two numbers make less than the r + c - 1 lines after them.
    """
    return sides is not None and 0 < len(clues) <= sum(sides) and all(map(NUMBERS.fullmatch, clues[:3]))


def _from_size(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines from the first that is no comment on; one that is blank if there is none."""
    return list(dropwhile(lambda line: line.startswith("#"), lines)) or [""]


def _looks_like_nin(lines: Sequence[str]) -> bool:
    size, *clues = _from_size(lines)
    return _is_counted(_sizes(size), clues)


def _looks_like_mk(lines: Sequence[str]) -> bool:
    lines = _from_size(lines)
    dividers = [index for index, line in enumerate(lines) if line.startswith("#")]
    return (
        bool(_sizes(lines[0])) and len(dividers) == 1 and all(map(NUMBERS.fullmatch, lines[1 : dividers[0]][:3]))
    )


def _looks_like_cwd(lines: Sequence[str]) -> bool:
    lines = _from_size(lines)
    sides = " ".join(lines[:2])
    return " " not in lines[0] and _is_counted(_sizes(sides), lines[2:])


def _put(draft: Draft, rows: Sequence[TextLine], columns: Sequence[TextLine]) -> None:
    for part, lines in zip(PARTS, (rows, columns), strict=True):
        for line in lines:
            draft.clue(part, clue_from_text(line.text), line.number)


def _take_nin(draft: Draft, width: int, height: int, lines: Iterator[TextLine]) -> None:
    clues = clue_lines(draft, gathered(lines), width + height, f"the {height} rows and {width} columns")
    _put(draft, clues[:height], clues[height:])


def _take_mk(draft: Draft, width: int, height: int, lines: Iterator[TextLine]) -> None:
    kept = gathered(lines)
    divider = next((index for index, line in enumerate(kept) if line.text.startswith("#")), None)
    if divider is None:
        draft.refuse("no line '#' between the rows and the columns")
        return
    rows = clue_lines(draft, kept[:divider], height, f"the {height} rows before '#'")
    columns = clue_lines(draft, kept[divider + 1 :], width, f"the {width} columns after '#'")
    _put(draft, rows, columns)


def _take_cwd(draft: Draft, width: int, height: int, lines: Iterator[TextLine]) -> None:
    kept = gathered(lines)
    full = [index for index, line in enumerate(kept) if line.text]
    if len(full) == width + height and not kept[full[height - 1] + 1].text:
        clues = [kept[index] for index in full]  # blank lines are mere space
        _put(draft, clues[:height], clues[height:])
        return
    columns = kept[height + 1 : height + 1 + width]
    if len(columns) == width and not kept[height].text and max(full, default=0) <= height + width:
        _put(draft, kept[:height], columns)  # blank lines are empty clues, but for that between the parts
        return
    parts = [sum(1 for _ in part) for is_full, part in groupby(kept, key=lambda line: bool(line.text)) if is_full]
    counts = " and ".join(map(str, parts)) or "0"
    counted = f"{counts} clue lines" if len(parts) < 4 else f"{sum(parts)} clue lines in {len(parts)} parts"
    what = f"expected {height} rows, a blank line and {width} columns, found {counted}"
    draft.refuse(what, kept[-1].number if kept else None)


def _write(records: Sequence[Record], size: Callable[[Puzzle], str], divider: str) -> str:
    (record,) = records
    puzzle = record.puzzle
    rows, columns = ("".join(f"{spaced(clue)}\n" for clue in clues) for clues in (puzzle.rows, puzzle.columns))
    return f"{size(puzzle)}\n{rows}{divider}{columns}"


NIN = Format(
    name="nin",
    description="'width height', the rows' clues, the columns' clues",
    extensions=(".nin",),
    looks_like=_looks_like_nin,
    read=partial(
        sized_puzzle, form=_WIDTH_FIRST, no_size="is not a width and a height, such as '25 25'", take=_take_nin
    ),
    write=partial(_write, size=lambda puzzle: f"{puzzle.width} {puzzle.height}", divider=""),
)

MK = Format(
    name="mk",
    description="'height width', the rows' clues, '#', the columns' clues",
    extensions=(".mk",),
    looks_like=_looks_like_mk,
    read=partial(
        sized_puzzle, form=_HEIGHT_FIRST, no_size="is not a height and a width, such as '25 25'", take=_take_mk
    ),
    write=partial(_write, size=lambda puzzle: f"{puzzle.height} {puzzle.width}", divider="#\n"),
)

CWD = Format(
    name="cwd",
    description="the height, the width, the rows' clues, a blank line, the columns' clues",
    extensions=(".cwd",),
    looks_like=_looks_like_cwd,
    read=partial(
        sized_puzzle,
        form=_HEIGHT_FIRST,
        no_size="is not a height and a width, a number on each of the first two lines",
        take=_take_cwd,
        header_lines=2,
    ),
    write=partial(_write, size=lambda puzzle: f"{puzzle.height}\n{puzzle.width}", divider="\n"),
)

# --- the 8x11 text form -----------------------------------------------------------------------------------------

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


def _looks_like_grid(lines: Sequence[str]) -> bool:
    return bool(_SIZE.fullmatch(lines[0]))


def _read_grid(data: bytes) -> Iterator[Found]:
    return sized_puzzle(data, _SIZE, _NO_SIZE, _take_grid)


def _take_grid(draft: Draft, width: int, height: int, lines: Iterator[TextLine]) -> None:
    sections = _sections(lines, draft)
    for name, content in sections.items():
        if name in _TEXTS:
            _take_text(draft, name, content)
        elif name in _DRAWN:
            _take_drawn(draft, name, content)
    for part, count in zip(PARTS, (height, width), strict=True):
        if part not in sections:
            draft.refuse(f"no section '{part}'")
            continue
        for line in _clues(draft, sections[part], count, part):
            draft.clue(part, clue_from_text(line.text), line.number)


def _sections(lines: Iterator[TextLine], draft: Draft) -> dict[str, list[TextLine]]:
    """Return the lines of each section, the blank ones among them."""
    sections: dict[str, list[TextLine]] = {}
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


def _heading(section: str, line: TextLine) -> tuple[str, TextLine] | None:
    """Return the name of the section that starts on a line within `section`, and what stands behind it."""
    if section in _DRAWN and _CELLS.fullmatch(line.text):
        return None
    heading = _HEADING.fullmatch(line.text)
    return (heading["name"].lower(), TextLine(line.number, heading["behind"])) if heading else None


def _no_section(text: str) -> Fault:
    return Fault(FaultKind.FORMAT, f"{shown(text)} is no section; expected {', '.join(_SECTIONS)}")


def _keep(content: list[TextLine], line: TextLine) -> None:
    content.append(line)
    if len(content) > 5 * MOST_SIDE:
        content[:] = gathered(content)


def _take_text(draft: Draft, name: str, lines: Sequence[TextLine]) -> None:
    for line in lines[:1]:
        if not is_text(line.text):
            draft.remark(f"the {name} has bytes that are not UTF-8 text", line.number)
        draft.texts[name] = line.text


def _clues(draft: Draft, lines: Sequence[TextLine], count: int, name: str) -> Sequence[TextLine]:
    full = [line for line in lines if line.text]
    if len(full) == 1 and count > 1:
        words = full[0].text.split(maxsplit=MOST_SIDE)
        if len(words) == count:
            return [TextLine(full[0].number, word) for word in words]
    return clue_lines(draft, lines, count, f"the {count} {name}")


def _take_drawn(draft: Draft, name: str, lines: Sequence[TextLine]) -> None:
    full = [line for line in lines if line.text]
    cells = cells_from_lines(full, _DRAWN[name])
    if isinstance(cells, Fault):
        draft.fault(cells)
    elif name == "grid":
        draft.start = cells, full[0].number
    else:
        draft.solution = cells, full[0].number


def _write_grid(records: Sequence[Record]) -> str:
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


GRID = Format(
    name="grid",
    description="8x11, then sections title, author, rows, columns, grid, solution",
    extensions=(".grid",),
    holds=frozenset({*_TEXTS, "start", "solution"}),
    looks_like=_looks_like_grid,
    read=_read_grid,
    write=_write_grid,
)
