"""The judge's side of the protocol: bytes sent to a bot, and its answers with their arrival times."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import UNSET, UnsetType

if TYPE_CHECKING:
    from nonobot.harness.process.bot_process import BotProcess

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MOST_KEPT_BYTES = 1 << 16  # longest kept part of a line: an endless line cannot fill the judge's memory
MOST_WAITING_BYTES = 2 << 20  # unread output at which the judge stops reading: more than a tournament's answers


class Reader(Protocol[T_co]):
    """A parser of text lines into answers, such as `nonobot.protocol.AnswerReader`."""

    def feed(self, line: bytes) -> Sequence[T_co]:
        """Take the next line and return the answers that it completes."""

    def close(self) -> Sequence[T_co]:
        """Take the end and return the answers that it completes."""


class Conversation(Generic[T]):
    """A conversation with one bot process, or with a script in its place.

    An answer comes with the seconds from the start of the bot to the arrival of the answer's last byte. The judge
    timestamps bytes when they arrive and parses them later: parsing is slower than some bots.

    After `most_bytes` of output the judge stops listening. `on_output` gets all bytes as they arrive.
    """

    def __init__(
        self,
        bot: BotProcess,
        reader: Reader[T],
        most_bytes: float = math.inf,
        on_output: Callable[[bytes], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.over = False  # whether no further output can come, or the judge has stopped listening
        self.read_bytes = 0  # parsed so far
        self.first_seconds: float | UnsetType = UNSET  # arrival of the first byte
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
        self._last_seconds = 0.0  # arrival of the last byte

    def listen(self, until: float) -> bytes:
        """Read, timestamp and return output of the bot; wait for it if none is left to parse."""
        if self._waiting_bytes > MOST_WAITING_BYTES:
            return b""
        data = self._bot.read(0.0 if self._waiting_bytes else until)
        if not data:
            self.over = self.over or self._bot.exited or self._bot.output_closed
        elif self._room >= 0:
            self._last_seconds = self._clock() - self._bot.started
            self._chunks.append((data, self._last_seconds))
            if self.first_seconds is UNSET:
                self.first_seconds = self._last_seconds
            self._waiting_bytes += len(data)
            if self._on_output:
                self._on_output(data)
            self._room -= len(data)
            self.over = self._room < 0
        return data

    def next_answer(self) -> tuple[T, float] | None:
        """Return the next complete answer in the output read so far; None if there is none."""
        answer = next(self._answers, None)
        if answer is None:
            self._answers = self._read()
        return answer

    def answer(self, until: float = math.inf) -> tuple[T, float] | None:
        """Wait for the next answer; return None if the clock reaches `until`, or no further answer can come."""
        while True:
            if not self.over:
                self.listen(until)  # before parsing: a timestamp never waits for other answers
            answer = self.next_answer()
            if answer is not None or self.over or self._clock() >= until:
                return answer

    def unfinished(self) -> list[tuple[T, float]]:
        """Return the answers that the last line completes, although it has no line end yet."""
        answers = self._reader.feed(self._unfinished) if self._unfinished else []
        self._unfinished = b""
        return [(answer, self._last_seconds) for answer in answers]

    def close(self) -> list[tuple[T, float]]:
        """Return the answers that the end of the output completes."""
        return [*self.unfinished(), *((answer, self._last_seconds) for answer in self._reader.close())]

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
