"""The file that defines a tournament: bots, sets, limits, placeholders, all checked; the names of its results."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import unicodedata
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET

from nonobot.arguments import LONGEST_SECONDS, command_words, similar_names, size, variable
from nonobot.harness import UnusableError
from nonobot.harness.process.bot_files import file_names
from nonobot.harness.process.machine import tournament_core
from nonobot.harness.process.nonobot_command import OWN_JUDGE
from nonobot.harness.process.paths import is_here
from nonobot.harness.process.start_fault import INTERPRETERS
from nonobot.harness.results.conditions import Configuration, Contain, Feed
from nonobot.harness.results.terms import LIMITS
from nonobot.harness.toml_files import read_toml
from nonobot.protocol.formats import FormatError, format_named
from nonobot.tournament_data import PuzzleSet

Seconds = Annotated[float, msgspec.Meta(gt=0, le=LONGEST_SECONDS)]

ADAPTED = ("file", "output")
PLACEHOLDERS = ("python", "size", "width", "height", "puzzle-limit")

OF_A_MATCH = ("puzzles", "puzzles_each", "setter_solutions", "size")  # keys of a tournament or a bot
MATCH_PUZZLES, MATCH_SIZE = 100, "25x25"  # of each participant's set, as in the events

MOST_NAME_BYTES = 90  # of a set or bot in the name of a file: most file systems take 255 in all

_PLACEHOLDER = re.compile(r"\{(\{[A-Za-z][\w-]*\})\}|(?<!\$)\{([A-Za-z][\w-]*)\}")
"""`{{word}}` for the text `{word}`, or a placeholder; not the `${word}` of shells."""


Limits = msgspec.defstruct(
    "Limits",
    [(limit.key, limit.in_file | None, limit.default) for limit in LIMITS.values()],
    frozen=True,
    forbid_unknown_fields=True,
)
"""Limits of every run, by their keys; None for the default of the configuration."""


class Entrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A bot; the commands may have placeholders:

    - `{size}`: board size of the set, such as 25x25; also `{width}` and `{height}`.
    - `{puzzle-limit}`: that limit in seconds, 0 without one.
    - `{python}`: the Python that runs the judge.
    - `{{word}}`: the text `{word}`.
    - with `adapt`: `{file}` and `{output}`, as for `nonojudge adapt`.
    """

    name: str  # in tables
    command: str | list[str]
    adapt: str | None = None  # the format of the files that the command solves, if it does not speak the protocol
    warm_up: str | list[str] | None = None  # the command that warms the bot up
    warm_up_limit: Seconds | None = None
    reads: str | None = None  # a bot that works on files reads one and writes another, in its own folder
    writes: str | None = None
    logs: str | None = None
    show: list[str] = []  # what it sees in the sandbox in addition to what its command names
    environment: dict[str, str] = {}  # in addition to that of the tournament
    puzzles: str | None = None  # the set that it hands in for a match
    setter_solutions: str | None = None  # an answer file for its set


class PlayedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set, as `nonojudge run --set` takes it."""

    set: str
    size: str | None = None  # needed if its file does not state it


class Tournament(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Every bot on every set, or in a match on the puzzles of all others; results go to results/NAME/."""

    name: str
    bots: list[Entrant]
    sets: list[str | PlayedSet] = []
    format: Literal["league", "match"] = "league"
    puzzles_each: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None  # of a match; None: 100
    size: str | None = None  # of the boards of a match; None: 25x25
    limits: Limits = Limits()  # type: ignore[valid-type]  # made from a table
    feed: Feed = Feed.BATCH
    core: Annotated[int, msgspec.Meta(ge=0)] | Literal["any"] | None = None  # None: as `nonojudge run`
    cores: Annotated[int, msgspec.Meta(ge=1)] = 1  # of each bot
    any_order: bool = False
    contain: Contain = Contain.AUTO
    environment: dict[str, str] = {}  # of every bot

    @property
    def configuration(self) -> Configuration:
        """The configuration of every run, without the variables of single bots."""
        core = tournament_core(self.cores) if self.core is None else self.core
        return Configuration(
            feed=self.feed,
            core=None if core == "any" else core,
            any_order=self.any_order,
            contain=self.contain,
            environment=self.environment or UNSET,
            **_limits(self.limits),
        )


def read_tournament(path: Path) -> Tournament:
    """Return the tournament that a file defines; UnusableError, with the place, if the file is not usable."""
    tournament = read_toml(path, Tournament, _VALUES, "the tournament ")
    with _at(path):
        _check(tournament)
    return tournament


@contextlib.contextmanager
def _at(place: object) -> Iterator[None]:
    """Put a place in the file before the message of an error in the block."""
    try:
        yield
    except (UnusableError, ArgumentTypeError, ValueError, FormatError) as error:
        raise UnusableError(f"{place}: {error}") from None


def _check(tournament: Tournament) -> None:
    if not tournament.bots:
        raise UnusableError("no bots; a tournament needs at least one")
    if why := _unlike_its_format(tournament):
        raise UnusableError(why)
    name = tournament.name
    if "/" in name or name in ("", ".", "..") or not name.isprintable():
        raise UnusableError(f"name: {name!r} cannot be a folder name; results go to results/NAME/")
    names = Counter(bot.name for bot in tournament.bots)
    for bot in tournament.bots:
        with _at(f"the bot {bot.name!r}"):
            if names[bot.name] > 1:
                raise UnusableError("another bot has this name; rename one")
            _check_bot(bot, tournament.feed)
    _require_variables(tournament.environment)
    with _at("size"):
        size(tournament.size or MATCH_SIZE)
    _limits(tournament.limits)
    _check_sets(tournament.sets)
    if tournament.core is not None and tournament.cores > 1:
        raise UnusableError("'core' selects one core and 'cores' several; choose one of them")


def _check_bot(bot: Entrant, feed: Feed) -> None:
    if not _words(bot.command):
        raise UnusableError("no command")
    if bot.adapt is not None:
        format_named(bot.adapt)
    _require_known(_words(bot.command), PLACEHOLDERS + (ADAPTED if bot.adapt else ()))
    _require_known(_words(bot.warm_up or []), PLACEHOLDERS)
    _require_known(filter(None, (bot.reads, bot.writes, bot.logs, *bot.show)), ())
    file_names(bot.reads, bot.writes, bot.logs, feed)
    _require_variables(bot.environment)


def _check_sets(sets: Sequence[str | PlayedSet]) -> None:
    earlier: set[str] = set()
    for number, played in enumerate(sets, 1):
        with _at(f"set {number}"):
            _require_known([played if isinstance(played, str) else played.set], ())
            name, _ = played_set(played)
            if name in earlier:
                raise UnusableError("an earlier set has this name; remove one")
            earlier.add(name)


def require_files(path: Path, tournament: Tournament) -> None:
    """Raise UnusableError if a file in `show` is missing, or a named file is missing here but next to `path`."""
    with _at(path):
        for number, played in enumerate(tournament.sets, 1):
            with _at(f"set {number}"):
                _require_not_in(path.parent, [played_set(played)[0]])
        for bot in tournament.bots:
            own = [*bot.show, bot.puzzles, bot.setter_solutions, *_words(bot.command), *_words(bot.warm_up or [])]
            with _at(f"the bot {bot.name!r}"):
                _require_not_in(path.parent, filter(None, own))
                for shown in bot.show:
                    if not is_here(shown):
                        raise UnusableError(f"show: {shown!r}: no such file or folder")


def _require_not_in(folder: Path, names: Iterable[str]) -> None:
    """Raise UnusableError if one of `names` is that of a file in `folder`, and of none here."""
    for name in names:
        is_name_of_file = "/" in name or "." in name  # not of an official set, a program or a module
        if is_name_of_file and not is_here(name) and is_here(str(folder / name)):
            raise UnusableError(f"{name!r} is in {folder}; paths start at the current folder, so go there first")


def missing_files(bot: Entrant) -> list[str]:
    """Return the words of its commands that look like names of files, but name none; without the programs."""
    words = [word for command in (bot.command, bot.warm_up or []) for word in _words(command)[1:]]
    own = (bot.reads, bot.writes, bot.logs)  # they are there when it runs
    names = [word for word in words if "/" in word or Path(word).suffix in INTERPRETERS]
    others = re.compile(r"[\s{]|^-|://")  # program texts, placeholders, options and addresses
    return [word for word in names if not (others.search(word) or word in own or is_here(word))]


def _unlike_its_format(tournament: Tournament) -> str:
    """Return what a tournament of another format has, or this one lacks; empty if it fits its format."""
    if tournament.format == "league":
        owners = (tournament, *tournament.bots)
        if keys := [key for key in OF_A_MATCH if any(getattr(owner, key, None) for owner in owners)]:
            names = ", ".join(keys).replace("_", "-")
            return f'{names}: only for a match; write format = "match" above the first [table]'
        return "" if tournament.sets else "no sets; a tournament needs at least one"
    if tournament.sets:
        return 'sets: a match has no sets of its own; each bot names its puzzles: puzzles = "FILE" in [[bots]]'
    if len(tournament.bots) < 2:
        return "a match needs two or more bots"
    without = [repr(bot.name) for bot in tournament.bots if not bot.puzzles]
    return f'no puzzles of {", ".join(without)}; write puzzles = "FILE" in its [[bots]]' if without else ""


_VALUES = {
    "format": "'league' or 'match'",
    "sets": 'a list, such as ["taai2011"]',
    "bots": "a list; start each entry with [[bots]]",
    "environment": 'a table of strings, such as {NAME = "value"}',
    "feed": " or ".join(Feed),
    "contain": " or ".join(Contain),
    "core": "the number of a core or 'any'",
}
"""What the values of some keys must be, for messages."""


def _limits(given: msgspec.Struct) -> dict[str, Any]:
    """Return the limits that are given, by their fields of the configuration; UnusableError with the key."""
    limits = {}
    for name, limit in LIMITS.items():
        if (value := getattr(given, limit.key)) is not None:
            with _at(f"[limits] {limit.key}"):
                limits[name] = limit.of_file(value)
    return limits


def played_set(played: str | PlayedSet) -> tuple[str, tuple[int, int] | None]:
    """Return the name of a set and the size of its boards, if the tournament states it."""
    if isinstance(played, str):
        return played, None
    with _at("size"):
        return played.set, size(played.size) if played.size else None


def filled_in(command: str | list[str], puzzle_set: PuzzleSet, configuration: Configuration) -> list[str]:
    """Return a command as words, with its placeholders filled in."""
    size = f"{puzzle_set.width}x{puzzle_set.height}"
    limit = f"{configuration.puzzle_limit_seconds or 0:g}"
    texts = (sys.executable, size, str(puzzle_set.width), str(puzzle_set.height), limit)
    values = dict(zip(PLACEHOLDERS, texts, strict=True)) | {name: f"{{{name}}}" for name in ADAPTED}
    return [_PLACEHOLDER.sub(lambda match: values.get(match[2], match[1]), word) for word in _words(command)]


def command_of(bot: Entrant, puzzle_set: PuzzleSet, configuration: Configuration) -> list[str]:
    """Return the command of a bot for a set, as words."""
    command = filled_in(bot.command, puzzle_set, configuration)
    if bot.adapt is None:
        return command
    limit = configuration.puzzle_limit_seconds
    options = ["--puzzle-limit", f"{limit:g}"] if limit else []
    size = f"{puzzle_set.width}x{puzzle_set.height}"
    return [*OWN_JUDGE, "adapt", "--as", bot.adapt, "--size", size, *options, "--", *command]


def _require_known(words: Iterable[str], placeholders: Sequence[str]) -> None:
    for word in words:
        if "\0" in word:
            raise UnusableError(f"{word!r}: no command or file name can have a NUL character")
        if not placeholders and os.path.lexists(word):  # braces are a part of its name
            continue
        for match in _PLACEHOLDER.finditer(word):
            if match[2] and match[2] not in placeholders:
                raise UnusableError(_unknown(word, match, placeholders))


def _unknown(word: str, match: re.Match[str], placeholders: Sequence[str]) -> str:
    if not placeholders:
        return f"{word!r}: only command and warm-up have placeholders such as {match[0]}"
    if match[2] in ADAPTED:
        return f'{match[0]} needs the format of the file, such as adapt = "non"'
    known = ", ".join(f"{{{placeholder}}}" for placeholder in placeholders)
    hint = similar_names(match[2], placeholders)
    return f"no placeholder {match[0]}{hint}; known: {known}; for the text itself write {{{match[0]}}}"


def _require_variables(environment: dict[str, str]) -> None:
    with _at("environment"):
        for name, value in environment.items():
            if "=" in name:
                raise UnusableError(f"{name!r} is not a variable's name; use letters, digits and _")
            variable(f"{name}={value}")


def result_names(names: Iterable[str]) -> dict[str, str]:
    """Return for each name of a set or bot its part in the names of files; no two are alike.

    Names that are long, or that differ from an earlier one in signs, case or composed letters alone, end in a
    digest: some file systems do not tell such names apart.
    """
    parts: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        *plain, digested = possible_parts(name)
        parts[name] = next((part for part in plain if part.casefold() not in taken), digested)
        taken.add(parts[name].casefold())
    return parts


def possible_parts(name: str) -> list[str]:
    """Return the parts that file names may have for a set or bot: the plain one, if it fits, and a digested."""
    part = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", name)).strip("-.")
    plain = os.fsencode(part)
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    digested = f"{plain[-MOST_NAME_BYTES:].decode(errors='ignore')}-{digest}".strip("-.")
    return [part, digested] if 0 < len(plain) <= MOST_NAME_BYTES else [digested]


def _words(command: str | list[str]) -> list[str]:
    return command_words(command) if isinstance(command, str) else command
