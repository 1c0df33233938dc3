"""The runs of a folder, under way and done, as the page shows them: read again when a file has changed.

Nothing is written and no lock is taken: the runs do not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
from starlette.concurrency import run_in_threadpool

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.journal import Alive, LegEnded, LegStarted, Ruled, read_records
from nonobot.harness.ranking.sources import RESULT_ENDINGS, Source, read_source
from nonobot.harness.ranking.standings import Row, Scope, Section, sections
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing, look
from nonobot.harness.report.plots import Series, cactus
from nonobot.harness.results.run_result import PuzzleResult, RunResult, Verdict
from nonobot.harness.text import duration, plain

__all__ = ["Live"]

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_WORDS = 15.0
"""A line goes to the browser at least as often: who has gone is noticed then."""

FRESH_SECONDS = 30.0
"""A run whose bot has ended goes on for so long after its last record; then it was interrupted."""

MOST_WATCHERS = 32
MOST_FILES = 500
LAST_PUZZLES = 12

JOURNAL = ".journal.jsonl"


@dataclass(frozen=True)
class _UnderWay:
    """A run that has a journal and no result yet."""

    result: RunResult
    rulings: list[PuzzleResult]
    is_running: bool
    wall_seconds: float


def _times(rulings: Sequence[PuzzleResult]) -> dict[int, float]:
    return {
        one.number: one.took_seconds
        for one in rulings
        if one.verdict is Verdict.RIGHT and one.took_seconds is not None
    }


class Live:
    """A folder of results that is watched.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, tuple[int, int]] = {}
        self._sources: dict[Path, Source | str] = {}
        self._state: dict[str, Any] = {}
        self._bots: dict[str, int] = {}  # each bot's number, and so its look
        self._plots: list[list[Series]] = []
        self._svgs: dict[int, bytes] = {}
        self._version = 0
        self._shown = 0.0
        self._looked = -SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.Lock()
        self._watchers = 0

    @property
    def has_room(self) -> bool:
        """Whether one more may watch."""
        return self._watchers < MOST_WATCHERS

    async def events(self) -> AsyncIterator[bytes]:
        """Yield what is in the folder as server-sent events: at once, and whenever it changes."""
        self._watchers += 1
        try:
            shown, quiet = -1, 0.0
            while True:
                await self._look()
                if self._version != shown:
                    shown, quiet = self._version, 0.0
                    yield f"data: {json.dumps(self._state)}\n\n".encode()
                elif quiet >= SECONDS_BETWEEN_WORDS:
                    quiet = 0.0
                    yield b": still here\n\n"
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
                quiet += SECONDS_BETWEEN_LOOKS
        finally:
            self._watchers -= 1

    async def cactus(self, number: int) -> bytes | None:
        """Return the plot of a set, None if there is none."""
        await self._look()
        if not 0 <= number < len(self._plots):
            return None
        if number not in self._svgs:
            self._svgs[number] = await run_in_threadpool(_drawn, self._plots[number])
        return self._svgs[number]

    async def _look(self) -> None:
        """Read what has changed since the last look, at most once a second, however many watch."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked >= SECONDS_BETWEEN_LOOKS:
                await run_in_threadpool(self._read_folder)
                self._looked = asyncio.get_running_loop().time()

    def _read_folder(self) -> None:
        stamps = dict(self._stamps())
        is_old = bool(self._state.get("under_way")) and time.monotonic() - self._shown > FRESH_SECONDS
        if stamps == self._seen and self._version and not is_old:
            return
        self._shown = time.monotonic()
        changed = [path for path, stamp in stamps.items() if self._seen.get(path) != stamp]
        for path in changed:
            if not path.name.endswith(JOURNAL):
                self._sources[path] = _read(path)
        self._sources = {path: found for path, found in self._sources.items() if path in stamps}
        self._seen = stamps
        journals = [path for path in stamps if path.name.endswith(JOURNAL)]
        self._show([one for one in map(_under_way, journals) if one])
        self._version += 1
        self._state["version"] = self._version

    def _stamps(self) -> list[tuple[Path, tuple[int, int]]]:
        found = []
        with contextlib.suppress(OSError):
            for path in sorted(self._folder.rglob("*")):
                if path.name.startswith(".") or not (path.name.endswith((*RESULT_ENDINGS, JOURNAL))):
                    continue
                with contextlib.suppress(OSError):
                    facts = path.stat()
                    found.append((path, (facts.st_mtime_ns, facts.st_size)))
                if len(found) == MOST_FILES:
                    break
        return found

    def _show(self, under_way: list[_UnderWay]) -> None:
        """Work out what is shown."""
        sources = [one for one in self._sources.values() if isinstance(one, Source)]
        problems = [one for one in self._sources.values() if isinstance(one, str)]
        rankings = sections(sources)
        per_set: dict[str, list[Series]] = {}
        titles: dict[str, str] = {}

        def add(digest: str, bot: str, more: str, rulings: Sequence[PuzzleResult]) -> None:
            number = self._bots.setdefault(bot, len(self._bots))
            series = Series(plain(bot) + more, look(number), [one.number for one in rulings], _times(rulings))
            per_set.setdefault(digest, []).append(series)

        for ranking in rankings:
            if ranking.scope is Scope.SET:
                digest = ranking.sets[0].sha256
                titles[digest] = ranking.title
                for run in (run for row in ranking.rows for run in row.runs):
                    add(digest, run.bot, "", run.score.puzzles)
        for one in under_way:
            titles.setdefault(one.result.set.sha256, one.result.set.name)
            add(one.result.set.sha256, one.result.bot, " (under way)", one.rulings)
        drawn = {
            digest: all_series for digest, all_series in per_set.items() if any(s.seconds for s in all_series)
        }
        self._plots, self._svgs = list(drawn.values()), {}
        can_draw = find_spec("matplotlib") is not None
        self._state = {
            "folder": str(self._folder),
            "rankings": [_ranking(one) for one in rankings],
            "under_way": [_run(one) for one in under_way],
            "last": _last(under_way, sources),
            "plots": [
                {
                    "title": plain(titles[digest]),
                    "words": "; ".join(series.in_words for series in all_series),
                    "series": [
                        (series.name, LIGHT_COLOURS[series.look.hue], DARK_COLOURS[series.look.hue])
                        for series in all_series
                    ],
                }
                for digest, all_series in drawn.items()
            ]
            if can_draw
            else [],
            "problems": [plain(problem) for problem in problems],
        }


def _read(path: Path) -> Source | str:
    try:
        return read_source(path)
    except UnusableError as error:
        return str(error)


def _under_way(path: Path) -> _UnderWay | None:
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
    return _UnderWay(records[0], rulings, running, max(wall, arrived))


def _is_alive(pid: int, created: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - created) < 1.0
    except psutil.Error:
        return False


def _run(one: _UnderWay) -> dict[str, Any]:
    return {
        "bot": plain(one.result.bot),
        "set": plain(one.result.set.name),
        "done": len(one.rulings),
        "count": one.result.set.puzzle_count,
        "right": sum(ruling.verdict is Verdict.RIGHT for ruling in one.rulings),
        "time": duration(one.wall_seconds),
        "running": one.is_running,
    }


def _last(under_way: Sequence[_UnderWay], sources: Sequence[Source]) -> list[dict[str, Any]]:
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


_COLOURS = {
    "text": ("#20242c", "#e6e9ee"),
    "muted": ("#5b6470", "#a3acb8"),
    "axis": ("#8a94a2", "#6d7886"),
    "grid": ("#e3e7ec", "#2c333c"),
}


def _drawn(all_series: Sequence[Series]) -> bytes:
    """Return the plot of sorted times as a picture of its own, for light and dark."""
    with drawing():
        svg = cactus(all_series, "cactus")
    colours = _COLOURS | {
        f"bot-{hue}": pair for hue, pair in enumerate(zip(LIGHT_COLOURS, DARK_COLOURS, strict=True))
    }
    light, dark = ("".join(f"--{name}:{pair[at]};" for name, pair in colours.items()) for at in (0, 1))
    style = (
        f"<style>:root{{{light}font-family:system-ui,sans-serif;font-size:11px}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    )
    head, _, body = svg.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{style}{body}'.encode()
