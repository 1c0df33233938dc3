"""A profile as a picture, in units of 1/72 inch: the run as an icicle, the puzzles over the run, the slowest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from nonobot.harness.profiling.profile_data import (
    Profile,
    PuzzleProfile,
    Span,
    depth_first,
    reason,
    share,
    span_of,
    stages_of,
)
from nonobot.harness.profiling.profile_text import share_in_words, stage_order
from nonobot.harness.text import duration, from_to
from nonobot.system import printable, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, MARGIN = 1000, 24
INNER = WIDTH - 2 * MARGIN
ROW = 30
STRIP = 54
HEAD, ABOVE_STRIP, BELOW_STRIP = 72, 52, 78
BAR = 18
LETTER = 6.3  # width of a letter, a little more than the average: a label that might not fit is left out
LEAST_WIDTH = 1.5  # least width of a puzzle in the strip; a narrower one is drawn together with its neighbours


@dataclass(frozen=True)
class Theme:
    """Colours of the paper, of words, and of parts that are not a stage."""

    paper: str
    text: str
    muted: str
    other: str


THEMES = {
    "light": Theme("#ffffff", "#1f2933", "#5b6875", "#d3d9e0"),
    "dark": Theme("#14181d", "#dfe5eb", "#98a4b1", "#4a5561"),
}

STAGES = ("#009e73", "#e69f00", "#56a5e0", "#cc79a7", "#d8cf3c", "#e0662e")
"""Okabe and Ito's colours, which stay apart for every common colour blindness, of the stages in their order."""

ON_STAGE = "#10161c"


def draw(profile: Profile, form: str, theme: str) -> bytes:
    """Return the picture of a profile as `svg`, where each part has a title, or `png`, in a theme of THEMES."""
    from matplotlib.figure import Figure

    from nonobot.harness.report.plot_frame import drawing, file_of

    whole = span_of(profile)
    top = HEAD + (1 + max(depth for depth, _ in depth_first(whole))) * ROW + ABOVE_STRIP
    height = top + STRIP + BELOW_STRIP + len(profile.slowest) * (BAR + 6) + MARGIN
    with drawing():
        figure = Figure(figsize=(WIDTH / 72, height / 72), facecolor=THEMES[theme].paper)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        canvas = _Canvas(axes, THEMES[theme], stage_order(whole))
        canvas.words(MARGIN, 26, f"Where the time went: {shortened(profile.set.name, 80)}", canvas.theme.text, 15)
        right = f"{profile.right} of {profile.set.puzzle_count} right in {duration(profile.usage.wall_seconds)}"
        command = shortened(" ".join(profile.command), 90)
        canvas.words(MARGIN, 50, f"{right}   {command}", canvas.theme.muted)
        _icicle(canvas, whole, HEAD)
        _strip(canvas, profile, top)
        _slow_bars(canvas, profile, top + STRIP + BELOW_STRIP)
        content = file_of(figure, form)
    if form != "svg":
        return content

    def titled(part: re.Match[str]) -> str:
        return f"{part[0]}<title>{escape(printable(canvas.titles[part[1]]))}</title>"

    return re.sub(r'<g id="(part-\d+)">', titled, content.decode()).encode()


@dataclass
class _Canvas:
    """The axes, the colours, and the tooltip of each part."""

    axes: Axes
    theme: Theme
    stages: Sequence[str]
    titles: dict[str, str] = field(default_factory=dict)

    def colour(self, stage: str | None, tint: float = 0.0) -> str:
        """Return the colour of a stage, mixed with a share `tint` of the paper's."""
        from matplotlib.colors import to_hex, to_rgb

        own = self.theme.other
        if stage in self.stages:
            own = STAGES[self.stages.index(stage) % len(STAGES)]
        pairs = zip(to_rgb(own), to_rgb(self.theme.paper), strict=True)
        red, green, blue = (component * (1 - tint) + paper * tint for component, paper in pairs)
        return to_hex((red, green, blue))

    def box(self, x: float, y: float, width: float, height: float, colour: str, title: str) -> None:
        """Draw a rectangle."""
        from matplotlib.patches import Rectangle

        name = f"part-{len(self.titles)}"
        self.titles[name] = title
        edge = min(1.0, width / 4)
        box = Rectangle((x, y), width, height, facecolor=colour, edgecolor=self.theme.paper, linewidth=edge)
        box.set_gid(name)
        self.axes.add_patch(box)

    def words(self, x: float, y: float, text: str, colour: str, size: float = 10, align: str = "left") -> None:
        """Write words at the middle height `y`."""
        self.axes.text(x, y, printable(text), color=colour, fontsize=size, ha=align, va="center_baseline")


def _icicle(canvas: _Canvas, whole: Span, top: float) -> None:
    """Draw every part below the one that it is a part of, as wide as its time."""
    if whole.seconds <= 0:
        return
    # Clocks differ by a little: parts that are together more than the whole are drawn as wide as it.
    scale = INNER / max(whole.seconds, sum(child.seconds for child in whole.children))

    def put(span: Span, x: float, depth: int, tint: float) -> None:
        width = span.seconds * scale
        time, part = duration(span.seconds), share_in_words(span.seconds, whole.seconds)
        units = f", {span.count:,} {span.per}" if span.per and span.count else ""
        y = top + depth * ROW
        canvas.box(x, y, width, ROW, canvas.colour(span.stage, tint), f"{span.name}: {time}, {part}{units}")
        labels = (f"{span.name}  {time}  {part}", f"{span.name}  {part}", span.name)
        fitting = next((label for label in labels if len(label) * LETTER + 8 <= width), None)
        if fitting:
            canvas.words(x + 6, y + ROW / 2, fitting, ON_STAGE if span.stage else canvas.theme.text)
        for place, child in enumerate(span.children):
            put(child, x, depth + 1, 0.18 + 0.5 * place / len(span.children) if span.stage else 0.0)
            x += child.seconds * scale

    put(whole, MARGIN, 0, 0.0)


def _strip(canvas: _Canvas, profile: Profile, top: float) -> None:
    """Draw the puzzles in their order, each as wide as its time, with the shares of its stages."""
    total = sum(puzzle.seconds for puzzle in profile.puzzles)
    if total <= 0:
        return
    canvas.words(MARGIN, top - 24, "The puzzles in their order, each as wide as its time", canvas.theme.text, 11)
    scale, shown = INNER / total, profile.slowest
    x, free_from = float(MARGIN), 0.0
    for group in _groups(profile.puzzles, LEAST_WIDTH / scale):
        width = sum(puzzle.seconds for puzzle in group) * scale
        _draw_group(canvas, group, profile.rest, x, top, width)
        first = f"${group[0].number}"
        middle, half = x + width / 2, len(first) * LETTER / 2
        if group[0] in shown and middle - half > free_from:
            canvas.words(middle, top + STRIP + 10, first, canvas.theme.muted, align="center")
            free_from = middle + half + 4
        x += width
    x, y = float(MARGIN), top + STRIP + 30
    for name in (*canvas.stages, profile.rest):  # the legend
        canvas.box(x, y - 5, 10, 10, canvas.colour(name), name)
        canvas.words(x + 15, y, name, canvas.theme.muted)
        x += 15 + len(name) * LETTER + 16


def _draw_group(
    canvas: _Canvas, group: Sequence[PuzzleProfile], rest: str, x: float, y: float, width: float
) -> None:
    stages: Counter[str] = Counter()
    for puzzle in group:
        stages.update(stages_of(puzzle, rest))
    named = from_to(f"${group[0].number}", f"${group[-1].number}")
    seconds = sum(puzzle.seconds for puzzle in group)
    for stage, spent in stages.items():
        height = STRIP * share(spent, stages.total())
        if height > 0.1:
            title = f"{named}: {duration(seconds)}, of it {duration(spent)} {stage}"
            canvas.box(x, y, width, height, canvas.colour(stage), title)
        y += height


def _groups(puzzles: Sequence[PuzzleProfile], least: float) -> Iterator[list[PuzzleProfile]]:
    """Yield puzzles of at least `least` seconds alone, shorter neighbours together."""
    group: list[PuzzleProfile] = []
    for puzzle in puzzles:
        if group and (puzzle.seconds >= least or sum(member.seconds for member in group) >= least):
            yield group
            group = []
        group.append(puzzle)
    if group:
        yield group


def _slow_bars(canvas: _Canvas, profile: Profile, top: float) -> None:
    shown = profile.slowest
    if not shown or shown[0].seconds <= 0:
        return
    canvas.words(MARGIN, top - 12, "The slowest puzzles, and why", canvas.theme.text, 11)
    left, room = MARGIN + 48, INNER * 0.24
    for place, puzzle in enumerate(shown):
        y = top + 4 + place * (BAR + 6)
        canvas.words(MARGIN, y + BAR / 2, f"${puzzle.number}", canvas.theme.text)
        x = float(left)
        for stage, seconds in stages_of(puzzle, profile.rest).items():
            width = room * seconds / shown[0].seconds
            if width > 0.1:
                title = f"${puzzle.number}: {duration(seconds)} {stage}"
                canvas.box(x, y, width, BAR, canvas.colour(stage), title)
            x += width
        why = shortened(f"{duration(puzzle.seconds)}   {reason(puzzle, profile)}", 112)
        canvas.words(left + room + 12, y + BAR / 2, why, canvas.theme.muted, 9.5)
