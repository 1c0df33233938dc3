"""How far figures of runs can be trusted, and what would improve them: for a run, a table and a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nonobot.harness.results.conditions import CgroupMeasures, Contain
from nonobot.harness.results.run_result import Attempt, RunResult

FIGURES: dict[str, Callable[[CgroupMeasures], bool]] = {
    "wall time": lambda _: True,
    "CPU time": lambda measured: measured.cpu,
    "memory": lambda measured: measured.memory,
}
"""The figures of an attempt, and whether they are exact."""


def worth(runs: Sequence[RunResult]) -> list[str]:
    """Return at most two text lines on runs together: how far their figures can be trusted, and what would help.

    What the user declined (`--contain no`) is not recommended. Nothing is returned if no bot started.
    """
    started = [run for run in runs if run.started]
    attempts = [attempt for run in started for attempt in run.started_attempts]
    if not attempts:
        return []
    unfiltered = False in {attempt.filtered for attempt in attempts}
    approximate = _approximate(attempts)
    exact = [name for name in FIGURES if name not in approximate]
    rest = [_are(approximate, "approximate") + _without(attempts)] if approximate else []
    remedies = _remedies(started, unfiltered, bool(approximate))
    return ["; ".join([_sandbox(started, unfiltered), _are(exact, "exact"), *rest]), *filter(None, [remedies])]


def _approximate(attempts: Sequence[Attempt]) -> list[str]:
    """Return the figures that the cgroup did not measure in every attempt."""
    measures = [attempt.cgroup_measures or CgroupMeasures() for attempt in attempts]
    return [name for name, is_exact in FIGURES.items() if not all(map(is_exact, measures))]


def _without(attempts: Sequence[Attempt]) -> str:
    """Return which memory nobody measured."""
    missing = sorted({memory for attempt in attempts for memory in attempt.unmeasured or ()})
    return f", without {' and '.join(missing)}" if missing else ""


def _sandbox(runs: Sequence[RunResult], unfiltered: bool) -> str:
    kinds = {run.sandboxed for run in runs}
    kind = kinds.pop() if len(kinds) == 1 else "in some runs"
    return f"sandbox: {kind}{', system calls not filtered' if unfiltered else ''}"


def _are(names: Sequence[str], quality: str) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last} are {quality}" if most else f"{last} is {quality}"


def _remedies(runs: Sequence[RunResult], unfiltered: bool, approximate: bool) -> str:
    """Return what would make bots safer and figures exact."""
    requested = {run.configuration.contain for run in runs if run.sandboxed != "yes"}
    wanted = not requested <= {Contain.NO}
    if not all(run.machine.system.startswith("Linux") for run in runs):
        return "sandboxes and exact figures need Linux" if wanted or approximate else ""
    remedies = {
        "for a sandbox, install and allow bubblewrap": wanted,
        "for a filter of system calls, install libseccomp": unfiltered,
        "for exact figures, allow cgroups (docs/measuring.md)": approximate,
    }
    return "; ".join(remedy for remedy, helps in remedies.items() if helps)
