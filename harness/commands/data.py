"""`nonojudge data`: list, fetch and import the official sets.

These are the question files of the TAAI, TCGA and ICGA tournaments of 2011 to 2023. They are not part of nonobot:
download them, or import them from a folder. Each use checks their SHA-256.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from nonobot.arguments import Parser, seconds, similar_names
from nonobot.harness import UnusableError, options
from nonobot.harness.progress import Progress
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import percent, say
from nonobot.protocol.clues import count
from nonobot.system import printable, reason_of, with_file
from nonobot.tournament_data import registry
from nonobot.tournament_data.downloads import FetchError, OfflineError, SetupError
from nonobot.tournament_data.registry import OfficialSet, Recognised, State, official_sets, state_of, stored_path

TYPICAL_BYTES = 680_000  # assumed size of a set of unknown size, for the progress alone
MOST_NAMED = 5

BY_HAND = f"""\
on another machine, `git clone {registry.BROWSABLE}`,
or download and unpack it; copy the folder here and run `nonojudge data import FOLDER`"""

EXAMPLES = f"""\
examples:
  nonojudge data list                            all sets, and where they are
  nonojudge data fetch taai2011 icga2018         download two; --all: all thirty, 20 MB
  nonojudge data import ~/NonogramRecord         import them from a folder
  nonojudge run --set taai2011                   play one
  nonobot < "$(nonojudge data path taai2011)" > answers.txt

Sets are stored in nonobot/sets in your cache folder, or in the folder {registry.FOLDER_VARIABLE}.
Without a network: {BY_HAND}.

Exit status: 0 done, 1 some sets are not available, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.select_command("ACTION")

    def action(name: str, carry_out: Callable[[argparse.Namespace], int], about: str, more: str = "") -> Parser:
        added = parser.add_command(name, help=about, description=f"{about[0].upper() + about[1:]}.{more}")
        added.set_defaults(action=carry_out)
        return added

    listing = action("list", list_sets, "list the official sets and where they are")
    options.add_flags(listing, "json")

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
    print(_as_json(states) if arguments.json else _as_text(states), end="")
    return 0


def _as_text(states: Mapping[OfficialSet, State]) -> str:
    """Return the table of the sets, and a line with the number available here; rich would take longer."""
    rows = [("set", "event", "year", "puzzles", "size", "black", "here")]
    for official, state in states.items():
        size, black = f"{official.side}x{official.side}", f"{percent(official.p1)} to {percent(official.p2)}"
        counts = str(official.year), str(official.puzzles)
        rows.append((official.name, official.event, *counts, size, black, state.value))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join([*("  ".join(row).rstrip() for row in padded), "", _counted(states.values()), ""])


def _counted(states: Iterable[State]) -> str:
    counts = Counter(states)
    damaged = f", {counts[State.DAMAGED]} damaged" if counts[State.DAMAGED] else ""
    return f"{counts[State.HERE]} of {counts.total()} are here{damaged}, in {registry.data_folder()}"


def _as_json(states: Mapping[OfficialSet, State]) -> str:
    sets = []
    for official, state in states.items():
        facts = asdict(official)
        side = facts.pop("side")
        counts = {"puzzle_count": facts.pop("puzzles"), "size_bytes": facts.pop("bytes")}
        here = {"state": state.name.casefold(), "path": str(stored_path(official))}
        sets.append({**facts, **counts, "width": side, "height": side, **here})
    return json_document("data-list", folder=str(registry.data_folder()), sets=sets)


def fetch_sets(arguments: argparse.Namespace) -> int:
    wanted = _wanted(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    missing = [official for official in wanted if state_of(official) is not State.HERE]
    for official in wanted:
        if official not in missing:
            print(f"{official.name}: here already")
    number = _fetched(missing, arguments.timeout)
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


def _fetched(missing: Sequence[OfficialSet], timeout_seconds: float) -> int:
    """Fetch sets, print a line for each, and return how many were fetched."""
    sizes = [official.bytes or TYPICAL_BYTES for official in missing]
    number = 0
    with Progress(sum(sizes)) as progress:
        for index, official in enumerate(missing):
            done = sum(sizes[:index])

            def on_bytes(count: int, note: str = f"{official.name}, {index + 1} of {len(missing)}") -> None:
                nonlocal done
                done += count
                progress.show(done, note)

            try:
                registry.fetch(official, timeout_seconds=timeout_seconds, on_bytes=on_bytes)
            except SetupError as error:
                raise UnusableError(str(error)) from None
            except FetchError as error:
                say(f"{official.name}: {error}")
                if isinstance(error, OfflineError):
                    break
            else:
                number += 1
                print(f"{official.name}: fetched", flush=True)
    return number


def import_sets(arguments: argparse.Namespace) -> int:
    if not arguments.folder.exists():
        raise UnusableError(f"cannot read {arguments.folder}: No such file or directory")
    names: set[str] = set()
    unknown: list[Path] = []
    for path in registry.files_below(arguments.folder, _say_unreadable):
        try:
            recognised = registry.recognise(path)
        except OSError as error:
            _say_unreadable(error)
            continue
        if recognised is None:
            unknown.append(path)
        elif recognised.official.name not in names:
            names.add(recognised.official.name)
            print(printable(f"{recognised.official.name}: {_taken(recognised)} ({path})"), flush=True)
    if unknown:
        others = ", ..." if len(unknown) > MOST_NAMED else ""
        first = ", ".join(map(str, unknown[:MOST_NAMED]))
        print(printable(f"no official set: {first}{others} ({count(len(unknown), 'file')})"))
    print(f"{count(len(names), 'official set')} found; {_counted(map(state_of, official_sets().values()))}")
    return 0 if names else 1


def _say_unreadable(error: OSError) -> None:
    say(f"cannot read {with_file(error)}")


def _taken(recognised: Recognised) -> str:
    """Copy a set into the data folder and return the outcome in words."""
    if state_of(recognised.official) is State.HERE:
        return "here already"
    try:
        registry.keep(recognised.official, recognised.content)
    except OSError as error:
        raise UnusableError(f"cannot write {registry.data_folder()}: {reason_of(error)}") from None
    return "imported, its line ends restored" if recognised.restored else "imported"


def print_path(arguments: argparse.Namespace) -> int:
    official = _named(arguments.name)
    state = state_of(official)
    if state is not State.HERE:
        problem = "is damaged" if state is State.DAMAGED else "is not on this machine yet"
        raise UnusableError(f"{official.name} {problem}; download it with `nonojudge data fetch {official.name}`")
    sys.stdout.buffer.write(os.fsencode(stored_path(official)) + b"\n")
    return 0
