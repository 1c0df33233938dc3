"""A puzzle with all that a file or a stream says about it: what every reader hands over."""

from __future__ import annotations

from dataclasses import dataclass, field

from nonobot.protocol.faults import Fault
from nonobot.protocol.puzzle import PartialGrid, Puzzle, Solution

__all__ = ["TEXT_FIELDS", "Found", "Record", "plain_text"]

TEXT_FIELDS = ("title", "author", "copyright", "license", "catalogue", "description")
"""The fields of a record that are texts for people."""

_JOINERS = "\u200c\u200d"  # part of how Persian or Hindi is spelt, though Python calls them unprintable


def plain_text(text: str | None) -> str | None:
    r"""Return `text` on one line, without what cannot be printed; None if nothing is left.

    Every format can hold such a text, and a terminal is safe from it.

    Examples
    --------
    >>> plain_text("  The\n letter  P\x1b ")
    'The letter P'
    """
    if text is None:
        return None
    words = " ".join(text.split())
    if not words.isprintable():
        words = " ".join("".join(c for c in words if c.isprintable() or c in _JOINERS).split())
    return words or None


@dataclass(frozen=True, slots=True)
class Record:
    """One puzzle as it was read; equal where the puzzle and all that is said about it are.

    Parameters
    ----------
    puzzle : Puzzle
    start : PartialGrid, optional
        The board that solving starts from. It may contradict the clues.
    goal : Solution, optional
        The solution that the author had in mind; the puzzle may have others.
    title, author, copyright, license, catalogue, description : str, optional
        Made one line of printable characters (see :func:`plain_text`). `catalogue` says where the puzzle comes
        from, such as 'webpbn.com #1'.
    number : int
        The k of `$k`, or the puzzle's place in the file, counted from 1. Not compared.
    line : int
        Line of the input on which the puzzle starts, counted from 1. Not compared.
    remarks : tuple of Fault
        What of the file was left out, and where. Not compared.

    Raises
    ------
    ValueError
        If `start` or `goal` has not the size of the puzzle.
    """

    puzzle: Puzzle
    start: PartialGrid | None = None
    goal: Solution | None = None
    title: str | None = None
    author: str | None = None
    copyright: str | None = None
    license: str | None = None
    catalogue: str | None = None
    description: str | None = None
    number: int = field(default=1, compare=False)
    line: int = field(default=1, compare=False)
    remarks: tuple[Fault, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in TEXT_FIELDS:
            text = getattr(self, name)
            if text is not None:
                object.__setattr__(self, name, plain_text(text))
        for grid in (self.start, self.goal):
            if grid is not None and grid.size != self.size:
                raise ValueError("a {}x{} board for a {}x{} puzzle".format(*grid.size, *self.size))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the board."""
        return self.puzzle.size


Found = Record | Fault
"""What a reader hands over: a puzzle, or what is wrong with one (see :attr:`Fault.is_in_place`)."""
