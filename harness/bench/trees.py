"""The bots of two revisions side by side: copies of `bot/` and `protocol/`, gone afterwards.

Both are copied, so that edits while the benchmarks run change nothing, and keep the times of their files: numba's
cache goes by these, and by the folder. The compiled kernels of each lie in the bot's own cache, under a digest of
its sources, and stay there for the next time.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UnusableError

__all__ = ["HERE", "Tree", "present_tree", "side_by_side"]

HERE = Path(__file__).resolve().parent.parent.parent
"""The source tree, or the folder of installed packages, that this is a part of."""

ROOMS = ("bot", "protocol")

NAME_LENGTH = 12
"""Of both folders: a longer path moves the stack of a process, and with it some times by a few per cent."""


@dataclass(frozen=True)
class Tree:
    """A folder with a `bot` and a `protocol`, and what to call it."""

    name: str
    folder: Path


def present_tree() -> Tree:
    """Return the tree that this is a part of, as it is."""
    return Tree("present", HERE)


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
            for room in ROOMS:
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(HERE / room, after / room, dirs_exist_ok=True, ignore=ignored)
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
    if not top or Path(top).resolve() != HERE:
        raise UnusableError(f"--against needs a clone of the repository with git; {HERE} is none")
    try:
        found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except subprocess.CalledProcessError:
        raise UnusableError(f"no revision {revision!r} here; `git log --oneline` lists some") from None
    return found.decode().strip()


def _extract(commit: str, folder: Path) -> None:
    """Write the bot of a commit to `folder`, each file with the time of the commit."""
    try:
        archive = _git("archive", "--format=tar", commit, "--", *ROOMS)
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip().splitlines()
        raise UnusableError(f"{commit[:NAME_LENGTH]} has no bot to measure: {words[-1]}") from None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(HERE), *arguments], check=True, capture_output=True).stdout


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
    from bot.cache import cache_folder  # loads llvmlite

    kernels = cache_folder()
    if kernels is None:
        raise UnusableError("no folder for compiled kernels can be written; name one with NONOBOT_CACHE_DIR")
    folder = kernels.parent.parent / "bench"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
