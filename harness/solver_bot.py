"""Makes a bot of a function that solves one puzzle: reads puzzles from standard input, writes each answer at once.

The function is `solve(puzzle, clock)`. It returns a solution, or None if there is none. It raises `OutOfTimeError`
at the end of its time, and `RefusedError` for boards beyond its method.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable

from nonobot.protocol import Fault, Found, Puzzle, Solution, format_answer, read_batch
from nonobot.protocol.puzzle import fault_in_clues
from nonobot.system import chunks_until, lines_in, reason_of, report, write_all

_STDIN, _STDOUT = 0, 1

LONGEST_SIDE = 999


class RefusedError(Exception):
    """The method cannot handle the board; the message gives the reason."""


class OutOfTimeError(Exception):
    """The time for the puzzle is up."""


class Clock:
    """The wall time left for a puzzle, from now on."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._deadline = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left, 0 or more."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raise OutOfTimeError if the time is up."""
        if time.monotonic() >= self._deadline:
            raise OutOfTimeError


Solve = Callable[..., Solution | None]


def answer_all(
    solve: Solve,
    size: tuple[int, int] | None,
    limit_seconds: float,
    chunks: Iterable[bytes] | None = None,
) -> int:
    """Answer the puzzles in `chunks`, or on standard input, and return the exit status."""
    # The default handler: exit at once, even inside an engine's C code. Every answer is already written.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Searches recurse, up to once for each cell; calls from Python to Python take no room on the C stack.
    sys.setrecursionlimit(LONGEST_SIDE**2 + 1000)
    if os.isatty(_STDIN):
        report("reading puzzles from the terminal; end them with Ctrl-D, or see --help")
    read = solved = faults = 0
    try:
        for item in read_batch(lines_in(chunks_until(_STDIN, None) if chunks is None else chunks), size):
            solution = _solved(solve, item, limit_seconds)
            if isinstance(item, Fault) and not item.is_in_place:
                faults += 1
                continue
            read += 1
            solved += solution is not None
            assert item.number is not None
            answer = format_answer(item.number, solution) if solution else _given_up(item)
            write_all(_STDOUT, answer)
    except BrokenPipeError:
        return 1
    except OSError as error:
        report(f"input or output failed: {reason_of(error)}")
        return 2
    if not read:
        report("no puzzle on standard input; a puzzle starts with '$1' (see --help)")
        return 2
    return 0 if solved == read and not faults else 1


def solution_of(solve: Solve, puzzle: Puzzle, clock: Clock) -> Solution | None:
    """Return the solution of a puzzle; None if it has none, as far as its clues or `solve` show."""
    return None if fault_in_clues(puzzle) else solve(puzzle, clock)


def _solved(solve: Solve, item: Found, seconds: float) -> Solution | None:
    """Return the solution; None for a puzzle that was not solved, with the reason on standard error."""
    if isinstance(item, Fault):
        report(str(item))
        return None
    try:
        if solution := solution_of(solve, item.puzzle, Clock(seconds)):
            return solution
        reason = "the puzzle has no solution"
    except OutOfTimeError:
        reason = f"not solved within the limit of {seconds:g} s"
    except RefusedError as error:
        reason = str(error)
    report(f"${item.number}: line {item.line}: {reason}")
    return None


def _given_up(item: Found) -> bytes:
    """Return an answer of zeros; of ones if zeros were right."""
    assert item.number is not None
    width, height = item.size or (0, 0)
    if not 0 < max(width, height) <= LONGEST_SIDE:  # --size auto on unreadable text
        return b"$%d\n" % item.number
    is_blank = not isinstance(item, Fault) and not any(map(any, item.puzzle.rows + item.puzzle.columns))
    cells = bytes([is_blank]) * (width * height)
    return format_answer(item.number, Solution.from_bytes(cells, (width, height)))
