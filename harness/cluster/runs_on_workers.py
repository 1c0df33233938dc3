"""The runs of a tournament handed out to workers: a free worker gets one, until all are played or given up.

This module chooses the worker of a run, and not dask, which lets tasks queue up on workers: a run behind one of
two hours would wait for it while other cores are idle, and share the blame for the death of their worker.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonobot.harness.cluster.cluster_workers import (
    Facts,
    FitWorkers,
    SchedulerLostError,
    connected,
    software,
    talking,
)
from nonobot.harness.cluster.remote_run import SIGNS, RunFiles, Trouble, play_here
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import interpreter_in, is_here
from nonobot.harness.play.run_state import Interrupts
from nonobot.harness.progress import AllRunsProgress
from nonobot.harness.ranking.comparability import MachineKind
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.text import count
from nonobot.harness.tournament.rounds import ScheduledRun

if TYPE_CHECKING:
    from distributed import Client, Future

MOST_DEATHS = 3
"""Deaths of workers after which their run is given up."""

SECONDS_BETWEEN_LOOKS = 0.5
"""Interval between looks at the workers, and at whether the command was told to stop."""

SECONDS_TO_COME = 60.0
"""Time to wait for a worker that can play a run; one that died is started again within a second or two."""

SECONDS_TO_FETCH = 60.0


def played_on(place: str, runs: RunsOnWorkers, say: Callable[[str], None]) -> None:
    """Have the workers at `place` play runs, and wait for a scheduler that restarts.

    Raises
    ------
    UnusableError
        If no worker fits, no scheduler comes back, or as for :meth:`RunsOnWorkers.hand_out`.
    KeyboardInterrupt
        If the command is told to stop.
    """
    until = time.monotonic()  # a scheduler that was never there will not come back
    while runs.todo:
        try:
            with contextlib.ExitStack() as stack:
                client = _client(stack, place, runs, until)
                interrupts = stack.enter_context(Interrupts())
                runs.hand_out(client, interrupts)
        except SchedulerLostError:
            say(f"the scheduler at {place} is gone; waiting for it")
            until = time.monotonic() + SECONDS_TO_COME
        else:
            if interrupts.told:
                raise KeyboardInterrupt


def _client(stack: contextlib.ExitStack, place: str, runs: RunsOnWorkers, until: float) -> Client:
    while True:
        try:
            return stack.enter_context(connected(place, needed(runs.todo)))
        except UnusableError as error:
            if time.monotonic() >= until:
                raise UnusableError(f"{error}; {runs.left_in_words}") from None
        time.sleep(SECONDS_BETWEEN_LOOKS)


def needed(todo: Iterable[ScheduledRun]) -> Facts:
    """Return the facts that a worker has to share: the software, and the programs of the bots."""
    words: dict[str, None] = {}
    for program, *others in (command for one in todo for command in one.programs if command):
        interpreter = interpreter_in(Path(shutil.which(program) or program))
        files = (word for word in others if is_here(word) and Path(word).is_file())
        words |= dict.fromkeys([program, *([interpreter] if interpreter else []), *files])
    return partial(_software_and_files, tuple(words))


def _software_and_files(words: Sequence[str]) -> Mapping[str, str]:
    return software() | {word: _digest(shutil.which(word) or word) for word in words}


def _digest(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"
    except OSError:
        return "not there"


@dataclass(frozen=True, slots=True)
class _Playing:
    """A run on a worker."""

    scheduled: ScheduledRun
    address: str
    future: Future


class RunsOnWorkers:
    """The runs left to play, in play on a worker, played, and given up, while workers and scheduler may change.

    Parameters
    ----------
    todo : sequence of ScheduledRun
    screen : AllRunsProgress
    again : bool
        Whether to remove the results of these runs, once there are workers to play them.
    kinds : dict of str to MachineKind, optional
        The kind of machine for all runs of a set, by its digest; a set gets that of the first worker that plays
        it. None: on machines of any kind.

    Attributes
    ----------
    todo : list of ScheduledRun
        Neither played nor in play, nor given up.
    results : dict of Path to RunResult
        By the path of the result.
    """

    def __init__(
        self,
        todo: Sequence[ScheduledRun],
        screen: AllRunsProgress,
        again: bool = False,
        kinds: dict[str, MachineKind] | None = None,
    ) -> None:
        self.todo = list(todo)
        self._again = again
        self.results: dict[Path, RunResult] = {}
        self._screen = screen
        self._kinds = kinds
        self._deaths: dict[Path, list[str]] = {}  # the workers that died of a run
        self._playing: dict[str, _Playing] = {}
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def hand_out(self, client: Client, interrupts: Interrupts) -> None:
        """Have runs played until none is left, or the command is told to stop.

        Raises
        ------
        SchedulerLostError
            If the scheduler is gone; the runs in play are in `todo` again.
        UnusableError
            If no worker comes that can play the rest, or a result cannot be written.
        """
        with talking():
            workers = FitWorkers(client, needed(self.todo))
            client.subscribe_topic(SIGNS, lambda event: self._inbox.put(event[1]))
        if self._again:
            for scheduled in self.todo:
                scheduled.forget()
            self._again = False
        idle_since = time.monotonic()
        try:
            while (self.todo or self._playing) and not interrupts.told:
                with talking():
                    unfit = workers.look()
                for line in unfit:
                    self._screen.say(f"not used: {line}")
                self._miss(workers)
                self._give(client, workers)
                if self._playing:
                    idle_since = time.monotonic()
                elif self.todo and time.monotonic() - idle_since > SECONDS_TO_COME:
                    raise UnusableError(self._nobody_comes(workers))
                self._take(workers)
        finally:
            for run in list(self._playing):
                self.todo.append(self._out_of_play(run).scheduled)

    @property
    def left_in_words(self) -> str:
        """The number of runs left, and how to resume them."""
        return f"{count(len(self.todo), 'run')} left; the same command goes on"

    def _give(self, client: Client, workers: FitWorkers) -> None:
        """Give each free worker a run."""
        busy = {one.address for one in self._playing.values()}
        for address, kind in workers.fit.items():
            scheduled = None if address in busy else self._next_for(kind)
            if scheduled is not None:
                run = f"nonojudge-{uuid.uuid4().hex}"
                with talking():
                    future = client.submit(play_here, scheduled, key=run, workers=[address])
                    future.add_done_callback(lambda future: self._inbox.put(future.key))
                self._playing[run] = _Playing(scheduled, address, future)
                self.todo.remove(scheduled)
                self._screen.begin(scheduled.name, len(scheduled.puzzle_set.puzzles))

    def _next_for(self, kind: MachineKind) -> ScheduledRun | None:
        """Return the run for a machine of a kind; sets that are bound to that kind come first."""
        kinds = self._kinds
        if kinds is None:
            return next(iter(self.todo), None)
        for fits in (kind, None):
            for scheduled in self.todo:
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
                elif one := self._playing.get(message["run"]):
                    self._screen.show(one.scheduled.name, message["answered"], message["right"])
                message = self._inbox.get_nowait()

    def _end(self, run: str, workers: FitWorkers) -> None:
        """Handle the end of a run's task."""
        one = self._playing.get(run)
        if one is None or one.future.status in ("pending", "lost"):  # missed before, or soon
            return
        if one.future.status == "cancelled":
            raise SchedulerLostError("the connection broke")
        try:
            outcome = one.future.result(timeout=SECONDS_TO_FETCH)
        except Exception as error:  # from dask: KilledWorker, among others
            outcome = Trouble(f"{type(error).__name__}: {error}".splitlines()[0], of_the_run=True)
        self._out_of_play(run)
        if isinstance(outcome, RunFiles):
            result = one.scheduled.keep(outcome.result, outcome.stderr)
            self.results[one.scheduled.result_path] = result
            self._screen.take(one.scheduled.name, result)
        elif isinstance(outcome, Trouble) and outcome.of_the_run:
            self._again_or_given_up(one, outcome.why)
        else:
            self.todo.append(one.scheduled)
            if outcome:
                self._screen.say(f"not used any more: {one.address}: {outcome.why}")
                workers.put_aside(one.address)

    def _miss(self, workers: FitWorkers) -> None:
        """Take back the runs of workers that are gone."""
        for run, one in list(self._playing.items()):
            if one.address not in workers.there:
                self._out_of_play(run)
                self._again_or_given_up(one, "it left or died")

    def _out_of_play(self, run: str) -> _Playing:
        """Take a run from its worker and return it."""
        one = self._playing.pop(run)
        self._screen.end(one.scheduled.name)
        with contextlib.suppress(Exception):  # the scheduler may be gone
            one.future.cancel()
        return one

    def _again_or_given_up(self, one: _Playing, why: str) -> None:
        """Put a run back, or give it up if too many workers were lost with it."""
        dead = self._deaths.setdefault(one.scheduled.result_path, [])
        dead.append(one.address)
        if len(dead) < MOST_DEATHS:
            self.todo.append(one.scheduled)
            fate = f"lost with the worker {one.address} ({why}); it is played again"
        else:
            fate = f"given up, {MOST_DEATHS} workers were lost with it: {', '.join(dead)}"
        self._screen.say(f"{one.scheduled.name}: {fate}")

    def _nobody_comes(self, workers: FitWorkers) -> str:
        left = self.left_in_words
        if not workers.fit:
            return f"no worker that can be used is there any more; {left}"
        kinds = {" / ".join((self._kinds or {})[one.puzzle_set.sha256]) for one in self.todo}
        return f"--same-kind: no worker is on a machine such as {'; '.join(sorted(kinds))}; {left}"
