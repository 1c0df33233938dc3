"""A puzzle with the texts and boards of its file: the form that every reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from nonobot.protocol.clues import Fault, PuzzleError
from nonobot.protocol.puzzle import PartialGrid, Puzzle, Solution

__all__ = ["TEXT_FIELDS", "Found", "Record", "plain_text"]

TEXT_FIELDS = ("title", "author", "copyright", "license", "catalogue", "description")
"""The fields of a record that are texts for people."""

_JOINERS = "\u200c\u200d"  # part of how Persian or Hindi is spelt, though Python calls them unprintable


def plain_text(text: str | None) -> str | None:
    """Return `text` on one line, without unprintable characters; None if nothing is left.

    Every format can hold such a text, and it cannot harm a terminal.
    """
    if text is None:
        return None
    words = " ".join(text.split())
    if not words.isprintable():
        words = " ".join("".join(c for c in words if c.isprintable() or c in _JOINERS).split())
    return words or None


@dataclass(frozen=True, slots=True)
class Record:
    """A puzzle with the other content of its file; equal where all that is; it prints as a picture.

    Parameters
    ----------
    puzzle : Puzzle
    start : PartialGrid or array_like of int, shape (height, width), optional
        The board that solving starts from: 1 black, 0 white, -1 unknown. It may contradict the clues.
    solution : Solution or array_like of int, shape (height, width), optional
        The author's solution; the puzzle may have others.
    title, author, copyright, license, catalogue, description : str, optional
        Texts, made one line of printable characters (see :func:`plain_text`). `catalogue` is the source of the
        puzzle, such as 'webpbn.com #1'.
    number : int
        The k of `$k`, or the puzzle's place in the file, counted from 1. Not compared.
    line : int
        Line of the input on which the puzzle starts, counted from 1. Not compared.
    file : str
        Name of the file, `-` for standard input; empty where there is only one input. Not compared.
    remarks : tuple of Fault
        Parts of the file that were left out, and where. Not compared.

    A PuzzleError is raised if `start` or `solution` has not the size of the puzzle, or is not such a board.
    """

    puzzle: Puzzle
    start: PartialGrid | None = None
    solution: Solution | None = None
    title: str | None = None
    author: str | None = None
    copyright: str | None = None
    license: str | None = None
    catalogue: str | None = None
    description: str | None = None
    number: int = field(default=1, compare=False)
    line: int = field(default=1, compare=False)
    file: str = field(default="", compare=False)
    remarks: tuple[Fault, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in TEXT_FIELDS:
            text = getattr(self, name)
            if text is not None:
                object.__setattr__(self, name, plain_text(text))
        for name, kind in (("start", PartialGrid), ("solution", Solution)):
            board = getattr(self, name)
            if board is None:
                continue
            if not isinstance(board, kind):
                board = kind(board)
                object.__setattr__(self, name, board)
            if board.size != self.size:
                raise PuzzleError("a {}x{} board for a {}x{} puzzle".format(*board.size, *self.size))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the board."""
        return self.puzzle.size

    def __str__(self) -> str:
        from nonobot.protocol.characters import text_of_board

        heading = " by ".join(text for text in (self.title, self.author) if text)
        return "\n".join([*([heading] if heading else ()), text_of_board(self.puzzle, self.start)])

    def _repr_svg_(self) -> str:
        from nonobot.protocol.svg import svg_of_board

        return svg_of_board(self.puzzle, self.start)


Found = Record | Fault
"""A puzzle, or the fault of one (see :attr:`Fault.is_in_place`)."""
