"""A judge in a process of its own, which plays one run after another: of one bot of a duel, or of a bisection."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Generic, Self, TypeVar

from nonobot.harness import UnusableError
from nonobot.harness.play.match import SECONDS_TO_HEED
from nonobot.harness.play.run_events import RunSoFar
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.system import with_file

Outcome = TypeVar("Outcome")

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


class JudgeProcess(Generic[Outcome]):
    """The process, from the first run; its run stops at the end of a `with` block, or if the caller is killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.answered = 0  # puzzles of the run with a verdict, a moment ago

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Stop the run and end the process; another run may begin, in another process."""
        if self._process:
            self._process.terminate()
            self._runs.close()
            self._process.wait()
            self._process = None

    def begin(self, run: Callable[..., Outcome], *arguments: object) -> None:
        """Begin a run: a function such as :func:`~nonobot.harness.play.match.play`, given `on_verdict` by name."""
        self.answered = 0
        if not self._process:
            self._process, self._runs = start(play_all)
        with suppress(BrokenPipeError):  # it was killed; :meth:`result` reports that
            self._runs.send((run, arguments))

    def result(self, wait_seconds: float) -> Outcome | None:
        """Return what the run returns, None if it continues; UnusableError if the bot cannot be run."""
        try:
            outcome: Any = self._runs.recv() if self._runs.poll(wait_seconds) else None
        except (EOFError, OSError):
            self.end()
            outcome = "its judge was killed"
        if isinstance(outcome, int):
            self.answered = outcome
            return None
        if isinstance(outcome, str):
            raise UnusableError(outcome)
        if isinstance(outcome, RunResult) and outcome.end.reason is EndReason.NOT_STARTED:
            raise UnusableError(outcome.end.detail or "its command cannot be run")
        return outcome


def play_all(runs: Connection) -> None:
    """Play the runs that arrive over a connection until it closes.

    Send back what they return, or why that is nothing, and meanwhile the number of puzzles answered.
    """
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while True:
            run, arguments = runs.recv()
            due = time.monotonic()

            def count(so_far: RunSoFar) -> None:
                nonlocal due
                if time.monotonic() >= due:  # a full pipe would stop this judge
                    runs.send(len(so_far.puzzles))
                    due = time.monotonic() + SECONDS_TO_HEED

            try:
                outcome = run(*arguments, on_verdict=count)
            except UnusableError as error:
                outcome = str(error)
            except OSError as error:
                outcome = with_file(error)
            runs.send(outcome)
