"""Options that several commands take."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nonobot.arguments import Parser, either, size, whole_number

__all__ = [
    "SET_HELP",
    "add_contain",
    "add_core",
    "add_json",
    "add_results",
    "add_size",
    "add_warm_up",
]

SET_HELP = (
    "an official set such as taai2011 (see `nonojudge data`), a file of puzzles, or "
    "boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
)


def add_size(parser: Parser) -> None:
    """Add `--size` for puzzle files, which are read as `nonobot.protocol.formats` does."""
    parser.add_argument(
        "--size",
        type=either("auto", "auto", size),
        metavar="WxH|auto",
        help="size of the boards of a TAAI file, which states none; auto: square ones of any sizes (default: "
        "25x25 if the first board can be that, else auto)",
    )


def add_core(parser: Parser, default: str | None = argparse.SUPPRESS, said: str = "the last one") -> None:
    """Add `--core`, which is None for any core; not given, it is as `default` says, or not there."""
    parser.add_argument(
        "--core",
        type=either("any", None, whole_number(0, 9999, "the number of a core")),
        default=default,
        metavar="N|any",
        help=f"the core to run on (default: {said})",
    )


def add_contain(parser: Parser, default: str = argparse.SUPPRESS) -> None:
    """Add `--contain` and `--show`; not given, they are not there, or as `default` says and empty."""
    parser.add_argument(
        "--contain",
        choices=["auto", "yes", "no"],
        default=default,
        help="whether the bot runs within walls, by bubblewrap: where they can be had (auto), not at all else "
        "(yes), or never (no; default: auto)",
    )
    parser.add_argument(
        "--show",
        type=Path,
        action="append",
        default=argparse.SUPPRESS,
        metavar="PATH",
        help="what a contained bot may read beside what its command names: a file or a folder; again for more",
    )


def add_warm_up(parser: Parser) -> None:
    """Add `--warm-up`."""
    parser.add_argument(
        "--warm-up",
        type=shlex.split,
        metavar="'CMD ARGS'",
        help="run this before the clock starts, such as './mybot --compile' (the bot of this project: by default)",
    )


def add_results(parser: Parser) -> None:
    """Add the results that a command reads."""
    parser.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULT",
        help="a result file, a bot's log, or a folder with such files (*.json, *.log)",
    )


def add_json(parser: Parser | argparse._ArgumentGroup, what: str, instead: str = "") -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", default=False, help=f"print {what} as JSON{instead}")
