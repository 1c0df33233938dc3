"""The program around each opponent: it reads puzzles from standard input and writes answers to standard output.

An opponent is a function `solve(puzzle, clock, **options)`. It returns a solution, or None if there is none. It
raises `OutOfTimeError` at the end of its time, and `RefusedError` for boards beyond its method.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from nonobot.arguments import Parser, either, missing, seconds, size_up_to
from nonobot.bot.input import chunks_until
from nonobot.protocol import DEFAULT_SIZE, Fault, Found, Puzzle, Solution, format_answer, read_batch
from nonobot.protocol.puzzle import fault_in_clues
from nonobot.system import lines_in, reason_of, report, write_all

_STDIN, _STDOUT = 0, 1

_LONGEST_SIDE = 999

_EPILOG = """\
example:
  python -m {program} --size 5x8 --puzzle-limit 10 < small.txt > answers.txt

input: '$k' starts puzzle k; then a line for each column, left to right, and a line for each row, top to bottom:
block lengths separated by TAB. A line without black cells is an empty line (or 0).
output: '$k', then a line for each row: 1 black, 0 white, separated by TAB; zeros alone for a puzzle that was not
solved (standard error reports the reason).

exit status: 0 every puzzle read was answered with a solution; 1 some were not; 2 unusable arguments or input."""


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


def argument_parser(file: str, doc: str | None) -> Parser:
    """Return a parser with the options of every opponent, from the `__file__` and `__doc__` of its module."""
    name = f"nonobot.harness.opponents.{Path(file).stem}"
    texts = {"description": inspect.cleandoc(doc or ""), "epilog": _EPILOG.format(program=name)}
    parser = Parser(prog=f"python -m {name}", allow_abbrev=False, **texts)
    size = either("auto", None, size_up_to(_LONGEST_SIDE))
    about = "size of all boards (default: 25x25); auto: square boards, whose size follows from the number of lines"
    parser.add_argument("--size", type=size, default=DEFAULT_SIZE, metavar="WxH|auto", help=about)
    about = "give a puzzle up after S seconds"
    parser.add_argument("--puzzle-limit", type=seconds, default=math.inf, metavar="S", help=about)
    return parser


def serve(solve: Solve, parser: Parser, engine: tuple[str, str] | None = None) -> int:
    """Answer the puzzles on standard input; `engine` is a module that `solve` imports, and its distribution."""
    options = vars(parser.parse_args())
    size, limit_seconds = options.pop("size"), options.pop("puzzle_limit")
    if engine:
        try:
            importlib.import_module(engine[0])
        except ImportError:
            report(missing(parser.prog.rpartition(".")[2], engine[1]))
            return 2
    return answer_all(partial(solve, **options), size, limit_seconds)


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
    sys.setrecursionlimit(_LONGEST_SIDE**2 + 1000)
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
    if not 0 < max(width, height) <= _LONGEST_SIDE:  # --size auto on unreadable text
        return b"$%d\n" % item.number
    is_blank = not isinstance(item, Fault) and not any(map(any, item.puzzle.rows + item.puzzle.columns))
    cells = bytes([is_blank]) * (width * height)
    return format_answer(item.number, Solution.from_bytes(cells, (width, height)))
