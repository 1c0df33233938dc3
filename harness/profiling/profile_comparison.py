"""A profile beside an earlier one of the same set: which stage got slower, and whether the search is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from nonobot.harness.errors import UnusableError
from nonobot.harness.profiling.profile_data import Profile, Span, depth_first, span_of
from nonobot.harness.profiling.profile_text import heading
from nonobot.harness.text import NOTHING, count, drawn, duration, new_table, plain, ratio_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["Comparison", "Part", "as_text", "compare", "judgement"]


class Part(Struct, frozen=True):
    """A part of the time before and after; 0 where there is no such part.

    Attributes
    ----------
    name : str
        With the names of what it is a part of, `whole run/puzzles/probing`.
    depth : int
    before_seconds, after_seconds : float
    is_leaf : bool
        It has no parts of its own.
    """

    name: str
    depth: int
    before_seconds: float
    after_seconds: float
    is_leaf: bool

    @property
    def change(self) -> float:
        """Seconds more."""
        return self.after_seconds - self.before_seconds


class Comparison(Struct, frozen=True):
    """What differs between two profiles of a set.

    Attributes
    ----------
    parts : list of Part
        Depth first; the first is the whole run.
    totals : dict of str to (int, int)
        Of every count, before and after.
    recounted : list of int
        The puzzles whose counts differ.
    """

    parts: list[Part]
    totals: dict[str, tuple[int, int]]
    recounted: list[int]

    @property
    def most_changed(self) -> Part:
        """The part without parts whose time changed most, in the direction of the whole."""
        sign = 1 if self.parts[0].change >= 0 else -1
        return max((part for part in self.parts if part.is_leaf), key=lambda part: sign * part.change)


def compare(before: Profile, after: Profile) -> Comparison:
    """Set two profiles side by side.

    Raises
    ------
    UnusableError
        If they are not of one set.
    """
    if before.set.sha256 != after.set.sha256:
        raise UnusableError(
            f"the profile before is of {before.set.name}, this one of {after.set.name}: "
            "only profiles of the same puzzles compare"
        )
    old, new = _by_path(span_of(before)), _by_path(span_of(after))
    paths = [*new, *(path for path in old if path not in new)]
    nothing = Span("", 0.0)
    parts = [
        Part(
            name="/".join(path),
            depth=len(path) - 1,
            before_seconds=old.get(path, nothing).seconds,
            after_seconds=new.get(path, nothing).seconds,
            is_leaf=not old.get(path, nothing).children and not new.get(path, nothing).children,
        )
        for path in sorted(paths, key=lambda path: _place(path, paths))
    ]
    counts_before = {puzzle.number: puzzle.counts for puzzle in before.puzzles}
    names = dict.fromkeys([*before.totals, *after.totals])
    return Comparison(
        parts,
        {name: (before.totals.get(name, 0), after.totals.get(name, 0)) for name in names},
        [one.number for one in after.puzzles if counts_before.get(one.number) != one.counts],
    )


def _by_path(whole: Span) -> dict[tuple[str, ...], Span]:
    spans: dict[tuple[str, ...], Span] = {}
    path: list[str] = []
    for depth, span in depth_first(whole):
        path[depth:] = [span.name]
        spans[tuple(path)] = span
    return spans


def _place(path: tuple[str, ...], paths: list[tuple[str, ...]]) -> list[int]:
    """Return what sorts a path behind what it is a part of, and before what comes after that."""
    return [paths.index(path[: depth + 1]) for depth in range(len(path))]


def judgement(comparison: Comparison) -> list[str]:
    """Return in a few sentences what came of it."""
    whole, part = comparison.parts[0], comparison.most_changed
    if whole.before_seconds <= 0:
        return []
    ratio = whole.after_seconds / whole.before_seconds
    name = part.name.removeprefix("whole run/").removeprefix("puzzles/").replace("/", ", ")
    from_to = f"{duration(whole.before_seconds)} before, {duration(whole.after_seconds)} after"
    lines = [
        f"{ratio_in_words(ratio)} ({from_to}), "
        f"most of all in {name}: {duration(part.before_seconds)} before, {duration(part.after_seconds)} after"
    ]
    if ratio_in_words(ratio) == ratio_in_words(1.0):
        lines = ["as fast as before"]
    if not any(any(pair) for pair in comparison.totals.values()):
        return [*lines, "the bot states no counts: whether it searches in the same way cannot be told"]
    if not comparison.recounted:
        return [
            *lines,
            "every count of every puzzle is the same: the search is the same, the rest is speed or noise",
        ]
    differ = count(len(comparison.recounted), "puzzle")
    return [*lines, f"the counts of {differ} differ, first ${comparison.recounted[0]}: the search is another"]


def as_text(before: Profile, after: Profile, comparison: Comparison, terminal: bool) -> str:
    """Return a comparison for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    from rich.text import Text

    parts: list[RenderableType] = [Text("before", "bold"), *list(heading(before))[1:]]
    parts += [Text("after", "bold"), *list(heading(after))[1:], "", _parts(comparison)]
    if comparison.recounted:
        parts += ["", _counts(comparison)]
    parts += ["", *(Text(plain(line), "bold" if not at else "") for at, line in enumerate(judgement(comparison)))]
    parts += [Text(line, "dim") for line in _remarks(before, after)]
    return drawn(parts, terminal)


def _parts(comparison: Comparison) -> Table:
    from rich.text import Text

    table = new_table()
    for at, name in enumerate(("where the time went", "before", "after", "ratio", "difference")):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    most = comparison.most_changed
    for part in comparison.parts:
        before, after = part.before_seconds, part.after_seconds
        style = ("bold red" if part.change > 0 else "bold green") if part is most else ""
        table.add_row(
            Text(plain(f"{'  ' * part.depth}{part.name.rpartition('/')[2]}"), "bold" if not part.depth else ""),
            duration(before),
            duration(after),
            f"{after / before:.2f}" if before > 0 else NOTHING,
            f"{'+' if part.change >= 0 else '-'}{duration(abs(part.change))}",
            style=style,
        )
    return table


def _counts(comparison: Comparison) -> Table:
    table = new_table()
    for at, name in enumerate(("counts", "before", "after", "ratio")):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    for name, (before, after) in comparison.totals.items():
        ratio = f"{after / before:.3f}" if before else NOTHING
        table.add_row(plain(name.replace("_", " ")), f"{before:,}", f"{after:,}", ratio)
    return table


def _remarks(before: Profile, after: Profile) -> Iterator[str]:
    if before.machine.cpu != after.machine.cpu:
        yield f"another machine: {plain(before.machine.cpu)} before, {plain(after.machine.cpu)} after"
    yield "one run each: `nonojudge duel` and `nonojudge bench` tell a change of speed from noise"
