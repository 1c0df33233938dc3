"""How far figures of runs can be trusted, and what would improve them: for a run, a table and a report."""

from __future__ import annotations

from collections.abc import Sequence

from nonobot.harness.results.conditions import CgroupMeasures, Contain
from nonobot.harness.results.run_result import RunResult


def worth(runs: Sequence[RunResult]) -> list[str]:
    """Return at most two text lines on runs together: how far their figures can be trusted, and what would help.

    What the user declined (`--contain no`) is not recommended. Nothing is returned if no bot started.
    """
    started = [run for run in runs if run.started]
    attempts = [attempt for run in started for attempt in run.started_attempts]
    if not attempts:
        return []
    measures = [attempt.cgroup_measures or CgroupMeasures() for attempt in attempts]
    exact = {
        "wall time": True,
        "CPU time": all(measured.cpu for measured in measures),
        "memory": all(measured.memory for measured in measures),
    }
    unfiltered = any(attempt.filtered is False for attempt in attempts)
    missing = sorted({memory for attempt in attempts for memory in attempt.unmeasured or ()})
    sandboxes = {run.sandboxed for run in started}
    sandbox = sandboxes.pop() if len(sandboxes) == 1 else "in some runs"
    parts = [
        f"sandbox: {sandbox}{', system calls not filtered' if unfiltered else ''}",
        _are([name for name, is_exact in exact.items() if is_exact], "exact"),
    ]
    if rest := [name for name, is_exact in exact.items() if not is_exact]:
        parts.append(_are(rest, "approximate") + (f", without {' and '.join(missing)}" if missing else ""))
    remedies = _remedies(started, unfiltered, bool(rest))
    return ["; ".join(parts), *(["; ".join(remedies)] if remedies else [])]


def _are(names: Sequence[str], quality: str) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last} are {quality}" if most else f"{last} is {quality}"


def _remedies(runs: Sequence[RunResult], unfiltered: bool, approximate: bool) -> list[str]:
    """Return what would make bots safer and figures exact."""
    wanted = any(run.sandboxed != "yes" and run.configuration.contain is not Contain.NO for run in runs)
    if not all(run.machine.system.startswith("Linux") for run in runs):
        return ["sandboxes and exact figures need Linux"] if wanted or approximate else []
    remedies = {
        "for a sandbox, install and allow bubblewrap": wanted,
        "for a filter of system calls, install libseccomp": unfiltered,
        "for exact figures, allow cgroups (docs/measuring.md)": approximate,
    }
    return [remedy for remedy, helps in remedies.items() if helps]
