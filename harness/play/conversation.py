"""The judge's side of the protocol: what a bot is sent, and what it answers, whoever asks.

Layers that work without each other: a :class:`Stamper` makes answers of bytes and knows neither a process nor a
clock; a :class:`Feeder` knows which puzzle is in work; a :class:`Conversation` joins a stamper, a clock and a
:class:`Transport`, which is a bot's process (`bot_process.py`) or, in tests, a script.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from nonobot.harness.results.terms import Feed
from nonobot.protocol import Puzzle
from nonobot.tournament_data import SetPuzzle

__all__ = ["Conversation", "Feeder", "Reader", "Stamped", "Stamper", "Transport", "most_bytes_of_an_answer"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MOST_KEPT_BYTES = 1 << 16
"""What is kept of a line: a bot that never ends it does not fill the judge's memory."""

MOST_WAITING_BYTES = 2 << 20
"""Output that waits to be read before no more is taken: more than all the answers of a tournament."""


BYTES_PER_CELL = 4
"""What an answer may take for a cell: a digit, a separator, and some layout."""


def most_bytes_of_an_answer(board: Puzzle) -> int:
    """Return how much output an answer to `board` accounts for."""
    return BYTES_PER_CELL * (board.width + 1) * (board.height + 1)


class Transport(Protocol):
    """What carries a conversation; :class:`~nonobot.harness.play.bot_process.BotProcess` says it in full."""

    started: float
    exited: bool
    output_closed: bool

    def send(self, data: bytes, last: bool = False) -> None:
        """Queue `data` for the bot; nothing comes after the `last` of it."""

    def read(self, until: float) -> bytes:
        """Return output of the bot; none at its end, or when the clock reaches `until`."""


class Reader(Protocol[T_co]):
    """Makes answers of lines, such as `nonobot.protocol.AnswerReader`."""

    def feed(self, line: bytes) -> Sequence[T_co]:
        """Take the next line and return what it completed."""

    def close(self) -> Sequence[T_co]:
        """Take the end and return what it completed."""


@dataclass(frozen=True, slots=True)
class Stamped(Generic[T]):
    """An answer and when it was complete.

    Attributes
    ----------
    answer : T
    arrived_seconds : float
        Since the start of the bot.
    """

    answer: T
    arrived_seconds: float


class Stamper(Generic[T]):
    """Reads the answers in the bytes of a bot, each at the time that its last byte was handed in.

    Bytes are handed in as soon as they arrive and read when there is time: reading is slower than some bots are.

    Parameters
    ----------
    reader : Reader

    Attributes
    ----------
    waiting_bytes : int
        How much was handed in and is not read yet.
    read_bytes : int
        How much was read.
    """

    def __init__(self, reader: Reader[T]) -> None:
        self.waiting_bytes = 0
        self.read_bytes = 0
        self._reader = reader
        self._chunks: deque[tuple[bytes, float]] = deque()
        self._answers = self._read()
        self._unfinished = b""

    def hand_in(self, data: bytes, seconds: float) -> None:
        """Take bytes that arrived `seconds` after the start."""
        self.waiting_bytes += len(data)
        self._chunks.append((data, seconds))

    def next_answer(self) -> Stamped[T] | None:
        """Return the next answer; None if what was handed in completes no further one."""
        answer = next(self._answers, None)
        if answer is None:
            self._answers = self._read()
        return answer

    def close(self, seconds: float) -> list[Stamped[T]]:
        """Take the end of the output, when nothing waits any more; a last line need not have ended."""
        answers = self._reader.feed(self._unfinished) if self._unfinished else []
        self._unfinished = b""
        return [Stamped(answer, seconds) for answer in [*answers, *self._reader.close()]]

    def _read(self) -> Iterator[Stamped[T]]:
        while self._chunks:
            data, seconds = self._chunks.popleft()
            *lines, rest = (self._unfinished + data).split(b"\n")
            self._unfinished = rest[:MOST_KEPT_BYTES]
            for line in lines:
                for answer in self._reader.feed(line):
                    yield Stamped(answer, seconds)
            self.waiting_bytes -= len(data)
            self.read_bytes += len(data)


class Conversation(Generic[T]):
    """One life of a bot: it is sent something, and its answers are taken, with their times.

    Parameters
    ----------
    transport : Transport
    reader : Reader
        What its lines are read with.
    most_bytes : float
        To a bot that writes more nobody listens any longer.
    on_output : callable, optional
        Told of all bytes as they arrive.
    clock : callable, optional
        The transport's, in seconds.

    Attributes
    ----------
    over : bool
        Whether no further output can come, or is listened to.
    """

    def __init__(
        self,
        transport: Transport,
        reader: Reader[T],
        most_bytes: float = math.inf,
        on_output: Callable[[bytes], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.over = False
        self._transport = transport
        self._stamper = Stamper(reader)
        self._room = most_bytes
        self._on_output = on_output
        self._clock = clock

    @property
    def read_bytes(self) -> int:
        """How much output was read for answers."""
        return self._stamper.read_bytes

    def send(self, data: bytes, last: bool = False) -> None:
        """Queue `data` for the bot; its input ends after the `last` of it."""
        self._transport.send(data, last)

    def listen(self, until: float) -> bytes:
        """Take what the bot wrote, stamp and return it; wait for some, where none waits to be read."""
        waiting = self._stamper.waiting_bytes
        if waiting > MOST_WAITING_BYTES:
            return b""
        data = self._transport.read(0.0 if waiting else until)
        if not data:
            self.over = self.over or self._transport.exited or self._transport.output_closed
        elif self._room >= 0:
            self._stamper.hand_in(data, self._seconds())
            if self._on_output:
                self._on_output(data)
            self._room -= len(data)
            self.over = self._room < 0
        return data

    def next_answer(self) -> Stamped[T] | None:
        """Return the next answer in what was taken; None if it completes no further one."""
        return self._stamper.next_answer()

    def answer(self, until: float = math.inf) -> Stamped[T] | None:
        """Return the next answer, waiting for it; None if the clock reaches `until`, or none can come any more."""
        while True:
            if not self.over:
                self.listen(until)  # before the next is read: a stamp never waits for the reading of others
            answer = self.next_answer()
            if answer is not None or self.over or self._clock() >= until:
                return answer

    def ask(self, data: bytes, until: float = math.inf) -> Stamped[T] | None:
        """Send `data` and return the answer to it, as :meth:`answer` does."""
        self.send(data)
        return self.answer(until)

    def close(self) -> list[Stamped[T]]:
        """Take the end of the output, when nothing waits any more; a last line need not have ended."""
        return self._stamper.close(self._seconds())

    def _seconds(self) -> float:
        return self._clock() - self._transport.started


class Feeder:
    """Sends a bot its puzzles and knows how long each has been in work.

    All times are seconds since the start of the bot. Fed in a batch, a puzzle is in work from the answer before
    it, the first from the start of the bot: its start-up cannot be told from work. Fed one by one, from its
    sending.

    Parameters
    ----------
    send : callable
        Of the conversation.
    puzzles : sequence of SetPuzzle
    feed : Feed
    """

    def __init__(self, send: Callable[[bytes, bool], None], puzzles: Sequence[SetPuzzle], feed: Feed) -> None:
        self._send = send
        self._feed = feed
        self._unsent = deque(puzzles)
        self._sent_seconds: dict[int, float] = {}
        self._last_sent: int | None = None
        self._last_arrival_seconds = 0.0
        if feed is Feed.BATCH:
            self._unsent.clear()
            send(b"".join(puzzle.text for puzzle in puzzles), True)

    def go_on(self, answered: Container[int], seconds: float) -> None:
        """Send the next puzzle if there is one and the last that was sent is among the `answered`."""
        while self._unsent and (self._last_sent is None or self._last_sent in answered):
            puzzle = self._unsent.popleft()
            self._last_sent = puzzle.number
            self._sent_seconds[puzzle.number] = seconds
            self._send(puzzle.text, not self._unsent)

    def note_arrival(self, seconds: float) -> None:
        """Take the time of a first answer to a puzzle."""
        self._last_arrival_seconds = seconds

    def in_work_since(self, number: int | None) -> float | None:
        """Return when work on a puzzle began; None if it was not sent."""
        if self._feed is Feed.BATCH:
            return self._last_arrival_seconds
        return self._sent_seconds.get(number) if number is not None else None
