"""The options of a run: its limits, and the configuration made of the options that were given."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from nonobot.arguments import byte_count, either, seconds, whole_number
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.results.conditions import PROCESS_LIMIT, STALL_SECONDS, Configuration, Contain, Feed

__all__ = ["LIMITS", "add_limits", "configuration_of"]

LIMITS: dict[str, tuple[str, Callable[[str], Any], str, str]] = {
    "wall_limit_seconds": ("--time-limit", seconds, "S", "wall seconds for the whole set (default: 7200)"),
    "cpu_limit_seconds": ("--cpu-limit", seconds, "S", "CPU seconds for the whole set"),
    "puzzle_limit_seconds": (
        *("--puzzle-limit", seconds, "S"),
        "wall seconds for each puzzle; the bot is started again with the puzzles after it",
    ),
    "memory_limit_bytes": ("--memory-limit", byte_count, "BYTES", "such as 500M or 4G"),
    "process_limit": (
        *("--process-limit", either("0", None, whole_number(1, 999_999, "a number of processes")), "N"),
        f"processes and threads at one time; 0 for no such limit (default: {PROCESS_LIMIT})",
    ),
    "stall_limit_seconds": (
        *("--stall-limit", either("0", None, seconds), "S"),
        f"seconds without computing or writing; 0 for no such limit (default: {STALL_SECONDS:g})",
    ),
}
"""By field of the configuration: option, type, unit and help."""


def add_limits(group: argparse._ArgumentGroup) -> None:
    """Add the options of limits."""
    for field, (option, read, unit, text) in LIMITS.items():
        group.add_argument(option, dest=field, type=read, metavar=unit, help=text)


def configuration_of(given: Mapping[str, Any]) -> Configuration:
    """Return the configuration for the given arguments; UnusableError if they contradict each other."""
    if "core" in given and "cores" in given:
        raise UnusableError("--core names the one core of a bot, and --cores gives it several: take one of them")
    limits = {"stall_limit_seconds": STALL_SECONDS, "process_limit": PROCESS_LIMIT}
    return Configuration(
        feed=Feed(given.get("feed", Feed.BATCH)),
        core=given["core"] if "core" in given else tournament_core(given.get("cores", 1)),
        any_order="any_order" in given,
        contain=Contain(given.get("contain", Contain.AUTO)),
        beside=given.get("beside", UNSET),
        **{**limits, **{field: given[field] for field in LIMITS if field in given}},
    )
