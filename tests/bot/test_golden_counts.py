"""The counts are exactly as they were when someone last looked at them; see tools/golden_counts.py."""

import os
import subprocess
import sys

import pytest

from tests.helpers.patched import LINE_KERNEL, PAINTS_LESS, patched_house
from tests.helpers.places import REPOSITORY
from tests.helpers.plain import IS_PLAIN
from tools import golden_counts
from tools.golden_counts import FOLDER, GOLDEN, SMALL, WIDE, counted, difference, from_text

pytestmark = [pytest.mark.skipif(IS_PLAIN, reason="takes compiled kernels"), pytest.mark.usefixtures("compiled")]


def on_file(name: str) -> golden_counts.Counts:
    return from_text((FOLDER / f"{name}.txt").read_text(encoding="ascii"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "papers-fp3" else ()) for name in GOLDEN]
)
def test_counts(name):
    differs = difference(name, on_file(name), counted(*GOLDEN[name]))
    assert not differs, f"{differs}\nIf that is meant: {golden_counts.REFRESH}"


def test_every_kind_of_probing_has_its_file():
    assert {path.stem for path in FOLDER.iterdir()} == set(GOLDEN)
    fp1, fp3 = on_file("papers-fp1"), on_file("papers-fp3")
    assert any(facts != fp1[place] for place, facts in fp3.items())


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
    assert {counts["status"] for counts in facts} == {"solved"}
    worked = {key for counts in facts for key, value in counts.items() if value}
    without_descents = name in ("champion-without-descents", "champion-two-solutions")
    assert {key for counts in facts for key in counts} - worked == ({"descents"} if without_descents else set())


def test_refresh_writes_and_then_nothing_differs(tmp_path, monkeypatch, capsys, output_of):
    monkeypatch.setattr(golden_counts, "FOLDER", tmp_path)
    monkeypatch.setattr(golden_counts, "GOLDEN", {"few": golden_counts.Golden((), ("boardgen:5x5x3:seed=1",))})
    small_file = tmp_path / "few.txt"
    assert "--refresh" in output_of(golden_counts.main, [], status=1).out
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
    command = [sys.executable, "-m", "tools.golden_counts", name]
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
    done = golden_counts_of_house(REPOSITORY, environment, name)
    assert done.stdout == f"{name}: the counts of 50 puzzles are as they were\n", done.stderr
    assert done.returncode == 0
