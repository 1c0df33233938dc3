"""The process tree of a bot: listed, measured, signalled and killed completely.

On Linux the judge becomes the subreaper of its descendants: a process that a bot detached from itself (`setsid`,
double fork) gets the judge as its parent, and is counted and ended like the rest. Elsewhere such a process is lost
sight of, unless it stayed in the bot's process group. Where the bot has a cgroup (`cgroup.py`), the kernel counts,
and lists all processes to kill.
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
from pathlib import Path

import psutil

from nonobot.harness.play.cgroup import Group
from nonobot.harness.play.journal import AttemptStarted
from nonobot.harness.results.conditions import Counted

RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of `ru_maxrss`."""

EVERYTHING = Counted(cpu=True, memory=True, processes=True)

ROUGH_BYTES = 1 << 20
"""Largest difference between two readings of the same resident memory."""

SECONDS_TO_DIE = 10.0
"""Time for which SIGKILL is repeated: only a process that hangs in the kernel outlives it."""

SECONDS_TO_STRIKE = 0.1
"""Duration of a burst of SIGKILL, between two looks at all processes."""

_PR_SET_CHILD_SUBREAPER = 36


_open_trees: list[ProcessTree] = []
"""Trees that are not closed yet: the judge is a subreaper as long as there is one."""


class ProcessTree:
    """All descendants that the judge gets from now on, without those of other trees that are open.

    If several are open, an orphan belongs to all of them: its origin is unknown. The tree's cgroup, if there is
    one, is removed when the tree is closed; `counted` says which figures it measures: exactly, and of all
    processes that the bot ever started. The other figures are those of the last look.

    Attributes
    ----------
    cpu_seconds : float
        User and system time of the tree, including its dead.
    memory_bytes : int
        Resident memory; pages that two processes share count twice.
    peak_memory_bytes : int
        The peak of `memory_bytes`, or of one process, whichever is more.
    process_count : int
        Processes and threads.
    """

    def __init__(self, group: Group | None = None) -> None:
        self._group = group
        self.counted = group.counted if group else Counted()
        self.process_count = 0
        self.cpu_seconds = 0.0
        self.memory_bytes = 0
        self.peak_memory_bytes = 0
        self._judge = psutil.Process()
        self._peak_at_birth = 0
        self._not_in_it = {one.pid for one in self._judge.children(recursive=True)}
        self._root: int | None = None
        self._cpu_of_dead = 0.0
        self._known: dict[int, psutil.Process] = {}
        self._counting = threading.Lock()
        _set_subreaper(True)
        _open_trees.append(self)

    def joined(self) -> contextlib.AbstractContextManager[None]:
        """Return a block in which the calling thread is in the cgroup of the tree, with all that it starts."""
        return self._group.entered() if self._group else contextlib.nullcontext()

    def grow_from(self, root: int) -> None:
        """Name the process that another thread waits for: it is not reaped here."""
        self._root = root
        # The peak that a child is born with is that of its parent; up to there its own is not known from `wait`.
        # It is asked for after the birth, until which the judge may grow, and the kernel counts in rough steps.
        judge = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT_BYTES
        self._peak_at_birth = judge + ROUGH_BYTES

    def close(self) -> None:
        """Adopt no further orphans, and take the last that the kernel counted."""
        _open_trees.remove(self)
        _set_subreaper(bool(_open_trees))
        if self._group:
            self._take_counts(self._group)
            self._group.remove()

    def count_dead(self, used: resource.struct_rusage) -> None:
        """Take what a process used in its life, with its children that it waited for."""
        if self.counted.cpu and self.counted.memory:
            return
        with self._counting:
            self._cpu_of_dead += used.ru_utime + used.ru_stime
            peak = used.ru_maxrss * RSS_UNIT_BYTES
            if peak > self._peak_at_birth:
                self.peak_memory_bytes = max(self.peak_memory_bytes, peak)
            self.cpu_seconds = max(self.cpu_seconds, self._cpu_of_dead)

    def look(self) -> None:
        """Measure the tree; takes a tenth of a millisecond for each process, or in all where the kernel counts."""
        self.reap_orphans()
        if self.counted != EVERYTHING:
            self._look_at_each()
        if self._group:
            self._take_counts(self._group)

    def holds_more_than(self, limit_bytes: int) -> bool:
        """Return whether the tree held more memory than that at the last look, what is shared counted once."""
        if self._group and self.counted.memory:
            return self._group.out_of_memory
        return self.memory_bytes > limit_bytes and self._proportional_memory_bytes() > limit_bytes

    def has_more_than(self, limit: int) -> bool:
        """Return whether the tree had more processes and threads than that, or was refused another one."""
        if self._group and self.counted.processes:
            return self._group.out_of_processes
        return self.process_count > limit

    def _look_at_each(self) -> None:
        cpu, memory, peak, processes = self._cpu_of_dead, 0, 0, 0
        for pid in self._pids():
            with contextlib.suppress(psutil.Error):  # it has ended
                process = self._known.get(pid) or self._known.setdefault(pid, psutil.Process(pid))
                with process.oneshot():
                    cpu += sum(process.cpu_times()[:4])
                    memory += process.memory_info().rss
                    processes += process.num_threads()
                peak = max(peak, _peak_of(pid))
        self.memory_bytes, self.process_count = memory, processes
        self.cpu_seconds = max(self.cpu_seconds, cpu)  # what dies between two readings is missing for a moment
        self.peak_memory_bytes = max(self.peak_memory_bytes, memory, peak)

    def _take_counts(self, group: Group) -> None:
        if self.counted.cpu:
            self.cpu_seconds = group.cpu_seconds
        if self.counted.memory:
            self.memory_bytes, self.peak_memory_bytes = group.memory_bytes, group.peak_memory_bytes

    def signal(self, number: signal.Signals, but: int | None = None) -> None:
        """Send a signal to every process of the tree; to all `but` one."""
        for process in self._processes():
            if process.pid == but:
                continue
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)

    def kill(self) -> None:
        """Kill every process of the tree, and what they start meanwhile, until none is left.

        Whole groups at once: one that forks and ends faster than it is looked at is caught with its group, and one
        that takes each child to a new group by striking faster.
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
        """Wait for what has died and has no parent but the judge: its numbers are free again."""
        apart = self._not_in_it | self._other_roots()
        for pid in _children_of(self._judge.pid):
            if pid != self._root and pid not in apart:
                with contextlib.suppress(ChildProcessError):
                    reaped, _, used = os.wait4(pid, os.WNOHANG)
                    if reaped:
                        self.count_dead(used)

    def _strike(self) -> None:
        """Kill what is there again and again for a moment, with little between looking and killing.

        A look at all processes takes milliseconds, in which one that forks and ends has had many descendants. One
        that is killed while it forks has none: the kernel lets a fork fail under a signal that is pending.
        """
        until = time.monotonic() + SECONDS_TO_STRIKE
        self.reap_orphans()  # first: each of its dead would be looked at
        while (pids := self._pids()) and time.monotonic() < until:
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self.reap_orphans()

    def _other_roots(self) -> set[int]:
        return {one._root for one in _open_trees if one is not self and one._root is not None}

    def _processes(self) -> list[psutil.Process]:
        """Return the processes of the tree from a look at all of the machine's, which misses none."""
        processes = self._judge.children(recursive=True)
        apart = self._not_in_it | self._other_roots()
        for root in self._other_roots():
            with contextlib.suppress(psutil.Error):  # it has ended
                apart |= {one.pid for one in psutil.Process(root).children(recursive=True)}
        return [one for one in processes if one.pid not in apart]

    def _pids(self) -> list[int]:
        """Return the processes of the tree; cheaper, and one that is just changing its parent may be missing."""
        pids: list[int] = []
        to_ask = [self._judge.pid]
        apart = self._not_in_it | self._other_roots()
        while to_ask:
            children = [pid for pid in _children_of(to_ask.pop()) if pid not in apart]
            pids += children
            to_ask += children
        return pids

    def _proportional_memory_bytes(self) -> int:
        total = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                info = process.memory_full_info()
                total += getattr(info, "pss", info.rss)
        return total


@atexit.register
def _end_open_trees() -> None:
    """End what is left: a Ctrl-C may have come between a bot's start and the block that ends it, or in its end."""
    for tree in _open_trees[:]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another one has nothing to hurry
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
    if not lists:  # no Linux, or a kernel without these lists: from a look at all processes
        with contextlib.suppress(psutil.Error):
            return [one.pid for one in psutil.Process(pid).children()]
        return []
    children: list[int] = []
    for one in lists:
        with contextlib.suppress(OSError):  # the thread has ended
            children += map(int, one.read_bytes().split())
    return children


def _peak_of(pid: int) -> int:
    """Return the peak of a process's resident memory since it started its program; 0 where that is not known."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


SECONDS_APART = 2.0
"""Largest difference between two readings of a process's start, after the system's clock was set."""


def end_leftover(attempt: AttemptStarted | None) -> None:
    """Kill the bot of an attempt without an end, with its process group, if it is still the same process."""
    if attempt is None:
        return
    with contextlib.suppress(psutil.Error, ProcessLookupError, PermissionError):
        if abs(psutil.Process(attempt.pid).create_time() - attempt.process_created) < SECONDS_APART:
            os.killpg(attempt.pid, signal.SIGKILL)
