"""`nonojudge data`: the official sets, listed, fetched and imported."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from nonobot.arguments import Parser, did_you_mean, seconds
from nonobot.harness.cli import add_json
from nonobot.harness.errors import UnusableError
from nonobot.harness.progress import Progress
from nonobot.harness.text import percent
from nonobot.tournament_data.fetch import FetchError, OfflineError, SetupError, fetch
from nonobot.tournament_data.registry import BROWSABLE, OfficialSet, official_sets
from nonobot.tournament_data.store import (
    FOLDER_VARIABLE,
    Recognised,
    State,
    data_folder,
    files_below,
    keep,
    recognise,
    state_of,
    stored_path,
)

__all__ = ["add_to"]

SCHEMA_VERSION = 1

TYPICAL_BYTES = 680_000
"""Expected of a set whose size is not known; for the progress alone."""

MOST_NAMED = 5

DESCRIPTION = """\
The question files of the TAAI, TCGA and ICGA tournaments of 2011 to 2023. They are not part of this package: they
are fetched from where they are published, or imported from a folder, and checked by their SHA-256 each time they
are used."""

EXAMPLES = f"""\
examples:
  nonojudge data list                            which sets there are, and which are here
  nonojudge data fetch taai2011 icga2018         fetch two; --all fetches all thirty, 20 MB
  nonojudge data import ~/NonogramRecord         take them from a folder, whatever the files are called
  nonojudge run --set taai2011                   then play one
  nonobot < "$(nonojudge data path taai2011)" > answers.txt

The files are kept in nonobot/sets in the user's cache folder, or in the folder that {FOLDER_VARIABLE} names.
Without a network: on another machine, `git clone {BROWSABLE}`,
or download and unpack it; bring the folder here, and `nonojudge data import FOLDER`.

Exit status: 0 done, 1 some sets could not be had, 2 unusable arguments or input.
"""

BY_HAND = f"""\
by hand: on another machine, `git clone {BROWSABLE}`,
or download and unpack it; bring the folder here, and `nonojudge data import FOLDER`"""


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    listing = actions.add_parser("list", help="the official sets, and which are here")
    add_json(listing, "all that is known of them")
    listing.set_defaults(carry_out=list_sets)

    fetching = actions.add_parser("fetch", help="fetch sets from where they are published")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="an official set, such as taai2011")
    fetching.add_argument("--all", action="store_true", help="all of them")
    fetching.add_argument("--from", dest="base", metavar="URL", help="another place: URL/NAME.txt is fetched")
    fetching.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="S",
        help="seconds that the server may be silent (default: %(default)g)",
    )
    fetching.set_defaults(carry_out=fetch_sets)

    importing = actions.add_parser(
        "import",
        help="take sets from a folder",
        description="Take official sets from a folder and the folders within. They are recognised by their\n"
        "SHA-256, whatever the files are called, and also if git or an editor has changed their line ends.",
    )
    importing.add_argument("folder", type=Path, metavar="FOLDER", help="a folder, or one file")
    importing.set_defaults(carry_out=import_sets)

    locating = actions.add_parser("path", help="print where the file of a set is")
    locating.add_argument("name", metavar="NAME", help="an official set, such as taai2011")
    locating.set_defaults(carry_out=print_path)


def list_sets(arguments: argparse.Namespace) -> int:
    """Print the official sets."""
    states = {official: state_of(official) for official in official_sets().values()}
    if arguments.json:
        print(json.dumps(_as_json(states), indent=1))
        return 0
    rows = [("set", "event", "year", "puzzles", "size", "black", "here")]
    for official, state in states.items():
        size = f"{official.side}x{official.side}"
        black = f"{percent(official.p1)} to {percent(official.p2)}"
        rows.append(
            (
                official.name,
                official.event,
                str(official.year),
                str(official.puzzles),
                size,
                black,
                state.value,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"\n{_counted(states.values())}")
    return 0


def _as_json(states: dict[OfficialSet, State]) -> dict[str, object]:
    return {
        "kind": "data-list",
        "schema_version": SCHEMA_VERSION,
        "folder": str(data_folder()),
        "sets": [
            {
                "name": official.name,
                "event": official.event,
                "year": official.year,
                "puzzles": official.puzzles,
                "width": official.side,
                "height": official.side,
                "p1": official.p1,
                "p2": official.p2,
                "line_ends": official.line_ends,
                "bytes": official.bytes,
                "sha256": official.sha256,
                "url": official.url,
                "state": state.name.casefold(),
                "path": str(stored_path(official)),
            }
            for official, state in states.items()
        ],
    }


def _counted(states: Iterable[State]) -> str:
    found = Counter(states)
    damaged = f", {found[State.DAMAGED]} damaged" if found[State.DAMAGED] else ""
    return f"{found[State.HERE]} of {found.total()} are here{damaged}, in {data_folder()}"


def fetch_sets(arguments: argparse.Namespace) -> int:
    """Fetch sets, one after the other."""
    wanted = _wanted(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    missing = []
    for official in wanted:
        if state_of(official) is State.HERE:
            print(f"{official.name}: here already")
        else:
            missing.append(official)
    fetched = _fetched(missing, arguments.timeout)
    if fetched == len(missing):
        return 0
    print(f"nonojudge: {fetched} of {len(missing)} sets fetched; {BY_HAND}", file=sys.stderr)
    return 1


def _fetched(missing: Sequence[OfficialSet], timeout_seconds: float) -> int:
    """Fetch sets, say what came of each, and return how many came."""
    sizes = [official.bytes or TYPICAL_BYTES for official in missing]
    fetched = 0
    with Progress(sum(sizes)) as progress:
        for index, official in enumerate(missing):
            done = sum(sizes[:index])

            def on_bytes(count: int, note: str = f"{official.name}, {index + 1} of {len(missing)}") -> None:
                nonlocal done
                done += count
                progress.show(done, note)

            try:
                fetch(official, timeout_seconds=timeout_seconds, on_bytes=on_bytes)
            except SetupError as error:
                raise UnusableError(str(error)) from None
            except FetchError as error:
                print(f"nonojudge: {official.name}: {error}", file=sys.stderr)
                if isinstance(error, OfflineError):
                    break
            else:
                fetched += 1
                print(f"{official.name}: fetched", flush=True)
    return fetched


def _wanted(arguments: argparse.Namespace) -> list[OfficialSet]:
    """Return the sets that the command line names, each once, at the URL it names."""
    if arguments.all == bool(arguments.names):
        raise UnusableError("name the sets to fetch, or say --all; `nonojudge data list` lists them")
    names = official_sets() if arguments.all else dict.fromkeys(arguments.names)
    wanted = [_named(name) for name in names]
    return [official.at(arguments.base) for official in wanted] if arguments.base else wanted


def _named(name: str) -> OfficialSet:
    try:
        return official_sets()[name]
    except KeyError:
        raise UnusableError(
            f"there is no official set {name}{did_you_mean(name, official_sets())}; "
            "`nonojudge data list` lists them"
        ) from None


def import_sets(arguments: argparse.Namespace) -> int:
    """Take sets from a folder."""
    if not arguments.folder.exists():
        raise UnusableError(f"cannot read {arguments.folder}: No such file or directory")
    found: set[str] = set()
    unknown: list[Path] = []
    for path in files_below(arguments.folder, _say_unreadable):
        try:
            recognised = recognise(path)
        except OSError as error:
            _say_unreadable(error)
            continue
        if recognised is None:
            unknown.append(path)
        elif recognised.official.name not in found:
            found.add(recognised.official.name)
            print(f"{recognised.official.name}: {_taken(recognised)} ({path})")
    if unknown:
        others = ", ..." if len(unknown) > MOST_NAMED else ""
        names = ", ".join(str(path) for path in unknown[:MOST_NAMED])
        print(f"no official set: {names}{others} ({len(unknown)} files)")
    print(f"{len(found)} official sets found; {_counted(map(state_of, official_sets().values()))}")
    return 0 if found else 1


def _say_unreadable(error: OSError) -> None:
    print(f"nonojudge: cannot read {error.filename}: {error.strerror}", file=sys.stderr)


def _taken(recognised: Recognised) -> str:
    """Put a set into the data folder and return what became of it."""
    if state_of(recognised.official) is State.HERE:
        return "here already"
    try:
        keep(recognised.official, recognised.content)
    except OSError as error:
        raise UnusableError(f"cannot write {data_folder()}: {error.strerror}") from None
    return "imported, its line ends restored" if recognised.restored else "imported"


def print_path(arguments: argparse.Namespace) -> int:
    """Print where the file of a set is."""
    official = _named(arguments.name)
    state = state_of(official)
    if state is not State.HERE:
        what = "is damaged" if state is State.DAMAGED else "is not on this machine yet"
        raise UnusableError(f"{official.name} {what}: `nonojudge data fetch {official.name}` fetches it")
    print(stored_path(official))
    return 0
