"""`nonojudge verify`: check an answer file against its question file.

The answers may be those of any program; only the clues decide.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.file_limits import require_readable
from nonobot.harness.results.referee import score_of_file
from nonobot.harness.results.result_files import json_text
from nonobot.harness.results.run_result import VerifyResult
from nonobot.harness.results.run_text import verify_lines
from nonobot.harness.user_files import loaded, write_output
from nonobot.tournament_data import PuzzleSet, SetError, load_set

EXAMPLES = """\
examples:
  nonojudge verify questions.txt answers.txt
  nonobot < questions.txt | nonojudge verify questions.txt -
  nonojudge verify questions.txt answers.txt -o checked.json      for nonojudge table

Any solution of a puzzle is right, not only the author's. A grid of zeros, one of the words unsolvable, timeout
and invalid, or nothing after `$k` means that the bot gave the puzzle up. The first answer counts. A solution after
the answer to a later puzzle is out of order and not right, unless you add --any-order. A puzzle of the question
file that cannot be read does not count, with a warning.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.add_argument("questions", metavar="QUESTIONS", help=options.SET_HELP)
    parser.add_argument("answers", metavar="ANSWERS", help="answer file, or - for stdin")
    options.add_size(parser)
    options.add_terms(parser, "any_order", default=False)
    about = "also write the result as JSON, for nonojudge table; - is stdout alone"
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=about)
    options.add_flags(parser, "json")


def carry_out(arguments: argparse.Namespace) -> int:
    puzzle_set = _questions(arguments)
    output = arguments.output or (Path("-") if arguments.json else None)
    if output:
        require_readable(puzzle_set)
    score = score_of_file(puzzle_set, arguments.answers, arguments.any_order)
    result = VerifyResult(SetFacts.of(puzzle_set), arguments.answers, score)
    if output:
        write_output(output, json_text(result).encode())
    if not arguments.json and str(output) != "-":
        print("\n".join(verify_lines(result)))
    return 0 if score.all_right else 1


def _questions(arguments: argparse.Namespace) -> PuzzleSet:
    """Return the set of the questions; UnusableError, which names swapped arguments, if there is none."""
    try:
        return loaded(arguments.questions, arguments.size)
    except UnusableError:
        if Path(arguments.questions).is_file() and os.access(arguments.questions, os.R_OK):
            with contextlib.suppress(SetError):
                load_set(arguments.answers, arguments.size)
                why = f"{arguments.questions} has no questions, but {arguments.answers} has; swap them"
                raise UnusableError(f"{why}: nonojudge verify QUESTIONS ANSWERS") from None
        raise
