"""The table of a run's terms, such as limits: their options, keys, units, defaults, words, ends, if compared."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta

from nonobot.arguments import LONGEST_SECONDS, byte_count, command_words, either, seconds, variable, whole_number
from nonobot.harness.results.conditions import PROCESS_LIMIT, Contain, Feed
from nonobot.harness.text import megabytes


@dataclass(frozen=True)
class Term:
    """A field of the configuration or of the bot, as people state and read it."""

    words: str  # name in reports and comparisons; empty if other facts of a run stand for it there
    option: str
    about: str  # help of the option
    argument: Mapping[str, Any] = field(default_factory=dict)  # how argparse reads the option
    shown: Callable[[Any], str] = str  # a value in words
    default: Any = None  # of commands and tournament files, if it is not that of the configuration
    compared: bool = True  # whether it must be equal to compare runs; otherwise only to resume one
    none: str = ""  # the word for None; empty: the option is left out
    # Of limits:
    key: str = ""  # in [limits] of a tournament file
    in_file: Any = None  # type of its value there
    sample: str = ""  # value of the key in the help of tournaments
    end: str = ""  # reason of the end of a run that reaches the limit

    def in_words(self, value: Any) -> str:
        """Return a value as reports and comparisons show it."""
        return "none" if value is None or value is UNSET else self.shown(value) or "none"

    def given(self, value: Any) -> list[str]:
        """Return the words of a command that give the term this value; none if it needs none."""
        if value is True or (value is None and self.none):
            return [self.option, *filter(None, [self.none])]
        if value is None or value is False or value is UNSET:
            return []
        values = value if isinstance(value, list) else [value]
        return [word for each in values for word in (self.option, _text(each))]

    def of_file(self, value: Any) -> Any:
        """Return the limit that a tournament file states, read like the option; ArgumentTypeError if unusable."""
        return None if self.none == "0" and not value else self.argument["type"](str(value))


def _text(value: Any) -> str:
    if isinstance(value, tuple):  # of a variable
        return "=".join(value)
    return f"{value:.15g}" if isinstance(value, int | float) else str(value)


def _unit(metavar: str, read: Callable[[str], Any], in_file: Any, shown: Any, none: str = "") -> dict[str, Any]:
    """Return how limits with one unit are read and shown."""
    argument = {"type": either(none, None, read) if none else read, "metavar": metavar}
    return {"argument": argument, "in_file": in_file, "shown": shown, "none": none}


def _number_of(things: str, most: int = 999_999) -> dict[str, Any]:
    read = whole_number(1, most, f"a number of {things}")
    return _unit("N", read, Annotated[int, Meta(ge=0, le=most)], str, "0")


SECONDS = _unit("S", seconds, Annotated[float, Meta(gt=0, le=LONGEST_SECONDS)], "{:g} s".format)
SECONDS_OR_0 = _unit("S", seconds, Annotated[float, Meta(ge=0, le=LONGEST_SECONDS)], "{:g} s".format, "0")
BYTES = _unit("BYTES", byte_count, int | str, partial(megabytes, exact=True), "none")
CORE = either("any", None, whole_number(0, 9999, "the number of a core"))

TERMS = {
    "core": Term("", "--core", "core to run on (default: the last core)", {"type": CORE, "metavar": "N|any"},
        none="any"),
    "shared_core": Term("core shared with", "--shared-core",
        "record in the result that a run of the same NAME shares the core, as in `nonojudge duel`",
        {"metavar": "NAME"}, lambda _: "another run"),
    "feed": Term("feed", "--feed",
        "send all puzzles at once, or the next one after each answer (default: batch)", {"choices": [*Feed]}),
    "wall_limit_seconds": Term("wall limit", "--time-limit", "wall time for the whole set in seconds",
        **SECONDS, key="time", end="time-limit"),
    "cpu_limit_seconds": Term("CPU limit", "--cpu-limit", "CPU time for the whole set in seconds",
        **SECONDS, key="cpu", end="cpu-limit"),
    "puzzle_limit_seconds": Term("puzzle limit", "--puzzle-limit",
        "wall time for each puzzle in seconds; a late bot starts again with the next puzzle",
        **SECONDS, key="puzzle", end="puzzle-limit"),
    "memory_limit_bytes": Term("memory limit", "--memory-limit",
        "memory, such as 500M or 4G (powers of 1024), or none (default: three quarters of the judge's memory)",
        **BYTES, key="memory", sample='"4G"', end="memory-limit"),
    "process_limit": Term("process limit", "--process-limit", "processes and threads at one time, 0 for no limit",
        **_number_of("processes"), default=PROCESS_LIMIT, key="processes", sample="512", end="process-limit"),
    "stall_limit_seconds": Term("stall limit", "--stall-limit",
        "seconds without computing or writing, 0 for no limit",
        **SECONDS_OR_0, default=60.0, key="stall", end="stalled"),
    "any_order": Term("order", "--any-order", "accept solutions in any order",
        {"action": "store_true"}, lambda is_any: "any" if is_any else "that of the set"),
    "contain": Term("sandbox requested", "--contain",
        "sandbox the bot with bubblewrap: if available (auto), always (yes) or never (no) (default: auto)",
        {"choices": [*Contain]}, default=Contain.AUTO, compared=False),
    "reads": Term("", "--reads", "file that contains the questions, in the bot's own folder", {"metavar": "NAME"}),
    "writes": Term("", "--writes", "file that the bot writes its answers to", {"metavar": "NAME"}),
    "logs": Term("", "--logs", "file that the bot writes its own times to", {"metavar": "NAME"}),
    "show": Term("shown files", "--show", "let a sandboxed bot read this file or folder too (repeatable)",
        {"type": Path, "metavar": "PATH", "action": "append"}, shlex.join, compared=False),
    "environment": Term("", "--env",
        "environment variable for the bot and its warm-up (repeatable; docs/judge.md lists the judge's own)",
        {"type": variable, "metavar": "NAME=VALUE", "action": "append"}),
    "warm_up": Term("", "--warm-up",
        "run this before the clock starts, such as './mybot --compile' (nonobot has one by default)",
        {"type": command_words, "metavar": "'CMD ARGS'"}),
    "warm_up_limit": Term("", "--warm-up-limit", "wall time limit for --warm-up in seconds (default: 600)",
        {"type": seconds, "metavar": "S"}),
}  # fmt: skip
"""By name of the field, in the order of options and reports. An option `--cores` also sets the field `core`."""

LIMITS = {name: term for name, term in TERMS.items() if term.key}
_samples = [f"{limit.key} = {limit.sample}" if limit.sample else limit.key for limit in LIMITS.values()]
KEYS = ", ".join(sorted(_samples, key=lambda sample: "=" in sample))
"""The keys of [limits] in a tournament file, for its help."""
