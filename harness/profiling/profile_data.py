"""A profile as data: what a bot stated about each puzzle, and what the judge's clock says about the whole."""

from __future__ import annotations

from msgspec import Struct

from nonobot.harness.results.run_result import BotEnd, Machine, SetFacts, Usage, Verdict

__all__ = ["PROFILE_SCHEMA_VERSION", "Profile", "PuzzleProfile"]

PROFILE_SCHEMA_VERSION = 1
"""Raised by a change that old readers cannot take."""


class PuzzleProfile(Struct, frozen=True):
    """What a bot stated about one puzzle, and the judge's verdict on its answer.

    Attributes
    ----------
    number : int
    verdict : Verdict
    seconds : float
        From the puzzle read to the answer written.
    step_seconds : dict of str to float
        Those of `seconds` that the steps of the search explain.
    counts : dict of str to int
    """

    number: int
    verdict: Verdict
    seconds: float
    step_seconds: dict[str, float]
    counts: dict[str, int]


class Profile(Struct, frozen=True, tag_field="kind", tag="profile"):
    """Where the time of a run went.

    Attributes
    ----------
    command : list of str
        The bot's, without what the judge added.
    set : SetFacts
    machine : Machine
    judge_version : str
    started_at : str
        UTC, ISO 8601.
    end : BotEnd
    usage : Usage
    first_answer_seconds, last_answer_seconds : float or None
        When answers arrived, from the start of the bot; None without any.
    puzzles : list of PuzzleProfile
        In the order in which they were solved; those that the bot stated something about.
    """

    command: list[str]
    set: SetFacts
    machine: Machine
    judge_version: str
    started_at: str
    end: BotEnd
    usage: Usage
    first_answer_seconds: float | None
    last_answer_seconds: float | None
    puzzles: list[PuzzleProfile]
    schema_version: int = PROFILE_SCHEMA_VERSION

    @property
    def right(self) -> int:
        """How many puzzles were answered right."""
        return sum(one.verdict is Verdict.RIGHT for one in self.puzzles)

    @property
    def totals(self) -> dict[str, int]:
        """The sum of each count over all puzzles."""
        totals: dict[str, int] = {}
        for puzzle in self.puzzles:
            for name, count in puzzle.counts.items():
                totals[name] = totals.get(name, 0) + count
        return totals
