"""What goes to a bot and what comes from it: puzzles handed over, answers with the time of their last line."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from nonobot.harness.play.bot_process import BotProcess
from nonobot.harness.results.run_result import Feed
from nonobot.protocol import Answer, AnswerReader
from nonobot.tournament_data import SetPuzzle

__all__ = ["Feeder", "StampedAnswer", "Stamper"]


class Feeder:
    """Sends a bot its puzzles and knows how long each has been in work.

    All times are seconds since the start of the bot. Fed in a batch, a puzzle is in work from the answer before
    it, the first from the start of the bot: its start-up cannot be told from work. Fed one by one, from its
    sending.

    Parameters
    ----------
    bot : BotProcess
    puzzles : sequence of SetPuzzle
    feed : Feed
    """

    def __init__(self, bot: BotProcess, puzzles: Sequence[SetPuzzle], feed: Feed) -> None:
        self._bot = bot
        self._feed = feed
        self._unsent = deque(puzzles)
        self._sent_seconds: dict[int, float] = {}
        self._last_sent: int | None = None
        self._last_arrival_seconds = 0.0
        if feed is Feed.BATCH:
            self._unsent.clear()
            bot.send(b"".join(puzzle.text for puzzle in puzzles), last=True)

    def go_on(self, answered: Container[int], seconds: float) -> None:
        """Send the next puzzle if there is one and the last that was sent is among the `answered`."""
        while self._unsent and (self._last_sent is None or self._last_sent in answered):
            puzzle = self._unsent.popleft()
            self._last_sent = puzzle.number
            self._sent_seconds[puzzle.number] = seconds
            self._bot.send(puzzle.text, last=not self._unsent)

    def note_arrival(self, seconds: float) -> None:
        """Take the time of a first answer to a puzzle."""
        self._last_arrival_seconds = seconds

    def in_work_since(self, number: int | None) -> float | None:
        """Return when work on a puzzle began; None if it was not sent."""
        if self._feed is Feed.BATCH:
            return self._last_arrival_seconds
        return self._sent_seconds.get(number) if number is not None else None


MOST_KEPT_BYTES = 1 << 16
"""Bytes of a line that are kept: a bot that never ends its line does not fill the judge's memory."""


@dataclass(frozen=True, slots=True)
class StampedAnswer:
    """An answer and when it was complete.

    Attributes
    ----------
    answer : Answer
    arrived_seconds : float
        Since the start of the bot.
    """

    answer: Answer
    arrived_seconds: float


class Stamper:
    """Reads the answers in the bytes of a bot, each at the time that its last byte was handed in.

    Bytes are handed in as soon as they arrive and read when there is time: reading is slower than some bots are.

    Parameters
    ----------
    width, height : int
        Size of every grid.

    Attributes
    ----------
    waiting_bytes : int
        How much was handed in and is not read yet.
    read_bytes : int
        How much was read.
    """

    def __init__(self, width: int, height: int) -> None:
        self.waiting_bytes = 0
        self.read_bytes = 0
        self._reader = AnswerReader(width, height)
        self._chunks: deque[tuple[bytes, float]] = deque()
        self._answers = self._read()
        self._unfinished = b""

    def hand_in(self, data: bytes, seconds: float) -> None:
        """Take bytes that arrived `seconds` after the start."""
        self.waiting_bytes += len(data)
        self._chunks.append((data, seconds))

    def next_answer(self) -> StampedAnswer | None:
        """Return the next answer; None if what was handed in completes no further one."""
        answer = next(self._answers, None)
        if answer is None:
            self._answers = self._read()
        return answer

    def close(self, seconds: float) -> list[StampedAnswer]:
        """Take the end of the output, when nothing waits any more; a last line need not have ended."""
        answers = self._reader.feed(self._unfinished) if self._unfinished else []
        self._unfinished = b""
        return [StampedAnswer(answer, seconds) for answer in [*answers, *self._reader.close()]]

    def _read(self) -> Iterator[StampedAnswer]:
        while self._chunks:
            data, seconds = self._chunks.popleft()
            *lines, rest = (self._unfinished + data).split(b"\n")
            self._unfinished = rest[:MOST_KEPT_BYTES]
            for line in lines:
                for answer in self._reader.feed(line):
                    yield StampedAnswer(answer, seconds)
            self.waiting_bytes -= len(data)
            self.read_bytes += len(data)
