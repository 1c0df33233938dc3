"""What the live view shows, as JSON for the browser: rankings, runs under way, the last puzzles, plots."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nonobot.harness.live.runs_in_folder import (
    FRESH_SECONDS,
    Announced,
    Content,
    Stamp,
    UnderWay,
    content_at,
    result_of,
    results_to_come,
    seen,
    stamps_of,
    started_at,
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


@dataclass(frozen=True)
class Shown:
    """The content of a folder at a time on the monotonic clock; `state` is its JSON for the browser.

    `read` has the content of each file: an error message if it is unreadable, None if it is not a journal or was
    removed. `changed` has the time of the look that first saw a file as it is.
    """

    state: dict[str, Any] = field(default_factory=dict)
    plots: Mapping[SetPlayed, Plot] = field(default_factory=dict)
    looked: float = 0.0
    stamps: Mapping[Path, Stamp] = field(default_factory=dict)
    changed: Mapping[Path, float] = field(default_factory=dict)
    read: Mapping[Path, Content] = field(default_factory=dict)
    bots: Mapping[str, int] = field(default_factory=dict)
    note: str = ""  # why the puzzle page is missing


def shown_now(folder: Path, before: Shown) -> Shown:
    """Look at a folder; `before`, the look before, is returned if nothing has changed, and no file read twice."""
    now = time.monotonic()
    stamps, left_out = stamps_of(folder)
    runs = [*before.state.get("under_way", ()), *before.state.get("playing", ())]
    is_old = any(run["running"] for run in runs) and now - before.looked >= SECONDS_BETWEEN_LOOKS
    if before.state and stamps == before.stamps and not is_old:  # no file shows that a judge has ended
        return before
    contents: dict[Path, Content] = {}
    for path, stamp in stamps.items():
        old = before.read.get(path)
        contents[path] = old if before.stamps.get(path) == stamp else content_at(path, old)
    changed = _changed(stamps, before, now)
    read = {path: seen(content, now - changed[path]) for path, content in contents.items()}
    journalled = {result_of(path) for path, content in read.items() if isinstance(content, UnderWay)}
    to_come = results_to_come(read)
    under_way: dict[str, list[UnderWay]] = {}
    without_journal: dict[str, list[dict[str, Any]]] = {}
    playing: list[dict[str, Any]] = []
    done: dict[str, dict[Path, AnyResult]] = {}
    begun: dict[str, str] = {}  # when the last run of each tournament began
    for path, content in read.items():
        if content is None or isinstance(content, str):
            continue
        within = path.parent.relative_to(folder)
        name = printable(str(within if within.parts else folder))  # of its folder
        if isinstance(content, UnderWay):
            under_way.setdefault(name, []).append(content)
        elif isinstance(content, Announced):
            in_play = [run for run in content.playing.in_play if path.parent / run.result_file not in journalled]
            without_journal[name] = [_announced(run, content) for run in in_play]
            playing.append(_played(content) | {"tournament": name})
        elif path not in to_come:
            done.setdefault(name, {})[path] = content
        begun[name] = max(begun.get(name, ""), started_at(content))
    names = sorted(begun, key=begun.__getitem__, reverse=True)
    ranked = {
        name: sorted(
            rankings(done.get(name, {})), key=lambda ranking: ranking.scope not in (Scope.MATCH, Scope.OVERALL)
        )
        for name in names
    }
    bots = dict(before.bots)
    plots = _plots(ranked, under_way, bots, before.plots, now)
    runs = [content.result if isinstance(content, UnderWay) else content for content in read.values()]
    sets = [run.set.sha256 for run in runs if isinstance(run, RunResult)]  # in the order of play
    in_order = sorted(plots.items(), key=lambda plot: (names.index(plot[0][0]), sets.index(plot[0][1])))
    shown = in_order if find_spec("matplotlib") else []
    state = {
        "folder": str(min(path.parent for path in read) if len(names) == 1 else folder),
        "tournaments": names,
        "rankings": [_ranking(ranking) | {"tournament": name} for name in names for ranking in ranked[name]],
        "under_way": [
            run | {"tournament": name}
            for name in names
            for run in (*map(_progress, under_way.get(name, [])), *without_journal.get(name, []))
        ],
        "playing": playing,
        "last": _last(names, under_way, done),
        "plots": [_plot(plot) | {"tournament": name} for (name, _), plot in shown],
        "note": before.note,
        "problems": [printable(problem) for problem in [*read.values(), *left_out] if isinstance(problem, str)],
    }
    return Shown(state, plots, now, stamps, changed, contents, bots, before.note)


def _changed(stamps: Mapping[Path, Stamp], before: Shown, now: float) -> dict[Path, float]:
    """Return when each file was first seen as it is.

    The clock of a file system may be ahead or behind. Without a look just before, the time of a change is a guess,
    which the next looks correct.
    """
    changed = {}
    just_looked = bool(before.state) and now - before.looked < FRESH_SECONDS
    for path, stamp in stamps.items():
        if before.stamps.get(path) == stamp:
            changed[path] = before.changed[path]
        else:
            changed[path] = now if just_looked else now - abs(time.time() - stamp[0] / 1e9)
    return changed


def _plots(
    ranked: Mapping[str, Sequence[Ranking]],
    under_way: Mapping[str, Sequence[UnderWay]],
    bots: dict[str, int],
    before: Mapping[SetPlayed, Plot],
    now: float,
) -> dict[SetPlayed, Plot]:
    """Return the plots of each set of each tournament; bots that are new get a number."""
    of_sets = [(name, ranking) for name, some in ranked.items() for ranking in some if ranking.scope is Scope.SET]
    plots = {(name, ranking.sets[0].sha256): Plot(ranking.title, [], now) for name, ranking in of_sets}
    runs = [(name, run, "") for name, ranking in of_sets for row in ranking.rows for run in row.results.values()]
    states = {True: " (under way)", False: " (interrupted)"}
    runs += [(name, run.result, states[run.is_running]) for name, some in under_way.items() for run in some]
    for name, result, more in runs:
        if isinstance(result, RunResult):
            plot = plots.setdefault((name, result.set.sha256), Plot(result.set.name, [], now))
            number = bots.setdefault(result.bot, len(bots))
            plot.runs.append(Run(printable(result.bot) + more, number, result))
    drawn = {played: plot for played, plot in plots.items() if any(run.seconds for run in plot.runs)}
    growing = {(name, run.result.set.sha256) for name, some in under_way.items() for run in some}
    recent = {played for played, plot in before.items() if now - plot.made < SECONDS_BETWEEN_PLOTS}
    return drawn | {played: before[played] for played in growing & recent}


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        "key": plot.key,
        "title": printable(plot.title),
        "words": "; ".join(run.in_words for run in plot.runs),
        "series": [(run.name, *COLOURS[f"bot-{look(run.bot).hue}"]) for run in plot.runs],
    }


def _progress(run: UnderWay) -> dict[str, Any]:
    return {
        "bot": printable(run.result.bot),
        "set": printable(run.result.set.name),
        "done": len(run.result.score.puzzles),
        "count": run.result.set.puzzle_count,
        "right": run.result.score.right,
        "not_right": _not_right(run.result.score.verdicts),
        "time": duration(run.wall_seconds),
        "running": run.is_running,
        "silent": run.is_silent,
    }


def _announced(run: RunInPlay, content: Announced) -> dict[str, Any]:
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
        "running": content.is_running,
        "silent": content.is_silent,
    }


def _played(content: Announced) -> dict[str, Any]:
    left, run_count = len(content.playing.left), content.playing.run_count
    return {"played": run_count - left, "count": run_count, "running": content.is_running}


def _last(
    names: Sequence[str], under_way: Mapping[str, Sequence[UnderWay]], done: Mapping[str, Mapping[Path, AnyResult]]
) -> list[dict[str, Any]]:
    """Return the puzzles judged last: of the runs under way, otherwise of the newest run."""
    runs = [(name, run.result) for name in names for run in under_way.get(name, [])]
    if not runs:
        runs = [(name, run) for name in names for run in done.get(name, {}).values() if isinstance(run, RunResult)]
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
