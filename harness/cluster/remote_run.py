"""A run on a worker, played by a judge of its own on a core that no other run of this machine has.

The task of dask, :func:`play_here`, only starts that judge and passes on what it says: times are to be those of a
judge that is alone in its process, and a worker that dies must not leave a bot behind. Whatever becomes of the
worker, the connection between the two breaks, and the judge ends its bot.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.journal import AttemptEnded, AttemptStarted, journal_path, read_records
from nonobot.harness.play.machine import can_pin
from nonobot.harness.play.process_tree import end_leftover
from nonobot.harness.play.run_state import stderr_path
from nonobot.harness.results.run_result import EndReason, PuzzleResult, Verdict
from nonobot.harness.tournament.rounds import Pairing
from nonobot.system import usable_cores

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["SIGNS", "Outcome", "Trouble", "play_here"]

SIGNS = "nonojudge-signs"
"""The topic of the events that tell how far runs are: each has the task's key as `run`, `answered` and `right`."""

SECONDS_BETWEEN_SIGNS = 1.0
SECONDS_BETWEEN_LOOKS = 0.25
"""How often the worker sees whether the run is still wanted, and a judge without a core whether one is free."""

SECONDS_TO_END = 30.0
"""What a judge has to end its bot before it is killed; 2 s are enough where nothing hangs."""

JUDGE = """\
import sys
sys.path[:] = {path!r}
from nonobot.harness.cluster.remote_run import judge
judge({connection})
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The files of a run that is over: its result, and what the bot wrote to stderr."""

    result: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a run could not be played here.

    Attributes
    ----------
    why : str
        One line.
    of_the_run : bool
        Whether it may be the run's doing, and not this machine's.
    """

    why: str
    of_the_run: bool


def play_here(pairing: Pairing) -> Outcome | Trouble | None:
    """Play a run, as a task of dask; None if nobody wants it any more.

    Parameters
    ----------
    pairing : Pairing
        Its terms name no core; where its result goes is the caller's business.
    """
    from distributed import get_worker

    worker = get_worker()
    run = str(worker.get_current_task())
    ours, theirs = Pipe()
    program = JUDGE.format(path=sys.path, connection=theirs.fileno())
    with ours:
        with theirs:
            child = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(),
                start_new_session=True,  # a Ctrl-C is the command's business
            )
        try:
            ours.send(pairing)
            outcome = _heard(ours, worker, run)
        except (EOFError, OSError):
            outcome = Trouble("its judge was killed", of_the_run=True)
    try:
        child.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return outcome


def _heard(judge: Connection, worker: Worker, run: str) -> Outcome | Trouble | None:
    while _wanted(worker, run):
        if judge.poll(SECONDS_BETWEEN_LOOKS):
            message = judge.recv()
            if not isinstance(message, tuple):
                return message
            answered, right = message
            worker.log_event(SIGNS, {"run": run, "answered": answered, "right": right})
    return None


def _wanted(worker: Worker, run: str) -> bool:
    """Return whether the command that asked for the run, and the scheduler, are still there."""
    task = worker.state.tasks.get(run)
    return task is not None and task.state == "executing" and worker.status.name in ("running", "paused")


def _environment() -> dict[str, str]:
    """Return the environment without what dask puts into it: a bot is to find what it finds without dask."""
    import dask

    added = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    return {name: value for name, value in os.environ.items() if name not in added or str(added[name]) != value}


# --- the judge's side -----------------------------------------------------------------------------------------


def judge(connection: int) -> None:
    """Play the run that comes over a connection, and send back signs of it and what became of it."""
    os.set_inheritable(connection, False)
    home = Connection(connection)
    pairing: Pairing = home.recv()
    if hashlib.sha256(pairing.puzzle_set.text).hexdigest() != pairing.puzzle_set.sha256:
        home.send(Trouble(f"the set {pairing.puzzle_set.name} did not arrive as it was sent", of_the_run=False))
        return
    threading.Thread(target=_end_with, args=(home,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody is there who wants to know
        try:
            with _own_core() as (core, folder):
                outcome = _played(pairing, core, folder, home)
        except UnusableError as error:
            home.send(Trouble(str(error), of_the_run=False))
        except OSError as error:
            home.send(Trouble(f"{error.filename or 'a file'}: {error.strerror}", of_the_run=False))
        else:
            if outcome:
                home.send(outcome)


def _played(pairing: Pairing, core: int | None, folder: Path, home: Connection) -> Outcome | None:
    path = folder / "result.json"
    here = replace(
        pairing,
        terms=msgspec.structs.replace(pairing.terms, core=core),
        result_path=path,
        hide=[*pairing.hide, folder.parent],  # with the runs on other cores
    )
    signs = _Signs(home)
    result = here.play(None, signs.take)
    if result.end.reason is EndReason.INTERRUPTED:
        return None
    log = stderr_path(path)
    return Outcome(path.read_bytes(), log.read_bytes() if log.exists() else b"")


class _Signs:
    """Tells now and then how far the run is."""

    def __init__(self, home: Connection) -> None:
        self._home = home
        self._answered = self._right = 0
        self._next = 0.0

    def take(self, ruling: PuzzleResult, _run_seconds: float) -> None:
        self._answered += 1
        self._right += ruling.verdict is Verdict.RIGHT
        if (now := time.monotonic()) >= self._next:
            self._next = now + SECONDS_BETWEEN_SIGNS
            with contextlib.suppress(OSError):  # the end of the connection is heard by its thread
                self._home.send((self._answered, self._right))


def _end_with(home: Connection) -> None:
    """Tell this process to stop once nobody is at the other end any more."""
    with contextlib.suppress(EOFError, OSError):
        home.recv()
    os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _own_core() -> Iterator[tuple[int | None, Path]]:
    """Wait for a core that no other run of this machine has, which comes with an empty folder.

    The lock on it lasts as long as this process. A bot that is left there of a judge that was killed is ended
    first. None stands for a core where the system holds no process on one.
    """
    place = Path(tempfile.gettempdir()) / f"nonojudge-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.stat().st_uid != os.getuid():
        raise UnusableError(f"{place} belongs to somebody else")
    while True:
        for core in reversed(usable_cores()):
            folder = place / f"core-{core}"
            folder.mkdir(exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
            try:
                if _locked(lock):
                    _tidy(folder)
                    yield (core if can_pin() else None), folder
                    _tidy(folder)
                    return
            finally:
                os.close(lock)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _locked(file: int) -> bool:
    """Return whether a lock is this process's now; it is not if somebody has it, or has just removed its file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.utime(file)  # old files are cleared away from temporary folders
    return os.fstat(file).st_nlink > 0


def _tidy(folder: Path) -> None:
    records = []
    with contextlib.suppress(UnusableError):
        records = read_records(journal_path(folder / "result.json"))
    lives = [one for one in records if isinstance(one, AttemptStarted | AttemptEnded)]
    if lives and isinstance(lives[-1], AttemptStarted):
        end_leftover(lives[-1])
    for path in folder.iterdir():
        if path.name != "lock":
            path.unlink()
