"""Boards in JSON for the page, made from texts, sets and pictures; runs in the browser, without libraries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from nonobot.harness import UnusableError
from nonobot.harness.pictures.black_white import board_size, brightest_dark
from nonobot.protocol import Fault, Found, Puzzle, Record, Solution
from nonobot.protocol.formats import FormatError, detect, read, write
from nonobot.protocol.puzzle import cells_from_text, text_from_cells

if TYPE_CHECKING:
    from nonobot.tournament_data import PuzzleSet, Recipe

LONGEST_SIDE = 254  # largest number of rows or columns that the page accepts; the commands accept more

MOST_LISTED = 2000  # puzzles of a file that can be chosen from
MOST_FAULTS = 50
MOST_GENERATED_CELLS = 2_000_000  # of a generated set, up to the wanted puzzle
LEAST_CELLS = 50  # boards with fewer cells take as long

MOST_PIXELS_AS_CELLS = 80
PICTURE = "picture"  # in place of a format's name
LARGE_PICTURE_WIDTH = 40  # default columns of a picture that is too large for a cell per pixel


@dataclass
class Board:
    """A puzzle of the page; `cells` (the start) and `goal` (the solution) have 0, 1 or ? per cell, row by row."""

    rows: list[list[int]]
    columns: list[list[int]]
    cells: str | None = None
    goal: str | None = None
    title: str | None = None
    author: str | None = None

    @classmethod
    def of(cls, record: Record) -> Board:
        """Return the board of a puzzle."""
        return cls(
            [list(clue) for clue in record.puzzle.rows],
            [list(clue) for clue in record.puzzle.columns],
            None if record.start is None else text_from_cells(record.start),
            None if record.solution is None else text_from_cells(record.solution),
            record.title,
            record.author,
        )

    @property
    def record(self) -> Record:
        """The puzzle; UnusableError if it is not one that the page takes."""
        width, height = len(self.columns), len(self.rows)
        if not 1 <= min(width, height) <= max(width, height) <= LONGEST_SIDE:
            raise UnusableError(_too_large(width, height))
        try:
            puzzle = Puzzle(self.rows, self.columns)
            start = None if self.cells is None else cells_from_text(self.cells, puzzle.size)
            goal = None if self.goal is None else cells_from_text(self.goal, puzzle.size)
            solution = None if goal is None else Solution.from_bytes(goal.content, puzzle.size)
        except ValueError as error:
            raise UnusableError(str(error)) from None
        return Record(puzzle, start, solution, self.title, self.author)


def _too_large(width: int, height: int) -> str:
    return (
        f"a {width}x{height} board; on this page a side has 1 to {LONGEST_SIDE} cells (larger ones: nonobot FILE)"
    )


@dataclass
class Selection:
    """Puzzle `number` (from 1) of `count` in a text, file or set, with all titles, and faults with their lines.

    `link` is the board as addresses have it.
    """

    count: int = 0
    number: int = 1
    board: Board | None = None
    format: str = ""
    faults: list[tuple[int | None, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    link: str = ""

    def __post_init__(self) -> None:
        if self.board is not None:
            self.link = link_of(self.board.record)


def link_of(record: Record) -> str:
    """Return a puzzle as addresses have it, without the solution: in few characters where that states all."""
    record = Record(record.puzzle, record.start, None, record.title, record.author)
    return text_in(record, "oneline" if record == Record(record.puzzle) else "grid").strip()


def text_in(record: Record, form: str) -> str:
    """Return a puzzle in a format; UnusableError if the format cannot hold it."""
    written = write([record], form)
    if not written.count:
        raise UnusableError("; ".join(map(str, written.faults)))
    return written.data.decode()


def puzzle_of_file(data: bytes, number: int = 1) -> Selection:
    """Return puzzle `number`, from 1, of a text or a file."""
    try:
        name = detect(data)
        selection = _listed(read(data, name), number)
        selection.format = name
        if not selection.count and not selection.faults:
            selection.faults.append((None, "no puzzle in it"))
        return selection
    except FormatError as error:
        return Selection(faults=[(None, str(error))])


def _listed(records: Iterable[Found], number: int) -> Selection:
    selection = Selection(number=number)
    for found in records:
        if isinstance(found, Fault):
            if len(selection.faults) < MOST_FAULTS:
                text = found.message if found.line is not None else str(found)
                text = text.removesuffix(", or --size WxH")  # an option of the command
                selection.faults.append((found.line, text + (f" (and {found.more} more)" if found.more else "")))
            continue
        if selection.count == MOST_LISTED:
            selection.warnings.append(f"only the first {MOST_LISTED} puzzles are listed")
            break
        selection.count += 1
        if selection.count == number:
            selection.warnings += map(str, found.warnings)
            if max(found.size) > LONGEST_SIDE:
                selection.faults.append((found.line, _too_large(*found.size)))
            else:
                selection.board, selection.link = Board.of(found), link_of(found)
        selection.titles.append(found.title or "{}x{}".format(*found.size))
    return selection


def size_of_picture(pixels: tuple[int, int], width: int | None) -> tuple[int, int]:
    """Return width and height of the board for a picture; without a width, a pixel of a small one makes a cell."""
    if width is None and max(pixels) > MOST_PIXELS_AS_CELLS:
        width = LARGE_PICTURE_WIDTH
    size = board_size(pixels, width, None)
    if max(size) > LONGEST_SIDE:
        raise UnusableError(_too_large(*size))
    return size


def puzzle_of_picture(brightness: bytes, size: tuple[int, int], title: str | None = None) -> Selection:
    """Return the puzzle of a picture of this size, a byte for the brightness of each cell."""
    dark = brightest_dark([brightness.count(value) for value in range(256)])
    solution = Solution.from_bytes(bytes(value <= dark for value in brightness), size)
    record = Record(Puzzle.from_grid(solution.rows), solution=solution, title=title)
    return Selection(1, 1, Board.of(record), PICTURE, titles=[""])


@cache
def _known_set(name: str) -> PuzzleSet:
    from nonobot.tournament_data import load_set

    return load_set(name)


def puzzle_of_set(name: str, number: int) -> Selection:
    """Return a puzzle of an official or a generated set (`boardgen:25x25x100:seed=7`); never of a file."""
    from nonobot.tournament_data import Recipe, SetError  # imported here because most visitors need no set
    from nonobot.tournament_data.generate import PREFIX
    from nonobot.tournament_data.registry import official_sets

    try:
        if name.startswith(PREFIX):
            return _generated(Recipe.parse(name), number)
        if name not in official_sets():
            raise UnusableError(f"cannot find the set: {name}; choose from the list")
        puzzles = _known_set(name).puzzles
        if number > len(puzzles):
            raise UnusableError(f"{name} has {len(puzzles)} puzzles")
    except (SetError, ValueError, UnusableError) as error:
        return Selection(faults=[(None, str(error))])
    board = Board.of(puzzles[number - 1].record)
    board.title = f"{name} ${puzzles[number - 1].number}"
    return Selection(len(puzzles), number, board, name)


def _generated(recipe: Recipe, number: int) -> Selection:
    if max(recipe.width, recipe.height) > LONGEST_SIDE:
        raise UnusableError(_too_large(recipe.width, recipe.height))
    if number > recipe.count:
        raise UnusableError(f"{recipe} has {recipe.count} puzzles")
    if max(recipe.width * recipe.height, LEAST_CELLS) * number > MOST_GENERATED_CELLS:
        raise UnusableError(f"puzzle {number} of {recipe} comes after too many others; take a lower number")
    puzzle, solution = next(islice(recipe.boards(), number - 1, None))
    board = Board.of(Record(puzzle, solution=solution, title=f"{recipe} ${number}"))
    return Selection(recipe.count, number, board, str(recipe))
