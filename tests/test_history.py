"""`nonojudge history`: revisions in git's order, medians, what is left out, and the plot."""

from __future__ import annotations

import json
import random
import struct

import pytest
from msgspec import json as msgspec_json

from nonobot.harness import cli
from nonobot.harness.play.revisions import git
from nonobot.harness.profiling.profile_data import Profile, PuzzleProfile, to_json
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import FINISHED_UNSEEN, Usage, Verdict
from tests.ranked import MACHINE, facts, run_result, written
from tests.test_bisection import Repository


@pytest.fixture
def commits(tmp_path, monkeypatch):
    """Return three commits of the working folder's repository, the oldest first."""
    repository = Repository(tmp_path)
    for name in ("second", "third"):
        repository.commit(name)
    monkeypatch.chdir(repository.folder)
    return list(repository.commits.values())


def profile_of(revision, conflicts):
    puzzle = PuzzleProfile(1, Verdict.RIGHT, 0.1, {}, {"conflicts": conflicts})
    times = {"usage": Usage(3.0, 2.0, 0), "first_answer_seconds": 1.0, "last_answer_seconds": 2.0}
    rest = {"machine": MACHINE, "judge_version": "1", "end": FINISHED_UNSEEN, "puzzles": [puzzle]}
    return Profile(
        command=["./bot"], set=facts(count=1), started_at="2026-01-09", revision=revision, **times, **rest
    )


def history(capsys, *words):
    assert cli.run(["history", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["histories"]


def test_revisions_are_in_the_order_of_git_with_the_medians_of_their_runs(commits, tmp_path, capsys):
    days = {commits[0]: "2026-01-05", commits[2]: "2026-01-01", f"{commits[2]}-dirty": "2026-01-02"}
    runs = [
        run_result(cpu=cpu, wall=cpu + 1, revision=revision, started_at=day)
        for revision, day in days.items()
        for cpu in (1.0, 5.0, 2.0)
    ]
    random.Random(0).shuffle(runs)
    shared = Configuration(core=1, shared_core="x")
    co_run = run_result(cpu=3.0, wall=9.0, revision=commits[1], terms=shared, started_at="2026-01-06")
    paths = written(tmp_path / "results", **{f"r{at}": run for at, run in enumerate([*runs, co_run])})
    [points] = [one["points"] for one in history(capsys, tmp_path / "results", *paths)]
    assert [one["revision"] for one in points] == [*commits, f"{commits[2]}-dirty"]
    assert [one["wall_seconds"] for one in points] == [3.0, None, 3.0, 3.0]
    assert [sorted(one["cpu_seconds"]) for one in points] == [[1, 2, 5], [3], [1, 2, 5], [1, 2, 5]]
    git(tmp_path / "repository", "update-ref", "-d", "HEAD")
    git(tmp_path / "repository", "reflog", "expire", "--expire=now", "--all")
    git(tmp_path / "repository", "prune")  # no longer a clone with these commits: the order of their runs
    [points] = [one["points"] for one in history(capsys, tmp_path / "results")]
    assert [one["revision"] for one in points] == [commits[2], f"{commits[2]}-dirty", commits[0], commits[1]]


def test_counts_of_profiles_are_columns_and_lines_of_the_plot(commits, tmp_path, capsys):
    for number, commit in enumerate(commits[:2]):
        (tmp_path / f"p{number}.json").write_text(to_json(profile_of(commit, 1000 + number)))
    [run] = written(tmp_path, run=run_result(cpu=4.0, revision=commits[2]))
    profiles = sorted(tmp_path.glob("p*.json"))
    assert [one["points"][0]["counts"] for one in history(capsys, *profiles)] == [{"conflicts": 1000}]
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    png, svg = tmp_path / "h.png", tmp_path / "h.svg"
    assert cli.run(["history", *map(str, [*profiles, run]), "-o", str(png)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == "revision first run runs right CPU time wall time conflicts"
    assert f"{commits[1][:10]} 2026-01-09 1 1 2.00 s 3.00 s 1,001" in lines
    assert png.read_bytes().startswith(b"\x89PNG")
    assert struct.unpack(">2I", png.read_bytes()[16:24])[0] == 13 * 144
    assert cli.run(["history", *map(str, profiles), "-o", str(svg)]) == 0
    assert commits[0][:10] in svg.read_text()


def test_what_cannot_be_shown_is_left_out_with_a_line(commits, tmp_path, capsys):
    [with_it, without] = written(tmp_path, a=run_result(revision=commits[0]), b=run_result())
    broken = tmp_path / "c.json"
    values = msgspec_json.decode(with_it.read_bytes()) | {"revision": "--output=x"}
    broken.write_bytes(msgspec_json.encode(values))
    assert cli.run(["history", str(tmp_path)]) == 1
    err = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1] for line in err] == [" left out", " left out"]
    assert "c.json is not a result" in err[0]
    assert "1 of 2 results state no revision" in err[1]
    assert cli.run(["history", str(without)]) == 2
    assert "no result that states a revision" in capsys.readouterr().err
    assert cli.run(["history", str(with_it), "-o", "x.pdf"]) == 2
    assert "--output x.pdf: a plot ends in .png or .svg" in capsys.readouterr().err
