"""What a folder of results holds at a moment, as the page shows it: runs under way and done, ranking, plots.

Nothing is written and no lock is taken: the runs do not notice.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.journal import Alive, LegEnded, LegStarted, Ruled, read_records
from nonobot.harness.ranking.sources import RESULT_ENDINGS, Source, read_source
from nonobot.harness.ranking.standings import Row, Scope, Section, sections
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, look
from nonobot.harness.report.plots import Series
from nonobot.harness.results.run_result import PuzzleResult, RunResult, Verdict
from nonobot.harness.text import duration, plain

__all__ = ["Plot", "Shown", "UnderWay", "shown_now"]

FRESH_SECONDS = 30.0
"""A run whose bot has ended goes on for so long after its last record; then it was interrupted."""

SECONDS_BETWEEN_PLOTS = 15.0
"""The plot of a set on which a run is under way is drawn anew at most so often."""

MOST_FILES = 500
"""Results that are read; of more, the newest. Journals are all read."""

MOST_ENTRIES = 10_000
"""Files and folders that a look goes through."""

LAST_PUZZLES = 12

JOURNAL = ".journal.jsonl"

Stamp = tuple[int, int]
"""When a file was changed, in nanoseconds, and its size in bytes."""


@dataclass(frozen=True)
class UnderWay:
    """A run that has a journal and no result yet."""

    result: RunResult
    rulings: list[PuzzleResult]
    is_running: bool
    wall_seconds: float


@dataclass(frozen=True)
class Plot:
    """The sorted times of a set's runs.

    Attributes
    ----------
    title : str
    series : list of Series
    made : float
        When, on the monotonic clock.
    key : str
        Plots that are drawn alike have the same.
    """

    title: str
    series: list[Series]
    made: float

    @property
    def key(self) -> str:
        """The digest of what is drawn."""
        return hashlib.blake2b(repr(self.series).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class Shown:
    """What a folder held when it was looked at; nothing of it changes.

    Attributes
    ----------
    state : dict
        What the browser gets.
    plots : mapping of str to Plot
        By the digest of the set.
    looked : float
        When, on the monotonic clock.
    stamps : mapping of Path to Stamp
        Of the files that were read.
    sources : mapping of Path to Source or str
        Results, and why a file is none.
    journals : mapping of Path to UnderWay or None
    bots : mapping of str to int
        Each bot's number, and so its look.
    """

    state: dict[str, Any] = field(default_factory=dict)
    plots: Mapping[str, Plot] = field(default_factory=dict)
    looked: float = 0.0
    stamps: Mapping[Path, Stamp] = field(default_factory=dict)
    sources: Mapping[Path, Source | str] = field(default_factory=dict)
    journals: Mapping[Path, UnderWay | None] = field(default_factory=dict)
    bots: Mapping[str, int] = field(default_factory=dict)


def shown_now(folder: Path, before: Shown) -> Shown:
    """Look at a folder; what has not changed since a look before is not read again.

    Parameters
    ----------
    folder : Path
    before : Shown
        What the look before has returned: itself, if nothing has changed. `Shown()` if there was none.
    """
    now = time.monotonic()
    stamps, left_out = _stamps(folder)
    # That a bot has gone shows in no file.
    is_old = (
        any(one and one.is_running for one in before.journals.values()) and now - before.looked > FRESH_SECONDS
    )
    if before.state and stamps == before.stamps and not is_old:
        return before
    sources: dict[Path, Source | str] = {}
    journals: dict[Path, UnderWay | None] = {}
    for path, stamp in stamps.items():
        is_same = before.stamps.get(path) == stamp
        if path.name.endswith(JOURNAL):
            known = before.journals.get(path)
            journals[path] = known if is_same and not (known and known.is_running) else _under_way(path)
        else:
            sources[path] = before.sources[path] if is_same else _read(path)
    under_way = [one for one in journals.values() if one]
    done = [one for one in sources.values() if isinstance(one, Source)]
    rankings = sections(done)
    bots = dict(before.bots)
    plots = _plots(rankings, under_way, bots, before.plots, now)
    state = {
        "folder": str(folder),
        "rankings": [_ranking(one) for one in rankings],
        "under_way": [_run(one) for one in under_way],
        "last": _last(under_way, done),
        "plots": [_plot(one) for one in plots.values()] if find_spec("matplotlib") else [],
        "problems": [plain(one) for one in sources.values() if isinstance(one, str)] + left_out,
    }
    return Shown(state, plots, now, stamps, sources, journals, bots)


def _stamps(folder: Path) -> tuple[dict[Path, Stamp], list[str]]:
    """Return the files that are to be read, and what is said of those that are not."""
    journals: dict[Path, Stamp] = {}
    results: dict[Path, Stamp] = {}
    left_out, entries = [], 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        entries += len(folders) + len(names)
        for name in names:
            if not name.startswith(".") and name.endswith((*RESULT_ENDINGS, JOURNAL)):
                path = Path(place, name)
                try:
                    facts = path.stat()
                except OSError:
                    continue
                (journals if name.endswith(JOURNAL) else results)[path] = facts.st_mtime_ns, facts.st_size
        if entries > MOST_ENTRIES:
            left_out.append(
                f"more than {MOST_ENTRIES:,} files and folders: what comes after {place} is not looked at"
            )
            break
    if len(results) > MOST_FILES:
        left_out.append(f"{len(results) - MOST_FILES:,} older results: the newest {MOST_FILES} are shown")
        results = dict(sorted(results.items(), key=lambda one: one[1], reverse=True)[:MOST_FILES])
    return dict(sorted((results | journals).items())), [plain(line) for line in left_out]


def _plots(
    rankings: Sequence[Section],
    under_way: Sequence[UnderWay],
    bots: dict[str, int],
    before: Mapping[str, Plot],
    now: float,
) -> dict[str, Plot]:
    """Return the plots by the digest of their set; bots that are new get a number."""
    series: dict[str, list[Series]] = {}
    titles: dict[str, str] = {}

    def add(digest: str, bot: str, more: str, rulings: Sequence[PuzzleResult]) -> None:
        number = bots.setdefault(bot, len(bots))
        one = Series(plain(bot) + more, look(number), [one.number for one in rulings], _times(rulings))
        series.setdefault(digest, []).append(one)

    for ranking in rankings:
        if ranking.scope is Scope.SET:
            digest = ranking.sets[0].sha256
            titles[digest] = ranking.title
            for run in (run for row in ranking.rows for run in row.runs):
                add(digest, run.bot, "", run.score.puzzles)
    growing = set()
    for one in under_way:
        digest = one.result.set.sha256
        growing.add(digest)
        titles.setdefault(digest, one.result.set.name)
        add(digest, one.result.bot, " (under way)", one.rulings)
    plots = {}
    for digest, every in series.items():
        was = before.get(digest)
        if was and digest in growing and now - was.made < SECONDS_BETWEEN_PLOTS:
            plots[digest] = was
        elif any(one.seconds for one in every):
            plots[digest] = Plot(titles[digest], every, now)
    return plots


def _times(rulings: Sequence[PuzzleResult]) -> dict[int, float]:
    return {
        one.number: one.took_seconds
        for one in rulings
        if one.verdict is Verdict.RIGHT and one.took_seconds is not None
    }


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        "key": plot.key,
        "title": plain(plot.title),
        "words": "; ".join(one.in_words for one in plot.series),
        "series": [(one.name, LIGHT_COLOURS[one.look.hue], DARK_COLOURS[one.look.hue]) for one in plot.series],
    }


def _read(path: Path) -> Source | str:
    try:
        return read_source(path)
    except UnusableError as error:
        return str(error)


def _under_way(path: Path) -> UnderWay | None:
    try:
        records = read_records(path)
        is_fresh = time.time() - path.stat().st_mtime < FRESH_SECONDS
    except (UnusableError, OSError):
        return None
    if not records or not isinstance(records[0], RunResult):
        return None
    rulings = [one.ruling for one in records if isinstance(one, Ruled)]
    wall, before, running = 0.0, 0.0, False
    for one in records:
        match one:
            case LegStarted(_, _, pid, created):
                running = is_fresh or _is_alive(pid, created)
            case Alive(usage):
                wall = before + usage.wall_seconds
            case LegEnded(leg):
                before += leg.usage.wall_seconds
                wall, running = before, False
    arrived = max((one.arrived_seconds or 0.0 for one in rulings), default=0.0)
    return UnderWay(records[0], rulings, running, max(wall, arrived))


def _is_alive(pid: int, created: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - created) < 1.0
    except psutil.Error:
        return False


def _run(one: UnderWay) -> dict[str, Any]:
    return {
        "bot": plain(one.result.bot),
        "set": plain(one.result.set.name),
        "done": len(one.rulings),
        "count": one.result.set.puzzle_count,
        "right": sum(ruling.verdict is Verdict.RIGHT for ruling in one.rulings),
        "time": duration(one.wall_seconds),
        "running": one.is_running,
    }


def _last(under_way: Sequence[UnderWay], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return the puzzles ruled on last: of the runs under way, else of the run that was begun last."""
    runs = [(one.result, one.rulings) for one in under_way]
    if not runs:
        done = [one.found for one in sources if isinstance(one.found, RunResult)]
        latest = max(done, key=lambda run: run.started_at, default=None)
        runs = [(latest, latest.score.puzzles)] if latest else []
    return [
        {
            "bot": plain(result.bot),
            "set": plain(result.set.name),
            "number": ruling.number,
            "verdict": ruling.verdict.value,
            "time": "" if ruling.took_seconds is None else duration(ruling.took_seconds),
        }
        for result, rulings in runs
        for ruling in rulings[: -LAST_PUZZLES - 1 : -1]
    ]


def _ranking(section: Section) -> dict[str, Any]:
    return {
        "title": plain(section.title),
        "rows": [_row(row) for row in section.rows],
        "notes": [plain(note) for note in section.notes],
        "warnings": [plain(warning) for warning in section.warnings],
    }


def _row(row: Row) -> dict[str, Any]:
    right = row.right if row.logged is None else row.logged
    return {
        "rank": row.rank,
        "bot": plain(row.bot),
        "right": right,
        "count": row.puzzle_count,
        "time": "" if row.time_seconds is None else duration(row.time_seconds),
        "median": "" if row.median_seconds is None else duration(row.median_seconds),
        "slowest": "" if row.slowest_seconds is None else duration(row.slowest_seconds),
        "slowest_puzzle": row.slowest_puzzle,
        "ends": [plain(end) for end in row.ends],
    }
