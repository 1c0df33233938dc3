"""The official ranking of several results: most right, then least time; per set and over all of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from nonobot.harness.ranking.comparability import (
    MACHINE_AND_TERMS,
    Labelled,
    busy_lines,
    conditions,
    differences,
)
from nonobot.harness.ranking.sources import Source
from nonobot.harness.results.bot_log import BotLog
from nonobot.harness.results.run_result import PuzzleResult, RunResult, Verdict, VerifyResult
from nonobot.harness.results.terms import SetFacts

__all__ = ["Evidence", "Row", "Scope", "Section", "sections"]

Judged = RunResult | VerifyResult


class Evidence(StrEnum):
    """What a row rests on.

    RUN: the judge ran the bot and checked its answers. ANSWERS: the judge checked an answer file; nobody measured
    the time. LOG: the bot's own log; nobody saw the answers.
    """

    RUN = "run"
    ANSWERS = "answers"
    LOG = "log"


class Scope(StrEnum):
    """What a section ranks: the results on one set, those on several sets together, or the logs."""

    SET = "set"
    OVERALL = "overall"
    LOGS = "logs"


@dataclass(frozen=True)
class Row:
    """A bot in a ranking; None for what is not known.

    Attributes
    ----------
    bot : str
    evidence : Evidence
    files : list of str
        The results that the row shows.
    runs : list of RunResult
        Those of them that are runs, one for each set.
    rank : int
        From 1; rows that tie share it.
    right : int or None
        Puzzles answered right; None for a log.
    logged : int or None
        Puzzles that a log names; None for others.
    puzzle_count : int or None
    verdicts : dict of Verdict to int
        Empty for a log.
    time_seconds : float or None
        What the bot is ranked by.
    cpu_seconds : float or None
    peak_memory_bytes : int or None
    median_seconds, slowest_seconds : float or None
        Of the puzzles that were answered.
    slowest_puzzle : int or None
        Its number.
    slowest_set : str or None
        The name of its set.
    ends : list of str
        How the run ended, a word for each set.
    run_count : int
        How many results there were to choose from; in an overall ranking on the set with the fewest.
    """

    bot: str
    evidence: Evidence
    files: list[str]
    runs: list[RunResult] = field(default_factory=list)
    rank: int = 0
    right: int | None = None
    logged: int | None = None
    puzzle_count: int | None = None
    verdicts: dict[Verdict, int] = field(default_factory=dict)
    time_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    median_seconds: float | None = None
    slowest_seconds: float | None = None
    slowest_puzzle: int | None = None
    slowest_set: str | None = None
    ends: list[str] = field(default_factory=list)
    run_count: int = 1


@dataclass(frozen=True)
class Section:
    """One ranking.

    Attributes
    ----------
    scope : Scope
    title : str
    sets : list of SetFacts
        Those that count here; none for logs.
    rows : list of Row
        First place first.
    notes : list of str
        What has to be known to read it.
    warnings : list of str
        What makes it less than fair.
    """

    scope: Scope
    title: str
    sets: list[SetFacts]
    rows: list[Row]
    notes: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class _Entry:
    """The result of a bot on a set that counts, and how many there were to choose from."""

    path: Path
    result: Judged
    run_count: int


Entrant = tuple[str, Evidence]
"""Who is ranked. A bot's checked answer file stands beside its runs: their times cannot be mixed."""


def sections(sources: Sequence[Source]) -> list[Section]:
    """Return the rankings of `sources`: one for each set, one overall if there are several, one for logs."""
    by_set: dict[str, dict[Entrant, list[Source]]] = {}
    for source in sources:
        if not isinstance(source.found, BotLog):
            entrants = by_set.setdefault(source.found.set.sha256, {})
            entrants.setdefault(_entrant(source), []).append(source)
    chosen = [{who: _middle(found) for who, found in entrants.items()} for entrants in by_set.values()]
    titles = _titles([_facts(entries) for entries in chosen])
    found = [
        _set_section(title, entries, entrants)
        for title, entries, entrants in zip(titles, chosen, by_set.values(), strict=True)
    ]
    if len(chosen) > 1:
        found.append(_overall(titles, chosen))
    logs = [(source.path, source.found) for source in sources if isinstance(source.found, BotLog)]
    return [*found, _log_section(logs)] if logs else found


def _entrant(source: Source) -> Entrant:
    if isinstance(source.found, RunResult):
        return source.found.bot, Evidence.RUN
    assert isinstance(source.found, VerifyResult)
    file = source.found.answers_file
    return (source.path if file == "-" else Path(file)).stem, Evidence.ANSWERS


def _facts(entries: dict[Entrant, _Entry]) -> SetFacts:
    return next(iter(entries.values())).result.set


def _runs(entries: dict[Entrant, _Entry]) -> list[Labelled]:
    return [(bot, one.result) for (bot, _), one in entries.items() if isinstance(one.result, RunResult)]


def _titles(sets: Sequence[SetFacts]) -> list[str]:
    """Return the sets' names, told apart by their digests where two share one."""
    names = [facts.name for facts in sets]
    return [
        facts.name if names.count(facts.name) == 1 else f"{facts.name} (sha256 {facts.sha256[:8]})"
        for facts in sets
    ]


def _official_order(right: int | None, time_seconds: float | None) -> tuple[int, float]:
    """Return the key to sort by; without a time, behind all that have as many right and one."""
    return -(right or 0), float("inf") if time_seconds is None else time_seconds


def _time(result: Judged) -> float | None:
    return result.time_seconds if isinstance(result, RunResult) else None


def _middle(sources: Sequence[Source]) -> _Entry:
    """Return the middle one in the official order; of an even number, the better of the two middle ones."""
    results = [(source.path, source.found) for source in sources if not isinstance(source.found, BotLog)]
    results.sort(key=lambda one: _official_order(one[1].score.right, _time(one[1])))
    path, result = results[(len(results) - 1) // 2]
    return _Entry(path, result, len(results))


def _set_section(title: str, entries: dict[Entrant, _Entry], sources: dict[Entrant, list[Source]]) -> Section:
    facts = _facts(entries)
    notes = [f"{facts.puzzle_count} puzzles of {facts.width}x{facts.height}"]
    runs = _runs(entries)
    uneven = differences(runs, MACHINE_AND_TERMS)
    if runs and not uneven:
        notes[0] += "; " + conditions(runs[0][1])
    if any(entry.run_count > 1 for entry in entries.values()):
        notes.append("of several runs of a bot, the middle one in the official order is shown")
    if any(evidence is Evidence.ANSWERS for _, evidence in entries):
        notes.append("without a time (a checked answer file): behind bots with as many right and a time")
    commands = [_commands_line(bot, found) for (bot, _), found in sources.items()]
    warnings = [*filter(None, commands), *uneven, *busy_lines(runs)]
    rows = [_row(who, [entry]) for who, entry in entries.items()]
    return Section(Scope.SET, title, [facts], _ranked(rows), notes, warnings)


def _commands_line(bot: str, sources: Iterable[Source]) -> str | None:
    """Return a line if what goes by one name was not one command."""
    commands = {tuple(source.found.command) for source in sources if isinstance(source.found, RunResult)}
    if len(commands) < 2:
        return None
    return f"{bot}: {len(commands)} different commands go by this name and are taken as one bot"


def _overall(titles: Sequence[str], chosen: Sequence[dict[Entrant, _Entry]]) -> Section:
    everyone = list(dict.fromkeys(who for entries in chosen for who in entries))
    shared: dict[str, dict[Entrant, _Entry]] = {}
    notes = []
    for title, entries in zip(titles, chosen, strict=True):
        absent = [bot for bot, evidence in everyone if (bot, evidence) not in entries]
        if absent:
            notes.append(f"{title} is left out: no result of {', '.join(absent)}")
        else:
            shared[title] = entries
    if not shared:
        return Section(Scope.OVERALL, "overall", [], [], ["no set that every bot has played", *notes], [])
    notes.insert(0, f"over {', '.join(shared)}")
    played = [_runs(entries) for entries in shared.values()]
    runs = [labelled for found in played for labelled in found]
    uneven = [labelled for found in played if differences(found, MACHINE_AND_TERMS) for labelled in found]
    rows = [_row(who, [entries[who] for entries in shared.values()]) for who in everyone]
    sets = [_facts(entries) for entries in shared.values()]
    # Each set may have a machine of its own: a sum of times is as fair as its parts.
    warnings = differences(uneven, MACHINE_AND_TERMS) + busy_lines(runs)
    return Section(Scope.OVERALL, "overall", sets, _ranked(rows), notes, warnings)


def _row(who: Entrant, entries: Sequence[_Entry]) -> Row:
    """Return the row of a bot over the sets of `entries`, its rank still to come."""
    bot, evidence = who
    results = [entry.result for entry in entries]
    runs = [result for result in results if isinstance(result, RunResult)]
    timed = [
        (one.took_seconds, one, result.set)
        for result in results
        for one in result.score.puzzles
        if one.took_seconds is not None
    ]
    slowest: tuple[float, PuzzleResult, SetFacts] | None = max(timed, key=lambda one: one[0], default=None)
    return Row(
        bot=bot,
        evidence=evidence,
        runs=runs,
        right=sum(result.score.right for result in results),
        puzzle_count=sum(len(result.score.puzzles) for result in results),
        verdicts={verdict: sum(result.score.verdicts[verdict] for result in results) for verdict in Verdict},
        time_seconds=sum(run.time_seconds for run in runs) if runs else None,
        cpu_seconds=sum(run.usage.cpu_seconds for run in runs) if runs else None,
        peak_memory_bytes=max(run.usage.peak_memory_bytes for run in runs) if runs else None,
        median_seconds=statistics.median(seconds for seconds, _, _ in timed) if timed else None,
        slowest_seconds=slowest[0] if slowest else None,
        slowest_puzzle=slowest[1].number if slowest else None,
        slowest_set=slowest[2].name if slowest else None,
        ends=[run.end.reason.value for run in runs],
        run_count=min(entry.run_count for entry in entries),
        files=[str(entry.path) for entry in entries],
    )


def _log_section(logs: Sequence[tuple[Path, BotLog]]) -> Section:
    notes = [
        "the bots' own word: nobody saw the answers, and a log does not name its set",
        "ranked by the number logged; in no other ranking",
    ]
    cut_off = [log.bot for _, log in logs if log.total_seconds is None]
    if cut_off:
        notes.append(f"without a total, the sum of its times stands for it: {', '.join(cut_off)}")
    return Section(Scope.LOGS, "logs, not verified", [], _ranked([_log_row(*one) for one in logs]), notes, [])


def _log_row(path: Path, log: BotLog) -> Row:
    slowest = max(log.seconds, key=lambda number: log.seconds[number], default=None)
    return Row(
        bot=log.bot,
        evidence=Evidence.LOG,
        files=[str(path)],
        logged=len(log.seconds),
        time_seconds=log.time_seconds,
        median_seconds=statistics.median(log.seconds.values()) if log.seconds else None,
        slowest_seconds=None if slowest is None else log.seconds[slowest],
        slowest_puzzle=slowest,
    )


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Return `rows` in the official order, with their ranks; who ties shares the better rank."""
    keys = {
        id(row): _official_order(row.right if row.logged is None else row.logged, row.time_seconds) for row in rows
    }
    ordered = sorted(rows, key=lambda row: (*keys[id(row)], row.bot))
    places = sorted(keys.values())
    return [replace(row, rank=places.index(keys[id(row)]) + 1) for row in ordered]
