"""The machine of a run: facts that its times depend on, how busy it is, and the cores of bot and judge."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from nonobot.harness import UnusableError
from nonobot.harness.results.conditions import Machine
from nonobot.system import usable_cores

SAMPLE_SECONDS = 0.25  # time for which CPU use is watched before a run: 25 ticks of most kernels' accounting


def machine_facts(cores: Sequence[int]) -> Machine:
    """Return the facts of this machine; watches the load of the bot's cores (none: all) for 0.25 s."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        cpu=_cpu_model(),
        python=platform.python_version(),
        numpy=version_of("numpy"),
        numba=version_of("numba"),
        logical_cores=os.cpu_count() or 1,
        usable_cores=len(usable_cores()),
        memory_bytes=psutil.virtual_memory().total,
        governor=_governor(cores),
        load_average=_load_average(),
        busy_share=_busy_share(cores),
    )


def _cpu_model() -> str:
    with contextlib.suppress(OSError):  # not Linux
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version_of(distribution: str) -> str | None:
    """Return the version of an installed library; None if it is not installed."""
    from importlib import metadata  # loads all of `email`, which tables do not need

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _governor(cores: Sequence[int]) -> str | None:
    number = (cores or usable_cores())[0]
    try:
        return Path(f"/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor").read_text().strip()
    except OSError:  # a virtual machine, or not Linux
        return None


def _load_average() -> float | None:
    with contextlib.suppress(OSError):  # a system that does not report it, or not to this user
        return os.getloadavg()[0]
    return None


def _busy_share(cores: Sequence[int]) -> float | None:
    """Watch the CPUs for a moment; return the share of `cores`, or of all usable ones, that is in use."""
    try:
        shares = psutil.cpu_percent(interval=SAMPLE_SECONDS, percpu=True)
    except (psutil.Error, OSError):  # such as /proc/stat, which some systems close
        return None
    known = [shares[number] for number in cores or usable_cores() if number < len(shares)]
    return sum(known) / len(known) / 100 if known else None


def can_pin() -> bool:
    """Return whether this system can pin a process to a core; macOS cannot."""
    return sys.platform == "linux"


def place_of_workers() -> Path:
    """Return the folder in which the workers of this user keep a folder for each core."""
    return Path(tempfile.gettempdir()) / f"nonojudge-{os.getuid()}"


def tournament_core(count: int = 1) -> int | tuple[int, ...] | None:
    """Return the last usable core, or the last `count`; None where pinning is impossible; or UnusableError."""
    usable = usable_cores()
    if count > len(usable):
        raise UnusableError(f"--cores {count}: only {len(usable)} cores are available")
    if not can_pin():
        if count > 1:
            raise UnusableError(f"{count} cores: this system cannot pin a process to cores; use --core any")
        return None
    return usable[-1] if count == 1 else tuple(usable[-count:])


def require_cores(cores: Sequence[int]) -> None:
    """Raise UnusableError if a bot cannot be pinned to `cores`; an empty choice (any core) always works."""
    usable = usable_cores()
    for core in cores:
        if not can_pin():
            raise UnusableError(f"core {core}: this system cannot pin a process to a core; use --core any")
        if core not in usable:
            raise UnusableError(f"core {core} cannot be used here; usable: {', '.join(map(str, usable))}")


@contextlib.contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Pin the calling thread to `cores` (none: any), and with it a process started in the block."""
    with cores_kept():
        if cores and sys.platform == "linux":
            os.sched_setaffinity(0, cores)
        yield


@contextlib.contextmanager
def off_cores(cores: Sequence[int]) -> Iterator[None]:
    """Keep every thread of the judge off `cores`, if there are others; other processes are not affected."""
    with cores_kept() as before:
        for thread, usable in before.items() if cores else ():
            _move(thread, usable - set(cores) or usable)
        yield


@contextlib.contextmanager
def cores_kept() -> Iterator[dict[int, set[int]]]:
    """Restore the cores of every thread of the judge after the block; yields those of each, by its number."""
    before = {}
    if sys.platform == "linux":
        for thread in threads():
            with contextlib.suppress(OSError):  # it has ended
                before[thread] = os.sched_getaffinity(thread)
    try:
        yield before
    finally:
        for thread, usable in before.items():
            _move(thread, usable)


def threads() -> list[int]:
    """Return the numbers of the judge's threads; Linux only."""
    return [int(name.name) for name in Path("/proc/self/task").iterdir()]


def _move(thread: int, cores: set[int]) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(thread, cores)
