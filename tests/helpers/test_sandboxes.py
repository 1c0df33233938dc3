"""Each test finds bubblewrap as the tests before it found it: refused, unless it asks for another one."""

import pytest

from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.results.conditions import Contain
from tests.helpers.sandboxes import WORKING, _forget, having, path_with


@pytest.fixture(params=["its own PATH", "a stand-in and its own PATH"], scope="module")
def way(request):
    return request.param


def test_one_test_has_a_bubblewrap_that_works(way, monkeypatch):
    if way == "its own PATH":
        _forget()
        monkeypatch.setenv("PATH", path_with(WORKING))
        assert sandbox_note(Contain.AUTO) is None
        return
    with having("stand-in"):
        monkeypatch.setenv("PATH", path_with(WORKING))
        assert sandbox_note(Contain.AUTO) is None


def test_and_the_next_one_does_not(way):
    assert "bubblewrap cannot create a sandbox here" in str(sandbox_note(Contain.AUTO))
