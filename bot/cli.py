"""Command line of `nonobot`: its options, its help, and the combinations that it refuses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nonobot.arguments import (
    Parser,
    add_completion,
    add_version,
    count,
    either,
    integer,
    new_path,
    number,
    seconds,
    size_up_to,
    whole_number,
)
from nonobot.bot import LONGEST_SIDE, STAGE_NAMES

FILE_FORMATS = (
    "cwd", "g", "grid", "hv", "letters", "lists", "mk", "nin", "non", "nonogrid", "oneline", "picross", "pynogram",
    "webpbn",
)  # fmt: skip
"""Names of the formats in `protocol.formats` except the batch; a copy, so that the help loads no format."""

MOST_JOBS = 1024

ABSENT = {"--watch", "--speed", "--completion", "--native", "--warm-up"}
"""Options without use in the executable to hand in: it lacks terminals and compilers, and loads its kernels."""

_DESCRIPTION = """\
Solve nonograms. Puzzles come from files or as a batch on standard input. Each answer goes to
standard output as soon as it is found; a terminal shows it as a picture. Messages go to standard
error."""

_EPILOG = """\
examples:
  nonobot < questions.txt > answers.txt          a tournament set, 25x25, solved in order
  nonobot --size 5x8 < small.txt                 boards of 5 columns and 8 rows
  nonobot --puzzle-limit 10 --log times.txt --stats stats.jsonl < questions.txt > answers.txt
  nonobot puzzle.non                             a puzzle file of any format
  nonobot --jobs auto < questions.txt            solve puzzles on all cores
  nonobot --solutions 2 < questions.txt          find out whether each puzzle is unique
  nonobot --watch questions.txt                  watch the search step by step
  nonobot --warm-up                              compile before a timed run

input: '$k' starts puzzle k. Then come a text line for each column, left to right, and one for each
row, top to bottom: block lengths separated by TAB. The text line of a row or column without black
cells is empty (or 0).
output: '$k', then a text line for each row: 1 black, 0 white, separated by TAB.

exit status: 0 every puzzle was answered with a solution; 1 some puzzles were not (standard error
lists them with the reasons); 2 unusable arguments or input."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line, as `--help` describes them."""

    files: list[str]
    size: tuple[int, int] | Literal["auto"] | None
    format: str
    jobs: int | None
    time_limit: float | None
    puzzle_limit: float | None
    line_limit: int | None
    solutions: int
    on_unsolved: Literal["zeros", "omit", "word"]
    strategy: str
    probing: str
    line_solver: str
    seed: int
    without: tuple[str, ...]
    log: Path | None
    stats: Path | None
    warm_up: bool
    native: bool
    watch: Path | None
    speed: float
    dialogue: bool


def _stages(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in STAGE_NAMES:
            raise argparse.ArgumentTypeError(f"{name!r} is not a stage; choose from {', '.join(STAGE_NAMES)}")
    return names


def _parser() -> Parser:
    parser = Parser(prog="nonobot", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    add_version(parser)
    add_completion(parser, _parser)
    parser.add_argument(
        "--warm-up",
        action="store_true",
        help="compile the kernels for boards of --size, keep them on disk, and exit",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="compile the kernels for exactly this processor instead of loading those installed with nonobot: a "
        "few per cent faster, but needs numba (same as NONOBOT_KERNELS=native in the environment)",
    )

    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="puzzle files of any format, solved in order; - for standard input (default: the tournaments' batch "
        "on standard input)",
    )

    watching = parser.group("watching")
    watching.add_argument(
        "--watch",
        type=Path,
        metavar="FILE",
        help="show on the terminal, step by step, how the puzzles of FILE (any format) are solved; colours show "
        "whether a cell follows from propagation, probing or an assumption",
    )
    watching.add_argument(
        "--speed",
        type=number(1e-9, 1e9, "a number of steps per second, such as 5"),
        default=20.0,
        metavar="N",
        help="show N steps per second; the keys + and - change it (default: 20)",
    )

    parser.group("programs").add_argument(
        "--dialogue",
        action="store_true",
        help="answer requests of a program about single boards (solutions, steps, hints), one text line of JSON "
        "each; docs/page.md describes them",
    )

    boards = parser.group("boards")
    boards.add_argument(
        "--size",
        type=either("auto", "auto", size_up_to(LONGEST_SIDE)),
        metavar="WxH|auto",
        help="width and height of all boards, for formats that do not state them; auto infers the size of square "
        "boards from the number of text lines up to the next '$', so each answer waits for that (default: 25x25; "
        "for a FILE whose first board cannot be 25x25, auto)",
    )
    boards.add_argument(
        "--format",
        choices=("taai", *FILE_FORMATS, "auto"),
        metavar="NAME",
        help="format of the input: taai, the batch described below, solved as it arrives; one of the file formats "
        f"{', '.join(FILE_FORMATS)}; or auto, to detect it from the content (default: taai for standard input, "
        "auto for a FILE)",
    )

    parser.group("cores").add_argument(
        "--jobs",
        type=either("auto", None, whole_number(1, MOST_JOBS)),
        default=1,
        metavar="N|auto",
        help="solve N puzzles in parallel, one per core; answers keep their order; auto uses all available cores "
        "(default: 1, as the tournaments' rules require)",
    )

    limits = parser.group("limits")
    limits.add_argument("--time-limit", type=seconds, metavar="S", help="stop the whole run after S seconds")
    limits.add_argument("--puzzle-limit", type=seconds, metavar="S", help="give up a puzzle after S seconds")
    limits.add_argument(
        "--line-limit",
        type=count,
        metavar="N",
        help="give up a puzzle after N line solves: at the same point of the search on every machine",
    )

    answers = parser.group("answers")
    answers.add_argument(
        "--solutions",
        type=count,
        default=1,
        metavar="N",
        help="write up to N solutions of each puzzle, each under its own '$k'; with 2 or more, report on standard "
        "error whether the puzzle is unique (default: 1)",
    )
    answers.add_argument(
        "--on-unsolved",
        choices=["zeros", "omit", "word"],
        default="zeros",
        help="what to write under the '$k' of a puzzle without a solution: a board of zeros, which keeps the "
        "position of later answers (zeros), nothing (omit), or one of the words unsolvable, timeout, invalid "
        "(word) (default: zeros)",
    )

    method = parser.group("method")
    method.add_argument(
        "--strategy",
        choices=["champion", "papers"],
        default="champion",
        help="method of solving: champion, belief propagation and conflict learning; papers, probing and "
        "backtracking, a readable reference (default: champion)",
    )
    method.add_argument(
        "--seed", type=integer, default=0, metavar="N", help="seed of the random choices of champion (default: 0)"
    )
    method.add_argument(
        "--without",
        type=_stages,
        default=(),
        metavar="STAGE[,STAGE]",
        help=f"leave out stages of champion, to measure their effect: {', '.join(STAGE_NAMES)}",
    )
    method.add_argument(
        "--probing",
        choices=["fp1", "fp2", "fp3"],
        help="fully probing relation of papers; fp1 is the fastest (default: fp1)",
    )
    method.add_argument(
        "--line-solver",
        choices=["bitset", "recurrence"],
        help="line solver of papers; recurrence is a readable reference (default: bitset)",
    )

    records = parser.group("records")
    records.add_argument(
        "--log",
        type=new_path,
        metavar="FILE",
        help="write a text line '#k<TAB>seconds' for each puzzle, and 'total time: ...' at the end",
    )
    records.add_argument(
        "--stats",
        type=new_path,
        metavar="FILE",
        help="write a text line of JSON for each puzzle: status, seconds, counts",
    )
    if not sys.executable:  # the executable to hand in
        _hide_absent(parser)
    return parser


def _hide_absent(parser: Parser) -> None:
    """Leave out of the help what the executable does not contain; such an option still gets its message."""
    for action in parser.actions:
        if ABSENT.intersection(action.option_strings):
            action.help = argparse.SUPPRESS
    lines = [line for line in _EPILOG.splitlines() if ABSENT.isdisjoint(line.split())]
    lines.insert(lines.index(""), f"  {'nonobot --licences':<47}licences of all that this file contains")
    parser.epilog = "\n".join(lines)


def parse(arguments: Sequence[str]) -> Options:
    """Return the options; unusable options exit with status 2 and a text line with the reason."""
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    if given["strategy"] == "champion" and (given["probing"] or given["line_solver"]):
        parser.refuse("--probing and --line-solver only apply to --strategy papers")
    if given["strategy"] == "papers" and given["without"]:
        parser.refuse("--without only applies to --strategy champion")
    if given["watch"] and given["jobs"] != 1:
        parser.refuse("--watch shows one puzzle at a time; remove --jobs")
    if given["watch"] and (given["log"] or given["stats"]):
        parser.refuse("--watch records nothing; remove --log and --stats")
    if given["dialogue"] and (given["files"] or given["watch"] or given["warm_up"] or given["jobs"] != 1):
        others = "files, --watch, --warm-up, --jobs"
        parser.refuse(f"--dialogue only answers requests on standard input; remove {others}")
    if given["log"] and given["log"] == given["stats"]:
        parser.refuse(f"--log and --stats name the same file: {given['log']}; name two files")
    if given["watch"] and given["files"]:
        parser.refuse("--watch shows only its own file; remove the other files")
    given["format"] = given["format"] or ("auto" if given["files"] else "taai")
    given["probing"] = given["probing"] or "fp1"
    given["line_solver"] = given["line_solver"] or "bitset"
    return Options(**given)
