"""What the live view shows, as JSON for the browser: rankings, runs under way, the last puzzles, plots."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nonobot.harness.live.runs_in_folder import (
    FRESH_SECONDS,
    Announced,
    Content,
    Seen,
    Stamp,
    UnderWay,
    content_at,
    result_of,
    results_to_come,
    seen,
    stamps_of,
)
from nonobot.harness.ranking.standings import Ranking, Row, Scope, rankings, slowest_place
from nonobot.harness.report.contents import Run
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, look
from nonobot.harness.results.result_files import AnyResult
from nonobot.harness.results.run_result import BotLog, EndReason, RunResult, Verdict
from nonobot.harness.text import NOTHING, duration, ranges
from nonobot.harness.tournament.playing import RunInPlay
from nonobot.system import printable

LAST_PUZZLES = 12
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_PLOTS = 15.0  # of a set on which a run is under way

SetPlayed = tuple[str, str]  # a tournament and the digest of one of its sets


@dataclass(frozen=True)
class Plot:
    """The sorted times of a set's runs; `made` is on the monotonic clock."""

    title: str
    runs: list[Run]
    made: float

    @property
    def key(self) -> str:
        """A digest of the times: plots that are drawn alike have the same."""
        drawn = [(run.name, run.bot, len(run.by_number), run.seconds) for run in self.runs]
        return hashlib.blake2b(repr(drawn).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, eq=False)  # a file that has not changed stays the same object
class File:
    """A file as it was at a look."""

    stamp: Stamp
    content: Content  # an error message if it is unreadable, None if it is not a journal or was removed
    changed: float  # when a look first saw it so


@dataclass(frozen=True)
class Shown:
    """The content of a folder at a time on the monotonic clock; `state` is its JSON for the browser."""

    state: dict[str, Any] = field(default_factory=dict)
    plots: Mapping[SetPlayed, Plot] = field(default_factory=dict)
    looked: float = 0.0
    files: Mapping[Path, File] = field(default_factory=dict)
    bots: Mapping[str, int] = field(default_factory=dict)
    note: str = ""  # why the puzzle page is missing


@dataclass
class Tournament:
    """The runs in a folder, by the folder's name."""

    name: str
    begun: str = ""  # when the last run began
    under_way: list[UnderWay] = field(default_factory=list)
    announced: list[Announced] = field(default_factory=list)  # by its command
    without_journal: list[dict[str, Any]] = field(default_factory=list)  # the progress of such runs under way
    done: dict[Path, AnyResult] = field(default_factory=dict)
    sets: dict[str, None] = field(default_factory=dict)  # digests, in the order of play

    @cached_property
    def rankings(self) -> list[Ranking]:
        """Those over all sets first."""
        return sorted(rankings(self.done), key=lambda each: each.scope not in (Scope.MATCH, Scope.OVERALL))

    @property
    def plotted(self) -> Iterator[tuple[str, RunResult, str]]:
        """The runs for the plots of sets: title, result, state."""
        for ranking in self.rankings:
            results = [result for row in ranking.rows for result in row.results.values()]
            if ranking.scope is Scope.SET:
                yield from ((ranking.title, result, "") for result in results if isinstance(result, RunResult))
        for run in self.under_way:
            yield run.result.set.name, run.result, " (under way)" if run.is_running else " (interrupted)"


def shown_now(folder: Path, before: Shown) -> Shown:
    """Look at a folder; `before`, the look before, is returned if nothing has changed, and no file read twice."""
    now = time.monotonic()
    stamps, left_out = stamps_of(folder)
    files = {path: _file(path, stamp, before, now) for path, stamp in stamps.items()}
    runs = [*before.state.get("under_way", ()), *before.state.get("playing", ())]
    is_old = any(run["running"] for run in runs) and now - before.looked >= SECONDS_BETWEEN_LOOKS
    if before.state and files == before.files and not is_old:  # no file shows that a judge has ended
        return before
    read = {path: seen(file.content, now - file.changed) for path, file in files.items()}
    tournaments = _tournaments(folder, read)
    bots = dict(before.bots)
    plots = _plots(tournaments, bots, before.plots, now)
    shown = plots if find_spec("matplotlib") else {}
    names = [tournament.name for tournament in tournaments]
    state = {
        "folder": str(min(path.parent for path in read) if len(names) == 1 else folder),
        "tournaments": names,
        "rankings": _named(tournaments, lambda each: map(_ranking, each.rankings)),
        "under_way": _named(tournaments, lambda each: [*map(_progress, each.under_way), *each.without_journal]),
        "playing": _named(tournaments, lambda each: map(_played, each.announced)),
        "last": _last(tournaments),
        "plots": [_plot(plot) | {"tournament": name} for (name, _), plot in shown.items()],
        "note": before.note,
        "problems": [printable(problem) for problem in [*read.values(), *left_out] if isinstance(problem, str)],
    }
    return Shown(state, plots, now, files, bots, before.note)


def _tournaments(folder: Path, read: Mapping[Path, Seen]) -> list[Tournament]:
    """Return the tournaments of a folder, the one that was begun last first."""
    found: dict[str, Tournament] = {}
    to_come = results_to_come(read)
    journalled = {result_of(path) for path, content in read.items() if isinstance(content, UnderWay)}
    for path, content in read.items():
        if content is None or isinstance(content, str):
            continue
        within = path.parent.relative_to(folder)
        name = printable(str(within if within.parts else folder))
        tournament = found.setdefault(name, Tournament(name))
        if isinstance(content, Announced):
            in_play = content.playing.in_play
            tournament.announced.append(content)
            tournament.begun = max(tournament.begun, content.playing.started_at)
            tournament.without_journal += [
                _announced(run, content) for run in in_play if path.parent / run.result_file not in journalled
            ]
            continue
        result = content.result if isinstance(content, UnderWay) else content
        if isinstance(content, UnderWay):
            tournament.under_way.append(content)
        elif path not in to_come:
            tournament.done[path] = content
        if isinstance(result, RunResult):
            tournament.begun = max(tournament.begun, result.started_at)
            tournament.sets[result.set.sha256] = None
    return sorted(found.values(), key=lambda tournament: tournament.begun, reverse=True)


def _named(
    tournaments: Sequence[Tournament], parts: Callable[[Tournament], Iterable[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return parts of all tournaments, each with the name of its own."""
    return [part | {"tournament": tournament.name} for tournament in tournaments for part in parts(tournament)]


def _file(path: Path, stamp: Stamp, before: Shown, now: float) -> File:
    """Return a file, read again if it has changed.

    The clock of a file system may be ahead or behind. Without a look just before, the time of a change is a guess,
    which the next looks correct.
    """
    old = before.files.get(path)
    if old and old.stamp == stamp:
        return old
    just_looked = bool(before.state) and now - before.looked < FRESH_SECONDS
    changed = now if just_looked else now - abs(time.time() - stamp[0] / 1e9)
    return File(stamp, content_at(path, old.content if old else None), changed)


def _plots(
    tournaments: Sequence[Tournament], bots: dict[str, int], before: Mapping[SetPlayed, Plot], now: float
) -> dict[SetPlayed, Plot]:
    """Return the plots of each set of each tournament, in the order of play; bots that are new get a number."""
    plots: dict[SetPlayed, Plot] = {}
    for tournament in tournaments:
        drawn: dict[str, Plot] = {}
        for title, result, state in tournament.plotted:
            number = bots.setdefault(result.bot, len(bots))
            plot = drawn.setdefault(result.set.sha256, Plot(title, [], now))
            plot.runs.append(Run(printable(result.bot) + state, number, result))
        growing = {run.result.set.sha256 for run in tournament.under_way}
        for digest in tournament.sets:
            old, new = before.get((tournament.name, digest)), drawn.get(digest)
            if old and digest in growing and now - old.made < SECONDS_BETWEEN_PLOTS:
                plots[tournament.name, digest] = old
            elif new and any(run.seconds for run in new.runs):
                plots[tournament.name, digest] = new
    return plots


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        "key": plot.key,
        "title": printable(plot.title),
        "words": "; ".join(run.in_words for run in plot.runs),
        "series": [(run.name, *COLOURS[f"bot-{look(run.bot).hue}"]) for run in plot.runs],
    }


def _progress(run: UnderWay) -> dict[str, Any]:
    facts, score = run.result.set, run.result.score
    in_play = RunInPlay("", run.result.bot, facts.name, facts.puzzle_count, len(score.puzzles), score.right)
    return _announced(in_play, run) | {"not_right": _not_right(score.verdicts), "time": duration(run.wall_seconds)}


def _announced(run: RunInPlay, look: UnderWay | Announced) -> dict[str, Any]:
    """Return the progress of a run without a journal here: a worker plays it, or it is in its warm-up."""
    not_right = run.answered - run.right
    return {
        "bot": printable(run.bot),
        "set": printable(run.set),
        "done": run.answered,
        "count": run.puzzle_count,
        "right": run.right,
        "not_right": {"not right": not_right} if not_right else {},
        "time": NOTHING,
        "running": look.is_running,
        "silent": look.is_silent,
    }


def _played(content: Announced) -> dict[str, Any]:
    left, run_count = len(content.playing.left), content.playing.run_count
    return {"played": run_count - left, "count": run_count, "running": content.is_running}


def _last(tournaments: Sequence[Tournament]) -> list[dict[str, Any]]:
    """Return the puzzles judged last: of the runs under way, otherwise of the newest run."""
    runs = [(tournament.name, run.result) for tournament in tournaments for run in tournament.under_way]
    if not runs:
        done = [(tournament.name, run) for tournament in tournaments for run in tournament.done.values()]
        runs = [(name, run) for name, run in done if isinstance(run, RunResult)]
        runs = sorted(runs, key=lambda found: found[1].started_at)[-1:]
    return [
        {
            "tournament": name,
            "bot": printable(run.bot),
            "set": printable(run.set.name),
            "number": puzzle.number,
            "verdict": puzzle.verdict.value,
            "time": "" if puzzle.took_seconds is None else duration(puzzle.took_seconds),
        }
        for name, run in runs
        for puzzle in run.score.puzzles[: -LAST_PUZZLES - 1 : -1]
    ]


def _ranking(ranking: Ranking) -> dict[str, Any]:
    missing = [
        f"no answer of {row.bot} to {ranges(result.score.missing)}"
        for row in ranking.rows
        for result in row.results.values()
        if ranking.scope is Scope.SET and not isinstance(result, BotLog) and result.score.missing
    ]
    return {
        "title": printable(ranking.title),
        "rows": [_row(row, ranking) for row in ranking.rows],
        "notes": [printable(note) for note in [*ranking.notes, *missing]],
        "warnings": [printable(warning) for warning in ranking.warnings],
    }


def _row(row: Row, ranking: Ranking) -> dict[str, Any]:
    times = {"time": row.time_seconds, "own": row.own_seconds}
    times |= {"median": row.median_seconds, "slowest": row.slowest_seconds}
    return {
        "rank": row.rank,
        "bot": printable(row.bot),
        "version": row.version,
        "right": row.counted,
        "count": row.puzzle_count,
        "points": row.points,
        "solved": row.solved,
        "pairings": [(printable(pairing.opponent), str(pairing)) for pairing in row.pairings],
        **{name: "" if seconds is None else duration(seconds) for name, seconds in times.items()},
        "slowest_puzzle": slowest_place(row, ranking),
        "not_right": _not_right(row.verdicts),
        "ends": [end for end in dict.fromkeys(row.ends) if end != EndReason.FINISHED] or row.ends[:1],
    }


def _not_right(verdicts: Mapping[Verdict, int]) -> dict[str, int]:
    return {
        verdict.value: number for verdict, number in verdicts.items() if number and verdict is not Verdict.RIGHT
    }


COLOURS = {
    "text": ("#20242c", "#e6e9ee"),
    "muted": ("#5b6470", "#a3acb8"),
    "axis": ("#8a94a2", "#6d7886"),
    "grid": ("#e3e7ec", "#2c333c"),
} | {f"bot-{hue}": pair for hue, pair in enumerate(zip(LIGHT_COLOURS, DARK_COLOURS, strict=True))}
"""The colours of a plot, light and dark."""
