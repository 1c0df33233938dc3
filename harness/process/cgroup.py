"""A cgroup for each bot: Linux measures and limits it, and lists its processes; the default memory limit.

The judge makes it below its own cgroup: of version 1, as root, or of version 2, in a delegated part of the tree.
Files and their units: the kernel's `admin-guide/cgroup-v1` and `admin-guide/cgroup-v2.rst`.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import psutil
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness.process.machine import cores_kept, threads
from nonobot.harness.results.conditions import CgroupMeasures, Configuration

CONTROLLERS = ("pids", "memory", "cpuacct", "cpuset")  # version 1's names; version 2 always measures CPU time
MEMORY = ("memory.usage_in_bytes", "memory.current")  # files with the memory in use, of version 1 and 2
FILE_PAGES = ("cache", "file")  # keys in `memory.stat`, of version 1 and 2; with pages of files in memory
MEMORY_LIMITS = ("memory.limit_in_bytes", "memory.max", "memory.high")  # files with a memory limit
OOM_KILLS = ("memory.oom_control oom_kill", "memory.events oom_kill")
MEMORY_SHARE = 0.75  # default limit, as a share of the judge's memory: the judge and the system need the rest
MEMORY_STEP = 1 << 26  # the default limit is a multiple: a new kernel on the same machine does not change it
NAME = "nonojudge"

_serial = count(1)


@dataclass(frozen=True, slots=True)
class _Home:
    """The judge's cgroup, in which groups for a controller are made."""

    folder: Path
    members: str  # file to add a member: in version 1 the thread, otherwise the process
    back: Path  # where the judge returns


class Group:
    """The cgroups of one bot, one for each available controller."""

    def __init__(self, homes: dict[str, _Home], limits: Configuration) -> None:
        name = f"{_own_name()}-{next(_serial)}"
        self._process_limit = limits.process_limit
        self._refused: bool | None = None
        self._at: dict[str, Path] = {}
        self._homes: dict[Path, _Home] = {}
        for controller, home in homes.items():
            folder = home.folder / name
            with contextlib.suppress(OSError):
                if folder not in self._homes:
                    folder.mkdir()
                    self._homes[folder] = home
                _set_up(controller, folder, limits)
                self._at[controller] = folder
        self.cgroup_measures = CgroupMeasures(
            cpu=self._cpu() is not None,
            memory=self._number("memory", *MEMORY) is not None,
            processes=self._number("pids", "pids.current") is not None,
        )
        self.limits_cores = "cpuset" in self._at
        self.memory_bytes = self.peak_memory_bytes = 0  # see `look_at_memory`; with files in scratch
        self._droppable_bytes = 0  # most at any look

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Put the calling thread into the group, so that a process started in the block is in it from its start.

        With version 2 all threads of the judge enter the group. They count as members until the block ends.
        """
        with cores_kept():  # a thread that joins a group with its own cores gets those
            try:
                for folder, home in self._homes.items():
                    with contextlib.suppress(OSError):
                        _write(folder / home.members, "0")
                yield
            finally:
                for home in self._homes.values():
                    with contextlib.suppress(OSError):
                        _write(home.back / home.members, "0")
                self._limit_processes(self._process_limit)

    @property
    def cpu_seconds(self) -> float:
        """User and system time of all present and past processes."""
        return self._cpu() or 0.0

    def look_at_memory(self) -> None:
        """Measure the memory in use, and its peak so far.

        Pages of files that Linux can drop do not count: who reads a file first is charged for it. The kernel's
        peak includes them, as many as there were at any look.
        """
        in_use = self._number("memory", *MEMORY) or 0
        droppable = sum(self._number("memory", f"memory.stat {name}") or 0 for name in FILE_PAGES)
        droppable -= self._number("memory", "memory.stat shmem") or 0
        self._droppable_bytes = max(self._droppable_bytes, droppable)
        peak = self._number("memory", "memory.max_usage_in_bytes", "memory.peak") or in_use
        self.memory_bytes = max(0, in_use - droppable)
        self.peak_memory_bytes = max(self.peak_memory_bytes, self.memory_bytes, peak - self._droppable_bytes)

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the group because of its memory limit."""
        return bool(self._number("memory", *OOM_KILLS))

    @property
    def out_of_processes(self) -> bool:
        """Whether the group exceeded its process limit, or was refused a process, before it was killed.

        It can exceed the limit with processes started before the judge's threads left and the kernel got the bot's
        own limit.
        """
        if self._refused is not None:
            return self._refused
        if self._number("pids", "pids.events max"):
            return True
        limit, present = self._process_limit, self._number("pids", "pids.current") or 0
        return limit is not None and present > limit

    def pids(self) -> list[int]:
        """Return the group's processes, without the judge; they are the same for each controller."""
        for folder in self._homes:
            with contextlib.suppress(OSError):
                pids = map(int, (folder / "cgroup.procs").read_text().split())
                return [pid for pid in pids if pid not in (0, os.getpid())]  # 0: of another pid namespace
        return []

    def kill(self) -> None:
        """Kill all processes; where the kernel can limit them, none can start another one meanwhile."""
        self._refused = self.out_of_processes  # read it now: the next line makes the kernel refuse any process
        self._limit_processes(0)
        for pid in self.pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Remove the group, once all its processes are gone."""
        for folder in self._homes:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _limit_processes(self, limit: int | None) -> None:
        if limit is not None and "pids" in self._at:
            with contextlib.suppress(OSError):
                _write(self._at["pids"] / "pids.max", str(limit))

    def _cpu(self) -> float | None:
        nanoseconds = self._number("cpuacct", "cpuacct.usage")
        if nanoseconds is not None:
            return nanoseconds / 1e9
        microseconds = self._number("cpuacct", "cpu.stat usage_usec")
        return None if microseconds is None else microseconds / 1e6

    def _number(self, controller: str, *places: str) -> int | None:
        return _number_in(self._at[controller], *places) if controller in self._at else None


def _number_in(folder: Path, *places: str) -> int | None:
    """Return the number in the first readable file, or after a key in it (`file key`); None without any."""
    for place in places:
        file, _, key = place.partition(" ")
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / file).read_text().split()
            return int(fields[fields.index(key) + 1 if key else 0])
    return None


def _set_up(controller: str, folder: Path, limits: Configuration) -> None:
    if controller == "pids" and limits.process_limit is not None:
        _write(folder / "pids.max", str(limits.process_limit + len(threads()) + 1))  # until these have left
    if controller == "cpuset":
        if (folder / "cpuset.mems").exists() and not (folder / "cpuset.mems").read_text().strip():
            _write(folder / "cpuset.mems", (folder.parent / "cpuset.mems").read_text())
        cores = ",".join(map(str, limits.cores)) or (folder.parent / "cpuset.cpus").read_text()
        _write(folder / "cpuset.cpus", cores)
    if controller == "memory" and limits.most_memory_bytes is not None:
        size, old = str(limits.most_memory_bytes), (folder / "memory.limit_in_bytes").exists()
        _write(folder / ("memory.limit_in_bytes" if old else "memory.max"), size)
        with contextlib.suppress(OSError):  # a kernel without swap
            name, most = ("memory.memsw.limit_in_bytes", size) if old else ("memory.swap.max", "0")
            _write(folder / name, most)


def made_group(limits: Configuration) -> Group | None:
    """Return a new group with the cores, memory and processes (with threads) of `limits`; None without cgroups."""
    homes = _homes()
    return Group(homes, limits) if homes else None


def with_memory_limit(limits: Configuration) -> Configuration:
    """Return `limits` with the default memory limit, a share of what the judge may use, unless one was chosen."""
    if limits.memory_limit_bytes is not UNSET:
        return limits
    known = [_number_in(folder, file) for folder in _memory_folders() for file in MEMORY_LIMITS]
    share = int(MEMORY_SHARE * min([psutil.virtual_memory().total, *filter(None, known)]))
    return replace(limits, memory_limit_bytes=share // MEMORY_STEP * MEMORY_STEP or share)


def oom_kills() -> int:
    """Return how many processes of the judge's own cgroup the kernel has killed because memory ran out."""
    known = (_number_in(folder, *OOM_KILLS) for folder in _memory_folders())
    return next((count for count in known if count is not None), 0)


def _memory_folders(
    groups: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mounts")
) -> Iterator[Path]:
    """Yield the groups that limit the judge's memory: its own, and those above it."""
    for controllers, mount, folder in _groups_in(groups, mounts):
        for group in (folder, *folder.parents) if controllers & {"", "memory"} else ():
            if mount in (group, *group.parents):
                yield group


@cache
def _homes() -> dict[str, _Home]:
    """Return the judge's groups by controller, and remove empty groups of killed judges."""
    homes = _homes_in(Path("/proc/self/cgroup"), Path("/proc/self/mounts"))
    for folder in {home.folder for home in homes.values()}:
        for left in folder.glob(f"{NAME}-{_namespace()}-*-*"):
            pid = left.name.split("-")[2]
            if pid.isdigit() and not Path("/proc", pid).exists():
                with contextlib.suppress(OSError):  # it still has processes
                    left.rmdir()
    return homes


def _own_name() -> str:
    """Return the beginning of the names of this judge's groups, which no other judge uses."""
    return f"{NAME}-{_namespace()}-{os.getpid()}"


def _namespace() -> int:
    """Return the number of the judge's PID namespace: judges in several containers may share a cgroup.

    It is 0 on a kernel without namespaces.
    """
    with contextlib.suppress(OSError):
        return Path("/proc/self/ns/pid").stat().st_ino
    return 0


def _homes_in(groups: Path, mounts: Path) -> dict[str, _Home]:
    """Return the judge's groups by controller, from the kernel's lists of its groups and of mounts."""
    homes: dict[str, _Home] = {}
    for controllers, _, folder in _groups_in(groups, mounts):
        if controllers == {""}:
            homes = _delegated(folder) | homes
        elif _can_make(folder):
            homes |= dict.fromkeys(controllers & {*CONTROLLERS}, _Home(folder, "tasks", folder))
    return homes


def _groups_in(groups: Path, mounts: Path) -> Iterator[tuple[set[str], Path, Path]]:
    """Yield the judge's groups: the controllers (version 2: the empty name), the mount, and the folder there."""
    try:
        mounted = [line.split() for line in mounts.read_text(errors="surrogateescape").splitlines()]
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:  # not Linux
        return
    for _, controllers, path in lines:
        for _, mount, kind, options, *_ in mounted:
            mounted_here = {*controllers.split(",")} & {"", *options.split(",")}
            if mounted_here and kind == ("cgroup" if controllers else "cgroup2"):
                top = Path(mount.replace(r"\040", " "))
                yield mounted_here, top, top / path.lstrip("/")


def _delegated(folder: Path) -> dict[str, _Home]:
    """Return the controllers of version 2 that the judge may use below its own group."""
    back = folder
    try:
        offered = (folder / "cgroup.controllers").read_text().split()
        wanted = [controller for controller in ("pids", "memory", "cpu", "cpuset") if controller in offered]
        if "pids" not in wanted or not _can_make(folder):
            return {}
        if (folder / "cgroup.type").exists():  # a group whose subgroups have controllers must be empty
            if set((folder / "cgroup.procs").read_text().split()) != {str(os.getpid())}:
                return {}
            back = folder / NAME
            back.mkdir(exist_ok=True)
            _write(back / "cgroup.procs", "0")
        _write(folder / "cgroup.subtree_control", " ".join(f"+{controller}" for controller in wanted))
    except OSError:
        return {}
    home = _Home(folder, "cgroup.procs", back)
    return {"cpuacct": home, **{controller: home for controller in wanted if controller in CONTROLLERS}}


def _can_make(folder: Path) -> bool:
    trial = folder / f"{_own_name()}-0"
    with contextlib.suppress(OSError):
        trial.mkdir()
        trial.rmdir()
        return True
    return False


def _write(path: Path, text: str) -> None:
    with path.open("rb+", buffering=0) as file:  # neither create nor truncate it; write at once
        file.write(text.strip().encode())
