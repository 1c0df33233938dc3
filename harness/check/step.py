"""What a step of the self-test is, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from nonobot.harness.results.run_result import SCHEMA_VERSION

if TYPE_CHECKING:
    from nonobot.harness.check.lab import Lab

__all__ = ["CheckResult", "Level", "ShortfallError", "Step", "StepResult", "StepVerdict", "Test"]


class Level(StrEnum):
    """How much a step weighs.

    MUST: a tournament needs it; failing it makes the exit status 1. SHOULD: a careful bot does it; a shortfall
    is a warning. NOTE: told for information.
    """

    MUST = "must"
    SHOULD = "should"
    NOTE = "note"


class StepVerdict(StrEnum):
    """What came of a step."""

    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    SKIPPED = "skipped"


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


Test = Callable[["Lab"], str | None]
"""Carries a step out; returns a remark or None, and raises ShortfallError."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of the protocol, and how it is tried.

    Attributes
    ----------
    level : Level
    title : str
        What the bot does when it passes.
    why : str
        Why that matters, in a sentence.
    section : str
        The heading in docs/protocol.md (or docs/check.md) that states the rule.
    test : callable
    needs : tuple of callable
        The tests of steps without which this one says nothing; the first step is needed by all.
    """

    level: Level
    title: str
    why: str
    section: str
    test: Test
    needs: tuple[Test, ...] = ()

    @property
    def name(self) -> str:
        """A name for machines; it stays when numbers change."""
        return self.test.__name__


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
