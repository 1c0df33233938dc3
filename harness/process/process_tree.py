"""The process tree of a bot: listed, measured where there is no cgroup, signalled and killed completely.

On Linux the judge becomes the subreaper of its descendants: a process that a bot detached (`setsid`, double fork)
gets the judge as its parent, and is counted and ended like the rest. On other systems the judge loses such a
process, unless it stayed in the bot's process group. If the bot has a cgroup (`cgroup.py`), Linux counts, and
lists all processes to kill.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import psutil

from nonobot.harness.process.cgroup import Group, oom_kills
from nonobot.harness.results.conditions import CgroupMeasures

RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024  # unit of `ru_maxrss`
EVERYTHING = CgroupMeasures(cpu=True, memory=True, processes=True)

ROUGH_BYTES = 1 << 20  # largest difference between two readings of unchanged resident memory
SECONDS_TO_DIE = 10.0  # time for which SIGKILL is repeated: only a process that hangs inside Linux survives it
SECONDS_TO_STRIKE = 0.1  # duration of a burst of SIGKILL, between two looks at all processes
SCRATCHES = ("/tmp", "/dev/shm")  # file systems in memory that belong to a sandbox
MOST_OPEN_FILES = 1024  # open files of a tree in which the judge searches for those in memory, in about 20 ms
_PR_SET_CHILD_SUBREAPER = 36


_open_trees: list[ProcessTree] = []  # not closed yet: the judge is a subreaper as long as there is one


class ProcessTree:
    """All descendants that the judge gets from now on, without those of other open trees.

    If several trees are open, an orphan belongs to all of them: its origin is unknown. The tree's cgroup, if any,
    is removed when the tree is closed. `cgroup_measures` states which figures it measures: exactly, and for all
    processes that the bot ever started. The other figures are those of the last look.

    Each look puts the processes back on their `cores`, unless the cgroup keeps them there. It also makes the
    kernel end them first when memory runs out. A tree `in_sandbox` has the file systems of a sandbox.
    """

    def __init__(self, group: Group | None = None, cores: Sequence[int] = (), in_sandbox: bool = False) -> None:
        self._group = group
        self._cores = set() if (group and group.limits_cores) or sys.platform != "linux" else set(cores)
        self._in_sandbox = in_sandbox
        self.cgroup_measures = group.cgroup_measures if group else CgroupMeasures()
        self.process_count = 0  # with threads
        self.cpu_seconds = 0.0  # user and system time of the tree, including its dead
        # Anonymous and shared memory, memfds and the files in a sandbox's scratch; pages mapped twice count twice.
        # Pages of other files do not count: Linux can drop them.
        self.memory_bytes = 0
        self.peak_memory_bytes = 0  # of `memory_bytes` at any look
        self._peak_before = 0  # before the last look
        self._is_estimate = True  # no look has seen the bot
        self.cores_taken: set[int] = set()  # besides its own
        self.unmeasured: set[str] = set()  # memory that could not be measured, in words
        if not (self.cgroup_measures.memory or in_sandbox):
            self.unmeasured.add("files in memory")
        self._oom_kills = 0 if self.cgroup_measures.memory else oom_kills()
        self._judge = psutil.Process()
        self._peak_at_birth = 0
        self._not_in_it = {process.pid for process in self._judge.children(recursive=True)}
        self._root: int | None = None
        self._cpu_of_dead = 0.0
        self._known: dict[int, psutil.Process] = {}
        self._file_bytes = 0
        self._first_to_end: set[int] = set()
        self._counting = threading.RLock()
        _set_subreaper(True)
        _open_trees.append(self)

    def joined(self) -> contextlib.AbstractContextManager[None]:
        """Return a block in which the calling thread, and everything it starts, is in the cgroup of the tree."""
        return self._group.entered() if self._group else contextlib.nullcontext()

    def grow_from(self, root: int) -> None:
        """Set the process that another thread waits for: this class does not reap it."""
        self._root = root
        _end_first(root)
        # A child starts with the peak of its parent; `wait` does not show a lower peak of its own. The judge may
        # have grown before the child started, and the kernel counts in rough steps.
        judge = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT_BYTES
        self._peak_at_birth = judge + ROUGH_BYTES

    def close(self) -> None:
        """Adopt no further orphans, and read the final figures of the cgroup."""
        _open_trees.remove(self)
        _set_subreaper(bool(_open_trees))
        if self._group:
            self._take_counts(self._group)
            self._group.remove()

    def wait_for(self, pid: int) -> int:
        """Wait for a child to end, count its usage, and return its wait status.

        A look of another thread sees the child's own figures, or those that were counted, and never neither.
        """
        may_wait = hasattr(os, "waitid")  # not on macOS before Python 3.13
        if may_wait:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self._counting if may_wait else contextlib.nullcontext():
            _, status, used = os.wait4(pid, 0)
            self.count_dead(used)
        return status

    def count_dead(self, used: resource.struct_rusage) -> None:
        """Add the usage of an ended process and of the children that it waited for."""
        if self.cgroup_measures.cpu and self.cgroup_measures.memory:
            return
        with self._counting:
            self._cpu_of_dead += used.ru_utime + used.ru_stime
            peak = used.ru_maxrss * RSS_UNIT_BYTES
            if peak > self._peak_at_birth and self._is_estimate:  # with pages of files: no look has seen the bot
                self.peak_memory_bytes = max(self.peak_memory_bytes, peak)
            self.cpu_seconds = max(self.cpu_seconds, self._cpu_of_dead)

    def look(self) -> None:
        """Measure the tree: 0.1 ms for each process, or in all if the cgroup measures everything."""
        self.reap_orphans()
        pids = self._group.pids() if self._group and self.cgroup_measures == EVERYTHING else self._pids()
        self._confine(pids)
        if self.cgroup_measures != EVERYTHING:
            self._look_at_each(pids)
        if self._group:
            self._take_counts(self._group)

    def exceeds_memory(self, limit_bytes: int) -> bool:
        """Return whether the tree held more memory at the last look; shared memory counts once."""
        if self._group and self.cgroup_measures.memory:
            return self._group.out_of_memory
        if self.memory_bytes > limit_bytes:
            self.memory_bytes = self._proportional_memory_bytes()
            self.peak_memory_bytes = max(self._peak_before, self.memory_bytes)
        return self.memory_bytes > limit_bytes

    def ran_out_of_memory(self) -> bool:
        """Return whether the kernel ended a process of the bot, or another one, because memory ran out."""
        if self._group and self.cgroup_measures.memory:
            return self._group.out_of_memory
        return oom_kills() > self._oom_kills

    def exceeds_processes(self, limit: int) -> bool:
        """Return whether the tree had more processes and threads, or was refused another one."""
        if self._group and self.cgroup_measures.processes:
            return self._group.out_of_processes
        return self.process_count > limit

    def _confine(self, pids: Sequence[int]) -> None:
        """Make the kernel end these processes first if memory runs out; keep their threads on the tree's cores."""
        marked = self._first_to_end if self.cgroup_measures.memory else set()  # a process can undo it
        for pid in set(pids) - marked:
            _end_first(pid)
        self._first_to_end = set(pids)
        for pid in pids if self._cores else ():
            for thread in _names_in(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):  # it has ended
                    taken = os.sched_getaffinity(int(thread)) - self._cores
                    if taken:
                        self.cores_taken |= taken
                        os.sched_setaffinity(int(thread), self._cores)

    def _look_at_each(self, pids: Sequence[int]) -> None:
        self._file_bytes = 0 if self.cgroup_measures.memory else sum(self._files_in_memory(pids).values())
        memory = processes = 0
        with self._counting:
            cpu = self._cpu_of_dead
            for pid in pids:
                with contextlib.suppress(psutil.Error):  # it has ended
                    process = self._known.get(pid) or self._known.setdefault(pid, psutil.Process(pid))
                    with process.oneshot():
                        cpu += sum(process.cpu_times()[:4])
                        memory += _memory_of(process)
                        processes += process.num_threads()
        memory += self._file_bytes
        self.memory_bytes, self.process_count = memory, processes
        self.cpu_seconds = max(self.cpu_seconds, cpu)  # processes may end between two readings
        if memory:  # otherwise the bot has ended
            self._peak_before = 0 if self._is_estimate else self.peak_memory_bytes
            self.peak_memory_bytes = max(self._peak_before, memory)
            self._is_estimate = False

    def _files_in_memory(self, pids: Sequence[int]) -> dict[tuple[int, int], int]:
        """Return the sizes of memfds and of the sandbox's file systems, by device and number.

        The text of a link identifies a memfd. The judge asks no other file for its size: its file system may be
        the bot's own and never answer.
        """
        sizes: dict[tuple[int, int], int] = {}
        left, outside = MOST_OPEN_FILES, self._in_sandbox  # until the first process inside
        for pid in pids:
            try:
                if outside:
                    outside = not (scratches := _scratch_sizes(pid))
                    sizes |= scratches
                for name in islice(_names_in(f"/proc/{pid}/fd"), left):
                    left -= 1
                    with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                        link = f"/proc/{pid}/fd/{name}"
                        if os.readlink(link).startswith("/memfd:"):  # noqa: PTH115, slower
                            file = Path(link).stat()
                            sizes[file.st_dev, file.st_ino] = file.st_blocks * 512
            except PermissionError:
                with contextlib.suppress(psutil.Error):
                    is_ending = not psutil.Process(pid).memory_info().rss
                    if not is_ending and not (self._in_sandbox and pid == self._root):  # that is bubblewrap
                        self.unmeasured.add("files of processes that the judge may not look into")
            except ProcessLookupError:  # it has ended
                continue
        if not left:
            self.unmeasured.add(f"files after the first {MOST_OPEN_FILES:,} open ones")
        return sizes

    def _take_counts(self, group: Group) -> None:
        if self.cgroup_measures.cpu:
            self.cpu_seconds = group.cpu_seconds
        if self.cgroup_measures.memory:
            group.look_at_memory()
            self.memory_bytes, self.peak_memory_bytes = group.memory_bytes, group.peak_memory_bytes

    def running(self) -> int:
        """Return how many processes of the tree have not ended."""
        states = [_state_of(pid) for pid in self._pids() if pid != self._root]
        return sum(state not in ("", "Z", "X") for state in states)

    def signal(self, number: signal.Signals, but: int | None = None) -> None:
        """Send a signal to every process of the tree, except `but`."""
        for process in self._processes():
            if process.pid != but:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(number)

    def kill(self) -> None:
        """Kill every process of the tree, and what they start meanwhile, until none is left.

        It kills whole groups at once. A process that forks and exits faster than the judge looks is caught with
        its group. One that moves each child to a new group is caught by bursts of signals.
        """
        until = time.monotonic() + SECONDS_TO_DIE
        if self._group:
            self._group.kill()
        self._strike()
        while (left := self._processes()) and time.monotonic() < until:
            for process in left:
                with contextlib.suppress(psutil.Error, OSError):
                    group = os.getpgid(process.pid)
                    process.kill()
                    if group != os.getpgrp():
                        os.killpg(group, signal.SIGKILL)
            self._strike()
            time.sleep(0.002)

    def reap_orphans(self) -> None:
        """Wait for dead processes whose parent is the judge, which frees their numbers."""
        apart = self._not_in_it | self._other_roots()
        for pid in _children_of(self._judge.pid):
            if pid != self._root and pid not in apart:
                with contextlib.suppress(ChildProcessError):
                    reaped, _, used = os.wait4(pid, os.WNOHANG)
                    if reaped:
                        self.count_dead(used)

    def _strike(self) -> None:
        """Kill all listed processes repeatedly for a moment, with little time between listing and killing.

        A look at all processes takes milliseconds, in which a forking process can have many descendants. A process
        that is killed while it forks has none: the kernel lets a fork fail if a signal is pending.
        """
        until = time.monotonic() + SECONDS_TO_STRIKE
        self.reap_orphans()  # first: otherwise each dead process would be examined
        while (pids := self._pids()) and time.monotonic() < until:
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self.reap_orphans()

    def _other_roots(self) -> set[int]:
        return {tree._root for tree in _open_trees if tree is not self and tree._root is not None}

    def _processes(self) -> list[psutil.Process]:
        """Return the processes of the tree from a look at all of the machine's, which misses none."""
        processes = self._judge.children(recursive=True)
        apart = self._not_in_it | self._other_roots()
        for root in self._other_roots():
            with contextlib.suppress(psutil.Error):  # it has ended
                apart |= {child.pid for child in psutil.Process(root).children(recursive=True)}
        return [process for process in processes if process.pid not in apart]

    def _pids(self) -> list[int]:
        """Return the processes of the tree; cheaper, but may miss one that is just changing its parent."""
        pids: list[int] = []
        to_ask = [self._judge.pid]
        apart = self._not_in_it | self._other_roots()
        while to_ask:
            children = [pid for pid in _children_of(to_ask.pop()) if pid not in apart]
            pids += children
            to_ask += children
        return pids

    def _proportional_memory_bytes(self) -> int:
        """Return the memory with shared memory counted once; a file in memory may be mapped or not."""
        total = shared = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                sizes = _sizes_in(f"/proc/{process.pid}/smaps_rollup", b"Pss_Anon", b"Pss_Shmem")
                total += sum(sizes.values()) or _memory_of(process)
                shared += sizes.get(b"Pss_Shmem", 0)
        return total + max(0, self._file_bytes - shared)


@atexit.register
def _end_open_trees() -> None:
    """Kill remaining processes: a Ctrl-C may have come before or at the end of the block that ends a bot."""
    for tree in _open_trees[:]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one changes nothing
        tree.kill()
        tree.close()


def _set_subreaper(on: bool) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def _children_of(pid: int) -> list[int]:
    """Return the children of a process; the kernel lists them by the thread that they belong to."""
    try:
        lists = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        lists = []
    if not lists:  # not Linux, or without these lists: examine all processes
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    children: list[int] = []
    for of_thread in lists:
        with contextlib.suppress(OSError):  # the thread has ended
            children += map(int, of_thread.read_bytes().split())
    return children


def _state_of(pid: int) -> str:
    """Return the letter of a process's state; empty if it is gone, or not Linux."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    return ""


def _end_first(pid: int) -> None:
    """Make a process the first to be ended by the kernel when memory runs out, so that the judge is not."""
    place = Path(f"/proc/{pid}/oom_score_adj")
    with contextlib.suppress(OSError), place.open("rb+", buffering=0) as score:  # it has ended, or not Linux
        score.write(b"1000")


def _names_in(folder: str) -> Iterator[str]:
    """Yield the names in a folder of /proc as they are read; none if it is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def _scratch_sizes(pid: int) -> dict[tuple[int, int], int]:
    """Return the bytes in use in the scratch file systems of a process; none if it has those of the judge.

    While bubblewrap mounts them, a folder of the judge's disk is in their place.
    """
    judges = {Path(place).stat().st_dev for place in ("/", "/dev", *SCRATCHES)}
    sizes = {}
    for place in SCRATCHES:
        with contextlib.suppress(FileNotFoundError):
            folder = os.open(f"/proc/{pid}/root{place}", os.O_PATH)
            try:
                if (device := os.fstat(folder).st_dev) not in judges:
                    used = os.statvfs(folder)
                    sizes[device, 0] = (used.f_blocks - used.f_bfree) * used.f_frsize
            finally:
                os.close(folder)
    return sizes


def _memory_of(process: psutil.Process) -> int:
    """Return a process's memory without the pages of files that Linux can drop; elsewhere, with them."""
    sizes = _sizes_in(f"/proc/{process.pid}/status", b"RssAnon", b"RssShmem")
    return sum(sizes.values()) if sizes else int(process.memory_info().rss)


def _sizes_in(file: str, *names: bytes) -> dict[bytes, int]:
    """Return the sizes in bytes that a file of /proc lists by name in kB; none if it cannot be read."""
    with contextlib.suppress(OSError):
        lines = [line.partition(b":") for line in Path(file).read_bytes().splitlines()]
        return {name: int(size.split()[0]) * 1024 for name, _, size in lines if name in names}
    return {}
