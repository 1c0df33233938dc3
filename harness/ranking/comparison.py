"""Two sides compared: the numbers, what makes them doubtful, and whether the second side is worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nonobot.harness.errors import UnusableError
from nonobot.harness.ranking.comparability import MACHINE_AND_TERMS, SOFTWARE, busy_lines, differences
from nonobot.harness.ranking.compared_runs import Side, same_sets, shared_cores
from nonobot.harness.ranking.whole_runs import Whole, compare_whole
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.results.terms import SetFacts
from nonobot.harness.statistics import RESOLUTION_SECONDS, Ratios, floored, ratios
from nonobot.harness.text import duration, percent

__all__ = ["COMPARISON_SCHEMA_VERSION", "Change", "Comparison", "Limits", "Outcome", "SideFacts", "compare"]

COMPARISON_SCHEMA_VERSION = 1
"""Of the JSON form; raised by a change that old readers cannot take."""

FEWEST_PUZZLES = 5
"""With fewer, no interval is believed and times decide nothing: so few hardly say how unlike puzzles are."""

FEW_PUZZLES = 30
"""With fewer, the interval is called rough."""

BURST_SHARE = 0.05
"""Share of puzzles below the resolution on either side from which on their times are called doubtful."""

SHOWN_CHANGES = 5


class Outcome(StrEnum):
    """What came of a comparison.

    WORSE: slower, all of the interval beyond the tolerance, or more puzzles lost than solved. FASTER: by more than
    the tolerance. NOT_WORSE: not slower by more than the tolerance. CANNOT_TELL: the interval holds more than one
    of these.
    """

    WORSE = "worse"
    NOT_WORSE = "not worse"
    FASTER = "faster"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Limits:
    """When the second side is worse: the interval of its ratio lies above 1 + `tolerance`."""

    tolerance: float = 0.02
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class SideFacts:
    """A side in numbers.

    Attributes
    ----------
    bot : str
    files : list of str
    run_count : int
    right : int
        Puzzles right in more than half of the runs.
    geometric_mean_seconds : float or None
        Of the puzzles compared.
    total_seconds : float or None
        Of the puzzles compared.
    drift : float
        By which share its slowest turn exceeds its fastest, on the clock that decides.
    """

    bot: str
    files: list[str]
    run_count: int
    right: int
    geometric_mean_seconds: float | None
    total_seconds: float | None
    drift: float


@dataclass(frozen=True)
class Change:
    """A puzzle on both sides; a time of None where it was not right."""

    set: str
    puzzle: int
    before_seconds: float | None
    after_seconds: float | None
    before_verdict: Verdict
    after_verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """What came of it.

    Attributes
    ----------
    before, after : SideFacts
    sets : list of SetFacts
    limits : Limits
    puzzle_count, compared_count : int
        Of all sets; those right and timed on both sides.
    ratios : Ratios or None
        Of the puzzles' times: what they, as a sample, say. None where nothing can be compared.
    wall, cpu : Whole or None
        Of the runs' times; no CPU time where it does not say how long a run would take, and no wall time of runs
        side by side, which had half of it each.
    half_of_total_count : int
        In how few of the puzzles compared half of the time of both sides lies.
    floored_count : int
        Puzzles whose times both lie below the resolution: alike, whatever the stamps say.
    faster_count, slower_count, alike_count : int
        Puzzles by more than the tolerance faster or slower, and the others.
    newly_solved, newly_lost, most_changed : list of Change
        The last has a few of those compared, by the difference of their seconds.
    notes, warnings : list of str
    slower_beyond_tolerance, lost_more_than_solved : bool
        Why the second side is worse, if it is.
    """

    before: SideFacts
    after: SideFacts
    sets: list[SetFacts]
    limits: Limits
    puzzle_count: int
    compared_count: int
    ratios: Ratios | None
    wall: Whole | None
    cpu: Whole | None
    half_of_total_count: int
    floored_count: int
    faster_count: int
    slower_count: int
    alike_count: int
    newly_solved: list[Change]
    newly_lost: list[Change]
    most_changed: list[Change]
    notes: list[str]
    warnings: list[str]
    slower_beyond_tolerance: bool
    lost_more_than_solved: bool

    @property
    def deciding(self) -> Whole | None:
        """The times that decide: those of the CPU, since others on the machine make the wall times longer."""
        return self.cpu or self.wall

    @property
    def waits(self) -> bool:
        """Whether the second side takes longer without computing longer: it waits, or others had the core."""
        return self.wall is not None and self.wall.ratio.low > 1 + self.limits.tolerance

    @property
    def worse(self) -> bool:
        """Whether the second side is worse, so that a gate should close."""
        return self.slower_beyond_tolerance or self.lost_more_than_solved

    @property
    def outcome(self) -> Outcome:
        """What came of it, in a word."""
        if self.worse:
            return Outcome.WORSE
        limit = 1 + self.limits.tolerance
        if not _enough(self.compared_count, self.half_of_total_count, self.deciding) or self.waits:
            return Outcome.CANNOT_TELL
        assert self.deciding
        if self.deciding.ratio.high < 1 / limit:
            return Outcome.FASTER
        return Outcome.NOT_WORSE if self.deciding.ratio.high <= limit else Outcome.CANNOT_TELL


@dataclass(frozen=True)
class _Column:
    """A side's puzzles, set after set: whether right, and the median time or NaN; shape (puzzles,)."""

    right: NDArray[np.bool_]
    seconds: NDArray[np.float64]

    @classmethod
    def of(cls, side: Side, digests: Sequence[str]) -> _Column:
        return cls(
            np.concatenate([side.right(digest) for digest in digests]),
            np.concatenate([side.seconds(digest) for digest in digests]),
        )


def _require_as_many_cores(before: Side, after: Side) -> None:
    counts = {
        side.label: sorted({len(run.terms.cores) for run in side.all_runs if run.terms.cores})
        for side in (before, after)
    }
    if len({count for each in counts.values() for count in each}) > 1:
        said = "; ".join(f"{label} on {' and '.join(map(str, each))}" for label, each in counts.items() if each)
        raise UnusableError(f"not run on as many cores: {said}; their times tell nothing of a change of the bot")


def compare(before: Side, after: Side, limits: Limits) -> Comparison:
    """Return how `after` compares with `before`.

    Raises
    ------
    UnusableError
        If they were not run on the same sets, or on as many cores.
    """
    _require_as_many_cores(before, after)
    digests = same_sets(before, after)
    together = shared_cores(before, after)
    first, second = _Column.of(before, digests), _Column.of(after, digests)
    compared = first.right & second.right & ~np.isnan(first.seconds) & ~np.isnan(second.seconds)
    old, new = first.seconds[compared], second.seconds[compared]
    found = ratios(old, new, limits.confidence, limits.seed) if len(old) else None
    wall = cpu = None
    if found:
        masks = dict(zip(digests, np.split(compared, np.cumsum(_sizes(before, digests))[:-1]), strict=True))
        on_cpu = before.has_cpu_time and after.has_cpu_time
        if not (on_cpu and together):
            wall = compare_whole(before, after, masks, limits.confidence, on_cpu=False)
        if on_cpu:
            cpu = compare_whole(before, after, masks, limits.confidence, on_cpu=True)
    deciding = cpu or wall
    half = _half_of(old + new)
    moved = np.log(floored(new)) - np.log(floored(old))
    margin = np.log1p(limits.tolerance)
    slower, faster = int((moved > margin).sum()), int((moved < -margin).sum())
    changes = _changes(before, after, digests, first, second)
    most = sorted(np.flatnonzero(compared), key=lambda at: -abs(second.seconds[at] - first.seconds[at]))
    solved = [changes[at] for at in np.flatnonzero(second.right & ~first.right)]
    lost = [changes[at] for at in np.flatnonzero(first.right & ~second.right)]
    drifts = (deciding.before_drift, deciding.after_drift) if deciding else (0.0, 0.0)
    return Comparison(
        before=_side_facts(before, first, old, drifts[0]),
        after=_side_facts(after, second, new, drifts[1]),
        sets=before.set_facts(),
        limits=limits,
        puzzle_count=len(compared),
        compared_count=len(old),
        ratios=found,
        wall=wall,
        cpu=cpu,
        half_of_total_count=half,
        floored_count=int(((old <= RESOLUTION_SECONDS) & (new <= RESOLUTION_SECONDS)).sum()),
        faster_count=faster,
        slower_count=slower,
        alike_count=len(old) - faster - slower,
        newly_solved=solved,
        newly_lost=lost,
        most_changed=[
            changes[at]
            for at in most[:SHOWN_CHANGES]
            if abs(second.seconds[at] - first.seconds[at]) > RESOLUTION_SECONDS
        ],
        notes=_notes(len(old), half, deciding),
        warnings=_warnings(before, after) if together else _burst_lines(old, new) + _warnings(before, after),
        slower_beyond_tolerance=deciding is not None
        and _enough(len(old), half, deciding)
        and deciding.ratio.low > 1 + limits.tolerance,
        lost_more_than_solved=len(lost) > len(solved),
    )


def _sizes(side: Side, digests: Sequence[str]) -> list[int]:
    return [len(side.runs[digest][0].score.puzzles) for digest in digests]


def _side_facts(side: Side, column: _Column, seconds: NDArray[np.float64], drift: float) -> SideFacts:
    return SideFacts(
        bot=side.bot,
        files=side.files,
        run_count=len(side.all_runs),
        right=int(column.right.sum()),
        geometric_mean_seconds=float(np.exp(np.log(floored(seconds)).mean())) if len(seconds) else None,
        total_seconds=float(seconds.sum()) if len(seconds) else None,
        drift=drift,
    )


def _changes(before: Side, after: Side, digests: Sequence[str], first: _Column, second: _Column) -> list[Change]:
    """Return every puzzle of both sides; each with the verdict of the first run that goes with the majority."""
    changes: list[Change] = []
    for digest in digests:
        facts = before.runs[digest][0].set
        for at, one in enumerate(before.runs[digest][0].score.puzzles):
            place = len(changes)
            changes.append(
                Change(
                    facts.name,
                    one.number,
                    _known(first.seconds[place]) if first.right[place] else None,
                    _known(second.seconds[place]) if second.right[place] else None,
                    _verdict(before, digest, at, bool(first.right[place])),
                    _verdict(after, digest, at, bool(second.right[place])),
                )
            )
    return changes


def _known(seconds: float) -> float | None:
    return None if np.isnan(seconds) else float(seconds)


def _verdict(side: Side, digest: str, at: int, right: bool) -> Verdict:
    given = (run.score.puzzles[at].verdict for run in side.runs[digest])
    return next(verdict for verdict in given if (verdict is Verdict.RIGHT) == right)


def _half_of(seconds: NDArray[np.float64]) -> int:
    """Return how few of `seconds` make up half of their sum."""
    if not len(seconds):
        return 0
    summed = np.cumsum(np.sort(seconds)[::-1])
    return int(np.searchsorted(summed, summed[-1] / 2)) + 1


def _enough(compared: int, half_of_total: int, deciding: Whole | None) -> bool:
    """Return whether times may decide: of few puzzles they do not, nor where one of a single run has most of them.

    It may be the first, which has the start of the process in it: from a cold disk that takes long.
    """
    return deciding is not None and compared >= FEWEST_PUZZLES and (half_of_total > 1 or deciding.turns > 1)


def _notes(compared: int, half_of_total: int, deciding: Whole | None) -> list[str]:
    notes = []
    if not compared:
        notes.append("no puzzle is right on both sides: times cannot be compared")
    elif compared < FEWEST_PUZZLES:
        notes.append(f"only {compared} puzzles are right on both sides: too few for times to decide anything")
    elif compared < FEW_PUZZLES:
        notes.append(f"only {compared} puzzles are right on both sides: the intervals are rough")
    if deciding and deciding.turns == 1:
        if half_of_total == 1:
            notes.append("one puzzle has half of the time or more: times of a single turn decide nothing")
        notes.append(
            "a single turn of a side does not show how far the machine drifts: "
            f"by experience two such runs of the same code differ by up to {percent(deciding.runs_margin)}"
        )
    return notes


def _burst_lines(old: NDArray[np.float64], new: NDArray[np.float64]) -> list[str]:
    """Return a line if many answers arrived with the one before: such times are not the bot's."""
    short = int((np.minimum(old, new) <= RESOLUTION_SECONDS).sum())
    if short <= BURST_SHARE * len(old):
        return []
    return [
        f"{short} of {len(old)} puzzles took less than {duration(RESOLUTION_SECONDS)} by the judge's clock: "
        "answers came in bursts, as on a busy machine, or the bot is too fast for it; "
        "--feed interactive times each by itself"
    ]


def _warnings(before: Side, after: Side) -> list[str]:
    runs = [(side.label, run) for side in (before, after) for run in side.all_runs]
    warnings = differences(runs, {**MACHINE_AND_TERMS, **SOFTWARE})
    if not shared_cores(before, after):
        warnings += busy_lines(runs)
    for side in (before, after):
        ends = dict.fromkeys(run.end.reason.value for run in side.all_runs)
        ends.pop(EndReason.FINISHED.value, None)
        if ends:
            warnings.append(f"not every run of {side.label} finished: {', '.join(ends)}")
    return warnings
