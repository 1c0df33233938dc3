"""The command line of every opponent: its options and help; refuses to start without the library of its engine.

An opponent is a function `solve(puzzle, clock, **options)`; `nonobot.harness.solver_bot` makes a bot of it.
"""

from __future__ import annotations

import importlib
import inspect
import math
from functools import partial
from pathlib import Path

from nonobot.arguments import Parser, either, missing, seconds, size_up_to
from nonobot.harness.solver_bot import LONGEST_SIDE, Solve, answer_all
from nonobot.protocol import DEFAULT_SIZE
from nonobot.system import report

_EPILOG = """\
example:
  python -m {program} --size 5x8 --puzzle-limit 10 < small.txt > answers.txt

input: '$k' starts puzzle k; then a line for each column, left to right, and a line for each row, top to bottom:
block lengths separated by TAB. A line without black cells is an empty line (or 0).
output: '$k', then a line for each row: 1 black, 0 white, separated by TAB; zeros alone for a puzzle that was not
solved (standard error reports the reason).

exit status: 0 every puzzle read was answered with a solution; 1 some were not; 2 unusable arguments or input."""


def argument_parser(file: str, doc: str | None) -> Parser:
    """Return a parser with the options of every opponent, from the `__file__` and `__doc__` of its module."""
    name = f"nonobot.harness.opponents.{Path(file).stem}"
    texts = {"description": inspect.cleandoc(doc or ""), "epilog": _EPILOG.format(program=name)}
    parser = Parser(prog=f"python -m {name}", allow_abbrev=False, **texts)
    size = either("auto", None, size_up_to(LONGEST_SIDE))
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
