"""Parallel tasks in threads, with their results in the order of the tasks.

Compiled kernels release the lock of the interpreter. So threads of one process are as fast as processes, and they
share the kernels and all imported modules.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from queue import Empty, SimpleQueue
from threading import Condition, Event, Lock, Semaphore, Thread
from typing import Generic, TypeVar, cast

WINDOW = 1024  # largest number of tasks taken but not delivered
AHEAD = 4  # tasks for each worker that are read before the caller asks for their results
PATIENCE_SECONDS = 0.1  # after which a caller that asks for no result may have left
LOOK_SECONDS = 0.02

Task = TypeVar("Task")
Made = TypeVar("Made")


def deliver_in_order(
    tasks: Iterable[Task],
    workers: Sequence[Callable[[Task], Made]],
    deliver: Callable[[Task, Made], None],
    stop: Callable[[], None],
) -> None:
    """Deliver each task with its result, in the order of the tasks, while the workers continue with later tasks.

    Each worker has its own thread and is up to `WINDOW` tasks ahead of the deliveries. An exception of `tasks` is
    raised after the delivery of all tasks before it. The thread that made the next result calls `deliver`, so that
    no other thread has to wake up. `stop` makes the workers return soon.
    """
    room = Semaphore(WINDOW)
    reading, delivering = Lock(), Lock()
    left, numbers = iter(tasks), count()
    made: dict[int, tuple[Task, Made]] = {}
    wanted = 0
    is_over = False
    at_end: BaseException | None = None
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def take() -> tuple[int, Task] | None:
        nonlocal is_over, at_end
        room.acquire()
        with reading:
            if not is_over:
                try:
                    return next(numbers), next(left)
                except StopIteration:
                    pass
                except BaseException as error:
                    at_end = error
                is_over = True
                room.release(len(workers))
        return None

    def deliver_made() -> None:
        nonlocal wanted
        # If another thread is delivering, it also delivers this result: it checks again at its end.
        while wanted in made and delivering.acquire(blocking=False):
            try:
                while wanted in made:
                    deliver(*made.pop(wanted))
                    wanted += 1
                    room.release()
            finally:
                delivering.release()

    def work(worker: Callable[[Task], Made], busy: Lock) -> None:
        try:
            while (taken := take()) is not None:
                number, task = taken
                with busy:
                    made[number] = task, worker(task)
                deliver_made()
        except BaseException as error:
            ended.put(error)
        else:
            ended.put(None)

    at_work = [Lock() for _ in workers]

    def give_up() -> None:
        nonlocal is_over
        is_over = True
        room.release(len(workers))
        stop()

    process = os.getpid()

    def end() -> None:
        """Wait for the running kernels, since the end of the process frees their memory."""
        if os.getpid() != process:  # in a child of `os.fork`, which has no such threads
            return
        give_up()
        for busy in at_work:
            busy.acquire()

    atexit.register(end)
    for pair in zip(workers, at_work, strict=True):
        # Daemons, since they may wait for input that never arrives.
        Thread(target=work, args=pair, daemon=True).start()
    try:
        for _ in workers:
            if error := ended.get():
                raise error
    except BaseException:  # from a worker, from `deliver`, or Ctrl-C
        give_up()
        raise
    atexit.unregister(end)
    if at_end:
        raise at_end


def in_order(
    tasks: Iterable[Task],
    workers: Sequence[Callable[[Task], Made]],
    stop: Callable[[], None],
    resume: Callable[[], None] = lambda: None,
    is_over: Callable[[], bool] | None = None,
) -> Iterator[Made]:
    """Yield the result of each task, in order; the tasks are read in the caller's thread.

    The workers are up to `AHEAD` tasks each ahead. If the caller does not ask for the next result within
    `PATIENCE_SECONDS`, `stop` makes them return soon; once the caller asks, they make these results again after a
    `resume`. So a caller that leaves the loop leaves no work behind. Once `is_over` is true, `stop` is called, and
    the next result is the last one.
    """
    return _InOrder(tasks, workers, stop, resume, is_over).results()


def on_request(
    made: Iterator[Made], stop: Callable[[], None], is_over: Callable[[], bool] | None
) -> Iterator[Made]:
    """Yield what `made` makes in another thread, one each time that the caller asks, so that Ctrl-C is heard.

    `stop` makes `made` return soon. It is called when the caller leaves, and once `is_over` is true.
    """
    asked, results = Semaphore(0), SimpleQueue[tuple[list[Made], BaseException | None]]()
    is_left = False
    process = os.getpid()

    def work() -> None:
        while True:
            asked.acquire()
            if is_left:
                return
            try:
                results.put((list(islice(made, 1)), None))
            except BaseException as error:
                results.put(([], error))

    def end() -> None:
        """Wait for the running kernel, since the end of the process frees its memory."""
        nonlocal is_left
        if os.getpid() == process:  # not in a child of `os.fork`, which has no such thread
            is_left = True
            stop()
            asked.release()
            thread.join()

    thread = Thread(target=work, daemon=True)
    atexit.register(end)
    try:
        thread.start()
        while not (is_over and is_over()):
            asked.release()
            while is_over:
                try:
                    found, failure = results.get(timeout=LOOK_SECONDS)
                    break
                except Empty:
                    if is_over():
                        stop()
            else:
                found, failure = results.get()
            if failure:
                raise failure
            if not found:
                return
            yield found[0]
    finally:
        end()
        atexit.unregister(end)


class _InOrder(Generic[Task, Made]):
    """The state of :func:`in_order`, shared by the caller, the workers and a thread that looks whether it left."""

    def __init__(
        self,
        tasks: Iterable[Task],
        workers: Sequence[Callable[[Task], Made]],
        stop: Callable[[], None],
        resume: Callable[[], None],
        is_over: Callable[[], bool] | None,
    ) -> None:
        self._left, self._workers = iter(tasks), workers
        self._stop, self._resume, self._is_over = stop, resume, is_over
        self._changed = Condition()
        self._waiting: dict[int, Task] = {}  # by number
        self._made: dict[int, tuple[Made | None, BaseException | None]] = {}
        self._stops = 0  # how often the workers were stopped; results of before are made again
        self._is_stopped = self._is_ended = False
        self._asked_at: float | None = None  # when the caller got the last result; None while it waits
        self._ended = Event()
        self._process = os.getpid()

    def results(self) -> Iterator[Made]:
        """Yield the result of each task."""
        most = AHEAD * len(self._workers)
        threads = [Thread(target=self._work, args=(worker,), daemon=True) for worker in self._workers]
        looker = Thread(target=self._look, daemon=True)
        atexit.register(self._end, threads)
        read = number = 0
        at_end: BaseException | None = None
        is_last = False
        try:
            for thread in threads:
                thread.start()
            while not is_last:
                with self._changed:
                    self._asked_at = None
                    if self._is_stopped:
                        self._is_stopped = False
                        self._resume()
                while at_end is None and read < number + most:
                    try:
                        task = next(self._left)
                    except Exception as error:
                        at_end = error
                        break
                    with self._changed:
                        self._waiting[read] = task
                        self._changed.notify_all()
                    read += 1
                if number == read:
                    break
                with self._changed:
                    while number not in self._made:
                        self._changed.wait(LOOK_SECONDS if self._is_over else None)
                        if self._is_over and not is_last and self._is_over():
                            is_last = True
                            self._stop()
                    result, failure = self._made.pop(number)
                    self._asked_at = time.monotonic()
                if failure is not None:
                    raise failure
                number += 1
                if number < read and not looker.ident:
                    looker.start()
                yield cast(Made, result)
        finally:
            self._give_up()
            atexit.unregister(self._end)
        for thread in threads:  # the caller may use its workers again
            thread.join()
        if at_end and not is_last and not isinstance(at_end, StopIteration):
            raise at_end

    def _work(self, worker: Callable[[Task], Made]) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_ended or (self._waiting and not self._is_stopped))
                if self._is_ended:
                    return
                number = min(self._waiting)
                task, stops = self._waiting.pop(number), self._stops
            result, failure = None, None
            try:
                result = worker(task)
            except BaseException as error:
                failure = error
            with self._changed:
                if stops == self._stops:
                    self._made[number] = result, failure
                else:
                    self._waiting[number] = task
                self._changed.notify_all()

    def _look(self) -> None:
        """Stop the workers while the caller does not ask."""
        while not self._ended.wait(PATIENCE_SECONDS / 2):
            with self._changed:
                is_away = self._asked_at and time.monotonic() > self._asked_at + PATIENCE_SECONDS
                if is_away and not self._is_stopped:
                    self._is_stopped = True
                    self._stops += 1
                    self._stop()

    def _give_up(self) -> None:
        if os.getpid() != self._process:  # in a child of `os.fork`, which has no such threads
            return
        with self._changed:
            self._is_ended = True
            self._stop()
            self._changed.notify_all()
        self._ended.set()

    def _end(self, threads: Sequence[Thread]) -> None:
        """Wait for the running kernels, since the end of the process frees their memory."""
        self._give_up()
        for thread in threads if os.getpid() == self._process else ():
            thread.join()
