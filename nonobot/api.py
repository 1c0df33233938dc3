"""The public API for Python programs: read puzzles, check boards, solve one or many, hints, difficulty."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf
from operator import index
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from nonobot.bot import IN_BROWSER
from nonobot.bot.result import Result
from nonobot.protocol import (
    UNKNOWN,
    Found,
    Mismatch,
    PartialGrid,
    Puzzle,
    PuzzleError,
    Record,
    Solution,
    formats,
    mismatches,
)
from nonobot.protocol.clues import shown
from nonobot.system import printable, usable_cores

if TYPE_CHECKING:
    import numpy.typing as npt

_log = logging.getLogger("nonobot")

Level = Literal["lines", "probing", "search", "unknown"]
Verdict = Literal["unique", "multiple", "unsolvable", "unknown"]
Board = TypeVar("Board", Solution, PartialGrid)


class Stop(Protocol):
    """Whether to stop, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return whether to stop."""


# --- arguments ---------------------------------------------------------------------------------------------------


def _argument(name: str, value: Any, convert: Callable[[Any], Any], expected: str) -> Any:
    """Return an argument as `convert` returns it; otherwise an error that names it and what is expected."""
    try:
        return convert(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}; expected {expected}") from None
    except (ValueError, OverflowError):
        raise ValueError(f"{name}: {value!r}; expected {expected}") from None


def _whole(name: str, value: Any, least: int | None = None) -> int:
    """Return a whole number, also one of numpy's; ValueError if it is less than `least`."""
    number: int = _argument(name, value, index, "a whole number")
    if least is not None and number < least:
        raise ValueError(f"{name}: {value}; expected {least} or more")
    return number


def _number(name: str, value: Any, expected: str = "a number", least: float = -inf) -> float:
    def convert(given: Any) -> float:
        if isinstance(given, str | bytes | bytearray):  # which `float` reads
            raise TypeError
        if not (number := float(given)) >= least:  # or not a number
            raise ValueError
        return number

    number: float = _argument(name, value, convert, expected)
    return number


def _seconds(seconds: Any) -> float | None:
    return None if seconds is None else _number("seconds", seconds, "a number or None, not below 0", 0)


def _pair(size: Any) -> tuple[int, int]:
    width, height = map(index, size)
    if min(width, height) < 1:
        raise ValueError
    return width, height


def _checked_stop(stop: Any) -> Stop | None:
    if stop is None or (callable(getattr(stop, "is_set", None)) and not isinstance(stop, type)):
        return cast("Stop | None", stop)
    raise TypeError(f"stop: {stop!r}; expected a threading.Event or None")


def _several(puzzles: Any) -> Iterable[Any]:
    if isinstance(puzzles, Puzzle | Record | str | bytes | bytearray | memoryview) or not hasattr(
        puzzles, "__iter__"
    ):
        raise TypeError(f"puzzles: {puzzles!r}; expected several puzzles, such as a list or the result of read")
    return cast("Iterable[Any]", puzzles)


def _for_python(message: object) -> str:
    """Return a message of a command with the arguments of this module instead of options."""
    text = re.sub(r"--size (\w+)x(\w+)", r"size=(\1, \2)", str(message))
    return text.replace("--size auto", "size='auto'").replace("--size", "size")


def _board(name: str, cells: Any, kind: type[Board]) -> Board:
    """Return an argument as a board; PuzzleError: it is not one."""
    try:
        return cells if isinstance(cells, kind) else kind(cells)
    except PuzzleError as error:
        raise PuzzleError(f"{name}: {error}") from None


# --- puzzles -----------------------------------------------------------------------------------------------------


# In this order: `ValueError.__new__` cannot make an OSError.
class MissingFileError(FileNotFoundError, PuzzleError):
    """A file of puzzles that does not exist."""


Source = str | bytes | bytearray | memoryview | os.PathLike[str] | IO[bytes] | IO[str]


def read(
    source: Source,
    *,
    format: str | None = None,
    size: tuple[int, int] | Literal["auto"] | None = None,
    errors: list[str] | None = None,
) -> list[Record]:
    """Return the puzzles of a file of any format (see docs/formats.md), in order.

    `source` is the name of a file, an open file or the content: bytes, or a string of several text lines. A string
    of one text line is a file name if that file exists, otherwise the puzzle itself. Without `format`, the content
    determines the format. `size` is the width and height of all boards, for formats that do not state them.

    `errors` receives one text line for each puzzle that cannot be read; the other puzzles are returned. Without
    `errors`, the first such puzzle raises PuzzleError. So does a file of unknown format. The error for a file that
    does not exist is also a FileNotFoundError.
    """
    return list(read_lazily(source, format=format, size=size, errors=errors))


def read_lazily(
    source: Source,
    *,
    format: str | None = None,
    size: tuple[int, int] | Literal["auto"] | None = None,
    errors: list[str] | None = None,
) -> Iterator[Record]:
    """Yield what :func:`read` returns, each puzzle as soon as it is read."""
    if not (errors is None or hasattr(errors, "append")):
        raise TypeError(f"errors: {errors!r}; expected a list or None")
    for entry in _entries(source, format, size):
        if isinstance(entry, Record):
            yield entry
        elif errors is None:
            raise entry
        else:
            errors.append(str(entry))


def _entries(
    source: Source, format: str | None = None, size: tuple[int, int] | Literal["auto"] | None = None
) -> Iterator[Record | PuzzleError]:
    """Return the puzzles of a file, and an error for each that cannot be read; PuzzleError for the whole file."""
    if hasattr(source, "read"):
        source = source.read()
        source = source.encode(errors="surrogatepass") if isinstance(source, str) else source
    if isinstance(source, bytearray | memoryview):
        source = bytes(source)
    if not isinstance(source, str | bytes | os.PathLike):
        raise TypeError(f"source: {source!r}; expected a file name, an open file, or the content as bytes or text")
    if size is not None and not (isinstance(size, str) and size == "auto"):  # an array has no truth value
        size = _argument("size", size, _pair, "a width and a height of 1 or more, 'auto' or None")
    path = _path(source)
    place = f"{printable(str(path))}: " if path else ""
    try:
        if path:
            with path.open("rb") as file:
                found = formats.read(file, format, size)
        else:
            content = source if isinstance(source, bytes) else str(source).encode(errors="surrogatepass")
            found = formats.read(content, format, size)
    except FileNotFoundError:
        raise MissingFileError(f"cannot read {str(path)!r}: no such file") from None
    except formats.FormatError as error:
        if isinstance(source, str) and "\n" not in source and source.strip() and not path:
            name = repr(source) if len(source) < 256 else shown(source)
            if "/" in source or re.search(r"\.\w+$", source):
                raise MissingFileError(f"cannot read {name}: no such file") from None
            place = f"{name}: not a file, and not a puzzle: "
        raise PuzzleError(place + _for_python(error)) from None
    return _placed(found, place)


def _placed(found: Iterator[Found], place: str) -> Iterator[Record | PuzzleError]:
    is_empty = True
    try:
        for entry in found:
            is_empty = False
            yield entry if isinstance(entry, Record) else PuzzleError(place + _for_python(entry))
    except formats.FormatError as error:
        raise PuzzleError(place + _for_python(error)) from None
    if is_empty:
        raise PuzzleError(f"{place}cannot find a puzzle")


def write(
    puzzles: Puzzle | Record | Iterable[Puzzle | Record],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
) -> None:
    """Write one or several puzzles to a file; the format is `format` or follows from the end of the file's name.

    Data that the format cannot hold is dropped, with a warning through the logger `nonobot`. PuzzleError (and no
    file is written): the format is unknown, or it cannot represent the puzzles.
    """
    several = [puzzles] if isinstance(puzzles, Puzzle | Record) else list(_several(puzzles))
    for puzzle in several:
        if not isinstance(puzzle, Puzzle | Record):
            raise TypeError(f"puzzles: {puzzle!r}; expected a Puzzle or a Record")
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path: {path!r}; expected a str or a path object")
    records = [
        Record(puzzle, number=k) if isinstance(puzzle, Puzzle) else puzzle for k, puzzle in enumerate(several, 1)
    ]
    place = printable(str(path))
    known = formats.by_extension(os.fspath(path))
    name = format or (known.name if known else "")
    if not name:
        ends = ", ".join(end for known_format in formats.formats() for end in known_format.extensions)
        raise PuzzleError(
            f"{place}: the end of this name belongs to no known format ({ends}); rename the file or pass format="
        )
    try:
        written = formats.write(records, name)
    except formats.FormatError as error:
        raise PuzzleError(f"{place}: {error}") from None
    if written.faults or not records:
        raise PuzzleError(f"{place}: {written.faults[0] if written.faults else 'no puzzle to write'}")
    for warning in written.warnings:
        _log.warning("%s: %s", place, _for_python(warning))
    Path(path).write_bytes(written.data)


def _path(source: str | bytes | os.PathLike[str]) -> Path | None:
    """Return the file that `source` names, or None if `source` is the content."""
    if isinstance(source, bytes) or (isinstance(source, str) and ("\n" in source or not source.strip())):
        return None
    path = Path(source)
    try:
        return path if isinstance(source, os.PathLike) or path.exists() else None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    return None


def generate(
    size: int | tuple[int, int] = 25,
    count: int = 1,
    *,
    seed: int,
    p1: float | None = None,
    p2: float | None = None,
) -> Iterator[Record]:
    """Yield the puzzles that `nonojudge generate` makes from the same numbers, each with the board that it made.

    `size` is the side, or the width and the height. The first puzzle has a share `p1` of black cells, the last one
    `p2` (default: those of the tournaments). A puzzle may have other solutions.
    """
    from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2
    from nonobot.tournament_data.generate import generate as boards

    def sides(given: Any) -> tuple[int, int]:
        return _pair(given if isinstance(given, tuple | list) else (given, given))

    both = _argument("size", size, sides, "a whole number, or a width and a height, of 1 or more")
    first = OFFICIAL_P1 if p1 is None else _number("p1", p1)
    last = OFFICIAL_P2 if p2 is None else _number("p2", p2)
    made = boards(both, _whole("count", count, 0), first, last, seed=_whole("seed", seed))
    return (Record(puzzle, solution=solution, number=number) for number, (puzzle, solution) in enumerate(made, 1))


def draw(
    what: Puzzle | Record | Result | str | os.PathLike[str],
    format: Literal["png", "svg"],
    *,
    cells: Solution | PartialGrid | npt.ArrayLike | None = None,
    cell: int = 24,
    clues: bool = True,
    dark: bool = False,
) -> bytes:
    """Return a picture of a puzzle, as the content of a file; PNG needs Pillow.

    It shows the board `cells`, in the shape (height, width): 1 black, 0 white, -1 unknown; by default the first
    solution of a result, or its known cells, or the given cells of a record. A cell has `cell` pixels a side.
    """
    from nonobot.protocol.png import png_of
    from nonobot.protocol.scene import Picture, scene_of
    from nonobot.protocol.svg import DARK, LIGHT, svg_of

    if format not in ("png", "svg"):
        raise ValueError(f"format: {format!r}; expected 'png' or 'svg'")
    cell = _whole("cell", cell, 2 if format == "png" else 1)  # numbers of a clue have half the size
    if isinstance(what, Result):
        puzzle, title = what.puzzle, None
        own_cells = what.solutions[0] if what.solutions else what.known
    else:
        record = _record(what)
        puzzle, title, own_cells = record.puzzle, record.title or None, record.start
    board = own_cells if cells is None else _board("cells", cells, PartialGrid)
    scene = scene_of(Picture(puzzle, board, title), cell, clues)
    theme = DARK if dark else LIGHT
    return svg_of(scene, theme).encode() if format == "svg" else png_of(scene, theme)


@dataclass(frozen=True, slots=True)
class Check:
    """Comparison of a board with its clues: true for a solution; prints as the wrong rows and columns."""

    mismatches: tuple[Mismatch, ...]

    def __bool__(self) -> bool:
        return not self.mismatches

    def __str__(self) -> str:
        return "\n".join(map(str, self.mismatches)) or "right"


def check(puzzle: Puzzle | Record | str | os.PathLike[str], grid: Solution | npt.ArrayLike) -> Check:
    """Check whether a full board solves a puzzle, without using the solver.

    An array has the shape (height, width): 1 black, 0 white. PuzzleError: it is not a full board of that size.
    """
    solution = _board("grid", grid, Solution)
    try:
        return Check(tuple(mismatches(_record(puzzle).puzzle, solution)))
    except ValueError as error:
        raise PuzzleError(str(error)) from None


# --- solving -----------------------------------------------------------------------------------------------------


def solve(
    puzzle: Puzzle | Record | str | os.PathLike[str],
    *,
    solutions: int = 2,
    seconds: float | None = 10.0,
    start: npt.ArrayLike | None = None,
    stop: Stop | None = None,
) -> Result:
    """Solve a puzzle: search for up to `solutions` solutions for up to `seconds`; None means without limit.

    Two solutions are enough to show that a puzzle is not unique. Ctrl-C ends a search at once. The puzzle may also
    be a file name or the content of a file, as for :func:`read`, if it contains one puzzle.

    If nonobot is installed without compiled kernels, the first call compiles them and reports this through the
    logger `nonobot`. `seconds` does not include that time. ImportError: numba, which compiles them, is missing, or
    its version does not fit.

    `start` contains the given cells, in the shape (height, width): 1 black, 0 white, -1 unknown (default: those of
    the record). PuzzleError: the board is too large, or `start` has another size.

    `stop` is a `threading.Event` with which another thread ends the search at once, as `seconds` would.
    """
    [result] = solve_all([_record(puzzle, start)], solutions=solutions, seconds=seconds, stop=stop)
    return result


def solve_all(
    puzzles: Iterable[Puzzle | Record | str | os.PathLike[str]],
    *,
    jobs: int | None = 1,
    solutions: int = 2,
    seconds: float | None = 10.0,
    stop: Stop | None = None,
    errors: Literal["raise", "skip"] | Callable[[PuzzleError], object] = "raise",
) -> Iterator[Result]:
    """Yield the result of each puzzle in order, as soon as it and all earlier puzzles are solved.

    `jobs` puzzles are solved in parallel, one per core; None, or a number above, uses all available cores. The
    results do not depend on `jobs`. Nothing is solved after the loop was left, however that happens. Once `stop`
    is set, the search ends, and its result is the last one. All else is as for :func:`solve`, per puzzle.

    The puzzles are read in the caller's thread. One job reads each puzzle when the caller asks for its result.
    Several jobs read up to four puzzles each ahead: one whenever the caller asks, and more while it waits.

    A puzzle that cannot be read or is too large raises PuzzleError, unless `errors` is `"skip"`, or a function
    that gets each PuzzleError; there is then no result for such a puzzle.
    """
    cores = len(usable_cores())
    jobs = cores if jobs is None else min(_whole("jobs", jobs, 1), cores)
    solutions, seconds, stop = _whole("solutions", solutions, 1), _seconds(seconds), _checked_stop(stop)
    if not (callable(errors) or errors in ("raise", "skip")):
        raise ValueError(f"errors: {errors!r}; expected 'raise', 'skip' or a function")
    # One file name is not an iterable of letters.
    found: Iterable[Any] = _entries(puzzles) if isinstance(puzzles, str | os.PathLike) else _several(puzzles)
    return _results(map(_tried_record, found), jobs, solutions, seconds, stop, errors)


def _tried_record(puzzle: Puzzle | Record | str | os.PathLike[str] | PuzzleError) -> Record | PuzzleError:
    try:
        return puzzle if isinstance(puzzle, PuzzleError) else _record(puzzle)
    except PuzzleError as error:
        return error


def solutions(
    puzzle: Puzzle | Record | str | os.PathLike[str],
    *,
    start: npt.ArrayLike | None = None,
    stop: Stop | None = None,
) -> Iterator[Solution]:
    """Yield all solutions of a puzzle, in an order that is always the same, without keeping them.

    Each is searched for when you ask for it: nothing runs between them, or after the loop was left. Once `stop` is
    set, there are no more; `start` is as for :func:`solve`.
    """
    return _all_solutions(_record(puzzle, start), _checked_stop(stop))


def count(
    puzzle: Puzzle | Record | str | os.PathLike[str],
    *,
    most: int | None = None,
    start: npt.ArrayLike | None = None,
    stop: Stop | None = None,
) -> int:
    """Return the number of solutions of a puzzle, at most `most`; the rest is as for :func:`solutions`."""
    most = None if most is None else min(_whole("most", most, 0), sys.maxsize)
    return sum(1 for _ in islice(solutions(puzzle, start=start, stop=stop), most))


def _record(
    puzzle: Puzzle | Record | str | os.PathLike[str], start: npt.ArrayLike | None = None, name: str = "start"
) -> Record:
    """Return a puzzle, or the only puzzle of a file, as a record with given cells, the argument `name`."""
    if isinstance(puzzle, str | os.PathLike):
        records = read(puzzle)
        if records[1:]:
            raise PuzzleError(f"the file contains {len(records)} puzzles; pass the result of read to solve_all")
        puzzle = records[0]
    elif not isinstance(puzzle, Puzzle | Record):
        raise PuzzleError(
            f"not a puzzle: a {type(puzzle).__name__}; pass a puzzle or a file name (several: use solve_all)"
        )
    record = puzzle if isinstance(puzzle, Record) else Record(puzzle)
    return record if start is None else replace(record, start=_board(name, start, PartialGrid))


_idle: list[Any] = []
"""Idle strategies, with their memory and kernels, for later calls."""


def _strategy() -> Any:
    if type(globals().get("__loader__")).__name__ == "zipimporter" and not IN_BROWSER:
        raise ImportError("nonobot cannot solve from within a zip file: unpack it, or install nonobot")
    from nonobot.bot.champion import ChampionStrategy
    from nonobot.bot.kernels.compiler import require_compiler
    from nonobot.bot.kernels.notices import Notices
    from nonobot.bot.kernels.shipped import has_kernels

    try:
        return _idle.pop()
    except IndexError:
        if not has_kernels():
            require_compiler()
        strategy = ChampionStrategy()
        strategy.prepare(Notices(_log.warning), size=None)
        return strategy


def _results(
    records: Iterable[Record | PuzzleError],
    jobs: int,
    solutions: int,
    seconds: float | None,
    stop: Stop | None,
    errors: Literal["raise", "skip"] | Callable[[PuzzleError], object],
) -> Iterator[Result]:
    """Solve in other threads, so that this thread can react to Ctrl-C; a browser has no threads."""
    from nonobot.bot.workers import in_order

    strategies = [_strategy() for _ in range(1 if IN_BROWSER else jobs)]
    workers = [partial(_solved, strategy, solutions, seconds) for strategy in strategies]

    def end_searches() -> None:
        for strategy in strategies:
            strategy.stop()

    def allow_searches() -> None:
        for strategy in strategies:
            strategy.resume()

    is_over = stop.is_set if stop else None
    for result in (
        map(workers[0], records)
        if IN_BROWSER
        else in_order(records, workers, end_searches, allow_searches, is_over)
    ):
        if isinstance(result, Result):
            yield result
        elif callable(errors):
            errors(result)
        elif errors == "raise":
            raise result from None
    allow_searches()
    _idle.extend(strategies)  # not after an error or Ctrl-C, when they may still be in use


def _solved(
    strategy: Any, solutions: int, seconds: float | None, record: Record | PuzzleError
) -> Result | PuzzleError:
    if isinstance(record, PuzzleError):
        return record
    try:
        result: Result = strategy.solve(record.puzzle, start=record.start, solutions=solutions, seconds=seconds)
    except ValueError as error:  # a board that is too large, or needs too much memory
        return PuzzleError(str(error))
    return result


def _all_solutions(record: Record, stop: Stop | None) -> Iterator[Solution]:
    from nonobot.bot.workers import on_request

    with _borrowed_strategy() as strategy:
        found: Iterator[Solution] = strategy.each(record.puzzle, record.start)
        yield from found if IN_BROWSER else on_request(found, strategy.stop, stop.is_set if stop else None)


@contextmanager
def _borrowed_strategy() -> Iterator[Any]:
    """Give an idle strategy to a block; after an error, which may be a PuzzleError, it may still be in use."""
    strategy = _strategy()
    try:
        yield strategy
    except PuzzleError:
        raise
    except ValueError as error:
        raise PuzzleError(str(error)) from None
    strategy.watch(0)
    strategy.resume()
    _idle.append(strategy)


# --- explaining --------------------------------------------------------------------------------------------------

Cell = tuple[int, int]  # row and column, counted from 0 as in numpy


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a search, with the cells (row, column) that it made black, white or unknown again.

    `line` is the line from which they follow (`row 3`, counted from 1), if they follow from one.
    """

    kind: Literal["painted", "probed", "guessed", "taken_back", "restarted"]
    line: str | None
    black: tuple[Cell, ...]
    white: tuple[Cell, ...]
    unknown: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """The line that makes most cells known, with these cells (row, column); true if there is one.

    `wrong` names the lines that no placement of their blocks fits any more.
    """

    line: str | None
    black: tuple[Cell, ...]
    white: tuple[Cell, ...]
    wrong: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.line is not None


def steps(
    puzzle: Puzzle | Record | str | os.PathLike[str],
    *,
    seconds: float | None = 10.0,
    start: npt.ArrayLike | None = None,
    stop: Stop | None = None,
) -> list[Step]:
    """Return the steps of the search for one solution, as the page shows them, at most some thousands.

    The search has half of `seconds`, and the description of its steps the rest. Further steps are left out, with a
    warning through the logger `nonobot`, and so are those not described once `stop` is set. The rest is as for
    :func:`solve`.
    """
    record = _record(puzzle, start)
    answer = _answer("steps", record, _seconds(seconds), _checked_stop(stop))
    if answer["truncated"]:
        _log.warning("steps: further ones are left out after the first %d", len(answer["steps"]))
    width = record.puzzle.width
    return [
        Step(step["kind"], _name(step.get("line")), *(_cells(step, name, width) for name in _STATES))
        for step in answer["steps"]
    ]


def hint(puzzle: Puzzle | Record | str | os.PathLike[str], cells: npt.ArrayLike | None = None) -> Hint:
    """Return the next line from which cells follow on a board, by that line alone.

    `cells` is the board so far, in the shape (height, width): 1 black, 0 white, -1 unknown (default: the given
    cells of the record, or none).
    """
    record = _record(puzzle, cells, "cells")
    answer = _answer("hint", record, None, None)
    best = answer["hint"] or {"line": None}
    black, white = (_cells(best, name, record.puzzle.width) for name in ("black", "white"))
    return Hint(_name(best["line"]), black, white, tuple(str(_name(line)) for line in answer["wrong"]))


_STATES = ("black", "white", "unknown")


def _cells(found: dict[str, Any], name: str, width: int) -> tuple[Cell, ...]:
    return tuple(divmod(cell, width) for cell in found.get(name, ()))


def _name(line: Sequence[Any] | None) -> str | None:
    return None if line is None else f"{line[0]} {line[1]}"


def _answer(action: str, record: Record, seconds: float | None, stop: Stop | None) -> dict[str, Any]:
    """Return the answer to a request of the page."""
    from nonobot.bot import dialogue
    from nonobot.bot.papers.single_line import paint_line
    from nonobot.bot.strategy import StoppedError
    from nonobot.bot.workers import on_request

    board = PartialGrid.blank(record.size) if record.start is None else record.start
    with _borrowed_strategy() as strategy:

        def answers() -> Iterator[dict[str, Any]]:
            with suppress(StoppedError):
                for side in set(record.size):
                    paint_line((), side, 0, 0, on_compile=partial(strategy.report_compiling, "the line solver"))
            yield getattr(dialogue, action)(strategy, dialogue.Request(record.puzzle, board, seconds=seconds))

        is_over = stop.is_set if stop else None
        made = [*answers()] if IN_BROWSER else [*on_request(answers(), strategy.stop, is_over)]
    return made[0] if made else {"truncated": False, "steps": []}  # `stop` was set before


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Difficulty of a puzzle: the simplest method that solves it.

    'lines': deducing from one line at a time is enough. 'probing': trying each cell in both colours and keeping
    the common consequences (FP1 of Wu et al. 2013), repeatedly, is enough. 'search': neither is enough, as for
    every puzzle with several solutions; boards with over 62 rows or columns are not probed, so there it means that
    lines are not enough. 'unknown': the time was too short, or the puzzle is unsolvable.
    """

    level: Level
    conflicts: int  # contradictions that the search met
    verdict: Verdict


def difficulty(
    puzzle: Puzzle | Record | str | os.PathLike[str], *, seconds: float | None = 10.0, stop: Stop | None = None
) -> Difficulty:
    """Return the difficulty of a puzzle, or of a record from its given cells; `seconds`, `stop`: as for solve."""
    from nonobot.bot.papers import deduce
    from nonobot.bot.papers.state import LONGEST_SIDE as LONGEST_PROBED_SIDE

    record = _record(puzzle)
    result = solve(record, seconds=seconds, stop=stop)
    level: Level = "search"
    if not result.solutions:
        level = "unknown"
    elif result.counts["decisions"] == 0 and result.verdict == "unique":
        level = "lines"
    elif max(record.size) <= LONGEST_PROBED_SIDE:
        cells = deduce(record.puzzle, 1, start=record.start)
        if cells is not None and UNKNOWN not in cells:
            level = "probing"
    return Difficulty(level, result.counts.get("conflicts", 0), result.verdict)
