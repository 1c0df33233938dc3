"""What holds for a run: the set, the limits and the order of the answers, as its result states them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from nonobot.tournament_data import PuzzleSet

__all__ = ["PROCESS_LIMIT", "Contain", "Feed", "SetFacts", "Terms"]

PROCESS_LIMIT = 512
"""Processes and threads of a bot, where nothing else is said."""


class Feed(StrEnum):
    """How a bot gets its puzzles: all at once, or each after the answer to the one before."""

    BATCH = "batch"
    INTERACTIVE = "interactive"


class Contain(StrEnum):
    """Whether bots are contained: where that can be had, or not at all unless it can, or never."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


class SetFacts(Struct, frozen=True):
    """Which set was used; two results compare puzzle by puzzle only where `sha256` is the same."""

    name: str
    sha256: str
    width: int
    height: int
    puzzle_count: int

    @classmethod
    def of(cls, puzzle_set: PuzzleSet) -> SetFacts:
        """Return the facts of `puzzle_set`."""
        return cls(
            puzzle_set.name,
            puzzle_set.sha256,
            puzzle_set.width,
            puzzle_set.height,
            len(puzzle_set.puzzles),
        )


class Terms(Struct, frozen=True):
    """What holds for a run; a limit of None is none.

    Attributes
    ----------
    feed : Feed
    wall_limit_seconds : float
        For the whole set, over all legs.
    cpu_limit_seconds : float or None
        User and system time of the bot and all its descendants, over all legs.
    puzzle_limit_seconds : float or None
        Wall time for each puzzle.
    memory_limit_bytes : int or None
        Resident memory of the bot and all its descendants at one time, what they share counted once.
    stall_limit_seconds : float or None
        Time without any computing or writing while answers are due.
    core : int, tuple of int or None
        The core that the bot and its descendants run on, or several; None for all.
    any_order : bool
        Whether a solution that came out of order is right all the same.
    contain : Contain, optional
        Absent, as in results of before there was such a thing: NO.
    process_limit : int or None, optional
        Processes and threads of the bot and all its descendants at one time. Absent: none.
    beside : str, optional
        Of a run that had its core together with another one: a name that both have, and no other.
    """

    feed: Feed = Feed.BATCH
    wall_limit_seconds: float = 7200.0
    cpu_limit_seconds: float | None = None
    puzzle_limit_seconds: float | None = None
    memory_limit_bytes: int | None = None
    stall_limit_seconds: float | None = None
    core: int | tuple[int, ...] | None = None
    any_order: bool = False
    contain: Contain | UnsetType = UNSET
    process_limit: int | UnsetType | None = UNSET
    beside: str | UnsetType = UNSET

    @property
    def containment(self) -> Contain:
        """Whether the bot is to be contained."""
        return Contain.NO if self.contain is UNSET else self.contain

    @property
    def most_processes(self) -> int | None:
        """The limit on processes and threads."""
        return None if self.process_limit is UNSET else self.process_limit

    @property
    def cores(self) -> tuple[int, ...]:
        """Those that they may use; none are named where they may use any."""
        if self.core is None:
            return ()
        return self.core if isinstance(self.core, tuple) else (self.core,)
