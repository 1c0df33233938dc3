"""Tables and lines as text: for a terminal, in its width and with colour unless NO_COLOR is set, or for a file."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["GAP", "drawn", "new_table", "on_terminal", "width"]

# rich is imported where it is used: that takes longer than to write the forms that do without it.

WIDTH_OF_FILES = 160
"""Columns of text that goes to no terminal."""

GAP = 2
"""Blanks between the columns of a table."""


def on_terminal() -> bool:
    """Return whether stdout is a terminal that can do more than print."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def width(terminal: bool) -> int:
    """Return how many columns there are."""
    if not terminal:
        return WIDTH_OF_FILES
    from rich.console import Console

    return Console().width


def new_table() -> Table:
    """Return a table without lines, still without columns."""
    from rich.table import Table

    return Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")


def drawn(parts: Iterable[RenderableType], terminal: bool) -> str:
    """Return `parts`, one below the other, without blanks at the ends of lines."""
    from rich.console import Console

    text = io.StringIO()
    colours: Literal["auto"] | None = "auto" if terminal else None
    console = Console(file=text, width=width(terminal), force_terminal=terminal, color_system=colours)
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
