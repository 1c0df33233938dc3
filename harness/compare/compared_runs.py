"""The runs of one version of a bot, read from files: verdicts and times of puzzles, and pairs of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from statistics import median

from nonobot.harness import UnusableError
from nonobot.harness.compare.statistics import floored
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.result_files import read_results
from nonobot.harness.results.run_result import BotLog, PuzzleResult, RunResult, Verdict


@dataclass(frozen=True)
class Version:
    """The runs of one version of a bot."""

    label: str  # "before" or "after"
    bot: str
    runs: dict[str, list[RunResult]]  # by the digest of their set
    files: list[str]
    problems: Sequence[str] = ()  # a message for each unreadable file

    @property
    def all_runs(self) -> list[RunResult]:
        """All runs, set by set."""
        return [run for runs in self.runs.values() for run in runs]

    @property
    def is_idle(self) -> bool:
        """Whether no run has any puzzle right."""
        return not any(run.score.right for run in self.all_runs)

    @property
    def sets(self) -> list[SetFacts]:
        """The sets, in the order in which their runs were given."""
        return [runs[0].set for runs in self.runs.values()]

    def times(self, digest: str) -> list[list[float | None]]:
        """Return the times on a set, a list for each run; None where it did not have the puzzle right."""
        return [[_seconds(run, puzzle) for puzzle in run.score.puzzles] for run in self.runs[digest]]

    def puzzles(self, digest: str) -> list[tuple[float | None, Verdict]]:
        """Return the median time and the verdict of each puzzle of a set: right if more than half of the runs are.

        The median is over the runs that were right; None if the puzzle is not right.
        """
        rows = []
        in_runs = zip(*(run.score.puzzles for run in self.runs[digest]), strict=True)
        for times, results in zip(zip(*self.times(digest), strict=True), in_runs, strict=True):
            right = 2 * sum(result.verdict is Verdict.RIGHT for result in results) > len(results)
            known = [time for time in times if time is not None]
            verdict = next(result.verdict for result in results if (result.verdict is Verdict.RIGHT) == right)
            rows.append((median(known) if right and known else None, verdict))
        return rows

    def run_seconds(self, digest: str, compared: Sequence[bool], on_cpu: bool) -> list[float]:
        """Return each run's time for the puzzles `compared`; one that is not right counts its median time."""
        medians = [seconds for seconds, _ in self.puzzles(digest)]
        totals = []
        for run, times in zip(self.runs[digest], self.times(digest), strict=True):
            known = (medians[place] if time is None else time for place, time in enumerate(times))
            total = math.fsum(time for time in compress(known, compared) if time is not None)
            share = _share(run) if on_cpu and not run.configuration.shared_core else 1.0
            totals.append(floored(total * share))
        return totals

    @property
    def has_cpu_time(self) -> bool:
        """Whether the CPU time of all runs shows how long they would have taken with a core to themselves.

        It does not for a bot on several cores: such a bot may take less time by distributing the same work better.
        """
        return all(
            run.core_count == 1 and run.usage.cpu_seconds > 0 and run.usage.wall_seconds > 0
            for run in self.all_runs
        )


def pairs_of_runs(
    baseline: Version, candidate: Version, times: Sequence[Mapping[str, Sequence[float]]]
) -> list[tuple[float, float]]:
    """Return the times of pairs of runs, baseline first.

    Runs that shared a core are a pair, on whichever set. Otherwise one run of each version is a pair if no other
    run of the same set started between them. Such a pair has the sum of its times over all sets; runs left over
    form no pair. `times` has, for each version, the times of its runs by the digest of the set.
    """
    together = shared_cores(baseline, candidate)
    by_set = []
    for digest in baseline.runs:
        dated = (
            ((run.configuration.shared_core or "", 0) if together else (run.started_at, place), number, time)
            for number, version in enumerate((baseline, candidate))
            for place, (run, time) in enumerate(zip(version.runs[digest], times[number][digest], strict=True))
        )
        by_set.append(_neighbours([(number, time) for _, number, time in sorted(dated)]))
    if together:
        return [pair for pairs in by_set for pair in pairs]
    rounds = zip(*by_set, strict=False)
    return [(sum(before for before, _ in of_round), sum(after for _, after in of_round)) for of_round in rounds]


def _neighbours(times: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return pairs of neighbouring times, each with the number of its version, of both versions."""
    pairs: list[tuple[float, float]] = []
    single: tuple[int, float] | None = None
    for number, time in times:
        if single and single[0] != number:
            pairs.append((single[1], time) if number else (time, single[1]))
            single = None
        else:
            single = (number, time)
    return pairs


def shared_cores(baseline: Version, candidate: Version) -> bool:
    """Return whether each run of one version shared its core with a run of the other."""
    ours, theirs = (
        sorted(run.configuration.shared_core or "" for run in version.all_runs)
        for version in (baseline, candidate)
    )
    return ours == theirs and "" not in ours


def read_version(label: str, places: Sequence[Path]) -> Version:
    """Return the runs in files and folders; UnusableError unless all readable files are runs of one bot."""
    results, problems = read_results(places, (".json",))
    runs: dict[str, list[RunResult]] = {}
    bots: dict[str, Path] = {}
    for path, run in results.items():
        if not isinstance(run, RunResult):
            is_log = isinstance(run, BotLog)
            kind = "a bot's own log, without checked answers" if is_log else "a checked answer file, without times"
            raise UnusableError(f"{path} is {kind}; compare takes the results of nonojudge run")
        bots.setdefault(run.bot, path)
        if len(bots) > 1:
            named = ", ".join(f"{bot} in {first}" for bot, first in bots.items())
            raise UnusableError(f"{label} contains runs of different bots: {named}")
        repeats = runs.setdefault(run.set.sha256, [])
        repeats.append(run)
        if _numbers(repeats[0]) != _numbers(run):
            raise UnusableError(f"{path}: other puzzles than in the other runs on {run.set.name}")
    if not bots:
        raise UnusableError("; ".join(problems) or f"{label}: no result")
    return Version(label, next(iter(bots)), runs, list(map(str, results)), problems)


def same_sets(baseline: Version, candidate: Version) -> list[str]:
    """Return the digests of the sets; UnusableError if only one version was run on a set."""
    for version, other in ((baseline, candidate), (candidate, baseline)):
        for digest, runs in version.runs.items():
            if digest not in other.runs:
                raise UnusableError(
                    f"not the same sets: {version.label} was run on {_named(runs[0].set)}, {other.label} on "
                    f"{', '.join(_named(facts) for facts in other.sets)}"
                )
            if _numbers(runs[0]) != _numbers(other.runs[digest][0]):
                raise UnusableError(
                    f"{runs[0].set.name}: the two versions have other puzzles of it; was --size the same?"
                )
    return list(baseline.runs)


def _numbers(run: RunResult) -> list[int]:
    return [puzzle.number for puzzle in run.score.puzzles]


def _named(facts: SetFacts) -> str:
    return f"{facts.name} (sha256 {facts.sha256[:8]})"


def _share(run: RunResult) -> float:
    """Return the share of its wall time in which a bot computed."""
    return run.usage.cpu_seconds / run.usage.wall_seconds


def _seconds(run: RunResult, puzzle: PuzzleResult) -> float | None:
    """Return the time of a puzzle that is right, without the time of a run on the same core; otherwise None."""
    if puzzle.verdict is not Verdict.RIGHT or puzzle.took_seconds is None:
        return None
    return puzzle.took_seconds * (_share(run) if run.configuration.shared_core else 1.0)
