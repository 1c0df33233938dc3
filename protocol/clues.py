"""Numbers of a clue line, read from text."""

from __future__ import annotations

from nonobot.protocol.faults import Fault, NegativeNumber, NotANumber, TooLargeNumber, ZeroBlock, shown
from nonobot.protocol.puzzle import Clue

__all__ = ["MOST_DIGITS", "clue_from_words"]

MOST_DIGITS = 6
"""Block lengths of more digits are refused before they are converted."""


def clue_from_words(words: list[str]) -> Clue | Fault:
    """Return the clue that `words` spell: no word or a single 0 is the empty clue.

    Returns
    -------
    Clue or Fault
        The fault is without its place.
    """
    if not words:
        return ()
    text = "".join(words)
    if text.isascii() and text.isdigit() and max(map(len, words)) <= MOST_DIGITS:
        clue = tuple(map(int, words))
        if 0 not in clue:
            return clue
        if len(clue) == 1:
            return ()
    return _fault_in(words)


def _fault_in(words: list[str]) -> Fault:
    for word in words:
        digits = word.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return NotANumber(f"clue {shown(word)} is not a number")
        if word != digits:
            return NegativeNumber(f"clue {shown(word)} is negative; block lengths are 1 or more")
        if len(digits) > MOST_DIGITS:
            return TooLargeNumber(f"clue {shown(word)} is longer than any board")
    return ZeroBlock("a 0 beside other block lengths; a 0 alone is an empty clue")
