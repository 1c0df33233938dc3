"""What boards cost this project's bot: a process of it, asked a board at a time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import IO

from nonobot.harness.errors import UnusableError
from nonobot.harness.own_bot import OWN_BOT
from nonobot.protocol import Puzzle, format_puzzle
from nonobot.tournament_data.select import Appraisal

__all__ = ["WORK_COUNT", "Appraiser", "appraiser"]

WORK_COUNT = "line_solves"
"""The bot's count that stands for its work: lines painted. It is the same on every machine and goes with the
seconds: on the sets icga2018 and taai2011 with a rank correlation of 0.96 and 0.93, a linear one of 0.98 and 0.99
(from `nonobot --stats FILE`, 2 shared cores of an AMD EPYC)."""


@contextlib.contextmanager
def appraiser(size: tuple[int, int], *, solutions: int, puzzle_seconds: float) -> Iterator[Appraiser]:
    """Start the bot, and end it with the block.

    Parameters
    ----------
    size : (int, int)
        Width and height of every board.
    solutions : int
        Solutions to look for: with 2, the bot tells whether there is one or more, and that work is counted.
    puzzle_seconds : float
        When to give a board up.
    """
    # Compiling kernels is not judging boards: it is done, and said on stderr, before anything is timed.
    subprocess.run([*OWN_BOT, "--warm-up"], stdin=subprocess.DEVNULL, check=False)
    reading, writing = os.pipe()
    with contextlib.ExitStack() as stack:
        records = stack.enter_context(os.fdopen(reading, "rb"))
        words = stack.enter_context(tempfile.TemporaryFile())
        try:
            process = subprocess.Popen(
                [
                    *OWN_BOT,
                    *("--size", f"{size[0]}x{size[1]}"),
                    *("--solutions", str(solutions)),
                    *("--puzzle-limit", f"{puzzle_seconds:g}"),
                    *("--stats", f"/dev/fd/{writing}"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=words,
                pass_fds=(writing,),
                start_new_session=True,  # a Ctrl-C is for the judge, which ends the bot
            )
        finally:
            os.close(writing)
        stack.callback(_end, process)
        yield Appraiser(process, records, words, solutions)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.terminate()
    process.wait()


class Appraiser:
    """A running bot; see :func:`appraiser`."""

    def __init__(
        self, process: subprocess.Popen[bytes], records: IO[bytes], words: IO[bytes], solutions: int
    ) -> None:
        self._process = process
        self._records = records
        self._words = words
        self._solutions = solutions

    def __call__(self, puzzle: Puzzle) -> Appraisal:
        """Let the bot solve a board.

        Raises
        ------
        UnusableError
            If it cannot.
        """
        assert self._process.stdin
        line = b""
        self._forget_words()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(format_puzzle(1, puzzle))
            self._process.stdin.flush()
            line = self._records.readline()
        if not line:
            self._process.wait()
            raise UnusableError(f"the bot ended: {self._last_words()}")
        record = json.loads(line)
        if record["status"] not in ("solved", "timeout"):
            raise UnusableError(f"the bot cannot solve such boards: {self._last_words()}")
        # Fewer solutions than were looked for, and no end of the search: the time was up.
        decided = record["solutions"] == self._solutions or record["verdict"] == "unique"
        return Appraisal(decided, record["verdict"] == "unique", record[WORK_COUNT])

    def _forget_words(self) -> None:
        """Empty the file of what the bot said; it shares our place in it, and goes on at the start."""
        self._words.seek(0)
        self._words.truncate()

    def _last_words(self) -> str:
        self._words.seek(0)
        lines = self._words.read().decode("utf-8", "replace").splitlines()
        return lines[-1] if lines else "it said nothing"
