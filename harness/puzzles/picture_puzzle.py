"""Puzzles of pictures: the options for them, the puzzle, and messages on its solutions."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from nonobot.arguments import Parser, number, seconds, whole_number
from nonobot.harness import UnusableError
from nonobot.harness.pictures.black_white import LARGEST_SIDE
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.grading import Findings, Grading, GradingBot, grading_bot
from nonobot.harness.text import ranges
from nonobot.protocol import Puzzle, Record, Solution
from nonobot.protocol.clues import count, plural
from nonobot.protocol.formats import MOST_BYTES, Format
from nonobot.system import report

if TYPE_CHECKING:  # what needs numpy is imported with a picture, so that formats convert without numpy
    from nonobot.harness.pictures.image_cells import Cells
    from nonobot.harness.puzzles.make_unique import MadeUnique

PICTURE = "picture"  # the name of the format, for `--from`
PUZZLE_SECONDS = 10.0
MOST_TRIES = 1000  # boards to solve before giving up: seconds at 30x30
MOST_SOLUTIONS = 100  # number of solutions to look for, which show the ambiguous cells
MOST_CELLS_OF_SOLUTIONS = 4_000_000  # most cells in all solutions: of large boards, fewer solutions are looked for
MOST_ROWS_NAMED = 3
_OPTIONS = ("width", "height", "threshold", "dither", "invert", "unique", "puzzle_limit", "tries")


def add_options(parser: Parser) -> None:
    """Add the options for pictures."""
    group = parser.group("pictures")
    side = whole_number(1, LARGEST_SIDE)
    group.add_argument("--width", type=side, metavar="N", help="columns of the board (default: by --height)")
    about = "rows of the board (default: by --width; neither: a pixel a cell)"
    group.add_argument("--height", type=side, metavar="N", help=about)
    shades = group.exclusive()
    share = number(0.0, 1.0, "a share of white from 0 to 1, such as 0.5")
    about = "cells darker than this share of white are black (default: the threshold of Otsu's method)"
    shades.add_argument("--threshold", type=share, metavar="SHARE", help=about)
    shades.add_argument("--dither", action="store_true", help="grey as a pattern of dots (Floyd-Steinberg)")
    group.add_argument("--invert", action="store_true", help="swap black and white; transparent parts stay white")
    about = "change few cells of the board until it has a single solution"
    group.add_argument("--unique", action="store_true", help=about)
    about = f"boards that --unique may try (default: {MOST_TRIES})"
    group.add_argument("--tries", type=whole_number(1), metavar="N", help=about)
    about = f"let the bot look for other solutions of a board for S seconds (default: {PUZZLE_SECONDS:g})"
    group.add_argument("--puzzle-limit", type=seconds, metavar="S", help=about)


def refuse_options(arguments: argparse.Namespace, name: str) -> None:
    """Raise UnusableError if an option for pictures is given for another file."""
    for option in _OPTIONS:
        value = getattr(arguments, option)
        if value is not None and value is not False:
            dashed = option.replace("_", "-")
            raise UnusableError(f"--{dashed} only applies to pictures; if {name} is one, add --from {PICTURE}")


def puzzle_of_picture(data: bytes, arguments: argparse.Namespace, name: str, to: Format) -> tuple[Record, bool]:
    """Return the puzzle of an image file, and whether it is unique if that was asked for; report on stderr.

    `name` is the file's name for messages. The title is made from the file name, if the output format can hold
    one. UnusableError if the picture or an option cannot be used.
    """
    if arguments.tries is not None and not arguments.unique:
        raise UnusableError("--tries only applies to --unique")
    if arguments.size is not None:
        raise UnusableError("--size only applies to TAAI files; use --width and --height for a picture")
    cells = _cells(data, arguments, name)
    is_as_wanted = not arguments.unique
    limit = arguments.puzzle_limit or PUZZLE_SECONDS
    height, width = cells.shape
    solutions = max(2, min(MOST_SOLUTIONS, MOST_CELLS_OF_SOLUTIONS // cells.size))
    try:
        with grading_bot(Grading((width, height), solutions=solutions, puzzle_seconds=limit)) as bot:
            if arguments.unique:
                made = _made_unique(cells, bot, arguments.tries or MOST_TRIES)
                cells, is_as_wanted = made.cells, made.unique
                lines = [_changes(made, limit)]
            else:
                findings = bot.findings(Puzzle.from_grid(cells))
                lines = [_solutions(cells, findings, limit)]
                if len(findings.solutions) > 1:
                    lines.append(_hint(arguments.target, to, (width, height)))
    except UnusableError as error:  # the picture is still a puzzle
        lines = [f"cannot tell whether there are other solutions: {error}"]
    for line in lines:
        report(f"{name}: {line}")
    title = Path(arguments.source).stem if "title" in to.holds and arguments.source != "-" else None
    return Record(Puzzle.from_grid(cells), solution=Solution(cells), title=title), is_as_wanted


def _cells(data: bytes, arguments: argparse.Namespace, name: str) -> Cells:
    from nonobot.harness.pictures.image_cells import read_cells

    if len(data) > MOST_BYTES:
        raise UnusableError(f"{name}: more than {MOST_BYTES >> 20} MiB; shrink the picture first")
    options = {option: getattr(arguments, option) for option in _OPTIONS[:5]}
    try:
        image = read_cells(data, **options)
    except UnusableError as error:
        raise UnusableError(f"{name}: {error}") from None
    if image.frames > 1:
        report(f"{name}: warning: it contains {image.frames} pictures; the first is used")
    return image.cells


def _made_unique(cells: Cells, bot: GradingBot, tries: int) -> MadeUnique:
    from nonobot.harness.puzzles.make_unique import make_unique

    with Progress(tries) as progress:
        return make_unique(
            cells,
            bot.findings,
            most_tries=tries,
            on_change=lambda tries, changed, left: progress.show(
                tries,
                f"{count(tries, 'board')} tried, {count(changed, 'cell')} changed, {left} or more not settled",
            ),
        )


def _changes(made: MadeUnique, limit: float) -> str:
    tried = f"{count(made.tries, 'board')} tried, up to {limit:g} s each"
    if not made.unique:
        return f"no unique puzzle found, the board is as it was drawn ({tried}; --tries, --puzzle-limit)"
    if not made.changed:
        return "unique as it was drawn: the clues have no other solution"
    share = f"of {made.cells.size:,}"
    return f"unique with {count(made.changed, 'cell')} {share} changed: the clues have no other solution ({tried})"


def _solutions(cells: Cells, findings: Findings, limit: float) -> str:
    from nonobot.harness.puzzles.make_unique import differing

    number = len(findings.solutions)
    if findings.unique:
        return "unique: the clues have no other solution"
    if number < 2:
        return f"cannot tell within {limit:g} s whether there are other solutions (--puzzle-limit)"
    open_cells = differing(cells, findings)
    where = f"{count(int(open_cells.sum()), 'cell')} not settled: {_places(open_cells)}"
    if findings.complete:
        return f"not unique: {number} solutions; {where}"
    within = "" if findings.in_time else f" within {limit:g} s"
    return f"not unique: {number} solutions or more{within}; at least {where}"


def _places(open_cells: Cells) -> str:
    """Return the first of some cells by row and column, counted from 1."""
    rows = [(y + 1, row.nonzero()[0] + 1) for y, row in enumerate(open_cells) if row.any()]
    named = [
        f"row {y} {plural(len(columns), 'column')} {ranges(columns.tolist(), 5)}"
        for y, columns in rows[:MOST_ROWS_NAMED]
    ]
    left = len(rows) - MOST_ROWS_NAMED
    return "; ".join(named) + (f"; {count(left, 'more row')}" if left > 0 else "")


def _hint(target: str, to: Format, size: tuple[int, int]) -> str:
    change = "--unique changes cells until there is one"
    if target == "-":
        return change
    form = "--format auto" if to.states_size else "--size {}x{}".format(*size)
    return f"{change}; `nonobot {form} --solutions 2 < {shlex.quote(target)}` shows two of them"
