"""The page: what a report states, its plots and its pictures, put into one HTML file."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonobot.arguments import missing
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.machine import BUSY_SHARE
from nonobot.harness.report import plots
from nonobot.harness.report.album import Album
from nonobot.harness.report.contents import Duel, Report, Run, SetPart, SlowPuzzle
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing, look
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from nonobot.harness.statistics import RESOLUTION_SECONDS
from nonobot.harness.text import count, duration, in_unit, megabytes, percent, plain, ranges

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["STEPS", "check_extra", "page_of"]

STEPS = 4
"""What drawing a set is divided into, for the progress shown."""

NEEDED = ("matplotlib", "jinja2")


@dataclass(frozen=True)
class Chapter:
    """One set's part of the page, drawn; with a wide plot where the others leave no gap for the narrow one."""

    part: SetPart
    anchor: str
    cactus: Markup | None
    over_puzzles: Markup | None
    over_puzzles_wide: Markup | None
    duels: list[tuple[Duel, Markup | None]]
    slowest: list[tuple[SlowPuzzle, Markup | None]]
    wrong: list[tuple[Run, PuzzleResult, Markup | None]]


def check_extra() -> None:
    """See that the libraries that draw and write the page are there.

    Raises
    ------
    UnusableError
        If one is missing.
    """
    from importlib.util import find_spec

    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        raise UnusableError(missing("a report", *absent))


def page_of(report: Report, title: str, judge_version: str, progress: Callable[[float, str], None]) -> str:
    """Return the page as HTML; the same report gives the same page, byte for byte.

    Parameters
    ----------
    report : Report
    title : str
    judge_version : str
        Of the judge that writes the page.
    progress : callable
        Is told how many of the steps are done, :data:`STEPS` for each set, and a few words.
    """
    from markupsafe import Markup

    chapters = []
    with drawing():
        swatches = [Markup(plots.swatch(look(number), f"s{number}")) for number in range(len(report.bots))]
        for number, part in enumerate(report.sets):
            tell = _teller(progress, number, len(report.sets))
            chapters.append(_drawn(part, f"set-{number + 1}", report.most_points, tell))
    progress(STEPS * len(report.sets), "writing")
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            title=plain(title),
            judge_version=judge_version,
            chapters=chapters,
            swatches=swatches,
            light=LIGHT_COLOURS,
            dark=DARK_COLOURS,
            shortest=duration(RESOLUTION_SECONDS),
            busy_share=BUSY_SHARE,
        )
    )


def _teller(progress: Callable[[float, str], None], done_sets: int, sets: int) -> Callable[[str], None]:
    """Return what tells of the next step in drawing a set."""
    steps = itertools.count(STEPS * done_sets)
    place = f"set {done_sets + 1} of {sets}" if sets > 1 else "drawing"
    return lambda what: progress(next(steps), f"{place}: {what}")


def _drawn(part: SetPart, anchor: str, most_points: int, tell: Callable[[str], None]) -> Chapter:
    """Return a set's part of the page; `tell` is called before each of the steps."""
    album = Album(part.facts, part.runs)
    series = [run.series for run in part.timed]
    tell("sorted times")
    cactus = plots.cactus(series, f"{anchor}-cactus") if series else None
    tell("time for each puzzle")
    over = plots.over_puzzles(series, f"{anchor}-over", wide=False, most_points=most_points) if series else None
    wide = (
        plots.over_puzzles(series, f"{anchor}-wide", wide=True, most_points=most_points)
        if len(part.duels) % 2
        else None
    )
    tell("one against one")
    duels = [
        (duel, plots.head_to_head(duel.first.series, duel.second.series, f"{anchor}-duel-{number}"))
        for number, duel in enumerate(part.duels)
    ]
    tell("pictures")
    return Chapter(
        part,
        anchor,
        _safe(cactus),
        _safe(over),
        _safe(wide),
        [(duel, _safe(plot)) for duel, plot in duels],
        [(slow, _safe(album.solved(slow.number))) for slow in part.slowest],
        [(run, ruling, _safe(album.picture(ruling))) for run, ruling in part.wrong.shown],
    )


def _safe(svg: str | None) -> Markup | None:
    """Return a drawing as markup: its writer has escaped what came from outside."""
    from markupsafe import Markup

    return None if svg is None else Markup(svg)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("nonobot.harness.report", "."),
        autoescape=True,  # names and details come from outside
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shortest = duration(RESOLUTION_SECONDS)
    environment.globals |= {"Verdict": Verdict, "duel_in_words": plots.duel_in_words}
    environment.filters |= {
        "clean": plain,
        "counted": count,
        "duration": duration,
        "took": lambda time: duration(time) if time >= RESOLUTION_SECONDS else "< " + shortest,
        "megabytes": megabytes,
        "ranges": ranges,
        "seconds": lambda time: in_unit(time, 1, 3),
        "sentence": lambda text: f"{text[:1].upper()}{text[1:]}.",
        "share": percent,
        "shell": lambda command: plain(shlex.join(command)),
    }
    return environment
