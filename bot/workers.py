"""Several puzzles at once, each in a thread of its own: what came of them in the order in which they arrived.

Compiled kernels hold no lock of the interpreter, so that threads of one process are as fast as processes, and
share the kernels and all that is imported.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import TypeVar

__all__ = ["WINDOW", "deliver_in_order", "in_order"]

WINDOW = 1024
"""Puzzles read, and not yet answered. So many are solved behind a hard one before the other cores idle."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def deliver_in_order(
    items: Iterable[Item],
    workers: Sequence[Callable[[Item], Outcome]],
    deliver: Callable[[Item, Outcome], None],
    stop: Callable[[], None],
) -> None:
    """Hand over each item with what a worker made of it, in their order, while the workers go on with the next.

    Parameters
    ----------
    items : iterable
        Each is asked for by a worker that is free, in its thread, up to `WINDOW` items ahead of what is handed
        over. What it raises is raised here, after all items before it were handed over.
    workers : sequence of callable
        Each is called in one thread.
    deliver : callable
        Called by the worker that has made what is next, so that nobody else has to wake for it: on a machine whose
        cores are all busy that is a fiftieth of the time.
    stop : callable
        Called when nobody wants what is still under way; it makes the workers return soon.
    """
    room = Semaphore(WINDOW)
    reading, delivering = Lock(), Lock()
    left, numbers = iter(items), count()
    made: dict[int, tuple[Item, Outcome]] = {}
    wanted = 0
    is_over = False
    at_end: BaseException | None = None
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def take() -> tuple[int, Item] | None:
        nonlocal is_over, at_end
        room.acquire()
        with reading:
            if not is_over:
                try:
                    return next(numbers), next(left)
                except StopIteration:
                    pass
                except BaseException as error:  # whatever it is, somebody waits for an end
                    at_end = error
                is_over = True
                room.release(len(workers))
        return None

    def hand_over() -> None:
        nonlocal wanted
        # Who finds another at it leaves it to him, and he looks again when he is done.
        while wanted in made and delivering.acquire(blocking=False):
            try:
                while wanted in made:
                    deliver(*made.pop(wanted))
                    wanted += 1
                    room.release()
            finally:
                delivering.release()

    def work(worker: Callable[[Item], Outcome], busy: Lock) -> None:
        try:
            while (taken := take()) is not None:
                number, item = taken
                with busy:
                    made[number] = item, worker(item)
                hand_over()
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
        """Let no kernel run where the process ends: its memory would go from under it."""
        give_up()
        for busy in at_work:
            busy.acquire()

    atexit.register(end)
    for pair in zip(workers, at_work, strict=True):
        # They may wait for input that never comes; daemons keep nobody from ending.
        Thread(target=work, args=pair, daemon=True).start()
    try:
        for _ in workers:
            if error := ended.get():
                raise error
    except BaseException:  # of a worker, of `deliver`, or Ctrl-C
        give_up()
        raise
    atexit.unregister(end)
    if at_end:
        raise at_end


def in_order(
    items: Iterable[Item], workers: Sequence[Callable[[Item], Outcome]], stop: Callable[[], None]
) -> Iterator[tuple[Item, Outcome]]:
    """Yield what :func:`deliver_in_order` hands over, which goes on meanwhile, up to `WINDOW` items ahead."""
    room = Semaphore(WINDOW)
    is_over = False
    made: SimpleQueue[tuple[Item, Outcome] | BaseException | None] = SimpleQueue()

    def rooms() -> Iterator[None]:
        while room.acquire() and not is_over:
            yield

    def run() -> None:
        taken = (item for _, item in zip(rooms(), items, strict=False))
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
    except BaseException:  # the one that ends a generator early, too
        is_over = True
        room.release()
        stop()
        raise
