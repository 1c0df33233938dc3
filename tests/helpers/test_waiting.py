"""Waits end with the process that they wait for, and the failure shows its output."""

import os
import signal
import subprocess
import sys

import pytest

from tests.helpers import waiting
from tests.helpers.clusters import Block, Cluster, beside
from tests.helpers.paged import Server
from tests.helpers.tabs import Tab
from tests.helpers.talking import Talk, interrupted
from tests.helpers.terminals import Terminal
from tests.helpers.waiting import finished, next_bytes, next_line, running, told, wait_until

ENDS = [sys.executable, "-S", "-c", "import sys; print('half'); sys.exit('no memory left')"]
LEAVES_A_CHILD = ["sh", "-c", "echo half; sleep 1000 & echo $! >&2; exit 3"]
ENDED = r"(?s)status 1: .*no memory left"

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture(autouse=True)
def _less_patience(monkeypatch):
    """Wait less for what hangs, which would fail with another message."""
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 30)


@pytest.fixture
def _no_patience(monkeypatch):
    """Wait a moment only for what an ended process may leave behind."""
    monkeypatch.setattr(waiting, "AFTERWARDS_SECONDS", 0.1)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.1)


def test_a_wait_ends_with_the_process_and_shows_its_output():
    with pytest.raises(AssertionError, match=ENDED), running(ENDS, **PIPES) as process:
        wait_until(lambda: False, process)
    with running(ENDS, **PIPES) as process:
        assert next_line(process) == "half\n"
        with pytest.raises(AssertionError, match=ENDED):
            next_bytes(process, 1)
    with running(ENDS, **PIPES) as process:
        assert finished(process) == (b"half\n", b"no memory left\n")


def test_a_condition_met_just_before_the_process_exits_counts():
    with running(ENDS, **PIPES) as process:
        process.wait()
        wait_until(lambda: True, process)


def test_a_condition_that_fails_on_an_ended_process_is_not_met():
    with running(ENDS, **PIPES) as process:
        process.wait()
        with pytest.raises(AssertionError, match=ENDED):
            wait_until(lambda: 1 / 0, process)


def test_an_error_in_the_condition_is_raised():
    with pytest.raises(ZeroDivisionError):
        wait_until(lambda: 1 / 0)


@pytest.mark.usefixtures("_no_patience")
@pytest.mark.parametrize("wait", [finished, lambda process: next_bytes(process, 100)])
def test_a_child_that_keeps_the_output_open_is_not_waited_for(wait):
    with running(LEAVES_A_CHILD, **PIPES) as process:
        child = next_line(process, "stderr").strip()
        with pytest.raises(AssertionError, match="status 3: "):
            wait(process)
        os.kill(int(child), signal.SIGKILL)


def test_a_process_is_killed_after_a_failure():
    with pytest.raises(ZeroDivisionError), running(["sleep", "1000"]) as process:
        raise ZeroDivisionError
    assert process.returncode == -9


def test_a_process_that_still_runs_is_reported_too():
    with running(["cat"], stdin=subprocess.PIPE, **PIPES) as process:
        assert told(process) == "still running: cat"
        finished(process)


def test_a_terminal_shows_why_its_process_has_ended():
    with Terminal(ENDS) as terminal, pytest.raises(AssertionError, match=ENDED):
        terminal.wait_for("half", "whole")
    with Terminal(ENDS) as terminal, pytest.raises(AssertionError, match=ENDED):
        terminal.screen("whole")


@pytest.mark.usefixtures("_no_patience")
def test_a_child_that_keeps_a_terminal_is_not_waited_for():
    with Terminal(["sh", "-c", "trap '' HUP; echo half; sleep 1000 & echo $! >&2; exit 3"]) as terminal:
        child = next_line(terminal.process, "stderr").strip()
        with pytest.raises(AssertionError, match="status 3: "):
            terminal.end()
        os.kill(int(child), signal.SIGKILL)


def test_a_talk_shows_why_its_process_has_ended(talk):
    conversation: Talk = talk("--no-such-option")
    with pytest.raises(AssertionError, match=r"(?s)status 2: .*--no-such-option"):
        conversation.receive(1)


def test_a_command_that_ended_before_its_interrupt_is_shown():
    with pytest.raises(AssertionError, match=r"(?s)status 2: .*COMMAND"):
        interrupted("no-such-command", when=lambda: False)


def test_the_output_of_a_page_server_that_does_not_start_is_shown():
    with pytest.raises(AssertionError, match=r"(?s)status 2: .*--results"):
        Server("--results", __file__)


def test_a_tab_does_not_wait_for_a_page_whose_server_has_ended():
    class Blank(Tab):
        def value(self, expression):
            return False

    tab = Blank()
    with running(ENDS, **PIPES) as tab.served_by, pytest.raises(AssertionError, match=ENDED):
        tab.wait_for("document.title")


def test_a_thread_stops_waiting_when_its_block_has_ended():
    with pytest.raises(AssertionError, match="the block of the test has ended"):  # noqa: SIM117
        with beside(lambda block: wait_until(lambda: False, block)):
            pass
    assert Block().poll() is None


@pytest.mark.slow
def test_a_cluster_without_a_scheduler_shows_why(tmp_path):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    cluster = Cluster(tmp_path)
    cluster.kill(cluster.scheduler)
    cluster.scheduler = cluster._started("scheduler", "--no-such-option")
    with pytest.raises(AssertionError, match="--no-such-option"):
        cluster.wait_for_workers(1)
    cluster.close()
