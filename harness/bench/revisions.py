"""Copies of the source tree: one of another revision and one of the present tree, removed after use.

Each copy is a whole tree, so that a revision runs its own benchmarks with its own bot. The copies keep the times
of the files, because numba's cache depends on these and on the folder. The compiled kernels stay in the bot's
cache, under a digest of its sources, for the next time.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import HOME

__all__ = ["two_trees"]

PACKAGES = ("bot", "protocol", "tournament_data", "harness", "nonobot")

NAME_LENGTH = 12
"""Length of both folders' names: a longer path moves the stack of a process, and some times by a few per cent."""


@contextlib.contextmanager
def two_trees(revision: str) -> Iterator[tuple[Path, Path]]:
    """Provide copies of a revision and of the present tree, with its uncommitted changes, within the block.

    Their folder is always the same one, for numba's cache. UnusableError if there is no such revision, or another
    process uses that folder.
    """
    commit = _commit(revision)
    folder = _workshop_folder()
    before = folder / commit[:NAME_LENGTH]
    after = folder / "present".ljust(NAME_LENGTH, "_")
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnusableError("`nonojudge bench --against` runs already: two would disturb each other") from None
        _remove(before, after)  # the remains of a killed process
        try:
            _extract(commit, before)
            for package in PACKAGES:
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(HOME / package, after / package, symlinks=True, ignore=ignored)
            yield before, after
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
        name = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except subprocess.CalledProcessError:
        raise UnusableError(f"no revision {revision!r} here; `git log --oneline` lists some") from None
    return name.decode().strip()


def _extract(commit: str, folder: Path) -> None:
    """Write the packages of a commit to `folder`, each file with the time of the commit."""
    try:
        archive = _git("archive", "--format=tar", commit, "--", *PACKAGES)
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip().splitlines()
        raise UnusableError(f"{commit[:NAME_LENGTH]} has no benchmarks to measure: {words[-1]}") from None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(HOME), *arguments], check=True, capture_output=True).stdout


def _workshop_folder() -> Path:
    from nonobot.bot.kernels.cache import cache_folder  # this computes the digest of all sources of the bot

    kernels = cache_folder()
    if kernels is None:
        raise UnusableError("no folder for compiled kernels can be written; name one with NONOBOT_CACHE_DIR")
    folder = kernels.parent.parent / "bench"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
