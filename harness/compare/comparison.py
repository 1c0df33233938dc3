"""Two versions of a bot compared by their runs: puzzle by puzzle, by the times of whole runs, and the outcome."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from nonobot.harness import UnusableError
from nonobot.harness.compare.compared_runs import Version, pairs_of_runs, same_sets, shared_cores
from nonobot.harness.compare.statistics import (
    RESOLUTION_SECONDS,
    Outcome,
    Ratio,
    decide,
    floored,
    half_count,
    in_words,
    needed_pairs,
    ratio_in_words,
    spread,
)
from nonobot.harness.results.comparability import MACHINE_AND_CONFIGURATION, SOFTWARE, busy_lines, differences
from nonobot.harness.results.result_files import json_document
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.results.run_text import standstill
from nonobot.harness.text import duration
from nonobot.protocol.clues import count
from nonobot.tournament_data.sets import PART

FEWEST_PUZZLES = 5  # with fewer compared puzzles, times decide nothing
BURST_SHARE = 0.05  # share of puzzles below the resolution above which many answers arrived together
SHOWN_CHANGES = 5


@dataclass(frozen=True)
class Limits:
    """The limits of a comparison."""

    tolerance: float = 0.02  # largest slowdown to accept, as a share
    confidence: float = 0.95  # of the intervals
    sequential: bool = False  # confidence of all looks together; intervals only at multiples of `first_look`


@dataclass(frozen=True)
class Change:
    """A puzzle in both versions."""

    set: str
    puzzle: int
    before_seconds: float | None  # None if it is not right
    after_seconds: float | None
    before_verdict: Verdict
    after_verdict: Verdict

    @property
    def is_compared(self) -> bool:
        """Whether both versions have it right, with a time."""
        return self.before_seconds is not None and self.after_seconds is not None


@dataclass(frozen=True)
class WholeRuns:
    """CPU or wall times of whole runs for the puzzles compared: geometric means, summed over the sets."""

    before_seconds: float
    after_seconds: float
    ratio: Ratio  # of the pairs; with too few pairs, of the means, without interval
    pairs: int
    before_drift: float  # a `spread`
    after_drift: float


@dataclass(frozen=True)
class Comparison:
    """Two versions compared; the output calls the baseline "before" and the candidate "after"."""

    baseline: Version
    candidate: Version
    limits: Limits
    changes: list[Change]  # all puzzles
    wall: WholeRuns | None  # None if the runs shared a core, or no puzzle is right in both
    cpu: WholeRuns | None  # None if CPU time does not show how long a run would take, or as above

    @property
    def versions(self) -> tuple[Version, Version]:
        """Both versions, the baseline first."""
        return self.baseline, self.candidate

    @cached_property
    def compared(self) -> list[Change]:
        """Puzzles that are right and timed in both versions."""
        return [change for change in self.changes if change.is_compared]

    @property
    def has_too_few(self) -> bool:
        """Whether so few puzzles are compared that times decide nothing, however many runs there are."""
        return len(self.compared) < FEWEST_PUZZLES

    @property
    def is_duel(self) -> bool:
        """Whether each run of one version shared its core with a run of the other."""
        return shared_cores(self.baseline, self.candidate)

    @property
    def set_names(self) -> list[str]:
        """Names of the sets; parts of a set have the name of the whole."""
        names = ((PART.fullmatch(facts.name), facts.name) for facts in self.baseline.sets)
        return list(dict.fromkeys(part[1] if part else name for part, name in names))

    @cached_property
    def seconds(self) -> list[tuple[float, float]]:
        """Times of each puzzle compared, baseline first; empty if the runs shared a core."""
        if self.is_duel:  # the scheduler decides which of two bots on a core answers when
            return []
        pairs = ((change.before_seconds, change.after_seconds) for change in self.changes)
        return [(before, after) for before, after in pairs if before is not None and after is not None]

    @property
    def deciding(self) -> WholeRuns | None:
        """The times that decide: CPU time if known, because other programs lengthen wall time."""
        return self.cpu or self.wall

    @property
    def mean_seconds(self) -> list[float]:
        """Geometric mean of the puzzles' times, of the baseline and of the candidate; empty without a puzzle."""
        return [geometric_mean(map(floored, times)) for times in zip(*self.seconds, strict=True)]

    @property
    def puzzle_ratio(self) -> Ratio | None:
        """Geometric mean of the puzzles' ratios, without interval: every puzzle has the same weight."""
        return Ratio(self.mean_seconds[1] / self.mean_seconds[0]) if self.seconds else None

    @property
    def half_of_total_count(self) -> int:
        """Least number of puzzles that take half of the time of both versions."""
        return half_count(map(sum, self.seconds))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of puzzles faster by more than the tolerance, slower by more than that, and neither."""
        logs = [math.log(floored(after) / floored(before)) for before, after in self.seconds]
        margin = math.log1p(self.limits.tolerance)
        faster, slower = sum(log < -margin for log in logs), sum(log > margin for log in logs)
        return faster, slower, len(logs) - faster - slower

    @property
    def floored_count(self) -> int:
        """Number of puzzles with both times below the resolution."""
        return sum(max(pair) <= RESOLUTION_SECONDS for pair in self.seconds)

    @property
    def most_changed(self) -> list[Change]:
        """The few puzzles with the largest difference in seconds."""
        more = [abs(after - before) for before, after in self.seconds]
        largest = sorted(range(len(more)), key=lambda place: -more[place])[:SHOWN_CHANGES]
        return [self.compared[place] for place in largest if more[place] > RESOLUTION_SECONDS]

    @property
    def newly_solved(self) -> list[Change]:
        """Puzzles that only the candidate has right."""
        return [
            change for change in self.changes if change.before_verdict != Verdict.RIGHT == change.after_verdict
        ]

    @property
    def newly_lost(self) -> list[Change]:
        """Puzzles that only the baseline has right."""
        return [
            change for change in self.changes if change.before_verdict == Verdict.RIGHT != change.after_verdict
        ]

    @property
    def lost_more_than_solved(self) -> bool:
        """Whether the candidate lost more puzzles than it newly solved."""
        return len(self.newly_lost) > len(self.newly_solved)

    @cached_property
    def files_of_both(self) -> set[Path]:
        """Files given for both versions: then the times are perhaps those of one version."""
        before, after = ({Path(name).resolve() for name in side.files} for side in self.versions)
        return before & after

    @property
    def waits(self) -> bool:
        """Whether the candidate is slower by wall time; if it does not compute longer, it waits."""
        return self.wall is not None and decide(self.wall.ratio, self.limits.tolerance) is Outcome.WORSE

    @property
    def by_time(self) -> Outcome:
        """The outcome by time alone."""
        if self.deciding is None or self.has_too_few or self.files_of_both:
            return Outcome.CANNOT_TELL
        outcome = decide(self.deciding.ratio, self.limits.tolerance)
        return Outcome.CANNOT_TELL if self.waits and outcome is not Outcome.WORSE else outcome

    @property
    def outcome(self) -> Outcome:
        """The outcome by puzzles and time."""
        return Outcome.WORSE if self.lost_more_than_solved else self.by_time

    @property
    def notes(self) -> list[str]:
        """Why times decide nothing, if too few puzzles are right in both versions, and what to look at."""
        if not self.compared:
            idle = [version for version in self.versions if version.is_idle]
            who = f"{' and '.join(version.label for version in idle)} solved no puzzle"
            hints = [f"`nonojudge check -- {shlex.join(version.all_runs[0].command)}`" for version in idle]
            return [
                f"{who if idle else 'no puzzle is right in both versions'}: times cannot be compared",
                f"look at {' and '.join(hints) or 'the puzzles newly solved and newly lost'}",
            ]
        few = f"only {len(self.compared)} puzzles are right in both versions"
        return [f"{few}: too few for times to decide anything"] if self.has_too_few else []

    @property
    def duels(self) -> list[str]:
        """Commands that would decide an undecided comparison, one for each set; empty without times."""
        if self.outcome is not Outcome.CANNOT_TELL or self.has_too_few:
            return []
        commands = [version.all_runs[0].command for version in self.versions]
        bots = [shlex.quote(shlex.join(command)) for command in commands]
        if commands[0] == commands[1]:
            bots = ["BEFORE", "AFTER"]
        duel, sets = ["nonojudge duel", *bots, "--set"], map(shlex.quote, self.set_names)
        return [" ".join([*duel, name, *self._rounds]) for name in sets]

    @property
    def _rounds(self) -> list[str]:
        """The options of a duel with twice the pairs, or as many as an interval needs."""
        needed = needed_pairs(self.limits.confidence)
        pairs = self.deciding.pairs if self.deciding else 0
        rounds = ["--rounds", str(2 * pairs if pairs >= needed else needed + 1)]
        return ["--until", *rounds] if self.limits.sequential else rounds

    @property
    def reasons(self) -> list[str]:
        """A few sentences on the outcome and its reasons."""
        lines = [*self._by_puzzles(), *(self._too_few() if self.has_too_few else self._by_clocks())]
        if self.puzzle_ratio:
            lines.append(
                f"puzzle by puzzle it is {ratio_in_words(self.puzzle_ratio.estimate)}; "
                f"half of the wall time: {self.half_of_total_count} of {count(len(self.compared), 'puzzle')}"
            )
        return [*lines, *(f"to decide it: {duel}" for duel in self.duels)]

    def _by_puzzles(self) -> Iterator[str]:
        solved, lost = len(self.newly_solved), len(self.newly_lost)
        if lost > solved:
            yield f"after newly lost {count(lost, 'puzzle')} and newly solved {solved}: more lost than solved"
        elif solved > lost:
            yield f"after newly solved {count(solved, 'puzzle')} and newly lost {lost}"

    def _by_clocks(self) -> Iterator[str]:
        levels = self.limits.confidence, self.limits.tolerance
        for clock, whole in (("CPU time", self.cpu), ("wall time, which tournaments rank by,", self.wall)):
            if whole:
                yield f"in {clock} after is {in_words(whole.ratio, whole.pairs, *levels)}"
        if self.cpu and self.waits and self.outcome is not Outcome.WORSE:
            yield "it takes longer without computing longer: it waits, or others had the core"

    def _too_few(self) -> Iterator[str]:
        compared = len(self.compared)
        few = f"{count(compared, 'puzzle')} {'is' if compared == 1 else 'are'} too few to count"
        remedy = "more rounds cannot help, a set with more puzzles that both solve can"
        yield f"{few if compared else 'no puzzle is right in both'}: {remedy}"

    @cached_property
    def warnings(self) -> list[str]:
        """Reasons to doubt the comparison."""
        versions = self.versions
        runs = [(version.label, run) for version in versions for run in version.all_runs]
        stops = {version.label: sum(run.stood_still_seconds for run in version.all_runs) for version in versions}
        lines = [f"{label}: {standstill(seconds)}" for label, seconds in stops.items() if seconds]
        lines += differences(runs, {**MACHINE_AND_CONFIGURATION, **SOFTWARE})
        if not self.is_duel:
            total = len(self.compared)
            short = sum(min(pair) <= RESOLUTION_SECONDS for pair in self.seconds)
            if short > BURST_SHARE * total and not any(stops.values()):  # after a stop, answers come together
                lines.insert(
                    0,
                    f"{short} of {total} puzzles took less than {duration(RESOLUTION_SECONDS)} by the judge's "
                    "clock: the bot is too fast for it, or its answers came together, as on a busy machine; "
                    "--feed interactive times each puzzle separately",
                )
            lines += busy_lines(runs)
        for version in versions:
            ends = dict.fromkeys(run.end.reason.value for run in version.all_runs)
            ends.pop(EndReason.FINISHED.value, None)
            if ends:
                lines.append(f"not every run of {version.label} finished: {', '.join(ends)}")
        if both := self.files_of_both:
            lines.append(f"before and after have {count(len(both), 'file')} in common, such as {min(both)}")
        return lines

    def to_json(self) -> str:
        """Return all figures as JSON text."""
        before, after = (floored(math.fsum(pair[number] for pair in self.seconds)) for number in (0, 1))
        by_puzzle = self.puzzle_ratio
        faster, slower, alike = self.counts
        values = {
            "outcome": self.outcome,
            "reasons": self.reasons,
            "resolution_seconds": RESOLUTION_SECONDS,
            "before": self.figures(0),
            "after": self.figures(1),
            "sets": self.baseline.sets,
            "limits": self.limits,
            "puzzle_count": len(self.changes),
            "compared_count": len(self.compared),
            "ratios": {"each": by_puzzle, "total": Ratio(after / before)} if by_puzzle else None,
            "wall": self.wall,
            "cpu": self.cpu,
            "half_of_total_count": self.half_of_total_count,
            "floored_count": self.floored_count,
            "faster_count": faster,
            "slower_count": slower,
            "alike_count": alike,
            "newly_solved": self.newly_solved,
            "newly_lost": self.newly_lost,
            "most_changed": self.most_changed,
            "notes": self.notes,
            "warnings": self.warnings,
            "slower_beyond_tolerance": self.by_time is Outcome.WORSE,
            "lost_more_than_solved": self.lost_more_than_solved,
            "duels": self.duels,
        }
        return json_document("comparison", **values)

    def figures(self, number: int) -> dict[str, Any]:
        """Return the figures of the baseline (0) or candidate (1); mean and total of the puzzles compared."""
        version, seconds = self.versions[number], [pair[number] for pair in self.seconds]
        verdicts = [(change.before_verdict, change.after_verdict)[number] for change in self.changes]
        deciding = self.deciding
        return {
            "bot": version.bot,
            "files": version.files,
            "run_count": len(version.all_runs),
            "right": verdicts.count(Verdict.RIGHT),
            "geometric_mean_seconds": self.mean_seconds[number] if seconds else None,
            "total_seconds": math.fsum(seconds) if seconds else None,
            "drift": (deciding.before_drift, deciding.after_drift)[number] if deciding else 0.0,
        }


def compare(baseline: Version, candidate: Version, limits: Limits) -> Comparison:
    """Return the comparison of two versions; UnusableError unless their sets and numbers of cores are the same."""
    _require_same_cores(baseline, candidate)
    by_set = {digest: _changes(baseline, candidate, digest) for digest in same_sets(baseline, candidate)}
    masks = {digest: [change.is_compared for change in of_set] for digest, of_set in by_set.items()}
    wall = cpu = None
    if any(map(any, masks.values())):
        on_cpu = baseline.has_cpu_time and candidate.has_cpu_time
        if on_cpu:
            cpu = _whole_runs(baseline, candidate, masks, limits, on_cpu=True)
        if not (on_cpu and shared_cores(baseline, candidate)):
            wall = _whole_runs(baseline, candidate, masks, limits, on_cpu=False)
    return Comparison(baseline, candidate, limits, [*chain(*by_set.values())], wall, cpu)


def _require_same_cores(*versions: Version) -> None:
    cores = {
        version.label: sorted({len(run.configuration.cores) for run in version.all_runs} - {0})
        for version in versions
    }
    if len(set(chain(*cores.values()))) > 1:
        used = "; ".join(f"{label} on {' and '.join(map(str, some))}" for label, some in cores.items() if some)
        raise UnusableError(f"different numbers of cores: {used}; their times cannot be compared")


def _changes(baseline: Version, candidate: Version, digest: str) -> list[Change]:
    run = baseline.runs[digest][0]
    rows = zip(run.score.puzzles, baseline.puzzles(digest), candidate.puzzles(digest), strict=True)
    return [
        Change(run.set.name, puzzle.number, before, after, was, became)
        for puzzle, (before, was), (after, became) in rows
    ]


def _whole_runs(
    baseline: Version, candidate: Version, compared: Mapping[str, Sequence[bool]], limits: Limits, on_cpu: bool
) -> WholeRuns:
    times = [
        {digest: version.run_seconds(digest, mask, on_cpu) for digest, mask in compared.items()}
        for version in (baseline, candidate)
    ]
    before, after = (sum(map(geometric_mean, by_set.values())) for by_set in times)
    drifts = [max(map(spread, by_set.values())) for by_set in times]
    pairs = pairs_of_runs(baseline, candidate, times)
    ratio = Ratio(after / before)
    if len(pairs) >= needed_pairs(limits.confidence):
        # Only here: it loads numpy, which takes as long as the rest of a command.
        from nonobot.harness.compare.signed_ranks import paired_ratio, sequential_ratio

        ratio_of = sequential_ratio if limits.sequential else paired_ratio
        ratio = ratio_of([first for first, _ in pairs], [second for _, second in pairs], limits.confidence)
    return WholeRuns(before, after, ratio, len(pairs), *drifts)
