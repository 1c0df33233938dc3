"""`nonojudge generate`: question files as the organisers' generator makes them."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import BinaryIO

from harness.commands.arguments import Commands
from harness.errors import UnusableError
from tournament_data import Recipe, write_set
from tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2
from tournament_data.recipe import parse_dimensions, parse_seed

__all__ = ["add_to"]

EXAMPLES = """\
examples:
  nonojudge generate 25x25x1000 --seed 7 -o questions.txt --solutions-out solutions.txt
  nonojudge generate 10x10x5 --seed 1 | nonobot --size 10x10

The files are, byte for byte, those of the tournaments' generator (a Python 2 program) for the same numbers.
A set need not be written to be played: `nonojudge run --set boardgen:25x25x1000:seed=7`.
"""


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "generate",
        help="make a question file as the tournaments' generator does",
        description="Make a question file as the tournaments' generator does: the first puzzle has a share p1 of\n"
        "black cells, the last one p2.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("boards", type=_dimensions, metavar="WxHxN", help="width, height, number of puzzles")
    parser.add_argument("--seed", type=_seed, required=True, metavar="S", help="a whole number of any length")
    parser.add_argument(
        "--p1",
        type=float,
        default=OFFICIAL_P1,
        metavar="P",
        help="share of black cells, first puzzle (%(default)s)",
    )
    parser.add_argument(
        "--p2",
        type=float,
        default=OFFICIAL_P2,
        metavar="P",
        help="share of black cells, last puzzle (%(default)s)",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="where the questions go (default: stdout)")
    parser.add_argument("--solutions-out", type=Path, metavar="FILE", help="where the drawn solutions go")
    parser.set_defaults(carry_out=carry_out)


def _dimensions(text: str) -> tuple[int, int, int]:
    try:
        return parse_dimensions(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seed(text: str) -> int:
    try:
        return parse_seed(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def carry_out(arguments: argparse.Namespace) -> int:
    """Write the files."""
    width, height, count = arguments.boards
    recipe = Recipe(width, height, count, arguments.seed, arguments.p1, arguments.p2)
    try:
        boards = recipe.boards()
    except ValueError as error:
        raise UnusableError(str(error)) from None
    with contextlib.ExitStack() as files:
        questions = _opened(arguments.out, files) if arguments.out else sys.stdout.buffer
        solutions = _opened(arguments.solutions_out, files) if arguments.solutions_out else None
        write_set(boards, questions, solutions)
        questions.flush()
    return 0


def _opened(path: Path, files: contextlib.ExitStack) -> BinaryIO:
    try:
        return files.enter_context(path.open("wb"))
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
