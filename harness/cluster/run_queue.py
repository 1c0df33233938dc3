"""The queue of a tournament's runs: each free worker gets one, until all are played or given up.

dask would queue runs on workers: one behind a run of two hours would wait while other cores are idle.
"""

from __future__ import annotations

import contextlib
import queue
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonobot.harness import UnusableError
from nonobot.harness.cluster.cluster_workers import (
    Facts,
    FitWorkers,
    SchedulerLostError,
    SilenceError,
    connected,
    result_of,
    software,
    talking,
)
from nonobot.harness.cluster.worker_judge import SIGNS, RunFiles, Trouble, play_here
from nonobot.harness.process.bot_files import digest_of, files_named
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.results.comparability import MachineKind
from nonobot.harness.results.conditions import ProgramFile
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.text import say
from nonobot.harness.tournament.playing import ShownRuns
from nonobot.harness.tournament.scheduled_runs import ScheduledRun
from nonobot.protocol.clues import count

if TYPE_CHECKING:
    from distributed import Client, Future

MOST_DEATHS = 3  # deaths of workers after which their run is given up
MOST_LOSSES = 10  # the same, with workers lost before the run began, which did not cause that
SECONDS_BETWEEN_LOOKS = 0.5  # interval between looks at the workers, and at whether the command was told to stop
SECONDS_TO_COME = 60.0  # for a worker that can play a run; a dead one is replaced within a second or two
SECONDS_TO_FETCH = 60.0


def needed(todo: Iterable[ScheduledRun]) -> Facts:
    """Return the facts that a worker has to share: the software, and the programs of the bots."""
    commands = (command for scheduled in todo for command in scheduled.programs)
    return partial(_software_and_files, tuple(files_named(commands)))


def _software_and_files(file_names: Sequence[str]) -> Mapping[str, str]:
    files = {word: digest_of(word) for word in file_names}
    return software() | {word: _in_words(file) if file else "not there" for word, file in files.items()}


def _in_words(file: ProgramFile) -> str:
    return f"{file.size_bytes:,} bytes" if file.modified_ns else f"sha256 {file.sha256[:12]}"


@dataclass(slots=True)
class _Playing:
    """A run on a worker, which has begun when its judge says so."""

    scheduled: ScheduledRun
    address: str
    future: Future
    begun: bool = False


class RunsOnWorkers:
    """The runs waiting, in progress, played and given up, while workers and scheduler may change.

    `kinds` has the kind of machine for all runs of a set, by its digest: that of its first worker. None: any kind.
    """

    def __init__(
        self, todo: Sequence[ScheduledRun], screen: ShownRuns, kinds: dict[str, MachineKind] | None
    ) -> None:
        self._todo = list(todo)  # neither played nor in play, nor given up
        self.results: dict[Path, RunResult] = {}  # by their paths
        self._screen = screen
        self._kinds = kinds
        self._lost: dict[Path, list[_Playing]] = {}  # with their workers
        self._playing: dict[str, _Playing] = {}
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def play_at(self, place: str) -> None:
        """Have the workers at `place` play the runs; UnusableError if no suitable worker or scheduler comes."""
        until = time.monotonic()  # a scheduler that was never there will not come back
        while self._todo:
            with contextlib.ExitStack() as stack:
                try:
                    client = stack.enter_context(connected(place, needed(self._todo)))
                except UnusableError as error:
                    if time.monotonic() >= until:
                        raise UnusableError(f"{error}; {self._left_in_words}") from None
                    time.sleep(SECONDS_BETWEEN_LOOKS)
                    continue
                interrupts = stack.enter_context(Interrupts())
                try:
                    self._hand_out(client, interrupts)
                except SchedulerLostError:
                    say(f"the scheduler at {place} is gone; waiting for it")
                    until = time.monotonic() + SECONDS_TO_COME
            if interrupts.stop_requested:
                raise KeyboardInterrupt

    def _hand_out(self, client: Client, interrupts: Interrupts) -> None:
        """Hand out runs until none is left, the command is told to stop, or the scheduler is lost."""
        with talking():
            workers = FitWorkers(client, needed(self._todo))
            client.subscribe_topic(SIGNS, lambda event: self._inbox.put(event[1]))
        for scheduled in self._todo:
            if scheduled.again:
                scheduled.set_aside()
        idle_since = time.monotonic()
        try:
            while (self._todo or self._playing) and not interrupts.stop_requested:
                with talking():
                    unfit = workers.look()
                for line in unfit:
                    say(f"not used: {line}")
                self._give(client, workers)
                if self._playing:
                    idle_since = time.monotonic()
                elif self._todo and time.monotonic() - idle_since > SECONDS_TO_COME:
                    raise UnusableError(f"{self._nobody_comes(workers)}; {self._left_in_words}")
                self._take(workers)
                for run, playing in list(self._playing.items()):  # after their earlier messages
                    if playing.address not in workers.there:
                        self._again_or_given_up(self._out_of_play(run), "it left or died")
        finally:
            for run in list(self._playing):
                self._todo.append(self._out_of_play(run).scheduled)

    @property
    def _left_in_words(self) -> str:
        return f"{count(len(self._todo), 'run')} left; the same command resumes"

    def _give(self, client: Client, workers: FitWorkers) -> None:
        busy = {playing.address for playing in self._playing.values()}
        for address, kind in workers.fit.items():
            scheduled = None if address in busy else self._next_for(kind)
            if scheduled is not None:
                run = f"nonojudge-{uuid.uuid4().hex}"
                with talking():
                    future = client.submit(play_here, scheduled, key=run, workers=[address])
                    future.add_done_callback(lambda future: self._inbox.put(future.key))
                self._playing[run] = _Playing(scheduled, address, future)
                self._todo.remove(scheduled)
                self._screen.begin(scheduled)

    def _next_for(self, kind: MachineKind) -> ScheduledRun | None:
        """Return the run for a machine of a kind; sets that are bound to that kind come first."""
        kinds = self._kinds
        if kinds is None:
            return next(iter(self._todo), None)
        for fits in (kind, None):
            for scheduled in self._todo:
                if kinds.get(scheduled.puzzle_set.sha256) == fits:
                    kinds[scheduled.puzzle_set.sha256] = kind
                    return scheduled
        return None

    def _take(self, workers: FitWorkers) -> None:
        """Wait a moment for messages from the workers, and handle all that are there."""
        with contextlib.suppress(queue.Empty):
            message = self._inbox.get(timeout=SECONDS_BETWEEN_LOOKS)
            while True:
                if isinstance(message, str):
                    self._end(message, workers)
                elif playing := self._playing.get(message["run"]):
                    playing.begun = True
                    self._screen.show(playing.scheduled, message["answered"], message["right"])
                message = self._inbox.get_nowait()

    def _end(self, run: str, workers: FitWorkers) -> None:
        playing = self._playing.get(run)
        if playing is None or playing.future.status in ("pending", "lost"):
            return  # its message was missed, or arrives soon
        if playing.future.status == "cancelled":
            raise SchedulerLostError("the connection broke")
        try:
            fetch = partial(playing.future.result, timeout=SECONDS_TO_FETCH)
            outcome = result_of(fetch, client=playing.future.client)
        except (CancelledError, SilenceError):
            raise SchedulerLostError("the connection broke") from None
        except Exception as error:  # from dask: KilledWorker, among others
            outcome = Trouble(f"{type(error).__name__}: {error}".splitlines()[0], of_the_run=True)
        self._out_of_play(run)
        if isinstance(outcome, RunFiles):
            result = playing.scheduled.keep(outcome.result, outcome.stderr)
            self.results[playing.scheduled.result_path] = result
            self._screen.take(playing.scheduled, result)
        elif isinstance(outcome, Trouble) and outcome.of_the_run:
            self._again_or_given_up(playing, outcome.why)
        else:
            self._todo.append(playing.scheduled)
            if outcome:
                say(f"not used any more: {playing.address}: {outcome.why}")
                workers.put_aside(playing.address)

    def _out_of_play(self, run: str) -> _Playing:
        playing = self._playing.pop(run)
        self._screen.end(playing.scheduled)
        with contextlib.suppress(Exception):  # the scheduler may be gone
            playing.future.cancel()
        return playing

    def _again_or_given_up(self, playing: _Playing, why: str) -> None:
        """Put a run back, or give it up if too many workers were lost with it."""
        lost = self._lost.setdefault(playing.scheduled.result_path, [])
        lost.append(playing)
        dead = [loss for loss in lost if loss.begun]
        if len(dead) < MOST_DEATHS and len(lost) < MOST_LOSSES:
            self._todo.append(playing.scheduled)
            fate = f"lost with the worker {playing.address} ({why}); it is played again"
        else:
            blamed = [loss.address for loss in (dead if len(dead) == MOST_DEATHS else lost)]
            fate = f"given up, {len(blamed)} workers were lost with it: {', '.join(blamed)}"
        say(f"{playing.scheduled.name}: {fate}")

    def _nobody_comes(self, workers: FitWorkers) -> str:
        if not workers.fit:
            return "no worker that can be used is there any more"
        kinds = {" / ".join((self._kinds or {})[scheduled.puzzle_set.sha256]) for scheduled in self._todo}
        return f"--same-kind: no worker is on a machine such as {'; '.join(sorted(kinds))}"
