"""The judge on a worker: a separate process plays one run on a core that no other run of this machine uses.

The task of dask, :func:`play_here`, only passes on the judge's messages. If the worker dies, the connection
breaks, and the judge ends its bot.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import end_leftover, journal_path, read_records
from nonobot.harness.play.judge_process import start
from nonobot.harness.play.run_events import RunSoFar
from nonobot.harness.play.run_state import stderr_path
from nonobot.harness.process.machine import can_pin, place_of_workers
from nonobot.harness.results.file_limits import MOST_BYTES
from nonobot.harness.results.result_files import content_of
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.tournament.scheduled_runs import ScheduledRun
from nonobot.system import usable_cores, with_file

if TYPE_CHECKING:
    from distributed import Worker

SIGNS = "nonojudge-signs"
"""The topic of the events on the progress of runs; each has `run`, the task's key, `answered` and `right`.

The first, with zeros, is sent before the bot starts."""

SECONDS_BETWEEN_SIGNS = 1.0
SECONDS_BETWEEN_LOOKS = 0.25  # for whether a run is still wanted, or a core is free
SECONDS_TO_END = 30.0  # time for a judge to end its bot before it is killed; 2 s are enough unless something hangs


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The content of a completed run's files: its result, and the bot's stderr."""

    result: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a run could not be played here."""

    why: str  # in one line
    of_the_run: bool  # whether the run may have caused it, and not this machine


def play_here(scheduled: ScheduledRun) -> RunFiles | Trouble | None:
    """Play a run whose configuration names no core, as a task of dask; None if the run is no longer wanted."""
    from distributed import get_worker

    worker = get_worker()
    run = str(worker.get_current_task())
    child, ours = start(judge)
    with ours:
        try:
            ours.send(scheduled)
            outcome = _received(ours, worker, run)
        except (EOFError, OSError):
            outcome = Trouble("its judge was killed", of_the_run=True)
    try:
        child.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return outcome


def _received(judge: Connection, worker: Worker, run: str) -> RunFiles | Trouble | None:
    """Return the last message of a judge; pass on the earlier ones about its progress."""
    from distributed import sync

    while True:
        task = worker.state.tasks.get(run)
        if task is None or task.state != "executing" or worker.status.name not in ("running", "paused"):
            return None  # the command that scheduled the run, or the scheduler, is gone
        if judge.poll(SECONDS_BETWEEN_LOOKS):
            message = judge.recv()
            if not isinstance(message, tuple):
                return message
            answered, right = message
            sign = {"run": run, "answered": answered, "right": right}
            if answered:
                worker.log_event(SIGNS, sign)
                continue
            with contextlib.suppress(OSError, RuntimeError):  # the scheduler is gone
                tell = partial(worker.scheduler.log_event, topic=SIGNS, msg=sign)
                sync(worker.loop, tell, callback_timeout=SECONDS_TO_END)
            judge.send(None)  # it begins once the scheduler knows: its bot may kill this worker


def judge(home: Connection) -> None:
    """Play the run received over a connection, and send back its progress and its files."""
    scheduled: ScheduledRun = home.recv()
    puzzle_set = scheduled.puzzle_set
    if hashlib.sha256(puzzle_set.text).hexdigest() != puzzle_set.sha256:
        home.send(Trouble(f"the set {puzzle_set.name} did not arrive as it was sent", of_the_run=False))
        return
    known = threading.Event()
    threading.Thread(target=_end_with, args=(home, known), daemon=True).start()
    outcome: RunFiles | Trouble | None
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # the run is not wanted any more
        try:
            with _own_core() as (core, folder):
                home.send((0, 0))
                known.wait()
                outcome = _played(scheduled, core, folder, home)
        except UnusableError as error:
            outcome = Trouble(str(error), of_the_run=False)
        except OSError as error:
            outcome = Trouble(with_file(error), of_the_run=False)
        if outcome:
            home.send(outcome)


def _played(scheduled: ScheduledRun, core: int | None, folder: Path, home: Connection) -> RunFiles | None:
    path = folder / "result.json"
    here = replace(
        scheduled,
        configuration=msgspec.structs.replace(scheduled.configuration, core=core),
        result_path=path,
        hide=[*scheduled.hide, folder.parent],  # with the runs on other cores
    )
    next_sign = 0.0

    def show(so_far: RunSoFar) -> None:
        nonlocal next_sign
        if (now := time.monotonic()) >= next_sign:
            next_sign = now + SECONDS_BETWEEN_SIGNS
            with contextlib.suppress(OSError):  # the thread of :func:`_end_with` handles a broken connection
                home.send((len(so_far.puzzles), so_far.verdicts[Verdict.RIGHT]))

    result = here.play(None, show)
    if result.end.reason is EndReason.INTERRUPTED:
        return None
    log = stderr_path(path)
    return RunFiles(content_of(path, most_bytes=MOST_BYTES), content_of(log) if log.exists() else b"")


def _end_with(home: Connection, known: threading.Event) -> None:
    """Note that the scheduler knows of the start; stop this process once the other end is closed."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            home.recv()
            known.set()
    os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _own_core() -> Iterator[tuple[int | None, Path]]:
    """Provide an empty folder and a core that no other run here uses (None without pinning); end leftover bots."""
    place = place_of_workers()
    _require_own_folder(place)
    while True:
        for core in reversed(usable_cores()):
            folder = place / f"core-{core}"
            _require_own_folder(folder)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
            try:
                if _locked(lock):
                    _tidy(folder)
                    yield (core if can_pin() else None), folder
                    _tidy(folder)
                    return
            finally:
                os.close(lock)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _require_own_folder(folder: Path) -> None:
    """Make a folder, unless it is there; UnusableError if it is somebody else's, or a link."""
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        raise UnusableError(f"{folder} belongs to somebody else, or is a link; remove it")


def _locked(file: int) -> bool:
    """Return whether this process got the lock: no other has it, or has just removed its file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.utime(file)  # old files are cleared away from temporary folders
    return os.fstat(file).st_nlink > 0


def _tidy(folder: Path) -> None:
    with contextlib.suppress(UnusableError):
        end_leftover(read_records(journal_path(folder / "result.json")))
    for path in folder.iterdir():
        if path.name != "lock":
            path.unlink()
