"""The file that defines a tournament: which bots, which sets, on which terms."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from nonobot.arguments import LONGEST_SECONDS, byte_count, size
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.exchange_folder import file_names
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.results.conditions import (
    PROCESS_LIMIT,
    STALL_SECONDS,
    Configuration,
    Contain,
    Feed,
    FileNames,
)
from nonobot.tournament_data import PuzzleSet

__all__ = [
    "Entrant",
    "PlayedSet",
    "Tournament",
    "board_size",
    "file_name",
    "files_of",
    "filled_in",
    "read_tournament",
    "terms_of",
]

Seconds = Annotated[float, msgspec.Meta(gt=0, le=LONGEST_SECONDS)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of every run; seconds, and bytes such as "4G". 0 for `stall` and `processes`: none."""

    time: Seconds = 7200.0
    cpu: Seconds | None = None
    puzzle: Seconds | None = None
    processes: Annotated[int, msgspec.Meta(ge=0, le=999_999)] = PROCESS_LIMIT
    memory: Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,15}[KMG]?$")] | None = None
    stall: Annotated[float, msgspec.Meta(ge=0, le=LONGEST_SECONDS)] = STALL_SECONDS


class Entrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A bot: its name in tables, its command, and what prepares it before the clock starts.

    Contained, it sees what its command names and what `show` adds, files and folders.

    In commands `{size}` stands for the set's board size, such as 25x25, `{width}` and `{height}` for its sides,
    `{puzzle-limit}` for that limit in seconds (0: none), and `{python}` for the Python that runs the judge. A bot
    that works on files `reads` one and `writes` another, in a folder of its own, and may keep a log in a third.
    """

    name: str
    command: str | list[str]
    warm_up: str | list[str] | None = None
    reads: str | None = None
    writes: str | None = None
    logs: str | None = None
    show: list[str] = []


class PlayedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set, as `nonojudge run --set` takes it; `size` where its file does not state it."""

    set: str
    size: Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,3}x[1-9][0-9]{0,3}$")] | None = None


class Tournament(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Every bot on every set.

    Attributes
    ----------
    name : str
        Results go to results/NAME/.
    sets : list of str or PlayedSet
    bots : list of Entrant
    limits : Limits
    feed : Feed
    core : int or 'any', optional
        Without: those that `nonojudge run` takes.
    cores : int
        How many each bot has, where `core` names none.
    any_order : bool
    contain : Contain
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


def read_tournament(path: Path) -> Tournament:
    """Return the tournament that a file defines.

    Raises
    ------
    UnusableError
        If it cannot be read, or says what no tournament can be made of; the message names the place.
    """
    try:
        tournament = msgspec.toml.decode(path.read_bytes(), type=Tournament)
    except OSError as error:
        raise UnusableError(f"cannot read the tournament {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnusableError(f"{path}: {error}") from None
    _check(path, tournament)
    return tournament


def _check(path: Path, tournament: Tournament) -> None:
    for kind, found in (("bots", tournament.bots), ("sets", tournament.sets)):
        if not found:
            raise UnusableError(f"{path}: no {kind}; a tournament needs at least one")
    names = [file_name(bot.name) for bot in tournament.bots]
    twice = next((bot.name for bot in tournament.bots if names.count(file_name(bot.name)) > 1), None)
    if twice is not None:
        raise UnusableError(f"{path}: the name {twice!r} does not tell its bot from another")
    for bot in tournament.bots:
        if not _words(bot.command):
            raise UnusableError(f"{path}: the bot {bot.name!r} has no command")
        try:
            files_of(bot, tournament.feed)
        except UnusableError as error:
            raise UnusableError(f"{path}: the bot {bot.name!r}: {error}") from None
    if tournament.core is not None and tournament.cores > 1:
        raise UnusableError(f"{path}: 'core' names the one core of a bot, and 'cores' gives it several: take one")


def files_of(bot: Entrant, feed: Feed) -> FileNames | None:
    """Return the files of a bot; None for one that does not work on files.

    Raises
    ------
    UnusableError
        If no bot could work on them.
    """
    return file_names(bot.reads, bot.writes, bot.logs, feed)


def terms_of(tournament: Tournament) -> Configuration:
    """Return the terms of every run."""
    limits = tournament.limits
    core = tournament_core(tournament.cores) if tournament.core is None else tournament.core
    return Configuration(
        feed=tournament.feed,
        wall_limit_seconds=limits.time,
        cpu_limit_seconds=limits.cpu,
        puzzle_limit_seconds=limits.puzzle,
        memory_limit_bytes=byte_count(limits.memory) if limits.memory else None,
        stall_limit_seconds=limits.stall or None,
        core=None if core == "any" else core,
        any_order=tournament.any_order,
        contain=tournament.contain,
        process_limit=limits.processes or None,
    )


def board_size(played: str | PlayedSet) -> tuple[int, int] | None:
    """Return the size that a tournament states for a set."""
    return None if isinstance(played, str) or played.size is None else size(played.size)


def filled_in(command: str | list[str], puzzle_set: PuzzleSet, terms: Configuration) -> list[str]:
    """Return a command as words, with its placeholders filled in."""
    values: dict[str, Any] = {
        "{python}": sys.executable,
        "{size}": f"{puzzle_set.width}x{puzzle_set.height}",
        "{width}": puzzle_set.width,
        "{height}": puzzle_set.height,
        "{puzzle-limit}": f"{terms.puzzle_limit_seconds or 0:g}",
    }
    return [
        re.sub("|".join(map(re.escape, values)), lambda found: str(values[found[0]]), word)
        for word in _words(command)
    ]


def file_name(name: str) -> str:
    """Return `name` as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "unnamed"


def _words(command: str | list[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else command
