"""Where a step is carried out: conversations with the bot, each with a bot started anew."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType

from nonobot.harness.check import shim
from nonobot.harness.check.check_puzzles import Numbered, text_of
from nonobot.harness.play.bot_process import BotProcess, LastWords
from nonobot.harness.play.conversation import Conversation
from nonobot.harness.play.sandbox import Sandbox
from nonobot.protocol import Answer, AnswerReader, mismatches

__all__ = ["Lab", "ShortfallError", "Talk", "excerpt"]

MOST_OUTPUT_BYTES = 1 << 20
MOST_OUTPUT_BYTES_PER_CELL = 4000
"""Of a board: twice what the answers of the largest batch take. To a bot that writes more, and more than a
megabyte, nobody listens any longer."""

SECONDS_FROM_STDOUT_TO_END = 1.0
"""The stdout of a process that ends is closed a little before the process is gone."""


class ShortfallError(Exception):
    """The bot did not do what a step asks for.

    Parameters
    ----------
    sent, expected, got : str
        What happened, in short; `got` with an excerpt of what came back.
    advice : str
        What to do about it.
    minor : bool
        Whether it is a warning, also where the step is a MUST.
    """

    def __init__(self, sent: str, expected: str, got: str, advice: str, minor: bool = False) -> None:
        super().__init__(got)
        self.sent, self.expected, self.got, self.advice, self.minor = sent, expected, got, advice, minor


def excerpt(data: bytes, most: int = 70) -> str:
    """Return the beginning of `data`, up to `most` characters, as a quoted text that shows TAB and line ends."""
    shown = ""
    for character in data[: most + 1].decode("utf-8", "replace"):
        quoted = repr(character)[1:-1]
        if len(shown) + len(quoted) > most:
            return f"'{shown}...'"
        shown += quoted
    return f"'{shown}'"


@dataclass(slots=True)
class Lab:
    """What the steps have in common.

    Attributes
    ----------
    command : sequence of str
        The bot's.
    size : (int, int)
        Width and height of every board.
    patience_seconds : float
        How long a bot that has started may say nothing.
    start_seconds : float
        What is added up to the first answer: the most that a start may take, and, once it was measured, rather
        more than it took.
    folder : Path
        For the warden's reports.
    walls : Sandbox or None
        What stands around the bot.
    transcript : list of str
        What happened in the step being carried out.
    """

    command: Sequence[str]
    size: tuple[int, int]
    patience_seconds: float
    start_seconds: float
    folder: Path
    sandbox: Sandbox | None = None
    transcript: list[str] = field(default_factory=list)
    _serial: count[int] = field(default_factory=count)

    def talk(self, watch: str | None = None) -> Talk:
        """Return a new conversation; `watch` names what the warden is to look at or to withhold."""
        report = self.folder / f"{next(self._serial)}.report"
        command = self.command
        if watch:
            command = [sys.executable, "-P", shim.__file__, watch, str(report), *command]  # all within the walls
        return Talk(self, command, report)

    def ask(self, wanted: Sequence[Numbered], sent: str, advice: str, data: bytes | None = None) -> Talk:
        """Send a batch, close stdin, and demand the right answers.

        Parameters
        ----------
        wanted : sequence of (int, Puzzle)
            What has to be solved.
        sent, advice : str
            For the hint.
        data : bytes, optional
            What is sent; `wanted` in the official form unless given.
        """
        data = text_of(wanted) if data is None else data
        with self.talk() as talk:
            talk.send(data, last=True)
            talk.wait_for(wanted)
        talk.demand(wanted, f"{sent}: {excerpt(data)}", advice)
        return talk


class Talk:
    """One life of the bot: what it is sent and what it answers.

    Attributes
    ----------
    answers : list of Answer
        Those under a number.
    arrivals : list of float
        Seconds from the start at which each was complete.
    report : Path
        What the warden has to say.
    obeyed : bool
        Whether it ended without SIGKILL. Known after the `with` block, like the rest below.
    ended : bool
        Whether it ended by itself.
    """

    def __init__(self, lab: Lab, command: Sequence[str], report: Path) -> None:
        width, height = lab.size
        self.answers: list[Answer] = []
        self.arrivals: list[float] = []
        self.report = report
        self.ended = self.obeyed = False
        self._lab = lab
        self._lasted_seconds = 0.0
        self._output: list[bytes] = []
        self._words = LastWords()
        self._bot = BotProcess(command, self._words, sandbox=lab.sandbox)
        most_bytes = max(MOST_OUTPUT_BYTES, MOST_OUTPUT_BYTES_PER_CELL * width * height)
        self._conversation = Conversation(self._bot, AnswerReader(width, height), most_bytes, self._note_output)
        self._until = self._bot.started + lab.start_seconds + lab.patience_seconds

    def __enter__(self) -> Talk:
        self._bot.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bot.output_closed and kind is None:
            self._bot_ends(time.monotonic() + SECONDS_FROM_STDOUT_TO_END)
        self.ended = self._bot.exited
        self._lasted_seconds = time.monotonic() - self._bot.started
        self._bot.__exit__(kind, error, trace)
        self.obeyed = self.status != -signal.SIGKILL
        self._keep_what_is_there()
        for stamped in self._conversation.close():
            self._keep(stamped)
        self._note(self._how_it_ended())
        if self._words.data:
            self._note(f"stderr: {excerpt(self._words.data, 300)}")

    @property
    def status(self) -> int:
        """The exit status, -n for signal n. Known after the `with` block."""
        return self._bot.exit_status

    @property
    def exited(self) -> bool:
        """Whether the bot has ended."""
        return self._bot.exited

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
        """Send each piece in a write of its own, then close stdin; patience begins anew."""
        self._note(f"sent {len(pieces)} pieces: {excerpt(b''.join(pieces), 200)}, closed stdin")
        for number, piece in enumerate(pieces, 1):
            self._conversation.send(piece, last=number == len(pieces))
            self.listen(pause_seconds)
        self._until = max(self._until, time.monotonic() + self._lab.patience_seconds)

    def wait_for(self, wanted: Sequence[Numbered]) -> None:
        """Listen until all of `wanted` are answered, no more can come, or none comes as long as patience lasts."""
        missing = {number for number, _ in wanted} - {answer.number for answer in self.answers}
        while missing and (stamped := self._conversation.answer(self._until)):
            if self._keep(stamped):
                self._until = time.monotonic() + self._lab.patience_seconds
            missing -= {stamped[0].number}

    def listen(self, seconds: float) -> None:
        """Listen for so long, or until the bot ends."""
        until = time.monotonic() + seconds
        while stamped := self._conversation.answer(until):
            self._keep(stamped)

    def wait_for_end(self, more_seconds: float = 0.0) -> None:
        """Listen until the bot ends, as long as patience lasts and `more_seconds`."""
        self._bot_ends(max(self._until, time.monotonic() + self._lab.patience_seconds) + more_seconds)

    def stop(self) -> None:
        """Ask the bot to end, with SIGTERM, and with SIGKILL if it does not obey."""
        self._note("sent SIGTERM")
        self._bot.stop()

    def demand(self, wanted: Sequence[Numbered], sent: str, advice: str) -> None:
        """See that each puzzle has its right answer.

        Raises
        ------
        ShortfallError
            If not.
        """
        if fault := self._fault_in(wanted):
            numbers = ", ".join(f"${number}" for number, _ in wanted[:4]) + (", ..." if wanted[4:] else "")
            plural = "the right answers" if wanted[1:] else "the right answer"
            raise ShortfallError(sent, f"{plural} to {numbers}", fault, advice)

    def how_it_stood(self) -> str:
        """Return what became of the bot, with what it wrote in place of answers and its last line on stderr."""
        wrote = f"; on stdout: {excerpt(self.lines[0])}" if self._output and not self.answers else ""
        last = self._words.last_line
        return self._how_it_ended() + wrote + (f"; last on stderr: {last!r}" if last else "")

    def _bot_ends(self, until: float) -> None:
        """Listen until the bot has ended and all that it wrote is taken, or the clock reaches `until`."""
        while not self._bot.exited and time.monotonic() < until:
            self._listen_once(until)
        while self._bot.exited and not self._conversation.over:
            self._listen_once(0.0)

    def _listen_once(self, until: float) -> None:
        self._conversation.listen(until)
        self._keep_what_is_there()

    def _keep_what_is_there(self) -> None:
        while stamped := self._conversation.next_answer():
            self._keep(stamped)

    def _fault_in(self, wanted: Sequence[Numbered]) -> str | None:
        """Return what is wrong with the first answer at fault."""
        for number, puzzle in wanted:
            answer = next((one for one in self.answers if one.number == number), None)
            if answer is None:
                return f"no answer to ${number}; {self.how_it_stood()}"
            if answer.solution is None:
                return f"to ${number}, {answer.problem or (answer.word and repr(answer.word)) or 'nothing'}"
            if wrong := mismatches(puzzle, answer.solution):
                zeros = "" if answer.solution.cells.any() else "zeros; "
                return f"to ${number}, {zeros}{wrong[0]}"
        return None

    def _how_it_ended(self) -> str:
        if not self.ended:
            return f"the bot was still there after {self._lasted_seconds:.1f} s and was stopped"
        if self.status >= 0:
            return f"the bot ended with exit status {self.status}"
        known = -self.status in set(signal.Signals)
        return f"the bot was ended by {signal.Signals(-self.status).name if known else f'signal {-self.status}'}"

    def _note(self, what: str) -> None:
        self._lab.transcript.append(f"{time.monotonic() - self._bot.started:8.3f} s  {what}")

    def _note_output(self, data: bytes) -> None:
        self._note(f"got {len(data)} bytes: {excerpt(data, 200)}")
        self._output.append(data)

    def _keep(self, stamped: tuple[Answer, float]) -> bool:
        """Keep an answer under a number; return whether it is one."""
        if stamped[0].number is None:
            return False
        self.answers.append(stamped[0])
        self.arrivals.append(stamped[1])
        return True
