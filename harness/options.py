"""The options that commands share: functions that add them to a parser, and the configuration that they make."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from nonobot.arguments import Arguments, either, seconds, share, size
from nonobot.harness import EXIT_SKIP
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.terms import LIMITS, TERMS

SET_HELP = (
    "an official set such as taai2011 (see `nonojudge data`), a file of puzzles, or "
    "boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
)
DEFAULT_SET = "boardgen:25x25x100:seed=2011"  # of a run and a profile

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


def add_terms(parser: Arguments, *names: str, **changes: Any) -> None:
    """Add the options of terms, which the arguments name like the table."""
    for name in names:
        term = TERMS[name]
        about = term.about
        if name in LIMITS and "(default: " not in about:
            default = term.default or getattr(Configuration(), name)
            about += f" (default: {f'{default:g}' if default else 'none'})"
        settings = {"dest": name, "default": SUPPRESS, "help": about, **term.argument, **changes}
        parser.add_argument(term.option, **settings)


def add_timeouts(parser: Arguments) -> None:
    """Add --timeout and --start-timeout, of the checks."""
    about = "seconds that a started bot may be silent in a check (default: %(default)g)"
    parser.add_argument("--timeout", type=seconds, default=10.0, metavar="S", help=about)
    about = "extra seconds for the first start, which sets the limit of later ones (default: %(default)g)"
    parser.add_argument("--start-timeout", type=seconds, default=120.0, metavar="S", help=about)


def add_tolerance(parser: Arguments, default: float) -> None:
    """Add --tolerance."""
    about = "largest slowdown to accept, as a fraction (default: %(default)s)"
    parser.add_argument("--tolerance", type=share, default=default, metavar="SHARE", help=about)


FLAGS = {
    "quiet": "print the result only, without progress",
    "json": "print the result as JSON instead of text",
    "bisect-statuses": f"exit with {EXIT_SKIP} (skip) instead of 2 and 3, as `git bisect run` expects",
}
"""Options without a value; the dispatcher handles --bisect-statuses, because it also applies to errors."""


def add_flags(parser: Arguments, *names: str) -> None:
    """Add some of `FLAGS`."""
    for name in names:
        parser.add_argument(f"--{name}", action="store_true", default=False, help=FLAGS[name])


def file_ending_in(*forms: str) -> Callable[[str], Path]:
    """Return a reader of file names that end in one of `forms`, such as `.svg`."""

    def read(text: str) -> Path:
        if Path(text).suffix.lower() not in forms:
            raise ArgumentTypeError(f"{text!r}: unknown file type; use {', '.join(forms)}")
        return Path(text)

    return read


def configuration_of(given: Mapping[str, Any], core: int | tuple[int, ...] | None) -> Configuration:
    """Return the configuration for the options that were given."""
    defaults = {name: term.default for name, term in TERMS.items() if term.default is not None}
    options = {name: value for name, value in given.items() if name in Configuration.__struct_fields__}
    if "environment" in options:
        options["environment"] = dict(options["environment"])
    return msgspec.convert({**defaults, **options, "core": core}, Configuration)
