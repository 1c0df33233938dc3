"""Git, if installed: the revision of a bot, and the git commands of the judge."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from nonobot.harness.play.bot_command import HOME, is_own_bot, named_by

LONGEST_SECONDS = 5.0  # time for git to report a revision; a large clone on a slow disk then has none


def git(folder: Path, *arguments: str, seconds: float | None = None) -> bytes:
    """Return the output of git in a folder, also within a hook of git; CalledProcessError if git fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["LC_ALL"] = "C"
    # A repository can name programs to run: hooks, and a monitor of files.
    quietly = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    command = ["git", "-C", str(folder), *quietly, *arguments]
    return subprocess.run(
        command,
        check=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        start_new_session=True,  # the judge handles Ctrl-C
    ).stdout


def revision_of(command: Sequence[str]) -> str | None:
    """Return the commit of a bot's clone, with `-dirty` if tracked files were edited; None if unknown.

    The judge asks only its own repository and that of the working folder: git runs programs that a repository's
    configuration names, and a bot may come with such a repository.
    """
    here = Path.cwd()
    ours = {_repository(HOME), _repository(here)} - {None}
    named = [HOME] if is_own_bot(command) else list(named_by(command)) if ours else []
    # The Python that runs a script may be in the environment of another project's clone.
    scripts = [path for path in named if not _in_environment(path)]
    for path in scripts or named:
        if _repository(path) in ours and not (path == HOME and _in_environment(path)):
            folder = path if path.is_dir() else path.parent
            described = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
            try:
                return git(folder, *described, seconds=LONGEST_SECONDS).decode().strip() or None
            except (OSError, ValueError, subprocess.SubprocessError):
                return None
    return None


def _in_environment(path: Path) -> bool:
    return any((one / "pyvenv.cfg").exists() for one in path.parents)


def _repository(path: Path) -> Path | None:
    """Return the folder with git's data to which a path's clone or worktree belongs."""
    for folder in (path, *path.parents):
        data = folder / ".git"
        if data.is_dir():
            return data.resolve()
        if data.is_file():
            try:
                at = (folder / data.read_text(encoding="utf-8").partition("gitdir:")[2].strip()).resolve()
            except (OSError, ValueError):
                return None
            return at.parent.parent if at.parent.name == "worktrees" else at
    return None
