"""What a report contains, computed from results: slow puzzles, faults, facts, commands to repeat runs; no HTML."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from statistics import median
from string import ascii_uppercase
from typing import TypeVar

from nonobot.harness.ranking.standings import Evidence, Ranking, Scope, rankings
from nonobot.harness.results.comparability import CONFIGURATION, MACHINE, environment_of
from nonobot.harness.results.result_files import AnyResult
from nonobot.harness.results.run_result import UNKNOWN, Attempt, EndReason, PuzzleResult, RunResult, Verdict
from nonobot.harness.results.run_text import standstill
from nonobot.harness.results.terms import TERMS
from nonobot.harness.text import applying, duration, from_to
from nonobot.protocol.clues import count
from nonobot.system import printable

T = TypeVar("T")

SLOWEST = 8  # puzzles of a set shown as the slowest
SHOWN_FAULTS = 6  # wrong answers of a run that are named one by one, and as many others that do not count
MOST_DUELS = 3  # opponents that the best bot of a set is compared with
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

    @cached_property
    def by_number(self) -> dict[int, PuzzleResult]:
        """The results by puzzle number."""
        return self.result.score.by_number

    @cached_property
    def seconds(self) -> dict[int, float]:
        """The times of the right answers by puzzle number."""
        return {puzzle.number: took for took, puzzle in self.result.score.timed if puzzle.verdict is Verdict.RIGHT}

    @property
    def in_words(self) -> str:
        """The right answers and their times, in a few words."""
        total = count(len(self.result.score.puzzles), "puzzle")
        right = f"{self.name}: {len(self.seconds)} of {total} right"
        if not self.seconds:
            return right
        times = list(self.seconds.values())
        return f"{right}, median {duration(median(times))}, slowest {duration(max(times))}"

    @property
    def not_solved(self) -> dict[Verdict, list[int]]:
        """The numbers of the puzzles without a solution, by verdict."""
        unsolved = {verdict: self.result.score.having(verdict) for verdict in (Verdict.GIVEN_UP, Verdict.MISSING)}
        return {verdict: [puzzle.number for puzzle in puzzles] for verdict, puzzles in unsolved.items() if puzzles}

    @property
    def story(self) -> list[str]:
        """Lines about several or unfinished attempts, about other output, and all notes."""
        score, attempts = self.result.score, self.result.attempts
        is_plain = [attempt.end.reason for attempt in attempts] == [EndReason.FINISHED]
        strays, belong = score.stray_count, "belongs" if score.stray_count == 1 else "belong"
        facts = {
            standstill(self.result.stood_still_seconds): self.result.stood_still_seconds,
            printable(score.mistake or ""): score.mistake,
            f"{count(score.duplicate_count, 'further answer')} to puzzles answered before": score.duplicate_count,
            f"{count(strays, 'piece')} of output that {belong} to no answer of the set": strays,
        }
        lines = [] if is_plain else list(map(_attempt_in_words, attempts))
        lines += applying(facts)
        lines += map(printable, score.notes)
        if lines and self.result.stderr_file and self.result.stderr_bytes:
            lines.append(f"stderr ({self.result.stderr_bytes:,} bytes): {printable(self.result.stderr_file)}")
        return lines


def _attempt_in_words(attempt: Attempt) -> str:
    end = attempt.end
    how = [f"status {end.exit_status}"] if end.exit_status is not None else []
    how += [printable(text) for text in (end.signal, end.detail) if text]
    more = f" ({', '.join(how)})" if how else ""
    after = f", after {duration(attempt.usage.wall_seconds)}" if attempt.usage.wall_seconds else ""
    return f"from puzzle {attempt.first_puzzle} on: {end.reason.value}{more}{after}"


Faults = list[tuple[Run, list[PuzzleResult], int]]  # first answers that do not count, number of others


class SetPart:
    """A set and the runs of its ranking, `timed` or not; `faulty` answers are not wrong, but do not count."""

    def __init__(self, ranking: Ranking, runs: list[Run]) -> None:
        self.ranking = ranking
        self.runs = runs
        self.timed = [run for run in runs if run.seconds]
        self.duels = [(self.timed[0], other) for other in self.timed[1 : MOST_DUELS + 1]]
        self.slowest = _slowest(runs)
        self.wrong = _faults(runs, Verdict.WRONG)
        self.faulty = _faults(runs, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)


def _slowest(runs: Sequence[Run]) -> dict[int, float]:
    times: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        for number, seconds in run.seconds.items():
            times[number].append(seconds)
    middle = {number: median(seconds) for number, seconds in times.items()}
    slow = sorted(middle, key=lambda number: (-middle[number], number))[:SLOWEST]
    return {number: middle[number] for number in slow}


def _faults(runs: Sequence[Run], *verdicts: Verdict) -> Faults:
    faults = [(run, run.result.score.having(*verdicts)) for run in runs]
    return [(run, puzzles[:SHOWN_FAULTS], len(puzzles[SHOWN_FAULTS:])) for run, puzzles in faults if puzzles]


class Report:
    """The content of a page, from results and logs by their files; at least one is of a run."""

    def __init__(self, results: Mapping[Path, AnyResult]) -> None:
        ranked = rankings(results)
        scopes = (Scope.MATCH, Scope.OVERALL, Scope.LOGS)
        first = {ranking.scope: ranking for ranking in ranked if ranking.scope in scopes}
        self.match, self.overall, self.logs = map(first.get, scopes)
        of_sets = [ranking for ranking in ranked if ranking.scope is Scope.SET]
        named = [ranking for ranking in (self.match, self.overall, *of_sets) if ranking]
        self.bots = {name: number for number, name in enumerate(_names(named))}
        self.runs = runs = self._runs(results)
        self.sets = [SetPart(ranking, self._runs(_results(ranking))) for ranking in of_sets]
        drawn_count = sum(len(part.timed) for part in self.sets)  # each has a plot over the puzzle numbers
        self.most_points = max(FEWEST_POINTS, min(MOST_POINTS, ALL_POINTS // max(1, drawn_count)))
        self.machines = Variants(MACHINE, [run.result.machine for run in runs])
        self.configurations = configurations([run.result for run in runs])
        self.ends = _ends(runs)
        self.days = _days(runs)
        self.commands = _commands(runs)
        self.perhaps_cold = list(dict.fromkeys(run.name for run in runs if run.result.warm_up_seconds is None))

    def _runs(self, results: Mapping[Path, AnyResult]) -> list[Run]:
        runs = {path: result for path, result in results.items() if isinstance(result, RunResult)}
        return [Run(printable(run.bot), self.bots[run.bot], run, str(path)) for path, run in runs.items()]


def _names(ranked: Iterable[Ranking]) -> dict[str, None]:
    """Return the names of the bots with runs, in the order of the rankings."""
    return dict.fromkeys(row.bot for ranking in ranked for row in ranking.rows if row.evidence is Evidence.RUN)


def _results(ranking: Ranking) -> dict[Path, AnyResult]:
    return {path: result for row in ranking.rows for path, result in row.results.items()}


def _days(runs: Iterable[Run]) -> str:
    days = sorted(printable(run.result.started_at[:10]) for run in runs)
    return from_to(days[0], days[-1])


def _ends(runs: Iterable[Run]) -> dict[EndReason, str]:
    reasons = {attempt.end.reason for run in runs for attempt in run.result.attempts}
    return {reason: reason.meaning for reason in EndReason if reason in reasons}


# --- commands that repeat the runs --------------------------------------------------------------------------


def _commands(runs: Iterable[Run]) -> list[tuple[Run, str]]:
    """Return the commands that repeat the runs, each with its first run; a bot's equal runs on sets share one."""
    alike: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        alike[tuple(_options(run.result))].append(run)
    commands = []
    for options, its_runs in alike.items():
        sets = list(dict.fromkeys(run.result.set.name for run in its_runs))
        command = shlex.join(["nonojudge", "run", "--set", *sets, *options])
        if len(sets) > 1:
            command = f'for set in {shlex.join(sets)}; do nonojudge run --set "$set" {shlex.join(options)}; done'
        commands.append((its_runs[0], printable(command)))
    return commands


NOT_REPEATED = ("core", "shared_core", "environment")
"""Terms of which the command states the number of cores, or nothing: the values of variables are in no result."""


def _options(run: RunResult) -> list[str]:
    """Return the options of `nonojudge run` without the set, as a result records them, and the bot's command."""
    cores = len(run.configuration.cores)
    own = ["--size", f"{run.set.width}x{run.set.height}", "--name", run.bot]
    own += ["--cores", str(cores)] if cores else ["--core", "any"]
    terms = [term.given(run.term(name)) for name, term in TERMS.items() if name not in NOT_REPEATED]
    return [*own, *chain.from_iterable(terms), "--", *run.command]


# --- facts of runs -------------------------------------------------------------------------------------------


class Variants:
    """Facts of runs, with a value for each kind of run; the letters of the kinds, and that of each run."""

    def __init__(self, facts: Mapping[str, Callable[[T], object]], owners: Iterable[T]) -> None:
        titles = {f"{name[:1].upper()}{name[1:]}": value_of for name, value_of in facts.items()}
        runs = [{title: printable(str(value_of(owner))) for title, value_of in titles.items()} for owner in owners]
        kinds = _kinds(runs)
        columns = {title: [kind[title] for kind in kinds] for title in titles}
        self.facts = {title: values for title, values in columns.items() if {*values} != {UNKNOWN}}
        self.letters = list(map(_letter, range(len(kinds))))
        places = (next(place for place, kind in enumerate(kinds) if _fits(run, kind)) for run in runs)
        self.letter_of = [self.letters[place] for place in places]

    @property
    def differing(self) -> list[str]:
        """The names of the facts that differ."""
        return [name for name, values in self.facts.items() if len(set(values) - {UNKNOWN}) > 1]


def configurations(every: Sequence[RunResult]) -> Variants:
    """Return the conditions of runs that do not depend on the machine."""
    return Variants({**CONFIGURATION, "environment": environment_of(every)}, every)


def _kinds(runs: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the kinds of runs; one that lacks facts is of any kind that it fits."""
    kinds: list[dict[str, str]] = []
    for run in sorted(runs, key=lambda run: [*run.values()].count(UNKNOWN)):
        if not any(_fits(run, kind) for kind in kinds):
            kinds.append(run)
    return kinds


def _fits(facts: dict[str, str], kind: dict[str, str]) -> bool:
    return all(value in (UNKNOWN, kind[name]) for name, value in facts.items())


def _letter(number: int) -> str:
    again, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(again + 1) if again else "")
