"""What a step of the self-test is, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from nonobot.harness.check.session import Lab
from nonobot.harness.results.run_result import SCHEMA_VERSION

__all__ = ["PROCESS", "CheckResult", "Level", "Step", "StepResult", "StepVerdict", "Test", "step"]

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
    """How much a step weighs.

    MUST: a tournament needs it; failing it makes the exit status 1. SHOULD: a careful bot does it; a shortfall
    is a warning. NOTE: told for information.
    """

    MUST = "must"
    SHOULD = "should"
    NOTE = "note"


MUST, SHOULD, NOTE = Level


class StepVerdict(StrEnum):
    """What came of a step."""

    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    SKIPPED = "skipped"


Test = Callable[[Lab], str | None]
"""Carries a step out; returns a remark or None, and raises ShortfallError."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of the protocol, and how it is tried.

    Attributes
    ----------
    name : str
        For machines; it stays when numbers change.
    level : Level
    title : str
        What the bot does when it passes.
    why : str
        Why that matters, in a sentence.
    section : str
        The heading in docs/protocol.md (or docs/check.md) that states the rule.
    test : callable
    needs : tuple of Step
        Those without which this one says nothing; the first step is needed by all.
    """

    name: str
    level: Level
    title: str
    why: str
    section: str
    test: Test
    needs: tuple[Step, ...] = ()


def step(level: Level, title: str, why: str, section: str, needs: tuple[Step, ...] = ()) -> Callable[[Test], Step]:
    """Make a test, the function below it, a step of the same name; see :class:`Step`."""
    return lambda test: Step(test.__name__, level, title, why, section, test, needs)


class StepResult(Struct, omit_defaults=True):
    """What came of a step; the texts after `remark` are there where it did not pass.

    Attributes
    ----------
    number : int
        In the list of steps, from 1.
    remark : str or None
        What else was seen; of a skipped step, why.
    transcript : list of str
        What was sent and received, in order, shortened; seconds count from the start of the bot.
    """

    number: int
    name: str
    title: str
    level: Level
    verdict: StepVerdict
    took_seconds: float = 0.0
    remark: str | None = None
    sent: str | None = None
    expected: str | None = None
    got: str | None = None
    advice: str | None = None
    rule: str | None = None
    transcript: list[str] = []


class CheckResult(Struct, tag_field="kind", tag="check"):
    """All that a check found."""

    command: list[str]
    size: tuple[int, int]
    patience_seconds: float
    start_seconds: float
    judge_version: str
    conforms: bool
    steps: list[StepResult]
    schema_version: int = SCHEMA_VERSION
