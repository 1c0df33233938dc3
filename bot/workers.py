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
from typing import TypeVar, cast

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
    left = iter(tasks)
    changed = Condition()
    waiting: dict[int, Task] = {}  # by number
    made: dict[int, tuple[Made | None, BaseException | None]] = {}
    stops = 0  # how often the workers were stopped; results of before are made again
    is_stopped = is_ended = False
    asked_at: float | None = None  # when the caller got the last result; None while it waits
    ended = Event()
    process = os.getpid()

    def work(worker: Callable[[Task], Made]) -> None:
        while True:
            with changed:
                changed.wait_for(lambda: is_ended or (waiting and not is_stopped))
                if is_ended:
                    return
                number = min(waiting)
                task, stops_before = waiting.pop(number), stops
            result, failure = None, None
            try:
                result = worker(task)
            except BaseException as error:
                failure = error
            with changed:
                if stops == stops_before:
                    made[number] = result, failure
                else:
                    waiting[number] = task
                changed.notify_all()

    def look() -> None:
        """Stop the workers while the caller does not ask."""
        nonlocal is_stopped, stops
        while not ended.wait(PATIENCE_SECONDS / 2):
            with changed:
                is_away = asked_at and time.monotonic() > asked_at + PATIENCE_SECONDS
                if is_away and not is_stopped:
                    is_stopped = True
                    stops += 1
                    stop()

    def give_up() -> None:
        nonlocal is_ended
        if os.getpid() != process:  # in a child of `os.fork`, which has no such threads
            return
        with changed:
            is_ended = True
            stop()
            changed.notify_all()
        ended.set()

    threads = [Thread(target=work, args=(worker,), daemon=True) for worker in workers]
    looker = Thread(target=look, daemon=True)

    def end() -> None:
        """Wait for the running kernels, since the end of the process frees their memory."""
        give_up()
        for thread in threads if os.getpid() == process else ():
            thread.join()

    most = AHEAD * len(workers)
    read = number = 0
    at_end: BaseException | None = None
    is_last = False
    atexit.register(end)
    try:
        for thread in threads:
            thread.start()
        while not is_last:
            with changed:
                asked_at = None
                if is_stopped:
                    is_stopped = False
                    resume()
            while at_end is None and read < number + most:
                try:
                    task = next(left)
                except Exception as error:
                    at_end = error
                    break
                with changed:
                    waiting[read] = task
                    changed.notify_all()
                read += 1
            if number == read:
                break
            with changed:
                while number not in made:
                    changed.wait(LOOK_SECONDS if is_over else None)
                    if is_over and not is_last and is_over():
                        is_last = True
                        stop()
                result, failure = made.pop(number)
                asked_at = time.monotonic()
            if failure is not None:
                raise failure
            number += 1
            if number < read and not looker.ident:
                looker.start()
            yield cast(Made, result)
    finally:
        give_up()
        atexit.unregister(end)
    for thread in threads:  # the caller may use its workers again
        thread.join()
    if at_end and not is_last and not isinstance(at_end, StopIteration):
        raise at_end


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
