"""Numbers, names and tables for people: one form of a time, a share or a count; lines on stderr (`say`)."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from nonobot.protocol.puzzle import plain_text
from nonobot.system import end_of, report, shortened

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# Functions import rich where they use it: the import takes long, and most functions do without it.

NOTHING = "\N{EN DASH}"  # an unknown or missing value
SYNTAX_ERRORS = ("SyntaxError: ", "IndentationError: ", "TabError: ")
MOST_OF_A_LINE = 200  # characters of a program's line that are shown


def say(line: str | None, quiet: bool = False) -> None:
    """Print a line of the command on stderr, unless it is None or the command is quiet."""
    if line and not quiet:
        first, *others = line.split("\n  ")  # only a list has further lines, which are indented
        for part in (f"nonojudge: {first}", *(f"  {other}" for other in others)):
            report(shortened(part))


def say_left_out(problems: Iterable[str]) -> None:
    """Print a line on stderr for each file that cannot be read."""
    for problem in problems:
        say(f"left out: {problem}")


def last_line(data: bytes) -> str:
    """Return the last line of a program's output that is not blank, printable and of limited length.

    Python's line about a syntax error comes with the place, which stands two or three lines before.
    """
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", data.decode("utf-8", "replace"))  # colours and the like
    lines = filter(None, map(plain_text, reversed(text.splitlines())))
    last = next(lines, "")
    before = islice(lines, 3) if last.startswith(SYNTAX_ERRORS) else ()
    place = next((line for line in before if re.fullmatch(r'File ".*", line \d+', line)), "")
    return shortened(f"{last} ({place})" if place else last, MOST_OF_A_LINE)


def last_line_of(path: Path) -> str:
    """Return the last line of a file, as :func:`last_line` does; empty if it cannot be read."""
    with contextlib.suppress(OSError):
        return last_line(end_of(path, 1 << 16))
    return ""


_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


def ordinal(number: int) -> str:
    """Return the ordinal of a number from 1 on, such as `third` or `21st`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number // 10 % 10 == 1 else ending}"


_UNITS = (("s", 1.0), ("ms", 1e-3), ("\N{MICRO SIGN}s", 1e-6), ("ns", 1e-9))


def duration(seconds: float) -> str:
    """Return a time with three digits and the unit that suits it, such as `72.5 s` or `7.30 ms`."""
    if seconds <= 0:  # no clock here has a finer resolution
        return "< 0.1 ms"
    name, unit = next((pair for pair in _UNITS if seconds >= 0.9995 * pair[1]), _UNITS[-1])
    value = seconds / unit
    return f"{value:,.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {name}"


def in_unit(value: float | None, unit: float, digits: int) -> str:
    """Return `value` as a number of `unit`, for a column that names the unit."""
    return NOTHING if value is None else f"{value / unit:,.{digits}f}"


def percent(share: float) -> str:
    """Return `share` in percent, with as many digits as are significant."""
    value = share * 100
    return f"{value:.0f}%" if abs(value - round(value)) < 1e-9 or abs(value) >= 100 else f"{value:.1f}%"


MEBIBYTE = 1 << 20  # the M of `--memory-limit`, and the unit of memory in tables


def megabytes(size: int | None, exact: bool = False) -> str:
    """Return a number of bytes in the units that `--memory-limit` reads, as in `1.2 GiB`; a limit is `exact`."""
    if size is None:
        return "none"
    for unit, name in ((MEBIBYTE << 10, "GiB"), (MEBIBYTE, "MiB"), (1 << 10, "KiB")):
        if size >= unit and not (exact and size % unit):
            return f"{size / unit:.{1 if name == 'GiB' and not exact else 0}f} {name}"
    return f"{size} bytes"


def ranges(numbers: Sequence[int], most: int = 12) -> str:
    """Return ascending numbers with neighbours joined, as in `3, 7-12`; after `most` parts they are counted."""
    runs = [
        [number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}\N{EN DASH}{run[-1]}" for run in runs]
    left = sum(map(len, runs[most:]))
    return ", ".join(parts[:most]) + (f" and {left:,} more" if left else "")


def first_of(texts: Sequence[str], most: int) -> str:
    """Return up to `most` of `texts` joined by commas, and the number of the others, as in `a, b and 3 more`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def applying(texts: Mapping[str, object]) -> list[str]:
    """Return the texts whose value is true."""
    return [text for text, applies in texts.items() if applies]


def from_to(first: str, last: str) -> str:
    """Return two ends as in `$3 to $7`, or the one if they are the same."""
    return " to ".join(dict.fromkeys((first, last)))


GAP = 2  # blanks between the columns of a table
NAME_COLUMNS = 12  # least width of a column of longer names
MOST_COLUMNS = 10_000  # that a table could take


def on_terminal(file: TextIO | None = None) -> bool:
    """Return whether a file (default: stdout) is a terminal that can do more than print."""
    return (file or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def width(terminal: bool) -> int:
    """Return the number of columns: 160 if the output is not a terminal."""
    if not terminal:
        return 160
    from rich.console import Console

    return Console().width


def new_table(headers: Sequence[str] = (), left: Container[int] = (0,), no_wrap: bool = False) -> Table:
    """Return a table without lines; the columns at the places `left` are aligned left, the others right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="left" if place in left else "right", no_wrap=no_wrap)
    return table


def styled(text: str, style: str = "") -> Text:
    """Return `text` as a part of a page: escaped, in a style, its brackets kept, very long text shortened."""
    from rich.text import Text

    return Text(shortened(text), style)


def spaced(*blocks: Sequence[RenderableType]) -> list[RenderableType]:
    """Return the parts of all `blocks` with an empty line between two; a block without parts is left out."""
    return [part for block in filter(None, blocks) for part in ("", *block)][1:]


def drawn(parts: Iterable[RenderableType], terminal: bool, columns: int | None = None) -> str:
    """Return `parts` one below the other; in colour if `terminal` is true and NO_COLOR is not set.

    They are as wide as the output, unless it is a number of `columns`. A table is wider where its figures need it.
    """
    from rich.console import Console, ConsoleDimensions
    from rich.table import Table

    columns = columns or width(terminal)
    text = io.StringIO()
    colours: Literal["auto"] | None = "auto" if terminal else None
    console = Console(file=text, force_terminal=terminal, color_system=colours)
    for part in parts:
        needed = max(columns, _least_width(part, console) if isinstance(part, Table) else 0)
        console.size = ConsoleDimensions(needed, 1)  # with its height: a dumb terminal has 80 columns otherwise
        console.print(part, crop=False)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _least_width(table: Table, console: Console) -> int:
    """Return the width that a table needs for its figures and the beginnings of its names, and let it keep them.

    A narrower terminal breaks the lines of the table.
    """
    from rich.text import Text

    unlimited = console.options.update_width(MOST_COLUMNS)
    for column in table.columns:
        header = console.measure(column.header, options=unlimited)
        needed = [header.maximum if column.no_wrap else header.minimum]
        needed += [console.measure(cell, options=unlimited).maximum for cell in column.cells]
        column.min_width = max(needed) if column.justify == "right" else min(max(needed), NAME_COLUMNS)
        if column.no_wrap and column.justify == "left":
            column.no_wrap = False  # rich makes such columns narrower before the others
            for text in (column.header, *column.cells):
                if isinstance(text, Text):
                    text.no_wrap = True
    return sum((column.min_width or 0) + GAP for column in table.columns)
