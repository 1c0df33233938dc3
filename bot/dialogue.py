"""Answers about a single board: solutions, steps, hint, conflict; for `nonobot --dialogue` and the page.

A request has an action (`do`), the board's clues, and its known cells row by row, one character each: `1` black,
`0` white, `?` unknown. docs/page.md describes all requests and answers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from operator import index
from typing import Any, NamedTuple

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.papers.single_line import paint_line
from nonobot.bot.result import MOST_TRACE_EVENTS, TraceEvent, grid_of, line_masks
from nonobot.bot.strategy import Strategy
from nonobot.protocol import BLACK, DEFAULT_SIZE, UNKNOWN, WHITE, PartialGrid, Puzzle, PuzzleError
from nonobot.protocol.clues import Clue, shown
from nonobot.protocol.puzzle import cells_from_text, text_from_cells
from nonobot.system import write_all

_STDIN, _STDOUT = 0, 1
_MOST_BYTES = 1 << 24  # largest length of a request; the largest board needs less
_MOST_STEPS = 8000  # largest number of steps in an answer; a browser has less memory for the largest boards
_MOST_CHANGES = 2_000_000  # largest number of changed cells in all steps of an answer; later steps are dropped
_UNKNOWN = UNKNOWN % 256  # unknown cell in the content of a board


def converse(strategy: Strategy) -> int:
    """Answer the requests on standard input until its end; return the exit status."""
    strategy.prepare(_say_compiling, DEFAULT_SIZE)
    requests = os.fdopen(_STDIN, "rb", closefd=False)  # `sys.stdin` is None if it is closed
    try:
        while line := requests.readline(_MOST_BYTES + 1):
            try:
                if len(line) > _MOST_BYTES:
                    while line and not line.endswith(b"\n"):
                        line = requests.readline(_MOST_BYTES)
                    raise ValueError(f"the request is longer than {_MOST_BYTES >> 20} MiB; send a smaller one")
                found = answer(strategy, _parsed(line))
            except ValueError as error:  # an unusable request, or a board that is too large for the strategy
                found = {"error": str(error)}
            except MemoryError:
                found = {"error": "not enough memory for this request"}
            _write(found)
    except BrokenPipeError:
        return 1
    return 0


def _say_compiling(part: str, share: float, _: float) -> None:
    if share == 0:
        _write({"compiling": part})


def answer(strategy: Strategy, request: Any) -> dict[str, Any]:
    """Return the answer to a request; both are values of `json`.

    ValueError: the request is unusable, or its board is too large; the message is one text line.
    """
    do, checked = _checked(request)
    return _ANSWERS[do](strategy, checked)


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: it is nested too deeply; send one JSON object in each line") from None
    except ValueError as error:
        place = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"not JSON{place}; send one JSON object in each line") from None


def _write(answer: dict[str, Any]) -> None:
    write_all(_STDOUT, json.dumps(answer, separators=(",", ":")).encode() + b"\n")


class Request(NamedTuple):
    """A checked request: the board, and limits of the answer."""

    puzzle: Puzzle
    board: PartialGrid
    solutions: int = 2
    seconds: float | None = None
    most_steps: int = MOST_TRACE_EVENTS


def _checked(given: Any) -> tuple[str, Request]:
    """Return the action and the rest of a request."""
    if not isinstance(given, dict):
        raise ValueError("not a JSON object; docs/page.md describes the requests")
    for name in "do", "rows", "columns":
        if given.get(name) is None:
            raise ValueError(f"{name} is missing; docs/page.md describes the requests")
    rows, columns = (_value(given, name, list, "a list of clues") for name in ("rows", "columns"))
    puzzle = Puzzle(rows=rows, columns=columns)
    if max(puzzle.size) > LONGEST_SIDE:  # before cells are allocated
        raise PuzzleError(f"the board is too large; boards have up to {LONGEST_SIDE}x{LONGEST_SIDE} cells")
    board = partial(cells_from_text, size=puzzle.size)
    do = str(given["do"])
    request = Request(
        puzzle,
        _value(given, "cells", board, "one of 1, 0 and ? for each cell", PartialGrid.blank(puzzle.size)),
        _value(given, "solutions", index, "a whole number", 2),
        _value(given, "seconds", float, "a number"),
        min(_value(given, "most_steps", index, "a whole number", MOST_TRACE_EVENTS), MOST_TRACE_EVENTS),
    )
    if request.seconds is not None and not request.seconds > 0:
        raise ValueError(f"seconds: {request.seconds:g}; expected a positive number")
    if request.most_steps < 0:
        raise ValueError(f"most_steps: {request.most_steps}; expected a number of steps, 0 or more")
    if do not in _ANSWERS:
        raise ValueError(f"do: {shown(do)}; expected one of {', '.join(_ANSWERS)}")
    return do, request


def _value(
    given: dict[str, Any], name: str, convert: Callable[[Any], Any], expected: str, default: Any = None
) -> Any:
    value = given.get(name)
    if value is None:
        return default
    try:
        return convert(value)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise ValueError(f"{name}: {shown(str(value))}; expected {expected}") from None


def solve(strategy: Strategy, request: Request) -> dict[str, Any]:
    """Return the verdict, and up to the requested number of solutions."""
    strategy.watch(0)
    result = strategy.solve(
        request.puzzle, start=request.board, solutions=request.solutions, seconds=request.seconds
    )
    return {
        "verdict": result.verdict,
        "exhausted": result.exhausted,
        "solutions": [text_from_cells(solution) for solution in result.solutions],
        "seconds": result.seconds,
        "counts": result.counts,
    }


def steps(strategy: Strategy, request: Request) -> dict[str, Any]:
    """Return the steps of the search for one solution, each with the cells that it changed.

    The search has half of the time. Steps that are not described before its end, or a stop, are left out.
    """
    seconds = inf if request.seconds is None else request.seconds
    until = time.monotonic() + seconds
    strategy.watch(min(request.most_steps, _MOST_STEPS) + 1)  # one more, to notice that steps were dropped
    strategy.solve(request.puzzle, start=request.board, seconds=seconds / 2)
    most = strategy.most_trace_events() - 1
    found: list[dict[str, Any]] = []
    before, changes = request.board, 0
    lines = _lines(request.puzzle)
    for kind, after in strategy.trace_events():
        if strategy.is_stopped or time.monotonic() > until:
            return {"truncated": True, "steps": found}
        changed = before.changed_to(after)
        changes += len(changed)
        if len(found) == most or changes > _MOST_CHANGES:
            return {"truncated": True, "steps": found}
        step: dict[str, Any] = {"kind": kind.name.lower()}
        for name, colour in (("black", BLACK), ("white", WHITE), ("unknown", _UNKNOWN)):
            if cells := [cell for cell in changed if after.content[cell] == colour]:
                step[name] = cells
        if kind is TraceEvent.PAINTED and changed:
            step["line"] = _explanation(lines, before, after, changed)
        found.append(step)
        before = after
    return {"truncated": False, "steps": found}


def _explanation(lines: Sequence[_Line], before: PartialGrid, after: PartialGrid, changed: Sequence[int]) -> Any:
    """Return the name of the line from which all changed cells follow; None if they need several lines."""
    rows, columns = ({cell // before.width for cell in changed}, {cell % before.width for cell in changed})
    for places, kind in (rows, lines), (columns, lines[before.height :]):
        if len(places) == 1:
            line = kind[places.pop()]
            if line.painted(before.content) == after.content[line.cells]:
                return line.name
    return None


class _Line(NamedTuple):
    """A row or a column."""

    name: list[Any]  # its kind and its number, counted from 1
    clue: Clue
    cells: slice  # its cells in the content of a board

    def painted(self, board: bytes) -> bytes | None:
        """Return the cells of this line after maximal painting; None if no placement of its blocks fits."""
        cells = board[self.cells]
        [black, *_], [white, *_] = line_masks(PartialGrid.from_bytes(cells, (len(cells), 1)))
        on_compile = partial(_say_compiling, "the line solver")
        masks = paint_line(self.clue, len(cells), black, white, on_compile=on_compile)
        return None if masks is None else grid_of([masks[0]], [masks[1]], len(cells)).content


def _lines(puzzle: Puzzle) -> list[_Line]:
    width = puzzle.width
    rows = [_Line(["row", y + 1], clue, slice(y * width, (y + 1) * width)) for y, clue in enumerate(puzzle.rows)]
    columns = [_Line(["column", x + 1], clue, slice(x, None, width)) for x, clue in enumerate(puzzle.columns)]
    return rows + columns


def hint(_: Strategy, request: Request) -> dict[str, Any]:
    """Return the line that makes the most cells known, with these cells, or the lines that no placement fits."""
    best: dict[str, Any] | None = None
    wrong, most = [], 0
    board = request.board.content
    for line in _lines(request.puzzle):
        painted = line.painted(board)
        if painted is None:
            wrong.append(line.name)
            continue
        cells = zip(range(len(board))[line.cells], board[line.cells], painted, strict=True)
        new = [(cell, colour) for cell, before, colour in cells if before == _UNKNOWN != colour]
        if len(new) > most:
            most = len(new)
            black, white = ([cell for cell, colour in new if colour == wanted] for wanted in (BLACK, WHITE))
            best = {"line": line.name, "black": black, "white": white}
    return {"wrong": wrong, "hint": None if wrong else best}


def conflict(_: Strategy, request: Request) -> dict[str, Any]:
    """Return the board after painting all lines, and the lines that no placement then fits."""
    board = bytearray(request.board.content)
    lines = _lines(request.puzzle)
    todo = dict.fromkeys(range(len(lines)))  # in the order of arrival
    wrong: list[list[Any]] = []
    while todo:
        line = lines[number := next(iter(todo))]
        del todo[number]
        painted, cells = line.painted(bytes(board)), board[line.cells]
        if painted is None:
            wrong = [other.name for other in lines if other.painted(bytes(board)) is None]
            break
        first = request.puzzle.height if number < request.puzzle.height else 0
        todo |= dict.fromkeys(first + place for place in range(len(cells)) if painted[place] != cells[place])
        board[line.cells] = painted
    return {"wrong": wrong, "cells": text_from_cells(PartialGrid.from_bytes(bytes(board), request.puzzle.size))}


_ANSWERS = {"solve": solve, "steps": steps, "hint": hint, "conflict": conflict}
