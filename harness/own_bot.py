"""The bot of this project, as a command."""

from __future__ import annotations

import sys

from protocol import DEFAULT_SIZE
from tournament_data import PuzzleSet

__all__ = ["OWN_BOT", "own_bot"]

OWN_BOT = (sys.executable, "-P", "-m", "bot")  # -P: not a bot.py that lies in the working folder


def own_bot(puzzle_set: PuzzleSet) -> list[str]:
    """Return the command for the boards of a set."""
    size = (puzzle_set.width, puzzle_set.height)
    return [*OWN_BOT, *(["--size", f"{size[0]}x{size[1]}"] if size != DEFAULT_SIZE else [])]
