"""The form of a step: its declaration, its result, how it is carried out and how it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TextIO

from msgspec import Struct

from nonobot.harness.check.session import BotUnderTest, ShortfallError
from nonobot.harness.text import on_terminal

# The headings that state the rules, in docs/protocol.md, and the last one in docs/check.md.
QUESTION = "A question"
ANSWER = "An answer"
COUNTS = "What counts"
ONE_AT_A_TIME = "Puzzles one at a time"
FORGIVES = "What the question reader forgives"
REFUSES = "What it refuses"
UNSOLVED = "What `nonobot` answers when it has no solution"
PROCESS = "The bot's process"


class Level(StrEnum):
    """The weight of a step."""

    MUST = "must"  # a tournament needs it: without it the exit status is 1
    SHOULD = "should"  # a careful bot does it
    NOTE = "note"


MUST, SHOULD, NOTE = Level


class StepVerdict(StrEnum):
    """The verdict on a step."""

    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    SKIPPED = "skipped"


Test = Callable[[BotUnderTest], str | None]  # returns a note or None, or raises ShortfallError


@dataclass(frozen=True, slots=True)
class Step:
    """A rule of the protocol, stated in a `section` of docs/protocol.md or docs/check.md, and its test.

    The `name` stays when numbers change; `title` is the behaviour of a bot that passes. The step means nothing if
    one that it `needs`, or the first, did not pass.
    """

    name: str
    level: Level
    title: str
    why: str
    section: str
    test: Test
    needs: tuple[Step, ...] = ()


def step(level: Level, title: str, section: str, needs: tuple[Step, ...] = ()) -> Callable[[Test], Step]:
    """Make the test function below it a step of the same name, whose docstring states why it matters."""
    return lambda test: Step(test.__name__, level, title, test.__doc__ or "", section, test, needs)


class StepResult(Struct, omit_defaults=True):
    """The result of a step, with the texts of a shortfall, and all messages as `transcript`."""

    number: int
    name: str
    title: str
    level: Level
    verdict: StepVerdict
    took_seconds: float = 0.0
    note: str | None = None
    sent: str | None = None
    expected: str | None = None
    got: str | None = None
    advice: str | None = None
    rule: str | None = None
    breakdown: str | None = None  # how the bot ended, or did not end, in a puzzle that is not odd
    transcript: list[str] = []


def carried_out(
    steps: Sequence[Step], numbers: Collection[int], bot: BotUnderTest, on_start: Callable[[str], None]
) -> Iterator[StepResult]:
    """Carry out the steps with these numbers (from 1), each after a line for `on_start`, and yield the results."""
    missed: dict[Step, int] = {}
    breakdowns: dict[str, int] = {}
    for number in numbers:
        step = steps[number - 1]
        result = StepResult(number, step.name, step.title, step.level, StepVerdict.PASSED)
        cause = next((missed[needed] for needed in (steps[0], *step.needs) if needed in missed), None)
        if cause is None:
            most = bot.start_seconds + bot.patience_seconds
            waits = f"waiting for the first answer, up to {most:g} s"  # it fits a narrow terminal
            on_start(f"step {number} of {len(steps)}: {waits if step is steps[0] else step.title}")
            _carry_out(step, bot, result, breakdowns)
        else:
            result.verdict, result.note = StepVerdict.SKIPPED, f"needs check {cause}, which did not pass"
        # A minor shortfall does not make other steps meaningless.
        if result.verdict in (StepVerdict.FAILED, StepVerdict.SKIPPED):
            missed[step] = number
        yield result


def _carry_out(step: Step, bot: BotUnderTest, result: StepResult, breakdowns: dict[str, int]) -> None:
    """Carry a step out; `breakdowns`: for each, the first step with it."""
    bot.transcript.clear()
    began = time.monotonic()
    try:
        result.note = step.test(bot)
    except ShortfallError as short:
        is_failure = step.level is Level.MUST and not short.minor
        result.verdict = StepVerdict.FAILED if is_failure else StepVerdict.WARNING
        result.sent, result.expected = short.sent, short.expected
        result.got, result.advice = short.got, short.advice
        page = "docs/check.md" if step.section == PROCESS else "docs/protocol.md"
        result.rule = f"docs/protocol.md, {ANSWER}" if short.of_answers else f"{page}, {step.section}"
        if short.breakdown and (short.breakdown in breakdowns or not short.is_odd):
            result.breakdown = short.breakdown
            first = breakdowns.setdefault(short.breakdown, result.number)
            if first != result.number:
                result.advice = f"see check {first}, where the bot {short.breakdown} as well"
    result.took_seconds = time.monotonic() - began
    result.transcript = list(bot.transcript)


STYLES = {
    StepVerdict.PASSED: "green",
    StepVerdict.FAILED: "bold red",
    StepVerdict.WARNING: "yellow",
    StepVerdict.SKIPPED: "dim",
}

INDENT = " " * 13
HINTS = {"sent": "sent", "expected": "expected", "got": "got", "do": "advice", "rule": "rule"}  # by their labels


class Show:
    """Shows results line by line within a `with` block, on a terminal with colours and the current step below."""

    def __init__(self, stream: TextIO, verbose: bool) -> None:
        from rich.console import Console  # --help and --list do not need it

        self._verbose = verbose
        self._skipped: list[StepResult] = []  # consecutive steps with the same reason share a line
        terminal = on_terminal(stream)
        self._console = Console(file=stream, force_terminal=terminal, highlight=False, soft_wrap=True)
        self._status = self._console.status("")  # prints nothing without a terminal

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def begin(self, step: str) -> None:
        """Show a line about the step that is carried out next, on a terminal."""
        from rich.text import Text

        self._status.update(Text(step))

    def step(self, result: StepResult) -> None:
        """Show the result of a step."""
        if self._skipped and result.note != self._skipped[0].note:
            self._show_skipped()
        if result.verdict is StepVerdict.SKIPPED:
            self._skipped.append(result)
            return
        self._line(f"{result.number:3}  ", str(result.verdict), _after_verdict(result), STYLES[result.verdict])
        for label, name in HINTS.items():
            if text := getattr(result, name):
                self._line(INDENT, f"{label:<9}", f" {text}", "bold")
        for line in result.transcript if self._verbose else ():
            self._line(INDENT, line)

    def end(self, text: str) -> None:
        """Show the summary."""
        self._show_skipped()
        self._line(f"\n{text}")

    def _show_skipped(self) -> None:
        if self._skipped:
            first, last = self._skipped[0], self._skipped[-1]
            after = _after_verdict(first) if first is last else f"  up to check {last.number}  ({first.note})"
            self._line(f"{first.number:3}  ", "skipped", after, STYLES[StepVerdict.SKIPPED])
        self._skipped = []

    def _line(self, before: str, word: str = "", after: str = "", style: str = "") -> None:
        from rich.text import Text

        self._console.print(Text.assemble(before, (word, style), after))


def _after_verdict(result: StepResult) -> str:
    padding = " " * (9 - len(result.verdict))
    note = f"  ({result.note})" if result.note else ""
    return f"{padding}{result.level:<6}  {result.title}{note}"
