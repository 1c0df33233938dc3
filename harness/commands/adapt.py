"""`nonojudge adapt`: let a program play that reads a puzzle file and prints a picture.

The adapter is a bot. It writes each puzzle to a file, starts the program, and finds the board in its output.
"""

from __future__ import annotations

import argparse
import math
import re

from nonobot.arguments import Parser, seconds
from nonobot.harness import options
from nonobot.harness.adapt.adapter import Adapter, serve
from nonobot.harness.adapt.board_in_text import Signs
from nonobot.harness.solver_bot import Clock, OutOfTimeError, RefusedError
from nonobot.protocol.formats import formats
from nonobot.protocol.verify import mismatches
from nonobot.system import printable, report

EXAMPLES = """\
examples:
  nonojudge adapt --as non --try puzzle.non -- ./pbnsolve {file}      what one puzzle gives
  nonojudge run --set boardgen:10x10x50:seed=1 -- nonojudge adapt --as non -- ./pbnsolve {file}
  nonojudge run --set questions.txt -- nonojudge adapt --as lists -- python3 solve.py
  nonojudge check -- nonojudge adapt --as webpbn -- ./solver --out {output} {file}

{file} becomes the name of the file with the puzzle; without it, the program reads the puzzle from stdin. {output}
becomes the name of a file that the program writes, {output}.json one with this ending; without it, its stdout
counts. The last board in the output is the answer: `#`, `X`, `1`, `*` and blocks against `.`, `-`, `_`, `0` and
spaces, one or two characters a cell, with clues, frames or colours around it; or a list of lists. A board of two
other signs, such as `B` and `W`, counts if it solves the puzzle. The number of black cells shows which sign is
black. The adapter solves nothing (docs/solvers.md).

Exit status: 0 every puzzle has a board, 1 some have none, 2 unusable arguments or input. With --try: 0 the board
solves the puzzle, 1 there is none or it does not.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge adapt --as FORMAT [options] -- PROGRAM ARGS..."
    about = "format of the file, as `nonojudge convert` writes it: %(choices)s"
    names = [form.name for form in formats()]
    parser.add_argument("--as", dest="form", required=True, choices=names, metavar="FORMAT", help=about)
    about = (
        "start the program once, with one file of all puzzles; each board goes to the next puzzle that it solves"
    )
    parser.add_argument("--batch", action="store_true", help=about)
    options.add_size(parser)
    about = "stop the program after S seconds (with --batch: for all puzzles)"
    parser.add_argument("--puzzle-limit", type=seconds, default=math.inf, metavar="S", help=about)
    parser.add_argument("--black", default="", metavar="SIGN", help="sign of a black cell")
    parser.add_argument("--white", default="", metavar="SIGN", help="sign of a white cell")
    about = "regular expression for the text around the board; its first group counts, if it has one"
    parser.add_argument("--pattern", type=_pattern, metavar="REGEX", help=about)
    about = "show the file, the output and the board for the first puzzle of FILE"
    parser.add_argument("--try", dest="tried", metavar="FILE", help=about)


def carry_out(arguments: argparse.Namespace) -> int:
    signs = Signs(arguments.black, arguments.white, arguments.pattern)
    adapter = Adapter(arguments.bot_command, arguments.form, signs)
    try:
        if arguments.tried:
            return _try(adapter, arguments)
        return serve(adapter, arguments.size, arguments.puzzle_limit, arguments.batch)
    finally:
        adapter.close()


def _try(adapter: Adapter, arguments: argparse.Namespace) -> int:
    from nonobot.harness.user_files import loaded

    puzzle = loaded(arguments.tried, arguments.size).puzzles[0].puzzle
    try:
        content = adapter.content([puzzle])
        print(f"--- the file ({arguments.form}):")
        print(_as_text(content.decode()))
        ran = adapter.run(content, Clock(arguments.puzzle_limit))
        print(f"--- the output{ran.end}:")
        print(_as_text(ran.output))
        board = adapter.board_in(ran, puzzle)
    except RefusedError as error:
        report(f"nonojudge: {error} {adapter.hint}")
        return 1
    except OutOfTimeError:
        report(f"nonojudge: the program did not end within {arguments.puzzle_limit:g} s")
        return 1
    print("--- the board:")
    print("\n".join("".join(".#"[cell] for cell in row) for row in board.numbers()))
    wrong = [*mismatches(puzzle, board)]
    if wrong:
        report(f"nonojudge: the board does not solve the puzzle: {wrong[0]}")
    return int(bool(wrong))


def _as_text(content: str) -> str:
    """Return a text without what would change the terminal."""
    return "\n".join(map(printable, content.rstrip("\n").split("\n")))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        place = "" if error.pos is None else f", at its character {error.pos + 1}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression{place}") from None
