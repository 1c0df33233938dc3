"""The walls around bots, tried: a program is sent that breaks out wherever it can, and tells what it could do."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from nonobot.harness.check import escape_probe
from nonobot.harness.check.escape_probe import Targets
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_process import BotProcess, LastWords
from nonobot.harness.play.exchange_folder import scratch_folder
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.play.sandbox import Sandbox, built_sandbox
from nonobot.harness.results.conditions import Contain, Counted

__all__ = ["Tried", "tried_sandbox"]

PROMISES = {
    "other": "it cannot read another bot's files",
    "results": "it cannot read results",
    "results-written": "it cannot write results",
    "scratch": "it can write in its scratch folder",
    "files": "it writes nowhere but in its scratch folder",
    "kept": "what it writes there is gone afterwards",
    "processes": "it sees no process but its own, and can send none a signal",
    "network": "it has no network",
    "environment": "it has no environment of the judge's",
    "privileges": "it has no privileges and gains none",
    "core": "it cannot leave its core",
    "outlives": "nothing of it runs when it has ended",
}

PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of the trial of a wall.

    Attributes
    ----------
    promise : str
    breach : str or None
        What was possible all the same; None: it holds.
    """

    promise: str
    breach: str | None


def tried_sandbox(contain: Contain = Contain.YES) -> tuple[list[Tried], Counted]:
    """Return what holds here, and what the kernel counts.

    Parameters
    ----------
    contain : Contain, optional
        NO tries how far a bot gets that is not contained.

    Raises
    ------
    UnusableError
        If bots are to be contained and cannot be.
    """
    core = tournament_core()
    name = f"nonojudge_trial_{os.getpid()}"
    with scratch_folder() as folder, _listener() as port, _with_secret(name):
        # All in one folder, which the bot is called in by another name: what of it is shown is not for it.
        bots, link = folder / "bots", folder / "link"
        (bots / "results").mkdir(parents=True)
        link.symlink_to(bots)
        shutil.copyfile(escape_probe.__file__, bots / "besieger.py")
        for path in (bots / "other.py", bots / "results" / "result.json"):
            path.write_text("what is not for you")
        targets: Targets = {
            "name": name,
            "other": [str(one / "other.py") for one in (bots, link)],
            "result": [str(one / "results" / "result.json") for one in (bots, link)],
            "home": str(Path.home()),
            "folder": str(Path.cwd()),
            "judge": str(os.getpid()),
            "port": str(port),
            "cores": str(os.cpu_count() or 1),
        }
        walls = built_sandbox(contain, hide=[bots / "other.py"], results=[bots / "results"])
        command = [sys.executable, "-I", str(link / "besieger.py")]
        found, counted = _answer(command, targets, (core,) if isinstance(core, int) else (), walls)
        found["kept"] = _left_in(targets)
        found["outlives"] = _left_running(name)
    return [Tried(promise, found[trial]) for trial, promise in PROMISES.items()], counted


def _answer(
    command: Sequence[str], targets: Targets, cores: Sequence[int], walls: Sandbox | None
) -> tuple[dict[str, str | None], Counted]:
    words, output = LastWords(), b""
    # What a command names is shown to it: the targets are told otherwise.
    with BotProcess(command, words, cores, walls) as bot:
        bot.send(json.dumps(targets).encode(), last=True)
        until = time.monotonic() + PATIENCE_SECONDS
        while not bot.exited and time.monotonic() < until:
            output += bot.read(until)
        output += bot.read(0.0)
    try:
        return json.loads(output), bot.tree.counted
    except ValueError:
        raise UnusableError(f"the walls cannot be tried: {words.last_line or 'the trial said nothing'}") from None


def _left_in(targets: Targets) -> str | None:
    """Return where something of the trial was left, and remove it."""
    folders = [
        "/tmp",
        "/var/tmp",
        "/dev/shm",
        targets["home"],
        targets["folder"],
        str(Path(sys.executable).parent),
    ]
    folders += ["/", "/etc", "/usr", "/dev"]
    left = [path for path in (Path(folder, targets["name"]) for folder in folders) if path.exists()]
    for path in left:
        path.unlink()
    return f"left {left[0]}" if left else None


def _left_running(name: str) -> str | None:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if name in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                process.kill()
                return "left a process running"
    return None


@contextlib.contextmanager
def _listener() -> Iterator[int]:
    """Listen on this machine, as its servers do, and yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextlib.contextmanager
def _with_secret(name: str) -> Iterator[None]:
    os.environ[name] = "secret"
    try:
        yield
    finally:
        del os.environ[name]
