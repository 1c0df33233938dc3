"""The revisions of bots, from the clones that they are in, and `nonojudge history`."""

import contextlib
import json
import random
import struct
import subprocess
import sys

import pytest
from msgspec import json as msgspec_json

from nonobot.harness import cli
from nonobot.harness.process import revisions
from nonobot.harness.process.nonobot_command import OWN_BOT
from nonobot.harness.process.revisions import git, revision_of
from nonobot.harness.profiling.profile_data import to_json
from nonobot.harness.results.conditions import Configuration
from tests.helpers.benching import require_git
from tests.helpers.bisected import History
from tests.helpers.places import quoted
from tests.helpers.profiled import profile, puzzle
from tests.helpers.ranked import facts, run_result, written


@pytest.fixture
def commits(tmp_path, monkeypatch):
    """Return three commits of the clone that the judge was loaded from, the oldest first."""
    repository = History(tmp_path)
    monkeypatch.setattr(revisions, "HOME", repository.folder)
    monkeypatch.chdir(tmp_path)
    return [repository.commit() for _ in range(3)]


def profile_of(revision, conflicts):
    times = {"wall": 3.0, "cpu": 2.0, "last_answer_seconds": 2.0, "started_at": "2026-01-09"}
    return profile(puzzle(1, 0.1, conflicts=conflicts), set=facts(count=1), revision=revision, **times)


def test_a_result_is_not_replaced_by_its_plot(commits, tmp_path, capsys):
    path = written(tmp_path, one=run_result(revision=commits[0]))[0]
    before = path.read_bytes()
    (tmp_path / "link.png").symlink_to(path)
    assert cli.run(["history", str(path), "-o", "link.png"]) == 2
    assert capsys.readouterr().err == "nonojudge: link.png: this file is read; name another one to write to\n"
    assert path.read_bytes() == before


@pytest.fixture
def history(output_of):
    """Return what returns the histories of some results."""
    return lambda *paths: json.loads(output_of(cli.run, ["history", *map(str, paths), "--json"]).out)["histories"]


def test_revisions_are_in_the_order_of_git_with_the_medians_of_their_runs(commits, tmp_path, history):
    days = {commits[0]: "2026-01-05", commits[2]: "2026-01-01", f"{commits[2]}-dirty": "2026-01-02"}
    three = [(*day, cpu) for day in days.items() for cpu in (1.0, 5.0, 2.0)]
    runs = [run_result(cpu=cpu, wall=cpu + 1, revision=revision, started_at=day) for revision, day, cpu in three]
    random.Random(0).shuffle(runs)
    shared = Configuration(core=1, shared_core="x")
    co_run = run_result(cpu=3.0, wall=9.0, revision=commits[1], terms=shared, started_at="2026-01-06")
    paths = written(tmp_path / "results", **{f"r{number}": run for number, run in enumerate([*runs, co_run])})
    [points] = [group["points"] for group in history(tmp_path / "results", *paths)]
    assert [point["revision"] for point in points] == [*commits, f"{commits[2]}-dirty"]
    assert [point["wall_seconds"] for point in points] == [3.0, None, 3.0, 3.0]
    assert [sorted(point["cpu_seconds"]) for point in points] == [[1, 2, 5], [3], [1, 2, 5], [1, 2, 5]]
    git(tmp_path / "repository", "update-ref", "-d", "HEAD")
    git(tmp_path / "repository", "reflog", "expire", "--expire=now", "--all")
    git(tmp_path / "repository", "prune")  # no longer a clone with these commits: the order of their runs
    [points] = [group["points"] for group in history(tmp_path / "results")]
    assert [point["revision"] for point in points] == [commits[2], f"{commits[2]}-dirty", commits[0], commits[1]]


def test_counts_of_profiles_are_shown_in_table_and_plot(commits, tmp_path, history, output_of):
    for number, commit in enumerate(commits[:2]):
        (tmp_path / f"p{number}.json").write_text(to_json(profile_of(commit, 1000 + number)))
    [run] = written(tmp_path, run=run_result(cpu=4.0, revision=commits[2]))
    profiles = sorted(tmp_path.glob("p*.json"))
    assert [group["points"][0]["counts"] for group in history(*profiles)] == [{"conflicts": 1000}]
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    png, svg = tmp_path / "h.png", tmp_path / "h.svg"
    out = output_of(cli.run, ["history", *map(str, [*profiles, run]), "-o", str(png)]).out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[1] == "revision first run runs right CPU time wall time conflicts"
    assert f"{commits[1][:10]} 2026-01-09 1 1 2.00 s 3.00 s 1,001" in lines
    assert png.read_bytes().startswith(b"\x89PNG")
    assert struct.unpack(">2I", png.read_bytes()[16:24])[0] == 13 * 144
    assert cli.run(["history", *map(str, profiles), "-o", str(svg)]) == 0
    assert commits[0][:10] in svg.read_text()


def test_results_that_cannot_be_shown_are_left_out_with_a_message(commits, tmp_path, output_of):
    [with_it, without] = written(tmp_path, a=run_result(revision=commits[0]), b=run_result())
    broken = tmp_path / "c.json"
    values = msgspec_json.decode(with_it.read_bytes()) | {"revision": "--output=x"}
    broken.write_bytes(msgspec_json.encode(values))
    err = output_of(cli.run, ["history", str(tmp_path)], status=1).err.splitlines()
    assert [line.split(":")[1] for line in err] == [" left out", " left out"]
    assert "c.json is not a result" in err[0]
    assert "1 of 2 results state no revision" in err[1]
    err = output_of(cli.run, ["history", str(without)], status=2).err
    assert "no result that states a revision: " in err
    assert err.endswith("; nonobot, installed in place: pip install -e '.[judge]'\n")
    broken.write_text('{"kind": "profile", "schema_version": 2}')
    (tmp_path / "d.json").write_text('{"kind": "comparison", "schema_version": 2}')
    err = output_of(cli.run, ["history", str(tmp_path)], status=1).err.splitlines()
    assert len(err) == 2
    assert "c.json is not what `nonojudge profile --json` writes" in err[0]
    err = output_of(cli.run, ["history", str(with_it), str(tmp_path / "d.json")], status=1).err
    assert "d.json is not a result of nonojudge: its kind is comparison" in err
    assert "no result that states a revision" in output_of(cli.run, ["history", str(without)], status=2).err


def made(folder, **files):
    """Make a repository with a commit of a bot; return the commit."""
    require_git()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"bot": "#!/bin/sh\n", **files}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for arguments in ("init -q", "add -A", "-c user.name=t -c user.email=t@localhost commit -q -m all"):
        subprocess.run(["git", *arguments.split()], cwd=folder, check=True)
    return git(folder, "rev-parse", "HEAD").decode().strip()


@pytest.mark.parametrize("head", ["branch", "packed", "detached"])
def test_a_bot_has_the_commit_of_its_clone(tmp_path, own_folder, head):
    commit = made(tmp_path)
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "bot").touch(0o755)  # untracked
    git(tmp_path, *{"branch": ["status"], "packed": ["pack-refs", "--all"], "detached": ["checkout", "-d"]}[head])
    git(tmp_path, "worktree", "add", "-q", "-b", "of/the-worktree\u00e9", str(tmp_path / "old"))
    for command in (["./bot"], ["sh", "bot"], ["nice", "./built/bot"], ["sh", "-c", "cd old && ./bot"]):
        assert revision_of(command) == commit
    (tmp_path / "bot").write_text("#!/bin/sh\nexit\n")
    later = made(tmp_path)
    assert (revision_of(["./bot"]), revision_of(["old/bot"])) == (later, commit)
    assert revision_of(["sh", "-c", "cat"]) is None


def test_the_revision_of_nonobot_is_the_judges_commit_marked_if_edited(tmp_path, monkeypatch):
    commit = made(tmp_path)
    monkeypatch.setattr(revisions, "HOME", tmp_path)
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook
    (tmp_path / "untracked").touch()
    assert revision_of(OWN_BOT) == commit
    (tmp_path / "bot").write_text("#!/bin/sh\nexit\n")
    assert revision_of(OWN_BOT) == f"{commit}-dirty"
    monkeypatch.setattr(revisions, "HOME", tmp_path / "site-packages")  # installed in somebody's clone
    assert revision_of(OWN_BOT) is None


def test_a_bot_cannot_activate_git_filters_of_the_users_configuration(tmp_path, monkeypatch):
    """A bot that was added to the clone, and that its warm-up edits, names a filter in its `.gitattributes`."""
    for folder in ("bots", "harness"):
        (tmp_path / "clone" / folder).mkdir(parents=True)
    files = {"bots/.gitattributes": "* filter=users\n", "bots/a": "before\n"}
    commit = made(tmp_path / "clone", **files, **{name.replace("bots", "harness"): files[name] for name in files})
    (tmp_path / "clone" / "bots" / "a").write_text("edited\n")
    (tmp_path / "clone" / "harness" / "a").write_text("edited\n")
    clean = json.dumps(f"tee {quoted(tmp_path / 'ran')}")
    (tmp_path / ".gitconfig").write_text(f'[filter "users"]\n\tclean = {clean}\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(revisions, "HOME", tmp_path / "clone")
    assert revision_of(OWN_BOT) == f"{commit}-dirty"
    assert not (tmp_path / "ran").exists()
    git(tmp_path / "clone", "status")
    assert (tmp_path / "ran").exists()


def test_a_script_outside_a_clone_does_not_get_the_revision_of_its_python(tmp_path, own_folder):
    commit = made(tmp_path / "clone")
    (bin_folder := tmp_path / "clone" / "env" / "bin").mkdir(parents=True)
    (bin_folder.parent / "pyvenv.cfg").touch()
    (bin_folder / "python3").symlink_to(sys.executable)
    (script := tmp_path / "elsewhere" / "bot.py").parent.mkdir()
    script.touch()
    with contextlib.chdir(tmp_path / "clone"):
        assert revision_of(["env/bin/python3", str(script)]) is None
        assert revision_of(["env/bin/python3", "bot"]) == commit
        assert revision_of(["env/bin/python3", "-m", "bot"]) == commit  # installed there


def test_a_bot_without_a_commit_has_no_revision(tmp_path, own_folder, monkeypatch):
    (tmp_path / "bot").touch(0o755)
    assert revision_of(["./bot"]) is None
    require_git()
    subprocess.run(["git", "init", "-q"], check=True)
    assert revision_of(["./bot"]) is None
    commit = made(tmp_path)
    assert revision_of(["./bot"]) == commit
    monkeypatch.setattr(revisions, "HOME", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # without git
    assert (revision_of(["./bot"]), revision_of(OWN_BOT)) == (commit, None)
