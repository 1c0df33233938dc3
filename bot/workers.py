"""Several puzzles at once, each in a thread of its own: what came of them in the order in which they arrived.

Compiled kernels hold no lock of the interpreter, so that threads of one process are as fast as processes, and
share the kernels and all that is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["WINDOW", "in_order", "usable_cores"]

WINDOW = 1024
"""Puzzles under way: read, and not yet answered. So many are solved behind a hard one before the other cores idle;
with them, two jobs take 22 MB more than one (25x25)."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def usable_cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    items: Iterable[Item], workers: Sequence[Callable[[Item], Outcome]], stop: Callable[[], None]
) -> Iterator[tuple[Item, Outcome]]:
    """Yield each item with what a worker made of it, in their order, while the workers go on with the next.

    Parameters
    ----------
    items : iterable
        Looked at in a thread of its own, up to `WINDOW` items ahead of what is yielded. What it raises is raised
        here, after all items before it were yielded.
    workers : sequence of callable
        Each is called in one thread at a time.
    stop : callable
        Called when nobody wants what is still under way; it makes the workers return soon.
    """
    from concurrent.futures import ThreadPoolExecutor  # with logging and more, which one job does not need

    under_way: SimpleQueue[tuple[Item, Future[Outcome]] | BaseException | None] = SimpleQueue()
    room = Semaphore(WINDOW)
    is_over = False
    idle: SimpleQueue[Callable[[Item], Outcome]] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def work(item: Item) -> Outcome:
        worker = idle.get()
        try:
            return worker(item)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(len(workers))

    def read() -> None:
        try:
            for item in items:
                room.acquire()
                if is_over:
                    return
                under_way.put((item, pool.submit(work, item)))
            under_way.put(None)
        except BaseException as error:  # whatever it is, somebody waits for an end
            under_way.put(error)

    try:
        # It may wait for input that never comes; a daemon keeps nobody from ending.
        Thread(target=read, daemon=True).start()
        while (next_one := under_way.get()) is not None:
            if isinstance(next_one, BaseException):
                raise next_one
            room.release()
            item, future = next_one
            yield item, future.result()
    except BaseException:  # of an item or a worker, or the one that ends a generator early
        is_over = True
        room.release()  # for the reader, so that it ends
        pool.shutdown(wait=False, cancel_futures=True)
        stop()
        raise
    pool.shutdown()
