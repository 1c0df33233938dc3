"""`nonojudge render`: puzzles, solutions and answers as pictures, on the terminal or in a file."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.commands.arguments import Commands, add_size, loaded
from harness.errors import UnusableError
from harness.pictures import SMALLEST_CELL_WITH_CLUES, THEMES, Blocks, png_of, scene_of, sheet_of, svg_of
from harness.pictures.console import BoardConsole, DoesNotFitError
from harness.pictures.drawing import Drawing, drawn_answer, drawn_puzzle, drawn_solution
from protocol import Answer, Fault, Record, read_answers
from protocol.formats import FormatError, read
from tournament_data import Recipe
from tournament_data.recipe import PREFIX
from tournament_data.registry import official_sets

__all__ = ["add_to"]

EXAMPLES = """\
examples:
  nonojudge render questions.txt                                      the first puzzle, on the terminal
  nonojudge render questions.txt --answers answers.txt --number 7     an answer; its wrong lines are marked
  nonojudge render boardgen:25x25x1000:seed=7 --solution --number 1-3
  nonojudge render questions.txt --number 7 -o puzzle.svg --theme dark
  nonojudge render questions.txt --answers answers.txt --number all --no-clues -o sheet.png

On the terminal a board is drawn with whole blocks if it fits, otherwise with half blocks: there the clue of every
second row stands at the right. Colours are left out where NO_COLOR is set or the output is no terminal.
PNG needs Pillow: pip install 'nonobot[pictures]'.

Exit status: 0 everything drawn, right or wrong; 1 a board did not fit the terminal; 2 unusable arguments or input.
"""

SOURCE_HELP = (
    "a puzzle file of any format, a generated set (boardgen:WIDTHxHEIGHTxCOUNT:seed=S) or an official one"
)

CELL, SHEET_CELL, SMALL_CELL = 24, 14, 6
LARGEST_CELL = 200
MOST_CELLS = 4_000_000
"""Of all boards drawn at once."""

EXIT_NOT_ALL = 1


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "render",
        help="draw puzzles and answers: terminal, PNG, SVG",
        description="Draw puzzles, their solutions or the answers of a bot, on the terminal or in a file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("questions", metavar="QUESTIONS", help=SOURCE_HELP)
    cells = parser.add_mutually_exclusive_group()
    cells.add_argument("--answers", metavar="FILE", help="draw the answers in this file; - for stdin")
    cells.add_argument(
        "--solution", action="store_true", help="draw the solutions that the file or generated set has"
    )
    parser.add_argument(
        "--number",
        type=_numbers,
        metavar="K",
        help="which: a number, several as in 1,4,7-9, or all (default: the first puzzle)",
    )
    add_size(parser)
    parser.add_argument("--no-clues", action="store_true", help="the cells alone, as a small picture")
    parser.add_argument("--blocks", choices=["full", "half"], help="on the terminal: what cells are drawn with")
    parser.add_argument(
        "-o", "--out", type=_picture_file, metavar="FILE", help="a .png or .svg file; of several puzzles, a sheet"
    )
    parser.add_argument("--theme", choices=list(THEMES), help="colours of the file (default: light)")
    parser.add_argument(
        "--cell",
        type=_whole(1, LARGEST_CELL),
        metavar="PIXELS",
        help=f"side of a cell in the file (default: {CELL}; on sheets {SHEET_CELL}, without clues {SMALL_CELL})",
    )
    parser.add_argument(
        "--columns", type=_whole(1, 10**6), metavar="N", help="puzzles beside each other on a sheet"
    )
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Draw."""
    _refuse_what_has_no_use(arguments)
    records = _records(arguments.questions, arguments.size)
    chosen = _chosen(records, arguments.number, arguments.questions)
    if arguments.answers:
        answers = _answers(arguments.answers, records)
        drawings = [drawn_answer(one, answers.get(one.number)) for one in chosen]
    elif arguments.solution:
        if not any(one.goal for one in chosen):
            raise UnusableError(
                f"{arguments.questions} has no solution; --answers FILE draws those of an answer file"
            )
        drawings = [drawn_solution(one) for one in chosen]
    else:
        drawings = [drawn_puzzle(one) for one in chosen]
    if arguments.out is None:
        return _show(drawings, arguments.blocks, not arguments.no_clues)
    _write(drawings, arguments)
    return 0


def _refuse_what_has_no_use(arguments: argparse.Namespace) -> None:
    for name in ("theme", "cell", "columns"):
        if arguments.out is None and getattr(arguments, name) is not None:
            raise UnusableError(f"--{name} is about a file: it needs -o FILE.png or -o FILE.svg")
    if arguments.out is not None and arguments.blocks:
        raise UnusableError("--blocks is about the terminal; a file is drawn without it")
    cell = arguments.cell
    if cell is not None and cell < SMALLEST_CELL_WITH_CLUES and not arguments.no_clues:
        raise UnusableError(
            f"--cell {cell}: clues need cells of {SMALLEST_CELL_WITH_CLUES} pixels or more; "
            "--no-clues leaves them out"
        )


def _records(source: str, size: tuple[int, int] | None) -> list[Record]:
    """Return the puzzles of a source; what of a file cannot be read is said on stderr."""
    if source.startswith(PREFIX):
        boards = Recipe.parse(loaded(source, size).name).boards()
        return [Record(puzzle, goal=goal, number=number) for number, (puzzle, goal) in enumerate(boards, 1)]
    if source in official_sets() or not Path(source).is_file():
        return [Record(one.puzzle, number=one.number) for one in loaded(source, size).puzzles]
    records = []
    try:
        with Path(source).open("rb") as file:
            for found in read(file, size=size):
                if isinstance(found, Fault):
                    print(f"nonojudge: {source}: {found}", file=sys.stderr)
                else:
                    records.append(found)
    except (FormatError, OSError) as error:
        raise UnusableError(f"cannot read {source}: {error}") from None
    if not records:
        raise UnusableError(f"{source} has no puzzle that can be drawn")
    return records


def _chosen(records: Sequence[Record], numbers: str | list[range] | None, source: str) -> list[Record]:
    if numbers is None:
        chosen = list(records[:1])
    elif numbers == "all":
        chosen = list(records)
    else:
        known = {one.number for one in records}
        for part in numbers:
            if known.isdisjoint(part):
                asked = f"${part[0]}" if len(part) == 1 else f"${part[0]} to ${part[-1]}"
                raise UnusableError(f"{source} has no puzzle {asked}; it has ${min(known)} to ${max(known)}")
        chosen = [one for one in records if any(one.number in part for part in numbers)]
    if sum(one.puzzle.width * one.puzzle.height for one in chosen) > MOST_CELLS:
        raise UnusableError(f"more than {MOST_CELLS} cells; draw fewer puzzles (--number)")
    return chosen


def _answers(source: str, records: Sequence[Record]) -> dict[int, Answer]:
    """Return the first answer to each puzzle, by its number."""
    sizes = {(one.puzzle.width, one.puzzle.height) for one in records}
    if len(sizes) > 1:
        raise UnusableError(
            "--answers needs puzzles of one size: an answer file does not state the sizes of its grids"
        )
    [(width, height)] = sizes
    found: dict[int, Answer] = {}
    try:
        with contextlib.ExitStack() as files:
            lines = sys.stdin.buffer if source == "-" else files.enter_context(Path(source).open("rb"))
            for answer in read_answers(lines, width, height):
                if answer.number is not None:
                    found.setdefault(answer.number, answer)
    except OSError as error:
        raise UnusableError(f"cannot read the answers {source}: {error.strerror}") from None
    return found


def _show(drawings: Sequence[Drawing], blocks: str | None, clues: bool) -> int:
    """Print every board that fits the terminal; the others are named on stderr."""
    console = BoardConsole()
    status = 0
    for index, (picture, words) in enumerate(drawings):
        try:
            lines = console.lines_of(picture, Blocks(blocks) if blocks else None, clues)
        except DoesNotFitError as problem:
            print(f"nonojudge: {picture.name}: {problem}", file=sys.stderr)
            status = EXIT_NOT_ALL
            continue
        if index:
            print()
        console.show(f"{picture.name}  {picture.width}x{picture.height}", lines, words)
    return status


def _write(drawings: Sequence[Drawing], arguments: argparse.Namespace) -> None:
    """Write the file, and say what is in it."""
    pictures = [drawing.picture for drawing in drawings]
    clues, path = not arguments.no_clues, arguments.out
    if len(pictures) == 1:
        scene = scene_of(pictures[0], arguments.cell or CELL, clues)
    else:
        cell = arguments.cell or (SHEET_CELL if clues else SMALL_CELL)
        scene = sheet_of(pictures, cell, clues, arguments.columns, name=f"{len(pictures)} nonograms")
    theme = THEMES[arguments.theme or "light"]
    data = svg_of(scene, theme).encode() if path.suffix.lower() == ".svg" else png_of(scene, theme)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
    for picture, words in drawings:
        for word in words:
            print(f"{picture.name}: {word}")
    count = "1 puzzle" if len(pictures) == 1 else f"{len(pictures)} puzzles"
    print(f"picture: {path} ({count}, {scene.width}x{scene.height} pixels)")


# Arguments


def _numbers(text: str) -> str | list[range]:
    """Return which puzzles are meant by a text such as `1,4,7-9`."""
    if text == "all":
        return text
    if not re.fullmatch(r"\d{1,18}(-\d{1,18})?(,\d{1,18}(-\d{1,18})?)*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, a list such as 1,4,7-9, or all")
    parts = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        parts.append(range(int(first), int(last or first) + 1))
        if not parts[-1]:
            raise argparse.ArgumentTypeError(f"{part}: the first number is larger than the last")
    return parts


def _picture_file(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".png", ".svg"):
        raise argparse.ArgumentTypeError(f"{text!r} ends neither with .png nor with .svg")
    return path


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number between two others."""

    def read_number(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return read_number
