"""A small set, bots as programs and bots as scripts, for the tests of the judge."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from nonobot.harness.play import attempt
from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import OnVerdict
from nonobot.harness.process import bot_process
from nonobot.harness.process.cgroup import Group
from nonobot.harness.process.interrupts import Standstill
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import RunResult
from nonobot.tournament_data import Recipe, load_set, write_set
from tests.helpers.places import DOUBLES
from tests.helpers.waiting import alarm, wait_until

RECIPE = Recipe(5, 5, 5, seed=3)
SET = load_set(str(RECIPE))
SCRIPTED_BOT = DOUBLES / "scripted_bot.py"


def command(behaviour: str, folder: Path) -> list[str]:
    """Return the command of a scripted bot; its solutions go into `folder`."""
    solutions = folder / "solutions.txt"
    with (folder / "questions.txt").open("wb") as questions, solutions.open("wb") as answers:
        write_set(RECIPE.boards(), questions, answers)
    return [sys.executable, "-S", str(SCRIPTED_BOT), behaviour, str(solutions)]


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Write a file that can be executed, in folders that are made if they are missing; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def played(behaviour: str, folder: Path, on_verdict: OnVerdict = lambda *_: None, **terms: Any) -> RunResult:
    """Return the result of a scripted bot on the small set; `terms` are fields of `Configuration`."""
    terms.setdefault("wall_limit_seconds", 20.0)
    bot = Bot(behaviour, command(behaviour, folder))
    return play(SET, bot, Configuration(**terms), folder / "result.json", on_verdict)


def verdicts(result: RunResult) -> list[str]:
    """Return the verdicts in the order of the set."""
    return [puzzle.verdict.value for puzzle in result.score.puzzles]


def so_far(journal: Path) -> bytes:
    """Return what a journal says; it comes and goes once before the first run, when places are tried."""
    try:
        return journal.read_bytes().replace(b" ", b"")
    except FileNotFoundError:
        return b""


def pids_with(word: str) -> list[int]:
    """Return the processes, but for the dead, of whose command line `word` is a part."""
    pids = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                pids.append(process.pid)
    return pids


def remove(group: Group) -> None:
    """Kill what is in a cgroup, and remove it."""

    def is_gone() -> bool:
        group.remove()
        return not any(folder.exists() for folder in group._homes)

    group.kill()
    wait_until(is_gone)


def let_time_fly(monkeypatch: pytest.MonkeyPatch, stderr: Path) -> None:
    """Soon after a bot said there that it hangs, a minute passes at once for the judge: no limit is waited for."""
    since: list[float] = []

    def monotonic() -> float:
        now = time.monotonic()
        if not since and stderr.exists() and b"hanging" in stderr.read_bytes():
            since.append(now)
        return now + (60 if since and now > since[0] + 0.3 else 0)

    for module in (bot_process, attempt):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=monotonic))


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch, short_look: None) -> None:
    """Let the judge wait for a bot a fraction of what it waits for a stranger's."""
    monkeypatch.setattr(attempt, "LINGER_SECONDS", 0.3)
    monkeypatch.setattr(bot_process, "SECONDS_TO_OBEY", 0.3)


@pytest.fixture
def nothing_hangs() -> Iterator[None]:
    """End a run that hangs."""
    with alarm(120):
        yield


class ScriptedTransport:
    """A bot's side as a script, without a process, and with a clock that goes on when one waits.

    The `steps` left are what it is to be sent and what it does, in order: `("sent", bytes)`, `("last", bytes)` for
    the last thing sent, `("wrote", bytes)`, `("waits", seconds)`, `("babbles", seconds)` for a byte in each look,
    `("closed", None)` for its stdout or `("ended", None)` for the process.
    """

    def __init__(self, *steps: tuple[str, object]) -> None:
        self.started = self.now = 100.0
        self.standstill = Standstill()
        self.exited = self.output_closed = False
        self.left_running = 0
        self.steps = deque(steps)

    def clock(self) -> float:
        return self.now

    def send(self, data: bytes, last: bool = False) -> None:
        assert self.steps, f"nothing more is expected, and {data!r} was sent"
        assert self.steps.popleft() == ("last" if last else "sent", data)

    def read(self, until: float) -> bytes:
        kind, value = self.steps[0] if self.steps else ("waits", float("inf"))
        if kind == "babbles" and value > 0:
            self.now += 0.01
            self.steps[0] = (kind, value - 0.01)
            return b"0"
        if kind == "waits" and self.now + value <= until:
            self.now += value
            self.steps.popleft()
            return self.read(until)
        if kind in ("waits", "sent", "last"):
            assert until < float("inf"), f"waits for ever; next is {kind}"
            if kind == "waits" and self.steps:
                self.steps[0] = (kind, value - max(0.0, until - self.now))
            self.now = max(self.now, until)
            return b""
        self.steps.popleft()
        self.exited |= kind == "ended"
        self.output_closed |= kind == "closed"
        return value if kind == "wrote" else b""
