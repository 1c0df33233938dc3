"""A nonogram bot for tournaments, with a judge, puzzle data and measuring tools.

The public API for programs is what `__all__` names (see docs/python.md). Python loads it at the first use of a
name, because the commands import this module too. Type checkers and editors read `__init__.pyi` in its place.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

__version__ = "1.1.0"

__all__ = [
    "Check",
    "Difficulty",
    "Hint",
    "Puzzle",
    "PuzzleError",
    "Record",
    "Result",
    "Solution",
    "Step",
    "check",
    "count",
    "difficulty",
    "draw",
    "generate",
    "hint",
    "read",
    "read_lazily",
    "solutions",
    "solve",
    "solve_all",
    "steps",
    "write",
]


class _LinkedFolders:
    """Import finder that imports from the real folder in a clone, where `nonobot/bot` is a link to `bot/`.

    An installed package has real folders and does without it.

    Debuggers and coverage identify code by its file name, which is then `bot/cli.py` and not `nonobot/bot/cli.py`.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        if path is __path__ and os.path.islink(link := f"{__path__[0]}/{name.rpartition('.')[2]}"):  # noqa: PTH114
            return PathFinder.find_spec(name, [os.path.dirname(os.path.realpath(link))])  # noqa: PTH120
        return None


if any(os.path.islink(f"{folder}/bot") for folder in __path__):  # noqa: PTH114
    sys.meta_path.insert(0, _LinkedFolders)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nonobot import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
