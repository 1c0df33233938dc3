"""One bot process of a run: when it gets the next puzzle, and why it is stopped: limits, stall, no answer due."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime

import psutil
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import StartError
from nonobot.harness.play.run_events import NO_USAGE, Alive, AttemptStarted
from nonobot.harness.play.run_state import RunState
from nonobot.harness.process.bot_files import scratch_folder
from nonobot.harness.process.bot_process import BotProcess, StderrLog
from nonobot.harness.process.conversation import Conversation
from nonobot.harness.process.interrupts import stopping_with
from nonobot.harness.results.conditions import Feed
from nonobot.harness.results.run_result import Attempt, BotEnd, EndReason
from nonobot.harness.text import last_line_of
from nonobot.protocol import Answer, AnswerReader
from nonobot.protocol.answers import most_bytes_of_an_answer
from nonobot.protocol.clues import count
from nonobot.tournament_data import SetPuzzle

LINGER_SECONDS = 5.0  # grace period for exiting once no further answer can come
MOST_STRAY_BYTES = 1 << 20  # output that belongs to no answer, beyond which the judge stops the bot
MOST_STRAY_ANSWERS = 20_000  # answers that count for no puzzle, likewise: to judge them takes 0.2 s
SECONDS_BETWEEN_SIGNS = 2.0  # interval at which the journal records the usage so far
SECONDS_BETWEEN_LOOKS = 0.05  # interval of reading CPU time and memory: about 0.2 ms, not on the bot's core
SECONDS_TO_A_LOOK = 0.005  # from the start of the bot, which may end soon: further looks at 10, 20 and 40 ms
OUT_OF_MEMORY = "ended by the system, whose memory had run out"
IDLE_SHARE = 0.01  # share of the stall limit that a waiting process may compute: some runtimes have a timer


def play_attempt(run: RunState, leftovers: contextlib.ExitStack) -> None:
    """Start the bot on the remaining puzzles, judge its answers, and wait until it is gone."""
    puzzles, files = run.puzzles_left(), run.beginning.files
    folder = leftovers.enter_context(scratch_folder()) if files else None  # removed when `leftovers` closes
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    first = puzzles[0].number
    log = StderrLog(run.stderr_path, run.stderr_bytes)
    try:
        exchange = (folder, files, puzzles) if folder and files else None
        bot = BotProcess(run.beginning.command, log, run.configuration, run.access, exchange)
    except StartError as error:
        end = BotEnd(EndReason.NOT_STARTED, detail=str(error))
        run.end_attempt(Attempt(started_at, first, end, NO_USAGE), run.stderr_bytes)
        return
    with bot:
        created = 0.0
        with contextlib.suppress(psutil.Error):  # the bot has ended already
            created = psutil.Process(bot.pid).create_time()
        conditions = bot.sandboxed, bot.cgroup_measures, bot.filtered if bot.sandboxed else UNSET
        started = AttemptStarted(started_at, first, bot.pid, created, *conditions, mark=bot.mark)
        run.add(started)
        loop = AttemptLoop(run, bot, puzzles)
        with stopping_with(bot.signal):
            reason, detail = loop.listen()
        if not bot.exited:
            bot.stop(at_once=reason is EndReason.MEMORY_LIMIT)  # otherwise it continues to fill the memory
        if reason is not EndReason.PROTOCOL_ERROR:
            loop.judge_rest()
    end = loop.end(reason, detail)
    if end.reason is EndReason.PUZZLE_LIMIT:
        run.miss(run.referee.left()[0])
    attempt = started.ended(
        end,
        bot.usage,
        own_log=bot.exchange.own_log(bot.exit_status) if bot.exchange else UNSET,
        unmeasured=sorted(bot.unmeasured) or UNSET,
        cores_taken=sorted(bot.cores_taken) or UNSET,
        first_output_seconds=loop.conversation.first_seconds,
        stood_still_seconds=bot.standstill.seconds or UNSET,
    )
    run.end_attempt(attempt, log.received_bytes)


class AttemptLoop:
    """The loop that sends a bot its puzzles, reads and judges its answers, and enforces its limits.

    Times are in seconds since the start of the bot. Run seconds count from the start of the first attempt.
    """

    def __init__(self, run: RunState, bot: BotProcess, puzzles: Sequence[SetPuzzle]) -> None:
        board = puzzles[0].puzzle
        self._run = run
        self._bot = bot
        self._limits = run.configuration
        self._before = run.used  # the limits apply to all attempts together
        self._seconds_left = self._limits.wall_limit_seconds - self._before.wall_seconds
        self.conversation = Conversation(bot, AnswerReader(board.width, board.height), clock=self._clock)
        self._answer_bytes = most_bytes_of_an_answer(board)
        self._judged_before = len(run.puzzles)
        self._strays_before = run.referee.duplicate_count + run.referee.stray_count
        self._next_look = self._active = bot.started  # when the bot last computed or wrote
        self._active_cpu = 0.0
        self._next_sign = bot.started + SECONDS_BETWEEN_SIGNS
        self._silent_since = math.inf  # since when no further answer can come
        self._unsent = deque(puzzles if self._limits.feed is Feed.INTERACTIVE else ())
        self._sent_seconds: dict[int | None, float] = {}
        self._last_sent: int | None = None
        self._last_arrival = 0.0
        self._passed_cpu_limit = False  # before the last answer came
        self._trouble: str | None = None  # why the bot is not complete, as far as the judge can see
        if self._limits.feed is Feed.BATCH:
            self.conversation.send(b"".join(puzzle.text for puzzle in puzzles), True)
        self._feed()

    @property
    def complete(self) -> bool:
        """Whether no further answer is due."""
        return not self._run.referee.answers_due

    def listen(self) -> tuple[EndReason, str | None]:
        """Take answers until the bot ends or must be stopped; return the reason and a detail."""
        while True:
            # Check limits first and act on them last: answers written in time are read in between and count.
            # Read arrivals before judging: no timestamp waits for the check of earlier answers.
            breach = EndReason.INTERRUPTED if self._run.interrupts.stop_requested else self._breach()
            overdue = self._overdue()
            data = self.conversation.listen(self._next_look)
            if data:
                self._active = time.monotonic()
            judged = self.judge_next()
            if breach is EndReason.STALLED and self._bot.output_closed:
                return EndReason.CLOSED_STDOUT, None  # this end is more specific
            if breach:
                return breach, None
            if end := self._end_over_strays() or self._end_over_puzzle(overdue):
                return end
            if not data and not judged and (end := self._end_of_its_own()):
                return end
            # However much the bot writes: it may never be silent.
            if end := self._end_of_patience():
                return end
            if self._bot.exchange and (excess := self._bot.exchange.excess()):
                return EndReason.PROTOCOL_ERROR, excess
            self._give_a_sign()

    def judge_next(self) -> bool:
        """Judge the next answer; return whether there was one, unless too many count for no puzzle."""
        answer = None if self._has_too_many_strays else self.conversation.next_answer()
        if answer:
            self._judge(*answer)
        return answer is not None

    def judge_rest(self) -> None:
        """Judge all answers that have arrived."""
        while self.judge_next():
            pass
        self._judge_unfinished()

    def end(self, reason: EndReason, detail: str | None) -> BotEnd:
        """Return how the bot ended, which is gone, from the reason why the loop ended."""
        bot = self._bot
        if self.complete:
            reason = EndReason.CPU_LIMIT if self._passed_cpu_limit else EndReason.FINISHED
        elif reason is EndReason.CRASHED and bot.refused:
            last_line = last_line_of(self._run.stderr_path) or "no sandbox"
            detail = f"cannot start {self._run.beginning.command[0]!r}: {last_line}"
            reason, detail = EndReason.NOT_STARTED, f"{detail}; docs/sandbox.md says what a sandbox shows"
        else:
            detail = detail or (self._bot.exchange and self._bot.exchange.answers.trouble) or self._trouble
        return BotEnd(reason, None if bot.signal_name else bot.exit_status, bot.signal_name, detail)

    def _end_over_strays(self) -> tuple[EndReason, str | None] | None:
        """Return what is too much of the output that belongs to no answer."""
        answers = len(self._run.puzzles) - self._judged_before
        stray_bytes = self.conversation.read_bytes - answers * self._answer_bytes
        if stray_bytes > MOST_STRAY_BYTES:
            return EndReason.PROTOCOL_ERROR, f"{stray_bytes} bytes that belong to no answer"
        if self._has_too_many_strays:
            return EndReason.PROTOCOL_ERROR, f"more than {MOST_STRAY_ANSWERS:,} answers that count for no puzzle"
        return None

    @property
    def _has_too_many_strays(self) -> bool:
        referee = self._run.referee
        return referee.duplicate_count + referee.stray_count - self._strays_before > MOST_STRAY_ANSWERS

    def _judge_unfinished(self, has_ended: bool = False) -> None:
        """Judge the last answer if its last row has no line end; in parts, only once the bot has ended."""
        for answer, arrived_seconds in self.conversation.unfinished():
            if answer.solution:
                self._trouble = f"the last row of ${answer.number} has no line end"
            if answer.solution or has_ended:
                self._judge(answer, arrived_seconds)

    def _judge(self, answer: Answer, arrived_seconds: float) -> None:
        arrived = min(arrived_seconds, self._seconds_left)
        since = self._in_work_since(answer.number)
        if self._limits.feed is Feed.INTERACTIVE and (since is None or arrived < since):
            self._run.referee.refuse(answer)
            return
        took = None if since is None else arrived - since
        if self._run.judge(answer, self._before.wall_seconds + arrived, took):
            self._last_arrival = arrived
            self._feed()
            self._passed_cpu_limit = self.complete and self._has_passed_cpu_limit()

    def _feed(self) -> None:
        """Send the next puzzle once the previous one has its verdict."""
        while self._unsent and (self._last_sent is None or self._last_sent in self._run.referee.results):
            puzzle = self._unsent.popleft()
            self._last_sent = puzzle.number
            self._sent_seconds[puzzle.number] = self._seconds()
            self.conversation.send(puzzle.text, not self._unsent)

    def _in_work_since(self, number: int | None) -> float | None:
        """Return when the bot began a puzzle; None if it was not sent.

        With batch feed that is at the previous answer, or at the start of the bot: the judge cannot distinguish
        start-up from work.
        """
        return self._last_arrival if self._limits.feed is Feed.BATCH else self._sent_seconds.get(number)

    def _breach(self) -> EndReason | None:
        if self._bot.exited:
            return None
        now = self._clock()
        wall_end = self._bot.started + self._seconds_left
        if now >= wall_end:
            return EndReason.TIME_LIMIT
        if now < self._next_look:
            return None
        self._bot.look()
        pause = min(max(SECONDS_TO_A_LOOK, now - self._bot.started), SECONDS_BETWEEN_LOOKS)
        self._next_look = min(now + pause, wall_end)
        if self._is_over_cpu_limit:
            return EndReason.CPU_LIMIT
        return self._bot.limit_reached() or self._stall(now)

    @property
    def _is_over_cpu_limit(self) -> bool:
        limit, cpu = self._limits.cpu_limit_seconds, self._before.cpu_seconds + self._bot.usage.cpu_seconds
        return limit is not None and cpu >= limit

    def _has_passed_cpu_limit(self) -> bool:
        """Return whether the bot has used up its CPU time by now; the last look may be older than a standstill."""
        if self._limits.cpu_limit_seconds is not None:
            self._bot.look()
        return self._is_over_cpu_limit

    def _stall(self, now: float) -> EndReason | None:
        """Return STALLED if the bot neither computed nor wrote for the whole stall limit."""
        limit, cpu = self._limits.stall_limit_seconds, self._bot.usage.cpu_seconds
        if limit is None:
            return None
        if cpu - self._active_cpu > IDLE_SHARE * limit:
            self._active, self._active_cpu = now, cpu
        return EndReason.STALLED if now - self._active >= limit else None

    def _end_of_its_own(self) -> tuple[EndReason, str | None] | None:
        """Return how the bot ended, if it exited by itself; the end of its output completes a last line."""
        if not self._bot.exited:
            return None
        self._judge_unfinished(has_ended=True)
        for answer, arrived_seconds in self.conversation.close():
            self._judge(answer, arrived_seconds)
        if self._bot.left_running and self._bot.exit_status == 0:  # a launcher; the end of a crash is cause enough
            running = count(self._bot.left_running, "process")
            self._trouble = f"it ended while {running} that it had started ran; start the bot in the foreground"
        if not self.complete and self._has_passed_cpu_limit():
            return EndReason.CPU_LIMIT, None
        if self.complete or self._bot.exit_status == 0:
            return EndReason.FINISHED, None
        limit = self._bot.limit_reached()
        if not limit and self._bot.exit_status == -signal.SIGKILL and self._bot.ran_out_of_memory():
            return EndReason.MEMORY_LIMIT, OUT_OF_MEMORY
        return limit or EndReason.CRASHED, None

    def _end_of_patience(self) -> tuple[EndReason, str | None] | None:
        """Return why the judge stops waiting for a bot to end; None if it keeps waiting, or answers may come."""
        now = self._seconds()
        if self._bot.exited or not (self.complete or self._bot.output_closed):
            return None
        self._silent_since = min(self._silent_since, now)
        if now < self._silent_since + LINGER_SECONDS:
            return None
        late = f"stopped: it did not end within {LINGER_SECONDS:g} s of its last answer"
        return (EndReason.FINISHED, late) if self.complete else (EndReason.CLOSED_STDOUT, None)

    def _overdue(self) -> int | None:
        """Return the puzzle in work if its time has passed."""
        limit = self._limits.puzzle_limit_seconds
        # The first comparison is quick, and no puzzle began before the last answer.
        if (
            limit is None
            or self._seconds() <= self._last_arrival + limit
            or self._bot.output_closed
            or self.complete
        ):
            return None
        in_work: int = self._run.referee.left()[0]
        since = self._in_work_since(in_work)
        return in_work if since is not None and self._seconds() > since + limit else None

    def _end_over_puzzle(self, overdue: int | None) -> tuple[EndReason, str | None] | None:
        """Return the puzzle whose time had passed if nothing that came until now answers it."""
        if overdue is None or self._bot.exited:
            return None
        self.judge_rest()
        return (EndReason.PUZZLE_LIMIT, f"${overdue}") if self._overdue() == overdue else None

    def _give_a_sign(self) -> None:
        if time.monotonic() >= self._next_sign:
            self._next_sign += SECONDS_BETWEEN_SIGNS
            usage = replace(self._bot.usage, wall_seconds=self._seconds())
            self._run.add(Alive(usage, self._bot.standstill.seconds or UNSET))

    def _seconds(self) -> float:
        """Return the seconds since the start of the bot, up to the time limit."""
        return min(self._clock() - self._bot.started, self._seconds_left)

    def _clock(self) -> float:
        """Return the monotonic time; if the judge stood still, the bot counts as started later by that time."""
        if stood_still := self._bot.standstill.look():
            self._bot.started += stood_still
            self._active += stood_still
            self._next_sign = time.monotonic()
        return time.monotonic()  # of this module: a test can make it run faster for the whole attempt
