"""Parallel tasks in threads (`--jobs`), with their results in the order of the tasks.

Compiled kernels release the lock of the interpreter. So threads of one process are as fast as processes, and they
share the kernels and all imported modules.
"""

from __future__ import annotations

import atexit
import os
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, islice
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock, RLock, Semaphore, Thread
from typing import TypeVar, cast

WINDOW = 1024  # largest number of tasks taken but not delivered
AHEAD = 4  # tasks for each of several workers that are read before the caller asks for their results
PATIENCE_SECONDS = 0.1  # after which a caller that asks for no result may have left
LOOK_SECONDS = 0.02  # longest wait for a result: a signal just before a wait does not end it, nor does a stop
SECONDS_TO_END = 1.0  # a stopped kernel returns within milliseconds, and a compilation may take much longer

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


class _Threads:
    """Threads that run until :meth:`end`; the end of the process ends them too, since it frees a kernel's memory.

    Who leaves them does not wait for a compilation: a thread in it frees nothing, and runs no kernel any more.

    A signal handler may raise an exception such as KeyboardInterrupt anywhere in the caller's thread. That thread
    uses only locks and simple queues, which stay intact. `Thread.start`, a condition or an event would not.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop  # makes the threads return soon
        self._process = os.getpid()
        self._running: list[RLock] = []
        self.is_ended = False

    def count(self) -> int:
        """Return the number of threads; a child of `os.fork` has none."""
        return len(self._running) if self._process == os.getpid() else 0

    def start(self, work: Callable[[], None]) -> None:
        """Run a function in a thread; it returns soon after `is_ended` is true and the threads are stopped."""
        if not self.count():
            self._process, self._running = os.getpid(), []
        running = RLock()  # garbage collection may call `end` in the thread itself

        def run() -> None:
            if running.acquire(blocking=False):  # otherwise `end` has it, perhaps for ever after a Ctrl-C
                try:
                    if not self.is_ended:
                        work()
                finally:
                    running.release()

        self._running.append(running)
        _unended.add(self)
        start_new_thread(run, ())

    def end(self, seconds: float) -> None:
        """Stop the threads and wait for their end, up to `seconds`."""
        self.is_ended = True
        until = time.monotonic() + seconds
        if self.count():
            self._stop()
            for running in self._running:
                while not running.acquire(timeout=max(0, min(LOOK_SECONDS, until - time.monotonic()))):
                    if time.monotonic() >= until:
                        break
                else:
                    running.release()
        _unended.discard(self)


_unended: set[_Threads] = set()


@atexit.register
def _end_all() -> None:
    for threads in tuple(_unended):
        threads.end(SECONDS_TO_END)


def in_order(
    tasks: Iterable[Task],
    workers: Sequence[Callable[[Task], Made]],
    stop: Callable[[], None],
    resume: Callable[[], None] = lambda: None,
    is_over: Callable[[], bool] | None = None,
) -> Iterator[Made]:
    """Yield the result of each task, in order; the tasks are read in the caller's thread.

    A single worker gets each task when the caller asks for its result. Several workers are up to `AHEAD` tasks
    each ahead: whenever the caller asks, one task is read, and then others until the result that is due is ready.

    If the caller does not ask for the next result within `PATIENCE_SECONDS`, `stop` makes the workers return soon.
    Once the caller asks, they make these results again after a `resume`. So a caller that leaves the loop leaves
    no work behind. Once `is_over` is true, `stop` is called, and the next result is the last one.
    """
    left = iter(tasks)
    most_ahead = 1 if len(workers) == 1 else AHEAD * len(workers)
    unmade: dict[int, Task] = {}  # by number
    made: dict[int, tuple[Made | None, BaseException | None]] = {}
    waiting: SimpleQueue[tuple[int, Task] | None] = SimpleQueue()
    results: SimpleQueue[tuple[int, Made | None, BaseException | None, bool]] = SimpleQueue()
    ended: SimpleQueue[None] = SimpleQueue()
    begun = 0  # workers that have a thread
    turns = Lock()
    turn = 0  # odd while the workers are stopped; a result that another turn began is made again
    asked_at: float | None = None  # when the caller got the last result; None while it waits

    def work(worker: Callable[[Task], Made]) -> None:
        while (taken := waiting.get()) and not threads.is_ended:
            number, task = taken
            result, failure, first_turn = None, None, turn
            try:
                if first_turn % 2 == 0:
                    result = worker(task)
            except BaseException as error:
                failure = error
            results.put((number, result, failure, first_turn == turn and turn % 2 == 0))

    def look() -> None:
        """Stop the workers while the caller does not ask."""
        nonlocal turn
        while True:
            try:
                return ended.get(timeout=PATIENCE_SECONDS / 2)
            except Empty:
                with turns:
                    if asked_at and time.monotonic() > asked_at + PATIENCE_SECONDS and turn % 2 == 0:
                        turn += 1
                        stop()

    def start_workers() -> None:
        nonlocal begun
        while begun < min(len(unmade), len(workers)):
            threads.start(partial(work, workers[begun]))
            begun += 1

    def leave() -> None:
        stop()
        for _ in workers:
            waiting.put(None)
        ended.put(None)

    def take(seconds: float) -> None:
        """Wait for a result, up to `seconds`; Empty: there is none."""
        number, result, failure, is_whole = results.get(timeout=seconds)
        if is_whole:
            del unmade[number]
            made[number] = result, failure
        else:
            waiting.put((number, unmade[number]))

    has_looker = False
    read = number = 0
    at_end: BaseException | None = None
    is_last = False
    threads = _Threads(leave)
    seconds = SECONDS_TO_END
    try:
        while not is_last:
            if begun and not threads.count():  # in a child of `os.fork`
                waiting, results, ended, turns = SimpleQueue(), SimpleQueue(), SimpleQueue(), Lock()
                for entry in unmade.items():
                    waiting.put(entry)
                begun, has_looker = 0, False
            with turns:
                asked_at = None
                if turn % 2:
                    resume()
                    turn += 1
            while at_end is None and read < number + most_ahead:
                try:
                    task = next(left)
                except Exception as error:
                    at_end = error
                    break
                unmade[read] = task
                waiting.put((read, task))
                read += 1
                start_workers()
                while not results.empty():
                    take(LOOK_SECONDS)
                if number in made:
                    break
            if number == read:
                break
            start_workers()
            while number not in made:
                if is_over and not is_last and is_over():
                    is_last = True
                    stop()
                with suppress(Empty):
                    take(LOOK_SECONDS)
            result, failure = made.pop(number)
            if failure is not None:
                raise failure
            number += 1
            asked_at = time.monotonic()
            if unmade and not has_looker:
                has_looker = True
                threads.start(look)
            yield cast(Made, result)
        seconds = inf  # the caller may use its workers again
    finally:
        try:
            threads.end(seconds)
        except BaseException:  # such as KeyboardInterrupt: the threads end nevertheless
            threads.end(SECONDS_TO_END)
            raise
    if at_end and not is_last and not isinstance(at_end, StopIteration):
        raise at_end


def on_request(
    made: Iterator[Made], stop: Callable[[], None], is_over: Callable[[], bool] | None
) -> Iterator[Made]:
    """Yield what `made` makes in another thread, one each time that the caller asks, so that Ctrl-C is heard.

    `stop` makes `made` return soon. It is called when the caller leaves, and once `is_over` is true.
    """
    asked: SimpleQueue[bool] = SimpleQueue()
    results: SimpleQueue[tuple[list[Made], BaseException | None]] = SimpleQueue()

    def work() -> None:
        while asked.get() and not threads.is_ended:
            try:
                results.put((list(islice(made, 1)), None))
            except BaseException as error:
                results.put(([], error))

    def leave() -> None:
        stop()
        asked.put(False)

    threads = _Threads(leave)
    seconds = SECONDS_TO_END
    try:
        while not (is_over and is_over()):
            if not threads.count():  # at first, and in a child of `os.fork`
                asked, results = SimpleQueue(), SimpleQueue()
                threads.start(work)
            asked.put(True)
            while True:
                try:
                    found, failure = results.get(timeout=LOOK_SECONDS)
                    break
                except Empty:
                    if is_over and is_over():
                        stop()
            if failure:
                raise failure
            if not found:
                break
            yield found[0]
        seconds = inf  # the caller may use its workers again
    finally:
        try:
            threads.end(seconds)
        except BaseException:  # such as KeyboardInterrupt: the threads end nevertheless
            threads.end(SECONDS_TO_END)
            raise
