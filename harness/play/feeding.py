"""What a bot is sent, and when: all puzzles at once, or each after the answer to the one before."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence

from nonobot.harness.play.process import BotProcess
from nonobot.harness.results.model import Feed
from nonobot.tournament_data import SetPuzzle

__all__ = ["Feeder"]


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
