"""What boards cost this project's bot: a process of it, asked a board at a time."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
from collections.abc import Iterator
from typing import Any

from nonobot.harness.errors import UnusableError
from nonobot.harness.own_bot import OWN_BOT
from nonobot.harness.play.bot_process import BotProcess, LastWords
from nonobot.harness.play.conversation import Conversation, Transport
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
    command = [
        *OWN_BOT,
        *("--size", f"{size[0]}x{size[1]}"),
        *("--solutions", str(solutions)),
        *("--puzzle-limit", f"{puzzle_seconds:g}"),
        *("--on-unsolved", "omit"),
        *("--stats", "/dev/stdout"),
    ]
    words = LastWords()
    with BotProcess(command, words) as process:
        yield Appraiser(process, words, solutions)


class _RecordReader:
    """Reads the bot's records, which stand between its answers."""

    def feed(self, line: bytes) -> list[dict[str, Any]]:
        return [json.loads(line)] if line.startswith(b"{") else []

    def close(self) -> list[dict[str, Any]]:
        return []


class Appraiser:
    """A running bot; see :func:`appraiser`.

    Parameters
    ----------
    transport : Transport
        To the bot, which writes records to its stdout.
    words : LastWords
        What it says meanwhile.
    solutions : int
        As for :func:`appraiser`.
    """

    def __init__(self, transport: Transport, words: LastWords, solutions: int) -> None:
        self._transport = transport
        self._talk = Conversation(transport, _RecordReader())
        self._words = words
        self._solutions = solutions

    def __call__(self, puzzle: Puzzle) -> Appraisal:
        """Let the bot solve a board.

        Raises
        ------
        UnusableError
            If it cannot.
        """
        self._words.data = b""
        found = self._talk.ask(format_puzzle(1, puzzle))
        if found is None:
            while not self._transport.exited:
                self._talk.listen(math.inf)
            raise UnusableError(f"the bot ended: {self._last_words()}")
        record = found.answer
        if record["status"] not in ("solved", "timeout"):
            raise UnusableError(f"the bot cannot solve such boards: {self._last_words()}")
        # Fewer solutions than were looked for, and no end of the search: the time was up.
        decided = record["solutions"] == self._solutions or record["verdict"] == "unique"
        return Appraisal(decided, record["verdict"] == "unique", record[WORK_COUNT])

    def _last_words(self) -> str:
        self._talk.listen(0.0)  # also to what it says to people
        return self._words.last_line or "it said nothing"
