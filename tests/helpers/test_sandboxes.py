"""Each test finds bubblewrap as the tests before it found it: refused, unless it asks for another one."""

import pytest

from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.results.conditions import Contain
from tests.helpers.sandboxes import WORKING, _forget, having, path_with


@pytest.fixture(params=["its own PATH", "a stand-in and its own PATH"], scope="module")
def way(request):
    return request.param


def test_a_test_with_a_working_bubblewrap_has_a_sandbox(way, monkeypatch):
    if way == "its own PATH":
        _forget()
        monkeypatch.setenv("PATH", path_with(WORKING))
        assert sandbox_note(Contain.AUTO) is None
        return
    with having("stand-in"):
        monkeypatch.setenv("PATH", path_with(WORKING))
        assert sandbox_note(Contain.AUTO) is None


def test_the_next_test_with_a_broken_bubblewrap_has_no_sandbox(way):
    assert "bubblewrap cannot create a sandbox here" in str(sandbox_note(Contain.AUTO))
