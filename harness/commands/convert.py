"""`nonojudge convert`: convert puzzle files between formats, and pictures to puzzles."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options
from nonobot.harness.pictures.black_white import is_image
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.picture_puzzle import PICTURE, add_options, puzzle_of_picture, refuse_options
from nonobot.harness.user_files import opened, report_faults, write_output
from nonobot.protocol import Fault, Record, formats
from nonobot.protocol.clues import FaultKind, count
from nonobot.protocol.formats import Format, FormatError, Found, UnknownFormatError, Written
from nonobot.system import report

EXAMPLES = """\
examples:
  nonojudge convert puzzle.non puzzle.xml
  nonojudge generate 10x10x5 --seed 1 | nonojudge convert - five.xml
  nonojudge convert photo.jpg puzzle.non --width 40 --unique

formats:
{formats}

The content of IN decides its format, the extension of OUT the other. Data that the target format cannot hold (a
title, a start) is dropped, with a warning. cwd, g, grid, hv, mk, nin, nonogrid and pynogram files have one puzzle.
docs/formats.md has an example of each. For a picture, nonobot reports other solutions (docs/pictures.md).

Exit status: 0 every puzzle converted, 1 some not (each is named) or none unique, 2 unusable arguments or input.
"""

OF_NO_PUZZLE = (FaultKind.EXTRA_LINES, FaultKind.STRAY_TEXT)  # faults that cost no puzzle
PICTURE_LINE = (
    "  picture   PNG, JPEG, GIF, PBM, PGM and others that Pillow reads; as IN only: a puzzle of the picture"
)


def add_to(parser: Parser) -> None:
    lines = [f"  {form.name:<8}  {form.description}" for form in formats.formats()]
    parser.epilog = EXAMPLES.format(formats="\n".join(sorted([*lines, PICTURE_LINE])))
    parser.add_argument("source", metavar="IN", help="puzzle file or picture, or - for stdin")
    parser.add_argument("target", metavar="OUT", help="output file, or - for stdout")
    about = "format of IN (default: from its content)"
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help=about)
    about = "format of OUT (default: from its extension)"
    parser.add_argument("--to", dest="to_format", metavar="FORMAT", help=about)
    options.add_size(parser)
    add_options(parser)


def carry_out(arguments: argparse.Namespace) -> int:
    asked = arguments.to_format
    to = _named("--to", asked) if asked else formats.by_extension(arguments.target)
    if to is None:
        raise UnusableError(f"{arguments.target}: the name shows no known format; add --to FORMAT")
    name = "stdin" if arguments.source == "-" else arguments.source
    with opened(arguments.source) as file:
        data = file.read(formats.MOST_BYTES + 1) or b""  # one more than allowed is enough to notice
    entries, is_as_wanted = _found(data, arguments, name, to)
    records = _Records(entries)
    written = records.written(to, name, data.count(b"\n") + 1)
    report_faults(name, records.faults)
    report_faults(name, written.faults)
    faults = [*records.faults, *written.faults]
    _say_grouped(name, [*records.warnings, *written.warnings])
    if not records.count and not records.faults:
        raise UnusableError(f"{name}: cannot find a puzzle")
    done = "nothing written"
    if written.count:
        write_output(Path(arguments.target), written.data, replaces_input=True)
        target = "stdout" if arguments.target == "-" else arguments.target
        done = f"{count(written.count, 'puzzle')} written to {target} ({to.name})"
    lost = sum(fault.kind not in OF_NO_PUZZLE for fault in faults)
    report(f"{done}{f'; {lost} could not be converted' if lost else ''}")
    return 0 if is_as_wanted and not faults else 1


def _found(data: bytes, arguments: argparse.Namespace, name: str, to: Format) -> tuple[Iterable[Found], bool]:
    """Return the puzzles of a file or a picture, and whether they are unique if that was asked for."""
    if arguments.from_format == PICTURE or (arguments.from_format is None and is_image(data)):
        record, is_as_wanted = puzzle_of_picture(data, arguments, name, to)
        return [record], is_as_wanted
    refuse_options(arguments, name)
    return _entries(data, arguments, name), True


class _Records:
    """The records of a file, read one at a time and counted."""

    def __init__(self, entries: Iterable[Found]) -> None:
        self._entries = entries
        self._progress = Progress()
        self.count = 0
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []

    def __iter__(self) -> Iterator[Record]:
        for entry in self._entries:
            if isinstance(entry, Record):
                self.count += 1
                self._progress.show(entry.line, f"{count(self.count, 'puzzle')} read")
                self.warnings += entry.warnings
                yield entry
            else:
                self.faults.append(entry)

    def written(self, to: Format, name: str, lines: int) -> Written:
        """Return them in another format; the number of `lines` in the file is known beforehand."""
        try:
            with Progress(lines) as self._progress:
                return formats.write(self, to.name)
        except FormatError as error:
            raise UnusableError(f"{name}: {error}") from None


def _named(option: str, name: str, more: str = "") -> Format:
    try:
        return formats.format_named(name)
    except FormatError as error:
        raise UnusableError(f"{option}: {error}{more}") from None


def _entries(data: bytes, arguments: argparse.Namespace, name: str) -> Iterator[Found]:
    if arguments.from_format:
        _named("--from", arguments.from_format, f", {PICTURE}")
    try:
        return formats.read(data, arguments.from_format, arguments.size)
    except FormatError as error:
        hint = " (--from names the format)" if isinstance(error, UnknownFormatError) else ""
        raise UnusableError(f"{name}: {error}{hint}") from None


def _say_grouped(name: str, warnings: list[Fault]) -> None:
    """Report what was left out; the same thing, left out of many puzzles, in one line."""
    counts = Counter(warning.message for warning in warnings)
    for warning in warnings:
        same = counts.pop(warning.message, 0)
        if same:
            more = f" (and {same - 1} more like this)" if same > 1 else ""
            report(f"{name}: warning: {warning}{more}")
