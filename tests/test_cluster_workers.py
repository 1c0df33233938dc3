"""Where work is done: what names a place, and what keeps it from being used."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.cluster import cluster_workers
from nonobot.harness.cluster.cluster_workers import connected, differing, local_cores, software, where


def test_a_place_is_local_or_an_address():
    for place in ("local", "local:3", "tcp://10.0.0.1:8786", "tcp://head", "tcp://[::1]:8786", "tcp://[::1]"):
        assert where(place) == place
    for place in ("", "local:", "local:0", "local:x", "here", "tcp://", "tcp://a:b", "tcp://a b", "a:1"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not local, local:N or an address"):
            where(place)


@pytest.mark.parametrize(
    ("place", "cores"),
    [
        ("local", [[2], [3], [5]]),
        ("local:1", [[2, 3, 5]]),
        ("local:2", [[2, 3], [2, 5]]),
        ("local:4", [[2, 3, 5]] * 4),
    ],
)
def test_each_worker_has_a_core_of_its_own_where_there_are_enough(monkeypatch, place, cores):
    monkeypatch.setattr(cluster_workers, "usable_cores", lambda: [2, 3, 5])
    assert local_cores(place) == cores


def test_what_differs_is_named_with_both_values():
    here = software()
    assert set(here) == {"nonobot", "Python", "numpy", "numba"}
    assert differing("w", here, dict(here)) == []
    assert differing("w", here, here | {"numpy": "0.1"}) == [f"w: numpy 0.1, here {here['numpy']}"]
    assert differing("w", {"numba": "1"}, {}) == ["w: numba unknown, here 1"]
    assert "nonobot" in differing("w", here, ModuleNotFoundError("No module named 'nonobot'"))[0]
    assert differing("w", here, OSError("it left")) == ["w: it left"]


def test_without_the_extra_the_error_names_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnusableError, match="--on needs distributed, not installed; install with: "):
        connected("local").__enter__()


@pytest.mark.nightly
def test_without_a_scheduler_an_error_says_so_soon():
    assert cluster_workers.SECONDS_TO_CONNECT <= 8
    with pytest.raises(UnusableError, match=r"no scheduler answers at tcp://127.0.0.1:9: .") as caught:
        connected("tcp://127.0.0.1:9").__enter__()
    assert "\n" not in str(caught.value)


LEAVES_A_TASK_THAT_FAILS = """
import asyncio
from nonobot.harness.cluster.cluster_workers import connected
with connected("local:1"):
    pass
late = asyncio.new_event_loop().create_future()
late.set_exception(TimeoutError("Timeout"))
"""


@pytest.mark.nightly
def test_what_fails_after_the_workers_were_closed_is_not_said(tmp_path):
    done = subprocess.run([sys.executable, "-c", LEAVES_A_TASK_THAT_FAILS], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.nightly
def test_workers_on_this_machine_do_one_thing_at_a_time_and_leave_no_process():
    import psutil

    before = set(psutil.Process().children(recursive=True))
    with connected("local:2") as client:
        infos = client.scheduler_info(n_workers=-1)["workers"]
        assert [one["nthreads"] for one in infos.values()] == [1, 1]
        assert client.submit(sum, [1, 2]).result() == 3
    left = [one for one in psutil.Process().children(recursive=True) if one not in before]
    assert not [one for one in left if "resource_tracker" not in " ".join(one.cmdline())]


@pytest.mark.nightly
def test_what_goes_wrong_in_the_block_is_no_fault_of_the_cluster():
    with pytest.raises(UnusableError, match="mine"), connected("local:1"):
        raise UnusableError("mine")
