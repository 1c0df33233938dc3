"""Drawings of puzzles, solutions and answers, each with lines of text, printed or written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nonobot.arguments import missing
from nonobot.harness import UnusableError
from nonobot.harness.results.referee import judge
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import say
from nonobot.harness.user_files import answer_lines, opened, write_output
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
from nonobot.protocol.clues import count
from nonobot.protocol.png import TooLargeError, png_of
from nonobot.protocol.scene import Picture, Scene, scene_of, sheet_of
from nonobot.protocol.svg import THEMES, Theme, svg_of
from nonobot.system import printable

CELL, SHEET_CELL, SMALL_CELL = 24, 14, 6
CELL_DEFAULTS = f"{CELL}; on sheets {SHEET_CELL}, without clues {SMALL_CELL}"  # in pixels
MOST_MISMATCHES = 8  # wrong lines that are listed in words; all of them are marked in the picture


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
    wrong = [str(mismatch) for mismatch in mismatches(puzzle, solution)]
    more = len(wrong) - MOST_MISMATCHES
    notes = [*wrong[:MOST_MISMATCHES], f"and {more} more"] if more > 0 else wrong
    return Drawing(Picture.of_answer(puzzle, solution, name), notes)


def _name(record: Record) -> str:
    return f"${record.number} {record.title}" if record.title else f"${record.number}"


def first_answers(source: str, records: Sequence[Record]) -> dict[int, Answer]:
    """Return the first answer to each puzzle in a file of answers, by its number."""
    sizes = {record.size for record in records}
    if len(sizes) > 1:
        why = "an answer file does not state the sizes of its grids"
        raise UnusableError(f"--answers needs puzzles of one size: {why}")
    answers: dict[int, Answer] = {}
    with opened(source, "the answers ") as file:
        for answer in read_answers(answer_lines(file), *sizes.pop()):
            if answer.number is not None:
                answers.setdefault(answer.number, answer)
    return answers


def write(
    drawings: Sequence[Drawing], path: Path, theme: str, cell: int | None, columns: int | None, clues: bool
) -> None:
    """Write one picture, or a sheet of several, as .png or .svg with cells of `cell` pixels; report on stdout."""
    pictures = [drawing.picture for drawing in drawings]
    if len(pictures) == 1:
        scene = scene_of(pictures[0], cell or CELL, clues)
    else:
        cell = cell or (SHEET_CELL if clues else SMALL_CELL)
        scene = sheet_of(pictures, cell, clues, columns, name=f"{len(pictures)} nonograms")
    write_output(path, _content(scene, THEMES[theme], path.suffix.lower() == ".svg"))
    for picture, notes in drawings:
        for note in notes:
            print(f"{picture.name}: {note}")
    drawn = f"{count(len(pictures), 'puzzle')}, {scene.width}x{scene.height} pixels"
    print(printable(f"picture: {path} ({drawn})"))


def _content(scene: Scene, colours: Theme, is_svg: bool) -> bytes:
    try:
        return svg_of(scene, colours).encode() if is_svg else png_of(scene, colours)
    except TooLargeError as error:
        remedy = "draw fewer puzzles (--number), smaller cells (--cell) or an SVG"
        raise UnusableError(f"{error}; {remedy}") from None
    except ImportError:
        raise UnusableError(f"{missing('a PNG picture', 'Pillow')} (an SVG needs nothing)") from None


def show(drawings: Sequence[Drawing], blocks: Blocks | None, clues: bool) -> bool:
    """Print every board that fits the terminal, name the others on stderr, and return whether all fitted."""
    place = place_of_output()
    all_fit, is_first = True, True
    for picture, notes in drawings:
        try:
            lines = _board(picture, place, blocks, clues)
        except UnusableError as problem:
            say(f"{picture.name}: {problem}")
            all_fit = False
            continue
        caption = Piece(f"{picture.name}  {picture.width}x{picture.height}", "bold")
        shown = [[caption], *lines, *([Piece(note)] for note in notes)]
        print("\n".join([*([] if is_first else [""]), *text_of(shown, place)]))
        is_first = False
    return all_fit


def _board(picture: Picture, place: Place, wanted: Blocks | None, clues: bool) -> list[StyledLine]:
    """Return a board as it fits, or raise UnusableError with the reason and the remedy."""
    if wanted is Blocks.HALF and (problem := no_half_blocks(picture, place)):
        raise UnusableError(f"half blocks cannot be drawn: {problem}")
    possible = possible_blocks(picture, place)
    if wanted:
        possible = [Blocks.HALF] if wanted is Blocks.HALF else possible[:1]
    lines = drawn_to_fit(picture, place, possible, clues=[clues])
    if lines is None:
        needed, without = (width_of(draw(picture, possible[-1], shown)) for shown in (clues, False))
        is_less = clues and without <= place.columns
        less = f", leave out the clues (--no-clues: {without} columns)" if is_less else ""
        remedy = f"widen it{less} or draw a file (-o board.png)"
        raise UnusableError(f"the board is {needed} columns wide, the terminal {place.columns}: {remedy}")
    return lines
