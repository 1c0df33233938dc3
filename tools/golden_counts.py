"""The exact counts of searches in tests/golden: compared with those of today, or written again (`--refresh`).

    python -m tools.golden_counts                       compare; exit status 1 if a count differs
    python -m tools.golden_counts --refresh             write the files in tests/golden/counts again
    python -m tools.golden_counts champion papers-fp1   only these

The counts are the same on every machine, and so a change of them is a change of the search: noise neither makes
nor hides one. After a change that is meant to be seen, refresh, and put the totals that it prints into the
CHANGELOG.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from nonobot.bot.cli import parse
from nonobot.bot.process import make_strategy
from nonobot.tournament_data import load_set

FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "counts"

REFRESH = "python -m tools.golden_counts --refresh"

# One for each width of vectors; learning, restarts, probing and backtracking all come to work.
SMALL = "boardgen:10x8x24:seed=30:p1=0.42:p2=0.35"
TOURNAMENT = "boardgen:25x25x16:seed=19:p2=0.42"
WIDE = "boardgen:36x20x10:seed=26:p2=0.42"


class Golden(NamedTuple):
    """One file: the options of `nonobot`, and the sets that are solved with them."""

    options: Sequence[str]
    sets: Sequence[str]


GOLDEN = {
    "champion": Golden((), (SMALL, TOURNAMENT, WIDE)),
    "champion-two-solutions": Golden(("--solutions", "2"), (SMALL, TOURNAMENT, WIDE)),
    "champion-without-descents": Golden(("--without", "descents"), (SMALL, TOURNAMENT, WIDE)),
    "papers-fp1": Golden(("--strategy", "papers", "--probing", "fp1"), (SMALL, TOURNAMENT, WIDE)),
    "papers-fp2": Golden(("--strategy", "papers", "--probing", "fp2"), (SMALL, WIDE)),
    "papers-fp3": Golden(("--strategy", "papers", "--probing", "fp3"), (SMALL, WIDE)),
}

Counts = dict[tuple[str, int], dict[str, str | int]]
"""By the set and the number of a puzzle: its status, then its counts."""


def counted(options: Sequence[str], sets: Sequence[str]) -> Counts:
    """Solve sets with the options of `nonobot`, and return what was counted."""
    parsed = parse(options)
    strategy = make_strategy(parsed)
    strategy.prepare()
    counts: Counts = {}
    for name in sets:
        for puzzle in load_set(name, None).puzzles:
            result = strategy.solve(puzzle.puzzle, solutions=parsed.solutions)
            counts[name, puzzle.number] = {"status": result.status, **result.counts}
    return counts


def to_text(name: str, counts: Counts) -> str:
    """Return the text of a golden file: a line for each puzzle, so that `git diff` tells which has changed."""
    command = " ".join(("nonobot", *GOLDEN[name].options))
    lines = [f"# Counts of {command}, a line for each puzzle; written by {REFRESH}"]
    for (set_name, number), facts in counts.items():
        lines.append(f"{set_name} ${number} " + " ".join(f"{key}={value}" for key, value in facts.items()))
    return "\n".join(lines) + "\n"


def from_text(text: str) -> Counts:
    counts: Counts = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            set_name, number, *facts = line.split(" ")
            pairs = (fact.split("=") for fact in facts)
            counts[set_name, int(number[1:])] = {key: int(v) if v.isdigit() else v for key, v in pairs}
    return counts


def difference(name: str, before: Counts, now: Counts) -> str | None:
    """Return what differs, in words: the first puzzle with both its counts, how many in all, the totals.

    None if nothing does.
    """
    places = list(dict.fromkeys(chain(before, now)))
    differ = [place for place in places if before.get(place) != now.get(place)]
    if not differ:
        return None
    (set_name, number) = first = differ[0]
    return "\n".join(
        [
            f"{name}: the counts of {len(differ)} of {len(places)} puzzles differ; "
            f"the first is ${number} of {set_name}",
            *_changes(before.get(first, {}), now.get(first, {})),
            "  totals of all puzzles",
            *_changes(_totals(before), _totals(now)),
        ]
    )


def _totals(counts: Counts) -> Mapping[str, int | str]:
    """Return how often each status occurs, and the sums of the counts."""
    totals: Counter[str] = Counter()
    for facts in counts.values():
        for key, value in facts.items():
            totals.update({key: value} if isinstance(value, int) else {value: 1})
    return totals


def _changes(before: Mapping[str, int | str], now: Mapping[str, int | str]) -> Iterator[str]:
    """Yield a line for each count that differs: its name, before and now."""
    for key in dict.fromkeys(chain(before, now)):
        old, new = before.get(key, "none"), now.get(key, "none")
        if old != new:
            yield f"    {key:<17}{old:>12} -> {new:>12}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.golden_counts",
        description="Compare the exact counts of searches with those on file. Exit status 1 if any differs.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(GOLDEN)} (default: all)")
    parser.add_argument("--refresh", action="store_true", help="put the counts of now on file")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(GOLDEN):
        parser.error(f"no counts {sorted(unknown)[0]!r}; there are {', '.join(GOLDEN)}")
    all_same = True
    for name in given.names or GOLDEN:
        path = FOLDER / f"{name}.txt"
        before = from_text(path.read_text(encoding="ascii")) if path.exists() else {}
        now = counted(*GOLDEN[name])
        changes = difference(name, before, now)
        print(changes or f"{name}: the counts of {len(now)} puzzles are as they were")
        all_same = all_same and changes is None
        if given.refresh:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(to_text(name, now), encoding="ascii")
    if given.refresh or all_same:
        return 0
    print(f"If that is meant: {REFRESH}, and the totals go into CHANGELOG.md.")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
