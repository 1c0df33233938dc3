"""Limits of results and journals: no judge writes more than is read, and a stranger's file costs little memory.

A verdict needs about as much memory as bytes. A line, list or table in the rest may need thirty times as much.
"""

from __future__ import annotations

from nonobot.harness import UnusableError
from nonobot.harness.text import megabytes
from nonobot.tournament_data import PuzzleSet
from nonobot.tournament_data.sets import MOST_SET_PUZZLES

MOST_VERDICTS = MOST_SET_PUZZLES
MOST_OTHER_BYTES = 32 << 20  # of a result or a journal besides its verdicts, and of any other JSON document
BYTES_OF_A_VERDICT = 800  # at most, without cells and clues: times, and 40 characters of the bot's text, escaped
MOST_BYTES = 1 << 30  # of a result or a journal: a million verdicts, and the rest


def require_readable(puzzle_set: PuzzleSet) -> None:
    """Raise UnusableError if the result of a run on a set could have more than is read."""
    width, height = puzzle_set.width, puzzle_set.height
    each = BYTES_OF_A_VERDICT + width * height // 4 + 2 * (width + height)  # in hexadecimal; clues in words
    most = (MOST_BYTES - MOST_OTHER_BYTES) // each
    if len(puzzle_set.puzzles) > most:
        size = f"{len(puzzle_set.puzzles):,} puzzles of {width}x{height}"
        limit = megabytes(MOST_BYTES, exact=True)
        raise UnusableError(
            f"{puzzle_set.name}: the result of {size} may have more than {limit}, which no command reads; "
            f"split the set into parts of {most:,} puzzles"
        )


def too_large(what: str, most_bytes: int, part: str = "") -> UnusableError:
    """Return the error about a file with more than `most_bytes`, in all or in a part."""
    return UnusableError(f"cannot read {what}: more than {megabytes(most_bytes, exact=True)}{part}")
