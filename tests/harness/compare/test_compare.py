"""Two versions compared: pairs of runs, puzzle by puzzle, what is refused, the words, and the exit status."""

import json
import re
from functools import partial
from statistics import geometric_mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nonobot.harness import UnusableError, cli
from nonobot.harness.commands import compare
from nonobot.harness.compare.compared_runs import Version
from nonobot.harness.compare.comparison import Limits
from nonobot.harness.compare.comparison import compare as compared
from nonobot.harness.compare.comparison_text import as_text
from nonobot.harness.compare.statistics import Outcome, Ratio
from nonobot.harness.results.conditions import Configuration, Contain, Feed, digest_of_variable
from nonobot.harness.results.run_result import EndReason, Verdict
from tests.helpers.benching import carry_out
from tests.helpers.ranked import MACHINE, run_result, verify_result, written

PUZZLES = np.random.default_rng(0).lognormal(-5, 1.0, 40)
ONE_CORE = Configuration(core=1)


run = partial(carry_out, compare)


def version(label, *runs):
    by_set = {}
    for run in runs:
        by_set.setdefault(run.set.sha256, []).append(run)
    return Version(label, runs[0].bot, by_set, [])


def between(before, after, **limits):
    return compared(version("before", *before), version("after", *after), Limits(**limits))


def runs(*times, **facts):
    return [run_result(times=times_of_run, **facts) for times_of_run in times]


def run_at(second, factor=1.0, **facts):
    return run_result(times=PUZZLES * factor, started_at=f"2026-01-01T00:00:{second:02}Z", **facts)


def alternating(slower=1.0, pairs=7, noise=0.003, **facts):
    """Return alternating runs of two versions: the runs before, and those after, which take longer."""
    random = np.random.default_rng(pairs)
    before = [run_at(2 * number, random.lognormal(0, noise), **facts) for number in range(pairs)]
    after = [run_at(2 * number + 1, slower * random.lognormal(0, noise), **facts) for number in range(pairs)]
    return before, after


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ((1, 3, 5), (2, 4, 6), 3),
        ((5, 1, 3), (6, 2, 4), 3),
        ((1, 4, 5), (2, 3, 6), 3),  # in random order within each pair
        ((1, 2, 3), (4, 5, 6), 1),
        ((1, 6), (3,), 1),
    ],
)
def test_runs_are_a_pair_if_no_other_started_between_them(before, after, pairs):
    assert between(map(run_at, before), map(run_at, after)).wall.pairs == pairs


def test_a_slow_drift_of_the_machine_does_not_hide_a_slowdown():
    """A machine that becomes slower by a third in the course of fourteen runs does not hide a tenth."""
    drift = np.exp(np.linspace(0.0, 0.3, 14))
    before, after = (
        [run_at(s, slower * drift[s]) for s in range(first, 14, 2)] for first, slower in ((0, 1), (1, 1.1))
    )
    comparison = between(before, after)
    assert comparison.outcome is Outcome.WORSE
    assert comparison.wall.before_drift > 0.3


def test_runs_that_shared_a_core_are_pairs_in_whatever_order_they_are_read():
    random = np.random.default_rng(3)
    before, after = [], []
    for name, speed in zip("abcdefg", random.lognormal(0, 0.1, 7), strict=True):
        for side, slower in ((before, 1.0), (after, 1.05)):
            took = PUZZLES * speed * slower * random.lognormal(0, 0.003)
            terms = Configuration(core=1, shared_core=name)
            side.append(run_result(times=2 * took, wall=2 * took.sum(), cpu=took.sum(), terms=terms))
    comparison = between(before, after[::-1])
    assert (comparison.outcome, comparison.cpu.pairs, comparison.wall) == (Outcome.WORSE, 7, None)
    mean = geometric_mean(run.usage.cpu_seconds for run in before)
    assert comparison.cpu.before_seconds == pytest.approx(mean, rel=0.01)
    alone = [structs.replace(run, configuration=ONE_CORE, started_at="2027") for run in after]
    assert between(before, alone).outcome is Outcome.CANNOT_TELL


def test_a_duel_on_parts_of_a_set_is_compared_by_cpu_time_only():
    """Two bots share the core: the scheduler decides when each of them answers."""
    random = np.random.default_rng(5)
    before, after = [], []
    for number in range(1, 13):
        for side, slower in ((before, 1.0), (after, 1.05)):
            took = number * PUZZLES * slower * random.lognormal(0, 0.003)
            terms = Configuration(core=1, shared_core=f"round{number}")
            name = f"x@{(number - 1) % 6 + 1}/6"
            usage = {"wall": 2 * took.sum(), "cpu": took.sum()}
            side.append(run_result(times=2 * took, **usage, terms=terms, set_name=name))
    first = between(before[:6], after[:6], sequential=True)
    assert (first.outcome, first.cpu.pairs, first.set_names) == (Outcome.WORSE, 6, ["x"])
    unclear = between(before, after, sequential=True, tolerance=0.05)
    assert unclear.duels == ["nonojudge duel BEFORE AFTER --set x --until --rounds 24"]
    shown = as_text(first, terminal=False)
    assert shown.startswith("x\n")
    assert "CPU time of a run" in shown
    assert not re.findall(r"wall|faster|puzzle by puzzle|most changed|\b0 s", shown)
    assert json.loads(first.to_json())["ratios"] is None


def test_a_duel_without_commonly_solved_puzzles_suggests_a_next_step():
    terms = Configuration(core=1, shared_core="x")
    idle, left, right = (run_result(times=some, terms=terms) for some in ((None, None), (1.0, None), (None, 1.0)))
    check, lost = "look at `nonojudge check -- ./bot`", "look at the puzzles newly solved and newly lost"
    for before, after, note, look in (
        (idle, idle, "before and after solved no puzzle:", f"{check} and `nonojudge check"),
        (left, idle, "after solved no puzzle:", check),
        (left, right, "no puzzle is right in both versions:", lost),
    ):
        comparison = between([before], [after])
        assert comparison.notes[0].startswith(note)
        assert comparison.notes[1].startswith(look)
        assert comparison.duels == []
        assert comparison.reasons[-1].startswith("no puzzle is right in both: more rounds cannot help, a set")


def test_runs_of_several_sets_are_paired_by_their_total_time():
    before, after = (
        [
            run_result(times=[seconds] * 6, set_name=name, started_at=str(second))
            for name, seconds in (("x", x), ("y", 3.0))
            for second in range(first, 14, 2)
        ]
        for x, first in ((1.0, 0), (2.0, 1))
    )
    comparison = between(before, after)
    assert (comparison.wall.before_seconds, comparison.wall.after_seconds) == pytest.approx((24.0, 30.0))
    assert comparison.wall.ratio == Ratio(*[pytest.approx(30 / 24)] * 3)


def test_several_runs_count_by_the_median_of_each_puzzle():
    after = [*runs([1, 2, 3], [1, 2, 3]), run_result(times=[1, 2, 9], verdicts={3: Verdict.WRONG})]
    assert between(runs([1, 2, 3]), after).wall.ratio.estimate == pytest.approx(1.0)
    before = runs([1.0, 5.0], [2.0, 1.0], [90.0, 3.0])
    assert between(before, runs([4.0, 3.0])).seconds == [(2.0, 4.0), (3.0, 3.0)]


def test_cpu_time_decides_where_a_bot_has_one_core():
    """Others at work make the wall times longer, and not those of the CPU; both are shown."""
    before, after = alternating(terms=ONE_CORE, wall=10.0, cpu=10.0)
    shared = [
        structs.replace(short, score=long.score, attempts=long.attempts)
        for short, long in zip(after, alternating(2.0, terms=ONE_CORE, wall=20.0, cpu=10.0)[1], strict=True)
    ]
    comparison = between(before, shared)
    assert comparison.cpu.ratio.estimate == pytest.approx(1.0, abs=0.01)
    assert comparison.wall.ratio.estimate == pytest.approx(2.0, abs=0.01)
    assert comparison.outcome is Outcome.CANNOT_TELL  # a bot that sleeps looks just like this
    assert "it waits, or others had the core" in comparison.reasons[2]
    assert between(shared, before).outcome is Outcome.NOT_WORSE
    slower = alternating(1.1, terms=ONE_CORE, wall=10.0, cpu=10.0)
    assert between(*slower).outcome is Outcome.WORSE
    assert between(*slower).reasons[0].startswith("in CPU time after is ")
    for core, cpu in ((None, 1.0), ((0, 1), 1.0), (0, 0.0)):
        sides = [run_result(terms=Configuration(core=core), cpu=cpu)]
        assert between(sides, sides).cpu is None


def saved(folder, before, after):
    for name, side in (("a", before), ("b", after)):
        written(folder / name, **{f"run{number}": run for number, run in enumerate(side)})
    return folder / "a", folder / "b"


def test_each_outcome_has_its_reason_and_exit_status(tmp_path, output_of):
    a, b = saved(tmp_path, *alternating(1.1))
    for sides, status, outcome, meaning in (
        ((a, b), 1, "worse", "slower beyond the tolerance of 2%"),
        ((b, a), 0, "faster", "faster beyond the tolerance of 2%"),
        ((a, b, "--tolerance", "0.5"), 0, "not worse", "not slower beyond the tolerance of 50%"),
        ((a, b, "--tolerance", "0.1"), 3, "cannot tell", "more pairs may tell"),
    ):
        out = output_of(run, *sides, status=status).out
        assert f"\n{outcome}\n" in out
        assert "in wall time, which tournaments rank by, after is " in out
        assert meaning in out


def test_unpaired_runs_show_the_difference_and_suggest_a_duel(tmp_path, output_of):
    before = run_result(times=PUZZLES, command=["./old", "-x"])
    after = run_result(times=2 * PUZZLES, command=["./new"])
    a, b = written(tmp_path, a=before, b=after)
    out = " ".join(output_of(run, a, b, status=3).out.split())
    assert (
        "cannot tell in wall time, which tournaments rank by, after is 100% slower; an interval of 95% needs"
        in out
    )
    assert "puzzle by puzzle it is 100% slower" in out
    assert out.endswith("to decide it: nonojudge duel './old -x' ./new --set set1 --rounds 7")
    assert "BEFORE AFTER --set set1" in between([before], [before]).duels[0]
    [more] = between(*alternating(1.1), tolerance=0.1).duels
    assert more.endswith(" --set set1 --rounds 14")
    assert between(*alternating(1.1)).duels == []


def test_undecided_comparisons_exit_with_the_skip_status_of_git_bisect(tmp_path, capsys):
    a, b = saved(tmp_path, *alternating(1.1))
    for sides, status in (
        ((a, b), 1),
        ((b, a), 0),
        ((a, b, "--tolerance", "0.1"), 125),
        ((a, tmp_path / "none"), 125),
        ((a, b, "--tolerance", "x"), 125),
    ):
        for option in ("--bisect-statuses", "--bisect"):
            assert cli.run(["compare", *map(str, sides), option]) == status
    for unusable in (["duel", "nobot-here", "true"], ["bench", "--against", "nothing", "no-such-benchmark"]):
        assert cli.run([*unusable, "--bisect-statuses"]) == 125
    capsys.readouterr()


def test_identical_results_and_too_short_times_decide_nothing(tmp_path, output_of, capsys):
    [path] = written(tmp_path, a=run_result(times=PUZZLES))
    comparison = json.loads(output_of(run, path, path, "--json", status=3).out)
    assert (comparison["kind"], comparison["schema_version"]) == ("comparison", 2)
    unbounded = {"estimate": 1.0, "low": 0.0, "high": None}
    assert comparison["ratios"] == {"each": unbounded, "total": unbounded}
    assert comparison["wall"]["ratio"] == unbounded
    assert (comparison["faster_count"], comparison["slower_count"]) == (0, 0)
    assert (comparison["outcome"], comparison["cpu"]) == ("cannot tell", None)
    odd = [0.0, -1e-5, 1e-6, 5e-5, 0.002, 0.0]
    assert run(*written(tmp_path, a=run_result(times=odd), b=run_result(times=odd[::-1]))) == 3
    assert "too short to tell: below 100 µs" in capsys.readouterr().out


@pytest.mark.slow
@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_swapping_before_and_after_inverts_the_comparison(before, random):
    after = [random.choice([None, seconds, seconds * 1.5, 0.0]) for seconds in before]
    there, back = between(runs(before), runs(after)), between(runs(after), runs(before))
    assert there.counts == (back.counts[1], back.counts[0], back.counts[2])
    assert [change.puzzle for change in there.newly_lost] == [change.puzzle for change in back.newly_solved]
    assert (there.puzzle_ratio is None) == (back.puzzle_ratio is None)
    if there.puzzle_ratio:
        assert there.puzzle_ratio.estimate == pytest.approx(1 / back.puzzle_ratio.estimate, rel=1e-6)


def test_times_are_compared_only_on_puzzles_right_in_both_versions():
    before = runs((1.0, 2.0, 9.0, 1.0), verdicts={3: Verdict.WRONG})
    comparison = between(before, runs((2.0, 4.0, 0.1, None)))
    assert comparison.seconds == [(1.0, 2.0), (2.0, 4.0)]
    assert comparison.puzzle_ratio.estimate == pytest.approx(2.0)
    assert [change.puzzle for change in comparison.most_changed] == [2, 1]
    assert [(change.puzzle, change.before_verdict) for change in comparison.newly_solved] == [(3, "wrong")]
    assert [(change.puzzle, change.after_verdict) for change in comparison.newly_lost] == [(4, "missing")]


@pytest.mark.parametrize(("lost", "solved", "worse"), [(1, 0, True), (1, 1, False), (2, 1, True), (0, 3, False)])
def test_more_lost_than_solved_is_worse(lost, solved, worse):
    before = [1.0] * 10 + [1.0] * lost + [None] * solved
    after = [1.0] * 10 + [None] * lost + [1.0] * solved
    comparison = between(runs(before), runs(after))
    assert (comparison.outcome is Outcome.WORSE) is worse
    assert ("more lost than solved" in comparison.reasons[0]) is worse


def test_a_comparison_without_commonly_right_puzzles_decides_nothing(tmp_path, output_of):
    a, b = written(tmp_path, a=run_result(times=(1.0, None)), b=run_result(times=(None, 1.0)))
    out = output_of(run, a, b, status=3).out
    assert "no puzzle is right in both versions" in out
    assert "newly solved 1: $2 (was missing)" in out
    assert "newly lost 1: $1 (missing)" in out
    assert json.loads(output_of(run, a, b, "--json", status=3).out)["ratios"] is None


@pytest.mark.parametrize(("count", "outcome"), [(4, Outcome.CANNOT_TELL), (5, Outcome.WORSE)])
def test_few_puzzles_decide_nothing(count, outcome):
    before, after = (
        [run_result(times=[took] * count, started_at=str(second)) for second in range(first, 14, 2)]
        for first, took in ((0, 1.0), (1, 3.0))
    )
    comparison = between(before, after)
    assert comparison.outcome is outcome
    assert ("too few" in "".join(comparison.notes)) is ("too few" in comparison.reasons[0]) is (count == 4)
    assert ("in wall time" in "".join(comparison.reasons)) is (count == 5)  # it might ask for more pairs


def test_a_puzzle_is_right_if_it_was_so_in_more_than_half_of_the_runs():
    both_right, half_right = [1.0, 1.0], [1.0, None]
    assert between(runs(both_right), runs(both_right, both_right, half_right)).figures(1)["right"] == 2
    half = between(runs(both_right), runs(both_right, half_right))
    assert half.figures(1)["right"] == 1
    assert [(change.puzzle, change.after_verdict) for change in half.newly_lost] == [(2, Verdict.MISSING)]


def test_runs_are_compared_by_sets_and_files(tmp_path, output_of):
    before = runs([1.0, 1.0], set_name="x") + runs([2.0] * 3, set_name="y")
    comparison = between(before, runs([4.0] * 3, set_name="y") + runs([2.0, None], set_name="x"))
    assert (len(comparison.changes), len(comparison.seconds)) == (5, 4)
    assert comparison.puzzle_ratio.estimate == pytest.approx(2.0)
    assert [(change.set, change.puzzle) for change in comparison.newly_lost] == [("x", 2)]
    old, new = (written(tmp_path / name, a=run_at(0), b=run_at(0)) for name in ("old", "new"))
    comparison = json.loads(output_of(run, "--before", *old, "--after", *new, "--json", status=3).out)
    assert (comparison["before"]["run_count"], comparison["after"]["run_count"]) == (2, 2)
    assert comparison["notes"] == []


def test_a_result_compared_with_itself_decides_nothing_and_is_reported(tmp_path, output_of):
    old, new = saved(tmp_path, *alternating(1.0))
    assert json.loads(output_of(run, old, new, "--json").out)["outcome"] == "not worse"
    (tmp_path / "link").symlink_to(old)
    for other in (old, tmp_path / "link"):
        comparison = json.loads(output_of(run, old, other, "--json", status=3).out)
        assert comparison["outcome"] == "cannot tell"
        said = f"before and after have {len([*old.iterdir()])} files in common, such as {old}/run0.json"
        assert said in comparison["warnings"]


@pytest.mark.parametrize(("short", "warned"), [(0, False), (5, False), (6, True)])
def test_many_answers_in_one_burst_cause_a_warning(short, warned):
    burst = [0.0] * short + [1.0] * (100 - short)
    for sides in (([1.0] * 100, burst), (burst, [1.0] * 100)):
        comparison = between(*map(runs, sides))
        assert [f"{short} of 100 puzzles" in line for line in comparison.warnings] == [True] * warned


def test_a_stop_of_the_judge_is_reported_as_the_cause_of_a_burst():
    [run] = runs([0.0] * 50 + [1.0] * 50)
    stopped = structs.replace(run, attempts=[structs.replace(run.attempts[0], stood_still_seconds=5.0)])
    [line] = between([run], [stopped, stopped]).warnings
    assert line.startswith("after: the judge stood still for 10.0 s")


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([run_result(set_name="set2")], r"not the same sets: .*set1 \(sha256 set1-dig\), after on set2"),
        ([run_result(times=(1.0, 1.0))], "was --size the same"),
        ([run_result(), run_result(times=(1.0, 1.0))], "other puzzles than in the other runs on set1"),
        ([verify_result("answers.txt", 3)], "is a checked answer file, without times"),
        ([run_result("one"), run_result("two")], "after contains runs of different bots: one in .*, two in "),
    ],
)
def test_results_that_cannot_be_compared_are_refused(tmp_path, others, message):
    before, after = saved(tmp_path, [run_result()], others)
    with pytest.raises(UnusableError, match=message):
        run(before, after)


def test_comparisons_with_a_log_or_across_numbers_of_cores_are_refused(tmp_path):
    [a] = written(tmp_path, a=run_result())
    (tmp_path / "b.log").write_text("#1\t1\n")
    with pytest.raises(UnusableError, match="a bot's own log, without checked answers"):
        run(a, tmp_path / "b.log")
    on_one, on_two = run_result(terms=Configuration(core=1)), run_result(terms=Configuration(core=(0, 1)))
    with pytest.raises(UnusableError, match="different numbers of cores: before on 1; after on 2; "):
        between([on_one], [on_two])
    assert between([on_two], [on_two]).warnings == []


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"machine": structs.replace(MACHINE, cpu="Other CPU")}, "CPU: Fast CPU (before); Other CPU (after)"),
        ({"machine": structs.replace(MACHINE, numba="0.1")}, "numba: 0.68.0 (before); 0.1 (after)"),
        ({"terms": Configuration(core=1)}, "number of cores: 2 (before); 1 (after)"),
        ({"terms": Configuration(memory_limit_bytes=10)}, "memory limit: none (before); 10 bytes (after)"),
        ({"warm_up_seconds": None}, "start: warmed up (before); perhaps cold (after)"),
        ({"judge_version": "2.0"}, "judge: 1.0 (before); 2.0 (after)"),
        (
            {"machine": structs.replace(MACHINE, busy_share=0.5)},
            "busy at the start of 1 of 2 runs: others used 50% of",
        ),
        ({"end": EndReason.CRASHED}, "not every run of after finished: crashed"),
    ],
)
def test_a_doubtful_comparison_has_a_warning(changed, warning):
    assert between([run_result()], [run_result()]).warnings == []
    [line] = between([run_result()], [run_result(**changed)]).warnings
    assert warning in line


def test_files_named_in_an_untrusted_result_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("a secret line")
    crashed = run_result(end=EndReason.CRASHED, stderr_file=str(tmp_path / "secret"), stderr_bytes=13)
    compared = between([crashed], [crashed])
    assert compared.warnings == [f"not every run of {label} finished: crashed" for label in ("before", "after")]
    assert "secret" not in compared.to_json()


def test_every_field_of_the_configuration_is_compared():
    fields = {"feed": Feed.INTERACTIVE, "any_order": True}
    fields |= {"environment": {"A": "1"}, "environment_digests": {"A": "1a2b3c4d"}}
    for name in structs.asdict(Configuration()).keys() - {"contain"}:  # whether there was a sandbox is looked at
        changed = structs.replace(Configuration(), **{name: fields.get(name, 77)})
        runs = [structs.replace(run_result(terms=terms), environment={}) for terms in (Configuration(), changed)]
        assert len(between(runs[:1], runs[1:]).warnings) == 1, name


MADE = {"PATH": "/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}


def carried_out(terms, sandboxed=False, cores=2, environment=MADE):
    result = run_result(terms=terms, machine=structs.replace(MACHINE, usable_cores=cores))
    attempts = [structs.replace(attempt, sandboxed=sandboxed) for attempt in result.attempts]
    return structs.replace(result, attempts=attempts, environment=environment | (terms.environment or {}))


@pytest.mark.parametrize(
    ("before", "after", "more"),
    [
        ({"contain": Contain.AUTO}, {"contain": Contain.NO}, {}),
        ({"contain": Contain.AUTO}, {"contain": Contain.YES}, {"sandboxed": True}),
        ({"core": 0}, {"core": None}, {"cores": 1}),
        ({"core": (0, 1)}, {"core": None}, {}),
        ({"environment": {"LANG": "C.UTF-8"}}, {}, {}),
        ({"environment": {"A": "1"}}, {}, {"environment": MADE | {"A": "1"}}),
    ],
)
def test_different_options_with_the_same_effect_cause_no_warning(before, after, more):
    runs = [[carried_out(Configuration(**terms), **more)] for terms in (before, after)]
    assert between(*runs).warnings == []


def shown(name, value):
    return f"{name} (digest {digest_of_variable(name, value)})"


@pytest.mark.parametrize(
    ("terms", "more_before", "more_after", "warning"),
    [
        ({}, {"sandboxed": True}, {}, "sandbox: yes (before); no (after)"),
        ({}, {"cores": 1}, {}, "number of cores: 1 (before); 2 (after)"),
        (
            {"environment": {"TMPDIR": "/a"}},
            {},
            {"terms": Configuration()},
            f"environment: {shown('TMPDIR', '/a')} (before); {shown('TMPDIR', '/tmp')} (after)",
        ),
        (
            {"environment": {"A": "1"}},
            {},
            {"terms": Configuration()},
            f"environment: {shown('A', '1')} (before); A not set (after)",
        ),
    ],
)
def test_the_same_options_with_different_effects_cause_a_warning(terms, more_before, more_after, warning):
    before, after = ({"terms": Configuration(**terms)} | more for more in (more_before, more_after))
    [line] = between([carried_out(**before)], [carried_out(**after)]).warnings
    assert line == f"not the same {warning}"


def test_a_bot_on_a_machine_with_one_core_is_compared_by_cpu_time():
    before, after = alternating(terms=Configuration(), machine=structs.replace(MACHINE, usable_cores=1))
    assert between(before, after).cpu.pairs == 7
    assert between(*alternating(terms=Configuration())).cpu is None
