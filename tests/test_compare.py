"""Two sides puzzle by puzzle: what counts, what is refused, what is said, and the exit status."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nonobot.arguments import Parser
from nonobot.harness.commands import compare
from nonobot.harness.errors import UnusableError
from nonobot.harness.ranking.compared_runs import Side
from nonobot.harness.ranking.comparison import Limits, Outcome
from nonobot.harness.ranking.comparison import compare as compared
from nonobot.harness.ranking.comparison_text import judgement
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.results.terms import Contain, Feed, Terms
from nonobot.harness.statistics import Ratio
from nonobot.harness.text import duration, interval_in_words, percent, ratio_in_words
from tests.ranked import MACHINE, run_result, verify_result, written


def run(*arguments):
    """Carry out a command line of the command; return its exit status."""
    parser = Parser(prog="nonojudge compare")
    compare.add_to(parser)
    parsed = parser.parse_args([*map(str, arguments)])
    return parsed.carry_out(parsed)


def side(label, *runs):
    by_set = {}
    for one in runs:
        by_set.setdefault(one.set.sha256, []).append(one)
    return Side(label, runs[0].bot, by_set, [])


def between(before, after, **limits):
    """Compare two lists of runs."""
    return compared(side("before", *before), side("after", *after), Limits(**limits))


def times(seed, count=200, slower=1.0, noise=0.2):
    base = np.random.default_rng(0).lognormal(-5, 1.5, count)
    return [float(one) for one in base * slower * np.random.default_rng(seed).lognormal(0, noise, count)]


def test_identical_results_give_one_and_one_of_them_says_nothing_of_the_next(tmp_path, capsys):
    [path] = written(tmp_path, a=run_result(times=times(1)))
    assert run(path, path, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    for ratio in found["ratios"].values():
        assert ratio == {"estimate": 1.0, "low": 1.0, "high": 1.0}
    assert (found["faster_count"], found["slower_count"], found["worse"]) == (0, 0, False)
    assert found["outcome"] == "cannot tell"
    assert (
        found["wall"]["ratio"]["low"] < found["wall"]["ratio"]["estimate"] == 1.0 < found["wall"]["ratio"]["high"]
    )
    assert found["cpu"] is None


def five(first_seed, slower=1.0, **facts):
    """Return five runs of one code; each has the noise of its puzzles and next to none of its own."""
    return [run_result(times=times(first_seed + at, 1000, slower, noise=0.05), **facts) for at in range(5)]


def test_a_slow_down_beyond_the_tolerance_is_told_and_ends_with_1(tmp_path, capsys):
    for name, runs in (("a", five(1)), ("b", five(11, slower=1.1))):
        written(tmp_path / name, **{f"run{at}": one for at, one in enumerate(runs)})
    a, b = tmp_path / "a", tmp_path / "b"
    assert run(a, b) == 1
    out = capsys.readouterr().out
    assert "\nworse\n" in out
    assert "in wall time, which tournaments rank by, after is " in out
    assert "% slower, 95 % interval" in out
    assert "beyond the tolerance of 2 %" in out
    assert run(b, a) == 0
    out = capsys.readouterr().out
    assert "\nfaster\n" in out
    assert "faster beyond the tolerance of 2 %" in out
    assert run(a, b, "--tolerance", "0.5") == 0
    out = capsys.readouterr().out
    assert "\nnot worse\n" in out
    assert "within the tolerance of 50 %" in out


def test_one_run_a_side_cannot_tell_and_ends_with_3(tmp_path, capsys):
    a, b = written(tmp_path, a=run_result(times=times(1)), b=run_result(times=times(2, slower=1.1)))
    assert run(a, b) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert " cannot tell in wall time" in out
    assert "a single turn of a side does not show how far the machine drifts: by experience two such runs" in out
    assert "runs of the same code may differ by 27.6 %: run both sides more often, by turns" in out
    [worse] = written(tmp_path, worse=run_result(times=times(2, slower=2.0)))
    assert run(a, worse) == 1


def test_puzzles_that_go_different_ways_ask_for_a_larger_set():
    before, after = five(1), five(11)
    luck = np.random.default_rng(2).lognormal(-0.5, 1, 1000)
    for at, one in enumerate(after):
        moved = [puzzle.took_seconds * each for puzzle, each in zip(one.score.puzzles, luck, strict=True)]
        after[at] = run_result(times=moved)
    found = between(before, after)
    assert found.outcome is Outcome.CANNOT_TELL
    assert "other puzzles may change it by " in judgement(found)[0]
    assert judgement(found)[0].endswith(": take a larger set")


def test_cpu_time_decides_where_a_bot_has_one_core():
    """Others at work make the wall times longer, and not those of the CPU; both are shown."""
    one_core = Terms(core=1)
    before = five(1, terms=one_core, wall=10.0, cpu=10.0)
    shared = [
        run_result(times=[2 * one.took_seconds for one in each.score.puzzles], terms=one_core, wall=20.0, cpu=10.0)
        for each in five(11)
    ]
    found = between(before, shared)
    assert found.cpu is not None
    assert found.cpu.ratio.estimate == pytest.approx(1.0, abs=0.03)
    assert found.outcome is Outcome.CANNOT_TELL  # a bot that sleeps looks just like this
    assert "after is 99.9 % slower" in judgement(found)[1]
    assert judgement(found)[1].endswith(": it waits, or others had the core")
    assert between(shared, before, tolerance=0.05).outcome is Outcome.NOT_WORSE
    slower = five(11, slower=1.1, terms=one_core, wall=10.0, cpu=10.0)
    assert judgement(between(before, slower))[0].startswith("in CPU time after is ")
    assert between(before, slower).outcome is Outcome.WORSE


@pytest.mark.slow
@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_swapping_the_sides_turns_everything_around(before, random):
    after = [random.choice([None, one, one * 1.5, 0.0]) for one in before]
    there = between([run_result(times=before)], [run_result(times=after)])
    back = between([run_result(times=after)], [run_result(times=before)])
    assert (there.faster_count, there.slower_count) == (back.slower_count, back.faster_count)
    assert [one.puzzle for one in there.newly_lost] == [one.puzzle for one in back.newly_solved]
    assert (there.ratios is None) == (back.ratios is None)
    if there.ratios and back.ratios:
        assert there.ratios.each.low == pytest.approx(1 / back.ratios.each.high, rel=1e-6)


def test_only_puzzles_right_on_both_sides_have_their_times_compared():
    before = run_result(times=(1.0, 2.0, 9.0, 1.0), verdicts={3: Verdict.WRONG})
    after = run_result(times=(2.0, 4.0, 0.1, None))
    found = between([before], [after])
    assert found.compared_count == 2
    assert found.ratios is not None
    assert found.ratios.each.estimate == pytest.approx(2.0)
    assert (found.before.total_seconds, found.after.total_seconds) == (3.0, 6.0)
    assert [(one.puzzle, one.before_verdict) for one in found.newly_solved] == [(3, "wrong")]
    assert [(one.puzzle, one.after_verdict) for one in found.newly_lost] == [(4, "missing")]


@pytest.mark.parametrize(("lost", "solved", "worse"), [(1, 0, True), (1, 1, False), (2, 1, True), (0, 3, False)])
def test_more_lost_than_solved_is_worse(lost, solved, worse):
    before = [1.0] * 10 + [1.0] * lost + [None] * solved
    after = [1.0] * 10 + [None] * lost + [1.0] * solved
    found = between([run_result(times=before)], [run_result(times=after)])
    assert found.worse is worse
    if worse:
        assert "more lost than solved" in judgement(found)[0]


def test_nothing_right_on_both_sides(tmp_path, capsys):
    a, b = written(tmp_path, a=run_result(times=(1.0, None)), b=run_result(times=(None, 1.0)))
    assert run(a, b) == 3
    out = capsys.readouterr().out
    assert "no puzzle is right on both sides" in out
    assert "newly solved 1: $2 (was missing)" in out
    assert "newly lost 1: $1 (missing)" in out


def test_few_puzzles_decide_nothing():
    found = between([run_result(times=[1.0] * 4)], [run_result(times=[3.0] * 4)])
    assert found.outcome is Outcome.CANNOT_TELL
    assert "too few" in found.notes[0]
    assert "too few puzzles to count" in judgement(found)[0]
    assert between([run_result(times=[1.0] * 5)], [run_result(times=[3.0] * 5)]).outcome is Outcome.WORSE


def test_one_puzzle_with_half_of_the_time_decides_nothing():
    """Of a set of easy puzzles it is the start of the bot's process."""
    found = between([run_result(times=[5.0, *[1.0] * 4])], [run_result(times=[15.0, *[1.0] * 4])])
    assert found.outcome is Outcome.CANNOT_TELL
    assert found.notes[1] == "one puzzle has half of the time or more: times of a single turn decide nothing"
    assert between([run_result(times=[5.0, *[1.0] * 7])], [run_result(times=[15.0, *[3.0] * 7])]).worse


def test_repeats_count_by_the_median_of_each_puzzle():
    before = [run_result(times=one) for one in ([1.0, 5.0], [2.0, 1.0], [90.0, 3.0])]
    after = [run_result(times=[4.0, 3.0])]
    found = between(before, after)
    assert (found.before.total_seconds, found.after.total_seconds) == (5.0, 7.0)
    assert found.before.run_count == 3


def test_a_puzzle_is_right_if_it_was_so_in_more_than_half_of_the_runs():
    def runs(*right):
        return [run_result(times=[1.0, 1.0 if one else None]) for one in right]

    always = runs(True)
    assert between(always, runs(True, True, False)).after.right == 2
    half = between(always, runs(True, False))
    assert half.after.right == 1
    assert [one.puzzle for one in half.newly_lost] == [2]
    assert half.newly_lost[0].after_verdict is Verdict.MISSING


def test_repeats_tame_an_outlier_of_one_run():
    quiet = [run_result(times=times(seed, noise=0.01)) for seed in range(3)]
    disturbed = [
        *(run_result(times=times(seed, noise=0.01)) for seed in (5, 6)),
        run_result(times=times(7, slower=2.0)),
    ]
    found = between(quiet, disturbed)
    assert found.outcome is Outcome.CANNOT_TELL
    assert found.after.drift > 0.9
    assert between(quiet[:1], disturbed[2:]).worse


def test_several_sets_are_compared_puzzle_by_puzzle():
    found = between(
        [run_result(times=[1.0, 1.0], set_name="x"), run_result(times=[2.0] * 3, set_name="y")],
        [run_result(times=[4.0] * 3, set_name="y"), run_result(times=[2.0, None], set_name="x")],
    )
    assert (found.puzzle_count, found.compared_count) == (5, 4)
    assert found.ratios is not None
    assert found.ratios.each.estimate == pytest.approx(2.0)
    assert [(one.set, one.puzzle) for one in found.newly_lost] == [("x", 2)]


def test_stamps_that_are_zero_or_run_backwards_break_nothing(tmp_path, capsys):
    odd = [0.0, -1e-5, 1e-6, 5e-5, 0.002, 0.0]
    a, b = written(tmp_path, a=run_result(times=odd), b=run_result(times=odd[::-1]))
    assert run(a, b) == 3
    out = capsys.readouterr().out
    assert "too short to tell: below 100 µs" in out
    assert "warning: 6 of 6 puzzles took less than 100 µs by the judge's clock" in out


@pytest.mark.parametrize(("short", "warned"), [(0, False), (5, False), (6, True)])
def test_many_answers_in_one_burst_are_told(short, warned):
    burst = [0.0] * short + [1.0] * (100 - short)
    for sides in (([1.0] * 100, burst), (burst, [1.0] * 100)):
        found = between(*([run_result(times=one)] for one in sides))
        assert [f"{short} of 100 puzzles" in line for line in found.warnings] == [True] * warned


def test_the_same_arguments_say_the_same_and_another_seed_something_else(tmp_path, capsys):
    a, b = written(tmp_path, a=run_result(times=times(1)), b=run_result(times=times(2)))
    said = []
    for seed in (0, 0, 1):
        run(a, b, "--json", "--seed", seed)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def test_a_higher_confidence_asks_for_a_wider_interval():
    sides = [run_result(times=times(1))], [run_result(times=times(2))]
    found = [between(*sides, confidence=one) for one in (0.99, 0.8)]
    for wide, narrow in ([one.ratios.each for one in found], [one.wall.ratio for one in found]):
        assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("form", ["folders", "options"])
def test_sides_of_several_files(tmp_path, capsys, form):
    old = written(tmp_path / "old", a=run_result(times=times(1)), b=run_result(times=times(2)))
    new = written(tmp_path / "new", a=run_result(times=times(3)), b=run_result(times=times(4)))
    arguments = [tmp_path / "old", tmp_path / "new"] if form == "folders" else ["--before", *old, "--after", *new]
    assert run(*arguments, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["schema_version"]) == ("comparison", 1)
    assert (found["before"]["run_count"], found["after"]["run_count"]) == (2, 2)
    assert found["notes"] == []


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            run_result(set_name="set2"),
            r"not the same sets: before was run on set1 \(sha256 set1-dig\), after on set2",
        ),
        (run_result(times=(1.0, 1.0)), "was --size the same"),
        (verify_result("answers.txt", 3), "is a checked answer file, without times"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, other, message):
    a, b = written(tmp_path, a=run_result(), b=other)
    with pytest.raises(UnusableError, match=message):
        run(a, b)


def test_a_log_is_refused(tmp_path):
    [a] = written(tmp_path, a=run_result())
    (tmp_path / "b.log").write_text("#1\t1\n")
    with pytest.raises(UnusableError, match="a bot's log, whose answers nobody saw"):
        run(a, tmp_path / "b.log")


def test_a_side_is_one_bot(tmp_path):
    written(tmp_path / "mixed", a=run_result("one"), b=run_result("two"))
    with pytest.raises(
        UnusableError, match=r"before holds runs of different bots: one in .*a.json, two in .*b.json"
    ):
        run(tmp_path / "mixed", tmp_path / "mixed")


@pytest.mark.parametrize(
    "arguments", [[], ["a"], ["a", "b", "c"], ["--before", "a"], ["a", "b", "--before", "a", "--after", "b"]]
)
def test_other_numbers_of_sides_are_refused(arguments):
    with pytest.raises(UnusableError, match="takes two results or folders"):
        run(*arguments)


@pytest.mark.parametrize(
    "option", [("--tolerance", "-0.1"), ("--tolerance", "2 %"), ("--confidence", "1"), ("--confidence", "nan")]
)
def test_unusable_options_end_with_2(option, capsys):
    with pytest.raises(SystemExit) as end:
        run("a", "b", *option)
    assert end.value.code == 2
    assert "is not a share" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        (
            {"machine": structs.replace(MACHINE, cpu="Other CPU")},
            "not the same CPU: Fast CPU (before); Other CPU (after)",
        ),
        ({"machine": structs.replace(MACHINE, numba="0.1")}, "not the same numba: 0.68.0 (before); 0.1 (after)"),
        ({"terms": Terms(core=1)}, "not the same number of cores: any (before); 1 (after)"),
        ({"terms": Terms(feed=Feed.INTERACTIVE)}, "not the same feed: batch (before); interactive (after)"),
        ({"terms": Terms(memory_limit_bytes=10)}, "not the same memory limit: none (before); 10 bytes (after)"),
        ({"warm_up_seconds": None}, "not the same start: warmed up (before); perhaps cold (after)"),
        ({"judge_version": "2.0"}, "not the same judge: 1.0 (before); 2.0 (after)"),
        (
            {"machine": structs.replace(MACHINE, busy_share=0.5)},
            "the machine was busy at the start of after: others used 50 % of its CPU time",
        ),
        ({"end": EndReason.CRASHED}, "not every run of after finished: crashed"),
    ],
)
def test_what_makes_a_comparison_doubtful_is_told(changed, warning):
    assert between([run_result()], [run_result()]).warnings == []
    assert between([run_result()], [run_result(**changed)]).warnings == [warning]


def test_every_field_of_the_terms_is_looked_at():
    fields = {"feed": Feed.INTERACTIVE, "any_order": True, "contain": Contain.YES}
    for name in structs.asdict(Terms()):
        changed = structs.replace(Terms(), **{name: fields.get(name, 77)})
        assert len(between([run_result()], [run_result(terms=changed)]).warnings) == 1, name


def test_runs_on_more_cores_are_no_change_of_the_bot():
    one, two = run_result(terms=Terms(core=1)), run_result(terms=Terms(core=(0, 1)))
    with pytest.raises(UnusableError, match="not run on as many cores: before on 1; after on 2; "):
        between([one], [two])
    assert between([two], [two]).warnings == []


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Ratio(1.073, 1.051, 1.098), ("7.3 % slower", "5.1 % to 9.8 %")),
        (Ratio(0.9, 0.85, 0.95), ("10 % faster", "5 % to 15 %")),
        (Ratio(1.001, 0.988, 1.004), ("0.1 % slower", "1.2 % faster to 0.4 % slower")),
        (Ratio(1.0, 1.0, 1.0), ("as fast", "0 % to 0 %")),
        (Ratio(1.02, 1.0, 1.04), ("2 % slower", "as fast to 4 % slower")),
        (Ratio(3.5, 3.1, 4.0), ("250 % slower", "210 % to 300 %")),
    ],
)
def test_ratios_in_words(ratio, words):
    assert (ratio_in_words(ratio.estimate), interval_in_words(ratio)) == words


def test_numbers_in_words():
    assert [duration(one) for one in (0.0001, 0.00123, 0.0456, 1.5, 82.123, 7200)] == [
        "100 µs",
        "1.23 ms",
        "45.6 ms",
        "1.50 s",
        "82.1 s",
        "7,200 s",
    ]
    assert [percent(one) for one in (0.02, 0.025, 0.999, 0.95, 2.344)] == [
        "2 %",
        "2.5 %",
        "99.9 %",
        "95 %",
        "234 %",
    ]
