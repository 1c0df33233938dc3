"""The bot of this project, and its judge, as commands."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import nonobot
from nonobot.protocol import DEFAULT_SIZE
from nonobot.tournament_data import PuzzleSet

__all__ = ["HOME", "OWN_BOT", "OWN_JUDGE", "is_own_bot", "own_bot"]

HOME = Path(nonobot.__file__).resolve().parent.parent
"""The folder that `nonobot` is imported from: a clone, or the folder of installed packages."""

OWN_BOT = (sys.executable, "-P", "-m", "nonobot")  # -P: not a nonobot.py that lies in the working folder
OWN_JUDGE = (sys.executable, "-P", "-m", "nonobot.harness")


def own_bot(puzzle_set: PuzzleSet) -> list[str]:
    """Return the command for the boards of a set."""
    size = (puzzle_set.width, puzzle_set.height)
    return [*OWN_BOT, *(["--size", f"{size[0]}x{size[1]}"] if size != DEFAULT_SIZE else [])]


def is_own_bot(command: Sequence[str]) -> bool:
    """Tell whether a command starts this project's bot, by a program that lies where the judge's Python does."""
    program, *words = command
    found = Path(shutil.which(program) or program)
    python = Path(sys.executable)
    if found.parent == python.parent and found.resolve() == python.resolve():
        module = words[1:] if words[:1] == ["-P"] else words
        return module[:2] == ["-m", "nonobot"]
    return found.resolve() == python.with_name("nonobot").resolve()
