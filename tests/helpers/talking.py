"""Talking to the process `nonobot` as its users do, for tests."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nonobot.bot.cli import parse
from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle
from tests import naive
from tests.helpers.boards import random_grid
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_bytes, running, wait_until

COMMAND = (sys.executable, "-m", "nonobot")
STRATEGIES = ("champion", "papers")
CAPTURED: dict[str, Any] = {"capture_output": True, "timeout": PATIENCE_SECONDS}

GRID = [[1, 0], [1, 1]]
GOOD = Puzzle.from_grid(GRID)  # unique
TWO = Puzzle.from_grid([[1, 0], [0, 1]])  # two solutions
NONE = Puzzle(columns=((2,), ()), rows=((2,), ()))  # no solution, the counts agree
FULL = [[1] * 62] * 62


def hard() -> Puzzle:
    """Return a 62x62 board that neither strategy solves while a test waits."""
    return Puzzle.from_grid(random_grid(random.Random(1), 62, 62, 0.45))


def run(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *options], input=text, **CAPTURED)


def carried_out(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Do in this process what `run` does in one of its own, ten times faster: for what is read, said and answered.

    What is about the process itself takes `run`: how it starts and ends, signals, several jobs.
    """
    from nonobot.bot import process

    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in ("stdin", "stdout", "stderr")]
        files[0].write(text)
        files[0].seek(0)
        with _as_standard_streams(*(file.fileno() for file in files)):
            status = process.run(parse(options), time.monotonic())
        for file in files:
            file.seek(0)
        return subprocess.CompletedProcess(options, status, *(file.read() for file in files[1:]))


@contextlib.contextmanager
def _as_standard_streams(*descriptors: int) -> Iterator[None]:
    kept = [os.dup(standard) for standard in range(3)]
    try:
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
        with contextlib.redirect_stderr(sys.__stderr__):  # the descriptor, without pytest's stream
            yield
    finally:
        for standard, descriptor in enumerate(kept):
            os.dup2(descriptor, standard)
            os.close(descriptor)


def counted(stats: Path) -> list[dict]:
    """Return the records that `--stats` wrote, without the times."""
    records = [json.loads(line) for line in stats.read_text().splitlines()]
    return [{name: value for name, value in record.items() if not name.endswith("seconds")} for record in records]


def batch(*puzzles: Puzzle | bytes) -> bytes:
    """Return a batch with the numbers from 1; bytes stand for the lines of a puzzle as they are."""
    return b"".join(
        b"$%d\n" % number + puzzle if isinstance(puzzle, bytes) else format_puzzle(number, puzzle)
        for number, puzzle in enumerate(puzzles, 1)
    )


def answers(*grids: naive.Grid | bytes) -> bytes:
    """Return the answers with the numbers from 1; bytes stand for what is written after the `$k` line."""
    return b"".join(
        b"$%d\n" % number + grid if isinstance(grid, bytes) else format_answer(number, Solution(grid))
        for number, grid in enumerate(grids, 1)
    )


class Talk:
    """A running process whose answers are read while it waits for more."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )

    def send(self, text: bytes) -> None:
        self.process.stdin.write(text)

    def receive(self, size: int) -> bytes:
        """Return the next `size` bytes of stdout."""
        return next_bytes(self.process, size)

    def end(self) -> tuple[int, bytes, bytes]:
        """Wait for the end of the process; return its status, the rest of stdout, and stderr."""
        out, err = finished(self.process)
        return self.process.returncode, out, err


def interrupted(*arguments: str, when: Callable[[], bool], number: int = signal.SIGINT) -> tuple[str, str]:
    """Send the judge a signal once `when` is true, see it end as interrupted, and return its stdout and stderr."""
    command = [sys.executable, "-m", "nonobot.harness", *arguments]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as judge:
        wait_until(when, judge)
        judge.send_signal(number)
        written = finished(judge)
    assert judge.returncode == 130
    return written
