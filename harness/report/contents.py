"""The content of a report, computed from results: runs, sets, slow puzzles, faults, facts; no drawing, no HTML."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from string import ascii_uppercase
from typing import TypeVar

from nonobot.harness.ranking.standings import Evidence, Ranking, Scope, rankings
from nonobot.harness.report.plot_frame import Look, look
from nonobot.harness.results.conditions import Feed, Machine
from nonobot.harness.results.result_files import AnyResult
from nonobot.harness.results.run_result import END_MEANING, Attempt, EndReason, PuzzleResult, RunResult, Verdict
from nonobot.harness.text import count, duration, megabytes, plain

T = TypeVar("T", bound=Hashable)

SLOWEST = 8
"""Puzzles of a set shown as the slowest."""

SHOWN_FAULTS = 6
"""Answers of a run that are named one by one: so many wrong ones, and so many others that do not count."""

MOST_DUELS = 3
"""Opponents that the best bot of a set is compared with."""

MOST_POINTS, ALL_POINTS, FEWEST_POINTS = 1000, 20_000, 200
"""Points in the plots over the puzzle numbers: of a bot, of all plots together (then of each bot fewer), and the
fewest of a bot. They are most of the page's weight."""


@dataclass(frozen=True)
class Run:
    """The result of a run, with the name of its bot and its number, which determines its look."""

    name: str
    bot: int
    result: RunResult
    file: str = ""

    @property
    def look(self) -> Look:
        """How the bot is drawn."""
        return look(self.bot)

    @cached_property
    def by_number(self) -> dict[int, PuzzleResult]:
        """The results by puzzle number."""
        return {one.number: one for one in self.result.score.puzzles}

    @cached_property
    def seconds(self) -> dict[int, float]:
        """The times of the right answers by puzzle number."""
        right = self.having(Verdict.RIGHT)
        return {one.number: one.took_seconds for one in right if one.took_seconds is not None}

    @property
    def in_words(self) -> str:
        """The right answers and their times, in a few words."""
        total = count(len(self.result.score.puzzles), "puzzle")
        right = f"{self.name}: {len(self.seconds)} of {total} right"
        if not self.seconds:
            return right
        times = list(self.seconds.values())
        return f"{right}, median {duration(median(times))}, slowest {duration(max(times))}"

    def having(self, *verdicts: Verdict) -> list[PuzzleResult]:
        """Return the puzzles that have one of `verdicts`."""
        return [one for one in self.result.score.puzzles if one.verdict in verdicts]

    @property
    def not_solved(self) -> dict[Verdict, list[int]]:
        """The numbers of the puzzles that were given up, and of those without an answer."""
        kinds = (Verdict.GIVEN_UP, Verdict.MISSING)
        numbers = {kind: [one.number for one in self.having(kind)] for kind in kinds}
        return {kind: some for kind, some in numbers.items() if some}

    @property
    def story(self) -> list[str]:
        """A line on each process of the bot that did not just finish, or was not the only one, and all remarks."""
        score, attempts = self.result.score, self.result.attempts
        shown = [one for one in attempts if len(attempts) > 1 or one.end.reason is not EndReason.FINISHED]
        lines = list(map(_in_words, shown))
        if score.duplicate_count:
            lines.append(count(score.duplicate_count, "further answer") + " to puzzles answered before")
        if score.stray_count:
            lines.append(count(score.stray_count, "piece") + " of output that belong to no answer of the set")
        lines += map(plain, score.remarks)
        if lines and self.result.stderr_file and self.result.stderr_bytes:
            lines.append(f"stderr ({self.result.stderr_bytes:,} bytes): {plain(self.result.stderr_file)}")
        return lines


def _in_words(attempt: Attempt) -> str:
    end = attempt.end
    how = [f"status {end.exit_status}"] if end.exit_status is not None else []
    how += [plain(text) for text in (end.signal, end.detail) if text]
    more = f" ({', '.join(how)})" if how else ""
    after = f", after {duration(attempt.usage.wall_seconds)}" if attempt.usage.wall_seconds else ""
    return f"from puzzle {attempt.first_puzzle} on: {end.reason.value}{more}{after}"


Faults = list[tuple[Run, list[PuzzleResult], int]]
"""The first answers of each run that do not count, and the number of its others."""


class SetPart:
    """One set: the runs that its ranking shows, in its order.

    Attributes
    ----------
    timed : list of Run
        Those with a time to draw.
    largest_count : int
        The most right answers with a time that a run has.
    duels : list of (Run, Run)
        The best run with each of the next ones.
    slowest : dict of int to float
        The puzzles with the longest median time over the runs that solved them, slowest first.
    wrong, faulty : Faults
        The answers that break a clue, and others.
    """

    def __init__(self, ranking: Ranking, runs: list[Run]) -> None:
        self.ranking = ranking
        self.facts = ranking.sets[0]
        self.runs = runs
        self.timed = [run for run in runs if run.seconds]
        self.largest_count = max((len(run.seconds) for run in runs), default=0)
        self.duels = [(self.timed[0], other) for other in self.timed[1 : MOST_DUELS + 1]]
        self.slowest = _slowest(runs)
        self.wrong = _faults(runs, Verdict.WRONG)
        self.faulty = _faults(runs, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)


def _slowest(runs: Sequence[Run]) -> dict[int, float]:
    times: dict[int, list[float]] = {}
    for run in runs:
        for number, seconds in run.seconds.items():
            times.setdefault(number, []).append(seconds)
    middle = {number: median(each) for number, each in times.items()}
    slow = sorted(middle, key=lambda number: (-middle[number], number))[:SLOWEST]
    return {number: middle[number] for number in slow}


def _faults(runs: Sequence[Run], *verdicts: Verdict) -> Faults:
    each = [(run, run.having(*verdicts)) for run in runs]
    return [(run, some[:SHOWN_FAULTS], max(0, len(some) - SHOWN_FAULTS)) for run, some in each if some]


class Report:
    """The content of a page, from results and logs of bots by their files; at least one is of a run.

    Attributes
    ----------
    bots : dict of str to int
        The bots that were run, and the number of each: its look.
    runs : list of Run
        Every run, also those that no ranking shows.
    most_points : int
        Points of a bot that are drawn in the plot over a set's puzzle numbers.
    ends : dict of EndReason to str
        The ends of the bots' processes, and their meaning.
    commands : list of Run
        A run for every command of every bot.
    perhaps_cold : list of str
        The bots with a run that was not warmed up before the clock started.
    """

    def __init__(self, results: Mapping[Path, AnyResult]) -> None:
        ranked = rankings(results)
        of_scope = {scope: [one for one in ranked if one.scope is scope] for scope in Scope}
        self.overall = next(iter(of_scope[Scope.OVERALL]), None)
        self.logs = next(iter(of_scope[Scope.LOGS]), None)
        rows = [row for ranking in (*of_scope[Scope.OVERALL], *of_scope[Scope.SET]) for row in ranking.rows]
        names = dict.fromkeys(row.bot for row in rows if row.evidence is Evidence.RUN)
        self.bots = {name: number for number, name in enumerate(names)}
        self.runs = runs = self._runs(results)
        self.sets = [
            SetPart(ranking, [run for row in ranking.rows for run in self._runs(row.results)])
            for ranking in of_scope[Scope.SET]
        ]
        drawn_count = sum(len(part.timed) for part in self.sets)
        self.most_points = max(FEWEST_POINTS, min(MOST_POINTS, ALL_POINTS // max(1, drawn_count)))
        self.machines = machines([run.result.machine for run in runs])
        self.terms = terms([run.result for run in runs])
        reasons = {one.end.reason for run in runs for one in run.result.attempts}
        self.ends = {reason: END_MEANING[reason] for reason in EndReason if reason in reasons}
        days = sorted(plain(run.result.started_at[:10]) for run in runs)
        self.days = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        self.commands = list({(run.name, *run.result.command): run for run in runs}.values())
        self.perhaps_cold = list(dict.fromkeys(run.name for run in runs if run.result.warm_up_seconds is None))

    def _runs(self, results: Mapping[Path, AnyResult]) -> list[Run]:
        return [
            Run(plain(result.bot), self.bots[result.bot], result, str(path))
            for path, result in results.items()
            if isinstance(result, RunResult)
        ]


# --- facts of runs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variants:
    """Facts of runs, each kind of run (variant) shown once.

    `facts` has a value for each variant, `letters` the names of the variants (A, B, ...), and `letter_of` for each
    run the name of its variant.
    """

    facts: dict[str, list[str]]
    letters: list[str]
    letter_of: list[str]

    @property
    def differing(self) -> list[str]:
        """The names of the facts that differ."""
        return [name for name, values in self.facts.items() if len(set(values)) > 1]


def machines(every: Sequence[Machine]) -> Variants:
    """Return the machines of runs; their load, which differs always, is not among the facts."""
    return _variants(
        every,
        {
            "CPU": lambda one: plain(one.cpu),
            "Cores": lambda one: f"{one.logical_cores}, of which {one.usable_cores} usable",
            "Memory": lambda one: megabytes(one.memory_bytes),
            "System": lambda one: plain(one.system),
            "Frequency governor": lambda one: _known(one.governor),
            "Python": lambda one: plain(one.python),
            "numpy": lambda one: _known(one.numpy),
            "numba": lambda one: _known(one.numba),
        },
    )


def terms(every: Sequence[RunResult]) -> Variants:
    """Return the configurations of runs, and how far they were carried out."""
    return _variants(
        every,
        {
            "Puzzles come": lambda one: (
                "all at once" if one.configuration.feed is Feed.BATCH else "each after the answer before"
            ),
            "Wall limit for the set": lambda one: _limit(one.configuration.wall_limit_seconds),
            "CPU limit for the set": lambda one: _limit(one.configuration.cpu_limit_seconds),
            "Wall limit for a puzzle": lambda one: _limit(one.configuration.puzzle_limit_seconds),
            "Memory limit": lambda one: _memory(one.configuration.memory_limit_bytes),
            "Stalled after": lambda one: _limit(one.configuration.stall_limit_seconds),
            "Cores used": lambda one: _cores(one.configuration.cores),
            "Company on its core": lambda one: "another run" if one.configuration.beside else "none",
            "Most processes and threads": lambda one: str(one.configuration.most_processes or "any number"),
            "Containment": lambda one: one.configuration.containment.value,
            "Contained": lambda one: one.contained,
            "Counted by the kernel": lambda one: str(one.counted),
            "Order of the answers": lambda one: "any" if one.configuration.any_order else "that of the puzzles",
        },
    )


def _variants(every: Sequence[T], facts: dict[str, Callable[[T], str]]) -> Variants:
    shown = [tuple(fact(one) for fact in facts.values()) for one in every]
    distinct = list(dict.fromkeys(shown))
    values = {name: [each[place] for each in distinct] for place, name in enumerate(facts)}
    letters = [_letter(number) for number in range(len(distinct))]
    return Variants(values, letters, [letters[distinct.index(each)] for each in shown])


def _letter(number: int) -> str:
    again, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(again + 1) if again else "")


def _cores(numbers: Sequence[int]) -> str:
    if len(numbers) > 1:
        return f"{len(numbers)}: numbers {', '.join(map(str, numbers))}"
    return f"number {numbers[0]} alone" if numbers else "all"


def _memory(size: int | None) -> str:
    return "none" if size is None else megabytes(size)


def _known(text: str | None) -> str:
    return "not known" if text is None else plain(text)


def _limit(seconds: float | None) -> str:
    return "none" if seconds is None else f"{seconds:,g} s"
