"""`nonobot --jobs`: puzzles solved at once, answered in their order."""

import _thread
import os
import random
import signal
import sys
import threading
import time
import warnings
from itertools import count
from queue import SimpleQueue
from threading import Event, Lock

import pytest

from nonobot.bot.workers import AHEAD, WINDOW, deliver_in_order, in_order, on_request
from nonobot.protocol import Puzzle
from tests.helpers.boards import random_grid
from tests.helpers.talking import STRATEGIES, batch, carried_out, counted, run
from tests.helpers.waiting import PATIENCE_SECONDS, wait_until


def test_a_result_finished_early_waits_for_earlier_results():
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


@pytest.mark.parametrize(("workers", "ahead"), [(1, 1), (2, 2 * AHEAD)])
def test_tasks_are_read_in_the_callers_thread_and_a_few_ahead(workers, ahead):
    looked_at = []
    all_read = Event()

    def items():
        for item in count():
            looked_at.append((item, threading.get_ident()))
            if item == ahead - 1:
                all_read.set()
            yield item

    def make(item):
        assert all_read.wait(PATIENCE_SECONDS)
        return -item

    made = in_order(items(), [make] * workers, lambda: None)
    assert next(made) == 0
    assert looked_at == [(item, threading.get_ident()) for item in range(ahead)]
    assert [next(made) for _ in range(5)] == [-1, -2, -3, -4, -5]
    assert len(looked_at) == ahead + 5
    made.close()


def test_work_ahead_is_stopped_while_idle_and_repeated_on_demand():
    begun, has_begun, stopped = [], Event(), Event()

    def make(item):
        if item == 1:
            begun.append(item)
            has_begun.set()
            if len(begun) == 1:
                assert stopped.wait(PATIENCE_SECONDS)
            return len(begun)
        assert has_begun.wait(PATIENCE_SECONDS)  # while this is asked for, nothing is stopped
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
def test_an_error_of_the_input_is_raised_after_the_earlier_results(workers):
    def items():
        yield from range(20)
        raise TimeoutError

    made = in_order(items(), [lambda item: -item] * workers, lambda: None)
    assert [next(made) for _ in range(20)] == [-item for item in range(20)]
    with pytest.raises(TimeoutError):
        next(made)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_of_the_tasks_is_raised_after_earlier_deliveries(workers):
    def tasks():
        yield from range(20)
        raise TimeoutError

    delivered = []
    with pytest.raises(TimeoutError):
        deliver_in_order(
            tasks(), [lambda task: -task] * workers, lambda *done: delivered.append(done), lambda: None
        )
    assert delivered == [(task, -task) for task in range(20)]


def test_a_workers_error_is_raised_in_order_and_stops_the_other_workers():
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


def test_a_task_may_need_the_result_of_the_one_before():
    results = SimpleQueue()

    def items():
        for item in range(5):
            yield item
            assert results.get(timeout=PATIENCE_SECONDS) == item

    for item in in_order(items(), [lambda item: item], lambda: None):
        results.put(item)


def test_closing_the_results_early_leaves_no_thread():
    before = _thread._count()
    made = in_order(count(), [lambda item: item] * 2, lambda: None)
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    made.close()
    wait_until(lambda: _thread._count() <= before)


def test_closing_the_results_waits_for_running_work():
    begun, stopped, ended = Event(), Event(), Event()

    def make(item):
        if item:
            begun.set()
            assert stopped.wait(PATIENCE_SECONDS)
            for _ in range(100):  # as a kernel, which looks for the end now and then
                time.sleep(0)
            ended.set()
        else:
            assert begun.wait(PATIENCE_SECONDS)  # while this is asked for, nothing is stopped
        return item

    made = in_order(count(), [make] * 2, stopped.set)
    assert next(made) == 0
    made.close()
    assert ended.is_set()


def test_closing_the_results_does_not_wait_for_a_thread_that_cannot_stop():
    begun, goes_on = Event(), Event()

    def make(item):
        if item:
            begun.set()
            assert goes_on.wait(PATIENCE_SECONDS)  # as a compilation
        else:
            assert begun.wait(PATIENCE_SECONDS)  # while this is asked for, nothing is stopped
        return item

    made = in_order(count(), [make] * 2, lambda: None)
    assert next(made) == 0
    made.close()
    goes_on.set()


def test_closing_reusable_workers_waits_for_all_of_them(monkeypatch):
    monkeypatch.setattr("nonobot.bot.workers.SECONDS_TO_END", 0)
    begun, stopped, ended = Event(), Event(), Event()

    def make(item):
        if item:
            begun.set()
        assert stopped.wait(PATIENCE_SECONDS)
        if item:
            for _ in range(1000):  # as a compilation, which goes on after a stop
                time.sleep(0.001)
            ended.set()
        return item

    made = in_order(range(2), [make] * 2, stopped.set, lambda: None, begun.is_set)
    assert [*made] == [0]
    assert ended.is_set()


def test_no_more_threads_than_tasks_are_started():
    before = _thread._count()
    seen = []

    def make(item):
        seen.append(_thread._count() - before)
        return item

    assert [*in_order(range(3), [make] * 1000, lambda: None)] == [0, 1, 2]
    assert max(seen) <= 4  # one thread looks whether the caller has left


def in_order_of_two():
    return list(in_order(range(3), [lambda item: item] * 2, lambda: None))


def all_on_request():
    return list(on_request(iter(range(3)), lambda: None, None))


@pytest.mark.parametrize("run", [in_order_of_two, all_on_request])
def test_an_interrupt_at_any_point_is_raised_unchanged_and_leaves_no_thread(run):
    """Interrupts where Python calls the handlers of signals: at each call, and after each of a built-in."""
    before = _thread._count()

    def interrupt(_frame, event, _argument):
        nonlocal left
        if event in ("call", "c_return"):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    for moment in count(1):
        left = moment
        sys.setprofile(interrupt)
        try:
            found = run()
        except KeyboardInterrupt:
            pass
        else:
            break
        finally:
            sys.setprofile(None)
        wait_until(lambda: _thread._count() <= before)
    assert moment > 20
    assert found == [0, 1, 2]


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_workers_continue_in_a_forked_child(jobs):
    """The iterator of a parent, also in its child: `on_request` for no jobs, or `in_order`."""
    made = (
        in_order(iter(range(20)), [lambda item: item] * jobs, lambda: None)
        if jobs
        else on_request(iter(range(20)), lambda: None, None)
    )
    assert [next(made), next(made)] == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads beside a fork
        child = os.fork()
    if not child:
        signal.alarm(int(PATIENCE_SECONDS))
        os._exit(0 if [*made] == [*range(2, 20)] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [*made] == [*range(2, 20)]


def test_while_a_result_is_delivered_the_next_results_are_computed():
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


def test_a_failed_delivery_stops_all_later_deliveries():
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


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("jobs", ["1", "2", "auto"])
def test_answers_messages_and_counts_are_the_same_with_any_number_of_jobs(jobs, strategy, tmp_path):
    rng = random.Random(9)
    boards = [Puzzle.from_grid(random_grid(rng, 12, 12, rng.uniform(0.35, 0.6))) for _ in range(20)]
    text = batch(*boards[:10], b"x\n" * 3, *boards[10:])
    options = ("--size", "12x12", "--solutions", "2", "--strategy", strategy)
    outcomes = []
    for command, number in ((run, jobs), (carried_out, "1")):
        done = command(text, *options, "--jobs", number, "--stats", str(tmp_path / "stats"))
        outcomes.append((done.stdout, done.stderr, done.returncode, counted(tmp_path / "stats")))
    assert outcomes[0] == outcomes[1]
