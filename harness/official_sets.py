"""List, fetch and import the official sets, for `nonojudge data`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from nonobot.harness import UnusableError
from nonobot.harness.progress import Progress
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import percent, say
from nonobot.protocol.clues import count
from nonobot.system import printable
from nonobot.tournament_data import registry
from nonobot.tournament_data.downloads import FetchError, OfflineError, SetupError
from nonobot.tournament_data.registry import OfficialSet, Recognised, State

TYPICAL_BYTES = 680_000  # assumed size of a set of unknown size, for the progress alone
MOST_NAMED = 5


def as_text(states: Mapping[OfficialSet, State]) -> str:
    """Return the table of the sets, and a line with the number available here."""
    rows = [("set", "event", "year", "puzzles", "size", "black", "here")]
    for official, state in states.items():
        size, black = f"{official.side}x{official.side}", f"{percent(official.p1)} to {percent(official.p2)}"
        counts = str(official.year), str(official.puzzles)
        rows.append((official.name, official.event, *counts, size, black, state.value))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join([*("  ".join(row).rstrip() for row in padded), "", _counted(states.values()), ""])


def as_json(states: Mapping[OfficialSet, State]) -> str:
    """Return the facts of the sets as JSON text."""
    sets = []
    for official, state in states.items():
        facts = asdict(official)
        side = facts.pop("side")
        counts = {"puzzle_count": facts.pop("puzzles"), "size_bytes": facts.pop("bytes")}
        here = {"state": state.name.casefold(), "path": str(registry.stored_path(official))}
        sets.append({**facts, **counts, "width": side, "height": side, **here})
    return json_document("data-list", folder=str(registry.data_folder()), sets=sets)


def _counted(states: Iterable[State]) -> str:
    counts = Counter(states)
    damaged = f", {counts[State.DAMAGED]} damaged" if counts[State.DAMAGED] else ""
    return f"{counts[State.HERE]} of {counts.total()} are here{damaged}, in {registry.data_folder()}"


def fetched(missing: Sequence[OfficialSet], timeout_seconds: float) -> int:
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


def imported(folder: Path) -> int:
    """Import the sets below a folder, print a line for each, and return their number."""
    names: set[str] = set()
    unknown: list[Path] = []
    for path in registry.files_below(folder, _say_unreadable):
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
    states = map(registry.state_of, registry.official_sets().values())
    print(f"{count(len(names), 'official set')} found; {_counted(states)}")
    return len(names)


def _say_unreadable(error: OSError) -> None:
    say(f"cannot read {error.filename}: {error.strerror}")


def _taken(recognised: Recognised) -> str:
    """Copy a set into the data folder and return the outcome in words."""
    if registry.state_of(recognised.official) is State.HERE:
        return "here already"
    try:
        registry.keep(recognised.official, recognised.content)
    except OSError as error:
        raise UnusableError(f"cannot write {registry.data_folder()}: {error.strerror}") from None
    return "imported, its line ends restored" if recognised.restored else "imported"
