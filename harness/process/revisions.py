"""The revision of a bot, read from git's data without git, and the git commands of the judge in its own clone."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nonobot.harness.process.bot_command import KERNEL_FOLDERS, leads_out, named_by
from nonobot.harness.process.nonobot_command import HOME, PACKAGES, is_own_bot
from nonobot.harness.process.paths import is_in, real_path

LONGEST_SECONDS = 5.0  # time for git to report a revision; a large clone on a slow disk then has none
MOST_BYTES = 4 << 20  # largest list of packed branches and tags to read: 60,000 of them
MOST_NAME_BYTES = 4096  # largest file that names a folder, a branch or a commit: Linux knows no longer path


def git(folder: Path, *arguments: str, seconds: float | None = None, **variables: str) -> bytes:
    """Return the output of git in a folder, also within a hook of git; CalledProcessError if git fails.

    A repository's configuration can name programs, and git runs them. So the folder must be in the judge's own
    clone, or in one whose code the user asked the judge to run.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", **variables}
    # Even a trusted repository shall start none of its programs: hooks, and a monitor of files.
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


def git_in_own_clone(*arguments: str) -> bytes:
    """Return the output of git in the clone that the judge was loaded from; OSError if that was none.

    The judge is perhaps installed in a folder of another clone, on which git must not run. Git reads no
    configuration of the user: a bot in the judge's clone would choose among its filters, in `.gitattributes`.
    """
    if not (HOME / ".git").exists():
        raise FileNotFoundError(HOME / ".git")
    without = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    is_known = ("-c", "safe.directory=*")  # the judge runs the code of this clone, whoever owns it
    return git(HOME, *is_known, *arguments, seconds=LONGEST_SECONDS, **without)


def revision_of(command: Sequence[str]) -> str | None:
    """Return the commit that is checked out in the clone of a bot, if it is that of the working folder; otherwise
    None.

    The judge only reads such a clone and never runs git on it. So it does not know whether files were edited. Its
    own clone is the exception: nonobot's revision ends in `-dirty` if tracked files of its packages were edited.
    """
    if is_own_bot(command):
        try:
            commit = git_in_own_clone("rev-parse", "--verify", "HEAD").decode().strip()
            # A clone in the clone, even if added to it, has its own configuration.
            status = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
            edited = git_in_own_clone(*status, "--", *PACKAGES)  # elsewhere in the clone may be bots
        except (OSError, subprocess.SubprocessError):
            return None
        return f"{commit}-dirty" if edited else commit
    ours = _data_of(Path.cwd())
    named = list(named_by(command)) if ours else []
    # The Python that runs a script may be in the environment of another project's clone.
    scripts = [path for path in named if not any((folder / "pyvenv.cfg").exists() for folder in path.parents)]
    for path in scripts or named:
        if ours and (data := _data_of(path)) and (data.clone == ours.clone or _is_worktree(data, ours.shared)):
            return _checked_out(data)
    return None


class _Data(NamedTuple):
    """A clone or worktree, the folder with its data of git, and the one that a clone shares with its worktrees."""

    clone: Path
    folder: Path
    shared: Path


def _data_of(path: Path) -> _Data | None:
    """Return where git's data of the clone or worktree that a path belongs to is; None if it is in none."""
    clone = next((folder for folder in (path, *path.parents) if os.path.lexists(folder / ".git")), None)
    if clone is None or leads_out(clone / ".git"):
        return None
    elsewhere = _content(clone / ".git")  # a worktree or a submodule has a file that names the folder
    try:
        folder = (clone / (_path_in(elsewhere.removeprefix(b"gitdir:")) if elsewhere else ".git")).resolve()
        return _Data(clone.resolve(), folder, (folder / _path_in(_content(folder / "commondir"))).resolve())
    except (OSError, RuntimeError, ValueError):  # a circle of links; a path that is none
        return None


def _is_worktree(data: _Data, shared: Path) -> bool:
    """Return whether a clone knows a folder as its worktree; a stranger's folder may only claim to be one."""
    back = data.folder / _path_in(_content(data.folder / "gitdir"))
    return (
        data.shared == shared
        and is_in(data.folder, shared / "worktrees")
        and real_path(back) == data.clone / ".git"
    )


def _checked_out(data: _Data) -> str | None:
    """Return the commit that a clone states, but not one that stores its branches in tables (`reftable`)."""
    head = _content(data.folder / "HEAD").strip()
    if (branch := re.fullmatch(rb"ref:\s*(refs/\S+)", head)) and b".." not in head:
        head = _content(data.shared / os.fsdecode(branch[1])).strip()
        if not head:
            line = rb"^(\w+) %b$" % re.escape(branch[1])
            packed = re.search(line, _content(data.shared / "packed-refs", MOST_BYTES), re.MULTILINE)
            head = packed[1] if packed else b""
    return head.decode() if re.fullmatch(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?", head) else None


def _path_in(text: bytes) -> str:
    return os.fsdecode(text.strip())


def _content(path: Path, most_bytes: int = MOST_NAME_BYTES) -> bytes:
    """Return the content of a file of git's data; empty if it is missing, too large, or not a file on a disk.

    A link may lead to a file that is not for everybody who reads the result.
    """
    try:
        # To open or read a device, a pipe or a file of the kernel may wait, or do something.
        if leads_out(path) or not path.is_file() or is_in(path.resolve(), *KERNEL_FOLDERS):
            return b""
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
            content = file.read(most_bytes + 1) or b""
    except (OSError, RuntimeError, ValueError):  # such as a circle of links, or a NUL in the path
        return b""
    return content if len(content) <= most_bytes else b""
