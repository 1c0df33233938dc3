"""The conditions of a run, as results record them: set, configuration, files, machine, measurement."""

from __future__ import annotations

import hmac
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import UNSET, Struct, UnsetType

from nonobot.harness.text import percent
from nonobot.tournament_data import PuzzleSet

MOST_SECONDS = 1e12  # longest time in a file
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # a whole number in a file, small enough to compute with
Figure = Annotated[float, msgspec.Meta(ge=-MOST_SECONDS, le=MOST_SECONDS)]
"""A time, share or load in a file, small enough that sums are finite."""

Revision = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{7,64}(-dirty)?\Z")]  # -dirty: edited files
PROCESS_LIMIT = 512  # default limit on the processes and threads of a bot
BUSY_SHARE = 0.1  # use of the usable CPU time by other processes at which a machine is called busy


class Feed(StrEnum):
    """How a bot gets its puzzles: all at once, or each after the answer to the previous one."""

    BATCH = "batch"
    INTERACTIVE = "interactive"


class Contain(StrEnum):
    """Whether bots run in a sandbox: if available (AUTO), always (YES) or never (NO)."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


class SetFacts(Struct, frozen=True):
    """The set of a run; results can be compared puzzle by puzzle only if `sha256` is the same."""

    name: str
    sha256: str
    width: Whole
    height: Whole
    puzzle_count: Whole
    setter: str | UnsetType = UNSET  # the bot that handed the set in for a match
    void: dict[Whole, str] | UnsetType = UNSET  # by number, the puzzles that count as solved, with the reason

    def __str__(self) -> str:
        void = f", {len(self.void)} void" if self.void else ""
        return f"{self.name} ({self.puzzle_count} of {self.width}x{self.height}{void}, sha256 {self.sha256[:8]})"

    @property
    def title(self) -> str:
        """Name in tables."""
        return f"puzzles of {self.setter}" if self.setter else self.name

    @classmethod
    def of(cls, puzzles: PuzzleSet) -> SetFacts:
        """Return the facts of a set."""
        own = (puzzles.setter or UNSET, dict(puzzles.void) or UNSET)
        return cls(puzzles.name, puzzles.sha256, puzzles.width, puzzles.height, len(puzzles.puzzles), *own)


class Configuration(Struct, frozen=True):
    """The configuration of a run; a limit of None means no limit.

    The limits and cores apply to the bot with its descendants.
    """

    feed: Feed = Feed.BATCH
    wall_limit_seconds: Figure = 7200.0  # for the whole set, over all attempts
    cpu_limit_seconds: Figure | None = None  # user and system time, for the whole set
    puzzle_limit_seconds: Figure | None = None  # wall time for each puzzle
    memory_limit_bytes: Whole | UnsetType | None = UNSET  # resident, shared pages once; by default a share
    stall_limit_seconds: Figure | None = None  # without computing or writing while answers are due
    core: Whole | tuple[Whole, ...] | None = None  # None: all
    any_order: bool = False  # whether a solution out of order is right
    contain: Contain = Contain.NO  # the commands' default is AUTO
    process_limit: Whole | None = None  # with threads, at any one time
    shared_core: str | UnsetType = UNSET  # name that two runs at once on one core share, and no others
    environment: dict[str, str] | UnsetType = UNSET  # in addition to the judge's own; files have digests
    environment_digests: dict[str, str] | UnsetType = UNSET  # of these variables, in files

    @property
    def digests(self) -> dict[str, str]:
        """A digest of each variable of the environment."""
        if self.environment_digests is not UNSET:
            return self.environment_digests
        return {name: digest_of_variable(name, value) for name, value in (self.environment or {}).items()}

    @property
    def most_memory_bytes(self) -> int | None:
        """The memory limit; None without one."""
        return None if self.memory_limit_bytes is UNSET else self.memory_limit_bytes

    @property
    def cores(self) -> tuple[int, ...]:
        """The cores that the bot may use; empty if it may use any."""
        if self.core is None:
            return ()
        return self.core if isinstance(self.core, tuple) else (self.core,)


def digest_of_variable(name: str, value: str) -> str:
    """Return a digest that shows whether a variable has the same value in two runs.

    It does not hide a value that somebody can guess, such as a number or a word. A slow digest would; but the
    results of a stranger may have any number of variables.
    """
    return hmac.digest(name.encode(), value.encode(errors="surrogateescape"), "sha256").hex()[:8]


class FileNames(Struct, frozen=True):
    """The files of a bot that works on files, as paths in its exchange folder."""

    reads: str
    writes: str
    logs: str | None = None  # the log of its own times


class ProgramFile(Struct, frozen=True):
    """A file of a bot, and a digest that shows whether it was replaced."""

    name: str  # the word that names it in a command
    sha256: str  # of the content; of a file with `modified_ns`, of its size and that time
    size_bytes: Whole | UnsetType = UNSET  # absent for several files together
    modified_ns: Whole | UnsetType = UNSET  # nanoseconds since 1970; the file is too large to read


class Machine(Struct, frozen=True):
    """The machine of a run; None where the system does not report it."""

    system: str  # the kernel and its release
    cpu: str
    python: str  # of the judge, as the versions of its libraries
    numpy: str | None
    numba: str | None
    logical_cores: Whole
    usable_cores: Whole
    memory_bytes: Whole
    governor: str | None
    load_average: Figure | None  # over one minute, at the start
    busy_share: Figure | None  # CPU time that others used just before the start, 0 to 1, of the usable cores


def busy_warning(machine: Machine) -> str | None:
    """Return a warning if the machine was busy before the run; otherwise None."""
    if machine.busy_share is None or machine.busy_share < BUSY_SHARE:
        return None
    return (
        f"the machine was busy: other processes used {percent(machine.busy_share)} of the cores just before the "
        "start; times may be too long"
    )


class CgroupMeasures(Struct, frozen=True):
    """Which figures of an attempt the cgroup measured; the judge sampled the others."""

    cpu: bool = False
    memory: bool = False
    processes: bool = False

    def __str__(self) -> str:
        named = {"CPU time": self.cpu, "memory": self.memory, "processes": self.processes}
        return ", ".join(name for name, is_counted in named.items() if is_counted) or "nothing"
