"""What a page states, worked out from results: runs, sets, slow puzzles, faults. No drawing and no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from nonobot.harness.ranking.sources import Source
from nonobot.harness.ranking.standings import Evidence, Scope, Section, sections
from nonobot.harness.report.plot_frame import Look, look
from nonobot.harness.report.plots import Series
from nonobot.harness.report.run_facts import Variants, machines, terms
from nonobot.harness.results.run_result import EndReason, Leg, PuzzleResult, RunResult, Verdict
from nonobot.harness.results.terms import SetFacts
from nonobot.harness.text import count, duration, plain

__all__ = ["Duel", "Faults", "Report", "Run", "SetPart", "SlowPuzzle"]

SLOWEST = 8
"""Puzzles of a set shown as the slowest."""

SHOWN_FAULTS = 6
"""Answers of a run that are named one by one: so many wrong ones, and so many others that do not count."""

MOST_DUELS = 3
"""Opponents that the best bot of a set is held against."""

MOST_POINTS, ALL_POINTS, FEWEST_POINTS = 1000, 20_000, 200
"""Points of a bot in the plot over a set's puzzle numbers: at most so many, fewer where all plots together would
have more than that, but not less than so many. They are most of the page's weight."""

FAULTY = (Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)
"""Verdicts on answers that do not count though no clue is broken."""

ENDS = {
    EndReason.FINISHED: "the bot ended with status 0, or everything was answered",
    EndReason.TIME_LIMIT: "stopped at the wall limit for the set",
    EndReason.CPU_LIMIT: "stopped at the limit on CPU time",
    EndReason.MEMORY_LIMIT: "stopped at the limit on memory",
    EndReason.PROCESS_LIMIT: "stopped at the limit on processes and threads",
    EndReason.PUZZLE_LIMIT: "a puzzle took too long: stopped, and started anew with the puzzle after it",
    EndReason.CRASHED: "ended by a signal, or with a status other than 0, while answers were due",
    EndReason.STALLED: "answers were due, and for a while the bot neither computed nor wrote anything",
    EndReason.CLOSED_STDOUT: "answers were due, and the bot could not write them any more",
    EndReason.PROTOCOL_ERROR: "wrote more text that belongs to no answer than can be borne",
    EndReason.NOT_STARTED: "the command cannot be run",
    EndReason.INTERRUPTED: "the judge was told to stop",
}

NOT_SOLVED = (Verdict.GIVEN_UP, Verdict.MISSING)


@dataclass(frozen=True)
class Run:
    """A run under the name and the look that it has on the page.

    Attributes
    ----------
    name : str
    bot : int
        Which bot it is, counted from 0 in the order of the ranking: its look.
    file : str
        That of the result.
    result : RunResult
    """

    name: str
    bot: int
    file: str
    result: RunResult

    @property
    def look(self) -> Look:
        """How the bot is drawn."""
        return look(self.bot)

    @cached_property
    def series(self) -> Series:
        """The times of the run's right answers."""
        puzzles = self.result.score.puzzles
        right = {
            one.number: one.took_seconds
            for one in puzzles
            if one.verdict is Verdict.RIGHT and one.took_seconds is not None
        }
        return Series(self.name, self.look, [one.number for one in puzzles], right)

    @cached_property
    def by_number(self) -> dict[int, PuzzleResult]:
        """The rulings by puzzle number."""
        return {one.number: one for one in self.result.score.puzzles}

    def ruled(self, *verdicts: Verdict) -> list[PuzzleResult]:
        """Return the puzzles that have one of `verdicts`."""
        return [one for one in self.result.score.puzzles if one.verdict in verdicts]

    @property
    def not_solved(self) -> list[tuple[Verdict, list[int]]]:
        """The numbers of the puzzles that were given up, and of those without an answer."""
        numbers = ((verdict, [one.number for one in self.ruled(verdict)]) for verdict in NOT_SOLVED)
        return [(verdict, found) for verdict, found in numbers if found]

    @property
    def story(self) -> list[str]:
        """The lives of the bot's process, where there is more to say than its end, and the judge's remarks."""
        score, legs = self.result.score, self.result.legs
        lines = [_leg_in_words(leg) for leg in legs if len(legs) > 1 or leg.end.reason is not EndReason.FINISHED]
        if score.duplicate_count:
            lines.append(count(score.duplicate_count, "further answer") + " to puzzles answered before")
        if score.stray_count:
            lines.append(count(score.stray_count, "piece") + " of output that belong to no answer of the set")
        lines += map(plain, score.remarks)
        if lines and self.result.stderr_file and self.result.stderr_bytes:
            lines.append(f"stderr ({self.result.stderr_bytes:,} bytes): {plain(self.result.stderr_file)}")
        return lines


def _leg_in_words(leg: Leg) -> str:
    end = leg.end
    how = [f"status {end.exit_status}"] if end.exit_status is not None else []
    how += [plain(text) for text in (end.signal, end.detail) if text]
    told = f" ({', '.join(how)})" if how else ""
    after = f", after {duration(leg.usage.wall_seconds)}" if leg.usage.wall_seconds else ""
    return f"from puzzle {leg.first_puzzle} on: {end.reason.value}{told}{after}"


@dataclass(frozen=True)
class Faults:
    """Answers of a kind that does not count.

    Attributes
    ----------
    shown : list of (Run, PuzzleResult)
        The first few of each run.
    further : list of (Run, int)
        How many more a run has.
    """

    shown: list[tuple[Run, PuzzleResult]]
    further: list[tuple[Run, int]]

    @classmethod
    def of(cls, runs: Sequence[Run], *verdicts: Verdict) -> Faults:
        """Return the answers of `runs` that have one of `verdicts`."""
        found = [(run, run.ruled(*verdicts)) for run in runs]
        return cls(
            [(run, ruling) for run, rulings in found for ruling in rulings[:SHOWN_FAULTS]],
            [(run, len(rulings) - SHOWN_FAULTS) for run, rulings in found if len(rulings) > SHOWN_FAULTS],
        )


@dataclass(frozen=True)
class SlowPuzzle:
    """One of a set's slowest puzzles.

    Attributes
    ----------
    number : int
    seconds : float
        Median of the times of the right answers.
    rulings : list of (Run, PuzzleResult)
        Of every run, in the order of the ranking.
    """

    number: int
    seconds: float
    rulings: list[tuple[Run, PuzzleResult]]


@dataclass(frozen=True)
class Duel:
    """Two runs to be held against each other."""

    first: Run
    second: Run

    @property
    def is_uneven(self) -> bool:
        """Whether one of them solved what the other did not."""
        return self.first.series.seconds.keys() != self.second.series.seconds.keys()


@dataclass(frozen=True)
class SetPart:
    """What the page says on one set.

    Attributes
    ----------
    ranking : Section
    runs : list of Run
        Those that the ranking shows, in its order.
    """

    ranking: Section
    runs: list[Run]

    @property
    def facts(self) -> SetFacts:
        """The set."""
        return self.ranking.sets[0]

    @property
    def timed(self) -> list[Run]:
        """The runs with a time to draw."""
        return [run for run in self.runs if run.series.seconds]

    @property
    def largest_count(self) -> int:
        """The most right answers with a time that a run has."""
        return max((len(run.series.seconds) for run in self.runs), default=0)

    @property
    def not_drawn(self) -> list[str]:
        """The names of the other runs."""
        return [run.name for run in self.runs if not run.series.seconds]

    @cached_property
    def slowest(self) -> list[SlowPuzzle]:
        """The puzzles with the longest median time over the runs that solved them, slowest first."""
        numbers = dict.fromkeys(number for run in self.runs for number in run.series.seconds)
        middle = {
            number: median(run.series.seconds[number] for run in self.runs if number in run.series.seconds)
            for number in numbers
        }
        slow = sorted(middle, key=lambda number: (-middle[number], number))[:SLOWEST]
        return [SlowPuzzle(number, middle[number], self._rulings(number)) for number in slow]

    def _rulings(self, number: int) -> list[tuple[Run, PuzzleResult]]:
        return [(run, run.by_number[number]) for run in self.runs if number in run.by_number]

    @cached_property
    def wrong(self) -> Faults:
        """The answers that break a clue."""
        return Faults.of(self.runs, Verdict.WRONG)

    @cached_property
    def faulty(self) -> Faults:
        """The other answers that do not count."""
        return Faults.of(self.runs, *FAULTY)

    @property
    def duels(self) -> list[Duel]:
        """The best run against each of the next ones."""
        return [Duel(self.timed[0], other) for other in self.timed[1 : MOST_DUELS + 1]]


class Report:
    """Everything that a page states.

    Parameters
    ----------
    sources : sequence of Source
        Results, and logs of bots; at least one run.

    Attributes
    ----------
    bots : dict of str to int
        The bots that were run, and each one's number: its look.
    overall : Section or None
        The ranking over several sets.
    logs : Section or None
        The ranking of logs, which nobody verified.
    sets : list of SetPart
    runs : list of Run
        Every run, also those that no ranking shows.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        rankings = sections(sources)
        of_scope = {scope: [one for one in rankings if one.scope is scope] for scope in Scope}
        self.overall = next(iter(of_scope[Scope.OVERALL]), None)
        self.logs = next(iter(of_scope[Scope.LOGS]), None)
        self.bots = _numbered_bots([*of_scope[Scope.OVERALL], *of_scope[Scope.SET]])
        self.runs = [
            self._run(source.found, str(source.path)) for source in sources if isinstance(source.found, RunResult)
        ]
        self.sets = [
            SetPart(ranking, [self._run(run, row.files[0]) for row in ranking.rows for run in row.runs])
            for ranking in of_scope[Scope.SET]
        ]

    def _run(self, result: RunResult, file: str) -> Run:
        return Run(plain(result.bot), self.bots[result.bot], file, result)

    @cached_property
    def machines(self) -> Variants:
        """The machines of the runs."""
        return machines([run.result.machine for run in self.runs])

    @cached_property
    def terms(self) -> Variants:
        """The terms of the runs."""
        return terms([run.result for run in self.runs])

    @property
    def most_points(self) -> int:
        """How many points of a bot are drawn in the plot over a set's puzzle numbers."""
        drawn_count = sum(len(part.timed) for part in self.sets)
        return max(FEWEST_POINTS, min(MOST_POINTS, ALL_POINTS // max(1, drawn_count)))

    @property
    def ends(self) -> dict[EndReason, str]:
        """Every way in which a run or a leg of one ended, and what it means."""
        found = {leg.end.reason for run in self.runs for leg in run.result.legs}
        return {reason: ENDS[reason] for reason in EndReason if reason in found}

    @property
    def days(self) -> str:
        """The first and the last day of the runs."""
        days = sorted(plain(run.result.started_at[:10]) for run in self.runs)
        return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"

    @property
    def commands(self) -> list[tuple[Run, list[str]]]:
        """Every command of every bot, with a run of it."""
        found = {(run.name, *run.result.command): run for run in self.runs}
        return [(run, run.result.command) for run in found.values()]

    @property
    def perhaps_cold(self) -> list[str]:
        """The bots with a run that was not warmed up before the clock started."""
        return list(dict.fromkeys(run.name for run in self.runs if run.result.warm_up_seconds is None))


def _numbered_bots(rankings: Sequence[Section]) -> dict[str, int]:
    """Return the bots that were run, in the order in which the rankings name them first."""
    rows = (row for ranking in rankings for row in ranking.rows if row.evidence is Evidence.RUN)
    names = dict.fromkeys(row.bot for row in rows)
    return {name: number for number, name in enumerate(names)}
