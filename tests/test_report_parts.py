"""What the report is made of: how runs differ, pictures of puzzles at fault, and what plots are drawn from."""

from __future__ import annotations

import os
import re

import msgspec
import pytest
from msgspec.structs import fields, replace

from nonobot.harness.report import plots
from nonobot.harness.report.contents import Run, machines, terms
from nonobot.harness.report.report_page import Gallery, cells_of
from nonobot.harness.results.conditions import Configuration, Counted, SetFacts
from nonobot.harness.results.run_result import PuzzleResult, Score, Verdict
from nonobot.protocol import mismatches
from tests import report_samples as samples
from tests.ranked import run_result

# Facts


def test_what_differs_is_marked():
    variants = machines([samples.MACHINE, samples.OTHER_MACHINE, samples.MACHINE])
    assert variants.differing == ["CPU", "Memory"]
    assert variants.letters == ["A", "B"]
    assert variants.letter_of == ["A", "B", "A"]
    load = replace(samples.MACHINE, load_average=7.0, busy_share=None)
    assert machines([samples.MACHINE, load]).differing == []


def run_on(configuration):
    return replace(samples.one_bot()[0], configuration=configuration)


@pytest.mark.parametrize("name", [field.name for field in fields(Configuration)])
def test_every_term_is_stated(name):
    values = {"feed": "interactive", "any_order": True, "core": 1, "memory_limit_bytes": 10**9}
    values |= {"contain": "yes", "process_limit": 5, "beside": "name"}
    other = msgspec.convert(msgspec.to_builtins(Configuration()) | {name: values.get(name, 5.0)}, Configuration)
    assert len(terms([run_on(Configuration()), run_on(other)]).differing) == 1


def test_how_a_bot_was_held_and_counted_is_stated():
    run, on_two = run_on(Configuration(core=1)), run_on(Configuration(core=(0, 1)))
    assert terms([run, on_two]).facts["Cores used"] == ["number 1 alone", "2: numbers 0, 1"]
    held = replace(run, attempts=[replace(run.attempts[0], contained=True, counted=Counted(cpu=True))])
    assert terms([run, held]).differing == ["Contained", "Counted by the kernel"]


# Pictures


WRONG = Run("wrong", 0, samples.run_of("wrong", samples.SMALL, lambda _: Verdict.WRONG))


def marks(*others: Run, **changes) -> int:
    """Return how many lines of a wrong answer are marked, with changes to the facts of its set."""
    gallery = Gallery(replace(WRONG.result.set, **changes), [WRONG, *others])
    [drawn] = re.findall(r'<path fill="var\(--bad\)" d="([^"]*)"', gallery.picture(WRONG.by_number[8])) or [""]
    return drawn.count("M")


def test_lines_at_fault_are_marked_if_the_set_or_a_right_answer_is_at_hand():
    puzzle = samples.known_set(samples.SMALL)[0].puzzles[7].puzzle
    at_fault = len(mismatches(puzzle, cells_of(WRONG.by_number[8], WRONG.result.set)))
    assert marks() == marks(Run("right", 1, samples.run_of("right")), name="gone.txt") == at_fault > 0


def test_without_the_puzzle_no_line_is_marked_and_no_endless_set_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert marks(sha256="0" * 64) == 0  # the set has changed
    endless = (str(tmp_path / "pipe"), "/dev/zero", "boardgen:10x10x99999999999:seed=1")
    for name in ("gone.txt", *endless, "boardgen:?", "", "\0"):
        assert marks(name=name) == 0


@pytest.mark.parametrize("cells", ["", "zz", "ff", "ff" * 14, "é", None])
def test_cells_that_are_no_grid_of_the_set_give_no_picture(cells):
    result = replace(samples.run_of("x").score.puzzles[0], cells_hex=cells)
    assert cells_of(result, SetFacts("x", "0" * 64, 10, 10, 60)) is None
    assert cells_of(result, SetFacts("x", "0" * 64, 0, 10, 60)) is None


# Plots


def run_with(times: dict[int, float]) -> Run:
    puzzles = [PuzzleResult(number, Verdict.RIGHT, None, took, took) for number, took in times.items()]
    return Run("x", 0, replace(run_result(), score=Score.of(puzzles)))


def test_a_running_median_follows_its_points():
    points = [(number, 1.0 + number % 3) for number in range(1, 201)]
    middle = plots.running_median(points)
    assert {time for _, time in middle} == {2.0}
    assert all(1 <= number <= 200 for number, _ in middle)
    assert plots.running_median(points[:10]) == []


def test_the_slowest_points_are_drawn_whatever_is_thinned():
    points = [(number, 1.0 + number % 7) for number in range(5000)]
    points[1234] = (1234, 99.0)
    kept = plots.thinned(points, 1000)
    assert len(kept) <= 1000
    assert (1234, 99.0) in kept
    assert kept == sorted(set(kept) & set(points))
    assert plots.thinned(points[:100], 100) == points[:100]


def test_duels_are_counted():
    first = run_with({1: 1.0, 2: 2.0, 3: 3.0, 4: 1e-5})
    second = run_with({2: 1.0, 3: 4.0, 4: 0.0, 5: 1.0, 6: 1.0})
    assert plots.duel_in_words(first, second) == (
        "3 puzzles solved by both, x faster on 1 of them, x on 1; 1 solved by x alone, 2 by x alone"
    )
