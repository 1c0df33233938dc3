"""Two alternating revisions: the outcome in words, the trees, and the command in a repository of its own."""

import json
import os
from pathlib import Path

import pytest

from tests.helpers.places import quoted

pytest.importorskip("pyperf", reason="the extra `bench` is not installed")

from nonobot.harness import UnusableError
from nonobot.harness.bench import against, trees
from nonobot.harness.bench.against import Against, Compared, Plan
from nonobot.harness.bench.catalogue import chosen
from nonobot.harness.compare.statistics import EXIT_STATUS, Outcome, Ratio
from nonobot.harness.process.revisions import git
from tests.helpers.benching import ROOMS, Clone
from tests.helpers.patched import LINE_KERNEL, SLOW


def compared(name, low, high, outcome):
    return Compared(name, "call", 1e-6, 1.2e-6, Ratio((low + high) / 2, low, high), outcome)


WORSE = compared("line-bitset", 1.1, 1.3, Outcome.WORSE)
UNSURE = compared("bp-sweep", 0.9, 1.1, Outcome.CANNOT_TELL)
EQUAL = compared("fp1-root", 0.99, 1.01, Outcome.NOT_WORSE)
FASTER = compared("start-warm", 0.5, 0.6, Outcome.FASTER)


@pytest.mark.parametrize(
    ("benchmarks", "status", "conclusion"),
    [
        ([UNSURE, WORSE, EQUAL], 1, "worse: slower beyond the tolerance of 5%: line-bitset"),
        ([UNSURE, EQUAL, FASTER], 3, "cannot tell whether slower beyond the tolerance of 5%: bp-sweep;"),
        ([EQUAL, FASTER], 0, "not worse: nothing is slower"),
        ([], 3, "nothing could be compared"),
    ],
)
def test_the_worst_outcome_of_a_benchmark_decides(benchmarks, status, conclusion):
    result = Against(Plan("HEAD"), benchmarks, {})
    assert EXIT_STATUS[result.outcome] == status
    assert against.as_text(result, False).splitlines()[-1].startswith(conclusion)
    assert json.loads(against.as_json(result))["outcome"] == result.outcome


def test_the_table_shows_times_ratio_and_outcome_and_lists_skipped_benchmarks():
    result = Against(Plan("HEAD~1"), [WORSE], {"fp1-root": "ImportError: no x"})
    lines = [" ".join(line.split()) for line in against.as_text(result, False).splitlines()]
    assert "skipped: fp1-root: the bot of HEAD~1 cannot run it: ImportError: no x" in lines
    assert lines[1] == "line-bitset call 1.00 µs 1.20 µs 1.200 1.100 to 1.300 worse"
    assert json.loads(against.as_json(result))["benchmarks"]["line-bitset"]["outcome"] == "worse"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    (tmp_path / "workshop").mkdir()
    monkeypatch.setattr(trees, "_workshop_folder", lambda: tmp_path / "workshop")
    return Clone(tmp_path)


def test_the_two_trees_are_the_revision_and_the_current_files(clone, monkeypatch):
    clone.replace("bot/__init__.py", "else 1022", "else 60")
    monkeypatch.setattr(trees, "HOME", clone.folder)
    workshop = clone.folder.parent / "workshop"
    left = workshop / "trees" / "present_____" / "bot" / "left.py"
    left.parent.mkdir(parents=True)
    left.touch()  # by one that was killed
    times = []
    for _ in range(2):  # numba's cache depends on the times of files
        with trees.two_trees("HEAD") as (before, after):
            assert not left.exists()
            assert left.is_relative_to(after)
            assert "else 1022" in (before / "bot" / "__init__.py").read_text()
            assert "else 60" in (after / "bot" / "__init__.py").read_text()
            assert {folder.name for folder in before.iterdir()} == set(ROOMS)
            assert len(str(before)) == len(str(after))
            times.append([(tree / "bot" / "line.py").stat().st_mtime for tree in (before, after)])
            with pytest.raises(UnusableError, match="runs already"), trees.two_trees("HEAD"):
                pass
            assert (before / "bot").is_dir()
        assert [path.name for path in workshop.iterdir()] == ["lock"]
    assert times[0] == times[1]


def test_an_impossible_comparison_is_a_one_line_error(clone, tmp_path, monkeypatch):
    with pytest.raises(UnusableError, match="5 rounds cannot tell 1 benchmarks apart at 95%: it takes 6"):
        against.measure_against(chosen(["line-champion"]), Plan("HEAD", rounds=5), print)
    clone.git("rm", "-q", "-r", "--cached", "bot")
    clone.git("commit", "-q", "-m", "no bot")
    for home, revision, said in (
        (clone.folder, "nothing", "no revision 'nothing' here; `git log --oneline` lists them"),
        (clone.folder, "--help", "no revision '--help' here"),
        (clone.folder, "HEAD", "lacks what is to be measured"),
        (tmp_path, "HEAD", r"needs a git clone, and .* is a copy; .*: pip install -e '\.\[judge\]'"),
    ):
        monkeypatch.setattr(trees, "HOME", home)
        with pytest.raises(UnusableError, match=said), trees.two_trees(revision):
            pass
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnusableError, match="needs git, which is not installed"), trees.two_trees("HEAD"):
        pass


def test_a_commit_is_unpacked_as_git_checks_it_out(clone, tmp_path):
    (clone.folder / "outside").symlink_to("/no/such/file")
    (clone.folder / "run").touch(0o755)
    clone.commit("a link and a program")
    trees.extract("HEAD", clone.folder, tmp_path / "tree")
    assert (tmp_path / "tree" / "outside").readlink() == Path("/no/such/file")
    assert os.access(tmp_path / "tree" / "run", os.X_OK)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        trees.extract("HEAD", clone.folder, tmp_path / "file" / "tree")


def test_a_copy_has_all_files_of_a_checkout_with_their_ends_of_lines_and_git_runs_no_filter(clone, tmp_path):
    ran = tmp_path / "ran"
    attributes = ["a.txt export-ignore", "b.txt export-subst", "c.txt eol=crlf", "d.txt filter=f", "e.txt text"]
    (clone.folder / ".gitattributes").write_text("".join(f"{line}\n" for line in attributes))
    for name in "abcde":
        (clone.folder / f"{name}.txt").write_bytes(b"$Format:%H$\n")
    clone.commit("attributes")
    git(clone.folder, "config", "filter.f.smudge", f"touch {quoted(ran)}; tr a-z A-Z")
    git(clone.folder, "config", "core.eol", "crlf")
    trees.extract("HEAD", clone.folder, tmp_path / "tree")
    content = {name: (tmp_path / "tree" / f"{name}.txt").read_bytes() for name in "abcde"}
    expected = {name: b"$Format:%H$\r\n" if name in "ce" else b"$Format:%H$\n" for name in content}
    assert content == expected
    assert not ran.exists()


@pytest.mark.nightly
def test_only_the_benchmark_of_a_slowed_line_kernel_is_reported_as_worse(clone):
    for old, new in SLOW:
        clone.replace(f"bot/{LINE_KERNEL}", old, new)
    done = clone.judge("bench", "--against", "HEAD", "--json", "line-champion", "protocol-reading")
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert result["benchmarks"]["line-champion"]["outcome"] == "worse"
    assert result["benchmarks"]["protocol-reading"]["outcome"] != "worse"
    assert result["benchmarks"]["line-champion"]["ratio"]["low"] > 1.05
    assert not result["skipped"]


@pytest.mark.nightly
def test_a_benchmark_missing_in_the_revision_is_skipped_with_a_note(clone):
    jobs, lacking = "harness/bench/papers_jobs.py", "raise ImportError('no line solver')\nLEVELS = "
    clone.replace(jobs, "LEVELS = ", lacking)
    clone.commit("as it was once")
    clone.replace(jobs, lacking, "LEVELS = ")
    done = clone.judge("bench", "--against", "HEAD", "line-bitset", "protocol-writing")
    assert done.returncode in (0, 3), done.stderr  # a busy machine may leave it undecided
    assert "skipped: line-bitset: the bot of HEAD cannot run it: ImportError: no line solver" in done.stdout
    assert "protocol-writing" in done.stdout
