"""Results made up from a few numbers, for the tests of rankings and comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness.results.conditions import Configuration, Machine, SetFacts
from nonobot.harness.results.result_files import ORDER, write_json
from nonobot.harness.results.run_result import (
    Attempt,
    BotEnd,
    EndReason,
    PuzzleResult,
    RunResult,
    Score,
    Usage,
    Verdict,
    VerifyResult,
)

MACHINE = Machine("Linux 6.1", "Fast CPU", "3.11.7", "2.4.6", "0.68.0", 8, 2, 1 << 34, None, 0.1, 0.0)


def facts(name: str = "set1", count: int = 3) -> SetFacts:
    return SetFacts(name, f"{name}-digest".ljust(64, "0"), 5, 5, count)


def puzzles(times: Sequence[float | None], verdicts: dict[int, Verdict] | None = None) -> list[PuzzleResult]:
    """Return puzzles 1, 2, ... that took `times`; right, or missing without one, unless `verdicts` says else."""
    results, clock = [], 0.0
    for number, took in enumerate(times, start=1):
        clock += took or 0.0
        verdict = (verdicts or {}).get(number, Verdict.MISSING if took is None else Verdict.RIGHT)
        arrived = None if took is None else clock
        results.append(PuzzleResult(number, verdict, arrived_seconds=arrived, took_seconds=took))
    return results


def run_result(
    bot: str = "bot",
    times: Sequence[float | None] = (1.0, 2.0, 3.0),
    verdicts: dict[int, Verdict] | None = None,
    *,
    set_name: str = "set1",
    end: EndReason = EndReason.FINISHED,
    wall: float = 10.0,
    terms: Configuration | None = None,
    cpu: float | None = None,
    **changes: Any,
) -> RunResult:
    """Return the result of a run; `changes` are fields of it."""
    times = [None if seconds is None else float(seconds) for seconds in times]  # numpy's numbers go into no file
    usage = Usage(wall, sum(seconds or 0.0 for seconds in times) if cpu is None else cpu, 50_000_000)
    result = RunResult(
        bot=bot,
        command=["./bot"],
        set=facts(set_name, len(times)),
        configuration=terms or Configuration(),
        machine=MACHINE,
        judge_version="1.0",
        started_at="2026-01-01T00:00:00Z",
        warm_up_seconds=0.5,
        attempts=[Attempt("2026-01-01T00:00:00Z", 1, BotEnd(end), usage)],
        stderr_bytes=0,
        stderr_file=None,
        score=Score.of(puzzles(times, verdicts)),
    )
    return replace(result, **changes)


def verify_result(answers_file: str, right: int) -> VerifyResult:
    """Return the check of a file whose first answers to the three puzzles are right."""
    verdicts = [Verdict.RIGHT] * right + [Verdict.WRONG] * (3 - right)
    return VerifyResult(facts(), answers_file, Score.of([*map(PuzzleResult, (1, 2, 3), verdicts)]))


def match_of(names: Sequence[str], puzzles_each: int = 3) -> list[RunResult]:
    """Return the runs of a match that differ in what they solve of three puzzles; the other puzzles are void."""
    runs = []
    for place, (bot, setter) in enumerate(itertools.permutations(names, 2)):
        void = dict.fromkeys(range(4, puzzles_each + 1), "no solution") or UNSET
        its_set = replace(facts(f"{setter}.txt"), setter=setter, void=void)
        verdicts = dict.fromkeys(range(place % 4 + 1, 4), Verdict.WRONG)
        runs.append(run_result(bot, verdicts=verdicts, set=its_set))
    return runs


def folder_of_a_changed_tournament(folder: Path) -> None:
    """Write two results, one of a removed bot, and the order of eight runs; some names steer a terminal."""
    written(folder, a=run_result("kept"), gone=run_result("gone\x1b[2J\n"))
    (folder / ORDER).write_text("a\n" + "".join(f"set--\x1b[2J{number}\n" for number in range(7)))


NOTES_OF_A_CHANGED_TOURNAMENT = (
    "not final: 7 missing of 8 runs",
    "missing: " + ", ".join(rf"set--\x1b[2J{number}" for number in range(5)) + " and 2 more",
    r"ranked, but not in the tournament file: gone\x1b[2J\n on set1; move their results away",
)


def written(folder: Path, **results: RunResult | VerifyResult) -> list[Path]:
    """Write each result to a file of its name; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        write_json(folder / f"{name}.json", result)
    return [folder / f"{name}.json" for name in results]
