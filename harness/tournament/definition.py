"""The file that defines a tournament: its bots, its sets and the configuration of its runs."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET

from nonobot.arguments import LONGEST_SECONDS, byte_count, either, size
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.exchange_folder import file_names
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.results.conditions import PROCESS_LIMIT, STALL_SECONDS, Configuration, Contain, Feed
from nonobot.harness.results.result_files import UNDECODABLE
from nonobot.tournament_data import PuzzleSet

Seconds = Annotated[float, msgspec.Meta(gt=0, le=LONGEST_SECONDS)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of every run; seconds, and bytes such as "4G", or "none". 0 for `stall` and `processes`: none."""

    time: Seconds = 7200.0
    cpu: Seconds | None = None
    puzzle: Seconds | None = None
    processes: Annotated[int, msgspec.Meta(ge=0, le=999_999)] = PROCESS_LIMIT
    memory: Annotated[str, msgspec.Meta(pattern="^([1-9][0-9]{0,15}[KMG]?|none)$")] | None = None
    stall: Annotated[float, msgspec.Meta(ge=0, le=LONGEST_SECONDS)] = STALL_SECONDS


class Entrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A bot: its name in tables, its command, and the command that warms it up, with a limit in seconds.

    In the sandbox it sees the files and folders that its command and `show` name.

    In commands `{size}` stands for the set's board size, such as 25x25, `{width}` and `{height}` for its sides,
    `{puzzle-limit}` for that limit in seconds (0: none), and `{python}` for the Python that runs the judge. A bot
    that works on files `reads` one and `writes` another, in a folder of its own, and may keep a log in a third.
    """

    name: str
    command: str | list[str]
    warm_up: str | list[str] | None = None
    warm_up_limit: Seconds | None = None
    reads: str | None = None
    writes: str | None = None
    logs: str | None = None
    show: list[str] = []


class PlayedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set, as `nonojudge run --set` takes it; `size` where its file does not state it."""

    set: str
    size: Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,3}x[1-9][0-9]{0,3}$")] | None = None


class Tournament(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Every bot on every set; results go to results/NAME/.

    Without a `core`, the runs take those that `nonojudge run` takes, `cores` of them for each bot.
    """

    name: str
    sets: list[str | PlayedSet]
    bots: list[Entrant]
    limits: Limits = Limits()
    feed: Feed = Feed.BATCH
    core: Annotated[int, msgspec.Meta(ge=0)] | Literal["any"] | None = None
    cores: Annotated[int, msgspec.Meta(ge=1)] = 1
    any_order: bool = False
    contain: Contain = Contain.AUTO

    @property
    def configuration(self) -> Configuration:
        """The configuration of every run."""
        core = tournament_core(self.cores) if self.core is None else self.core
        memory = self.limits.memory
        return Configuration(
            feed=self.feed,
            wall_limit_seconds=self.limits.time,
            cpu_limit_seconds=self.limits.cpu,
            puzzle_limit_seconds=self.limits.puzzle,
            memory_limit_bytes=UNSET if memory is None else either("none", None, byte_count)(memory),
            stall_limit_seconds=self.limits.stall or None,
            core=None if core == "any" else core,
            any_order=self.any_order,
            contain=self.contain,
            process_limit=self.limits.processes or None,
        )


def read_tournament(path: Path) -> Tournament:
    """Return the tournament that a file defines; UnusableError, with the place, if it defines none."""
    try:
        tournament = msgspec.toml.decode(path.read_bytes(), type=Tournament)
    except OSError as error:
        raise UnusableError(f"cannot read the tournament {path}: {error.strerror}") from None
    except UNDECODABLE as error:
        raise UnusableError(f"{path}: {error}") from None
    _check(path, tournament)
    return tournament


def _check(path: Path, tournament: Tournament) -> None:
    for kind, entries in (("bots", tournament.bots), ("sets", tournament.sets)):
        if not entries:
            raise UnusableError(f"{path}: no {kind}; a tournament needs at least one")
    names = Counter(file_name(bot.name) for bot in tournament.bots)
    for bot in tournament.bots:
        if names[file_name(bot.name)] > 1:
            raise UnusableError(f"{path}: the name {bot.name!r} does not tell its bot from another")
        if not _words(bot.command):
            raise UnusableError(f"{path}: the bot {bot.name!r} has no command")
        try:
            file_names(bot.reads, bot.writes, bot.logs, tournament.feed)
        except UnusableError as error:
            raise UnusableError(f"{path}: the bot {bot.name!r}: {error}") from None
    if tournament.core is not None and tournament.cores > 1:
        raise UnusableError(f"{path}: 'core' names the one core of a bot, and 'cores' gives it several: take one")


def played_set(played: str | PlayedSet) -> tuple[str, tuple[int, int] | None]:
    """Return the name of a set and the size of its boards, if the tournament states it."""
    if isinstance(played, str):
        return played, None
    return played.set, size(played.size) if played.size else None


def filled_in(command: str | list[str], puzzle_set: PuzzleSet, configuration: Configuration) -> list[str]:
    """Return a command as words, with its placeholders filled in."""
    values: dict[str, Any] = {
        "{python}": sys.executable,
        "{size}": f"{puzzle_set.width}x{puzzle_set.height}",
        "{width}": puzzle_set.width,
        "{height}": puzzle_set.height,
        "{puzzle-limit}": f"{configuration.puzzle_limit_seconds or 0:g}",
    }
    placeholder = re.compile("|".join(map(re.escape, values)))
    return [placeholder.sub(lambda match: str(values[match[0]]), word) for word in _words(command)]


def file_name(name: str) -> str:
    """Return `name` as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "unnamed"


def _words(command: str | list[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else command
