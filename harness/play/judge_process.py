"""A judge in a process of its own, which plays one run after another: a duel has one for each bot."""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

from nonobot.harness import UnusableError
from nonobot.harness.play.match import Bot, play
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import RunResult
from nonobot.tournament_data import PuzzleSet


class JudgeProcess:
    """The process, within a `with` block. It outlives no run of its own, and no caller that is killed."""

    def __init__(self) -> None:
        spawned = get_context("spawn")  # a fork would take over the threads' locks of a progress bar
        self._runs, theirs = spawned.Pipe()
        self._process = spawned.Process(target=_play_all, args=(theirs,))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._runs.close()
        self._process.join()

    def begin(self, puzzle_set: PuzzleSet, bot: Bot, configuration: Configuration, result_path: Path) -> None:
        """Begin a run; the arguments are those of :func:`~nonobot.harness.play.match.play`."""
        with suppress(BrokenPipeError):  # it was killed, which :meth:`outcome` tells
            self._runs.send((puzzle_set, bot, configuration, result_path))

    def outcome(self, wait_seconds: float) -> RunResult | str | None:
        """Return the result of the run, or why there is none in a line; None if it goes on."""
        try:
            return self._runs.recv() if self._runs.poll(wait_seconds) else None
        except (EOFError, OSError):
            return "its judge was killed"

    def stop(self) -> None:
        """Tell the judge to stop; a run that goes on is interrupted, and has its outcome."""
        self._process.terminate()


def _play_all(runs: Connection) -> None:
    """Play the runs that come over a connection, until it is closed."""
    os.setsid()  # a Ctrl-C is the caller's business
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            try:
                runs.send(play(*runs.recv()))
            except UnusableError as error:
                runs.send(str(error))
            except (EOFError, BrokenPipeError):
                raise
            except OSError as error:
                runs.send(": ".join(filter(None, (error.filename, error.strerror or str(error)))))
