"""The benchmarks: what they work on, that their work is right, and pyperf around them."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("pyperf", reason="the extra `bench` is not installed")

from nonobot.harness import UnusableError
from nonobot.harness.bench import measure, suite
from nonobot.harness.bench import positions as sampled_positions
from nonobot.harness.bench.catalogue import BENCHMARKS, COLD_START, chosen, make_job
from nonobot.harness.bench.job import CheckError, Job
from nonobot.harness.bench.measure import Measured
from nonobot.harness.bench.positions import positions
from nonobot.harness.commands import bench
from tests import naive
from tests.helpers.benching import carry_out

IN_PROCESS = [name for name, benchmark in BENCHMARKS.items() if benchmark.clock == "cpu"]

# The others compile much that no other test needs, or solve for seconds.
QUICK = ("line-", "propagation-champion", "protocol-")


@pytest.mark.parametrize(
    ("given", "cold", "names"),
    [
        ([], False, [name for name in BENCHMARKS if name != COLD_START]),
        ([], True, list(BENCHMARKS)),
        (["protocol", "line-b"], False, ["line-bitset", "protocol-reading", "protocol-writing"]),
        (["set-25x25", "set-2"], False, ["set-20x20", "set-25x25"]),
        (["start"], False, ["start-warm"]),
        (["start"], True, ["start-warm", COLD_START]),
        ([COLD_START], False, [COLD_START]),
    ],
)
def test_names_may_be_shortened_except_that_of_the_cold_start(given, cold, names):
    assert [benchmark.name for benchmark in chosen(given, cold)] == names


def states(position):
    """Return the states of a position's lines: clue, length, black and white cells."""
    clues = [*position.puzzle.rows, *position.puzzle.columns]
    lengths = [position.puzzle.width] * position.puzzle.height + [position.puzzle.height] * position.puzzle.width
    given = (numbers.tolist() for numbers in (position.lines, position.black, position.white))
    return [(clues[line], lengths[line], black, white) for line, black, white in zip(*given, strict=True)]


def test_every_sampled_state_fits_its_line():
    for position in positions():
        assert len(set(zip(position.lines, position.black, position.white, strict=True))) == 128
        for clue, length, black, white in states(position):
            assert not black & white
            assert not (black | white) >> length
            assert sum(clue) + len(clue) - 1 <= length


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name.startswith(QUICK) else pytest.mark.nightly) for name in IN_PROCESS],
)
def test_a_benchmark_does_the_right_work_in_every_loop(compiled, name):
    job = make_job(name)
    job.check()
    assert job.units >= 1
    assert job.seconds(1) > 0
    job.check()


def test_a_benchmark_with_wrong_results_is_an_error(compiled, monkeypatch):
    wrong = (replace(positions()[0], painted=positions()[0].painted + 1), *positions()[1:])
    monkeypatch.setattr(sampled_positions, "positions", lambda: wrong)
    with pytest.raises(CheckError, match="not painted"):
        make_job("line-champion").check()
    suite.check_start()
    monkeypatch.setattr(suite, "ANSWER", b"$1\n0\t1\n")
    with pytest.raises(CheckError, match="does not answer"):
        suite.check_start()


def test_a_cold_start_leaves_no_folder_and_keeps_the_status(tmp_path, monkeypatch):
    import subprocess

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(suite.sys, "executable", "/bin/false")
    assert subprocess.run(suite.start_command(cold=True)).returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_every_unusable_benchmark_is_reported_and_the_others_run(monkeypatch, capfd):
    def make(name):
        if name == "line-champion":
            raise ImportError("cannot import name 'paint'")
        if name == "line-bitset":
            return Job(1, float, lambda: (_ for _ in ()).throw(CheckError("7 is not 8")))
        print("by the way")
        return Job(1, float, lambda: None)

    monkeypatch.setattr(suite, "make_job", make)
    suite.make_ready(["line-champion", "line-bitset", "line-recurrence"])
    assert [json.loads(line) for line in capfd.readouterr().out.splitlines()] == [
        {"name": "line-champion", "problem": "ImportError: cannot import name 'paint'"},
        {"name": "line-bitset", "problem": "its result is wrong: 7 is not 8"},
        {"name": "line-recurrence", "problem": None},
    ]


@pytest.mark.nightly
def test_bench_measures_with_pyperf_from_the_command_line(tmp_path, output_of):
    import pyperf

    file = tmp_path / "measured.json"
    printed = json.loads(output_of(carry_out, bench, "protocol-writing", "--fast", "--json", "-o", file).out)
    measured = printed["benchmarks"]["protocol-writing"]
    assert printed["kind"] == "bench"
    assert printed["machine"]["python"]
    assert (measured["unit"], measured["clock"]) == ("answer", "cpu")
    kept = pyperf.BenchmarkSuite.load(str(file)).get_benchmark("protocol-writing")
    assert kept.get_nvalue() == measured["value_count"] == 12
    assert kept.get_inner_loops() == 200
    assert kept.get_loops() >= 1
    assert kept.median() == measured["median_seconds"]
    assert 0 < measured["least_seconds"] <= measured["median_seconds"]
    assert measured["warnings"] == measure.checks(kept)


def test_unusable_options_are_a_one_line_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for arguments, message in (
        (("-o", tmp_path / "file" / "x.json"), "cannot write"),
        (("--fast", "--against", "HEAD"), "--fast cannot be combined with --against"),
        (("line-champion", "--core", "999"), "core 999 cannot be used|cannot hold"),
    ):
        with pytest.raises(UnusableError, match=message):
            carry_out(bench, *arguments)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UnusableError, match=r"-m pip install pyperf"):
        carry_out(bench, "line-champion")


def test_all_benchmarks_are_listed_and_stability_warnings_are_shown(output_of):
    shown = output_of(carry_out, bench, "--list").out
    assert all(benchmark.name in shown and benchmark.about in shown for benchmark in BENCHMARKS.values())
    measured = Measured("bp-sweep", "sweep", "one sweep", "cpu", 2e-6, 5e-7, 1.9e-6, 1.8e-6, 12, ["it [wobbles]"])
    shown = measure.as_text([measured], False)
    assert "+- 25%" in shown
    assert "unstable: bp-sweep: it [wobbles]" in shown


@pytest.mark.nightly
def test_the_slow_reference_paints_every_sampled_state_the_same():
    for position in positions():
        painted = 0
        for clue, length, black, white in states(position):
            cells = [1 if black >> i & 1 else 0 if white >> i & 1 else None for i in range(length)]
            after = naive.paint_line(clue, cells)
            painted += sum(cell is not None for cell in after) if after else 0
        assert painted == position.painted
