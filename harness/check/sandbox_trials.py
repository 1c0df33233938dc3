"""Trials of the sandbox on this machine: an escape probe runs in it as a bot, and reports its breaches."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from nonobot.harness.check import escape_probe
from nonobot.harness.check.escape_probe import ENDED, GONE, SCRATCHES, Targets
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_process import BotProcess, LastWords
from nonobot.harness.play.exchange_folder import scratch_folder
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.play.sandbox import Sandbox, built_sandbox
from nonobot.harness.results.conditions import Contain, Counted

__all__ = ["tried_sandbox"]

PATIENCE_SECONDS = 30.0


def tried_sandbox(contain: Contain = Contain.YES) -> tuple[dict[str, str | None], Counted]:
    """Return the breach of each claim about the sandbox, None where it holds, and the figures of the cgroup.

    With Contain.NO the probe runs without a sandbox. UnusableError if there is to be one, and there is none here.
    """
    core = tournament_core()
    name = f"nonojudge_trial_{os.getpid()}"
    listener = socket.create_server(("127.0.0.1", 0))  # as the servers of this machine do
    with scratch_folder() as folder, listener:
        # All in one folder, in which the probe is called by another name: the rest of it is not for the probe.
        bots, link = folder / "bots", folder / "link"
        (bots / "results").mkdir(parents=True)
        link.symlink_to(bots)
        shutil.copyfile(escape_probe.__file__, bots / "escape_probe.py")
        for path in (bots / "other.py", bots / "results" / "result.json"):
            path.write_text("what is not for you")
        targets: Targets = {
            "name": name,
            "other": [str(one / "other.py") for one in (bots, link)],
            "result": [str(one / "results" / "result.json") for one in (bots, link)],
            "home": str(Path.home()),
            "folder": str(Path.cwd()),
            "judge": os.getpid(),
            "port": listener.getsockname()[1],
            "cores": os.cpu_count() or 1,
        }
        sandbox = built_sandbox(contain, hide=[bots / "other.py"], results=[bots / "results"])
        command = [sys.executable, "-I", str(link / "escape_probe.py")]
        os.environ[name] = "secret"
        try:
            breaches, counted = _answer(command, targets, (core,) if isinstance(core, int) else (), sandbox)
        finally:
            del os.environ[name]
        breaches[GONE] = _left_in(targets)
        breaches[ENDED] = _left_running(name)
    return breaches, counted


def _answer(
    command: Sequence[str], targets: Targets, cores: Sequence[int], sandbox: Sandbox | None
) -> tuple[dict[str, str | None], Counted]:
    words, output = LastWords(), b""
    # Files that a command names are visible to it: the targets go to stdin.
    with BotProcess(command, words, cores, sandbox) as bot:
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
    """Return a file that the probe left, and remove all of them."""
    own = (targets["home"], targets["folder"], str(Path(sys.executable).parent))
    places = (*SCRATCHES, *own, "/", "/etc", "/usr", "/dev")
    left = [path for path in (Path(place, targets["name"]) for place in places) if path.exists()]
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
