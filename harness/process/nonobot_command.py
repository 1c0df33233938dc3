"""The commands of nonobot and of its judge; whether a bot's command starts nonobot, and nonobot's warm-up."""

from __future__ import annotations

import compileall
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import nonobot
from nonobot.harness.process.paths import real_path
from nonobot.protocol import DEFAULT_SIZE
from nonobot.tournament_data import PuzzleSet

HOME = Path(nonobot.__file__).resolve().parent.parent  # folder of `nonobot`: a clone, or installed packages
PACKAGES = ("bot", "protocol", "tournament_data", "harness", "nonobot")  # folders of the project in HOME
OWN_BOT = (sys.executable, "-P", "-m", "nonobot")  # -P: ignore a nonobot.py in the working folder
OWN_JUDGE = (sys.executable, "-P", "-m", "nonobot.harness")


def own_bot(puzzle_set: PuzzleSet) -> list[str]:
    """Return the command of nonobot for the boards of a set."""
    size = (puzzle_set.width, puzzle_set.height)
    return [*OWN_BOT, *(["--size", f"{size[0]}x{size[1]}"] if size != DEFAULT_SIZE else [])]


def own_arguments(command: Sequence[str]) -> list[str] | None:
    """Return the arguments of nonobot if a command starts it as the judge does, otherwise None.

    That is `OWN_BOT`, or the program `nonobot` in the folder of the judge's Python. Such a bot runs like any other
    and is trusted no more: its environment may change what it imports.
    """
    named, *arguments = command
    program, python = Path(shutil.which(named) or named), Path(sys.executable)
    if program.parent == python.parent and real_path(program) == real_path(python):
        _, *start = OWN_BOT
        return arguments[len(start) :] if arguments[: len(start)] == start else None
    return arguments if real_path(program) == real_path(python.with_name("nonobot")) else None


def is_own_bot(command: Sequence[str]) -> bool:
    """Return whether a command starts nonobot as the judge does."""
    return own_arguments(command) is not None


def own_warm_up(arguments: Sequence[str]) -> list[str]:
    """Return the command with which the judge warms up its own nonobot, for a bot with these arguments.

    What it compiles, every later `nonobot` runs. So it imports the modules that the judge imports, and nothing of
    a bot's, of the working folder or of the environment; numba would read its configuration in the working folder.
    """
    path = [folder for folder in sys.path if Path(folder).is_absolute()]
    program = (
        f"import os, sys; os.chdir('/'); sys.path[:] = {[*path, str(HOME)]!r}; "
        "from nonobot.__main__ import command; command()"
    )
    return [sys.executable, "-I", "-c", program, "--warm-up", *arguments]


def compile_modules() -> None:
    """Compile the modules of nonobot to bytecode: in a sandbox nonobot would do so at every start."""
    package = Path(nonobot.__file__).parent
    for folder in (package, package / "bot", package / "protocol"):
        compileall.compile_dir(folder.resolve(), quiet=2)
