"""Results made up for the tests of the report: real boards, invented times; the same for the same arguments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from nonobot.harness.results.conditions import Configuration, Feed, Machine, SetFacts
from nonobot.harness.results.result_files import AnyResult, read_results, write_json
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
from nonobot.protocol import Solution, mismatches
from nonobot.tournament_data import PuzzleSet, Recipe, load_set

MACHINE = Machine(
    system="Linux 6.1.0",
    cpu="Example 9000 @ 3.00GHz",
    python="3.11.7",
    numpy="2.1.0",
    numba="0.61.0",
    logical_cores=8,
    usable_cores=8,
    memory_bytes=16 * 10**9,
    governor="performance",
    load_average=0.12,
    busy_share=0.01,
)
OTHER_MACHINE = msgspec.structs.replace(MACHINE, cpu="Example 3 @ 2.00GHz", memory_bytes=8 * 10**9, busy_share=0.4)

SMALL = "boardgen:10x10x60:seed=1"
OTHER = "boardgen:15x10x40:seed=2"

HOSTILE = "<script>alert(1)</script>\"'&$\\frac{1}\x07{{ 7 * 7 }}"

Outcome = Callable[[int], Verdict]
"""The verdict on the puzzle at an index."""


@cache
def known_set(name: str) -> tuple[PuzzleSet, tuple[np.ndarray, ...]]:
    """Return a generated set and the cells of its solutions."""
    return load_set(name), tuple(solution.cells for _, solution in Recipe.parse(name).boards())


def all_right(_: int) -> Verdict:
    return Verdict.RIGHT


def mixed(index: int) -> Verdict:
    """Return wrong, malformed, given-up, late, out-of-order and, at the end, missing now and then."""
    if index >= 50:
        return Verdict.MISSING
    faults = {
        7: Verdict.WRONG,
        12: Verdict.MALFORMED,
        13: Verdict.GIVEN_UP,
        14: Verdict.GIVEN_UP,
        21: Verdict.LATE,
    }
    return faults.get(
        index, Verdict.WRONG if index == 30 else Verdict.OUT_OF_ORDER if index == 40 else Verdict.RIGHT
    )


def none_right(index: int) -> Verdict:
    return Verdict.GIVEN_UP if index % 2 else Verdict.MISSING


def run_of(
    bot: str,
    set_name: str = SMALL,
    outcome: Outcome = all_right,
    *,
    pace: float = 0.01,
    end: BotEnd | None = None,
    machine: Machine = MACHINE,
    terms: Configuration | None = None,
    legs: Sequence[Attempt] = (),
    warm_up_seconds: float | None = 1.5,
    remarks: Sequence[str] = (),
) -> RunResult:
    """Return the run of an invented bot that takes about `pace` seconds for a puzzle."""
    puzzle_set, boards = known_set(set_name)
    draw = random.Random(f"{bot} {set_name}")
    hardness = random.Random(set_name)
    puzzles, clock = [], 0.0
    for index, (entry, cells) in enumerate(zip(puzzle_set.puzzles, boards, strict=True)):
        hard = hardness.lognormvariate(0, 1.1) * (1 + 2 * index / len(boards))
        took = pace * hard * draw.lognormvariate(0, 0.6)
        verdict = outcome(index)
        puzzles.append(_ruling(entry, cells, verdict, took, clock + took))
        if puzzles[-1].took_seconds is not None:
            clock += took
    usage = Usage(clock + 0.25, clock * 0.97, 61_000_000)
    end = end or BotEnd(EndReason.FINISHED, 0)
    return RunResult(
        bot=bot,
        command=["./bots/run", "--name", bot],
        set=SetFacts.of(puzzle_set),
        configuration=terms or Configuration(),
        machine=machine,
        judge_version="0.2.0",
        started_at="2026-03-14T09:26:53.589793+00:00",
        warm_up_seconds=warm_up_seconds,
        attempts=list(legs) or [Attempt("2026-03-14T09:26:53.589793+00:00", 1, end, usage)],
        stderr_bytes=0,
        stderr_file=None,
        score=Score.of(puzzles, duplicate_count=len(remarks), remarks=remarks),
    )


def _ruling(entry, cells, verdict: Verdict, took: float, arrived: float) -> PuzzleResult:
    number = entry.number
    if verdict is Verdict.MISSING:
        return PuzzleResult(number, verdict)
    if verdict in (Verdict.MALFORMED, Verdict.GIVEN_UP):
        detail = "zeros" if verdict is Verdict.GIVEN_UP else "row 3 has 9 numbers, expected 10"
        return PuzzleResult(number, verdict, detail, arrived, took)
    detail = {
        Verdict.LATE: "took longer than 1 s",
        Verdict.OUT_OF_ORDER: "came after the answer to a later puzzle",
    }
    if verdict is Verdict.WRONG:
        cells = cells.copy()
        cells[4, 4:6] ^= 1
        detail[Verdict.WRONG] = str(mismatches(entry.puzzle, Solution(cells))[0])
    return PuzzleResult(number, verdict, detail.get(verdict), arrived, took, np.packbits(cells).tobytes().hex())


def not_started(bot: str, set_name: str = SMALL) -> RunResult:
    """Return the run of a bot whose command cannot be run."""
    end = BotEnd(EndReason.NOT_STARTED, detail="no such file: ./bots/run")
    leg = Attempt("2026-03-14T09:26:53+00:00", 1, end, Usage(0.0, 0.0, 0))
    return run_of(bot, set_name, lambda _: Verdict.MISSING, legs=[leg])


def checked(set_name: str = SMALL) -> VerifyResult:
    """Return the check of an answer file: no times."""
    score = run_of("whoever", set_name, mixed).score
    untimed = [msgspec.structs.replace(one, arrived_seconds=None, took_seconds=None) for one in score.puzzles]
    return VerifyResult(SetFacts.of(known_set(set_name)[0]), "answers.txt", Score.of(untimed))


def read_back(folder: Path, *results: RunResult | VerifyResult) -> dict[Path, AnyResult]:
    """Write results into `folder` and return what is read again."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number:02}.json" for number in range(len(results))]
    for path, result in zip(paths, results, strict=True):
        write_json(path, result)
    read, problems = read_results(paths)
    assert not problems
    return read


def one_bot() -> list[RunResult]:
    return [run_of("nonobot")]


def two_bots() -> list[RunResult]:
    return [run_of("nonobot"), run_of("hare", pace=0.006, outcome=mixed)]


def twelve_bots() -> list[RunResult]:
    names = ["nonobot", "hare", "tortoise", "毛毛蟲 nonogram", "a bot with a rather long name, version 2.0-rc1"]
    names += [f"entrant-{number}" for number in range(6, 13)]
    return [run_of(name, pace=0.002 * 1.7**number) for number, name in enumerate(names)]


def two_sets() -> list[RunResult | VerifyResult]:
    """Return what an untidy folder holds: several sets, machines and terms, many kinds of ends."""
    usage = Usage(4.0, 3.5, 52_000_000)
    legs = [
        Attempt("2026-03-15T10:00:00+00:00", 1, BotEnd(EndReason.PUZZLE_LIMIT, detail="puzzle 22"), usage),
        Attempt("2026-03-15T10:00:04+00:00", 23, BotEnd(EndReason.CRASHED, signal="SIGSEGV"), usage),
    ]
    strict = Configuration(Feed.INTERACTIVE, 600.0, 500.0, 1.0, 2 * 10**9, 30.0, 3)
    return [
        run_of("nonobot"),
        run_of("nonobot", OTHER, pace=0.02),
        run_of("hare", pace=0.006, outcome=mixed, legs=legs, terms=strict),
        run_of("hare", OTHER, pace=0.3, end=BotEnd(EndReason.TIME_LIMIT)),
        run_of("tortoise", outcome=none_right, machine=OTHER_MACHINE, warm_up_seconds=None),
        not_started("tortoise", OTHER),
        run_of(HOSTILE, pace=0.05, remarks=[HOSTILE]),
        checked(),
    ]
