"""The judge's side of the protocol: bytes sent to a bot, and its answers with their arrival times."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nonobot.protocol import Puzzle

if TYPE_CHECKING:
    from nonobot.harness.play.bot_process import BotProcess

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MOST_KEPT_BYTES = 1 << 16
"""Length to which a line is kept: a bot that never ends it does not fill the judge's memory."""

MOST_WAITING_BYTES = 2 << 20
"""Bytes of unread output at which the judge stops reading: more than all the answers of a tournament."""

BYTES_PER_CELL = 4
"""Most bytes of an answer for a cell: a digit, a separator, and some layout."""


def most_bytes_of_an_answer(board: Puzzle) -> int:
    """Return how much output an answer to `board` accounts for."""
    return BYTES_PER_CELL * (board.width + 1) * (board.height + 1)


class Reader(Protocol[T_co]):
    """Turns lines into answers, such as `nonobot.protocol.AnswerReader`."""

    def feed(self, line: bytes) -> Sequence[T_co]:
        """Take the next line and return the answers that it completed."""

    def close(self) -> Sequence[T_co]:
        """Take the end and return the answers that it completed."""


class Conversation(Generic[T]):
    """A conversation with one bot process, or with a script in its place.

    Its answers are pairs: the answer, and the seconds from the start of the bot to the arrival of its last byte.
    Bytes are timestamped as soon as they arrive and read when there is time: reading is slower than some bots are.

    After `most_bytes` of output the judge no longer listens. `on_output` gets all bytes as they arrive. `over` is
    true when no further output can come or is listened to; `read_bytes` is the output that was read for answers,
    and `first_seconds` the time when its first byte arrived.
    """

    def __init__(
        self,
        bot: BotProcess,
        reader: Reader[T],
        most_bytes: float = math.inf,
        on_output: Callable[[bytes], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.over = False
        self.read_bytes = 0
        self.first_seconds: float | None = None
        self.send = bot.send
        self._bot = bot
        self._reader = reader
        self._room = most_bytes
        self._on_output = on_output
        self._clock = clock
        self._chunks: deque[tuple[bytes, float]] = deque()
        self._waiting_bytes = 0
        self._answers = self._read()
        self._unfinished = b""

    def listen(self, until: float) -> bytes:
        """Read and timestamp output of the bot, and return it; wait for output if there is none."""
        if self._waiting_bytes > MOST_WAITING_BYTES:
            return b""
        data = self._bot.read(0.0 if self._waiting_bytes else until)
        if not data:
            self.over = self.over or self._bot.exited or self._bot.output_closed
        elif self._room >= 0:
            self._chunks.append((data, self._seconds()))
            if self.first_seconds is None:
                self.first_seconds = self._chunks[0][1]
            self._waiting_bytes += len(data)
            if self._on_output:
                self._on_output(data)
            self._room -= len(data)
            self.over = self._room < 0
        return data

    def next_answer(self) -> tuple[T, float] | None:
        """Return the next answer in the output that was taken; None if there is no further complete one."""
        answer = next(self._answers, None)
        if answer is None:
            self._answers = self._read()
        return answer

    def answer(self, until: float = math.inf) -> tuple[T, float] | None:
        """Return the next answer, waiting for it; None if the clock reaches `until`, or none can come any more."""
        while True:
            if not self.over:
                self.listen(until)  # before the next is read: a timestamp never waits for other answers
            answer = self.next_answer()
            if answer is not None or self.over or self._clock() >= until:
                return answer

    def close(self) -> list[tuple[T, float]]:
        """Take the end of the output, once everything is read; the last line may lack its line end."""
        seconds = self._seconds()
        answers = self._reader.feed(self._unfinished) if self._unfinished else []
        self._unfinished = b""
        return [(answer, seconds) for answer in [*answers, *self._reader.close()]]

    def _read(self) -> Iterator[tuple[T, float]]:
        while self._chunks:
            data, seconds = self._chunks.popleft()
            *lines, rest = (self._unfinished + data).split(b"\n")
            self._unfinished = rest[:MOST_KEPT_BYTES]
            for line in lines:
                for answer in self._reader.feed(line):
                    yield answer, seconds
            self._waiting_bytes -= len(data)
            self.read_bytes += len(data)

    def _seconds(self) -> float:
        return self._clock() - self._bot.started
