"""`nonobot --jobs`: puzzles solved at once, answered in their order."""

from __future__ import annotations

import random
import signal
import threading
from itertools import count
from threading import Event, Lock, Thread

import pytest

from nonobot.bot.workers import WINDOW, deliver_in_order, in_order
from nonobot.protocol import Puzzle, format_puzzle
from tests.boards import random_grid
from tests.talking import (
    FULL,
    GOOD,
    GRID,
    NONE,
    PATIENCE_SECONDS,
    STRATEGIES,
    TWO,
    answers,
    batch,
    carried_out,
    counted,
    hard,
    run,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("compiled")


# The workers


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

    assert [item for item, _ in in_order(range(50), [worker(own) for own in of_worker], lambda: None)] == list(
        range(50)
    )


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


# The command

JOBS = ("--jobs", "2")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("jobs", ["2", pytest.param("5", marks=pytest.mark.slow), "auto"])
def test_answers_words_and_counts_are_those_of_one_job(jobs, strategy, tmp_path):
    rng = random.Random(9)
    boards = [Puzzle.from_grid(random_grid(rng, 12, 12, rng.uniform(0.35, 0.6))) for _ in range(20)]
    text = batch(*boards[:10], b"x\n" * 3, *boards[10:])
    options = ("--size", "12x12", "--solutions", "2", "--strategy", strategy)
    outcomes = []
    for command, number in ((run, jobs), (carried_out, "1")):
        done = command(text, *options, "--jobs", number, "--stats", str(tmp_path / "stats"))
        outcomes.append((done.stdout, done.stderr, done.returncode, counted(tmp_path / "stats")))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("choice", "stands"), [("zeros", [[0] * 62] * 62), pytest.param("omit", b"", marks=pytest.mark.slow)]
)
def test_a_puzzle_given_up_holds_its_place(choice, stands):
    text = batch(hard(), Puzzle.from_grid(FULL), Puzzle.from_grid(FULL))
    done = run(text, "--size", "62x62", "--puzzle-limit", "0.5", "--on-unsolved", choice, *JOBS)
    assert done.stdout == answers(stands, FULL, FULL)
    assert done.stderr == b"$1: line 1: not solved within the limit of 0.5 s\n"
    assert done.returncode == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_closed_stdout_ends_it_quietly_with_a_puzzle_in_work(talk, strategy):
    one = talk("--size", "62x62", "--strategy", strategy, *JOBS)
    one.send(batch(Puzzle.from_grid(FULL)))
    assert one.receive(len(answers(FULL))) == answers(FULL)
    one.process.stdout.close()
    one.send(format_puzzle(2, Puzzle.from_grid(FULL)) + format_puzzle(3, hard()) * 4)
    assert one.process.wait(PATIENCE_SECONDS) == 1
    assert one.process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_in_the_middle_of_puzzles(talk, number):
    one = talk("--size", "62x62", *JOBS)
    expected = answers(FULL)
    one.send(batch(Puzzle.from_grid(FULL), hard(), hard()))
    assert one.receive(len(expected)) == expected
    one.process.send_signal(number)
    assert one.end() == (-number, b"", b"")


def test_a_full_disk_under_the_records_costs_no_answer():
    done = run(batch(GOOD, NONE, TWO), "--size", "2x2", "--log", "/dev/full", *JOBS)
    assert done.stdout.startswith(answers(GRID, [[0, 0], [0, 0]]) + b"$3\n")
    assert b"nonobot: cannot write /dev/full: No space left on device; no further" in done.stderr
    assert done.returncode == 1


def test_jobs_do_not_go_with_watching():
    done = run(b"", "--jobs", "2", "--watch", "x")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"--watch" in done.stderr
