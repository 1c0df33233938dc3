"""The options of `nonobot`."""

from __future__ import annotations

import argparse
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
"""The names in `protocol.formats` except the batch; written out, so that no module is loaded for them."""

MOST_JOBS = 1024

_DESCRIPTION = """\
Solve nonograms: puzzles in, from files or in a batch on standard input, answers out on standard output, each as
soon as it is found; on a terminal they are pictures. Every other word goes to standard error."""

_EPILOG = """\
examples:
  nonobot < questions.txt > answers.txt          a tournament set, 25x25, solved in order
  nonobot --size 5x8 < small.txt                 boards of 5 columns and 8 rows
  nonobot --puzzle-limit 10 --log times.txt --stats stats.jsonl < questions.txt > answers.txt
  nonobot puzzle.non                             a puzzle file of any form; on a terminal, a picture
  nonobot --jobs auto < questions.txt            on all cores
  nonobot --solutions 2 < questions.txt          up to two solutions each: is it unique?
  nonobot --watch questions.txt                  see how the first ones are solved
  nonobot --warm-up                              compile now, not when the clock is running

input: '$k' starts puzzle k; then a line for each column, left to right, and a line for each row, top to bottom:
block lengths separated by TAB. A line without black cells is an empty line (or 0).
output: '$k', then a line for each row: 1 black, 0 white, separated by TAB.

exit status: 0 every puzzle read was answered with a solution; 1 some were not (standard error says which and
why); 2 unusable arguments or input."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line; see --help."""

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
            raise argparse.ArgumentTypeError(f"{name!r} is not a stage; there are {', '.join(STAGE_NAMES)}")
    return names


def _parser() -> Parser:
    parser = Parser(prog="nonobot", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    add_version(parser)
    add_completion(parser, _parser)
    parser.add_argument(
        "--warm-up",
        action="store_true",
        help="compile the kernels for boards of --size, keep them on disk, and end",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="use kernels compiled for this very processor, a few per cent faster, and not those that came with "
        "nonobot; needs numba, as $NONOBOT_KERNELS=native does",
    )

    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="puzzle files of any form, solved in their order; - for standard input. Without, the tournaments' "
        "batch on standard input",
    )

    watching = parser.add_argument_group("watching")
    watching.add_argument(
        "--watch",
        type=Path,
        metavar="FILE",
        help="show on the terminal how the puzzles of FILE (any format) are solved: what propagation, probing and "
        "guessing tell, in colours",
    )
    watching.add_argument(
        "--speed",
        type=number(1e-9, 1e9, "a number of moments a second, such as 5"),
        default=20.0,
        metavar="N",
        help="moments a second (default 20); keys + and -",
    )

    parser.add_argument_group("programs").add_argument(
        "--dialogue",
        action="store_true",
        help="answer a program that asks about single boards (solutions, steps, hints), a line of JSON each: "
        "docs/page.md",
    )

    boards = parser.add_argument_group("boards")
    boards.add_argument(
        "--size",
        type=either("auto", "auto", size_up_to(LONGEST_SIDE)),
        metavar="WxH|auto",
        help="width and height of all boards, where their form states none (default: 25x25; of a FILE, auto if "
        "its first board cannot be that); auto: square boards, the size is inferred from the number of lines up "
        "to the next '$', so that an answer comes only after that",
    )
    boards.add_argument(
        "--format",
        choices=("taai", *FILE_FORMATS, "auto"),
        metavar="NAME",
        help="form of the input: taai, the batch described below, solved as it arrives (default of standard "
        f"input); one of the file formats {', '.join(FILE_FORMATS)}; or auto, to tell from the content (default "
        "of a FILE)",
    )

    parser.add_argument_group("cores").add_argument(
        "--jobs",
        type=either("auto", None, whole_number(1, MOST_JOBS)),
        default=1,
        metavar="N|auto",
        help="solve so many puzzles at once, each on a core of its own; answers come in their order all the same "
        "(default 1, as the tournaments' rules want it; auto: as many as there are cores to be had)",
    )

    limits = parser.add_argument_group("limits")
    limits.add_argument("--time-limit", type=seconds, metavar="S", help="stop the whole batch after S seconds")
    limits.add_argument("--puzzle-limit", type=seconds, metavar="S", help="give a puzzle up after S seconds")
    limits.add_argument(
        "--line-limit",
        type=count,
        metavar="N",
        help="give a puzzle up after N painted lines: at the same place on every machine",
    )

    answers = parser.add_argument_group("answers")
    answers.add_argument(
        "--solutions",
        type=count,
        default=1,
        metavar="N",
        help="write up to N solutions of each puzzle, each under a '$k' of its own (default 1); with 2 or more "
        "standard error says whether the puzzle is unique",
    )
    answers.add_argument(
        "--on-unsolved",
        choices=["zeros", "omit", "word"],
        default="zeros",
        help="what stands under the '$k' of a puzzle without a solution: a grid of zeros, so that the answers "
        "after it stay where they belong (default), nothing, or one word: unsolvable, timeout, invalid",
    )

    method = parser.add_argument_group("method")
    method.add_argument(
        "--strategy",
        choices=["champion", "papers"],
        default="champion",
        help="champion: belief propagation and conflict learning (default); papers: probing and backtracking, the "
        "readable reference",
    )
    method.add_argument(
        "--seed", type=int, default=0, metavar="N", help="champion: of the random choices (default 0)"
    )
    method.add_argument(
        "--without",
        type=_stages,
        default=(),
        metavar="STAGE[,STAGE]",
        help=f"champion: leave out stages, to see what they buy: {', '.join(STAGE_NAMES)}",
    )
    method.add_argument(
        "--probing",
        choices=["fp1", "fp2", "fp3"],
        help="papers: the fully probing relation (default fp1, the fastest; see docs/engine.md)",
    )
    method.add_argument(
        "--line-solver",
        choices=["bitset", "recurrence"],
        help="papers: the line kernel; recurrence is the readable reference (default bitset)",
    )

    records = parser.add_argument_group("records")
    records.add_argument(
        "--log", type=Path, metavar="FILE", help="a line '#k<TAB>seconds' for each puzzle, 'total time: ...' last"
    )
    records.add_argument(
        "--stats", type=Path, metavar="FILE", help="a JSON line for each puzzle: status, seconds, counts"
    )
    return parser


def parse(arguments: Sequence[str]) -> Options:
    """Return the options; unusable ones end the process with status 2 and one line with the reason."""
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    if given["strategy"] == "champion" and (given["probing"] or given["line_solver"]):
        parser.error("--probing and --line-solver belong to --strategy papers")
    if given["strategy"] == "papers" and given["without"]:
        parser.error("--without belongs to --strategy champion")
    if given["watch"] and given["jobs"] != 1:
        parser.error("--jobs is for a batch; --watch shows one puzzle after the other")
    if given["watch"] and (given["log"] or given["stats"]):
        parser.error("--log and --stats record a batch; --watch shows a file and records nothing")
    if given["dialogue"] and (given["files"] or given["watch"] or given["warm_up"] or given["jobs"] != 1):
        parser.error("--dialogue reads standard input, and does one thing after the other")
    if given["log"] and given["log"] == given["stats"]:
        parser.error("--log and --stats must be two files")
    if given["watch"] and given["files"]:
        parser.error("--watch shows one file; give no others")
    given["format"] = given["format"] or ("auto" if given["files"] else "taai")
    given["probing"] = given["probing"] or "fp1"
    given["line_solver"] = given["line_solver"] or "bitset"
    return Options(**given)
