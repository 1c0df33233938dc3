"""The bots of two revisions side by side, each in a copy of the source tree that is gone afterwards.

The judge in both is that of the present tree. The bots are copied, so that edits while the benchmarks run change
nothing, and keep the times of their files: numba's cache goes by these, and by the folder. The compiled kernels of
each lie in the bot's own cache, under a digest of its sources, and stay there for the next time.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import HOME

__all__ = ["Tree", "present_tree", "side_by_side"]

MEASURED = ("bot", "protocol")
JUDGING = ("harness", "tournament_data")
NAME = "nonobot"
"""The folder that gives all rooms their common name: a few modules, and links to the rooms."""

NAME_LENGTH = 12
"""Of both folders: a longer path moves the stack of a process, and with it some times by a few per cent."""


@dataclass(frozen=True)
class Tree:
    """A folder to import `nonobot` from, and what to call it."""

    name: str
    folder: Path


def present_tree() -> Tree:
    """Return the tree that this is a part of, as it is."""
    return Tree("present", HOME)


@contextlib.contextmanager
def side_by_side(revision: str) -> Iterator[tuple[Tree, Tree]]:
    """Have, within the block, the bot of a revision and that of the present tree, with its uncommitted changes.

    Raises
    ------
    UnusableError
        If there is no such revision, or other benchmarks are at it.
    """
    commit = _commit(revision)
    with _workshop() as folder:
        before = folder / commit[:NAME_LENGTH]
        after = folder / "present".ljust(NAME_LENGTH, "_")
        _remove(before, after)  # what a killed one left
        try:
            _extract(commit, before)
            for room in (*MEASURED, NAME):
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(HOME / room, after / room, symlinks=True, ignore=ignored)
            for tree in (before, after):
                for room in JUDGING:
                    (tree / room).symlink_to(HOME / room)
            yield Tree(revision, before), Tree("present", after)
        finally:
            _remove(before, after)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _commit(revision: str) -> str:
    try:
        top = _git("rev-parse", "--show-toplevel").decode().strip()
    except (OSError, subprocess.CalledProcessError):
        top = ""
    if not top or Path(top).resolve() != HOME:
        raise UnusableError(f"--against needs a clone of the repository with git; {HOME} is none")
    try:
        found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except subprocess.CalledProcessError:
        raise UnusableError(f"no revision {revision!r} here; `git log --oneline` lists some") from None
    return found.decode().strip()


def _extract(commit: str, folder: Path) -> None:
    """Write the bot of a commit to `folder`, each file with the time of the commit."""
    named = bool(_git("ls-tree", commit, "--", NAME))
    try:
        archive = _git("archive", "--format=tar", commit, "--", *MEASURED, *([NAME] if named else []))
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip().splitlines()
        raise UnusableError(f"{commit[:NAME_LENGTH]} has no bot to measure: {words[-1]}") from None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    if not named:
        _give_name(folder)
    for module in (HOME / NAME).glob("*.py"):  # what the judge of the present tree needs beside
        if not (folder / NAME / module.name).exists():
            shutil.copy2(module, folder / NAME)


def _give_name(folder: Path) -> None:
    """Put a bot of before the rooms had a common name under that name."""
    shutil.copytree(HOME / NAME, folder / NAME, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.move(folder / "bot" / "__main__.py", folder / NAME / "__main__.py")
    for file in folder.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        when = file.stat().st_mtime
        text = re.sub(r"^( *from |.*load_kernel\(\")(?=(bot|protocol)\b)", rf"\1{NAME}.", text, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (when, when))


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(HOME), *arguments], check=True, capture_output=True).stdout


@contextlib.contextmanager
def _workshop() -> Iterator[Path]:
    """Have, within the block, the folder for trees to oneself; it is always the same, for numba's cache."""
    folder = _workshop_folder()
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnusableError("`nonojudge bench --against` runs already: two would disturb each other") from None
        yield folder


def _workshop_folder() -> Path:
    from nonobot.bot.kernels.cache import cache_folder  # digests all sources of the bot

    kernels = cache_folder()
    if kernels is None:
        raise UnusableError("no folder for compiled kernels can be written; name one with NONOBOT_CACHE_DIR")
    folder = kernels.parent.parent / "bench"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
