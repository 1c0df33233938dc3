"""Results made up for the tests of the report: real boards, invented times; the same for the same arguments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

if not all(map(find_spec, ("matplotlib", "jinja2"))):  # slow to import for each process that collects tests
    pytest.skip("the extra `report` is not installed", allow_module_level=True)

from nonobot.harness.results.conditions import Configuration, Feed, SetFacts
from nonobot.harness.results.result_files import AnyResult, read_results
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
from tests.helpers.ranked import MACHINE, run_result, written

OTHER_MACHINE = replace(MACHINE, cpu="Slow CPU @ 2.00GHz", memory_bytes=8 * 10**9, busy_share=0.4)

SMALL = "boardgen:10x10x60:seed=1"
OTHER = "boardgen:15x10x40:seed=2"

SAMPLES = ["one_bot", "two_bots", "twelve_bots", "two_sets"]
HOSTILE = "<script>alert(1)</script>\"'&$\\frac{1}\x07{{ 7 * 7 }}"


@cache
def known_set(name: str) -> tuple[PuzzleSet, tuple[np.ndarray, ...]]:
    return load_set(name), tuple(solution.cells for _, solution in Recipe.parse(name).boards())


def mixed(index: int) -> Verdict:
    """Return every verdict now and then; missing at the end."""
    faults = {"wrong": (7, 30), "malformed": (12,), "given-up": (13, 14), "late": (21,), "out-of-order": (40,)}
    name = next((name for name, places in faults.items() if index in places), "right")
    return Verdict("missing" if index >= 50 else name)


def none_right(index: int) -> Verdict:
    return Verdict.GIVEN_UP if index % 2 else Verdict.MISSING


def run_of(
    bot: str,
    set_name: str = SMALL,
    verdict_of: Callable[[int], Verdict] = lambda _: Verdict.RIGHT,
    *,
    pace: float = 0.01,
    end: EndReason = EndReason.FINISHED,
    attempts: Sequence[Attempt] = (),
    notes: Sequence[str] = (),
    **changes: object,
) -> RunResult:
    """Return the run of an invented bot that takes about `pace` seconds for a puzzle."""
    puzzle_set, boards = known_set(set_name)
    draw = random.Random(f"{bot} {set_name}")
    hardness = random.Random(set_name)
    puzzles, clock = [], 0.0
    for index, (entry, cells) in enumerate(zip(puzzle_set.puzzles, boards, strict=True)):
        hard = hardness.lognormvariate(0, 1.1) * (1 + 2 * index / len(boards))
        took = pace * hard * draw.lognormvariate(0, 0.6)
        verdict = verdict_of(index)
        clock += took if verdict is not Verdict.MISSING else 0
        puzzles.append(_result(entry, cells, verdict, took, clock))
    usage = Usage(clock + 0.25, clock * 0.97, 61_000_000)
    return replace(
        run_result(bot, command=["./bots/run", "--name", bot]),
        set=SetFacts.of(puzzle_set),
        attempts=list(attempts) or [Attempt("2026-03-14T09:26:53.589793+00:00", 1, BotEnd(end, 0), usage)],
        score=Score.of(puzzles, len(notes), notes=notes),
        **changes,
    )


def _result(entry, cells, verdict: Verdict, took: float, arrived: float) -> PuzzleResult:
    details = {
        Verdict.GIVEN_UP: "zeros",
        Verdict.MALFORMED: "row 3 has 9 numbers, expected 10",
        Verdict.LATE: "took longer than 1 s",
        Verdict.OUT_OF_ORDER: "came after the answer to a later puzzle",
    }
    if verdict is Verdict.MISSING:
        return PuzzleResult(entry.number, verdict)
    if verdict is Verdict.WRONG:
        cells = cells.copy()
        cells[4, 4:6] ^= 1
        details[verdict] = str(mismatches(entry.puzzle, Solution(cells))[0])
    has_grid = verdict not in (Verdict.MALFORMED, Verdict.GIVEN_UP)
    packed = np.packbits(cells).tobytes().hex() if has_grid else None
    return PuzzleResult(entry.number, verdict, details.get(verdict), arrived, took, packed)


def not_started(bot: str, set_name: str = SMALL) -> RunResult:
    end = BotEnd(EndReason.NOT_STARTED, detail="no such file: ./bots/run")
    attempt = Attempt("2026-03-14T09:26:53+00:00", 1, end, Usage(0.0, 0.0, 0))
    return run_of(bot, set_name, lambda _: Verdict.MISSING, attempts=[attempt])


def checked() -> VerifyResult:
    """Return the check of an answer file: no times."""
    run = run_of("whoever", SMALL, mixed)
    untimed = [replace(puzzle, arrived_seconds=None, took_seconds=None) for puzzle in run.score.puzzles]
    return VerifyResult(run.set, "answers.txt", Score.of(untimed))


def read_back(folder: Path, *results: RunResult | VerifyResult) -> dict[Path, AnyResult]:
    """Write results into `folder` and return what is read again."""
    read, problems = read_results(written(folder, **{f"{number:02}": run for number, run in enumerate(results)}))
    assert not problems
    return read


def one_bot() -> list[RunResult]:
    return [run_of("nonobot")]


def two_bots() -> list[RunResult]:
    return [run_of("nonobot"), run_of("hare", SMALL, mixed, pace=0.006)]


def twelve_bots() -> list[RunResult]:
    names = ["nonobot", "hare", "tortoise", "毛毛蟲 nonogram", "a bot with a rather long name, version 2.0-rc1"]
    names += [f"entrant-{number}" for number in range(6, 13)]
    return [run_of(name, pace=0.002 * 1.7**number) for number, name in enumerate(names)]


def twenty_bots() -> list[RunResult]:
    names = [f"entrant-{number} of a university" for number in range(13, 21)]
    return [*twelve_bots(), *(run_of(name, SMALL, mixed, pace=0.01) for name in names)]


def two_sets() -> list[RunResult | VerifyResult]:
    """Return an untidy folder: several sets, machines and configurations, many kinds of ends."""
    usage = Usage(4.0, 3.5, 52_000_000)
    attempts = [
        Attempt("2026-03-15T10:00:00+00:00", 1, BotEnd(EndReason.PUZZLE_LIMIT, detail="puzzle 22"), usage),
        Attempt("2026-03-15T10:00:04+00:00", 23, BotEnd(EndReason.CRASHED, signal="SIGSEGV"), usage),
    ]
    strict = Configuration(Feed.INTERACTIVE, 600.0, 500.0, 1.0, 2 * 10**9, 30.0, 3)
    return [
        run_of("nonobot"),
        run_of("nonobot", OTHER, pace=0.02),
        run_of("hare", SMALL, mixed, pace=0.006, attempts=attempts, configuration=strict),
        run_of("hare", OTHER, pace=0.3, end=EndReason.TIME_LIMIT),
        run_of("tortoise", SMALL, none_right, machine=OTHER_MACHINE, warm_up_seconds=None),
        not_started("tortoise", OTHER),
        run_of(HOSTILE, pace=0.05, notes=[HOSTILE]),
        checked(),
    ]
