"""What `nonojudge convert` makes of a picture: its options, the puzzle, and what is said about its solutions."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from nonobot.arguments import Parser, number, seconds, whole_number
from nonobot.harness.errors import UnusableError
from nonobot.harness.grading import Findings, GradingBot, grading_bot
from nonobot.harness.make_unique import MOST_TRIES, MadeUnique, differing, make_unique
from nonobot.harness.pictures.image_cells import LARGEST_SIDE, Cells, ImageCells, is_image, read_cells
from nonobot.harness.progress import Progress
from nonobot.harness.text import count, ranges
from nonobot.protocol import Puzzle, Record, Solution
from nonobot.protocol.formats import MOST_BYTES, Format

__all__ = ["PICTURE", "add_options", "is_picture", "puzzle_of_picture", "refuse_options"]

PICTURE = "picture"
"""The name of the format, for `--from`."""

PUZZLE_SECONDS = 10.0
MOST_SOLUTIONS = 100
"""Looked for, to tell which cells are not settled."""

MOST_CELLS_OF_SOLUTIONS = 4_000_000
"""Of large boards fewer are looked for."""

MOST_ROWS_NAMED = 3

_OPTIONS = ("width", "height", "threshold", "dither", "invert", "unique", "puzzle_limit", "tries")


def add_options(parser: Parser) -> None:
    """Add the options that are about pictures."""
    group = parser.add_argument_group("pictures")
    side = whole_number(1, LARGEST_SIDE)
    group.add_argument("--width", type=side, metavar="N", help="columns of the board (default: by --height)")
    group.add_argument(
        "--height", type=side, metavar="N", help="rows of the board (default: by --width; neither: a pixel a cell)"
    )
    shades = group.add_mutually_exclusive_group()
    shades.add_argument(
        "--threshold",
        type=number(0.0, 1.0, "a share of white from 0 to 1, such as 0.5"),
        metavar="SHARE",
        help="cells darker than this share of white are black (default: what divides dark from bright best, by "
        "Otsu's method)",
    )
    shades.add_argument("--dither", action="store_true", help="grey as a pattern of dots (Floyd-Steinberg)")
    group.add_argument("--invert", action="store_true", help="black for white; what is transparent stays white")
    group.add_argument(
        "--unique", action="store_true", help="change few cells of the board until it has a single solution"
    )
    group.add_argument(
        "--tries", type=whole_number(1), metavar="N", help=f"boards that --unique may try (default {MOST_TRIES})"
    )
    group.add_argument(
        "--puzzle-limit",
        type=seconds,
        metavar="S",
        help=f"let the bot look for other solutions of a board for S seconds (default {PUZZLE_SECONDS:g})",
    )


def is_picture(data: bytes, from_format: str | None) -> bool:
    """Tell whether a file is to be read as a picture."""
    return from_format == PICTURE or (from_format is None and is_image(data))


def refuse_options(arguments: argparse.Namespace, name: str) -> None:
    """See that no option is given that is about pictures alone.

    Raises
    ------
    UnusableError
        If one is.
    """
    for option in _OPTIONS:
        value = getattr(arguments, option)
        if value is not None and value is not False:
            dashed = option.replace("_", "-")
            raise UnusableError(f"--{dashed} is about pictures, and {name} is none (--from {PICTURE} if it is)")


@dataclass(frozen=True, slots=True)
class PicturePuzzle:
    """What was made of a picture.

    Attributes
    ----------
    record : Record
    as_wanted : bool
        Whether it has a single solution, if one was asked for.
    """

    record: Record
    as_wanted: bool


def puzzle_of_picture(data: bytes, arguments: argparse.Namespace, name: str, to: Format) -> PicturePuzzle:
    """Return the puzzle of a picture, and say on stderr what is known about its solutions.

    Parameters
    ----------
    data : bytes
        The image file.
    arguments : argparse.Namespace
        With the options of :func:`add_options`.
    name : str
        Of the file, for messages.
    to : Format
        The puzzle gets a title, from the name, if this format can hold one.

    Raises
    ------
    UnusableError
        If there is none.
    """
    if arguments.tries is not None and not arguments.unique:
        raise UnusableError("--tries is about --unique")
    if arguments.size is not None:
        raise UnusableError("--size is about TAAI files; --width and --height make a board of a picture")
    image = _read(data, arguments, name)
    if image.frames > 1:
        print(f"{name}: remark: {image.frames} pictures in it; the first is taken", file=sys.stderr)
    cells, as_wanted = image.cells, not arguments.unique
    limit = arguments.puzzle_limit or PUZZLE_SECONDS
    height, width = cells.shape
    solutions = max(2, min(MOST_SOLUTIONS, MOST_CELLS_OF_SOLUTIONS // cells.size))
    try:
        with grading_bot((width, height), solutions=solutions, puzzle_seconds=limit) as bot:
            if arguments.unique:
                cells, as_wanted = _made_unique(cells, bot, arguments.tries or MOST_TRIES, name, limit)
            else:
                findings = bot.findings(_puzzle(cells))
                print(f"{name}: {_words(cells, findings, limit)}", file=sys.stderr)
                if len(findings.solutions) > 1:
                    print(f"{name}: {_hint(arguments.target, to, (width, height))}", file=sys.stderr)
    except UnusableError as error:  # the picture is a puzzle all the same
        print(f"{name}: cannot tell whether there are other solutions: {error}", file=sys.stderr)
    title = Path(arguments.source).stem if "title" in to.holds and arguments.source != "-" else None
    return PicturePuzzle(Record(_puzzle(cells), solution=Solution(cells), title=title), as_wanted)


def _read(data: bytes, arguments: argparse.Namespace, name: str) -> ImageCells:
    if len(data) > MOST_BYTES:
        raise UnusableError(f"{name}: more than {MOST_BYTES >> 20} MiB; shrink the picture first")
    try:
        return read_cells(
            data,
            width=arguments.width,
            height=arguments.height,
            threshold=arguments.threshold,
            dither=arguments.dither,
            invert=arguments.invert,
        )
    except UnusableError as error:
        raise UnusableError(f"{name}: {error}") from None


def _puzzle(cells: Cells) -> Puzzle:
    return Puzzle.from_grid(cells.astype("uint8"))


def _made_unique(cells: Cells, bot: GradingBot, tries: int, name: str, limit: float) -> tuple[Cells, bool]:
    """Return the board with few cells changed, and whether it has a single solution then; say so."""
    with Progress(tries) as progress:
        done = make_unique(
            cells,
            bot.findings,
            most_tries=tries,
            on_change=lambda tries, changed, left: progress.show(
                tries,
                f"{count(tries, 'board')} tried, {count(changed, 'cell')} changed, {left} or more not settled",
            ),
        )
    print(f"{name}: {_made_unique_in_words(done, limit)}", file=sys.stderr)
    return done.cells, done.unique


def _made_unique_in_words(done: MadeUnique, limit: float) -> str:
    tried = f"{count(done.tries, 'board')} tried, up to {limit:g} s each"
    if not done.unique:
        return f"no unique puzzle found, the board is as it was drawn ({tried}; --tries, --puzzle-limit)"
    if not done.changed:
        return "unique as it was drawn: the clues have no other solution"
    share = f"of {done.cells.size:,}"
    return f"unique with {count(done.changed, 'cell')} {share} changed: the clues have no other solution ({tried})"


def _words(cells: Cells, findings: Findings, limit: float) -> str:
    """Return what is known about the solutions of a board that was drawn."""
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
        f"row {y} column{'s' if len(columns) > 1 else ''} {ranges(columns.tolist(), 5)}"
        for y, columns in rows[:MOST_ROWS_NAMED]
    ]
    left = len(rows) - MOST_ROWS_NAMED
    return "; ".join(named) + (f"; {count(left, 'more row')}" if left > 0 else "")


def _hint(target: str, to: Format, size: tuple[int, int]) -> str:
    """Return what to do about several solutions."""
    change = "--unique changes cells until there is one"
    if target == "-":
        return change
    form = "--format auto" if to.states_size else "--size {}x{}".format(*size)
    return f"{change}; `nonobot {form} --solutions 2 < {shlex.quote(target)}` shows two of them"
