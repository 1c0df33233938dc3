"""`nonojudge data`: list, fetch and import the official sets.

These are the question files of the TAAI, TCGA and ICGA tournaments of 2011 to 2023. They are not part of nonobot:
download them, or import them from a folder. Each use checks their SHA-256.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from nonobot.arguments import Parser, seconds, similar_names
from nonobot.harness import UnusableError, options
from nonobot.harness.official_sets import as_json, as_text, fetched, imported
from nonobot.harness.text import say
from nonobot.tournament_data.registry import (
    BROWSABLE,
    FOLDER_VARIABLE,
    OfficialSet,
    State,
    official_sets,
    state_of,
    stored_path,
)

BY_HAND = f"""\
on another machine, `git clone {BROWSABLE}`,
or download and unpack it; copy the folder here and run `nonojudge data import FOLDER`"""

EXAMPLES = f"""\
examples:
  nonojudge data list                            all sets, and where they are
  nonojudge data fetch taai2011 icga2018         download two; --all: all thirty, 20 MB
  nonojudge data import ~/NonogramRecord         import them from a folder
  nonojudge run --set taai2011                   play one
  nonobot < "$(nonojudge data path taai2011)" > answers.txt

Sets are stored in nonobot/sets in your cache folder, or in the folder {FOLDER_VARIABLE}.
Without a network: {BY_HAND}.

Exit status: 0 done, 1 some sets are not available, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, carry_out: Callable[[argparse.Namespace], int], about: str, more: str = "") -> Parser:
        added = actions.add_parser(name, help=about, description=f"{about[0].upper() + about[1:]}.{more}")
        added.set_defaults(action=carry_out)
        return added

    listing = action("list", list_sets, "list the official sets and where they are")
    options.add_json(listing)

    fetching = action("fetch", fetch_sets, "download sets, and check the SHA-256 of each")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="official set such as taai2011")
    fetching.add_argument("--all", action="store_true", help="download all sets")
    fetching.add_argument("--from", dest="base", metavar="URL", help="download URL/NAME.txt instead")
    about = "seconds that the server may be silent (default: %(default)g)"
    fetching.add_argument("--timeout", type=seconds, default=30.0, metavar="S", help=about)

    more = "\nTheir SHA-256 identifies them, whatever their names, even if git or an editor has changed line ends."
    importing = action("import", import_sets, "import sets from a folder and its subfolders", more)
    importing.add_argument("folder", type=Path, metavar="FOLDER", help="folder or file")

    locating = action("path", print_path, "print the path of a set on this machine")
    locating.add_argument("name", metavar="NAME", help="official set such as taai2011")


def carry_out(arguments: argparse.Namespace) -> int:
    return int(arguments.action(arguments))


def list_sets(arguments: argparse.Namespace) -> int:
    states = {official: state_of(official) for official in official_sets().values()}
    print(as_json(states) if arguments.json else as_text(states), end="")
    return 0


def fetch_sets(arguments: argparse.Namespace) -> int:
    wanted = _wanted(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    missing = [official for official in wanted if state_of(official) is not State.HERE]
    for official in wanted:
        if official not in missing:
            print(f"{official.name}: here already")
    number = fetched(missing, arguments.timeout)
    if number == len(missing):
        return 0
    say(f"{number} of {len(missing)} sets fetched; by hand: {BY_HAND.replace(chr(10), ' ')}")
    return 1


def _wanted(arguments: argparse.Namespace) -> list[OfficialSet]:
    """Return the sets that the command line names, each once, with the URL it gives."""
    if arguments.all == bool(arguments.names):
        raise UnusableError("name sets or add --all, and not both; `nonojudge data list` lists the names")
    names = official_sets() if arguments.all else dict.fromkeys(arguments.names)
    wanted = [_named(name) for name in names]
    return [official.at(arguments.base) for official in wanted] if arguments.base else wanted


def _named(name: str) -> OfficialSet:
    if name not in official_sets():
        hint = similar_names(name, official_sets())
        raise UnusableError(f"unknown official set: {name}{hint}; `nonojudge data list` lists them")
    return official_sets()[name]


def import_sets(arguments: argparse.Namespace) -> int:
    if not arguments.folder.exists():
        raise UnusableError(f"cannot read {arguments.folder}: No such file or directory")
    return 0 if imported(arguments.folder) else 1


def print_path(arguments: argparse.Namespace) -> int:
    official = _named(arguments.name)
    state = state_of(official)
    if state is not State.HERE:
        problem = "is damaged" if state is State.DAMAGED else "is not on this machine yet"
        raise UnusableError(f"{official.name} {problem}; download it with `nonojudge data fetch {official.name}`")
    sys.stdout.buffer.write(os.fsencode(stored_path(official)) + b"\n")
    return 0
