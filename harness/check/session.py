"""The bot under test, and a session with it: one process, its input and its answers."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nonobot.harness.check import shim
from nonobot.harness.check.check_puzzles import Numbered, text_of
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_process import DEFAULT_LIMITS, NOTHING_MORE, BotProcess, LastWords
from nonobot.harness.process.conversation import Conversation
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.referee import REPEAT_THE_NUMBER, common_mistake, judge
from nonobot.harness.results.run_result import OFF_BY_ONE, Verdict
from nonobot.harness.results.run_text import COMPUTING_SHARE, sandbox_hint
from nonobot.harness.text import ordinal
from nonobot.protocol import Answer, AnswerReader, Puzzle
from nonobot.protocol.clues import count, plural

SECONDS_BETWEEN_LOOKS = 0.02  # interval of reading CPU time


@dataclass(eq=False)
class ShortfallError(Exception):
    """The bot did not do what a step asks for; a `minor` shortfall is only a warning.

    A mistake `of_answers` breaks the rules on answers, whatever the step tests. A `breakdown` states how the bot
    ended, or did not end, in a puzzle; `is_odd` if the step's puzzles, which are odd, may be the cause.
    """

    sent: str
    expected: str
    got: str
    advice: str
    minor: bool = False
    of_answers: bool = False
    breakdown: str | None = None
    is_odd: bool = False


def excerpt(data: bytes, most: int = 70) -> str:
    """Return the beginning of `data`, up to `most` characters, quoted, with TAB and line ends made visible."""
    shown = ""
    for character in data[: most + 1].decode("utf-8", "replace"):
        quoted = repr(character)[1:-1]
        if len(shown) + len(quoted) > most:
            return f"'{shown}...'"
        shown += quoted
    return f"'{shown}'"


@dataclass(slots=True)
class BotUnderTest:
    """The bot that each step starts, the `report` of its shim, and the `transcript` of the current step.

    `patience_seconds` is the longest silence of a started bot. The first answer may take `start_seconds` more: the
    given limit, and after the first step a little more than the start took.
    """

    command: Sequence[str]
    size: tuple[int, int]
    patience_seconds: float
    start_seconds: float
    report: Path
    limits: Configuration = DEFAULT_LIMITS
    access: Access = NOTHING_MORE
    transcript: list[str] = field(default_factory=list)

    def session(self, watch: str | None = None) -> Session:
        """Return a new session; `watch` names what the shim is to look at or to withhold."""
        shimmed = [sys.executable, "-P", shim.__file__, watch, str(self.report)] if watch else []
        return Session(self, [*shimmed, *self.command])  # the shim is in the sandbox as well

    def ask(
        self,
        wanted: Sequence[Numbered],
        sent: str,
        advice: str,
        data: bytes | None = None,
        to_the_end: bool = False,
        watch: str | None = None,
        is_odd: bool = False,
    ) -> Session:
        """Send a batch or `data`, close stdin, wait for answers (or `to_the_end`), and demand the `wanted` ones.

        `sent`, `advice` and `is_odd` are for :class:`ShortfallError`, `watch` for :meth:`session`.
        """
        data = text_of(wanted) if data is None else data
        with self.session(watch) as session:
            session.send(data, last=True)
            session.wait_for(wanted)
            if to_the_end:
                session.wait_for_end()
        session.demand(wanted, f"{sent}: {excerpt(data)}", advice, is_odd)
        return session


class Session:
    """One process of the bot: messages sent, answers and their `arrivals` in seconds from the start.

    After the `with` block, `ended` is whether it ended by itself, `obeyed` whether it ended without SIGKILL.
    """

    def __init__(self, bot: BotUnderTest, command: Sequence[str]) -> None:
        width, height = bot.size
        self.answers: list[Answer] = []
        self._strays: list[Answer] = []  # output that belongs to no answer
        self.arrivals: list[float] = []
        self.ended = self.obeyed = False
        self._under_test = bot
        self._lasted_seconds = 0.0
        self._next_look = 0.0
        self._cpu_seconds = 0.0  # at the last answer
        self._unended: int | None = None  # the answer whose last row has no line end
        self._output: list[bytes] = []
        self._words = LastWords()
        self.process = BotProcess(command, self._words, bot.limits, bot.access)
        most_bytes = max(1 << 20, 4000 * width * height)  # twice the answers of the largest batch
        self._conversation = Conversation(self.process, AnswerReader(width, height), most_bytes, self._note_output)
        self._until = self.process.started + bot.start_seconds + bot.patience_seconds

    def __enter__(self) -> Session:
        self.process.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.process.output_closed and kind is None:
            self._listen_to_the_end(time.monotonic() + 1.0)  # a process that ends by itself ends by then
        self.ended = self.process.exited
        self._lasted_seconds = time.monotonic() - self.process.started
        if not self.ended:
            self.process.look()
        self.process.__exit__()
        self.obeyed = self.process.exit_status != -signal.SIGKILL
        self._keep_what_is_there()
        for answer, arrived_seconds in self._conversation.unfinished():
            self._unended = answer.number if answer.solution else None
            self._keep(answer, arrived_seconds)
        for answer, arrived_seconds in self._conversation.close():
            self._keep(answer, arrived_seconds)
        self._note(self._how_it_ended())
        if self._words.data:
            self._note(f"stderr: {excerpt(self._words.data, 300)}")

    @property
    def lines(self) -> list[bytes]:
        """All of its output, with line ends."""
        *whole, rest = b"".join(self._output).split(b"\n")
        return [line + b"\n" for line in whole] + ([rest] if rest else [])

    def send(self, data: bytes, last: bool = False) -> None:
        """Send `data`; after the `last` of it stdin is closed."""
        self._note(f"sent {len(data)} bytes: {excerpt(data, 200)}" + (", closed stdin" if last else ""))
        self._conversation.send(data, last=last)

    def send_pieces(self, pieces: Sequence[bytes], pause_seconds: float) -> None:
        """Send each piece once the bot has read the one before, then close stdin; patience starts again.

        On a busy machine it reads late: a pause alone would let pieces come together.
        """
        self._note(f"sent {len(pieces)} pieces: {excerpt(b''.join(pieces), 200)}, closed stdin")
        late = time.monotonic() + self._under_test.patience_seconds
        for number, piece in enumerate(pieces, 1):
            self._conversation.send(piece, last=number == len(pieces))
            self.listen(pause_seconds)
            while not (self.process.has_taken_input or self._conversation.over) and time.monotonic() < late:
                self.listen(pause_seconds)
        self._until = max(self._until, time.monotonic() + self._under_test.patience_seconds)

    def wait_for(self, wanted: Sequence[Numbered]) -> None:
        """Listen until all of `wanted` are answered, the bot can answer no more, or patience is exhausted."""
        missing = {number for number, _ in wanted} - {answer.number for answer in self.answers}
        while missing and (answer := self._conversation.answer(self._until)):
            if self._keep(*answer):
                self._until = time.monotonic() + self._under_test.patience_seconds
            missing -= {answer[0].number}

    def listen(self, seconds: float) -> None:
        """Listen for some time, or until the bot ends."""
        until = time.monotonic() + seconds
        while answer := self._conversation.answer(until):
            self._keep(*answer)

    def wait_for_end(self, more_seconds: float = 0.0) -> None:
        """Listen until the bot ends, as long as patience lasts and `more_seconds`."""
        until = max(self._until, time.monotonic() + self._under_test.patience_seconds)
        self._listen_to_the_end(until + more_seconds)

    def stop(self) -> None:
        """Ask the bot to end, with SIGTERM, and with SIGKILL if it does not obey."""
        self._note("sent SIGTERM")
        self.process.stop()

    def demand(self, wanted: Sequence[Numbered], sent: str, advice: str, is_odd: bool = False) -> None:
        """Raise ShortfallError if a puzzle does not have its right answer.

        If the bot broke down, its advice is about that, unless the puzzles are odd.
        """
        numbers = ", ".join(f"${number}" for number, _ in wanted[:4]) + (", ..." if wanted[4:] else "")
        expected = f"the right {plural(len(wanted), 'answer')} to {numbers}"
        for number, puzzle in wanted:
            answer = next((arrived for arrived in self.answers if arrived.number == number), None)
            if answer is None:
                raise self._unanswered(number, puzzle, (sent, expected), advice, is_odd)
            verdict, detail = judge(puzzle, answer)
            if verdict is not Verdict.RIGHT:
                mistake = common_mistake(dict(wanted), [*self.answers, *self._strays]) or ""
                what, _, remedy = mistake.partition(": ")
                got = "; ".join(filter(None, (f"to ${number}, {detail}", what)))
                raise ShortfallError(sent, expected, got, remedy or advice, of_answers=bool(mistake))

    def _unanswered(
        self, number: int, puzzle: Puzzle, asked: tuple[str, str], advice: str, is_odd: bool
    ) -> ShortfallError:
        others = [arrived.number for arrived in self.answers if judge(puzzle, arrived)[0] is Verdict.RIGHT]
        under = f" (its solution came as the answer to ${others[0]})" if others else ""
        got = f"no answer to ${number}{under}; {self.how_it_stood()}"
        better = f"{OFF_BY_ONE}; {REPEAT_THE_NUMBER}" if others else self._advice_on_form(number)
        if not better and not is_odd:
            better = self._remedy()
        breakdown = self.breakdown
        return ShortfallError(
            *asked, got, better or advice, of_answers=bool(others), breakdown=breakdown, is_odd=is_odd
        )

    def _advice_on_form(self, number: int) -> str | None:
        """Return advice on output that has no answer to a puzzle, if its form shows why."""
        if self._unended is not None:
            return f"end the last row of each answer with a line end; that of ${self._unended} has none"
        if (running := self.process.left_running) and self.process.exit_status == 0:
            left = f"it ended while {count(running, 'process')} that it had started ran"
            return f"start the bot in the foreground: {left}"
        if self.lines and not any(line.lstrip().startswith(b"$") for line in self.lines):
            return f"begin each answer with a line of '$' and the puzzle's number, here '${number}'"
        return None

    def how_it_stood(self) -> str:
        """Return how the bot ended, with its output in place of answers and its last line on stderr."""
        wrote = f"; on stdout: {excerpt(b''.join(self._output))}" if self._output and not self.answers else ""
        last = self.last_line
        return self._how_it_ended() + wrote + (f"; last on stderr: {last!r}" if last else "")

    @property
    def last_line(self) -> str:
        """The last line that the bot wrote to stderr."""
        return self._words.last_line

    @property
    def breakdown(self) -> str | None:
        """How the bot ended, or did not end, in a puzzle that it did not answer; None if it waited for input."""
        place = f"on its {ordinal(len(self.answers) + 1)} puzzle"
        if not self.ended:
            return f"computes without end {place}" if self._computed() else None
        if self.process.signal_name:
            return f"crashes ({self.process.signal_name}) {place}"
        if self.process.exit_status or self.answers:
            return f"exits with status {self.process.exit_status} {place}"
        return None

    def _remedy(self) -> str | None:
        """Return advice on the breakdown, if there was one."""
        if not self.breakdown:
            return None
        if not self.ended:
            slow = "" if self.answers else "; a start that takes longer needs --start-timeout"
            return f"look for a loop without end, and give a puzzle up after some seconds{slow}"
        is_missing_program = not self.process.signal_name and self.process.exit_status in (126, 127)
        if self.process.sandboxed and not is_missing_program and (hint := sandbox_hint(self.last_line)):
            return hint
        if self.process.signal_name:
            return "find the line with a debugger; in C and C++, compile with -g -fsanitize=address,undefined"
        if is_missing_program:
            return "install the program that its last line on stderr names, or correct the #! line that names it"
        if self.process.exit_status:
            return "find the cause in what the bot wrote to stderr; `nonojudge check --verbose` shows more"
        return "after each answer, read the next puzzle, until the input ends"

    def _computed(self) -> bool:
        """Return whether the bot computed since its last answer, rather than wait."""
        since = self.arrivals[-1] if self.arrivals else 0.0
        cpu_seconds = self.process.usage.cpu_seconds - self._cpu_seconds
        return cpu_seconds > COMPUTING_SHARE * (self._lasted_seconds - since)

    def _listen_to_the_end(self, until: float) -> None:
        """Listen until the bot has ended and its whole output is read, or the clock reaches `until`."""
        while not self._conversation.over if self.process.exited else time.monotonic() < until:
            self._conversation.listen(0.0 if self.process.exited else until)
            self._keep_what_is_there()

    def _keep_what_is_there(self) -> None:
        while answer := self._conversation.next_answer():
            self._keep(*answer)

    def _how_it_ended(self) -> str:
        if not self.ended:
            doing = "computing" if self._computed() else "without computing"
            return f"the bot was still there after {self._lasted_seconds:.1f} s, {doing}, and was stopped"
        if self.process.signal_name:
            return f"the bot was ended by {self.process.signal_name}"
        return f"the bot exited with status {self.process.exit_status}"

    def _note(self, note: str) -> None:
        self._under_test.transcript.append(f"{time.monotonic() - self.process.started:8.3f} s  {note}")

    def _note_output(self, data: bytes) -> None:
        self._note(f"got {len(data)} bytes: {excerpt(data, 200)}")
        self._output.append(data)

    def _keep(self, answer: Answer, arrived_seconds: float) -> bool:
        """Keep an answer under a number; return whether it is one."""
        if answer.number is None:
            self._strays.append(answer)
            return False
        self.answers.append(answer)
        self.arrivals.append(arrived_seconds)
        if not self.process.exited and time.monotonic() >= self._next_look:
            self.process.look()
            self._cpu_seconds = self.process.usage.cpu_seconds
            self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        return True
