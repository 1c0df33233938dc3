"""A judge of a duel: a separate process that plays one run after another, one judge for each bot."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

from nonobot.harness import UnusableError
from nonobot.harness.play.match import SECONDS_TO_HEED, Bot, play
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import EndReason, PuzzleResult, RunResult
from nonobot.system import with_file
from nonobot.tournament_data import PuzzleSet

PROGRAM = """\
import os, sys
sys.path[:] = {path!r}
os.set_inheritable({connection}, False)
from multiprocessing.connection import Connection
from {target.__module__} import {target.__name__}
{target.__name__}(Connection({connection}))
"""


def start(target: Callable[[Connection], None]) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a Python that calls `target` with its end of a connection; return the process and our end.

    The process shares nothing else, not even the main module, as multiprocessing would.
    """
    ours, theirs = Pipe()
    with theirs:
        program = PROGRAM.format(path=sys.path, target=target, connection=theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # the caller handles a Ctrl-C
        )
    return process, ours


class JudgeProcess:
    """The process within a `with` block; its run stops at the end of the block, or if the caller is killed."""

    def __init__(self) -> None:
        self._process, self._runs = start(play_all)
        self.answered = 0  # puzzles of the run with a verdict, a moment ago

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._runs.close()
        self._process.wait()

    def begin(self, puzzle_set: PuzzleSet, bot: Bot, configuration: Configuration, result_path: Path) -> None:
        """Begin a run; the arguments are those of :func:`~nonobot.harness.play.match.play`."""
        self.answered = 0
        with suppress(BrokenPipeError):  # it was killed; :meth:`result` reports that
            self._runs.send((puzzle_set, bot, configuration, result_path))

    def result(self, wait_seconds: float) -> RunResult | None:
        """Return the result of the run, None if it continues; UnusableError if the bot cannot be run."""
        try:
            outcome: RunResult | int | str | None = self._runs.recv() if self._runs.poll(wait_seconds) else None
        except (EOFError, OSError):
            outcome = "its judge was killed"
        if isinstance(outcome, int):
            self.answered = outcome
            return None
        if isinstance(outcome, str):
            raise UnusableError(outcome)
        if outcome and outcome.end.reason is EndReason.NOT_STARTED:
            raise UnusableError(outcome.end.detail or "its command cannot be run")
        return outcome


def play_all(runs: Connection) -> None:
    """Play the runs that arrive over a connection until it closes.

    Send back results, or why there is none, and meanwhile the number of puzzles answered.
    """
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while True:
            puzzle_set, bot, configuration, result_path = runs.recv()
            answered, due = 0, time.monotonic()

            def count(_result: PuzzleResult, _seconds: float) -> None:
                nonlocal answered, due
                answered += 1
                if time.monotonic() >= due:  # a full pipe would stop this judge
                    runs.send(answered)
                    due = time.monotonic() + SECONDS_TO_HEED

            try:
                outcome: RunResult | str = play(puzzle_set, bot, configuration, result_path, count)
            except UnusableError as error:
                outcome = str(error)
            except OSError as error:
                outcome = with_file(error)
            runs.send(outcome)
