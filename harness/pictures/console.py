"""Boards on standard output: in colours or not, as wide as there is room."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from nonobot.protocol.characters import Blocks, Line, draw, width_of
from nonobot.protocol.picture import Picture

__all__ = ["BoardConsole", "DoesNotFitError"]

NEEDED_CHARACTERS = "█▀▄│─┼✗·"


class DoesNotFitError(Exception):
    """A board that cannot be drawn here; the message is one line that says why, and what to do."""


class BoardConsole:
    """Standard output, for boards.

    A terminal has a width that boards have to fit; a pipe or a file has none. Colours and other styles are for
    terminals where NO_COLOR is not set, or where FORCE_COLOR is.
    """

    def __init__(self) -> None:
        from rich.console import Console  # only here: other commands do without

        self._console = Console(highlight=False, soft_wrap=True)
        self._size = tuple(self._console.size) if sys.stdout.isatty() else None
        self._has_colours = self._console.color_system is not None and not os.environ.get("NO_COLOR")
        self._has_blocks = _can_encode(NEEDED_CHARACTERS, self._console.encoding)

    def lines_of(self, picture: Picture, blocks: Blocks | None = None, clues: bool = True) -> list[Line]:
        """Return a board drawn as fits here.

        Parameters
        ----------
        picture : Picture
        blocks : Blocks, optional
            Without: whole blocks where the board fits the terminal with them, else half blocks.
        clues : bool

        Raises
        ------
        DoesNotFitError
            If the terminal is too narrow, or cannot show such blocks.
        """
        possible = list(self._possible(picture, blocks))
        drawn = [draw(picture, one, clues) for one in possible]
        if self._size is None:
            return drawn[0]
        columns, lines = self._size
        narrow = [one for one in drawn if width_of(one) <= columns]
        if not narrow:
            raise DoesNotFitError(self._advice(picture, possible[-1], width_of(drawn[-1]), clues))
        # What is too high scrolls, which is better than nothing: of these the lowest, which comes last.
        return next((one for one in narrow if len(one) < lines), narrow[-1])

    def show(self, caption: str, lines: Sequence[Line], words: Iterable[str]) -> None:
        """Print a board with its caption above, and words for people beneath."""
        from rich.text import Text

        self._console.print(Text(self._encodable(caption), "bold"))
        for line in lines:
            self._console.print(Text.assemble(*line))
        for word in words:
            self._console.print(Text(self._encodable(word)))

    def _encodable(self, text: str) -> str:
        """Return a text with a question mark for what the output has no character for; titles have any."""
        encoding = self._console.encoding
        return text.encode(encoding, "replace").decode(encoding)

    def _possible(self, picture: Picture, wanted: Blocks | None) -> Iterable[Blocks]:
        half_problem = None
        if not self._has_blocks:
            half_problem = f"the encoding of the output ({self._console.encoding}) has none"
        elif picture.is_partly_known and not self._has_colours:
            half_problem = "unknown cells differ from white ones by their colour, and there are no colours here"
        if wanted is Blocks.HALF and half_problem:
            raise DoesNotFitError(f"half blocks cannot be drawn: {half_problem}")
        if wanted is not Blocks.HALF:
            yield Blocks.FULL if self._has_blocks else Blocks.ASCII
        if wanted is not Blocks.FULL and not half_problem:
            yield Blocks.HALF

    def _advice(self, picture: Picture, blocks: Blocks, needed: int, clues: bool) -> str:
        assert self._size is not None
        without = width_of(draw(picture, blocks, clues=False))
        less = (
            f", leave out the clues (--no-clues: {without} columns)" if clues and without <= self._size[0] else ""
        )
        return (
            f"the board is {needed} columns wide, the terminal {self._size[0]}: "
            f"widen it{less} or draw a file (-o board.png)"
        )


def _can_encode(characters: str, encoding: str) -> bool:
    try:
        characters.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
