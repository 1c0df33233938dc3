"""Facts of the machine that a bot runs on, and whether it was busy."""

import os
import platform
import subprocess
import sys

import msgspec
import psutil
import pytest

from nonobot.harness.process import machine
from nonobot.harness.process.machine import machine_facts
from nonobot.harness.results.conditions import BUSY_SHARE, busy_warning
from nonobot.system import usable_cores
from tests.helpers.waiting import next_line, running


def test_machine_facts_describe_this_machine():
    facts = machine_facts(())
    assert facts.python == platform.python_version()
    assert facts.memory_bytes == psutil.virtual_memory().total
    assert facts.usable_cores == len(usable_cores()) <= facts.logical_cores
    assert facts.cpu
    assert facts.numpy
    assert 0 <= facts.busy_share <= 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_core_with_a_running_process_is_reported_as_busy():
    core = usable_cores()[-1]
    loop = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    with running([sys.executable, "-S", "-c", loop], stdout=subprocess.PIPE) as busy:
        next_line(busy)
        facts = machine_facts([core])
        busy.kill()
    assert facts.busy_share > BUSY_SHARE
    assert "the machine was busy" in busy_warning(facts)


def test_unreported_machine_facts_are_none_and_idle_machines_cause_no_warning(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "Path", lambda _: tmp_path / "not there")
    facts = machine_facts(())
    assert facts.governor is None
    assert facts.cpu
    assert busy_warning(msgspec.structs.replace(facts, busy_share=0.01)) is None
    assert busy_warning(msgspec.structs.replace(facts, busy_share=None)) is None
    assert "used 40% of the cores" in busy_warning(msgspec.structs.replace(facts, busy_share=0.4))
