"""What goes between the page and its server: boards as JSON, and puzzles of files, sets and pictures as boards."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.harness.pictures.image_cells import BoardTooLargeError, is_image, read_cells
from nonobot.protocol import Fault, Found, PartialGrid, Puzzle, Record, Solution
from nonobot.protocol.clues import fault_in_clues
from nonobot.protocol.formats import FormatError, detect, read
from nonobot.protocol.puzzle import cells_from_text, text_from_cells
from nonobot.tournament_data import SetError, load_set
from nonobot.tournament_data.recipe import PREFIX, Recipe
from nonobot.tournament_data.registry import official_sets

__all__ = ["LONGEST_SIDE", "Board", "Findings", "found_in_file", "found_in_set", "sample_names", "sample_text"]

LONGEST_SIDE = 254
"""Cells of a side that the page takes; longer ones are for the commands."""

MOST_LISTED = 2000
"""Puzzles of a file that can be chosen from."""

MOST_FAULTS = 50

MOST_GENERATED_CELLS = 2_000_000
"""Cells of a generated set up to the puzzle that is wanted."""

LEAST_CELLS = 50
"""A smaller board takes as long as one of so many cells."""

READ_SECONDS = 10.0
"""For the puzzles of a file; those that come after are left out."""

LARGE_PICTURE_WIDTH = 40
"""Columns of a picture that is too large for a cell a pixel, where none are asked for."""

MOST_PIXELS_AS_CELLS = 80

_SAMPLES = "samples.txt"


class Board(msgspec.Struct):
    """A puzzle as the page has it.

    Attributes
    ----------
    rows, columns : list of list of int
        The clues.
    cells : str or None
        The board to start from, a character a cell, row after row: 1 black, 0 white, ? unknown.
    goal : str or None
        The solution that the author had in mind.
    title, author : str or None
    """

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
            None if record.start is None else text_from_cells(record.start.cells),
            None if record.solution is None else text_from_cells(record.solution.cells),
            record.title,
            record.author,
        )

    @property
    def record(self) -> Record:
        """The puzzle; UnusableError if it is none that the page takes."""
        clues = (*self.rows, *self.columns)
        if (
            not 1
            <= min(len(self.rows), len(self.columns))
            <= max(len(self.rows), len(self.columns))
            <= LONGEST_SIDE
        ):
            raise UnusableError(_too_large(len(self.columns), len(self.rows)))
        if any(block < 1 for clue in clues for block in clue):
            raise UnusableError("block lengths are 1 or more")
        puzzle = Puzzle.unchecked(columns=tuple(map(tuple, self.columns)), rows=tuple(map(tuple, self.rows)))
        fault = fault_in_clues(puzzle)
        if fault:
            raise UnusableError(fault[0].what)
        try:
            start = None if self.cells is None else PartialGrid(cells_from_text(self.cells, puzzle.size))
            goal = None if self.goal is None else Solution(cells_from_text(self.goal, puzzle.size))
        except ValueError as error:
            raise UnusableError(str(error)) from None
        return Record(puzzle, start, goal, self.title, self.author)

    def asked(self, do: str, **numbers: Any) -> dict[str, Any]:
        """Return the request to the bot about this board."""
        return {"do": do, "rows": self.rows, "columns": self.columns, "cells": self.cells, **numbers}


def _too_large(width: int, height: int) -> str:
    return (
        f"a {width}x{height} board; on this page a side has 1 to {LONGEST_SIDE} cells (larger ones: nonobot FILE)"
    )


class Findings(msgspec.Struct, omit_defaults=True):
    """What a text, a file or a set holds.

    Attributes
    ----------
    count : int
        Puzzles, without those at fault.
    number : int
        Which of them `board` is, counted from 1.
    board : Board or None
    format : str
    faults : list of (line or None, str)
        What is wrong, and where.
    remarks : list of str
    titles : list of str
        Of the puzzles to choose from.
    """

    count: int = 0
    number: int = 1
    board: Board | None = None
    format: str = ""
    faults: list[tuple[int | None, str]] = []
    remarks: list[str] = []
    titles: list[str] = []


def found_in_file(data: bytes, number: int = 1, width: int | None = None, invert: bool = False) -> Findings:
    """Return the puzzles of a text, a file or a picture.

    Parameters
    ----------
    data : bytes
    number : int
        Which puzzle is wanted, counted from 1.
    width : int or None
        Columns of the board that a picture becomes; None: a pixel a cell, if it is small enough.
    invert : bool
        Of a picture: black for white.
    """
    try:
        if is_image(data):
            return _of_picture(data, width, invert)
        name = detect(data)
        findings = _listed(read(data, name), number)
        findings.format = name
        if not findings.count and not findings.faults:
            findings.faults.append((None, "no puzzle in it"))
        return findings
    except (FormatError, UnusableError) as error:
        return Findings(faults=[(None, str(error))])


def _listed(found: Iterable[Found], number: int) -> Findings:
    findings = Findings(number=number)
    until = time.monotonic() + READ_SECONDS
    for one in found:
        if time.monotonic() > until:
            findings.remarks.append(f"reading has taken {READ_SECONDS:g} s; what comes after is left out")
            break
        if isinstance(one, Fault):
            if len(findings.faults) < MOST_FAULTS:
                what = one.what if one.line is not None else str(one)
                findings.faults.append((one.line, what + (f" (and {one.more} more)" if one.more else "")))
            continue
        if findings.count == MOST_LISTED:
            findings.remarks.append(f"only the first {MOST_LISTED} puzzles are listed")
            break
        findings.count += 1
        if findings.count == number:
            findings.remarks += map(str, one.remarks)
            if max(one.size) > LONGEST_SIDE:
                findings.faults.append((one.line, _too_large(*one.size)))
            else:
                findings.board = Board.of(one)
        findings.titles.append(one.title or "{}x{}".format(*one.size))
    return findings


def _of_picture(data: bytes, width: int | None, invert: bool) -> Findings:
    try:
        image = read_cells(data, width=width, invert=invert)
    except BoardTooLargeError:
        if width:
            raise
        image = None
    if image is None or (not width and max(image.cells.shape) > MOST_PIXELS_AS_CELLS):
        image = read_cells(data, width=LARGE_PICTURE_WIDTH, invert=invert)
    height, columns = image.cells.shape
    if max(height, columns) > LONGEST_SIDE:
        raise UnusableError(_too_large(columns, height))
    record = Record(Puzzle.from_grid(image.cells.astype("uint8")), solution=Solution(image.cells))
    remarks = [f"{image.frames} pictures in it; the first is taken"] if image.frames > 1 else []
    return Findings(1, 1, Board.of(record), "picture", [], remarks, [""])


@lru_cache(maxsize=4)
def _records_of_set(name: str) -> tuple[Record, ...]:
    return tuple(one.record for one in load_set(name).puzzles)


def found_in_set(name: str, number: int) -> Findings:
    """Return a puzzle of an official set, or of a generated one such as `boardgen:25x25x1000:seed=7`.

    No name is taken for that of a file.
    """
    try:
        if name.startswith(PREFIX):
            return _generated(name, number)
        if name not in official_sets():
            return Findings(faults=[(None, f"there is no set {name!r}; there are {', '.join(official_sets())}")])
        records = _records_of_set(name)
    except (SetError, ValueError) as error:
        return Findings(faults=[(None, str(error))])
    if number > len(records):
        return Findings(faults=[(None, f"{name} has {len(records)} puzzles")])
    board = Board.of(records[number - 1])
    board.title = f"{name} ${records[number - 1].number}"
    return Findings(len(records), number, board, name)


def _generated(name: str, number: int) -> Findings:
    recipe = Recipe.parse(name)
    if max(recipe.width, recipe.height) > LONGEST_SIDE:
        return Findings(faults=[(None, _too_large(recipe.width, recipe.height))])
    if number > recipe.count:
        return Findings(faults=[(None, f"{recipe} has {recipe.count} puzzles")])
    if max(recipe.width * recipe.height, LEAST_CELLS) * number > MOST_GENERATED_CELLS:
        return Findings(
            faults=[(None, f"puzzle {number} of {recipe} comes after too many others; take a lower number")]
        )
    puzzle, solution = _nth(recipe.boards(), number)
    board = Board.of(Record(puzzle, solution=solution, title=f"{recipe} ${number}"))
    return Findings(recipe.count, number, board, str(recipe))


def _nth(boards: Iterator[tuple[Puzzle, Solution]], number: int) -> tuple[Puzzle, Solution]:
    return next(islice(boards, number - 1, None))


def sample_text() -> bytes:
    """Return the file with the samples."""
    return (files("nonobot.harness.page") / _SAMPLES).read_bytes()


def sample_names() -> list[str]:
    """Return what the samples are called, in their order."""
    return found_in_file(sample_text()).titles
