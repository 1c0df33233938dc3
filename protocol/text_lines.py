"""Text lines of files: numbered, without white space around them, and limited in number."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

MOST_KEPT = 50_000  # text lines of a puzzle: more than the clues of the largest board need


class TextLine(NamedTuple):
    """A text line of a file: its number, counted from 1, and its text without white space around it."""

    number: int
    text: str


def lines_of(data: bytes) -> Iterator[TextLine]:
    """Yield the text lines of a file; bytes that are not UTF-8 become U+FFFD, which :func:`is_text` finds."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text, 1):
        yield TextLine(number, line.strip())


def keep(kept: list[TextLine], line: TextLine) -> None:
    """Append a text line to a list; of more than the largest board needs, the last one is enough."""
    if len(kept) < MOST_KEPT:
        kept.append(line)
    elif line.text:
        kept[-1] = line
