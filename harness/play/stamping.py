"""Answers with the time at which their last line arrived."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from nonobot.protocol import Answer, AnswerReader

__all__ = ["StampedAnswer", "Stamper"]

LONGEST_LINE = 1 << 16
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
            self._unfinished = rest[:LONGEST_LINE]
            for line in lines:
                for answer in self._reader.feed(line):
                    yield StampedAnswer(answer, seconds)
            self.waiting_bytes -= len(data)
            self.read_bytes += len(data)
