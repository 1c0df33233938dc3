"""Two alternating revisions: the outcome in words, the trees, and the command in a repository of its own."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyperf", reason="the extra `bench` is not installed")

from nonobot.harness.bench import against
from nonobot.harness.bench.against import Against, Compared, Plan
from nonobot.harness.errors import UnusableError
from nonobot.harness.statistics import EXIT_STATUS, Outcome, Ratio
from tests.benching import Clone

# Words


def compared(name, low, high, outcome):
    return Compared(name, "call", 1e-6, 1.2e-6, Ratio((low + high) / 2, low, high), outcome)


WORSE = compared("line-bitset", 1.1, 1.3, Outcome.WORSE)
UNSURE = compared("bp-sweep", 0.9, 1.1, Outcome.CANNOT_TELL)
EQUAL = compared("fp1-root", 0.99, 1.01, Outcome.NOT_WORSE)
FASTER = compared("start-warm", 0.5, 0.6, Outcome.FASTER)


@pytest.mark.parametrize(
    ("benchmarks", "status", "conclusion"),
    [
        ([UNSURE, WORSE, EQUAL], 1, "worse: slower beyond the tolerance of 5 %: line-bitset"),
        ([UNSURE, EQUAL, FASTER], 3, "cannot tell whether slower beyond the tolerance of 5 %: bp-sweep;"),
        ([EQUAL, FASTER], 0, "not worse: nothing is slower"),
        ([], 3, "nothing could be compared"),
    ],
)
def test_the_worst_outcome_of_a_benchmark_decides(benchmarks, status, conclusion):
    result = Against(Plan("HEAD"), benchmarks, {})
    assert EXIT_STATUS[result.outcome] == status
    assert against.as_text(result, False).splitlines()[-1].startswith(conclusion)
    assert json.loads(against.as_json(result))["worse"] is (status == 1)


def test_a_row_has_the_times_the_ratio_and_the_outcome_and_what_was_skipped_a_line():
    result = Against(Plan("HEAD~1"), [WORSE], {"fp1-root": "ImportError: no x"})
    lines = against.as_text(result, False).splitlines()
    assert "skipped: fp1-root: the bot of HEAD~1 cannot run it: ImportError: no x" in lines
    assert lines[1].split() == [
        "line-bitset", "call", "1.00", "µs", "1.20", "µs", "1.200", "1.100", "to", "1.300", "worse",
    ]  # fmt: skip
    assert json.loads(against.as_json(result))["benchmarks"]["line-bitset"]["judgement"] == "worse"


# Trees


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)


def test_the_two_trees_are_the_revision_and_what_lies_there_now(clone, monkeypatch):
    clone.replace("bot/__init__.py", "LONGEST_SIDE = 1022", "LONGEST_SIDE = 60")
    monkeypatch.setattr(against, "HOME", clone.folder)
    workshop = clone.folder.parent / "workshop"
    workshop.mkdir()
    monkeypatch.setattr(against, "_workshop_folder", lambda: workshop)
    left = workshop / "present_____" / "bot" / "left.py"
    left.parent.mkdir(parents=True)
    left.touch()  # by one that was killed
    with against.two_trees("HEAD") as (before, after):
        assert not left.exists()
        assert left.is_relative_to(after)
        assert "LONGEST_SIDE = 1022" in (before / "bot" / "__init__.py").read_text()
        assert "LONGEST_SIDE = 60" in (after / "bot" / "__init__.py").read_text()
        packages = ["bot", "harness", "nonobot", "protocol", "tournament_data"]
        assert sorted(one.name for one in before.iterdir()) == packages
        assert len(str(before)) == len(str(after))
        first = [(tree / "bot" / "line.py").stat().st_mtime for tree in (before, after)]
        with pytest.raises(UnusableError, match="runs already"), against.two_trees("HEAD"):
            pass
        assert (before / "bot").is_dir()
    assert [one.name for one in workshop.iterdir()] == ["lock"]
    with against.two_trees("HEAD") as trees:  # numba's cache depends on the times of files
        again = [(tree / "bot" / "line.py").stat().st_mtime for tree in trees]
    assert again == first


def test_what_cannot_be_compared_is_told_in_a_line(clone, tmp_path, monkeypatch):
    for arguments, line in (
        (("--against", "nothing"), "no revision 'nothing' here; `git log --oneline` lists some\n"),
        (("--against=--help",), "no revision '--help' here; `git log --oneline` lists some\n"),
        (
            ("--against", "HEAD", "--rounds", "5", "line-champion"),
            "5 rounds cannot tell 1 benchmarks apart at 95 %: it takes 6 at least\n",
        ),
    ):
        done = clone.bench(*arguments)
        assert (done.returncode, done.stderr) == (2, line)
    clone.git("rm", "-q", "-r", "--cached", "bot")
    clone.git("commit", "-q", "-m", "no bot")
    done = clone.bench("--against", "HEAD", "line-champion")
    assert done.returncode == 2
    assert "has no benchmarks to measure" in done.stderr
    monkeypatch.setattr(against, "HOME", tmp_path)
    with pytest.raises(UnusableError, match="needs a clone"), against.two_trees("HEAD"):
        pass


# The command


@pytest.mark.slow
def test_a_slowed_line_kernel_is_pointed_at_and_nothing_else(clone):
    clone.replace(
        "bot/line.py",
        "    tail = fill_down(m.one << (length + 1), open_)\n",
        "    for turn in range(6):\n"
        "        for block in range(blocks):\n"
        "            m.fits[block] = run_starts(fillable, m.clue[line, block]) & (open_ >> turn)\n"
        "    for block in range(blocks):\n"
        "        size = m.clue[line, block]\n"
        "        m.fits[block] = run_starts(fillable, size) & (open_ >> size)\n"
        "    tail = fill_down(m.one << (length + 1), open_)\n",
    )
    done = clone.bench("--against", "HEAD", "--json", "line-champion", "protocol-reading")
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert result["benchmarks"]["line-champion"]["judgement"] == "worse"
    assert result["benchmarks"]["protocol-reading"]["judgement"] != "worse"
    assert result["benchmarks"]["line-champion"]["ratio"]["low"] > 1.05
    assert not result["skipped"]


@pytest.mark.slow
def test_what_the_other_revision_lacks_is_skipped_with_a_word(clone):
    places = (
        ("lines.py", "def {}("),
        ("lines.py", "= {}(m, solver, 0"),
        ("propagation.py", "import {}"),
        ("propagation.py", "= {}("),
    )
    for old, new in (("paint_with", "paint_by"), ("paint_by", "paint_with")):
        for module, place in places:
            clone.replace(f"bot/papers/{module}", place.format(old), place.format(new))
        if new == "paint_by":
            clone.commit("as it was once")
    done = clone.bench("--against", "HEAD", "line-bitset", "protocol-writing")
    assert done.returncode in (0, 3), done.stderr  # a busy machine may leave it undecided
    assert "skipped: line-bitset: the bot of HEAD cannot run it: ImportError: cannot import name" in done.stdout
    assert "protocol-writing" in done.stdout
