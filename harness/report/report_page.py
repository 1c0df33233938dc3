"""The page: a report, its plots and its pictures in one HTML file."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nonobot.harness.play.machine import BUSY_SHARE
from nonobot.harness.report import plots
from nonobot.harness.report.contents import Report, SetPart
from nonobot.harness.report.gallery import Gallery
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing, look
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.statistics import RESOLUTION_SECONDS
from nonobot.harness.text import count, duration, in_unit, megabytes, percent, plain, ranges

if TYPE_CHECKING:
    from jinja2 import Environment

STEPS = 4
"""Steps of drawing a set, for the progress shown."""


def page_of(report: Report, title: str, judge_version: str, progress: Callable[[float, str], None]) -> str:
    """Return the page as HTML; the same report gives the same page, byte for byte.

    `progress` is called with the number of steps done, :data:`STEPS` for each set, and a few words.
    """
    steps = itertools.count()
    chapters = []
    with drawing():
        swatches = [plots.swatch(look(number), f"s{number}") for number in range(len(report.bots))]
        for number, part in enumerate(report.sets, start=1):
            place = f"set {number} of {len(report.sets)}" if len(report.sets) > 1 else "drawing"
            drawings = _drawings(
                part,
                f"set-{number}",
                report.most_points,
                lambda what, place=place: progress(next(steps), f"{place}: {what}"),  # type: ignore[misc]
            )
            chapters.append((part, drawings))
    progress(next(steps), "writing")
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


def _drawings(part: SetPart, anchor: str, most_points: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the drawings of a set, under the names that the template has for them.

    The plot over the puzzles is drawn wide, too, if the others leave no gap for the narrow one.
    """
    gallery = Gallery(part.facts, part.runs)
    runs = part.timed
    drawings: dict[str, Any] = {"wide": None}
    tell("sorted times")
    if runs:
        drawings["cactus"] = plots.cactus(runs, f"{anchor}-cactus")
    tell("time for each puzzle")
    if runs:
        drawings["over"] = plots.over_puzzles(runs, f"{anchor}-over", wide=False, most_points=most_points)
    if len(part.duels) % 2:
        drawings["wide"] = plots.over_puzzles(runs, f"{anchor}-wide", wide=True, most_points=most_points)
    tell("one against one")
    drawings["duels"] = [
        (*duel, plots.head_to_head(*duel, f"{anchor}-duel-{number}")) for number, duel in enumerate(part.duels)
    ]
    tell("pictures")
    drawings["solved"] = {number: gallery.solved(number) for number in part.slowest}
    drawings["wrong"] = [(run, one, gallery.picture(one)) for run, results, _ in part.wrong for one in results]
    return drawings


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
