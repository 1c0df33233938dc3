"""`nonobot --jobs`: puzzles solved at once, answered in their order."""

import threading
from itertools import count
from threading import Event, Lock

import pytest

from nonobot.bot.workers import AHEAD, WINDOW, deliver_in_order, in_order
from tests.helpers.waiting import PATIENCE_SECONDS, wait_until


def test_what_is_made_first_waits_for_what_came_before():
    second_is_made = Event()

    def make(item):
        if item == 0:
            assert second_is_made.wait(PATIENCE_SECONDS)
        else:
            second_is_made.set()
        return item * 10

    assert list(in_order(range(3), [make, make], lambda: None)) == [0, 10, 20]


def test_each_worker_has_one_item_at_a_time_and_all_work_at_once():
    started = [Event() for _ in range(3)]
    of_worker = [Lock() for _ in range(3)]

    def worker(own):
        def make(item):
            assert own.acquire(blocking=False)
            if item < 3:
                started[item].set()
                assert all(event.wait(PATIENCE_SECONDS) for event in started)
            own.release()
            return item

        return make

    made = in_order(range(50), [worker(own) for own in of_worker], lambda: None)
    assert list(made) == list(range(50))


@pytest.mark.parametrize(("workers", "ahead"), [(1, AHEAD), (2, 2 * AHEAD)])
def test_tasks_are_read_in_the_callers_thread_and_a_few_ahead(workers, ahead):
    looked_at = []

    def items():
        for item in count():
            looked_at.append((item, threading.get_ident()))
            yield item

    made = in_order(items(), [lambda item: -item] * workers, lambda: None)
    assert next(made) == 0
    assert looked_at == [(item, threading.get_ident()) for item in range(ahead)]
    assert [next(made) for _ in range(5)] == [-1, -2, -3, -4, -5]
    assert len(looked_at) == ahead + 5
    made.close()


def test_what_is_made_while_nobody_asks_is_stopped_and_made_again_once_somebody_does():
    begun, stopped = [], Event()

    def make(item):
        if item == 1:
            begun.append(item)
            if len(begun) == 1:
                assert stopped.wait(PATIENCE_SECONDS)
            return len(begun)
        return 0

    made = in_order(range(9), [make] * 2, stopped.set, stopped.clear)
    assert next(made) == 0
    wait_until(stopped.is_set)
    assert next(made) == 2
    assert list(made) == [0] * 7


def test_a_stop_ends_with_the_result_that_is_due():
    stop, ended = Event(), Event()

    def make(item):
        if item == 1:
            stop.set()
            assert ended.wait(PATIENCE_SECONDS)
        return item

    made = in_order(count(), [make], ended.set, ended.clear, stop.is_set)
    assert list(made) in ([0], [0, 1])  # the stop may come before the first result is taken


@pytest.mark.parametrize("workers", [1, 3])
def test_what_the_items_raise_comes_after_those_before_it(workers):
    def items():
        yield from range(20)
        raise TimeoutError

    made = in_order(items(), [lambda item: -item] * workers, lambda: None)
    assert [next(made) for _ in range(20)] == [-item for item in range(20)]
    with pytest.raises(TimeoutError):
        next(made)


def test_what_a_worker_raises_comes_in_its_place_and_the_others_are_stopped():
    stopped = Event()

    def make(item):
        if item == 1:
            raise MemoryError
        if item == 2:
            assert stopped.wait(PATIENCE_SECONDS)

    made = in_order(count(), [make, make], stopped.set)
    assert next(made) is None
    with pytest.raises(MemoryError):
        next(made)
    assert stopped.is_set()


def test_who_wants_no_more_leaves_no_thread_behind():
    before = set(threading.enumerate())
    made = in_order(count(), [lambda item: item] * 2, lambda: None)
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    made.close()
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_while_one_is_handed_over_the_next_are_made_up_to_the_window():
    all_made = Event()
    handed_over = []

    def make(item):
        if item == WINDOW - 1:
            all_made.set()
        return -item

    def deliver(item, made):
        if item == 0:
            assert all_made.wait(PATIENCE_SECONDS)
        handed_over.append((item, made))

    deliver_in_order(range(WINDOW + 9), [make] * 2, deliver, lambda: None)
    assert handed_over == [(item, -item) for item in range(WINDOW + 9)]


def test_where_one_cannot_be_handed_over_none_after_it_is():
    stopped = Event()
    handed_over = []

    def deliver(item, _):
        if item == 3:
            raise BrokenPipeError
        handed_over.append(item)

    with pytest.raises(BrokenPipeError):
        deliver_in_order(count(), [lambda item: item] * 3, deliver, stopped.set)
    assert stopped.is_set()
    assert handed_over == [0, 1, 2]
