"""Process trees: found, measured, ended."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from nonobot.harness.play.journal import AttemptStarted, end_leftover
from nonobot.harness.process import process_tree as trees
from nonobot.harness.process.bot_process import MARK
from nonobot.harness.process.process_tree import ProcessTree
from nonobot.harness.results.conditions import CgroupMeasures
from tests.helpers.waiting import next_line, wait_until

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(1000)"]
PARENT = [
    sys.executable,
    "-S",
    "-c",
    # Some ticks of CPU time before the child is there.
    "import subprocess, sys, time\nwhile time.process_time() < 0.1: pass\n"
    f"child = subprocess.Popen({SLEEP!r}); print(child.pid, flush=True); child.wait()",
]


@pytest.fixture(params=["children", "all processes"])
def _finder(request, monkeypatch):
    """Both ways of finding children: the kernel's lists, and where there are none a look at all processes."""
    if request.param == "all processes":
        monkeypatch.setattr(trees, "Path", lambda name: Path("/nowhere"))


@pytest.fixture
def tree():
    made = ProcessTree()
    yield made
    made.kill()
    made.close()


def looked(tree):
    tree.look()
    return tree


@pytest.fixture
def started():
    """Return what starts a command as the root of a tree."""
    with contextlib.ExitStack() as pipes:

        def start(command, tree):
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            pipes.enter_context(process.stdout)
            tree.grow_from(process.pid)
            return process

        yield start


@pytest.mark.usefixtures("_finder")
def test_a_tree_measures_and_kills_the_bots_processes_and_not_the_judges(started):
    own = subprocess.Popen(SLEEP)
    tree = ProcessTree()
    process = started(PARENT, tree)
    child = int(next_line(process))
    tree.look()
    of_child = psutil.Process(child).memory_info()
    own_bytes = of_child.rss - getattr(of_child, "shared", 0)  # without the pages of files, which do not count
    assert tree.memory_bytes > own_bytes > 0
    assert tree.peak_memory_bytes >= tree.memory_bytes
    assert tree.cpu_seconds > 0
    os.kill(process.pid, 9)
    process.wait()
    tree.kill()
    tree.close()
    assert not psutil.pid_exists(child)
    assert own.poll() is None
    own.kill()
    own.wait()


@pytest.mark.usefixtures("_finder")
def test_two_trees_leave_each_other_alone(monkeypatch, started):
    subreaper, set_subreaper = [], trees._set_subreaper
    monkeypatch.setattr(trees, "_set_subreaper", lambda on: subreaper.append(on) or set_subreaper(on))
    earlier, later = ProcessTree(), ProcessTree()
    first, second = started(PARENT, earlier), started(PARENT, later)
    children = [int(next_line(process)) for process in (first, second)]
    seen = [{process.pid for process in tree._processes()} for tree in (earlier, later)]
    assert seen == [{first.pid, children[0]}, {second.pid, children[1]}]
    assert [set(tree._pids()) for tree in (earlier, later)] == seen
    second.kill()
    os.waitid(os.P_PID, second.pid, os.WEXITED | os.WNOWAIT)
    earlier.reap_orphans()
    assert second.wait() == -9, "its end is not taken by another tree"
    first.kill()
    first.wait()
    earlier.kill()
    earlier.close()
    assert subreaper == [True, True, True], "the other one is still open"
    later.kill()
    later.close()
    assert subreaper[3:] == [False]
    assert not any(map(psutil.pid_exists, children))


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="macOS before Python 3.13")
def test_measuring_while_a_dead_bot_is_counted_loses_no_cpu_time(started):
    ended, looked = threading.Event(), threading.Event()

    class Slow(ProcessTree):
        def count_dead(self, used):
            ended.set()
            looked.wait(0.3)  # not longer: the look waits for this count
            super().count_dead(used)

    tree = Slow()
    process = started([*PARENT[:2], "-c", "import time\nwhile time.process_time() < 0.1: pass"], tree)
    reaper = threading.Thread(target=tree.wait_for, args=(process.pid,))
    reaper.start()
    ended.wait()
    tree.look()
    seen = tree.cpu_seconds
    looked.set()
    reaper.join()
    process.returncode = 0
    tree.close()
    assert seen >= 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere an orphan is lost sight of")
def test_an_orphan_is_counted_and_reaped(tree, started):
    burn = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    code = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {burn!r}], start_new_session=True)"
    )
    process = started([sys.executable, "-S", "-c", code], tree)
    process.wait()
    wait_until(lambda: looked(tree).cpu_seconds >= 0.2)
    wait_until(lambda: looked(tree) and not psutil.Process().children(recursive=True))


def test_the_peak_is_the_bots_and_not_the_judges(started):
    ballast = bytearray(300_000_000)  # so that the judge is larger than the bot
    ballast[::4096] = b"x" * len(ballast[::4096])
    tree = ProcessTree()
    code = "held = b'x' * 50_000_000; print(flush=True); import time; time.sleep(1000)"
    process = started([*PARENT[:2], "-c", code], tree)
    next_line(process)
    tree.look()
    process.kill()
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = -9
    tree.count_dead(used)
    tree.close()
    assert 50_000_000 < tree.peak_memory_bytes < 250_000_000
    del ballast


MEMFD = """
import mmap, os, time
file = os.memfd_create("full")
for _ in range(40):
    os.write(file, b"x" * 1_000_000)
if {mapped}:
    held = mmap.mmap(file, 40_000_000)
    sum(held[::4096])
    os.fork()
print(flush=True)
time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="there are no memfds")
@pytest.mark.parametrize("mapped", [False, True])
def test_a_memfd_counts_once_mapped_or_not(tree, mapped, started):
    process = started([*PARENT[:2], "-c", MEMFD.format(mapped=mapped)], tree)
    next_line(process)
    tree.look()
    assert tree.memory_bytes > 40_000_000
    assert tree.exceeds_memory(40_000_000)
    assert not tree.exceeds_memory(75_000_000)
    assert tree.peak_memory_bytes < 75_000_000
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends no process for its memory")
def test_each_process_is_ended_before_the_judge_when_memory_runs_out(tree, started):
    process = started(PARENT, tree)
    child = int(next_line(process))
    for pid in (process.pid, child):
        Path(f"/proc/{pid}/oom_score_adj").write_text("0")
    tree.look()
    assert {Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in (process.pid, child)} == {"1000\n"}
    assert Path("/proc/self/oom_score_adj").read_text() != "1000\n"
    process.kill()
    process.wait()


FORKS_AND_ENDS = """
import os, time
until = time.monotonic() + 60
if os.fork() == 0:
    while time.monotonic() < until:
        if os.fork():
            os._exit(0)
        os.setsid()
    os._exit(0)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is detached is lost sight of")
def test_a_bot_that_forks_faster_than_the_judge_looks_is_killed(tree, monkeypatch, started):
    process = started([sys.executable, "-S", "-c", FORKS_AND_ENDS], tree)
    wait_until(lambda: looked(tree).cpu_seconds >= 0.2, process)
    looks = []
    children = psutil.Process.children

    def look(judge, recursive=False):
        looks.append(children(judge, recursive))
        return looks[-1]

    monkeypatch.setattr(psutil.Process, "children", look)
    process.kill()
    process.wait()
    tree.kill()
    assert children(psutil.Process(), recursive=True) == []
    assert len(looks) <= 5


def _started(pid, mark):
    return AttemptStarted("", 1, pid, 0.0, False, CgroupMeasures(), mark=mark)


def test_a_leftover_bot_of_a_killed_judge_is_ended_and_other_processes_are_not():
    bot, other = (subprocess.Popen(SLEEP, start_new_session=True, env=os.environ | {MARK: mark}) for mark in "ab")
    stranger = subprocess.Popen(SLEEP, start_new_session=True)  # which a journal from elsewhere names
    for process, mark in ((stranger, ""), (stranger, "a"), (other, ""), (other, "a"), (bot, "")):
        end_leftover([_started(process.pid, mark)])
    assert [process.poll() for process in (bot, other, stranger)] == [None] * 3
    end_leftover([_started(bot.pid, "a")])
    assert bot.wait(60) == -9
    end_leftover([_started(bot.pid, "a")])
    end_leftover([])
    other.kill()
    assert other.wait(60) == -9
    stranger.kill()
    assert stranger.wait(60) == -9
