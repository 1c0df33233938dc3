"""How people state a term of a run in options and tournament files, and how they read it in texts; its units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from msgspec import UNSET, Meta

from nonobot.arguments import LONGEST_SECONDS, byte_count, either, seconds, whole_number
from nonobot.harness.text import megabytes


@dataclass(frozen=True)
class Term:
    """A term of a run as people state and read it."""

    words: str  # name in reports and comparisons, if these show the field as it is
    option: str  # of `nonojudge run` and other commands
    about: str  # help of the option
    argument: Mapping[str, Any] = field(default_factory=dict)  # how argparse reads the option
    default: Any = None  # of commands and tournament files, if it is not that of the configuration
    shown: Callable[[Any], str] = str  # a value in words
    compared: bool = True  # whether it must be equal to compare runs; otherwise only to resume one

    def in_words(self, value: Any) -> str:
        """Return a value as reports and comparisons show it."""
        return "none" if value is None or value is UNSET else self.shown(value) or "none"


@dataclass(frozen=True, kw_only=True)
class Limit(Term):
    """A limit, which is also a key in [limits] of a tournament file, and ends the runs that reach it."""

    key: str
    in_file: Any  # the type of the key's value
    none: str  # the word for no limit, in options and files; empty: they leave it out
    end: str  # reason of the end

    def of_file(self, value: Any) -> Any:
        """Return the limit that a tournament file states, read like the option; ArgumentTypeError if unusable."""
        return None if self.none == "0" and not value else self.argument["type"](str(value))


@dataclass(frozen=True)
class Unit:
    """A unit of limits: how their values are read and written."""

    metavar: str
    read: Callable[[str], Any]  # the text of an option
    in_file: Any
    shown: Callable[[Any], str]
    none: str = ""

    def limit(self, words: str, option: str, key: str, end: str, about: str, default: Any = None) -> Limit:
        """Return a limit with this unit."""
        read = either(self.none, None, self.read) if self.none else self.read
        argument = {"type": read, "metavar": self.metavar}
        own = {"key": key, "in_file": self.in_file, "none": self.none, "end": end}
        return Limit(words, option, about, argument, default, self.shown, **own)


SECONDS = Unit("S", seconds, Annotated[float, Meta(gt=0, le=LONGEST_SECONDS)], "{:g} s".format)
SECONDS_OR_0 = Unit("S", seconds, Annotated[float, Meta(ge=0, le=LONGEST_SECONDS)], "{:g} s".format, "0")
BYTES = Unit("BYTES", byte_count, int | str, partial(megabytes, exact=True), "none")
MOST_THINGS = 999_999


def number_of(things: str) -> Unit:
    """Return the unit of a limit on a number of things, such as processes."""
    read = whole_number(1, MOST_THINGS, f"a number of {things}")
    return Unit("N", read, Annotated[int, Meta(ge=0, le=MOST_THINGS)], str, "0")
