"""Tournaments on clusters, with real processes that are killed."""

import contextlib
import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from nonobot.harness import UnusableError, cli
from nonobot.harness.cluster import cluster_workers, run_queue, worker_judge
from nonobot.harness.process.machine import place_of_workers
from nonobot.harness.results.result_files import read_result
from nonobot.harness.tournament.scheduled_runs import locked
from nonobot.system import usable_cores
from tests.helpers.clusters import (
    RECIPES,
    Block,
    SilentProxy,
    beside,
    cluster,
    definition,
    noted,
    outcomes,
    ranking,
)
from tests.helpers.places import unfilled
from tests.helpers.sandboxes import sandbox_only
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_line, running, wait_until

pytestmark = pytest.mark.usefixtures("own_folder")

__all__ = ["cluster"]

RESULTS = Path("results/small")


def played(*arguments: str) -> int:
    return cli.run(["tournament", *arguments])


@pytest.mark.slow
def test_a_tournament_has_the_same_results_as_without_workers_even_if_one_dies(tmp_path, capsys, output_of):
    bots = {"good": "perfect", "odd": "wrong_at_2", "short": "crash_at_3"}
    path = str(definition(tmp_path, bots, RECIPES))
    ranked = ranking(output_of(played, path).out)
    alone = outcomes(RESULTS), ranked
    assert len(alone[0]) == 12
    assert len(alone[1]) == 15, "four sets and all of them"
    definition(tmp_path, bots | {"good": "kill_worker_once"}, RECIPES)
    out, err = output_of(played, path, "--on", "local:2", "--again")
    assert (outcomes(RESULTS), ranking(out)) == alone
    assert err.count(" right, ") == 12
    assert err.count("its last line on stderr: RuntimeError: cannot go on") == 4
    assert len(noted(tmp_path / "kills")) == 1
    assert err.count("it is played again") == 1
    assert not any(psutil.pid_exists(pid) for pid in noted(tmp_path / "kills"))
    before = {path.name: path.read_bytes() for path in RESULTS.iterdir()}
    kinds = {Path(name.removesuffix(".before-1")).suffix for name in before}
    assert kinds <= {".json", ".txt"}, "no journal is left"
    for result in map(read_result, RESULTS.glob("*.json")):
        if result.bot == "short":
            assert "cannot go on" in Path(result.stderr_file).read_text()
        assert result.stderr_file is None or Path(result.stderr_file).parent == RESULTS
    assert played(path, "--on", "local:2") == 0
    assert {path.name: path.read_bytes() for path in RESULTS.iterdir()} == before
    assert "12 of 12 runs played before" in capsys.readouterr().err


@pytest.mark.slow
@sandbox_only
def test_a_sandboxed_bot_on_a_worker_cannot_read_results(tmp_path, cluster):
    folder = tmp_path / "bots"  # which the bot sees
    old = folder / "results/old/first.json"
    old.parent.mkdir(parents=True)
    old.touch()
    (folder / "spy.py").write_text(f"import pathlib, sys; sys.exit(str(pathlib.Path({str(old)!r}).exists()))")
    path = tmp_path / "spies.toml"
    path.write_text(
        f'name = "spies"\nsets = ["{RECIPES[0]}"]\ncontain = "yes"\n'
        f'bots = [{{name = "spy", command = ["{{python}}", "-S", "{unfilled(folder / "spy.py")}"]}}]'
    )
    (tmp_path / "elsewhere").mkdir()
    cluster.start_worker(cwd=tmp_path / "elsewhere")
    results = folder / "results/small"
    assert played(str(path), "--on", cluster.address, "--results", str(results)) == 0
    (result,) = map(read_result, results.glob("*.json"))
    assert result.sandboxed == "yes"
    assert Path(result.stderr_file).read_text() == "False\n"


@pytest.mark.nightly
def test_ten_workers_die_at_random_moments_and_every_run_is_played_once(tmp_path, monkeypatch, capsys, cluster):
    path = str(definition(tmp_path, {"a": "dawdle", "b": "dawdle", "c": "dawdle"}, RECIPES))
    monkeypatch.setattr(run_queue, "MOST_DEATHS", 11)  # chance may hit one run again and again
    cluster.start_workers(3)
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)

    def kill_ten(block: Block) -> None:
        for _ in range(10):
            wait_until(lambda: [worker for worker in cluster.workers if at_work(worker)], *cluster.workers, block)
            time.sleep(chance.uniform(0, 0.6))
            worker = chance.choice([worker for worker in cluster.workers if at_work(worker)] or cluster.workers)
            cluster.kill(worker)
            cluster.start_worker()

    with beside(kill_ten):
        assert played(path, "--on", cluster.address) == 0
    assert list(outcomes(RESULTS).values()) == [(["right"] * 5, "finished")] * 12
    assert capsys.readouterr().err.count("5 of 5 right") == 12


@pytest.mark.nightly
def test_workers_that_are_lost_before_a_run_has_begun_do_not_count(tmp_path, monkeypatch, cluster):
    path = str(definition(tmp_path, {"good": "perfect"}))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of the workers: a judge there waits for a core
    held_back = contextlib.ExitStack()
    for core in usable_cores():
        folder = tmp_path / f"nonojudge-{os.getuid()}/core-{core}"
        folder.mkdir(parents=True)
        fcntl.flock(held_back.enter_context((folder / "lock").open("w")), fcntl.LOCK_EX)
    cluster.start_worker()

    def kill_three(block: Block) -> None:
        for _ in range(3):
            wait_until(lambda: at_work(cluster.workers[0]), cluster.workers[0], block)
            cluster.kill(cluster.workers[0])
            cluster.start_worker()
        held_back.close()

    with beside(kill_three):
        assert played(path, "--on", cluster.address) == 0


@pytest.mark.slow
def test_a_local_worker_killed_during_start_is_a_one_line_error(tmp_path):
    path = str(definition(tmp_path, {"good": "perfect"}))
    command = [sys.executable, "-m", "nonobot.harness", "tournament", path, "--on", "local:1"]
    with running(command, stderr=subprocess.PIPE, text=True) as judge:
        wait_until(lambda: workers_of(judge), judge)
        workers_of(judge)[0].kill()
        _, err = finished(judge)
    assert (judge.returncode, err.count("\n")) == (2, 1), err
    assert err.startswith("nonojudge: the workers of local:1 cannot be started: ")
    assert err.endswith("; 1 run left; the same command resumes\n")


def workers_of(judge: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes of workers that a command has started."""
    return [
        process for process in psutil.Process(judge.pid).children() if "spawn_main" in " ".join(process.cmdline())
    ]


def at_work(worker: subprocess.Popen[bytes]) -> bool:
    """Return whether a worker has started a judge."""
    try:
        return bool(psutil.Process(worker.pid).children())
    except psutil.Error:
        return False


@pytest.mark.nightly
def test_a_run_that_loses_three_workers_is_given_up_and_the_others_continue(tmp_path, output_of):
    path = str(definition(tmp_path, {"good": "perfect", "kills": "kill_worker_at_3"}, RECIPES[:2]))
    out, err = output_of(played, path, "--on", "local:2", status=1)
    assert len(noted(tmp_path / "kills")) == 6
    assert err.count("given up, 3 workers were lost with it") == 2
    assert sorted(outcomes(RESULTS)) == ["boardgen-4x6x5-seed-3--good.json", "boardgen-5x5x5-seed-3--good.json"]
    assert "good" in out
    definition(tmp_path, {"good": "perfect", "kills": "perfect"}, RECIPES[:2])
    assert played(path, "--quiet") == 0
    assert len(outcomes(RESULTS)) == 4


@pytest.mark.nightly
def test_a_restarting_scheduler_is_awaited_and_reported_in_one_line(tmp_path, cluster):
    path = str(definition(tmp_path, {"good": "perfect", "waits": "wait_at_3"}, RECIPES[:2]))
    cluster.start_workers(2)
    command = [sys.executable, "-m", "nonobot.harness", "tournament", path, "--quiet", "--on", cluster.address]
    with running(command, stderr=subprocess.PIPE, text=True) as judge:
        wait_until(lambda: noted(tmp_path / "waiting") and len(outcomes(RESULTS)) > 0, judge)
        cluster.kill(cluster.scheduler)
        gone = f"nonojudge: the scheduler at {cluster.address} is gone; waiting for it\n"
        assert next_line(judge, "stderr") == gone
        wait_for_end(tmp_path / "waiting")
        (tmp_path / "go").touch()
        cluster.start_scheduler()
        cluster.start_worker()
        assert finished(judge)[1] == ""
    assert judge.returncode == 0
    assert list(outcomes(RESULTS).values()) == [(["right"] * 5, "finished")] * 4


@pytest.mark.nightly
def test_a_lost_scheduler_is_reported_and_the_command_can_be_repeated(tmp_path, monkeypatch, capsys, cluster):
    path = str(definition(tmp_path, {"good": "perfect", "waits": "wait_at_3"}))
    cluster.start_worker()
    monkeypatch.setattr(run_queue, "SECONDS_TO_COME", 0)

    def kill(block: Block) -> None:
        wait_until(lambda: noted(tmp_path / "waiting"), block)
        cluster.kill(cluster.scheduler)

    with beside(kill):
        assert played(path, "--on", cluster.address) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"nonojudge: no scheduler answers at {cluster.address}: ")
    assert last.endswith("1 run left; the same command resumes")
    (tmp_path / "go").touch()
    wait_for_end(tmp_path / "waiting")
    assert played(path, "--quiet") == 0
    assert len(outcomes(RESULTS)) == 2


@pytest.mark.slow
def test_a_ctrl_c_ends_a_tournament_whose_scheduler_falls_silent(tmp_path, cluster):
    path = str(definition(tmp_path, {"good": "perfect", "waits": "wait_at_3"}))
    cluster.start_workers(1)
    with contextlib.closing(SilentProxy(cluster.address)) as proxy:
        command = [sys.executable, "-m", "nonobot.harness", "tournament", path, "--quiet", "--on", proxy.address]
        with running(command, stderr=subprocess.PIPE, text=True) as judge:
            wait_until(lambda: noted(tmp_path / "waiting"), judge)
            proxy.fall_silent()
            wait_until(proxy.is_silent.is_set, judge)
            judge.send_signal(signal.SIGINT)
            *lost, last = finished(judge)[1].splitlines()
            assert last == "nonojudge: interrupted; the same command resumes"
            # On a busy machine, its worker may be lost before.
            assert all("lost with the worker tcp://" in line for line in lost)
    assert judge.returncode == 130
    assert list(outcomes(RESULTS).values()) == [(["right"] * 5, "finished")]


@pytest.mark.slow
def test_a_scheduler_that_falls_silent_is_lost_after_a_while(tmp_path, monkeypatch, capsys, cluster):
    path = str(definition(tmp_path, {"good": "perfect", "waits": "wait_at_3"}))
    cluster.start_workers(1)
    monkeypatch.setattr(run_queue, "SECONDS_TO_COME", 0)
    monkeypatch.setattr(cluster_workers, "SECONDS_OF_SILENCE", 5.0)

    def freeze(block: Block) -> None:
        wait_until(lambda: noted(tmp_path / "waiting"), block)
        cluster.scheduler.send_signal(signal.SIGSTOP)

    with beside(freeze):
        assert played(path, "--quiet", "--on", cluster.address) == 2
    *gone, last = capsys.readouterr().err.splitlines()
    # More than once where the machine is so busy that it is silent for these seconds before it is stopped.
    assert set(gone) == {f"nonojudge: the scheduler at {cluster.address} is gone; waiting for it"}
    assert last.startswith(f"nonojudge: no scheduler answers at {cluster.address}: nothing came within ")
    assert last.endswith("1 run left; the same command resumes")
    assert list(outcomes(RESULTS).values()) == [(["right"] * 5, "finished")]


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("on", ["local:2", "cluster"])
def test_an_interrupted_tournament_leaves_no_bot_and_resumes_on_any_workers(tmp_path, on, number, cluster):
    path = str(definition(tmp_path, {"good": "perfect", "waits": "wait_at_3"}, RECIPES[:2]))
    cluster.start_worker()
    where = on if on != "cluster" else cluster.address
    command = [sys.executable, "-m", "nonobot.harness", "tournament", path, "--on", where]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as judge:
        wait_until(lambda: noted(tmp_path / "waiting") and outcomes(RESULTS), judge)
        judge.send_signal(number)
        _, err = finished(judge)
    if number == signal.SIGINT:
        assert judge.returncode == 130
        assert err.endswith(b"nonojudge: interrupted; the same command resumes\n")
        assert b"Traceback" not in err
    wait_for_end(tmp_path / "waiting")
    before = {path: path.read_bytes() for path in RESULTS.glob("*good.json")}
    assert before
    (tmp_path / "go").touch()
    elsewhere = ["--on", cluster.address] if on == "local:2" else []
    assert played(path, "--quiet", *elsewhere) == 0
    assert len(outcomes(RESULTS)) == 4
    assert all(path.read_bytes() == content for path, content in before.items())


def wait_for_end(bots: Path) -> None:
    """Wait until none of the bots that noted themselves in a file runs any more."""
    left = [process for process in psutil.process_iter() if process.pid in noted(bots)]
    assert not psutil.wait_procs(left, timeout=PATIENCE_SECONDS)[1]


def other_version(folder: Path) -> tuple[str, str]:
    """Return the options of a worker with another version of this program."""
    old = folder / "old.py"
    old.write_text("import nonobot\nnonobot.__version__ = '0.0'\n")
    return "--preload", str(old)


@pytest.mark.nightly
def test_unsuitable_workers_are_refused_before_the_first_run(tmp_path, output_of, cluster):
    for name, text, options in (
        ("here", "pass", ()),
        ("there", "raise", ()),
        ("nowhere", None, ()),
        ("old", "pass", other_version(tmp_path)),
        ("threads", "pass", ("--nthreads", "3")),
    ):
        (tmp_path / name).mkdir()
        if text:
            (tmp_path / name / "bot.py").write_text(text)
        cluster.start_worker(*options, cwd=tmp_path / name)
    cluster.wait_for_workers(5)
    (tmp_path / "bot.py").write_text("pass")
    bots = 'bots = [{name = "a", command = "{python} bot.py"}]'
    Path("small.toml").write_text(f'name = "small"\nsets = ["{RECIPES[0]}"]\ncontain = "no"\n{bots}')
    first, *lines = output_of(played, "small.toml", "--on", cluster.address, status=2).err.splitlines()
    assert first == f"nonojudge: not all workers at {cluster.address} can be used:"
    for why in ("./bot.py not there, here sha256 ", "./bot.py sha256 ", "nonobot 0.0, ", "3 threads; start it "):
        assert sum(f": {why}" in line for line in lines) == 1, lines
    assert len(lines) == 4
    assert not outcomes(RESULTS)


@pytest.mark.nightly
def test_a_late_unsuitable_worker_is_reported_and_not_used(tmp_path, capsys, cluster):
    path = str(definition(tmp_path, {"waits": "wait_at_3", "good": "perfect"}))
    cluster.start_worker()

    def come_late(block: Block) -> None:
        wait_until(lambda: noted(tmp_path / "waiting"), block)
        cluster.start_worker(*other_version(tmp_path))
        cluster.wait_for_workers(2)
        cluster.start_worker()
        wait_until(lambda: len(outcomes(RESULTS)) == 1, block)
        (tmp_path / "go").touch()

    with beside(come_late):
        assert played(path, "--on", cluster.address) == 0
    assert ": nonobot 0.0, " in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.parametrize("same_kind", [False, True])
def test_with_same_kind_a_set_is_played_on_one_kind_of_machine(tmp_path, monkeypatch, capsys, cluster, same_kind):
    """Two machines are two workers, one of which, with all that it starts, takes its CPU for another one."""
    (tmp_path / "sitecustomize.py").write_text(
        "from nonobot.harness.process import machine\nmachine._cpu_model = lambda: 'Other CPU'\n"
    )
    cluster.start_worker()
    with monkeypatch.context() as other:
        other.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        cluster.start_worker()
    cluster.wait_for_workers(2)
    path = str(definition(tmp_path, {"a": "dawdle", "b": "dawdle"}, RECIPES[:3]))
    assert played(path, "--on", cluster.address, *(["--same-kind"] if same_kind else [])) == 0
    used: dict[str, set[str]] = {}
    for result in map(read_result, RESULTS.glob("*.json")):
        used.setdefault(result.set.name, set()).add(result.machine.cpu)
    assert len(set.union(*used.values())) == 2
    out = capsys.readouterr().out
    if same_kind:
        assert all(len(kinds) == 1 for kinds in used.values())
        assert "not the same CPU" not in out
    else:
        assert out.count("not the same CPU") == sum(len(kinds) > 1 for kinds in used.values()) + 1


@pytest.mark.nightly
def test_same_kind_without_a_matching_worker_is_an_error(tmp_path, monkeypatch, output_of):
    path = str(definition(tmp_path, {"good": "perfect"}, RECIPES[:2]))
    assert played(path, "--quiet") == 0
    result = next(RESULTS.glob("*5x5x5*.json"))
    result.write_text(re.sub(r'"cpu": ".*?"', '"cpu": "Old CPU"', result.read_text()))
    path = str(definition(tmp_path, {"good": "perfect", "odd": "wrong_at_2"}, RECIPES[:2]))
    monkeypatch.setattr(run_queue, "SECONDS_TO_COME", 0)
    last = output_of(played, path, "--on", "local:1", "--same-kind", status=2).err.splitlines()[-1]
    assert last.startswith("nonojudge: --same-kind: no worker is on a machine such as Old CPU / ")
    assert last.endswith("1 run left; the same command resumes")
    assert len(outcomes(RESULTS)) == 3


@pytest.mark.parametrize(
    ("more", "options", "why"),
    [
        ("core = 0", ["--on", "local"], "leave out core and cores"),
        ("cores = 2", ["--on", "local"], "leave out core and cores"),
        ("", ["--same-kind"], "--same-kind only applies to --on"),
    ],
)
def test_settings_that_do_not_work_with_workers_are_refused(tmp_path, capsys, more, options, why):
    assert played(str(definition(tmp_path, {"good": "perfect"}, more=more)), *options) == 2
    assert why in capsys.readouterr().err


def test_a_run_is_given_up_after_3_lost_workers_or_10_lost_before_its_start(capsys):
    for begun, most in ((True, 3), (False, 10)):
        runs = run_queue.RunsOnWorkers([], None, None)
        playing = run_queue._Playing(SimpleNamespace(result_path="r", name="r"), "worker", None, begun)
        for _ in range(most):
            runs._again_or_given_up(playing, "it died")
        said = capsys.readouterr().err.splitlines()
        assert ["given up" in line for line in said] == [False] * (most - 1) + [True]
        assert len(runs._todo) == most - 1


def test_a_taken_or_removed_lock_file_is_not_acquired(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    os.utime(path, (0, 0))
    with path.open("rb+") as mine, path.open("rb+") as theirs:
        assert worker_judge._locked(mine.fileno())
        assert path.stat().st_mtime > 0
        assert not worker_judge._locked(theirs.fileno())
        path.unlink()
        mine.close()
        assert not worker_judge._locked(theirs.fileno())


@pytest.mark.parametrize("place", ["", "core-{}", "core-{}/lock"])
def test_a_worker_follows_no_link_in_place_of_its_lock_folder(tmp_path, monkeypatch, place):
    """The temporary folder belongs to everybody."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (theirs := tmp_path / "theirs").mkdir()
    own = place_of_workers()
    for core in usable_cores():
        link = own / place.format(core)
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(theirs / "new" if place.endswith("lock") else theirs)
    with pytest.raises((UnusableError, OSError), match=r"is a link|symbolic link"), worker_judge._own_core():
        pass
    assert list(theirs.iterdir()) == []


def test_one_command_at_a_time_plays_a_tournament(tmp_path, capsys):
    path = str(definition(tmp_path, {"good": "perfect"}))
    with locked(RESULTS):
        assert played(path) == 2
    assert capsys.readouterr().err == f"nonojudge: {RESULTS}: another nonojudge is playing this tournament\n"
    assert played(path, "--quiet") == 0
