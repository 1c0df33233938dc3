"""The sandbox of a bot, by bubblewrap: its own processes, no network, and only the files that its command names.

Everything outside is not hidden but absent: the bot's file system consists of the system's folders, the folders of
the files that the command names, and scratch (`mounts.py`). docs/judge.md states the guarantees.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.mounts import View
from nonobot.harness.results.conditions import Contain
from nonobot.system import kernel_cache

__all__ = [
    "OWN_PROCESSES",
    "REFUSAL",
    "Sandbox",
    "built_sandbox",
    "hidden_results",
    "uncontained",
    "why_no_sandbox",
]

SCRATCH_BYTES = 1 << 30
"""Size of a bot's own scratch, which is memory and counts as the bot's; the same size in `/dev/shm`."""

PASSED_ON = ("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME", "LD_LIBRARY_PATH", "JAVA_HOME")
PASSED_ON_STARTS = ("LC_", "PYTHON", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_")
"""Environment variables that programs need to run. Others may be secrets; `env NAME=VALUE ./mybot` passes more."""

OWN_PROCESSES = 2
"""Bubblewrap's processes: one outside, which waits for the bot, and the first process inside."""

REFUSAL = "bwrap: "
"""Beginning of bubblewrap's line about a command that it did not run; its status is 1 then."""

PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox(View):
    """A bot's view of the machine's files, and bubblewrap, which enforces it with the `options` that work here."""

    program: str
    options: tuple[str, ...]

    def around(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs `command` in the sandbox.

        OSError if there is no such program: bubblewrap would report that on the bot's stderr. SubprocessError if
        bubblewrap does not list its options in time.
        """
        if not shutil.which(command[0]):
            there = os.sep in command[0] and Path(command[0]).exists()
            raise OSError(number := errno.EACCES if there else errno.ENOENT, os.strerror(number))
        size = ("--size", str(SCRATCH_BYTES)) if "--size" in _help(self.program) else ()
        # A session of its own: a signal to its group is not for bubblewrap, which waits for it outside.
        words = [self.program, *self.options, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        return [*words, *(word for one in self.mounts(command, size) for word in one), "--", *command]

    def environment(self) -> dict[str, str]:
        """Return the bot's environment."""
        scratch = str(self.scratch or "/tmp")
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in PASSED_ON or name.startswith(PASSED_ON_STARTS)
        }
        return {**passed, "HOME": scratch, "TMPDIR": scratch, "NONOBOT_CACHE_DIR": str(kernel_cache())}

    def warming(self) -> Sandbox:
        """Return the sandbox for the bot's warm-up."""
        return replace(self, prepares=True)


def built_sandbox(
    contain: Contain, show: Sequence[Path] = (), hide: Sequence[Path] = (), results: Sequence[Path] = ()
) -> Sandbox | None:
    """Return a sandbox with the given :class:`~nonobot.harness.play.mounts.View`; None if there is to be none.

    UnusableError if it is required and unavailable, or if something to be shown is not there.
    """
    show = [path.absolute() for path in show]
    for path in show:
        if not path.exists():
            raise UnusableError(f"--show {path}: there is no such file or folder")
    if contain is Contain.NO:
        return None
    options, why = _tried()
    if options is None:
        if contain is Contain.YES:
            raise UnusableError(f"--contain yes: {why}")
        return None
    real_hide, real_results = (tuple({one.resolve(): None for one in paths}) for paths in (hide, results))
    return Sandbox(program=_program(), options=options, show=tuple(show), hide=real_hide, results=real_results)


def hidden_results(result_path: Path) -> list[Path]:
    """Return the folders of results, which are not for bots: that of a result to come, and the default one."""
    return [result_path.parent, Path("results")]


def uncontained(contain: Contain) -> str | None:
    """Return a warning if bots are not sandboxed only because this machine cannot do it."""
    why = why_no_sandbox() if contain is Contain.AUTO else None
    return f"bots are not contained here: {why}; --contain no keeps this line away" if why else None


def why_no_sandbox() -> str | None:
    """Return why there is no sandbox here, in a line; None if there is one."""
    return _tried()[1]


@cache
def _program() -> str:
    return shutil.which("bwrap") or ""


@cache
def _help(program: str) -> str:
    return subprocess.run([program, "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout


@cache
def _tried() -> tuple[tuple[str, ...] | None, str | None]:
    """Return the options with which a program was run in a sandbox, or why none could be."""
    if sys.platform != "linux":
        return None, "bots can be contained on Linux alone"
    program = _program()
    if not program:
        return None, "bubblewrap is not installed (bwrap, of the package bubblewrap)"
    own = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    files = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--cap-drop", "ALL"]
    # A bot that can make namespaces of its own is root in them, and nearer to the kernel's faults.
    ways = [["--unshare-user", "--disable-userns"], ["--unshare-user"], []]
    why = ""
    for way in ways:
        trial = [program, *way, *own, *files, "--", program, "--version"]
        try:
            done = subprocess.run(trial, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
            continue
        if done.returncode == 0:
            return (*way, *own), None
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return None, f"bubblewrap cannot build its walls here ({why})"
