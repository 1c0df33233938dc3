"""One run of a bot on a set: feeding, listening, ruling, ending."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.play.machine import machine_facts
from harness.play.process import BotProcess
from harness.play.stamping import StampedAnswer, Stamper
from harness.referee import Referee
from harness.results.model import BotEnd, EndReason, Feed, Leg, PuzzleResult, RunResult, SetFacts, Terms
from harness.version import judge_version
from tournament_data import PuzzleSet

__all__ = ["play"]

LINGER_SECONDS = 5.0
"""What a bot has to end by itself once no further answer can come."""

MOST_WAITING_BYTES = 2 << 20
"""Output that waits for its rulings before no more is read: more than all the answers of a tournament."""


def play(
    puzzle_set: PuzzleSet,
    command: Sequence[str],
    terms: Terms,
    stderr_path: Path,
    on_ruling: Callable[[PuzzleResult, float], None],
) -> RunResult:
    """Run `command` on `puzzle_set` and return what came of it, whatever the bot does.

    Parameters
    ----------
    puzzle_set : PuzzleSet
    command : sequence of str
        The bot's program and arguments.
    terms : Terms
    stderr_path : Path
        Where the bot's stderr is kept, if it writes any.
    on_ruling : callable
        Told of each ruling, and how many seconds after the start its answer arrived.

    Raises
    ------
    StartError
        If the command cannot be run.
    """
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    machine = machine_facts(terms.core)
    with BotProcess(command, stderr_path) as bot:
        match = _Match(puzzle_set, bot, terms, on_ruling)
        try:
            reason = match.listen()
        except KeyboardInterrupt:
            reason = EndReason.INTERRUPTED
        if not bot.exited:
            bot.stop()
        match.close(by_itself=reason is EndReason.FINISHED)
    end = _end(reason, bot.exit_status, match.all_answered)
    return RunResult(
        bot=Path(command[0]).name,
        command=list(command),
        set=SetFacts.of(puzzle_set),
        terms=terms,
        machine=machine,
        judge_version=judge_version(),
        started_at=started_at,
        warm_up_seconds=None,
        legs=[Leg(started_at, puzzle_set.puzzles[0].number, end, bot.usage)],
        stderr_bytes=bot.stderr_bytes,
        stderr_file=str(stderr_path) if bot.stderr_bytes else None,
        score=match.referee.score(),
    )


def _end(reason: EndReason, status: int, all_answered: bool) -> BotEnd:
    """Return how the bot ended; `status` is that of its process, -n for signal n."""
    if reason is EndReason.FINISHED and status != 0 and not all_answered:
        reason = EndReason.CRASHED
    if status >= 0:
        return BotEnd(reason, status)
    known = -status in set(signal.Signals)
    return BotEnd(reason, signal=signal.Signals(-status).name if known else f"signal {-status}")


class _Match:
    """The judge's side of a run: what was sent, what came back and when.

    Attributes
    ----------
    referee : Referee
    """

    def __init__(
        self,
        puzzle_set: PuzzleSet,
        bot: BotProcess,
        terms: Terms,
        on_ruling: Callable[[PuzzleResult, float], None],
    ) -> None:
        self.referee = Referee(puzzle_set, terms.any_order, terms.puzzle_limit_seconds)
        self._bot = bot
        self._terms = terms
        self._on_ruling = on_ruling
        self._stamper = Stamper(puzzle_set.width, puzzle_set.height)
        self._last_arrival_seconds = 0.0
        self._sent_seconds: dict[int, float] = {}  # by puzzle number, where puzzles are sent one by one
        self._unsent = deque(puzzle_set.puzzles)
        self._in_work: int | None = None  # number of the puzzle that was sent last
        if terms.feed is Feed.BATCH:
            self._unsent.clear()
            bot.send(puzzle_set.text, last=True)
        else:
            self._send_next()

    def listen(self) -> EndReason:
        """Take the bot's answers until it ends or has to be ended."""
        limit = until = self._bot.started + self._terms.wall_limit_seconds
        while True:
            # Arrivals go before rulings, so that a stamp never waits for the check of the answers before it.
            late = time.monotonic() >= until
            data = self._hand_in_what_is_there(until)
            if late:  # read once more at the limit: what was written in time counts
                return EndReason.TIME_LIMIT if until == limit else self._lingered()
            busy = self._rule_on_next()
            if self._bot.exited and not data and not busy:
                return EndReason.FINISHED
            if self.all_answered or self._bot.output_closed:
                until = min(until, time.monotonic() + LINGER_SECONDS)

    @property
    def all_answered(self) -> bool:
        """Whether no answer is due."""
        return not self.referee.left()

    def _lingered(self) -> EndReason:
        return EndReason.FINISHED if self.all_answered else EndReason.CLOSED_STDOUT

    def close(self, by_itself: bool) -> None:
        """Rule on what is left; an answer begun counts only if the bot ended `by_itself`."""
        while self._rule_on_next():
            pass
        if by_itself:
            for answer in self._stamper.close(self._seconds()):
                self._rule_on(answer)

    def _hand_in_what_is_there(self, until: float) -> bytes:
        """Stamp the bot's output; wait for some if there is nothing else to do."""
        waiting = self._stamper.waiting_bytes
        if waiting > MOST_WAITING_BYTES:
            return b""
        data = self._bot.read(0.0 if waiting else until)
        if data:
            self._stamper.hand_in(data, self._seconds())
        return data

    def _rule_on_next(self) -> bool:
        answer = self._stamper.next_answer()
        if answer:
            self._rule_on(answer)
        return answer is not None

    def _rule_on(self, stamped: StampedAnswer) -> None:
        number, arrived = stamped.answer.number, stamped.arrived_seconds
        ruling = self.referee.take(stamped.answer, arrived, self._took(number, arrived))
        if ruling:
            self._last_arrival_seconds = arrived
            self._on_ruling(ruling, arrived)
            self._send_next()

    def _seconds(self) -> float:
        return min(time.monotonic() - self._bot.started, self._terms.wall_limit_seconds)

    def _took(self, number: int | None, arrived: float) -> float | None:
        if self._terms.feed is Feed.BATCH:
            return arrived - self._last_arrival_seconds
        if number in self._sent_seconds:
            return arrived - self._sent_seconds[number]
        return None  # answered before it was sent

    def _send_next(self) -> None:
        """Send the next puzzle if there is one and the last that was sent has its answer."""
        while self._unsent and (self._in_work is None or self._in_work in self.referee.rulings):
            puzzle = self._unsent.popleft()
            self._in_work = puzzle.number
            self._sent_seconds[puzzle.number] = self._seconds()
            self._bot.send(puzzle.text, last=not self._unsent)
