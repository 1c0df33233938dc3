"""The options that commands share: functions that add them to a parser, and the configuration that they make."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from nonobot.arguments import (
    Arguments,
    byte_count,
    command_words,
    either,
    seconds,
    share,
    size,
    variable,
    whole_number,
)
from nonobot.harness import EXIT_SKIP
from nonobot.harness.results.conditions import PROCESS_LIMIT, STALL_SECONDS, Configuration

SET_HELP = (
    "an official set such as taai2011 (see `nonojudge data`), a file of puzzles, or "
    "boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
)
DEFAULT_SET = "boardgen:25x25x100:seed=2011"  # of a run and a profile
CONTAIN = ("auto", "yes", "no")
core_number = either("any", None, whole_number(0, 9999, "the number of a core"))

# An option whose default is SUPPRESS is missing from the arguments unless it is given.


def add_results(parser: Arguments) -> None:
    """Add the result files of a command that shows or compares them."""
    about = "result file, log of a bot, or folder with such files (*.json, *.log)"
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULT", help=about)


def add_set(parser: Arguments, default: str) -> None:
    """Add --set and --size."""
    parser.add_argument("--set", default=default, metavar="SET", help=f"{SET_HELP} (default: %(default)s)")
    add_size(parser)


def add_size(parser: Arguments) -> None:
    """Add --size."""
    about = (
        "board size of a TAAI file, which does not state it; auto: square boards of any size (default: 25x25 "
        "if the first board fits, otherwise auto)"
    )
    parser.add_argument("--size", type=either("auto", "auto", size), metavar="WxH|auto", help=about)


def add_core(parser: Arguments) -> None:
    """Add --core."""
    about = "core to run on (default: the last core)"
    parser.add_argument("--core", type=core_number, default=SUPPRESS, metavar="N|any", help=about)


def add_feed(parser: Arguments) -> None:
    """Add --feed."""
    about = "send all puzzles at once, or the next one after each answer (default: batch)"
    parser.add_argument("--feed", choices=["batch", "interactive"], default=SUPPRESS, help=about)


def add_any_order(parser: Arguments) -> None:
    """Add --any-order."""
    parser.add_argument("--any-order", action="store_true", help="accept solutions in any order")


def add_warm_up(parser: Arguments) -> None:
    """Add --warm-up and --warm-up-limit."""
    about = "run this before the clock starts, such as './mybot --compile' (nonobot has one by default)"
    parser.add_argument("--warm-up", type=command_words, default=SUPPRESS, metavar="'CMD ARGS'", help=about)
    about = "wall time limit for --warm-up in seconds (default: 600)"
    parser.add_argument("--warm-up-limit", type=seconds, default=SUPPRESS, metavar="S", help=about)


def add_contain(parser: Arguments, default: str = SUPPRESS) -> None:
    """Add --contain."""
    about = "sandbox the bot with bubblewrap: if available (auto), always (yes) or never (no) (default: auto)"
    parser.add_argument("--contain", choices=CONTAIN, default=default, help=about)


def add_show_and_env(parser: Arguments) -> None:
    """Add --show and --env."""
    about = "let a sandboxed bot read this file or folder too (repeatable)"
    parser.add_argument("--show", type=Path, action="append", default=SUPPRESS, metavar="PATH", help=about)
    about = "environment variable for the bot and its warm-up (repeatable; docs/judge.md lists the judge's own)"
    parser.add_argument(
        "--env",
        type=variable,
        action="append",
        dest="environment",
        default=SUPPRESS,
        metavar="NAME=VALUE",
        help=about,
    )


def show_and_env_of(given: Mapping[str, Any]) -> list[str]:
    """Return the arguments --show and --env that were given, for another command of the judge."""
    shown = [word for path in given.get("show", ()) for word in ("--show", str(path))]
    variables = given.get("environment", ())
    return shown + [word for name, value in variables for word in ("--env", f"{name}={value}")]


def add_files(parser: Arguments) -> None:
    """Add --reads, --writes and --logs."""
    about = "file that contains the questions, in the bot's own folder"
    parser.add_argument("--reads", metavar="NAME", help=about)
    parser.add_argument("--writes", metavar="NAME", help="file that the bot writes its answers to")
    parser.add_argument("--logs", metavar="NAME", help="file that the bot writes its own times to")


def add_timeouts(parser: Arguments) -> None:
    """Add --timeout and --start-timeout, of the checks."""
    about = "seconds that a started bot may be silent in a check (default: %(default)g)"
    parser.add_argument("--timeout", type=seconds, default=10.0, metavar="S", help=about)
    about = "extra seconds for the first start, which sets the limit of later ones (default: %(default)g)"
    parser.add_argument("--start-timeout", type=seconds, default=120.0, metavar="S", help=about)


def add_limits(parser: Arguments) -> None:
    """Add the limits of a run; each is named after its field of the configuration."""
    about = "wall time for the whole set in seconds (default: 7200)"
    parser.add_argument("--time-limit", dest="wall_limit_seconds", type=seconds, metavar="S", help=about)
    about = "CPU time for the whole set in seconds (default: none)"
    parser.add_argument("--cpu-limit", dest="cpu_limit_seconds", type=seconds, metavar="S", help=about)
    about = "wall time for each puzzle in seconds; a late bot starts again with the next puzzle (default: none)"
    parser.add_argument("--puzzle-limit", dest="puzzle_limit_seconds", type=seconds, metavar="S", help=about)
    memory = either("none", None, byte_count)
    about = "memory, such as 500M or 4G (powers of 1024), or none (default: three quarters of the judge's memory)"
    parser.add_argument("--memory-limit", dest="memory_limit_bytes", type=memory, metavar="BYTES", help=about)
    processes = either("0", None, whole_number(1, 999_999, "a number of processes"))
    about = f"processes and threads at one time, 0 for no limit (default: {PROCESS_LIMIT})"
    parser.add_argument("--process-limit", dest="process_limit", type=processes, metavar="N", help=about)
    stall = either("0", None, seconds)
    about = f"seconds without computing or writing, 0 for no limit (default: {STALL_SECONDS:g})"
    parser.add_argument("--stall-limit", dest="stall_limit_seconds", type=stall, metavar="S", help=about)


def add_tolerance(parser: Arguments, default: float) -> None:
    """Add --tolerance."""
    about = "largest slowdown to accept, as a fraction (default: %(default)s)"
    parser.add_argument("--tolerance", type=share, default=default, metavar="SHARE", help=about)


def add_bisect_statuses(parser: Arguments) -> None:
    """Add --bisect-statuses; the dispatcher handles it, because it also applies to errors."""
    about = f"exit with {EXIT_SKIP} (skip) instead of 2 and 3, as `git bisect run` expects"
    parser.add_argument("--bisect-statuses", action="store_true", help=about)


def add_quiet(parser: Arguments) -> None:
    """Add --quiet."""
    about = "print the result only, without progress"
    parser.add_argument("--quiet", action="store_true", default=False, help=about)


def add_json(parser: Arguments) -> None:
    """Add --json."""
    about = "print the result as JSON instead of text"
    parser.add_argument("--json", action="store_true", default=False, help=about)


def file_ending_in(*forms: str) -> Callable[[str], Path]:
    """Return a reader of file names that end in one of `forms`, such as `.svg`."""

    def read(text: str) -> Path:
        if Path(text).suffix.lower() not in forms:
            raise ArgumentTypeError(f"{text!r}: unknown file type; use {', '.join(forms)}")
        return Path(text)

    return read


def configuration_of(given: Mapping[str, Any], core: int | tuple[int, ...] | None) -> Configuration:
    """Return the configuration for the options that were given."""
    defaults = {"contain": "auto", "stall_limit_seconds": STALL_SECONDS, "process_limit": PROCESS_LIMIT}
    options = {name: value for name, value in given.items() if name in Configuration.__struct_fields__}
    if "environment" in options:
        options["environment"] = dict(options["environment"])
    return msgspec.convert({**defaults, **options, "core": core}, Configuration)
