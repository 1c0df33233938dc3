"""Facts of the machine that a run takes place on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import msgspec
import psutil
import pytest

from nonobot.harness.play import machine
from nonobot.harness.play.machine import busy_warning, machine_facts, off_cores, on_cores
from nonobot.system import usable_cores


def test_the_facts_are_those_of_this_machine():
    facts = machine_facts(())
    assert facts.python == platform.python_version()
    assert facts.memory_bytes == psutil.virtual_memory().total
    assert facts.usable_cores == len(usable_cores()) <= facts.logical_cores
    assert facts.cpu
    assert facts.numpy
    assert 0 <= facts.busy_share <= 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_core_that_computes_is_called_busy():
    core = usable_cores()[-1]
    loop = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-S", "-c", loop], stdout=subprocess.PIPE) as busy:
        busy.stdout.readline()
        facts = machine_facts([core])
        busy.kill()
    assert facts.busy_share > machine.BUSY_SHARE
    assert "the machine was busy" in busy_warning(facts)


def test_an_idle_machine_is_no_reason_for_a_warning():
    facts = machine_facts(())
    assert busy_warning(msgspec.structs.replace(facts, busy_share=0.01)) is None
    assert busy_warning(msgspec.structs.replace(facts, busy_share=None)) is None
    assert "used 40 % of the cores" in busy_warning(msgspec.structs.replace(facts, busy_share=0.4))


def test_what_a_system_does_not_tell_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "Path", lambda _: tmp_path / "not there")
    facts = machine_facts(())
    assert facts.governor is None
    assert facts.cpu


@pytest.mark.skipif(sys.platform != "linux", reason="no cores to hold a process on")
def test_cores_come_back_as_they_were():
    before = os.sched_getaffinity(0)
    core = min(before)
    with off_cores([core]):
        assert os.sched_getaffinity(0) == (before - {core} or before)
        with on_cores([core]):
            assert os.sched_getaffinity(0) == {core}
        assert os.sched_getaffinity(0) == (before - {core} or before)
    assert os.sched_getaffinity(0) == before
    with off_cores(()), on_cores(()):
        assert os.sched_getaffinity(0) == before
