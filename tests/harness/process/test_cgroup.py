"""Cgroups: what is counted there and limited, in both versions, and that nothing of them stays."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from nonobot.harness.process import cgroup
from nonobot.harness.process.cgroup import made_group
from nonobot.harness.process.process_tree import EVERYTHING, ProcessTree
from nonobot.harness.results.conditions import Configuration
from tests.helpers.judged import remove
from tests.helpers.places import REPOSITORY
from tests.helpers.waiting import finished, wait_until


def python(code, *, prints=False):
    return subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE if prints else None)


@pytest.fixture
def group_of():
    """Return what makes a group with limits; gone after the test. Skip where none can be made."""
    made = []

    def make(**limits):
        made.append(made_group(Configuration(**limits)))
        if made[-1] is None or made[-1].cgroup_measures != EVERYTHING:
            pytest.skip("no cgroup with all controllers can be made here (as root, or with delegation)")
        return made[-1]

    yield make
    for group in filter(None, made):
        remove(group)


def test_a_cgroup_counts_dead_processes_too(group_of):
    group = group_of()
    code = "import os, time\nif os.fork(): os.wait()\nelse:\n  x = b'x' * 60_000_000\n"
    code += "  while time.process_time() < .2: pass"
    with group.entered():
        process = python(code)
    outside = python(code)
    assert process.wait() == outside.wait() == 0
    assert 0.2 <= group.cpu_seconds < 0.38
    group.look_at_memory()
    assert 60_000_000 < group.peak_memory_bytes < 110_000_000
    assert not group.out_of_memory
    assert not group.out_of_processes


def test_a_judge_in_another_container_removes_no_group_of_this_one(group_of):
    """It shares the cgroup but not the numbers of processes, so this judge looks dead to it."""
    group = group_of()
    modules = "from tests.harness.process.test_cgroup import Configuration, made_group"
    code = f"{modules}; made_group(Configuration()).remove()"
    there = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    done = subprocess.run(there, cwd=REPOSITORY, capture_output=True, text=True)
    if done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr)
    assert done.stderr == ""
    with group.entered():
        process = python("import time; time.sleep(600)")
    assert group.pids() == [process.pid]
    group.kill()
    process.wait()


def test_the_judge_leaves_the_cgroup_and_keeps_its_cores(group_of):
    before, where = os.sched_getaffinity(0), Path("/proc/thread-self/cgroup").read_text()
    with group_of(core=min(before)).entered():
        pass
    assert os.sched_getaffinity(0) == before
    assert Path("/proc/thread-self/cgroup").read_text() == where


def test_every_thread_of_the_judge_keeps_its_cores(tmp_path):
    """Version 2 moves all threads at once; written out, as there is one version on a machine."""
    home = cgroup._Home(tmp_path, "cgroup.procs", tmp_path)
    group, over = cgroup.Group({"cpuset": home}, Configuration()), threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    before = os.sched_getaffinity(thread.native_id)
    with group.entered():
        os.sched_setaffinity(thread.native_id, [min(before)])  # as the kernel does
    assert os.sched_getaffinity(thread.native_id) == before
    over.set()
    thread.join()


def test_processes_started_before_the_limit_is_set_count_against_it(group_of):
    group = group_of(process_limit=1)
    with group.entered():  # its threads and one more are allowed for
        processes = [python("import time; time.sleep(1000)") for _ in range(2)]
    assert group.out_of_processes
    group.kill()
    assert [process.wait() for process in processes] == [-9, -9]
    assert group.out_of_processes  # it was before it was killed


def test_a_cgroup_enforces_the_process_and_memory_limits(group_of):
    group = group_of(process_limit=8)
    code = (
        "import threading, time\ncount = 0\ntry:\n  for count in range(20):\n"
        "    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "except RuntimeError: print(count, flush=True)"
    )
    with group.entered():
        process = python(code, prints=True)
    assert int(finished(process)[0]) == 7
    assert group.out_of_processes
    group.kill()
    assert group.out_of_processes
    group = group_of(memory_limit_bytes=50_000_000)
    with group.entered():
        process = python("x = b'x' * 80_000_000")
    assert process.wait() == -9
    assert group.out_of_memory
    group.look_at_memory()
    assert group.peak_memory_bytes <= 50_000_000


def test_an_endlessly_forking_bot_is_killed_at_once(group_of):
    group = group_of(process_limit=40)
    with group.entered():
        process = python("import os\nwhile True:\n  try: os.fork(); os.setsid()\n  except OSError: pass")
    wait_until(lambda: group.out_of_processes)
    group.kill()
    assert process.wait() == -9


def test_a_tree_takes_the_figures_of_its_group(group_of):
    tree = ProcessTree(group_of())
    with tree.joined():
        process = python("import time\nwhile time.process_time() < .1: pass")
    tree.grow_from(process.pid)
    process.wait()
    tree.close()
    assert tree.cgroup_measures == EVERYTHING
    assert 0.1 <= tree.cpu_seconds < 0.3
    assert 1_000_000 < tree.peak_memory_bytes < 30_000_000


# What the kernel says, written out: there is one version on a machine


def kernel(folder, *, own, mounts, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "own").write_text(own)
    (folder / "mounts").write_text(mounts.format(str(folder).replace(" ", r"\040")))
    return cgroup._homes_in(folder / "own", folder / "mounts")


def test_cgroups_of_version_1_are_created_below_the_judges_own(tmp_path):
    own = "9:name=systemd:/\n8:pids:/\n4:cpu,cpuacct:/deep/down\n0::/\n"
    mounts = "cgroup {0}/pids cgroup rw,pids 0 0\ncgroup {0}/cpu cgroup rw,cpu,cpuacct 0 0\n"
    homes = kernel(tmp_path, own=own, mounts=mounts, files={"pids/tasks": "", "cpu/deep/down/tasks": ""})
    expected = {"pids": tmp_path / "pids", "cpuacct": tmp_path / "cpu/deep/down"}
    assert {name: home.folder for name, home in homes.items()} == expected
    assert {home.members for home in homes.values()} == {"tasks"}


@pytest.mark.parametrize("limits", [{"memory.max": "max"}, {"memory.limit_in_bytes": str((1 << 63) - 4096)}])
def test_the_default_limit_of_memory_is_a_share_of_what_the_judge_may_use(tmp_path, limits, monkeypatch):
    kernel(tmp_path, **UNIFIED, files={"all/memory.max": "1200000000", "all/mine/x": ""})
    for name, content in limits.items():
        (tmp_path / "all/mine" / name).write_text(content)
    folders = [*cgroup._memory_folders(tmp_path / "own", tmp_path / "mounts")]
    assert folders == [tmp_path / "all/mine", tmp_path / "all"]
    monkeypatch.setattr(cgroup, "_memory_folders", lambda: folders)
    assert cgroup.with_memory_limit(Configuration()).most_memory_bytes == 13 << 26
    assert cgroup.with_memory_limit(Configuration(memory_limit_bytes=None)).most_memory_bytes is None
    (tmp_path / "all/memory.max").write_text("40000000")
    assert cgroup.with_memory_limit(Configuration()).most_memory_bytes == 30_000_000
    monkeypatch.setattr(cgroup, "_memory_folders", lambda: [])
    total = psutil.virtual_memory().total
    assert total * 0.75 - (1 << 26) < cgroup.with_memory_limit(Configuration()).most_memory_bytes <= total * 0.75


UNIFIED = {"own": "0::/mine\n", "mounts": "cgroup2 {0}/all cgroup2 rw 0 0\n"}


@pytest.mark.parametrize(
    ("offered", "members", "homes"),
    [
        ("cpu io memory pids", "{pid}", {"pids", "memory", "cpuacct"}),
        ("memory pids", "{pid}\n1", set()),  # others live there
        ("hugetlb", "{pid}", set()),
    ],
)
def test_cgroup_version_2_is_used_where_it_is_delegated(tmp_path, offered, members, homes):
    files = {
        "all/mine/cgroup.controllers": offered,
        "all/mine/cgroup.procs": members.format(pid=os.getpid()),
        "all/mine/cgroup.type": "domain",
        "all/mine/cgroup.subtree_control": "",
        "all/mine/nonojudge/cgroup.procs": "",
    }
    offers = kernel(tmp_path, **UNIFIED, files=files)
    assert set(offers) == homes
    if homes:
        assert (tmp_path / "all/mine/cgroup.subtree_control").read_text() == "+pids +memory +cpu"
        assert offers["pids"].back == tmp_path / "all/mine/nonojudge"


def test_measurements_are_read_from_cgroup_version_2(tmp_path):
    home = cgroup._Home(tmp_path, "cgroup.procs", tmp_path)
    (tmp_path / "cgroup.procs").touch()
    group = cgroup.Group({"cpuacct": home, "memory": home, "pids": home}, Configuration())
    (folder,) = group._homes
    for name, content in {
        "cpu.stat": "usage_usec 2500000\nuser_usec 1\n",
        "memory.current": "70\n",
        "memory.peak": "90\n",
        "memory.stat": "anon 3\nfile 60\nshmem 4\n",
        "memory.events": "low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\n",
        "pids.current": "3\n",
        "pids.events": "max 0\n",
    }.items():
        (folder / name).write_text(content)
    group.look_at_memory()
    assert (group.cpu_seconds, group.memory_bytes, group.peak_memory_bytes) == (2.5, 14, 34)
    assert group.out_of_memory
    assert not group.out_of_processes
    group.kill()
    (folder / "pids.events").write_text("max 1\n")  # who forked while it was killed
    assert not group.out_of_processes
