"""Where a run takes place: what has to be known to believe its times."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import psutil

from nonobot.harness.results.model import Machine

__all__ = ["BUSY_SHARE", "busy_warning", "machine_facts", "usable_cores"]

BUSY_SHARE = 0.1
"""Share of the usable CPU time in other hands from which on a machine is called busy."""

SAMPLE_SECONDS = 0.25
"""How long the use of the CPUs is watched before a run: 25 ticks of most kernels' accounting."""


def machine_facts(core: int | None) -> Machine:
    """Return the facts of this machine; takes a quarter of a second, in which its load is watched.

    Parameters
    ----------
    core : int or None
        The core that the bot will run on; None for all.
    """
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        cpu=_cpu_model(),
        python=platform.python_version(),
        numpy=_version_of("numpy"),
        numba=_version_of("numba"),
        logical_cores=os.cpu_count() or 1,
        usable_cores=len(usable_cores()),
        memory_bytes=psutil.virtual_memory().total,
        governor=_governor(core),
        load_average=_load_average(),
        busy_share=_busy_share(core),
    )


def usable_cores() -> list[int]:
    """Return the numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def busy_warning(machine: Machine) -> str | None:
    """Return a warning if the machine was busy before the run, else None."""
    if machine.busy_share is None or machine.busy_share < BUSY_SHARE:
        return None
    return (
        f"the machine was busy: other processes used {machine.busy_share:.0%} of the cores just before the start; "
        "times may be too long"
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _version_of(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _governor(core: int | None) -> str | None:
    number = usable_cores()[0] if core is None else core
    try:
        return Path(f"/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor").read_text().strip()
    except OSError:  # a virtual machine, or no Linux
        return None


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _busy_share(core: int | None) -> float | None:
    """Return the share of `core`, or of all usable cores together, that is in use; watch it for a moment."""
    shares = psutil.cpu_percent(interval=SAMPLE_SECONDS, percpu=True)
    numbers = usable_cores() if core is None else [core]
    known = [shares[number] for number in numbers if number < len(shares)]
    return sum(known) / len(known) / 100 if known else None
