"""One side of a comparison: the runs of one bot, made into verdicts and times, of puzzles and of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nonobot.harness.errors import UnusableError
from nonobot.harness.ranking.sources import files_in, read_any
from nonobot.harness.results.bot_log import BotLog
from nonobot.harness.results.run_result import RunResult, Verdict
from nonobot.harness.results.terms import SetFacts
from nonobot.harness.statistics import floored

__all__ = ["Side", "read_side", "same_sets", "shared_cores"]


@dataclass(frozen=True)
class Side:
    """The runs of a bot, on one set or several.

    Attributes
    ----------
    label : str
        What the output calls it.
    bot : str
    runs : dict of str to list of RunResult
        By the digest of the set.
    files : list of str
    """

    label: str
    bot: str
    runs: dict[str, list[RunResult]]
    files: list[str]

    @property
    def all_runs(self) -> list[RunResult]:
        """All runs, set by set."""
        return [run for runs in self.runs.values() for run in runs]

    def set_facts(self) -> list[SetFacts]:
        """Return the sets, in the order in which their runs were given."""
        return [runs[0].set for runs in self.runs.values()]

    def right(self, digest: str) -> NDArray[np.bool_]:
        """Return which puzzles of a set are right in more than half of its runs: shape (puzzles,)."""
        found = np.array([_right(run) for run in self.runs[digest]])
        return np.asarray(2 * found.sum(axis=0) > len(found))

    def seconds(self, digest: str) -> NDArray[np.float64]:
        """Return the median time of each puzzle over the runs that had it right, or NaN: shape (puzzles,)."""
        times = np.array([_seconds(run) for run in self.runs[digest]])
        medians = np.full(times.shape[1], np.nan)
        known = ~np.isnan(times).all(axis=0)
        medians[known] = np.nanmedian(times[:, known], axis=0)
        return medians

    def all_seconds(self, digest: str, compared: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the time of each run of a set for each of the puzzles `compared`: shape (runs, compared).

        A puzzle that a run did not have right counts with its median.
        """
        times = np.array([_seconds(run) for run in self.runs[digest]])
        return np.where(np.isnan(times), self.seconds(digest), times)[:, compared]

    def wall_seconds(self, digest: str, compared: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the time of each run of a set for the puzzles `compared` together: shape (runs,)."""
        return floored(self.all_seconds(digest, compared).sum(axis=1))

    def cpu_seconds(self, digest: str, compared: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the same of CPU time: the share of its wall time in which a run computed; shape (runs,)."""
        shares = np.array([1.0 if run.terms.beside else _share(run) for run in self.runs[digest]])
        return floored(shares * self.wall_seconds(digest, compared))

    @property
    def has_cpu_time(self) -> bool:
        """Whether the CPU time of all runs says how long they would have taken with a core to themselves.

        Of a bot on several cores it does not: it may take less time by sharing the same work out better.
        """
        return all(
            len(run.terms.cores) == 1 and run.usage.cpu_seconds > 0 and run.usage.wall_seconds > 0
            for run in self.all_runs
        )


def shared_cores(before: Side, after: Side) -> bool:
    """Return whether each run of a side had its core together with one of the other, from start to end."""
    if any(len(run.legs) > 1 for side in (before, after) for run in side.all_runs):
        return False  # it was stopped and resumed, alone
    names = [sorted(run.terms.beside or "" for run in side.all_runs) for side in (before, after)]
    return names[0] == names[1] and "" not in names[0]


def read_side(label: str, places: Sequence[Path]) -> Side:
    """Return the side that the files and folders `places` hold.

    Raises
    ------
    UnusableError
        If one cannot be read, holds no run, or if they are not runs of one bot.
    """
    runs: dict[str, list[RunResult]] = {}
    first: tuple[Path, RunResult] | None = None
    files = [path for place in places for path in files_in(place, (".json",))]
    for path in files:
        run = _run_in(path)
        first = first or (path, run)
        if run.bot != first[1].bot:
            raise UnusableError(
                f"{label} holds runs of different bots: {first[1].bot} in {first[0]}, {run.bot} in {path}"
            )
        repeats = runs.setdefault(run.set.sha256, [])
        if repeats and _numbers(repeats[0]) != _numbers(run):
            raise UnusableError(f"{path}: other puzzles than in the other runs on {run.set.name}")
        repeats.append(run)
    if first is None:
        raise UnusableError(f"{label}: no result")
    return Side(label, first[1].bot, runs, [str(path) for path in files])


def same_sets(before: Side, after: Side) -> list[str]:
    """Return the digests of the sets that both sides were run on.

    Raises
    ------
    UnusableError
        If one side has a set that the other has not.
    """
    for side, other in ((before, after), (after, before)):
        for digest, runs in side.runs.items():
            if digest not in other.runs:
                raise UnusableError(
                    f"not the same sets: {side.label} was run on {_named(runs[0].set)}, {other.label} on "
                    f"{', '.join(_named(facts) for facts in other.set_facts())}"
                )
            if _numbers(runs[0]) != _numbers(other.runs[digest][0]):
                raise UnusableError(
                    f"{runs[0].set.name}: the two sides have other puzzles of it; was --size the same?"
                )
    return list(before.runs)


def _run_in(path: Path) -> RunResult:
    found = read_any(path)
    if isinstance(found, RunResult):
        return found
    what = (
        "a bot's log, whose answers nobody saw"
        if isinstance(found, BotLog)
        else "a checked answer file, without times"
    )
    raise UnusableError(f"{path} is {what}; compare takes the results of nonojudge run")


def _numbers(run: RunResult) -> list[int]:
    return [one.number for one in run.score.puzzles]


def _named(facts: SetFacts) -> str:
    return f"{facts.name} (sha256 {facts.sha256[:8]})"


def _right(run: RunResult) -> list[bool]:
    return [one.verdict is Verdict.RIGHT for one in run.score.puzzles]


def _share(run: RunResult) -> float:
    """Return in how much of its wall time a bot computed."""
    return run.usage.cpu_seconds / run.usage.wall_seconds


def _seconds(run: RunResult) -> list[float]:
    """Return the times of the puzzles that are right, NaN for others; without that of another run on the core."""
    share = _share(run) if run.terms.beside else 1.0
    return [
        share * one.took_seconds if one.verdict is Verdict.RIGHT and one.took_seconds is not None else float("nan")
        for one in run.score.puzzles
    ]
