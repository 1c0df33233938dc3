"""The official ranking of results: most right, then least time; ties, missing runs, bots that are the same."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import starmap
from operator import itemgetter
from pathlib import Path, PurePath

from nonobot.harness.ranking.pairings import Pairing, pairings_of
from nonobot.harness.results.comparability import (
    MACHINE_AND_CONFIGURATION,
    Labelled,
    busy_lines,
    conditions,
    differences,
)
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.result_files import AnyResult, places_in
from nonobot.harness.results.run_result import BotLog, EndReason, RunResult, Verdict, VerifyResult
from nonobot.harness.results.run_text import log_doubts, standstill
from nonobot.harness.results.worth import worth
from nonobot.harness.text import first_of, percent
from nonobot.protocol.clues import count
from nonobot.system import shortened

Judged = RunResult | VerifyResult
SHOWN_VOID = 5  # most void puzzles of a set that a note names
MOST_NAMED = 4  # bots that a note names one by one if it is about all bots
SHOWN_RUNS = 5  # most runs that a note or a warning names
OF_SEVERAL = "of several runs of a bot, the middle one in the official order is shown"
WITHOUT_TIME = "without a time (a checked answer file): behind bots with as many right and a time"
MOST_OF_A_NAME = 200  # characters of such a name: a stranger may have chosen it


class Evidence(StrEnum):
    """Source of a row: a run of the judge, a checked answer file without times, or a bot's own log."""

    RUN = "run"
    ANSWERS = "answers"
    LOG = "log"


class Scope(StrEnum):
    """What a ranking compares: results on one set or several sets, participants of a match, or logs."""

    SET = "set"
    OVERALL = "overall"
    MATCH = "match"
    LOGS = "logs"


@dataclass(frozen=True)
class Row:
    """A bot in a ranking, with one result for each set that counts; unknown values are None."""

    bot: str
    evidence: Evidence
    results: Mapping[Path, AnyResult]
    rank: int = 0  # shared by rows that tie
    right: int | None = None
    logged: int | None = None  # number of puzzles that a log names
    puzzle_count: int | None = None
    verdicts: dict[Verdict, int] = field(default_factory=dict)
    time_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    median_seconds: float | None = None  # of the puzzles answered
    slowest_seconds: float | None = None
    slowest_puzzle: int | None = None
    slowest_set: str | None = None
    ends: list[str] = field(default_factory=list)
    run_count: int = 1  # results to choose from; overall, on the set with the fewest
    own_seconds: float | None = None  # in the bot's own logs, if every run has one
    version: str | None = None  # digest of the bot's files, if the same in all runs
    points: int | None = None  # in a match, as the following fields
    solved: int | None = None  # puzzles answered right, and void ones of the other participants
    pairings: list[Pairing] = field(default_factory=list)  # in the order of the ranking

    @property
    def files(self) -> list[str]:
        """Files of the results."""
        return list(map(str, self.results))

    @property
    def counted(self) -> int | None:
        """The number that the row is ranked by: puzzles answered right, or logged."""
        return self.right if self.logged is None else self.logged


@dataclass(frozen=True)
class Ranking:
    """Bots in the official order."""

    scope: Scope
    title: str
    sets: list[SetFacts]  # those that count here; none for logs
    rows: list[Row]
    notes: list[str]
    warnings: list[str]  # about the times


Entrant = tuple[str, Evidence]  # answer files apart from runs: their times cannot be mixed


@dataclass
class _Played:
    """The results on a set, by entrant."""

    facts: SetFacts
    results: dict[Entrant, dict[Path, Judged]] = field(default_factory=dict)
    title: str = ""  # unique

    @cached_property
    def rows(self) -> dict[Entrant, Row]:
        """The row of each entrant."""
        return {entrant: _middle(entrant, results) for entrant, results in self.results.items()}

    @property
    def labelled(self) -> list[Labelled]:
        """The runs of the rows, with their bots."""
        results = ((row.bot, result) for row in self.rows.values() for result in row.results.values())
        return [(bot, result) for bot, result in results if isinstance(result, RunResult)]

    @property
    def pairs(self) -> dict[tuple[str, str], Row]:
        """In a match, the rows of the opponents' runs by bot and setter; void puzzles count as solved."""
        setter, void = str(self.facts.setter), len(self.facts.void or {})
        rows = {bot: row for (bot, evidence), row in self.rows.items() if evidence is Evidence.RUN}
        rows.pop(setter, None)
        return {(bot, setter): replace(row, solved=(row.right or 0) + void) for bot, row in rows.items()}

    @property
    def uneven(self) -> list[str]:
        """The differences between the conditions of the runs."""
        return differences(self.labelled, MACHINE_AND_CONFIGURATION)


def slowest_place(row: Row, ranking: Ranking) -> str:
    """Return the slowest puzzle of a row, such as `$7` or, overall, `set 2 $7`; nothing if there is none."""
    if row.slowest_puzzle is None:
        return ""
    names = (
        [facts.name for facts in ranking.sets] if ranking.scope is Scope.OVERALL else []
    )  # its notes number them
    of_set = f"set {names.index(row.slowest_set) + 1} " if row.slowest_set in names else ""
    return f"{of_set}${row.slowest_puzzle}"


def rankings(results: Mapping[Path, AnyResult]) -> list[Ranking]:
    """Return the rankings of `results`: one for each set, one overall if there are several, one for logs."""
    played, tournaments = _played(results), _Tournaments(results)
    ranked = [*map(_set_ranking, played), *_over_sets(played, tournaments.unplayed)]
    if ranked:  # once, not for each set
        last, runs = ranked[-1], [labelled for part in played for labelled in part.labelled]
        if tournaments.unplayed and last.scope is not Scope.MATCH:
            last.notes.append(f"not final: {tournaments.unplayed}")
        last.notes.extend([*tournaments.missing_line, *worth([run for _, run in runs]), *_twin_lines(runs)])
        last.warnings.extend([*_version_lines(results.values()), *tournaments.removed_line, *busy_lines(runs)])
        last.warnings.extend(
            f"{bot}: {standstill(run.stood_still_seconds)}" for bot, run in runs if run.stood_still_seconds
        )
    return [*ranked, *_log_rankings(results)]


def _over_sets(played: Sequence[_Played], unplayed: str) -> list[Ranking]:
    """Return the rankings over several sets: overall, and of a match; `unplayed` says which runs are missing."""
    match = [part for part in played if part.facts.setter]
    league = [part for part in played if part not in match]
    ranked = [_overall(league)] if len(league) > 1 else []
    return [*ranked, _match(match, unplayed)] if match else ranked


def _played(results: Mapping[Path, AnyResult]) -> list[_Played]:
    sets: dict[str, _Played] = {}
    for path, result in results.items():
        if not isinstance(result, BotLog):
            played = sets.setdefault(result.set.sha256, _Played(result.set))
            played.results.setdefault(_entrant(path, result), {})[path] = result
    uses = Counter(played.facts.title for played in sets.values())
    for digest, played in sets.items():
        title = played.facts.title
        played.title = title if uses[title] == 1 else f"{title} (sha256 {digest[:8]})"
    return [*sets.values()]


def _entrant(path: Path, result: Judged) -> Entrant:
    if isinstance(result, RunResult):
        return result.bot, Evidence.RUN
    return (path if result.answers_file == "-" else Path(result.answers_file)).stem, Evidence.ANSWERS


class _Tournaments:
    """The runs that the files `ORDER` in the folders of results list, by their paths, and what is with them."""

    def __init__(self, results: Mapping[Path, AnyResult]) -> None:
        self._results = results
        self._orders = {folder: places_in(folder) for folder in {path.parent: None for path in results}}
        self._runs = {folder / f"{run}.json": run for folder, order in self._orders.items() for run in order}

    @cached_property
    def missing(self) -> list[str]:
        """The names of the runs without a result, also those of bots and sets without any.

        A result that is there, and that nobody asked for, is not missing.
        """
        folders = {path.parent for path in self._runs}
        there = self._results.keys() | {path for folder in folders for path in folder.glob("*.json")}
        return [shortened(run, MOST_OF_A_NAME) for path, run in self._runs.items() if path not in there]

    @property
    def missing_line(self) -> list[str]:
        """A line about them."""
        return [f"missing: {first_of(self.missing, SHOWN_RUNS)}"] if self.missing else []

    @property
    def unplayed(self) -> str:
        """How many runs are missing or were interrupted, in words; empty if none."""
        found = (self._results.get(path) for path in self._runs)
        ends = [result.end.reason for result in found if isinstance(result, RunResult)]
        counts = {"missing": len(self.missing), "interrupted": ends.count(EndReason.INTERRUPTED)}
        parts = " and ".join(f"{number} {state}" for state, number in counts.items() if number)
        return f"{parts} of {count(len(self._runs), 'run')}" if parts else ""

    @property
    def removed_line(self) -> list[str]:
        """A line about results of bots or sets that are not in their tournament's file any more."""
        removed = [
            shortened(f"{run.bot} on {run.set.name}", MOST_OF_A_NAME)
            for path, run in self._results.items()
            if isinstance(run, RunResult) and (order := self._orders[path.parent]) and path.stem not in order
        ]
        names = first_of(removed, SHOWN_RUNS)
        return [f"ranked, but not in the tournament file: {names}; move their results away"] if removed else []


def _official_order(row: Row) -> tuple[int, int, float]:
    """Return the sort key; a row without a time comes after all others with as many right."""
    solved = row.counted if row.solved is None else row.solved
    return -(row.points or 0), -(solved or 0), math.inf if row.time_seconds is None else row.time_seconds


def _middle(entrant: Entrant, results: Mapping[Path, Judged]) -> Row:
    """Return the middle row in the official order; of an even number, the better of the two middle ones."""
    rows = [_row(entrant, {path: result}, len(results)) for path, result in results.items()]
    rows.sort(key=_official_order)
    return rows[(len(rows) - 1) // 2]


def _set_ranking(played: _Played) -> Ranking:
    facts, runs, uneven = played.facts, played.labelled, played.uneven
    rows = [*played.rows.values()]
    how = f"; {conditions(runs[0][1])}" if runs and not uneven else ""
    void = [f"${number} ({why})" for number, why in (facts.void or {}).items()]
    notes = {
        f"{count(facts.puzzle_count, 'puzzle')} of {facts.width}x{facts.height}{how}": True,
        f"void, and solved by every opponent in the match: {first_of(void, SHOWN_VOID)}": void,
        OF_SEVERAL: any(row.run_count > 1 for row in rows),
        WITHOUT_TIME: Evidence.ANSWERS in {row.evidence for row in rows},
    }
    doubts = {bot: "; ".join(log_doubts(run)) for bot, run in runs}
    of_logs = [f"own log of {bot}: {doubt}" for bot, doubt in doubts.items() if doubt]
    warnings = [*_command_lines(played), *uneven, *of_logs]
    shown = [note for note, is_so in notes.items() if is_so]
    return Ranking(Scope.SET, played.title, [facts], _ranked(rows), shown, warnings)


def _command_lines(played: _Played) -> Iterator[str]:
    for (bot, _), results in played.results.items():
        number = len({tuple(result.command) for result in results.values() if isinstance(result, RunResult)})
        if number > 1:
            yield f"{bot}: {number} different commands go by this name and are taken as one bot"


def _overall(played: Sequence[_Played]) -> Ranking:
    everyone = dict.fromkeys(entrant for part in played for entrant in part.rows)
    shared = [part for part in played if part.rows.keys() == everyone.keys()]
    numbered = ", ".join(f"set {number} {part.title}" for number, part in enumerate(shared, 1))
    notes = [f"over {numbered}" if shared else "no set that every bot has played"]
    for part in played:
        if absent := [entrant[0] for entrant in everyone if entrant not in part.rows]:
            notes.append(f"{part.title} is left out: no result of {', '.join(absent)}")
    if not shared:
        return Ranking(Scope.OVERALL, "overall", [], [], notes, [])
    rows = _ranked([_together(entrant, [part.rows[entrant] for part in shared]) for entrant in everyone])
    return Ranking(Scope.OVERALL, "overall", [part.facts for part in shared], rows, notes, _uneven(shared))


def _uneven(played: Iterable[_Played]) -> list[str]:
    """Return the differences of runs on several sets.

    Each set may have its own machine: a sum of times is as fair as its parts.
    """
    return differences([run for part in played if part.uneven for run in part.labelled], MACHINE_AND_CONFIGURATION)


def _match(played: Sequence[_Played], unplayed: str) -> Ranking:
    """Return the ranking of a match; `unplayed` says which runs its folder lacks."""
    pairs = {pair: row for part in played for pair, row in part.pairs.items()}
    ranked = _ranked([_in_match(bot, pairs) for bot in dict.fromkeys(bot for bot, _ in pairs)])
    order = {row.bot: place for place, row in enumerate(ranked)}
    for row in ranked:
        row.pairings.sort(key=lambda pairing: order.get(pairing.opponent, len(order)))
    notes = ["2 points for more of the other's puzzles solved, 1 for as many; then puzzles solved, then time"]
    if unplayed := unplayed or _lacking(pairs):
        notes.append(f"not final: {unplayed}, and pairings without both runs have no points")
    warnings = [*_twice_lines(played), *_uneven(played)]
    return Ranking(Scope.MATCH, "match", [part.facts for part in played], ranked, notes, warnings)


def _lacking(pairs: Collection[tuple[str, str]]) -> str:
    """Return how many runs a match lacks, from results without their file `ORDER`; empty if none."""
    names = {name for pair in pairs for name in pair}
    missing = len(names) * (len(names) - 1) - len(pairs)
    return f"{count(missing, 'run')} missing" if missing else ""


def _twice_lines(played: Sequence[_Played]) -> list[str]:
    setters = Counter(part.facts.setter for part in played)
    twice = [name for name, times in setters.items() if times > 1]
    return [f"results on several sets of {name}: the last one counts; move the others away" for name in twice]


def _in_match(bot: str, pairs: Mapping[tuple[str, str], Row]) -> Row:
    pairings = pairings_of(bot, {pair: row.solved for pair, row in pairs.items()})
    return replace(
        _together((bot, Evidence.RUN), [row for (name, _), row in pairs.items() if name == bot]),
        points=sum(pairing.points or 0 for pairing in pairings),
        solved=sum(pairing.solved or 0 for pairing in pairings),
        pairings=pairings,
    )


def _together(entrant: Entrant, rows: Sequence[Row]) -> Row:
    """Return the row of a bot over the sets of its `rows`."""
    results = {path: result for row in rows for path, result in row.results.items()}
    return _row(entrant, results, min(row.run_count for row in rows))


def _row(entrant: Entrant, results: Mapping[Path, AnyResult], run_count: int) -> Row:
    """Return the row of a bot with these results, one for each set, still without its rank."""
    judged = [result for result in results.values() if not isinstance(result, BotLog)]
    counts = {verdict: sum(result.score.verdicts[verdict] for result in judged) for verdict in Verdict}
    row = Row(
        *entrant,
        results,
        right=counts[Verdict.RIGHT],
        puzzle_count=sum(counts.values()),
        verdicts=counts,
        run_count=run_count,
    )
    timed = [(took, puzzle.number, result.set.name) for result in judged for took, puzzle in result.score.timed]
    return _measured(_timed(row, timed), [result for result in judged if isinstance(result, RunResult)])


def _timed(row: Row, timed: Sequence[tuple[float, int, str | None]]) -> Row:
    """Return a row with the times of puzzles, each with its number and its set."""
    if not timed:
        return row
    seconds, number, of_set = max(timed, key=itemgetter(0))
    middle = statistics.median(seconds for seconds, _, _ in timed)
    return replace(row, median_seconds=middle, slowest_seconds=seconds, slowest_puzzle=number, slowest_set=of_set)


def _measured(row: Row, runs: Sequence[RunResult]) -> Row:
    """Return a row with the figures of its runs."""
    if not runs:
        return row
    own = [run.own_seconds for run in runs if run.own_seconds is not None]
    return replace(
        row,
        time_seconds=sum(run.time_seconds for run in runs) if any(run.started for run in runs) else None,
        cpu_seconds=sum(run.usage.cpu_seconds for run in runs),
        peak_memory_bytes=max(run.usage.peak_memory_bytes for run in runs) or None,
        ends=[run.end.reason.value for run in runs],
        own_seconds=sum(own) if len(own) == len(runs) else None,
        version=_version(runs),
    )


def _version(runs: Iterable[RunResult]) -> str | None:
    found = _digests(runs)
    if not found or any(len(digests) > 1 for digests in found.values()):
        return None
    all_digests = sorted(digest for digests in found.values() for digest in digests)
    return hashlib.sha256("".join(all_digests).encode()).hexdigest()[:8]


def _digests(runs: Iterable[RunResult]) -> dict[str, dict[str, None]]:
    """Return the digests of a bot's files in its runs, by the names of the files."""
    found: dict[str, dict[str, None]] = {}
    for file in (file for run in runs for file in run.program_files or ()):
        found.setdefault(file.name, {})[file.sha256] = None
    return found


def _twin_lines(runs: Sequence[Labelled]) -> list[str]:
    """Return a line for each group of bots with the same files, variables and, but for folders, commands."""
    known: dict[str, list[RunResult]] = {}
    for bot, run in runs:
        if run.started and _version([run]):
            known.setdefault(bot, []).append(run)
    groups: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for bot in sorted(known):
        groups.setdefault(frozenset(map(_program, known[bot])), []).append(bot)
    bot_count = len({bot for bot, _ in runs})
    return [_twin_line({bot: known[bot] for bot in bots}, bot_count) for bots in groups.values() if len(bots) > 1]


def _program(run: RunResult) -> tuple[str, ...]:
    """Return what makes a run's bot the one that it is."""
    command = [PurePath(word).name for word in run.command]
    variables = sorted(f"{name}={digest}" for name, digest in run.configuration.digests.items())
    return (str(_version([run])), *command, *variables)


def _twin_line(alike: Mapping[str, Sequence[RunResult]], bot_count: int) -> str:
    """Return the line for bots with the same files, with the difference on the sets that all of them played."""
    *others, last = alike
    are_all = len(alike) == bot_count > MOST_NAMED
    names = f"all {bot_count} bots" if are_all else f"{', '.join(others)} and {last}"
    seconds = [{(run.set.sha256, run.set.title): run.time_seconds for run in runs} for runs in alike.values()]
    shared = [played for played in seconds[0] if all(played in of_bot for of_bot in seconds)]
    least, *_, most = sorted(sum(of_bot[played] for played in shared) for of_bot in seconds)
    if not least:  # in a match, no bot plays its own set
        return f"{names} have the same files; the differences of their times are noise"
    place = f"over the {len(shared)} sets that all of them played" if shared[1:] else f"on {shared[0][1]}"
    times = "the fastest and the slowest" if others[1:] else "their times"
    share = percent(most / least - 1)
    return f"{names} have the same files; {place}, {times} differ by {share}, which is noise"


def _version_lines(results: Iterable[AnyResult]) -> list[str]:
    """Return a line for each bot whose runs are of different versions."""
    by_bot: dict[str, list[RunResult]] = {}
    for run in results:
        if isinstance(run, RunResult):
            by_bot.setdefault(run.bot, []).append(run)
    changed = {bot: _changed_files(runs) for bot, runs in by_bot.items()}
    again = "`nonojudge tournament --again` plays a bot again"
    return [
        f"{bot}: its runs are of different versions ({files}); {again}" for bot, files in changed.items() if files
    ]


def _changed_files(runs: Iterable[RunResult]) -> str:
    found = {name: digests for name, digests in _digests(runs).items() if len(digests) > 1}
    return "; ".join(f"{name}: {', '.join(digest[:8] for digest in digests)}" for name, digests in found.items())


def _log_rankings(results: Mapping[Path, AnyResult]) -> list[Ranking]:
    logs = {path: result for path, result in results.items() if isinstance(result, BotLog)}
    cut_off = ", ".join(path.stem for path, log in logs.items() if log.total_seconds is None)
    notes = [
        "the bots' own logs: nobody checked the answers, and a log does not name its set",
        "ranked by the number logged; in no other ranking",
        *([f"without a total, the sum of its times replaces it: {cut_off}"] if cut_off else []),
    ]
    rows = _ranked(list(starmap(_log_row, logs.items())))
    return [Ranking(Scope.LOGS, "logs, not verified", [], rows, notes, [])] if logs else []


def _log_row(path: Path, log: BotLog) -> Row:
    row = Row(path.stem, Evidence.LOG, {path: log}, logged=len(log.seconds), time_seconds=log.time_seconds)
    return _timed(row, [(seconds, number, None) for number, seconds in log.seconds.items()])


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Return `rows` in the official order, with their ranks; rows that tie share the better rank."""
    order = sorted(map(_official_order, rows))
    ranked = [replace(row, rank=order.index(_official_order(row)) + 1) for row in rows]
    return sorted(ranked, key=lambda row: (row.rank, row.bot))
