"""The benchmarks of another revision and of the present tree, alternating, and which of them became slower."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nonobot.harness import UnusableError
from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.bench.measure import Pace, make_ready, measure
from nonobot.harness.bench.trees import two_trees
from nonobot.harness.compare.signed_ranks import paired_ratio
from nonobot.harness.compare.statistics import OUTCOME_STYLES, Outcome, Ratio, decide, needed_pairs
from nonobot.harness.process.machine import machine_facts
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import drawn, duration, new_table, percent, spaced, styled
from nonobot.system import printable

CONFIDENCE = 0.95  # confidence of all intervals together, however many benchmarks there are
PACE = Pace(processes=1, values=4, min_seconds=0.05)
READY_SHARE = 0.1  # share of the progress shown that compiling and checking takes


@dataclass(frozen=True)
class Plan:
    """The revision to compare the present tree with, the largest slowdown to accept, and the pairs of runs."""

    revision: str
    tolerance: float = 0.05
    rounds: int = 10
    core: int | None = None


@dataclass(frozen=True)
class Compared:
    """A benchmark in both trees: median times of a unit, and the ratio of the least values in pairs of runs."""

    name: str
    unit: str
    before_seconds: float
    after_seconds: float
    ratio: Ratio
    outcome: Outcome


@dataclass(frozen=True)
class Against:
    """All benchmarks in both trees, and those that the other revision cannot run, with the reason."""

    plan: Plan
    compared: list[Compared]
    skipped: dict[str, str]

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of a benchmark; without any, it cannot tell."""
        order = (Outcome.WORSE, Outcome.CANNOT_TELL, Outcome.NOT_WORSE, Outcome.FASTER)
        return min((row.outcome for row in self.compared), key=order.index, default=Outcome.CANNOT_TELL)


def measure_against(
    benchmarks: Sequence[Benchmark], plan: Plan, show: Callable[[float, str], None]
) -> tuple[Against, list[tuple[Any, Any]]]:
    """Return the comparison, and the two pyperf.Benchmark of each one compared; UnusableError if one fails."""
    import pyperf  # type: ignore[import-untyped, unused-ignore]

    needed = needed_pairs(1 - (1 - CONFIDENCE) / len(benchmarks))
    if plan.rounds < needed:
        many = f"{len(benchmarks)} benchmarks apart at {percent(CONFIDENCE)}"
        raise UnusableError(f"{plan.rounds} rounds cannot tell {many}: it takes {needed} at least")
    with two_trees(plan.revision) as trees:
        able, skipped = _able(benchmarks, *trees, show)
        runs = _rounds(able, trees, plan, show)
    compared, together = [], []
    for benchmark, in_trees in zip(able, runs, strict=True):
        # Every disturbance makes a value larger: the least value of a run was disturbed least.
        least = [[min(run.get_values()) for run in in_tree] for in_tree in in_trees]
        ratio = paired_ratio(least[0], least[1], 1 - (1 - CONFIDENCE) / len(able))
        before, after = (
            pyperf.Benchmark([worker for run in in_tree for worker in run.get_runs()]) for in_tree in in_trees
        )
        together.append((before, after))
        medians = [statistics.median(timed.get_values()) for timed in (before, after)]
        outcome = decide(ratio, plan.tolerance)
        compared.append(Compared(benchmark.name, benchmark.unit, medians[0], medians[1], ratio, outcome))
    return Against(plan, compared, skipped), together


def _able(
    benchmarks: Sequence[Benchmark], before: Path, after: Path, show: Callable[[float, str], None]
) -> tuple[list[Benchmark], dict[str, str]]:
    """Return the benchmarks that both trees can run, and for the others why the tree before cannot."""
    share_of_one = READY_SHARE / 2 / len(benchmarks)

    def ready(tree: Path, first: float) -> dict[str, str]:
        note = f"compiling and checking, {tree.name.rstrip('_')}: "
        return make_ready(tree, benchmarks, lambda done, name: show(first + done * share_of_one, note + name))

    for name, problem in ready(after, 0.0).items():
        raise UnusableError(f"the benchmark {name} cannot be run: {problem}")
    skipped = ready(before, READY_SHARE / 2)
    return [benchmark for benchmark in benchmarks if benchmark.name not in skipped], skipped


def _rounds(
    benchmarks: Sequence[Benchmark], trees: tuple[Path, Path], plan: Plan, show: Callable[[float, str], None]
) -> list[tuple[list[Any], list[Any]]]:
    """Return for each benchmark its runs in both trees, one of each in a round, in random order."""
    loops: dict[str, int] = {}
    runs: list[tuple[list[Any], list[Any]]] = [([], []) for _ in benchmarks]
    for number in range(plan.rounds):
        for place, benchmark in enumerate(benchmarks):
            share = (number * len(benchmarks) + place) / (plan.rounds * len(benchmarks))
            show(READY_SHARE + (1 - READY_SHARE) * share, f"round {number + 1} of {plan.rounds}: {benchmark.name}")
            if benchmark.name not in loops and not benchmark.is_cold:
                loops[benchmark.name] = measure(trees[1], benchmark, PACE, core=plan.core).get_loops()
            for tree in random.sample((0, 1), 2):
                run = measure(trees[tree], benchmark, PACE, loops.get(benchmark.name), plan.core)
                runs[place][tree].append(run)
    return runs


def as_text(against: Against, terminal: bool) -> str:
    """Return the table of the comparison, for a screen."""
    plan = against.plan
    headers = ("benchmark", "time of a", printable(plan.revision), "present", "ratio", "interval", "")
    table = new_table(headers, left=(0, 1, 5, 6))
    for row in against.compared:
        times = (duration(row.before_seconds), duration(row.after_seconds))
        ratio = (f"{row.ratio.estimate:.3f}", f"{row.ratio.low:.3f} to {row.ratio.high:.3f}")
        style = "" if row.outcome is Outcome.NOT_WORSE else OUTCOME_STYLES[row.outcome]
        table.add_row(row.name, row.unit, *times, *ratio, row.outcome.value, style=style)
    count = len(against.compared)
    all_of = f"all {count} intervals together" if count > 1 else "the interval"
    pairs = f"{percent(CONFIDENCE)} for {all_of}, of {plan.rounds} pairs of runs"
    note = f"ratio: present to {plan.revision}, above 1 is slower; {pairs}"
    cannot = f"the bot of {plan.revision} cannot run it"
    skipped = [styled(f"skipped: {name}: {cannot}: {why}", "yellow") for name, why in against.skipped.items()]
    names = ", ".join(row.name for row in against.compared if row.outcome is against.outcome)
    beyond = f"slower beyond the tolerance of {percent(plan.tolerance)}"
    if not against.compared:
        conclusion = "nothing could be compared"
    elif against.outcome is Outcome.WORSE:
        conclusion = f"worse: {beyond}: {names}"
    elif against.outcome is Outcome.CANNOT_TELL:
        conclusion = f"cannot tell whether {beyond}: {names}; more rounds may tell"
    else:
        conclusion = f"not worse: nothing is {beyond}"
    outcome = styled(conclusion, OUTCOME_STYLES[against.outcome])
    return drawn(spaced([table], [styled(note, "dim"), *skipped], [outcome]), terminal)


def as_json(against: Against) -> str:
    """Return the comparison as JSON text; `benchmarks` has an object for each name."""
    return json_document(
        "bench-against",
        machine=machine_facts(()),
        outcome=against.outcome,
        confidence=CONFIDENCE,
        plan=against.plan,
        benchmarks={row.name: row for row in against.compared},
        skipped=against.skipped,
    )
