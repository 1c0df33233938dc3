"""A leg of a run: one life of the bot's process, from its start to its end."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil
from msgspec.structs import replace

from nonobot.harness.play.bot_files import Desk, scratch_folder
from nonobot.harness.play.bot_process import BotProcess, StartError, StderrLog
from nonobot.harness.play.containment import REFUSAL
from nonobot.harness.play.conversation import Conversation, Feeder, Stamped, most_bytes_of_an_answer
from nonobot.harness.play.journal import LegStarted
from nonobot.harness.play.run_state import NO_USAGE, RunState
from nonobot.harness.play.watchdog import Interrupts, Watch
from nonobot.harness.results.run_result import BotEnd, EndReason, Leg, Usage
from nonobot.harness.text import last_line
from nonobot.protocol import Answer, AnswerReader
from nonobot.tournament_data import SetPuzzle

__all__ = ["play_leg"]

LINGER_SECONDS = 5.0
"""What a bot has to end by itself once no further answer can come."""

MOST_STRAY_BYTES = 1 << 20
"""Output beyond what the answers so far account for: a bot that writes more is not in the protocol."""

SECONDS_BETWEEN_SIGNS = 5.0
"""How often it is written down what the bot has taken so far."""


def play_leg(run: RunState, interrupts: Interrupts) -> None:
    """Start the bot on the puzzles that are left, take its answers, and see it gone."""
    with scratch_folder() if run.files else contextlib.nullcontext(None) as folder:
        _play_leg_in(folder, run, interrupts)


def _play_leg_in(folder: Path | None, run: RunState, interrupts: Interrupts) -> None:
    puzzles = run.puzzles_left()
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    first = puzzles[0].number
    log = StderrLog(run.stderr_path, run.stderr_bytes)
    terms = run.terms
    try:
        desk = Desk(folder, run.files, puzzles) if folder and run.files else None
        bot = BotProcess(
            desk.command(run.command) if desk else run.command,
            log,
            terms.cores,
            dataclasses.replace(run.walls, scratch=folder) if run.walls and desk else run.walls,
            terms.memory_limit_bytes,
            terms.most_processes,
            desk.answers if desk else None,
        )
    except StartError as error:
        end = BotEnd(EndReason.NOT_STARTED, detail=str(error))
        run.end_leg(Leg(started_at, first, end, NO_USAGE), run.stderr_bytes)
        return
    with bot:
        run.start_leg(LegStarted(started_at, first, bot.pid, _created(bot.pid)))
        life = _Life(run, bot, puzzles, interrupts)
        reason, detail = life.listen()
        if not bot.exited:
            bot.stop()
        if reason is not EndReason.PROTOCOL_ERROR:
            life.rule_on_the_rest()
    if life.complete:
        reason = EndReason.FINISHED
    elif reason is EndReason.PUZZLE_LIMIT:
        life.miss_puzzle_in_work()
    elif reason is EndReason.CRASHED and (why := _refused(run, bot)):
        reason, detail = EndReason.NOT_STARTED, why
    if desk and not life.complete:
        detail = detail or desk.answers.trouble
    end = _end(reason, detail, bot.exit_status)
    leg = Leg(started_at, first, end, bot.usage, contained=bot.contained, counted=bot.tree.counted)
    run.end_leg(replace(leg, own_log=desk.own_log(bot.exit_status)) if desk else leg, log.received_bytes)


def _refused(run: RunState, bot: BotProcess) -> str | None:
    """Return why the walls did not let the command run, if they did not."""
    if bot.contained and bot.exit_status == 1 and not run.referee.rulings and run.stderr_path.exists():
        said = last_line(run.stderr_path.read_bytes())
        if said.startswith(REFUSAL):
            return f"cannot start {run.command[0]!r}: {said}"
    return None


def _created(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:  # it has ended already
        return 0.0


def _end(reason: EndReason, detail: str | None, status: int) -> BotEnd:
    """Return how the bot ended; `status` is that of its process, -n for signal n."""
    if status >= 0:
        return BotEnd(reason, status, detail=detail)
    known = -status in set(signal.Signals)
    return BotEnd(reason, signal=signal.Signals(-status).name if known else f"signal {-status}", detail=detail)


class _Life:
    """The judge's side of a leg: what is sent, what comes back and when, and what ends it."""

    def __init__(
        self, run: RunState, bot: BotProcess, puzzles: Sequence[SetPuzzle], interrupts: Interrupts
    ) -> None:
        board = puzzles[0].puzzle
        self._run = run
        self._bot = bot
        self._interrupts = interrupts
        self._before = run.used
        self._seconds_left = run.terms.wall_limit_seconds - self._before.wall_seconds
        # The clock is asked of this module, so that a test can let it run faster for all that a leg does.
        self._talk = Conversation(bot, AnswerReader(board.width, board.height), clock=time.monotonic)
        self._answer_bytes = most_bytes_of_an_answer(board)
        self._ruled_before = len(run.referee.rulings)
        self._watch = Watch(bot, run.terms, self._before)
        self._feeder = Feeder(self._talk.send, puzzles, run.terms.feed)
        self._feeder.go_on(run.referee.rulings, self._seconds())
        self._next_sign = bot.started + SECONDS_BETWEEN_SIGNS
        self._silent_since: float | None = None  # since when no further answer can come

    @property
    def complete(self) -> bool:
        """Whether no answer is due any more."""
        return not self._run.referee.answers_due

    def listen(self) -> tuple[EndReason, str | None]:
        """Take the bot's answers until it ends or has to be ended; return why, and a word more."""
        while True:
            # A limit is looked at first and acted on last: what was written in time is read before, and counts.
            # Arrivals go before rulings, so that a stamp never waits for the check of the answers before it.
            breach = EndReason.INTERRUPTED if self._interrupts.told else self._watch.breach()
            data = self._hand_in_what_is_there()
            busy = self._rule_on_next()
            if breach is EndReason.STALLED and self._bot.output_closed:
                return EndReason.CLOSED_STDOUT, None  # which says more
            if breach:
                return breach, None
            if self._stray_bytes > MOST_STRAY_BYTES:
                return EndReason.PROTOCOL_ERROR, f"{self._stray_bytes} bytes beside answers"
            if not data and not busy:
                end = self._end_of_its_own() or self._end_of_patience()
                if end:
                    return end
            self._give_a_sign()

    def rule_on_the_rest(self) -> None:
        """Rule on what arrived and is not read yet."""
        while self._rule_on_next():
            pass

    def miss_puzzle_in_work(self) -> None:
        """Rule that the answer that was waited for came too late."""
        self._run.miss(self._run.referee.left()[0], self._run_seconds(self._seconds()))

    def _hand_in_what_is_there(self) -> bytes:
        """Stamp the bot's output; wait for some if there is nothing else to do."""
        data = self._talk.listen(self._watch.wake)
        if data:
            self._watch.heard()
        return data

    def _rule_on_next(self) -> bool:
        answer = self._talk.next_answer()
        if answer:
            self._rule_on(answer)
        return answer is not None

    def _rule_on(self, stamped: Stamped[Answer]) -> None:
        arrived = min(stamped.arrived_seconds, self._seconds_left)
        since = self._feeder.in_work_since(stamped.answer.number)
        took = None if since is None else arrived - since
        if self._run.take(stamped.answer, self._run_seconds(arrived), took):
            self._feeder.note_arrival(arrived)
            self._feeder.go_on(self._run.referee.rulings, self._seconds())

    def _end_of_its_own(self) -> tuple[EndReason, str | None] | None:
        """Return how the bot ended, if it did; the end of its output completes a last line."""
        if not self._bot.exited:
            return None
        for answer in self._talk.close():
            self._rule_on(answer)
        if self.complete or self._bot.exit_status == 0:
            return EndReason.FINISHED, None
        return self._watch.cause_of_death() or EndReason.CRASHED, None

    def _end_of_patience(self) -> tuple[EndReason, str | None] | None:
        """Return why a bot that lives and writes nothing is not waited for any longer, if it is not."""
        now = self._seconds()
        if self.complete or self._bot.output_closed:
            self._silent_since = now if self._silent_since is None else self._silent_since
            if now < self._silent_since + LINGER_SECONDS:
                return None
            if self.complete:
                return (
                    EndReason.FINISHED,
                    f"stopped: it did not end within {LINGER_SECONDS:g} s of its last answer",
                )
            return EndReason.CLOSED_STDOUT, None
        limit = self._run.terms.puzzle_limit_seconds
        if limit is not None:
            in_work = self._run.referee.left()[0]
            since = self._feeder.in_work_since(in_work)
            if since is not None and now > since + limit:
                return EndReason.PUZZLE_LIMIT, f"${in_work}"
        return None

    @property
    def _stray_bytes(self) -> int:
        answers = len(self._run.referee.rulings) - self._ruled_before
        return self._talk.read_bytes - answers * self._answer_bytes

    def _give_a_sign(self) -> None:
        if time.monotonic() >= self._next_sign:
            self._next_sign += SECONDS_BETWEEN_SIGNS
            tree = self._bot.tree
            self._run.note_usage(Usage(self._seconds(), tree.cpu_seconds, tree.peak_memory_bytes))

    def _seconds(self) -> float:
        """Return the seconds since the start of the bot; the time limit is the last that there is."""
        return min(time.monotonic() - self._bot.started, self._seconds_left)

    def _run_seconds(self, seconds: float) -> float:
        return self._before.wall_seconds + seconds
