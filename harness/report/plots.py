"""The plots: what they show, each with its summary in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from harness.report.looks import Look
from harness.report.svg import AXIS, GRID, MUTED, TEXT, bot_colour, inline_svg
from harness.report.words import count, duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Series", "cactus", "drawing", "head_to_head", "over_puzzles", "swatch"]

SHORTEST_SECONDS = 1e-4
"""Shorter times are drawn as this: below it a clock tells more about the system than about the bot."""

MOST_POINTS = 1000
"""Points of a bot in the plot over puzzle numbers; of more, the slowest tenth and an even choice are drawn."""

FONT_SIZE = 11
MARGINS = (56, 14, 30, 40)
"""Left, right, top, bottom of the axes, in units of the drawing."""


@dataclass(frozen=True)
class Series:
    """A bot's times on a set.

    Attributes
    ----------
    name : str
    look : Look
    numbers : sequence of int
        Every puzzle of the set.
    seconds : mapping of int to float
        By puzzle number, for its right answers alone.
    """

    name: str
    look: Look
    numbers: Sequence[int]
    seconds: Mapping[int, float]

    @property
    def in_words(self) -> str:
        """What the series is, in a few words."""
        right = f"{self.name}: {len(self.seconds)} of {count(len(self.numbers), 'puzzle')} right"
        if not self.seconds:
            return right
        times = list(self.seconds.values())
        return f"{right}, median {duration(median(times))}, slowest {duration(max(times))}"


@contextmanager
def drawing() -> Iterator[None]:
    """Let matplotlib draw alike everywhere, whatever its user's settings are."""
    import logging

    import matplotlib

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # "building the font cache" concerns nobody
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "svg.fonttype": "none",
                "svg.hashsalt": "nonojudge",
                "text.parse_math": False,
                "axes.unicode_minus": False,
                "font.size": FONT_SIZE,
                "lines.scale_dashes": True,
                "path.simplify": False,
            }
        )
        yield


def cactus(all_series: Sequence[Series], name: str) -> str:
    """Return the plot of sorted times: a point (n, t) says that n puzzles were solved in at most t seconds each."""
    figure, axes = _axes(440, 320, "time for a puzzle", "puzzles solved")
    _log_seconds(axes.yaxis, [time for series in all_series for time in series.seconds.values()])
    most = max((len(series.seconds) for series in all_series), default=0)
    _whole_numbers(axes, 0, max(1, most) * 1.02)
    for position, series in enumerate(all_series):
        times = sorted(map(_drawn, series.seconds.values()))
        if times:
            style = _line_style(series.look) | _marker_style(series.look, 5.5)
            marked = _spread(len(times), 6, position / len(all_series))
            axes.plot(range(1, len(times) + 1), times, markevery=marked, **style)
    return inline_svg(figure, name, _label("Sorted times of right answers", all_series))


def over_puzzles(all_series: Sequence[Series], name: str, wide: bool) -> str:
    """Return the plot of the time for each puzzle over its number, with a running median for each bot."""
    figure, axes = _axes(*((960, 340) if wide else (440, 320)), "time for a puzzle", "number of the puzzle")
    _log_seconds(axes.yaxis, [time for series in all_series for time in series.seconds.values()])
    numbers = all_series[0].numbers
    room = max(1.0, (max(numbers) - min(numbers)) * 0.02)
    _whole_numbers(axes, min(numbers) - room, max(numbers) + room)
    faint = 1.0 if len(all_series) == 1 else 0.55 if len(all_series) <= 4 else 0.3
    size = 3.2 if len(numbers) > 200 else 4.5
    for series in all_series:
        points = _thinned(sorted(series.seconds.items()))
        axes.plot(
            [number for number, _ in points],
            [_drawn(time) for _, time in points],
            **_marker_style(series.look, size, edge=False) | {"linestyle": "", "alpha": faint},
        )
    for position, series in enumerate(all_series):
        middle = running_median(sorted(series.seconds.items()))
        if middle:
            style = _line_style(series.look) | _marker_style(series.look, 6)
            marked = _spread(len(middle), 4, position / len(all_series))
            axes.plot(*zip(*middle, strict=True), markevery=marked, **style)
    return inline_svg(figure, name, _label("Time for each puzzle", all_series))


def head_to_head(first: Series, second: Series, name: str) -> str:
    """Return the plot of the times of two bots, a point a puzzle; what only one of them solved is at the edge."""
    figure, axes = _axes(360, 360, "second", "first")
    shared = sorted(first.seconds.keys() & second.seconds.keys())
    times = [*first.seconds.values(), *second.seconds.values()]
    low, high = _log_seconds(axes.yaxis, times)
    _log_seconds(axes.xaxis, times)
    edge = high * (high / low) ** 0.06
    axes.set(xlim=(low, edge * (high / low) ** 0.04), ylim=(low, edge * (high / low) ** 0.04))
    for factor, dashes in ((1, (1, 0)), (10, (3, 3)), (0.1, (3, 3))):
        axes.plot([low, high], [low * factor, high * factor], color=AXIS, linewidth=0.9, dashes=dashes, zorder=1)
    for line in (axes.axhline, axes.axvline):
        line(high, color=AXIS, linewidth=0.9, zorder=1)
    axes.plot(
        [_drawn(first.seconds[number]) for number in shared],
        [_drawn(second.seconds[number]) for number in shared],
        linestyle="",
        marker="o",
        markersize=3.4,
        markeredgewidth=0,
        color=TEXT,
        alpha=0.45,
    )
    only_first = [_drawn(time) for number, time in sorted(first.seconds.items()) if number not in second.seconds]
    only_second = [_drawn(time) for number, time in sorted(second.seconds.items()) if number not in first.seconds]
    for series, x, y in (
        (first, only_first, [edge] * len(only_first)),
        (second, [edge] * len(only_second), only_second),
    ):
        axes.plot(x, y, **_marker_style(series.look, 4.5, edge=False) | {"linestyle": "", "alpha": 0.8})
    return inline_svg(
        figure,
        name,
        duel_in_words(first, second),
        {"first": f"time of {short(first.name)} →", "second": f"↑ time of {short(second.name)}"},
    )


def duel_in_words(first: Series, second: Series) -> str:
    """Return how two bots compare, puzzle by puzzle."""
    shared = first.seconds.keys() & second.seconds.keys()
    faster = sum(first.seconds[number] < second.seconds[number] for number in shared)
    slower = sum(first.seconds[number] > second.seconds[number] for number in shared)
    return (
        f"{first.name} against {second.name}: {count(len(shared), 'puzzle')} solved by both, {first.name} faster on "
        f"{faster} of them, {second.name} on {slower}; {len(first.seconds) - len(shared)} solved by {first.name} alone, "
        f"{len(second.seconds) - len(shared)} by {second.name} alone"
    )


def swatch(look: Look, name: str) -> str:
    """Return a short piece of a bot's line with its marker, for legends and tables."""
    figure, axes = _figure(30, 14, (0, 0, 0, 0))
    axes.set_axis_off()
    axes.set(xlim=(0, 30), ylim=(0, 14))
    axes.plot([1, 15, 29], [7, 7, 7], markevery=[1], **_line_style(look) | _marker_style(look, 6.5))
    return inline_svg(figure, name, "")


def running_median(points: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return the median of each stretch of neighbouring points at the middle of its numbers; none of a few points."""
    if len(points) < 40:
        return []
    stretch = max(9, len(points) // 25)
    starts = range(0, len(points) - stretch + 1, max(1, stretch // 2))
    stretches = (points[start : start + stretch] for start in starts)
    return [(median(number for number, _ in part), _drawn(median(time for _, time in part))) for part in stretches]


def short(name: str, limit: int = 24) -> str:
    """Return a name cut to fit beside an axis."""
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _label(what: str, all_series: Sequence[Series]) -> str:
    return f"{what}. " + "; ".join(series.in_words for series in all_series)


def _drawn(seconds: float) -> float:
    return max(seconds, SHORTEST_SECONDS)


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    if len(points) <= MOST_POINTS:
        return points
    slow = sorted(points, key=lambda point: -point[1])[: MOST_POINTS // 10]
    step = len(points) / (MOST_POINTS - len(slow))
    even = [points[int(index * step)] for index in range(MOST_POINTS - len(slow))]
    return sorted({*slow, *even})


def _spread(length: int, most: int, shift: float) -> list[int]:
    """Return indices for up to `most` markers, shifted for each bot so that they do not hide each other, and the last."""
    step = max(1.0, (length - 1) / most)
    inner = {int(step * (index + shift)) for index in range(most)}
    return sorted({index for index in inner if index < length - 1} | {length - 1})


def _figure(width: int, height: int, margins: tuple[int, int, int, int]) -> tuple[Figure, Axes]:
    """Return a figure of that size in units of the drawing, and its axes."""
    from matplotlib.figure import Figure

    left, right, top, bottom = margins
    figure = Figure(figsize=(width / 72, height / 72))
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - top - bottom) / height)
    )
    return figure, axes


def _axes(width: int, height: int, up: str, along: str) -> tuple[Figure, Axes]:
    """Return empty axes in the house style; what goes up is said above them, not sideways."""
    figure, axes = _figure(width, height, MARGINS)
    left, _, top, _ = MARGINS
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=AXIS, linewidth=0.9)
    axes.tick_params(color=AXIS, labelcolor=MUTED, length=4, width=0.9, pad=4)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(along, color=TEXT, labelpad=5)
    figure.text(6 / width, 1 - (top - 16) / height, up, color=TEXT, va="baseline", ha="left")
    return figure, axes


def _log_seconds(axis: object, times: Sequence[float]) -> tuple[float, float]:
    """Make an axis logarithmic over whole decades that hold all times, at least two; return its ends."""
    from matplotlib.axis import Axis
    from matplotlib.ticker import NullLocator

    assert isinstance(axis, Axis)
    drawn = [_drawn(time) for time in times] or [1e-3, 1.0]
    low = math.floor(math.log10(min(drawn)) + 1e-9)
    high = max(math.ceil(math.log10(max(drawn)) - 1e-9), low + 2)
    decades = [10.0**power for power in range(low, high + 1)]
    axis._set_axes_scale("log")  # type: ignore[attr-defined]
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(decades, labels=[duration(time) for time in decades])
    axis.axes.set(**{f"{axis.axis_name}lim": (decades[0], decades[-1])})  # type: ignore[attr-defined]
    return decades[0], decades[-1]


def _whole_numbers(axes: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def _line_style(look: Look) -> dict[str, object]:
    dashes = look.dashes or (1, 0)
    return {"color": bot_colour(look.hue), "linewidth": 1.7, "dashes": dashes, "solid_joinstyle": "round"}


def _marker_style(look: Look, size: float, edge: bool = True) -> dict[str, object]:
    return {
        "color": bot_colour(look.hue),
        "marker": look.marker,
        "markersize": size,
        "markeredgewidth": 0.6 if edge else 0,
    }
