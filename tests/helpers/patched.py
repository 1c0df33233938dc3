"""A copy of the house with one change in the bot: tests show that a regression does not stay hidden."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.places import REPOSITORY

LINE_KERNEL = "line.py"
"""The line kernel; those of the strategy `papers` are compiled in a few seconds."""

PAINTS_LESS = (
    "return True, cells & ~may_white, cells & ~may_black",
    "return True, cells & ~may_white, (cells & ~may_black & ~m.one) | white",
)
"""The first cell of a line is never found to be white; the search finds it by probing, and solves all the same."""

SLOW = (
    (
        "from nonobot.bot.kernels.compiling import ",
        "from nonobot.bot.kernels.language import now_ns\nfrom nonobot.bot.kernels.compiling import ",
    ),
    (
        "    cells = (m.one << length) - 1\n",
        "    cells = (m.one << length) - 1\n"
        "    until = now_ns() + 20_000\n    while now_ns() < until:\n        pass\n",
    ),
)
"""Twenty microseconds more a line, and otherwise the same."""


def patched_house(folder: Path, module: str, *changes: tuple[str, str]) -> Mapping[str, str]:
    """Make a copy of the house in `folder`, a module of its bot changed; return the environment to run it in.

    Python that is started in `folder`, or with this environment, imports the copy. Its kernels are compiled into a
    folder of their own.
    """
    shutil.copytree(REPOSITORY / "bot", folder / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "nonobot", folder / "nonobot", symlinks=True)
    for room in ("protocol", "tournament_data", "harness", "tests"):
        (folder / room).symlink_to(REPOSITORY / room)
    path = folder / "bot" / module
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{module} has changed: {old!r} is not there once"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return os.environ | {"PYTHONPATH": str(folder), "NONOBOT_CACHE_DIR": str(folder / "cache")}
