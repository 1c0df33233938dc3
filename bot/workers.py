"""Parallel tasks in threads, with their results in the order of the tasks.

Compiled kernels release the lock of the interpreter. So threads of one process are as fast as processes, and they
share the kernels and all imported modules.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import TypeVar

WINDOW = 1024  # largest number of tasks taken but not delivered

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

    def end() -> None:
        """Wait for the running kernels, since the end of the process frees their memory."""
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
    tasks: Iterable[Task], workers: Sequence[Callable[[Task], Made]], stop: Callable[[], None]
) -> Iterator[tuple[Task, Made]]:
    """Yield each task with its result, in order; the workers continue up to `WINDOW` tasks ahead."""
    room = Semaphore(WINDOW)
    is_over = False
    made: SimpleQueue[tuple[Task, Made] | BaseException | None] = SimpleQueue()

    def rooms() -> Iterator[None]:
        while room.acquire() and not is_over:
            yield

    def run() -> None:
        taken = (task for _, task in zip(rooms(), tasks, strict=False))
        try:
            deliver_in_order(taken, workers, lambda *one: made.put(one), stop)
            made.put(None)
        except BaseException as error:
            made.put(error)

    Thread(target=run, daemon=True).start()
    try:
        while (one := made.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            room.release()
            yield one
    except BaseException:  # also GeneratorExit, if the caller stops early
        is_over = True
        room.release()
        stop()
        raise
