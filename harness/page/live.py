"""The runs of a folder as the page shows them: read every second, sent to browsers, plotted.

Each subfolder is a tournament. Reading writes nothing and takes no lock, so it does not disturb the runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import (
    Alive,
    AttemptEnded,
    AttemptStarted,
    PuzzleJudged,
    Reading,
    Record,
    is_marked,
)
from nonobot.harness.ranking.standings import Ranking, Row, Scope, rankings, slowest_place
from nonobot.harness.report.contents import Run
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing, look
from nonobot.harness.report.plots import cactus
from nonobot.harness.results.result_files import RESULT_ENDINGS, AnyResult, in_order_of_play, read_any
from nonobot.harness.results.run_result import BotLog, EndReason, PuzzleResult, RunResult, Score, Verdict
from nonobot.harness.text import NOTHING, duration, ranges
from nonobot.harness.tournament.playing import PLAYING, Playing, RunInPlay, read_playing
from nonobot.system import descriptor_of, printable

JOURNAL = ".journal.jsonl"
MOST_WATCHERS = 32
LAST_PUZZLES = 12
MOST_ENTRIES = 10_000  # files and folders to look at
MOST_FILES = 500  # results to read, the newest; all journals are read

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_WORDS = 15.0  # by which the server notices that a browser has gone
SECONDS_BETWEEN_PLOTS = 15.0  # of a set on which a run is under way
SILENT_SECONDS = 3.5  # after its last record, a judge does not answer: it writes one every two seconds
FRESH_SECONDS = 30.0  # after its last record, a run whose bot has ended was interrupted

Stamp = tuple[int, int]  # time of a file's last change in nanoseconds, size in bytes; of any clock

SetPlayed = tuple[str, str]  # a tournament and the digest of one of its sets


@dataclass(frozen=True)
class UnderWay:
    """A run that has a journal and no result yet; its score is that of the answers so far."""

    result: RunResult
    is_running: bool
    is_silent: bool  # the judge has written nothing for a while
    wall_seconds: float


@dataclass(frozen=True)
class Announced:
    """The runs that the command of a tournament plays, as it says itself."""

    playing: Playing
    is_running: bool
    is_silent: bool  # the command has written nothing for a while


class Followed:
    """A run as its journal shows it; each look reads only what is new. `beginning` is None before the first line.

    A shorter journal, or one of another run, is read from its beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first_line = b""
        self._start()

    def _start(self) -> None:
        self._reading = Reading(self._path)
        self.beginning: RunResult | None = None
        self._puzzles: list[PuzzleResult] = []
        self._verdicts = dict.fromkeys(Verdict, 0)
        self._attempt: AttemptStarted | None = None  # the last one
        self._has_ended = False
        self._ended_seconds = self._seconds = 0.0  # of the attempts that have ended; of all

    def look(self) -> None:
        """Read what is new; UnusableError or OSError if the file is not a journal or cannot be read."""
        with descriptor_of(self._path) as file:
            first_line = os.pread(file, len(self._first_line), 0)
            if first_line != self._first_line or os.fstat(file).st_size < self._reading.end:
                self._start()
            for record in self._reading.records(file):
                self._take(record)
                if isinstance(record, RunResult):
                    self._first_line = os.pread(file, self._reading.end, 0)

    def _take(self, record: Record) -> None:
        match record:
            case RunResult():
                self.beginning = record
            case PuzzleJudged(result):
                self._puzzles.append(result)
                self._verdicts[result.verdict] += 1
                self._seconds = max(self._seconds, result.arrived_seconds or 0.0)
            case AttemptStarted():
                self._attempt, self._has_ended = record, False
            case Alive(usage):
                self._seconds = max(self._seconds, self._ended_seconds + usage.wall_seconds)
            case AttemptEnded(attempt):
                self._has_ended = True
                self._ended_seconds += attempt.usage.wall_seconds
                self._seconds = max(self._seconds, self._ended_seconds)

    def run(self, silent_seconds: float) -> UnderWay | None:
        """Return the run, given the time since the last change of its journal; None if it has none yet."""
        if self.beginning is None:
            return None
        is_fresh = silent_seconds < FRESH_SECONDS  # perhaps the first attempt is about to begin
        is_running = not self._has_ended and (is_fresh or (self._attempt is not None and _is_alive(self._attempt)))
        is_silent = is_running and silent_seconds > SILENT_SECONDS
        result = replace(self.beginning, score=Score(dict(self._verdicts), list(self._puzzles)))
        return UnderWay(result, is_running, is_silent, self._seconds)


Content = AnyResult | Followed | Playing | str | None
Seen = AnyResult | UnderWay | Announced | str | None


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
    stamps, left_out = _stamps(folder)
    runs = [*before.state.get("under_way", ()), *before.state.get("playing", ())]
    is_old = any(run["running"] for run in runs) and now - before.looked >= SECONDS_BETWEEN_LOOKS
    if before.state and stamps == before.stamps and not is_old:  # no file shows that a judge has ended
        return before
    contents: dict[Path, Content] = {}
    for path, stamp in stamps.items():
        old = before.read.get(path)
        contents[path] = old if before.stamps.get(path) == stamp else _read(path, old)
    changed = _changed(stamps, before, now)
    read = {path: _under_way(content, now - changed[path]) for path, content in contents.items()}
    journalled = {_result_of(path) for path, content in read.items() if isinstance(content, UnderWay)}
    to_come = _results_to_come(read)
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
        begun[name] = max(begun.get(name, ""), _started_at(content))
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


def _started_at(content: AnyResult | UnderWay | Announced) -> str:
    match content:
        case UnderWay(result):
            return result.started_at
        case Announced(playing):
            return playing.started_at
    return content.started_at if isinstance(content, RunResult) else ""


def _result_of(journal: Path) -> Path:
    return journal.with_name(journal.name.removesuffix(JOURNAL) + ".json")


def _results_to_come(read: Mapping[Path, Seen]) -> set[Path]:
    """Return the result files of runs that are resumed or played again: what they contain is not the result."""
    to_come: set[Path] = set()
    for path, content in read.items():
        if isinstance(content, UnderWay) and content.is_running:
            to_come.add(_result_of(path))
        elif isinstance(content, Announced) and content.is_running:
            to_come.update(path.parent / name for name in content.playing.left)
    return to_come


def _stamps(folder: Path) -> tuple[dict[Path, Stamp], list[str]]:
    """Return the files to read, and messages about files left out."""
    stamps: dict[Path, Stamp] = {}
    left_out, entries = [], 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        entries += len(folders) + len(names)
        for name in names:
            if name == PLAYING or (not name.startswith(".") and name.endswith((*RESULT_ENDINGS, JOURNAL))):
                with contextlib.suppress(OSError):
                    facts = Path(place, name).stat()
                    stamps[Path(place, name)] = facts.st_mtime_ns, facts.st_size
        if entries > MOST_ENTRIES:
            left_out.append(f"more than {MOST_ENTRIES:,} files and folders: none after {place} is looked at")
            break
    results = [path for path in stamps if path.name != PLAYING and not path.name.endswith(JOURNAL)]
    older = sorted(results, key=stamps.__getitem__, reverse=True)[MOST_FILES:]
    if older:
        left_out.append(f"{len(older):,} older results: the newest {MOST_FILES} are shown")
    return {path: stamps[path] for path in in_order_of_play(sorted(stamps.keys() - set(older)))}, left_out


def _read(path: Path, before: Content) -> Content:
    """Return the content of a file; that of a journal may continue the one `before`."""
    if path.name == PLAYING:
        return read_playing(path)
    is_journal = path.name.endswith(JOURNAL)
    try:
        if not is_journal:
            return read_any(path)
        followed = before if isinstance(before, Followed) else Followed(path)
        followed.look()
    except (UnusableError, OSError) as error:
        return None if is_journal else str(error)
    return followed


def _under_way(content: Content, silent_seconds: float) -> Seen:
    """Return what a file shows, given the time since its last change."""
    match content:
        case Followed():
            return content.run(silent_seconds)
        case Playing():
            is_running = silent_seconds < FRESH_SECONDS
            return Announced(content, is_running, is_running and silent_seconds > SILENT_SECONDS)
    return content


def _is_alive(attempt: AttemptStarted) -> bool:
    with contextlib.suppress(psutil.Error):
        started = psutil.Process(attempt.pid).create_time()  # moves when somebody sets the clock
        return abs(started - attempt.process_created) < 1.0 or is_marked(attempt)
    return False


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


class Live:
    """A folder of results that browsers watch; the server counts the `watchers`."""

    def __init__(self, folder: Path, note: str = "") -> None:
        self._folder = folder
        self._shown = self._before = Shown(note=note)
        self._svgs: dict[str, bytes] = {}  # of the plots that are shown, as far as a browser has asked
        self._looked = -SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.Lock()
        self._drawing = asyncio.Lock()
        self.watchers = 0

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the state of the folder as server-sent events: at once, and whenever it changes."""
        sent, quiet = None, 0.0
        while True:
            state = (await self._look()).state
            if state != sent:
                sent, quiet = state, 0.0
                yield f"data: {json.dumps(state)}\n\n".encode()
            elif quiet >= SECONDS_BETWEEN_WORDS:
                quiet = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            quiet += SECONDS_BETWEEN_LOOKS

    async def cactus(self, key: str) -> bytes | None:
        """Return the plot that a state names by this key, None if the last two states do not."""
        await self._look()
        plots = {plot.key: plot for look in (self._before, self._shown) for plot in look.plots.values()}
        # One at a time: matplotlib's settings are shared, and its import leaves the working folder for a moment.
        async with self._drawing, self._looking:
            if key not in self._svgs and key in plots:
                svg = await run_in_threadpool(_drawn, plots[key].runs)
                self._svgs = {kept: svg for kept, svg in self._svgs.items() if kept in plots} | {key: svg}
            return self._svgs.get(key)

    async def _look(self) -> Shown:
        """Read the folder, at most once a second, however many browsers watch."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked >= SECONDS_BETWEEN_LOOKS:
                self._before = self._shown
                self._shown = await run_in_threadpool(shown_now, self._folder, self._before)
                self._looked = asyncio.get_running_loop().time()
            return self._shown


COLOURS = {
    "text": ("#20242c", "#e6e9ee"),
    "muted": ("#5b6470", "#a3acb8"),
    "axis": ("#8a94a2", "#6d7886"),
    "grid": ("#e3e7ec", "#2c333c"),
} | {f"bot-{hue}": pair for hue, pair in enumerate(zip(LIGHT_COLOURS, DARK_COLOURS, strict=True))}
"""The colours of a plot, light and dark."""


def _drawn(runs: Sequence[Run]) -> bytes:
    """Return the plot of sorted times as a picture of its own, for light and dark."""
    with drawing():
        svg = cactus(runs, "cactus")
    light, dark = ("".join(f"--{name}:{pair[theme]};" for name, pair in COLOURS.items()) for theme in (0, 1))
    style = f":root{{{light}font-family:system-ui,sans-serif;font-size:11px}}"
    style += f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    head, _, body = svg.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{body}'.encode()
