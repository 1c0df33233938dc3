"""The environment variables that a bot gets: those that the judge makes, and those that the user gives."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import UnsetType

from nonobot.harness.process.bot_command import interpreter_in, words_after
from nonobot.harness.process.nonobot_command import HOME
from nonobot.system import kernel_cache

PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders in every bot's PATH."""

SCRATCH = "/tmp"  # a sandboxed bot's own folder: its HOME and TMPDIR


def made_environment(
    command: Sequence[str], given: Mapping[str, str] | UnsetType, sandboxed: bool
) -> dict[str, str]:
    """Return the environment that the judge makes for a bot, the same from every terminal, plus the `given`
    variables.

    If the judge was imported through PYTHONPATH, the bot gets that one folder of it.
    """
    made = {
        "PATH": os.pathsep.join(dict.fromkeys([*map(os.path.abspath, _folders_of_programs(command)), *PATH])),
        "HOME": SCRATCH if sandboxed else os.environ.get("HOME"),
        "TMPDIR": SCRATCH if sandboxed else os.environ.get("TMPDIR") or "/tmp",
        "LANG": "C.UTF-8",
        "NONOBOT_CACHE_DIR": str(kernel_cache()),
        "PYTHONPATH": str(HOME) if str(HOME) in os.environ.get("PYTHONPATH", "").split(os.pathsep) else None,
    }
    return {name: value for name, value in made.items() if value is not None} | dict(given or {})


def _folders_of_programs(command: Sequence[str]) -> list[str]:
    """Return those folders of the judge's PATH in which programs of a command were found."""
    named = [command[0], *words_after(command)]
    named += filter(None, map(interpreter_in, [shutil.which(word) or word for word in named]))
    needed = {Path(found).parent for word in named if os.sep not in word and (found := shutil.which(word))}
    return [folder for folder in os.get_exec_path() if folder and Path(folder) in needed]
