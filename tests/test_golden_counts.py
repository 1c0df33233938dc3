"""The counts are exactly as they were when someone last looked at them; see tests/golden_counts.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import golden_counts
from tests.golden_counts import FOLDER, GOLDEN, SMALL, WIDE, counted, difference, from_text
from tests.patched import HOUSE, LINE_KERNEL, PAINTS_LESS, patched_house
from tests.plain import IS_PLAIN

pytestmark = [
    pytest.mark.skipif(IS_PLAIN, reason="takes compiled kernels"),
    pytest.mark.usefixtures("compiled"),
]


def on_file(name: str) -> golden_counts.Counts:
    return from_text((FOLDER / f"{name}.txt").read_text(encoding="ascii"))


@pytest.mark.parametrize("name", GOLDEN)
def test_counts(name):
    differs = difference(name, on_file(name), counted(*GOLDEN[name]))
    assert not differs, f"{differs}\nIf that is meant: {golden_counts.REFRESH}"


def test_there_is_a_file_for_each_and_no_other():
    assert {path.stem for path in FOLDER.iterdir()} == set(GOLDEN)


def test_the_line_solvers_count_alike():
    options = ("--strategy", "papers", "--line-solver", "recurrence")
    fp1 = on_file("papers-fp1")
    assert not difference(
        "recurrence",
        {place: facts for place, facts in fp1.items() if place[0] in (SMALL, WIDE)},
        counted(options, (SMALL, WIDE)),
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_every_kind_of_work_is_there(name):
    facts = on_file(name).values()
    assert {one["status"] for one in facts} == {"solved"}
    worked = {key for one in facts for key, value in one.items() if value}
    without_descents = name in ("champion-without-descents", "champion-two-solutions")
    assert {key for one in facts for key in one} - worked == ({"descents"} if without_descents else set())


def test_fp3_is_stronger_somewhere():
    fp1, fp3 = on_file("papers-fp1"), on_file("papers-fp3")
    assert any(facts != fp1[place] for place, facts in fp3.items())


# The comparison itself


A, B = {"status": "solved", "nodes": 3}, {"status": "timeout", "nodes": 7}


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({("s", 1): A}, {("s", 1): B}, ["1 of 1 puzzles", "$1 of s", "solved -> timeout", "nodes 3 -> 7"]),
        ({("s", 1): A, ("s", 2): A}, {("s", 1): A, ("s", 2): B}, ["1 of 2 puzzles", "$2 of s", "nodes 6 -> 10"]),
        ({("s", 1): A}, {("s", 1): A, ("t", 2): A}, ["1 of 2 puzzles", "$2 of t", "none -> 3", "3 -> 6"]),
        ({("s", 1): A, ("s", 2): A}, {("s", 2): A}, ["1 of 2 puzzles", "$1 of s", "3 -> none", "6 -> 3"]),
        ({("s", 1): A}, {("s", 1): A | {"probes": 0}}, ["$1 of s", "none -> 0"]),
        ({}, {("s", 1): A}, ["1 of 1 puzzles"]),
    ],
)
def test_what_differs_is_said(before, now, said):
    words = " ".join(difference("x", before, now).split())
    assert [one for one in said if one not in words] == []


# The command


@pytest.fixture
def small_file(tmp_path, monkeypatch):
    """One golden file, of a small set, in a folder of the test."""
    monkeypatch.setattr(golden_counts, "FOLDER", tmp_path)
    monkeypatch.setattr(golden_counts, "GOLDEN", {"few": golden_counts.Golden((), ("boardgen:5x5x3:seed=1",))})
    return tmp_path / "few.txt"


def test_refresh_writes_and_then_nothing_differs(small_file, capsys):
    assert golden_counts.main([]) == 1
    assert "--refresh" in capsys.readouterr().out
    assert not small_file.exists()
    assert golden_counts.main(["--refresh"]) == 0
    assert len(small_file.read_text().splitlines()) == 4
    assert golden_counts.main([]) == 0
    small_file.write_text(small_file.read_text().replace("line_solves=", "line_solves=1", 1))
    capsys.readouterr()
    assert golden_counts.main(["few"]) == 1
    assert "the counts of 1 of 3 puzzles differ; the first is $1 of boardgen" in capsys.readouterr().out


# Real changes, in a copy of the bot


def golden_counts_of_house(folder, environment, name):
    command = [sys.executable, "-m", "tests.golden_counts", name]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.nightly
def test_a_line_kernel_that_paints_less_is_found(tmp_path):
    environment = patched_house(tmp_path, LINE_KERNEL, PAINTS_LESS)
    done = golden_counts_of_house(tmp_path, environment, "papers-fp1")
    assert done.returncode == 1, done.stderr
    assert f"puzzles differ; the first is $1 of {SMALL}" in done.stdout
    assert "solved" not in done.stdout  # as often as before: no test of answers would have seen it


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["champion", "papers-fp1"])
def test_the_counts_do_not_depend_on_the_cpu(tmp_path, name):
    # Compiled for the plainest CPU of its kind: other vectors, no fused multiply-add.
    environment = os.environ | {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NONOBOT_CACHE_DIR": str(tmp_path),
    }
    done = golden_counts_of_house(HOUSE, environment, name)
    assert done.stdout == f"{name}: the counts of 50 puzzles are as they were\n", done.stderr
    assert done.returncode == 0
