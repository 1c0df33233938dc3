"""`nonobot --dialogue`: a program asks about single boards, a line of JSON each, and gets a line for each.

A request says what it wants (`do`), the board's clues, and what of the board is known, a character a cell, row
after row: `1` black, `0` white, `?` unknown. docs/page.md has all requests and answers.
"""

from __future__ import annotations

import json
import os
import sys
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.result import MOST_TRACE_EVENTS, TraceEvent, grid_of
from nonobot.bot.strategy import Strategy
from nonobot.protocol import BLACK, DEFAULT_SIZE, UNKNOWN, WHITE, PartialGrid, Puzzle
from nonobot.protocol.clues import fault_in_clues
from nonobot.protocol.puzzle import cells_from_text, text_from_cells

__all__ = ["converse"]

_STDOUT = 1
_MOST_BYTES = 1 << 24
"""Of a request; a board of the longest sides has less."""

_MOST_STEPS = 8000
"""Of an answer; there is room for so many moments of the largest boards."""

_MOST_CHANGES = 2_000_000
"""Cells changed in all steps of an answer; what comes after is cut."""

Cells = npt.NDArray[np.int8]


class _RequestError(Exception):
    """A request that cannot be answered; the message is one line that says why."""


def converse(strategy: Strategy) -> int:
    """Answer the requests on standard input until its end; return the exit status.

    The kernels for boards of up to 62 cells a side are loaded before the first request. What has to be compiled
    for a request is said in a line of its own before the answer, `{"compiling": what}`.
    """
    strategy.prepare(_compiling, DEFAULT_SIZE)
    while line := sys.stdin.buffer.readline(_MOST_BYTES + 1):
        try:
            if len(line) > _MOST_BYTES:
                while line and not line.endswith(b"\n"):
                    line = sys.stdin.buffer.readline(_MOST_BYTES)
                raise _RequestError(f"a request of more than {_MOST_BYTES >> 20} MiB")
            answer = _answer(strategy, _read(line))
        except _RequestError as error:
            answer = {"error": str(error)}
        except BrokenPipeError:
            return 1
        try:
            _write(answer)
        except BrokenPipeError:
            return 1
    return 0


def _compiling(what: str) -> None:
    _write({"compiling": what})


def _write(answer: dict[str, Any]) -> None:
    rest = memoryview(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    while rest:
        rest = rest[os.write(_STDOUT, rest) :]


class _Request(NamedTuple):
    """What is asked: what to do, of which board, and the numbers that go with it."""

    do: str
    puzzle: Puzzle
    cells: Cells
    solutions: int
    seconds: float | None
    most: int

    @property
    def start(self) -> PartialGrid | None:
        """The board to start from."""
        return PartialGrid(self.cells) if (self.cells != UNKNOWN).any() else None


def _read(line: bytes) -> _Request:
    try:
        found = json.loads(line)
        puzzle = Puzzle.unchecked(
            columns=tuple(tuple(map(index, clue)) for clue in found["columns"]),
            rows=tuple(tuple(map(index, clue)) for clue in found["rows"]),
        )
        seconds = found.get("seconds")
        request = _Request(
            str(found["do"]),
            puzzle,
            _cells(found.get("cells"), puzzle),
            index(found.get("solutions", 2)),
            None if seconds is None else float(seconds),
            min(index(found.get("most", MOST_TRACE_EVENTS)), MOST_TRACE_EVENTS),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise _RequestError(f"not a request: {type(error).__name__}: {error}") from None
    if not 1 <= min(puzzle.size) <= max(puzzle.size) <= LONGEST_SIDE:
        raise _RequestError(f"a side of a board has 1 to {LONGEST_SIDE} cells")
    if min((block for clue in (*puzzle.rows, *puzzle.columns) for block in clue), default=1) < 1:
        raise _RequestError("block lengths are 1 or more")
    if request.seconds is not None and not request.seconds > 0:
        raise _RequestError(f"seconds are a positive number, not {request.seconds:g}")
    if request.do not in _ANSWERS:
        raise _RequestError(f"nothing is called {request.do!r}; there are {', '.join(_ANSWERS)}")
    return request


def _cells(text: str | None, puzzle: Puzzle) -> Cells:
    if text is None:
        return np.full((puzzle.height, puzzle.width), UNKNOWN, np.int8)
    return cells_from_text(text, puzzle.size)


def _answer(strategy: Strategy, request: _Request) -> dict[str, Any]:
    fault = fault_in_clues(request.puzzle)
    if fault:
        raise _RequestError(fault[0].what)
    try:
        return _ANSWERS[request.do](strategy, request)
    except ValueError as error:  # a board that the strategy has no room for
        raise _RequestError(str(error)) from None


def _solve(strategy: Strategy, request: _Request) -> dict[str, Any]:
    """Return what is known about the solutions, and the first of them."""
    strategy.watch(0)
    result = strategy.solve(
        request.puzzle, start=request.start, solutions=request.solutions, seconds=request.seconds
    )
    return {
        "verdict": result.verdict,
        "complete": result.exhausted,
        "solutions": [text_from_cells(solution.cells) for solution in result.solutions],
        "seconds": result.seconds,
        "counts": result.counts,
    }


def _steps(strategy: Strategy, request: _Request) -> dict[str, Any]:
    """Return the moments of the search for one solution, each as what it changed."""
    most = min(request.most, _MOST_STEPS)
    strategy.watch(most + 1)  # the one more tells that there are more
    strategy.solve(request.puzzle, start=request.start, seconds=request.seconds)
    steps: list[dict[str, Any]] = []
    before, changes = request.cells, 0
    is_cut = False
    for kind, board in strategy.trace_events():
        changed = np.flatnonzero(board.cells != before)
        changes += changed.size
        is_cut = len(steps) == most or changes > _MOST_CHANGES
        if is_cut:
            break
        now = board.cells.ravel()[changed]
        step: dict[str, Any] = {"kind": kind.name.lower()}
        for name, colour in (("black", BLACK), ("white", WHITE), ("unknown", UNKNOWN)):
            if (cells := changed[now == colour]).size:
                step[name] = cells.tolist()
        if kind is TraceEvent.PAINTED and changed.size:
            step["line"] = _told_by(request.puzzle, before, board.cells, changed)
        steps.append(step)
        before = board.cells
    return {"cut": is_cut, "steps": steps}


def _told_by(puzzle: Puzzle, before: Cells, after: Cells, changed: npt.NDArray[np.intp]) -> list[Any] | None:
    """Return the line that tells all cells that changed, as `_Line.name`; None if several lines did."""
    rows, columns = np.unique(changed // puzzle.width), np.unique(changed % puzzle.width)
    for kind, places in (("row", rows), ("column", columns)):
        if len(places) == 1:
            line = _Line.of(puzzle, kind, int(places[0]))
            painted = line.painted(before)
            if painted is not None and np.array_equal(painted, line.cells(after)):
                return line.name
    return None


class _Line(NamedTuple):
    """A row or a column; `place` counts from 0."""

    kind: str
    place: int
    clue: tuple[int, ...]

    @classmethod
    def of(cls, puzzle: Puzzle, kind: str, place: int) -> _Line:
        return cls(kind, place, (puzzle.rows if kind == "row" else puzzle.columns)[place])

    @property
    def name(self) -> list[Any]:
        """The line for people: its kind, and its number from 1."""
        return [self.kind, self.place + 1]

    def cells(self, board: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return its cells, which are those of the board itself."""
        return board[self.place] if self.kind == "row" else board[:, self.place]

    def painted(self, board: Cells) -> Cells | None:
        """Return its cells as they are once it is painted maximally; None if nothing fits them."""
        from nonobot.bot.papers.lines import paint_line  # a kernel of its own, which solving does not need

        cells = self.cells(board)
        black, white = (_mask(cells == colour) for colour in (BLACK, WHITE))
        found = paint_line(self.clue, len(cells), black, white, on_compile=lambda: _compiling("the line solver"))
        if found is None:
            return None
        black, white = found
        told: Cells = grid_of([black], [white], len(cells)).cells[0]
        return told


def _mask(cells: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")


def _lines(puzzle: Puzzle) -> list[_Line]:
    rows = [_Line("row", place, clue) for place, clue in enumerate(puzzle.rows)]
    return rows + [_Line("column", place, clue) for place, clue in enumerate(puzzle.columns)]


def _hint(_: Strategy, request: _Request) -> dict[str, Any]:
    """Return the line that tells most, as the board is, with what it tells; or the lines that nothing fits."""
    best: dict[str, Any] | None = None
    wrong, most = [], 0
    numbers = np.arange(request.cells.size).reshape(request.cells.shape)
    for line in _lines(request.puzzle):
        painted = line.painted(request.cells)
        if painted is None:
            wrong.append(line.name)
            continue
        new = (painted != UNKNOWN) & (line.cells(request.cells) == UNKNOWN)
        if int(new.sum()) > most:
            most = int(new.sum())
            cells = line.cells(numbers)
            best = {"line": line.name}
            for name, colour in (("black", BLACK), ("white", WHITE)):
                best[name] = cells[new & (painted == colour)].tolist()
    return {"wrong": wrong, "hint": None if wrong else best}


def _conflict(_: Strategy, request: _Request) -> dict[str, Any]:
    """Return the lines that nothing fits once each line has told what it can, with the board as it is then."""
    board = request.cells.copy()
    lines = _lines(request.puzzle)
    rows, columns = lines[: request.puzzle.height], lines[request.puzzle.height :]
    todo = dict.fromkeys(lines)
    while todo:
        line = next(iter(todo))
        del todo[line]
        painted, cells = line.painted(board), line.cells(board)
        if painted is None:
            break
        changed = np.flatnonzero(painted != cells)
        cells[:] = painted
        todo |= dict.fromkeys((columns if line.kind == "row" else rows)[index] for index in changed.tolist())
    else:
        return {"wrong": [], "cells": text_from_cells(board)}
    return {"wrong": [line.name for line in lines if line.painted(board) is None], "cells": text_from_cells(board)}


_ANSWERS = {"solve": _solve, "steps": _steps, "hint": _hint, "conflict": _conflict}
