"""The official ranking of results: most right, then least time; ties, missing runs, bots that are the same."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
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


def slowest_place(row: Row, ranking: Ranking) -> str:
    """Return the slowest puzzle of a row, such as `$7` or, overall, `set 2 $7`; nothing if there is none."""
    if row.slowest_puzzle is None:
        return ""
    of_set = ""
    if ranking.scope is Scope.OVERALL:  # whose notes number the sets
        names = [facts.name for facts in ranking.sets]
        of_set = f"set {names.index(row.slowest_set) + 1} " if row.slowest_set in names else ""
    return f"{of_set}${row.slowest_puzzle}"


def rankings(results: Mapping[Path, AnyResult]) -> list[Ranking]:
    """Return the rankings of `results`: one for each set, one overall if there are several, one for logs."""
    logs: dict[Path, BotLog] = {}
    sets: dict[str, SetFacts] = {}
    by_set: dict[str, dict[Entrant, dict[Path, Judged]]] = {}
    for path, result in results.items():
        if isinstance(result, BotLog):
            logs[path] = result
            continue
        entrant = path.stem, Evidence.ANSWERS
        if isinstance(result, RunResult):
            entrant = result.bot, Evidence.RUN
        elif result.answers_file != "-":
            entrant = Path(result.answers_file).stem, Evidence.ANSWERS
        sets.setdefault(result.set.sha256, result.set)
        by_set.setdefault(result.set.sha256, {}).setdefault(entrant, {})[path] = result
    uses = Counter(facts.title for facts in sets.values())
    ranked = []
    shown = []
    for digest, facts in sets.items():
        title = facts.title if uses[facts.title] == 1 else f"{facts.title} (sha256 {digest[:8]})"
        rows = {entrant: _middle(entrant, runs) for entrant, runs in by_set[digest].items()}
        ranked.append(_set_ranking(title, facts, list(rows.values()), by_set[digest]))
        shown.append((title, facts, rows))
    in_league = [part for part in shown if not part[1].setter]
    orders = {folder: places_in(folder) for folder in dict.fromkeys(path.parent for path in results)}
    missing = _missing(results, orders)
    unplayed = _unplayed(results, orders, len(missing))
    if len(in_league) > 1:
        ranked.append(_overall(in_league))
    if len(in_league) < len(shown):
        ranked.append(_match([part for part in shown if part[1].setter], unplayed))
    elif ranked and unplayed:
        ranked[-1].notes.append(f"not final: {unplayed}")
    if ranked:  # once, not for each set
        runs = [labelled for _, _, rows in shown for labelled in _labelled(rows.values())]
        if missing:
            ranked[-1].notes.append(f"missing: {first_of(missing, SHOWN_RUNS)}")
        ranked[-1].notes.extend(worth([run for _, run in runs]))
        ranked[-1].notes.extend(_twin_lines(runs))
        ranked[-1].warnings.extend(_version_lines(results.values()))
        ranked[-1].warnings.extend(_removed_line(results, orders))
        ranked[-1].warnings.extend(busy_lines(runs))
        stops = ((bot, standstill(run.stood_still_seconds)) for bot, run in runs)
        ranked[-1].warnings.extend(f"{bot}: {stop}" for bot, stop in stops if stop)
    return [*ranked, _log_ranking(logs)] if logs else ranked


Orders = Mapping[Path, Mapping[str, int]]
"""The runs of each folder's tournament, as its file `ORDER` lists them; of another folder, none."""


def _missing(results: Mapping[Path, AnyResult], orders: Orders) -> list[str]:
    """Return the names of the runs without a result, also those of bots and sets without any.

    A result that is there, and that nobody asked for, is not missing.
    """
    there = {path for folder, order in orders.items() if order for path in folder.glob("*.json")} | results.keys()
    runs = ((run, folder / f"{run}.json") for folder, order in orders.items() for run in order)
    return [shortened(run, MOST_OF_A_NAME) for run, path in runs if path not in there]


def _unplayed(results: Mapping[Path, AnyResult], orders: Orders, missing: int) -> str:
    """Return how many runs of the tournaments are missing or were interrupted, in words; empty if none."""
    runs = [folder / f"{run}.json" for folder, order in orders.items() for run in order]
    played = (result for path in runs if isinstance(result := results.get(path), RunResult))
    interrupted = sum(result.end.reason is EndReason.INTERRUPTED for result in played)
    counts = {"missing": missing, "interrupted": interrupted}
    parts = [f"{number} {state}" for state, number in counts.items() if number]
    return f"{' and '.join(parts)} of {count(len(runs), 'run')}" if parts else ""


def _removed_line(results: Mapping[Path, AnyResult], orders: Orders) -> list[str]:
    """Return a line about results of bots or sets that are not in their tournament's file any more."""
    removed = [
        shortened(f"{run.bot} on {run.set.name}", MOST_OF_A_NAME)
        for path, run in results.items()
        if isinstance(run, RunResult) and (order := orders[path.parent]) and path.stem not in order
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


def _labelled(rows: Iterable[Row]) -> list[Labelled]:
    return [(row.bot, run) for row in rows for run in row.results.values() if isinstance(run, RunResult)]


def _set_ranking(
    title: str, facts: SetFacts, rows: list[Row], results: Mapping[Entrant, Mapping[Path, Judged]]
) -> Ranking:
    notes = [f"{count(facts.puzzle_count, 'puzzle')} of {facts.width}x{facts.height}"]
    runs = _labelled(rows)
    uneven = differences(runs, MACHINE_AND_CONFIGURATION)
    if runs and not uneven:
        notes[0] += "; " + conditions(runs[0][1])
    if facts.void:
        void = [f"${number} ({why})" for number, why in facts.void.items()]
        notes.append(f"void, and solved by every opponent in the match: {first_of(void, SHOWN_VOID)}")
    if any(row.run_count > 1 for row in rows):
        notes.append("of several runs of a bot, the middle one in the official order is shown")
    if any(row.evidence is Evidence.ANSWERS for row in rows):
        notes.append("without a time (a checked answer file): behind bots with as many right and a time")
    warnings = []
    for (bot, _), played in results.items():
        commands = {tuple(result.command) for result in played.values() if isinstance(result, RunResult)}
        if len(commands) > 1:
            warnings.append(f"{bot}: {len(commands)} different commands go by this name and are taken as one bot")
    doubts = [f"own log of {bot}: {'; '.join(log_doubts(run))}" for bot, run in runs if log_doubts(run)]
    return Ranking(Scope.SET, title, [facts], _ranked(rows), notes, [*warnings, *uneven, *doubts])


def _overall(shown: Sequence[tuple[str, SetFacts, dict[Entrant, Row]]]) -> Ranking:
    everyone = dict.fromkeys(entrant for _, _, rows in shown for entrant in rows)
    shared: dict[str, tuple[SetFacts, dict[Entrant, Row]]] = {}
    notes = []
    for title, facts, rows in shown:
        absent = [bot for bot, evidence in everyone if (bot, evidence) not in rows]
        if absent:
            notes.append(f"{title} is left out: no result of {', '.join(absent)}")
        else:
            shared[title] = facts, rows
    if not shared:
        return Ranking(Scope.OVERALL, "overall", [], [], ["no set that every bot has played", *notes], [])
    notes.insert(0, f"over {', '.join(f'set {number} {title}' for number, title in enumerate(shared, 1))}")
    warnings = _uneven(rows for _, rows in shared.values())
    totals = []
    for entrant in everyone:
        parts = [rows[entrant] for _, rows in shared.values()]
        results = {path: result for part in parts for path, result in part.results.items()}
        totals.append(_row(entrant, results, min(part.run_count for part in parts)))
    counted = [facts for facts, _ in shared.values()]
    return Ranking(Scope.OVERALL, "overall", counted, _ranked(totals), notes, warnings)


def _uneven(played: Iterable[Mapping[Entrant, Row]]) -> list[str]:
    """Return the differences of runs on several sets.

    Each set may have its own machine: a sum of times is as fair as its parts.
    """
    runs_of = [_labelled(rows.values()) for rows in played]
    uneven = [run for runs in runs_of if differences(runs, MACHINE_AND_CONFIGURATION) for run in runs]
    return differences(uneven, MACHINE_AND_CONFIGURATION)


def _match(shown: Sequence[tuple[str, SetFacts, dict[Entrant, Row]]], unplayed: str) -> Ranking:
    """Return the ranking of a match; `unplayed` says which runs its folder lacks."""
    parts: dict[tuple[str, str], Row] = {}  # by bot and setter
    solved: dict[tuple[str, str], int] = {}
    for _, facts, rows in shown:
        for (bot, evidence), row in rows.items():
            if evidence is Evidence.RUN and bot != facts.setter:
                parts[bot, str(facts.setter)] = row
                solved[bot, str(facts.setter)] = (row.right or 0) + len(facts.void or {})
    totals = []
    for name in dict.fromkeys(bot for bot, _ in parts):
        own = [row for (bot, _), row in parts.items() if bot == name]
        results = {path: result for row in own for path, result in row.results.items()}
        pairings = pairings_of(name, solved)
        row = _row((name, Evidence.RUN), results, min(row.run_count for row in own))
        points = sum(pairing.points or 0 for pairing in pairings)
        total = sum(number for (bot, _), number in solved.items() if bot == name)
        totals.append(replace(row, points=points, solved=total, pairings=pairings))
    ranked = _ranked(totals)
    order = {row.bot: place for place, row in enumerate(ranked)}
    for row in ranked:
        row.pairings.sort(key=lambda pairing: order.get(pairing.opponent, len(order)))
    notes = ["2 points for more of the other's puzzles solved, 1 for as many; then puzzles solved, then time"]
    names = {name for pair in solved for name in pair}
    if missing := len(names) * (len(names) - 1) - len(solved):  # results without their file `ORDER`
        unplayed = unplayed or f"{count(missing, 'run')} missing"
    if unplayed:
        notes.append(f"not final: {unplayed}, and pairings without both runs have no points")
    twice = [name for name, times in Counter(facts.setter for _, facts, _ in shown).items() if times > 1]
    warnings = [f"results on several sets of {name}: the last one counts; move the others away" for name in twice]
    warnings += _uneven(rows for _, _, rows in shown)
    return Ranking(Scope.MATCH, "match", [facts for _, facts, _ in shown], ranked, notes, warnings)


def _row(entrant: Entrant, results: Mapping[Path, AnyResult], run_count: int = 1) -> Row:
    """Return the row of a bot with these results, one for each set, still without its rank."""
    judged = [result for result in results.values() if not isinstance(result, BotLog)]
    runs = [result for result in judged if isinstance(result, RunResult)]
    logs = [result for result in results.values() if isinstance(result, BotLog)]
    has_started = any(run.started for run in runs)
    times = [run.time_seconds for run in runs if has_started] + [log.time_seconds for log in logs]
    timed: list[tuple[float, int, str | None]] = [
        (puzzle.took_seconds, puzzle.number, result.set.name)
        for result in judged
        for puzzle in result.score.puzzles
        if puzzle.took_seconds is not None
    ]
    timed += [(seconds, number, None) for log in logs for number, seconds in log.seconds.items()]
    slowest = max(timed, key=itemgetter(0), default=(None, None, None))
    own_times = [run.own_seconds for run in runs if run.own_seconds is not None]
    counts = {verdict: sum(result.score.verdicts[verdict] for result in judged) for verdict in Verdict}
    return Row(
        *entrant,
        results,
        right=counts[Verdict.RIGHT] if judged else None,
        logged=sum(len(log.seconds) for log in logs) if logs else None,
        puzzle_count=sum(counts.values()) if judged else None,
        verdicts=counts if judged else {},
        time_seconds=sum(times) if times else None,
        cpu_seconds=sum(run.usage.cpu_seconds for run in runs) if runs else None,
        peak_memory_bytes=max((run.usage.peak_memory_bytes for run in runs), default=0) or None,
        median_seconds=statistics.median(seconds for seconds, _, _ in timed) if timed else None,
        slowest_seconds=slowest[0],
        slowest_puzzle=slowest[1],
        slowest_set=slowest[2],
        ends=[run.end.reason.value for run in runs],
        run_count=run_count,
        own_seconds=sum(own_times) if own_times and len(own_times) == len(runs) else None,
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
    programs: dict[str, set[tuple[str, ...]]] = {}
    seconds: dict[str, dict[tuple[str, str], float]] = {}  # by bot, and by digest and title of the set
    for bot, run in runs:
        if run.started and (version := _version([run])):
            command = [PurePath(word).name for word in run.command]
            variables = sorted(f"{name}={digest}" for name, digest in run.configuration.digests.items())
            programs.setdefault(bot, set()).add((version, *command, *variables))
            seconds.setdefault(bot, {})[run.set.sha256, run.set.title] = run.time_seconds
    groups: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for bot, program in sorted(programs.items()):
        groups.setdefault(frozenset(program), []).append(bot)
    bot_count = len({bot for bot, _ in runs})
    return [
        _twin_line(bots, bot_count, [seconds[bot] for bot in bots]) for bots in groups.values() if len(bots) > 1
    ]


def _twin_line(bots: Sequence[str], bot_count: int, seconds: Sequence[Mapping[tuple[str, str], float]]) -> str:
    """Return the line for bots with the same files, with the difference on the sets that all of them played."""
    are_all = len(bots) == bot_count > MOST_NAMED
    names = f"all {bot_count} bots" if are_all else f"{', '.join(bots[:-1])} and {bots[-1]}"
    shared = [played for played in seconds[0] if all(played in of_bot for of_bot in seconds)]
    totals = sorted(sum(of_bot[played] for played in shared) for of_bot in seconds)
    if not totals[0]:  # in a match, no bot plays its own set
        return f"{names} have the same files; the differences of their times are noise"
    place = f"on {shared[0][1]}" if len(shared) == 1 else f"over the {len(shared)} sets that all of them played"
    times = "their times" if len(bots) == 2 else "the fastest and the slowest"
    share = percent(totals[-1] / totals[0] - 1)
    return f"{names} have the same files; {place}, {times} differ by {share}, which is noise"


def _version_lines(results: Iterable[AnyResult]) -> list[str]:
    """Return a line for each bot whose runs are of different versions."""
    by_bot: dict[str, list[RunResult]] = {}
    for run in results:
        if isinstance(run, RunResult):
            by_bot.setdefault(run.bot, []).append(run)
    lines = []
    for bot, runs in by_bot.items():
        found = {name: digests for name, digests in _digests(runs).items() if len(digests) > 1}
        if found:
            named = "; ".join(
                f"{name}: {', '.join(digest[:8] for digest in digests)}" for name, digests in found.items()
            )
            lines.append(
                f"{bot}: its runs are of different versions ({named}); "
                "`nonojudge tournament --again` plays a bot again"
            )
    return lines


def _log_ranking(logs: Mapping[Path, BotLog]) -> Ranking:
    notes = [
        "the bots' own logs: nobody checked the answers, and a log does not name its set",
        "ranked by the number logged; in no other ranking",
    ]
    cut_off = [path.stem for path, log in logs.items() if log.total_seconds is None]
    if cut_off:
        notes.append(f"without a total, the sum of its times replaces it: {', '.join(cut_off)}")
    rows = [_row((path.stem, Evidence.LOG), {path: log}) for path, log in logs.items()]
    return Ranking(Scope.LOGS, "logs, not verified", [], _ranked(rows), notes, [])


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Return `rows` in the official order, with their ranks; rows that tie share the better rank."""
    order = sorted(map(_official_order, rows))
    ranked = [replace(row, rank=order.index(_official_order(row)) + 1) for row in rows]
    return sorted(ranked, key=lambda row: (row.rank, row.bot))
