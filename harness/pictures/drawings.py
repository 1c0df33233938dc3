"""Drawings of puzzles, solutions and answers, each with lines of text, printed or made a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nonobot.harness.errors import UnusableError
from nonobot.harness.pictures.png import png_of
from nonobot.harness.referee import judge
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import count
from nonobot.harness.user_files import opened, write_output
from nonobot.protocol import Answer, Puzzle, Record, Solution, mismatches, read_answers
from nonobot.protocol.characters import (
    Blocks,
    Piece,
    Place,
    StyledLine,
    draw,
    drawn_to_fit,
    no_half_blocks,
    place_of_output,
    possible_blocks,
    text_of,
    width_of,
)
from nonobot.protocol.scene import Picture, scene_of, sheet_of
from nonobot.protocol.svg import THEMES, svg_of

__all__ = [
    "CELL",
    "SHEET_CELL",
    "SMALL_CELL",
    "Drawing",
    "drawn_answer",
    "drawn_puzzle",
    "drawn_solution",
    "first_answers",
    "show",
    "write",
]

CELL, SHEET_CELL, SMALL_CELL = 24, 14, 6
"""Sides of cells in a file by default: of one board, on a sheet, on a sheet without clues."""

MOST_MISMATCHES = 8
"""Wrong lines that are listed in words; all of them are marked in the picture."""


class Drawing(NamedTuple):
    """A picture, and lines of text that belong to it."""

    picture: Picture
    notes: list[str]


def drawn_puzzle(record: Record) -> Drawing:
    """Return the drawing of a puzzle, with its start if it has one."""
    return Drawing(Picture(record.puzzle, record.start, _name(record)), [])


def drawn_solution(record: Record) -> Drawing:
    """Return the drawing of the author's solution, or of the puzzle if there is none."""
    if record.solution is None:
        return Drawing(Picture(record.puzzle, name=_name(record)), ["no solution is known"])
    return _drawn_grid(record.puzzle, record.solution, _name(record))


def drawn_answer(record: Record, answer: Answer | None) -> Drawing:
    """Return the drawing of an answer, or of the puzzle if the answer has no grid or was given up."""
    verdict, detail = judge(record.puzzle, answer) if answer else (Verdict.MISSING, None)
    name = _name(record) if verdict is Verdict.RIGHT else f"{_name(record)} {verdict}"
    if answer and answer.solution and verdict in (Verdict.RIGHT, Verdict.WRONG):
        return _drawn_grid(record.puzzle, answer.solution, name)
    return Drawing(Picture(record.puzzle, name=name), [detail] if detail else [])


def _drawn_grid(puzzle: Puzzle, solution: Solution, name: str) -> Drawing:
    wrong = [str(one) for one in mismatches(puzzle, solution)]
    more = len(wrong) - MOST_MISMATCHES
    notes = [*wrong[:MOST_MISMATCHES], f"and {more} more"] if more > 0 else wrong
    return Drawing(Picture.of_answer(puzzle, solution, name), notes)


def _name(record: Record) -> str:
    return f"${record.number} {record.title}" if record.title else f"${record.number}"


def first_answers(source: str, records: Sequence[Record]) -> dict[int, Answer]:
    """Return the first answer to each puzzle in a file of answers, by its number."""
    sizes = {one.size for one in records}
    if len(sizes) > 1:
        raise UnusableError(
            "--answers needs puzzles of one size: an answer file does not state the sizes of its grids"
        )
    answers: dict[int, Answer] = {}
    with opened(source, "the answers ") as lines:
        for answer in read_answers(lines, *sizes.pop()):
            if answer.number is not None:
                answers.setdefault(answer.number, answer)
    return answers


# --- in a file ---------------------------------------------------------------------------------------------------


def write(
    drawings: Sequence[Drawing], path: Path, theme: str, cell: int | None, columns: int | None, clues: bool
) -> None:
    """Write a picture, of several drawings a sheet, and report its content on stdout.

    The path ends with `.png` or `.svg`; `cell` is the side of a cell in pixels, `columns` the number of boards
    next to each other on a sheet.

    Raises
    ------
    UnusableError
        If the picture is too large or cannot be written.
    """
    pictures = [drawing.picture for drawing in drawings]
    if len(pictures) == 1:
        scene = scene_of(pictures[0], cell or CELL, clues)
    else:
        cell = cell or (SHEET_CELL if clues else SMALL_CELL)
        scene = sheet_of(pictures, cell, clues, columns, name=f"{len(pictures)} nonograms")
    colours = THEMES[theme]
    is_svg = path.suffix.lower() == ".svg"
    write_output(path, svg_of(scene, colours).encode() if is_svg else png_of(scene, colours))
    for picture, notes in drawings:
        for note in notes:
            print(f"{picture.name}: {note}")
    print(f"picture: {path} ({count(len(pictures), 'puzzle')}, {scene.width}x{scene.height} pixels)")


# --- on standard output ------------------------------------------------------------------------------------------


class DoesNotFitError(Exception):
    """A board that cannot be drawn here; the message is one line with the reason and the remedy."""


def show(drawings: Sequence[Drawing], blocks: Blocks | None, clues: bool) -> bool:
    """Print every board that fits the terminal, name the others on stderr, and return whether all did fit."""
    place = place_of_output()
    all_fit, is_first = True, True
    for picture, notes in drawings:
        try:
            lines = _board(picture, place, blocks, clues)
        except DoesNotFitError as problem:
            print(f"nonojudge: {picture.name}: {problem}", file=sys.stderr)
            all_fit = False
            continue
        caption = Piece(f"{picture.name}  {picture.width}x{picture.height}", "bold")
        shown = [[caption], *lines, *([Piece(note)] for note in notes)]
        print("\n".join([*([] if is_first else [""]), *text_of(shown, place)]))
        is_first = False
    return all_fit


def _board(picture: Picture, place: Place, wanted: Blocks | None, clues: bool) -> list[StyledLine]:
    if wanted is Blocks.HALF and (problem := no_half_blocks(picture, place)):
        raise DoesNotFitError(f"half blocks cannot be drawn: {problem}")
    possible = possible_blocks(picture, place)
    if wanted:
        possible = [Blocks.HALF] if wanted is Blocks.HALF else possible[:1]
    lines = drawn_to_fit(picture, place, possible, clues=[clues])
    if lines is None:
        needed, without = (width_of(draw(picture, possible[-1], shown)) for shown in (clues, False))
        is_less = clues and without <= place.columns
        less = f", leave out the clues (--no-clues: {without} columns)" if is_less else ""
        raise DoesNotFitError(
            f"the board is {needed} columns wide, the terminal {place.columns}: "
            f"widen it{less} or draw a file (-o board.png)"
        )
    return lines
