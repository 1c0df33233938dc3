"""The plots of a report, each with a summary in words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from nonobot.harness.report.contents import Run
from nonobot.harness.report.plot_frame import (
    AXIS,
    GRID,
    TEXT,
    axes_for,
    dot_style,
    drawn,
    figure_for,
    inline_svg,
    line_style,
    log_seconds,
    whole_numbers,
)
from nonobot.protocol.clues import count
from nonobot.system import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_OF_A_LINE = 40  # points of a bot; a running median of fewer is not drawn


def cactus(runs: Sequence[Run], name: str) -> str:
    """Return the plot of sorted times: a point (n, t) says that n puzzles took at most t seconds each."""
    figure, axes = axes_for(440, 380, "time for a puzzle", "puzzles solved")
    log_seconds(axes.yaxis, _all_times(runs))
    most = max((len(run.seconds) for run in runs), default=0)
    whole_numbers(axes, 0, max(1, most) * 1.02)
    for position, run in enumerate(runs):
        times = sorted(map(drawn, run.seconds.values()))
        if times:
            marked = _spread(len(times), 6, position / len(runs))
            axes.plot(range(1, len(times) + 1), times, markevery=marked, **line_style(run.bot, 5.5))
    return inline_svg(figure, name, _label("Sorted times of right answers", runs))


def _all_times(runs: Sequence[Run]) -> list[float]:
    return [time for run in runs for time in run.seconds.values()]


def over_puzzles(runs: Sequence[Run], name: str, wide: bool, most_points: int) -> str:
    """Return the plot of times over puzzle numbers, with running medians; a bot has up to `most_points` points."""
    figure, axes = axes_for(*((960, 340) if wide else (440, 380)), "time for a puzzle", "number of the puzzle")
    log_seconds(axes.yaxis, _all_times(runs))
    numbers = runs[0].by_number
    room = max(1.0, (max(numbers) - min(numbers)) * 0.02)
    whole_numbers(axes, min(numbers) - room, max(numbers) + room)
    faint = 1.0 if len(runs) == 1 else 0.55 if len(runs) <= 4 else 0.3
    size = 3.2 if len(numbers) > 200 else 4.5
    for run in runs:
        points = dict(thinned(sorted(run.seconds.items()), most_points))
        axes.plot([*points], [*map(drawn, points.values())], **dot_style(run.bot, size, faint))
    for position, run in enumerate(runs):
        if middle := running_median(sorted(run.seconds.items())):
            marked = _spread(len(middle), 4, position / len(runs)) if runs[1:] else []
            axes.plot(*zip(*middle, strict=True), markevery=marked, **line_style(run.bot, 6))
    return inline_svg(figure, name, _label("Time for each puzzle", runs))


def head_to_head(first: Run, second: Run, name: str) -> str:
    """Return the plot of the times of two bots, a point for each puzzle, at the edge if only one solved it."""
    figure, axes = axes_for(440, 380, "second", "first")
    shared = sorted(first.seconds.keys() & second.seconds.keys())
    times = _all_times([first, second])
    low, high = log_seconds(axes.yaxis, times)
    log_seconds(axes.xaxis, times)
    axes.plot([low, high], [low, high], color=AXIS, linewidth=0.9, zorder=1)
    for x, y in (([low, high / 10], [low * 10, high]), ([low * 10, high], [low, high / 10])):  # ten times as long
        axes.plot(x, y, color=AXIS, linewidth=0.9, dashes=(3, 3), zorder=1)
    edge = _draw_bands(axes, low, high) if first.seconds.keys() != second.seconds.keys() else high
    x, y = ([drawn(run.seconds[number]) for number in shared] for run in (first, second))
    axes.plot(x, y, "o", markersize=3.4, markeredgewidth=0, color=TEXT, alpha=0.45)
    for run in (first, second):
        alone = [drawn(run.seconds[number]) for number in sorted(run.seconds.keys() - shared)]
        edges = [edge] * len(alone)
        x, y = (alone, edges) if run is first else (edges, alone)
        axes.plot(x, y, **dot_style(run.bot, 4.5, 0.8))
    return inline_svg(
        figure,
        name,
        f"Times of {first.name} and {second.name}, puzzle by puzzle: {duel_in_words(first, second)}",
        {"first": f"time of {shortened(first.name, 24)} →", "second": f"↑ time of {shortened(second.name, 24)}"},
    )


def _draw_bands(axes: Axes, low: float, high: float) -> float:
    """Make room at two edges for puzzles that only one has solved; return its middle."""
    far = high * (high / low) ** 0.08
    axes.set(xlim=(low, far), ylim=(low, far))
    for band in (axes.axhspan, axes.axvspan):
        band(high, far, color=GRID, linewidth=0, zorder=0)
    return (high * far) ** 0.5


def duel_in_words(first: Run, second: Run) -> str:
    """Return how two bots compare, puzzle by puzzle; times that a clock cannot distinguish count as equal."""
    shared = first.seconds.keys() & second.seconds.keys()
    pairs = [(drawn(first.seconds[number]), drawn(second.seconds[number])) for number in shared]
    faster = sum(own < other for own, other in pairs)
    slower = sum(own > other for own, other in pairs)
    return (
        f"{count(len(shared), 'puzzle')} solved by both, {first.name} faster on {faster:,} of them, "
        f"{second.name} on {slower:,}; {len(first.seconds) - len(shared):,} solved by {first.name} alone, "
        f"{len(second.seconds) - len(shared):,} by {second.name} alone"
    )


def swatch(bot: int, name: str) -> str:
    """Return a short piece of a bot's line with its marker, for legends and tables."""
    figure, axes = figure_for(30, 14, (0, 0, 0, 0))
    axes.set_axis_off()
    axes.set(xlim=(0, 30), ylim=(0, 14))
    axes.plot([1, 15, 29], [7, 7, 7], markevery=[1], **line_style(bot, 6.5))
    return inline_svg(figure, name, "")


def running_median(points: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return the median of each stretch of neighbouring points, at its middle; nothing for a few points."""
    if len(points) < FEWEST_OF_A_LINE:
        return []
    stretch = max(9, len(points) // 25)
    starts = range(0, len(points) - stretch + 1, max(1, stretch // 2))
    stretches = (points[start : start + stretch] for start in starts)
    return [(median(number for number, _ in part), drawn(median(time for _, time in part))) for part in stretches]


def _label(title: str, runs: Sequence[Run]) -> str:
    return f"{title}. " + "; ".join(run.in_words for run in runs)


def thinned(points: list[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return the points; of more than `most`, a tenth of these for the slowest ones and an even choice of all."""
    if len(points) <= most:
        return points
    slow = sorted(points, key=lambda point: -point[1])[: most // 10]
    room = most - len(slow)
    return sorted({*slow, *(points[index * len(points) // room] for index in range(room))})


def _spread(length: int, most: int, shift: float) -> list[int]:
    """Return indices for up to `most` markers and the last; the shift keeps bots from hiding each other's."""
    step = max(1.0, (length - 1) / most)
    inner = {int(step * (index + shift)) for index in range(most)}
    return sorted({index for index in inner if index < length - 1} | {length - 1})
