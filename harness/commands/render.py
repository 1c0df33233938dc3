"""`nonojudge render`: draw puzzles, solutions and answers, on the terminal or in a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from nonobot.arguments import Parser, whole_number
from nonobot.harness import UnusableError, options
from nonobot.harness.pictures.drawings import (
    CELL_DEFAULTS,
    Drawing,
    drawn_answer,
    drawn_puzzle,
    drawn_solution,
    first_answers,
    show,
    write,
)
from nonobot.harness.text import from_to
from nonobot.harness.user_files import loaded, opened, report_faults, say_inferred_size
from nonobot.protocol import Fault, Record
from nonobot.protocol.characters import Blocks
from nonobot.protocol.formats import FormatError, Size, read
from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES
from nonobot.protocol.svg import THEMES
from nonobot.system import report
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import PREFIX
from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.sets import PART

EXAMPLES = """\
examples:
  nonojudge render questions.txt                                      the first puzzle, on the terminal
  nonojudge render questions.txt --answers answers.txt --number 7     an answer with its wrong lines marked
  nonojudge render boardgen:25x25x1000:seed=7 --solution --number 1-3
  nonojudge render questions.txt --answers answers.txt --number all --no-clues -o sheet.png

On the terminal, a board is drawn in whole blocks if it fits, otherwise in half blocks, with the clues of every
second row on the right. NO_COLOR, a pipe or a file removes colours (docs/pictures.md).

Exit status: 0 everything was drawn, right or wrong; 1 a puzzle could not be read or does not fit the terminal;
2 unusable arguments or input.
"""

MOST_CELLS = 4_000_000  # largest number of cells of all boards drawn at once


def add_to(parser: Parser) -> None:
    about = "puzzle file of any format, official set, or boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
    parser.add_argument("questions", metavar="QUESTIONS", help=about)
    cells = parser.exclusive()
    cells.add_argument("--answers", metavar="FILE", help="draw the answers of this file; - for stdin")
    cells.add_argument("--solution", action="store_true", help="draw the solutions of the file or generated set")
    about = "puzzles to draw: a number, several as in 1,4,7-9, or all (default: the first)"
    parser.add_argument("--number", type=_numbers, metavar="K", help=about)
    options.add_size(parser)
    parser.add_argument("--no-clues", action="store_true", help="draw the cells only")
    about = "blocks for cells on the terminal (default: what fits)"
    parser.add_argument("--blocks", choices=["full", "half"], help=about)
    about = ".png or .svg file; a sheet for several puzzles"
    parser.add_argument("-o", "--output", type=options.file_ending_in(".png", ".svg"), metavar="FILE", help=about)
    parser.add_argument("--theme", choices=list(THEMES), help="theme of the file (default: light)")
    about = f"size of a cell in the file (default: {CELL_DEFAULTS})"
    parser.add_argument("--cell", type=whole_number(1, 200), metavar="PIXELS", help=about)
    parser.add_argument("--columns", type=whole_number(1, 10**6), metavar="N", help="puzzles per row of a sheet")


def carry_out(arguments: argparse.Namespace) -> int:
    _refuse_what_has_no_use(arguments)
    source = arguments.questions
    entries = _entries(source, arguments.size)
    records, faults = _chosen(entries, arguments.number, source)
    report_faults(source, faults)
    if not records:
        raise UnusableError(f"{source}: nothing that can be drawn")
    drawings, clues = _drawings(records, arguments), not arguments.no_clues
    if arguments.output:
        write(drawings, arguments.output, arguments.theme or "light", arguments.cell, arguments.columns, clues)
    elif not show(drawings, Blocks(arguments.blocks) if arguments.blocks else None, clues):
        return 1
    puzzle_count = sum(isinstance(entry, Record) for entry in entries)
    if arguments.number is None and puzzle_count > 1:
        report(f"{source}: the first of {puzzle_count} puzzles was drawn; --number all draws all")
    return 1 if faults else 0


def _drawings(records: Sequence[Record], arguments: argparse.Namespace) -> list[Drawing]:
    if arguments.answers:
        answers = first_answers(arguments.answers, records)
        return [drawn_answer(record, answers.get(record.number)) for record in records]
    if arguments.solution:
        if not any(record.solution for record in records):
            raise UnusableError(f"{arguments.questions}: no solution in it; --answers FILE draws those of a bot")
        return [drawn_solution(record) for record in records]
    return [drawn_puzzle(record) for record in records]


def _refuse_what_has_no_use(arguments: argparse.Namespace) -> None:
    if arguments.questions == arguments.answers == "-":
        raise UnusableError("stdin can be the questions or the answers, not both")
    of_files = [name for name in ("theme", "cell", "columns") if getattr(arguments, name) is not None]
    if of_files and arguments.output is None:
        raise UnusableError(f"--{of_files[0]} only applies to files; add -o FILE.png or -o FILE.svg")
    if arguments.blocks and arguments.output is not None:
        raise UnusableError("--blocks only applies to the terminal; remove it or -o")
    cell = arguments.cell
    if cell is not None and cell < SMALLEST_CELL_WITH_CLUES and not arguments.no_clues:
        needed = f"clues need cells of {SMALLEST_CELL_WITH_CLUES} pixels or more"
        raise UnusableError(f"--cell {cell}: {needed}; --no-clues leaves them out")


def _entries(source: str, size: Size | None) -> list[Record | Fault]:
    """Return the puzzles of a source, and the faults of those that cannot be read."""
    if source in official_sets() or PART.fullmatch(source):
        return [puzzle.record for puzzle in loaded(source, size).puzzles]
    if source.startswith(PREFIX):
        boards = Recipe.parse(loaded(source, size).name).boards()
        return [Record(puzzle, solution=board, number=number) for number, (puzzle, board) in enumerate(boards, 1)]
    try:
        with opened(source, others=official_sets()) as file:
            entries = list(read(file, size=size))
    except FormatError as error:
        raise UnusableError(f"{source}: {error}") from None
    say_inferred_size(source, (entry for entry in entries if isinstance(entry, Record)))
    return entries


def _chosen(
    entries: Sequence[Record | Fault], wanted: list[range] | None, source: str
) -> tuple[list[Record], list[Fault]]:
    """Return the wanted puzzles, or the first one, and the faults of those that cannot be read."""
    if wanted:
        entries = _wanted(entries, wanted, source)
    records = [entry for entry in entries if isinstance(entry, Record)][: None if wanted else 1]
    faults = [entry for entry in entries if isinstance(entry, Fault)]
    if sum(width * height for width, height in (record.size for record in records)) > MOST_CELLS:
        raise UnusableError(f"more than {MOST_CELLS} cells; draw fewer puzzles (--number)")
    return records, faults


def _wanted(entries: Sequence[Record | Fault], wanted: Sequence[range], source: str) -> list[Record | Fault]:
    """Return the wanted entries, and those without a number; UnusableError if a part of them is not there."""
    numbers = [entry.number for entry in entries if entry.number is not None]
    absent = [part for part in wanted if not any(number in part for number in numbers)]
    if absent and numbers:
        asked, there = (from_to(f"${ends[0]}", f"${ends[-1]}") for ends in (absent[0], sorted(numbers)))
        alone = "" if numbers[1:] else " alone"
        raise UnusableError(f"{source} has no puzzle {asked}; it has {there}{alone}")
    return [entry for entry in entries if entry.number is None or any(entry.number in part for part in wanted)]


def _numbers(text: str) -> list[range]:
    """Return the numbers of puzzles in a text such as `1,4,7-9`."""
    if text == "all":
        return [range(10**18)]
    if not re.fullmatch(r"\d{1,18}(-\d{1,18})?(,\d{1,18}(-\d{1,18})?)*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, a list such as 1,4,7-9, or all")
    parts = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        parts.append(range(int(first), int(last or first) + 1))
        if not parts[-1]:
            raise argparse.ArgumentTypeError(f"{part}: the first number is larger than the last")
    return parts
