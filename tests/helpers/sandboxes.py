"""Bubblewrap as a test needs it, whatever is installed: absent, refused, a stand-in, or the real one.

Unless a test asks for another one by a fixture, the system refuses it: on every machine, bots then run without a
sandbox, and the judge reports that.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nonobot.harness.process import bot_process, sandbox
from nonobot.harness.results.conditions import Contain
from tests.helpers.places import DOUBLES

REFUSING, WORKING = DOUBLES / "refusing", DOUBLES / "working"
OWN_PATH = os.pathsep.join(folder for folder in os.get_exec_path() if Path(folder).parent != DOUBLES)
"""PATH without stand-ins."""

OF_EVERY_SYSTEM = ("cat", "env", "git", "sh", "sleep")
"""Programs that are found where bubblewrap is absent."""

Test = TypeVar("Test", bound=Callable[..., Any])


def path_with(double: Path) -> str:
    return os.pathsep.join([str(double), OWN_PATH])


@contextlib.contextmanager
def having(kind: str) -> Iterator[None]:
    """Have a kind of bubblewrap within the block: absent, refused, stand-in or real."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        for name in OF_EVERY_SYSTEM:
            Path(folder, name).symlink_to(shutil.which(name, path=OWN_PATH) or "missing")
        path = {"absent": folder, "refused": path_with(REFUSING), "stand-in": path_with(WORKING), "real": OWN_PATH}
        patched.setenv("PATH", path[kind])
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    """Have the judge look for bubblewrap again."""
    for remembered in (sandbox._program, sandbox._help, sandbox.working_options):
        remembered.cache_clear()


@cache
def why_not_real() -> str | None:
    """Return why the installed bubblewrap creates no sandbox here; None if it does."""
    with having("real"):
        return bot_process.sandbox_note(Contain.AUTO)


def _had(kind: str) -> contextlib.AbstractContextManager[None]:
    if kind == "real" and (why := why_not_real()):
        pytest.skip(why)
    return having(kind)


@pytest.fixture(autouse=True)
def own_path() -> Iterator[None]:
    """Restore PATH last, and forget the bubblewrap that a test found in a PATH of its own.

    A test that changes PATH within :func:`having` saves, and later restores, a stand-in's.
    """
    before = os.environ["PATH"]
    yield
    os.environ["PATH"] = before
    if sandbox._program() != sandbox._program.__wrapped__():
        _forget()


@pytest.fixture
def bubblewrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """Have the bubblewrap that the parameter names, by default the real one; skip where that makes no sandbox."""
    kind = str(getattr(request, "param", "real"))
    with _had(kind):
        yield kind


@pytest.fixture(params=["no", "stand-in", "real"])
def contain(request: pytest.FixtureRequest) -> Iterator[Contain]:
    """Return the option of a bot without a sandbox, then of one in a sandbox, as the parameter names it."""
    with contextlib.nullcontext() if request.param == "no" else _had(request.param):
        yield Contain.NO if request.param == "no" else Contain.YES


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
