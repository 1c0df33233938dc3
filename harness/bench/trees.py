"""Trees to measure: commits of a clone, written to a folder that only one process uses at a time.

Each tree runs its own benchmarks and bot. Files keep their times, on which numba's cache depends. Compiled kernels
stay in the bot's cache, under a digest of its sources.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from nonobot.harness import UnusableError
from nonobot.harness.process.nonobot_command import HOME, PACKAGES
from nonobot.harness.process.revisions import git
from nonobot.harness.text import last_line

NAME_LENGTH = 12  # of both folders: a longer path moves the stack, which changes some times a little
AS_CHECKED_OUT = "* !export-ignore !export-subst !filter\n"  # attributes that win over those of a commit


@contextlib.contextmanager
def two_trees(revision: str) -> Iterator[tuple[Path, Path]]:
    """Provide copies of a revision and of the present tree within the block; UnusableError if there are none."""
    commit = commit_of(revision, HOME)
    with workshop() as trees:
        before = trees / commit[:NAME_LENGTH]
        after = trees / "present".ljust(NAME_LENGTH, "_")
        extract(commit, HOME, before, PACKAGES)
        ignored = shutil.ignore_patterns("__pycache__")
        for package in PACKAGES:
            shutil.copytree(HOME / package, after / package, symlinks=True, ignore=ignored)
        yield before, after


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """Provide a folder for trees within the block, always the same; UnusableError if another process uses it."""
    folder = _workshop_folder()
    trees = folder / "trees"
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            why = "`nonojudge bench --against` or `bisect` runs already: two would disturb each other"
            raise UnusableError(why) from None
        shutil.rmtree(trees, ignore_errors=True)  # the remains of a killed process
        try:
            trees.mkdir()
            yield trees
        finally:
            shutil.rmtree(trees, ignore_errors=True)


def top_of(folder: Path) -> Path | None:
    """Return the top of the clone that a folder is in, if there is one."""
    top = _answer(folder, "--show-toplevel")
    return Path(top).resolve() if top else None


def _answer(folder: Path, *options: str) -> str:
    """Return what `git rev-parse` prints in a folder; empty if it fails."""
    try:
        return os.fsdecode(git(folder, "rev-parse", *options)).removesuffix("\n")
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit_of(revision: str, repository: Path) -> str:
    """Return the full name of a commit; UnusableError unless the folder is the top of a clone that has it."""
    if shutil.which("git") is None:
        raise UnusableError("another revision needs git, which is not installed: install the package git")
    if top_of(repository) != repository:
        if _answer(repository, "--is-bare-repository") == "true":
            problem = "is bare; clone it"
        elif repository == HOME:
            problem = "is a copy; in your clone of nonobot, install it in place: pip install -e '.[judge]'"
        else:
            problem = "is not in one; go to the clone of the bot"
        raise UnusableError(f"another revision needs a git clone, and {repository} {problem}")
    by_name = ("--verify", "--quiet", "--end-of-options")
    name = _answer(repository, *by_name, f"{revision}^{{commit}}")
    if not name and (other := _answer(repository, *by_name, revision)):
        kind = git(repository, "cat-file", "-t", other.removeprefix("^")).decode().strip()
        raise UnusableError(f"{revision!r} is a {kind}; name a commit")
    if not name and not git(repository, "rev-list", "--all", "-n", "1"):
        raise UnusableError(f"{repository} has no commits yet; commit the bot first")
    if not name:
        hint = shallow_hint(repository)
        raise UnusableError(f"no revision {revision!r} here; `git log --oneline` lists them{hint}")
    if name.startswith("^"):
        raise UnusableError(f"{revision} is a range; name one revision")
    return name


def shallow_hint(repository: Path) -> str:
    """Return what to do about a commit that is missing, if the clone is shallow; otherwise nothing."""
    if _answer(repository, "--is-shallow-repository") != "true":
        return ""
    return f"; {repository} is a shallow clone: git fetch --unshallow"


def extract(commit: str, repository: Path, folder: Path, paths: Sequence[str] = ()) -> None:
    """Write these folders of a commit, or all of it, to `folder`, each file with the time of the commit.

    The files are those of a checkout, except that git runs no filters, which the repository's configuration names.
    """
    paths_of = ("--path-format=absolute", "--git-path", "objects", "--git-path", "config")
    facts = git(repository, "rev-parse", commit, "--show-object-format", *paths_of)
    name, object_format, objects, configuration = os.fsdecode(facts).splitlines()
    with tempfile.TemporaryDirectory(prefix="nonojudge-") as bare:
        git(Path(bare), "init", "-q", "--bare", "--template=", f"--object-format={object_format}", GIT_DIR=bare)
        git(Path(bare), "config", "include.path", configuration, GIT_DIR=bare)  # it may convert ends of lines
        Path(bare, "info").mkdir()
        Path(bare, "info", "attributes").write_text(AS_CHECKED_OUT)
        try:
            written = ("archive", "--format=tar", name, "--", *paths)
            archive = git(Path(bare), *written, GIT_DIR=bare, GIT_OBJECT_DIRECTORY=objects)
        except subprocess.CalledProcessError as error:
            why = f"lacks what is to be measured: {last_line(error.stderr)}"
            raise UnusableError(f"{commit[:NAME_LENGTH]} {why}") from None
    folder.mkdir(parents=True)
    # Not by tarfile: the filter that makes it safe came with Python 3.11.4, and refuses links that git checks out.
    unpack = ["tar", "-x", "-f", "-", "-C", str(folder)]
    unpacked = subprocess.run(unpack, input=archive, capture_output=True, start_new_session=True)
    if unpacked.returncode:
        raise OSError(f"cannot unpack {commit[:NAME_LENGTH]} into {folder}: {last_line(unpacked.stderr)}")


def _workshop_folder() -> Path:
    from nonobot.bot.kernels.cache import cache_folder  # this computes the digest of all sources of the bot

    kernels = cache_folder()
    if kernels is None:
        raise UnusableError("no folder for compiled kernels can be written; name one with NONOBOT_CACHE_DIR")
    folder = kernels.parent.parent / "bench"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
