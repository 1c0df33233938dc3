"""What several test modules need."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from nonobot.system import usable_cores
from tests.compiling import alone
from tests.paged import Server
from tests.talking import COMMAND, PATIENCE_SECONDS, STRATEGIES, Talk

if TYPE_CHECKING:
    from tests.browser import Browser

# The tests start a thousand processes: each would compile the project's modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# And numpy would start threads in each of them that have nothing to do.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts what it has in the background with Ctrl-C ignored, and so would be all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts a time, and the first call of a kernel compiles it.
settings.register_profile("nonobot", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("nonobot")


@pytest.fixture(scope="session")
def official_sets() -> list[Path]:
    """Return the official question files in the folder that NONOBOT_SETS names; skip where there are none."""
    folder = os.environ.get("NONOBOT_SETS")
    if not folder:
        pytest.skip("NONOBOT_SETS is not set; it names a folder of official question files (*.txt)")
    files = sorted(Path(folder).glob("*.txt"))
    if not files:
        pytest.skip(f"NONOBOT_SETS={folder} holds no *.txt file")
    return files


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores, since some tests wait; each takes up to half a gigabyte."""
    return min(len(usable_cores()), 8) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process compile the bot's kernels while the others do what takes none."""
    takers = [item for item in items if "compiled" in getattr(item, "fixturenames", ())]
    others = [item for item in items if "compiled" not in getattr(item, "fixturenames", ())]
    items[:] = takers[:1] + others + takers[1:]


def pytest_collection_finish() -> None:
    """Keep the collector from looking at thousands of tests again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile the kernels of both strategies, in one of the processes that run tests; the others wait for it."""
    from tests.plain import IS_PLAIN

    if IS_PLAIN:
        return
    with alone():
        warming = [
            subprocess.Popen([*COMMAND, "--warm-up", "--strategy", strategy], stdout=subprocess.PIPE)
            for strategy in STRATEGIES
        ]
        for process in warming:
            assert process.communicate(timeout=PATIENCE_SECONDS)[0] == b""
            assert process.returncode == 0


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own, empty at first."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    """Return what starts a process to talk to; it is gone after the test."""
    talks: list[Talk] = []

    def start(*options: str) -> Talk:
        talks.append(Talk(*options))
        return talks[-1]

    yield start
    for one in talks:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            stream.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return a browser; skip where there is none."""
    from tests.browser import NAMES, Browser, browser_command

    command = browser_command()
    if command is None:
        pytest.skip(f"no browser that starts on PATH: none of {', '.join(NAMES)}")
    with Browser(command) as browser:
        yield browser


@pytest.fixture(scope="module")
def page_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder whose results the page shows."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def page_server(page_results: Path) -> Iterator[Server]:
    """Return the server of a page."""
    for library in ("starlette", "uvicorn"):
        pytest.importorskip(library, reason="the extra `page` is not installed")
    with Server("--puzzle-limit", "5", "--results", str(page_results)) as running:
        yield running


@pytest.fixture
def visitor(chromium: Browser, page_server: Server) -> Iterator[Browser]:
    """Return a browser with the page open; afterwards, nothing was complained of and nobody else was asked."""
    chromium.shape(1280)
    chromium.open(page_server.address)
    chromium.wait_for("document.querySelectorAll('#samples .chip').length > 0")
    yield chromium
    assert chromium.complaints == []
    own = (page_server.address, f"blob:{page_server.address}")
    assert all(request.url.startswith(own) for request in chromium.requests)
