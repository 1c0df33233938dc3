"""What boards cost this project's bot and which solutions it finds: a process of it, asked a board at a time."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import OWN_BOT
from nonobot.harness.play.bot_process import BotProcess, LastWords
from nonobot.harness.play.conversation import Conversation, Transport
from nonobot.harness.play.sandbox import built_sandbox
from nonobot.harness.results.conditions import Contain
from nonobot.protocol import Puzzle, format_puzzle
from nonobot.tournament_data.select import Grade, Level

__all__ = ["WORK_COUNT", "Findings", "GradingBot", "grading_bot", "level_grader"]

WORK_COUNT = "line_solves"
"""The bot's count that stands for its work: lines painted. It is the same on every machine and goes with the
seconds: on the sets icga2018 and taai2011 with a rank correlation of 0.96 and 0.93, a linear one of 0.98 and 0.99
(from `nonobot --stats FILE`, 2 shared cores of an AMD EPYC)."""


@contextlib.contextmanager
def grading_bot(
    size: tuple[int, int],
    *,
    solutions: int,
    puzzle_seconds: float,
    line_limit: int | None = None,
    strategy: str = "champion",
    contain: Contain = Contain.NO,
) -> Iterator[GradingBot]:
    """Start the bot, and end it with the block.

    Parameters
    ----------
    size : (int, int)
        Width and height of every board.
    solutions : int
        Solutions to look for: with 2, the bot tells whether there is one or more, and that work is counted.
    puzzle_seconds : float
        When to give a board up.
    line_limit : int, optional
        Lines painted after which a board is given up, on every machine the same ones.
    strategy : str
        The bot's.
    contain : Contain, optional
        Whether it runs within walls.

    Raises
    ------
    UnusableError
        If it has to be contained and cannot be.
    """
    command = [
        *OWN_BOT,
        *("--size", f"{size[0]}x{size[1]}"),
        *("--solutions", str(solutions)),
        *("--puzzle-limit", f"{puzzle_seconds:g}"),
        *(("--line-limit", str(line_limit)) if line_limit else ()),
        *("--on-unsolved", "omit"),
        *("--stats", "/dev/stdout"),
        *("--strategy", strategy),
    ]
    words = _Words()
    sandbox = built_sandbox(contain)
    with BotProcess(command, words, sandbox=sandbox and sandbox.warming()) as process:  # it may compile
        yield GradingBot(process, words, solutions, puzzle_seconds)


LONGEST_PROBED_SIDE = 62
"""Longer boards the strategy `papers` does not take."""


@contextlib.contextmanager
def level_grader(
    size: tuple[int, int],
    *,
    puzzle_seconds: float,
    line_limit: int | None = None,
    contain: Contain = Contain.NO,
) -> Iterator[Callable[[Puzzle], Grade]]:
    """Start two bots that tell whether a board is unique, and of a unique one the level; end them with the block.

    The champion tells which boards line logic alone solves. What it leaves open and is unique the strategy
    `papers` gets, whose first node is FP1 of Wu et al. 2013. Both are warm from the first board on. The parameters
    are those of :func:`grading_bot`.
    """
    terms: dict[str, Any] = {"puzzle_seconds": puzzle_seconds, "line_limit": line_limit, "contain": contain}
    with contextlib.ExitStack() as stack:
        champion = stack.enter_context(grading_bot(size, solutions=2, **terms))
        papers = None
        if max(size) <= LONGEST_PROBED_SIDE:
            papers = stack.enter_context(grading_bot(size, solutions=2, strategy="papers", **terms))
        white = Puzzle(columns=((),) * size[0], rows=((),) * size[1])
        for bot in filter(None, (champion, papers)):
            bot(white)

        def grade(puzzle: Puzzle) -> Grade:
            found = champion(puzzle)
            if not found.unique or found.level == "lines" or not papers:
                return found
            return replace(found, level=papers(puzzle).level or "search")

        yield grade


class _Words(LastWords):
    """What the bot says. That it compiles is passed on: it takes a while, though no board's time has any of it."""

    def write(self, data: bytes) -> None:
        super().write(data)
        for line in data.splitlines(keepends=True):
            if line.startswith(b"nonobot: compil"):
                print(line.decode("utf-8", "replace"), end="", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """The solutions of a board that the bot found.

    Attributes
    ----------
    solutions : bool array, shape (number, height, width)
        True for black.
    complete : bool
        Whether it is known that there are no others.
    in_time : bool
        Whether the bot came to an end, of its search or of the solutions it was to look for.
    """

    solutions: npt.NDArray[np.bool_]
    complete: bool
    in_time: bool

    @property
    def unique(self) -> bool:
        """Whether the board is known to have exactly one solution."""
        return self.complete and len(self.solutions) == 1


_Told = tuple[dict[str, Any], bytes]
"""A record of the bot, and the digits of the answers before it."""


class _RecordReader:
    """Reads the bot's records, and the answers that stand before each."""

    def __init__(self) -> None:
        self._rows: list[bytes] = []

    def feed(self, line: bytes) -> list[_Told]:
        if not line.startswith(b"{"):
            self._rows += [] if line.startswith(b"$") else [line]
            return []
        digits = b"".join(self._rows).translate(None, b"\t\r\n ")
        self._rows = []
        return [(json.loads(line), digits)]

    def close(self) -> list[_Told]:
        return []


class GradingBot:
    """A running bot; see :func:`grading_bot`.

    Parameters
    ----------
    transport : Transport
        To the bot, which writes records to its stdout.
    words : LastWords
        What it says meanwhile.
    solutions, puzzle_seconds : int, float
        As for :func:`grading_bot`.
    """

    def __init__(
        self, transport: Transport, words: LastWords, solutions: int, puzzle_seconds: float = math.inf
    ) -> None:
        self._transport = transport
        self._talk = Conversation(transport, _RecordReader())
        self._words = words
        self._solutions = solutions
        self._puzzle_seconds = puzzle_seconds

    def __call__(self, puzzle: Puzzle) -> Grade:
        """Let the bot solve a board.

        Raises
        ------
        UnusableError
            If it cannot.
        """
        record, _ = self._told(puzzle)
        # Fewer solutions than were looked for, and no end of the search: the time was up.
        decided = record["solutions"] == self._solutions or record["verdict"] == "unique"
        unique = record["verdict"] == "unique"
        return Grade(
            decided, unique, record[WORK_COUNT], record.get("conflicts", 0), _level(record) if unique else None
        )

    def findings(self, puzzle: Puzzle) -> Findings:
        """Let the bot solve a board, and return its solutions.

        Raises
        ------
        UnusableError
            If it cannot.
        """
        record, digits = self._told(puzzle)
        cells = np.frombuffer(digits, np.uint8).reshape(-1, puzzle.height, puzzle.width) == ord("1")
        all_wanted = len(cells) == self._solutions
        # The record says nothing of an end of the search after several solutions, but before its time was up.
        ended = record["verdict"] == "unique" or record["seconds"] < self._puzzle_seconds
        return Findings(cells, complete=ended and not all_wanted, in_time=ended or all_wanted)

    def _told(self, puzzle: Puzzle) -> _Told:
        self._words.data = b""
        found = self._talk.ask(format_puzzle(1, puzzle))
        if found is None:
            while not self._transport.exited:
                self._talk.listen(math.inf)
            raise UnusableError(f"the bot ended: {self._last_words()}")
        (record, digits), _ = found
        if record["status"] not in ("solved", "timeout"):
            raise UnusableError(f"the bot cannot solve such boards: {self._last_words()}")
        return record, digits

    def _last_words(self) -> str:
        self._talk.listen(0.0)  # also to what it says to people
        return self._words.last_line or "it said nothing"


def _level(record: dict[str, Any]) -> Level:
    """Return what the bot's way to the only solution needed, as far as its strategy tells."""
    if record.get("decisions") == 0:
        return "lines"
    return "probing" if record.get("nodes") == 1 and record["status"] == "solved" else "search"
