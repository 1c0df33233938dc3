"""Numbers, times and lists as the page writes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

__all__ = ["clean", "count", "duration", "megabytes", "ranges", "seconds", "shortened"]


def clean(text: str) -> str:
    """Return text from outside with every control character replaced: it can hide nothing and break no page."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def count(number: int, what: str) -> str:
    """Return a number of things, as in `1 puzzle`, `1,000 puzzles`."""
    return f"{number:,} {what if number == 1 else what + 's'}"


def duration(time: float) -> str:
    """Return a time in seconds in three digits or more, with a unit that suits it: `1.25 ms`, `72.5 s`."""
    milliseconds = time * 1000
    return f"{_digits(milliseconds)} ms" if milliseconds < 999.5 else f"{_digits(time)} s"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


def seconds(time: float) -> str:
    """Return a time in seconds for a column of a table: to the millisecond."""
    return f"{time:,.3f}"


def megabytes(size: int) -> str:
    """Return a size in bytes as megabytes or gigabytes."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def ranges(numbers: Sequence[int], most: int = 12) -> str:
    """Return ascending numbers with neighbours joined, as in `3, 7-12`; after `most` parts they are counted."""
    runs = [
        [number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}\N{EN DASH}{run[-1]}" for run in runs]
    left = sum(map(len, runs[most:]))
    return ", ".join(parts[:most]) + (f" and {left:,} more" if left else "")


def shortened(name: str, limit: int = 24) -> str:
    """Return a name cut to fit beside an axis."""
    return name if len(name) <= limit else name[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
