"""`nonojudge verify`: check an answer file against its question file."""

from __future__ import annotations

import argparse

from nonobot.arguments import Parser
from nonobot.harness.cli import SET_HELP, add_json, add_size
from nonobot.harness.referee import Referee
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.result_files import json_text
from nonobot.harness.results.run_result import VerifyResult
from nonobot.harness.user_files import loaded, opened
from nonobot.protocol import read_answers

EXAMPLES = """\
examples:
  nonojudge verify questions.txt answers.txt
  nonobot < questions.txt | nonojudge verify questions.txt -

Any solution of a puzzle is right, not only the author's. A grid of zeros, one of the words unsolvable, timeout
and invalid, or nothing after `$k` means that the bot gave the puzzle up. The first answer counts. Answers have the
order of the questions, as in the tournaments: a solution after the answer to a later puzzle is out of order and
not right, unless you add --any-order.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.description = "Check an answer file of any program against the clues."
    parser.epilog = EXAMPLES
    parser.add_argument("questions", metavar="QUESTIONS", help=SET_HELP)
    parser.add_argument("answers", metavar="ANSWERS", help="answer file, or - for stdin")
    add_size(parser)
    parser.add_argument("--any-order", action="store_true", help="accept solutions in any order")
    add_json(parser, "the result")
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    puzzle_set = loaded(arguments.questions, arguments.size)
    referee = Referee(puzzle_set, arguments.any_order)
    with opened(arguments.answers, "the answers ") as lines:
        for answer in read_answers(lines, puzzle_set.width, puzzle_set.height):
            referee.take(answer)
    score = referee.score()
    result = VerifyResult(SetFacts.of(puzzle_set), arguments.answers, score)
    if arguments.json:
        print(json_text(result), end="")
    else:
        print("\n".join(result.lines()))
    return 0 if score.all_right else 1
