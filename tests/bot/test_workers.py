"""`nonobot --jobs`: puzzles solved at once, answered in their order."""

import threading
from itertools import count
from threading import Event, Lock, Thread

import pytest

from nonobot.bot.workers import WINDOW, deliver_in_order, in_order
from tests.helpers.waiting import PATIENCE_SECONDS, wait_until


def test_what_is_made_first_waits_for_what_came_before():
    second_is_made = Event()

    def make(item):
        if item == 0:
            assert second_is_made.wait(PATIENCE_SECONDS)
        else:
            second_is_made.set()
        return item * 10

    assert list(in_order(range(3), [make, make], lambda: None)) == [(0, 0), (1, 10), (2, 20)]


def test_each_worker_has_one_item_at_a_time_and_all_work_at_once():
    started = [Event() for _ in range(3)]
    of_worker = [Lock() for _ in range(3)]

    def worker(own):
        def make(item):
            assert own.acquire(blocking=False)
            if item < 3:
                started[item].set()
                assert all(one.wait(PATIENCE_SECONDS) for one in started)
            own.release()

        return make

    made = in_order(range(50), [worker(own) for own in of_worker], lambda: None)
    assert [item for item, _ in made] == list(range(50))


def test_items_are_looked_at_no_further_ahead_than_the_window():
    looked_at = []
    first_may_end, all_looked_at = Event(), Event()

    def items():
        for item in count():
            looked_at.append(item)
            yield item

    def make(item):
        if item == 0:
            assert first_may_end.wait(PATIENCE_SECONDS)
        elif item == WINDOW - 1:
            all_looked_at.set()

    made = in_order(items(), [make] * 2, first_may_end.set)
    one = Thread(target=lambda: next(made))
    one.start()
    assert all_looked_at.wait(PATIENCE_SECONDS)
    assert len(looked_at) == WINDOW
    first_may_end.set()
    one.join()
    for _ in range(5):
        next(made)
    wait_until(lambda: len(looked_at) == WINDOW + 6)
    made.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_what_the_items_raise_comes_after_those_before_it(workers):
    def items():
        yield from range(20)
        raise TimeoutError

    made = in_order(items(), [lambda item: -item] * workers, lambda: None)
    assert [next(made) for _ in range(20)] == [(item, -item) for item in range(20)]
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
    assert next(made) == (0, None)
    with pytest.raises(MemoryError):
        next(made)
    assert stopped.is_set()


def test_who_wants_no_more_leaves_no_thread_behind():
    before = set(threading.enumerate())
    made = in_order(count(), [lambda item: item] * 2, lambda: None)
    assert [next(made) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
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
