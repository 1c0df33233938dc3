"""Bubblewrap as a test needs it, whatever is installed: absent, refused, a stand-in, or the real one.

Unless a test asks for another one by a fixture, the system refuses it: on every machine, bots then run without a
sandbox, and the judge reports that.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nonobot.harness.play import sandbox
from nonobot.harness.results.conditions import Contain

DOUBLES = Path(__file__).with_name("doubles")
REFUSING, WORKING = DOUBLES / "refusing", DOUBLES / "working"
OWN_PATH = os.pathsep.join(one for one in os.get_exec_path() if Path(one).parent != DOUBLES)
"""PATH without stand-ins."""

OF_EVERY_SYSTEM = ("cat", "env", "git", "sh", "sleep")
"""Programs that are found where bubblewrap is absent."""

Test = TypeVar("Test", bound=Callable[..., Any])


def path_with(double: Path) -> str:
    return os.pathsep.join([str(double), OWN_PATH])


@cache
def why_not_real() -> str | None:
    """Return why the installed bubblewrap creates no sandbox here; None if it does."""
    with pytest.MonkeyPatch.context() as patched:
        _set(patched, OWN_PATH)
        why = sandbox.sandbox_note(Contain.AUTO)
    _forget()
    return why


@pytest.fixture
def _path(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], None]]:
    """Return what sets PATH for a kind of bubblewrap, or skips the test where the real one creates no sandbox."""

    def set_path(kind: str) -> None:
        path = {"real": OWN_PATH, "refused": path_with(REFUSING), "stand-in": path_with(WORKING)}.get(kind)
        if kind == "real" and (why := why_not_real()):
            pytest.skip(why)
        if kind == "absent":
            folder = tmp_path_factory.mktemp("programs")
            for name in OF_EVERY_SYSTEM:
                (folder / name).symlink_to(shutil.which(name, path=OWN_PATH) or "missing")
            path = str(folder)
        assert path
        _set(monkeypatch, path)

    yield set_path
    _forget()


@pytest.fixture
def bubblewrap(request: pytest.FixtureRequest, _path: Callable[[str], None]) -> str:
    """Have the bubblewrap that the parameter names, the real one without; return its name."""
    kind = str(getattr(request, "param", "real"))
    _path(kind)
    return kind


@pytest.fixture(params=["no", "stand-in", "real"])
def contain(request: pytest.FixtureRequest, _path: Callable[[str], None]) -> Contain:
    """Return the option of a bot without a sandbox, then of one in a sandbox, as the parameter names it."""
    if request.param == "no":
        return Contain.NO
    _path(request.param)
    return Contain.YES


sandbox_only = pytest.mark.usefixtures("bubblewrap")
"""Marks a test of what only the real bubblewrap does."""


def any_sandbox(test: Test) -> Test:
    """Have a test run with a stand-in on every machine, and with the real bubblewrap where it is installed."""
    return sandbox_only(pytest.mark.parametrize("bubblewrap", ["stand-in", "real"], indirect=True)(test))


def no_sandbox(test: Test) -> Test:
    """Have a test run without bubblewrap, and with one that the system refuses."""
    return sandbox_only(pytest.mark.parametrize("bubblewrap", ["absent", "refused"], indirect=True)(test))


contained_or_not = pytest.mark.parametrize("contain", ["no", "real"], indirect=True)
"""Marks a test of what holds without a sandbox, and in the real one."""


def _set(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("PATH", path)
    _forget()


def _forget() -> None:
    """Have the judge look for bubblewrap again."""
    for remembered in (sandbox._program, sandbox._help, sandbox._tried):
        remembered.cache_clear()
