"""What several test modules need."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from nonobot.system import usable_cores
from tests.helpers.compiling import alone
from tests.helpers.paged import PUZZLE_LIMIT, PlainServer, Server, export, skip_without_browser_parts
from tests.helpers.places import PLAIN, write_to_odd_name
from tests.helpers.sandboxes import REFUSING, bubblewrap, contain, own_path, path_with
from tests.helpers.talking import COMMAND, STRATEGIES, Talk
from tests.helpers.waiting import finished

if TYPE_CHECKING:
    from tests.helpers.browser import Browser
    from tests.helpers.firefox import Firefox

__all__ = ["bubblewrap", "contain", "own_path"]

OF_MODULES = ("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONUSERBASE", "PYTHONNOUSERSITE")

# Until all tests are collected: the collector of garbage would look at them again and again.
gc.disable()
# The tests start a thousand processes: each would compile the project's modules again.
sys.dont_write_bytecode = False
# And they compare what those say, which a user's variables change; the rest says where Python finds modules.
for name in [name for name in os.environ if name.startswith("PYTHON") and name not in OF_MODULES]:
    del os.environ[name]
# The terminal has the size that a test gives it.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
# Numba does what it does by default, but for plain Python in a debugger.
for name in [name for name in os.environ if name.startswith("NUMBA_") and name != "NUMBA_DISABLE_JIT"]:
    del os.environ[name]
# All paths of tests need quotes, wherever a user keeps temporary files.
write_to_odd_name()
# What is installed decides nothing: see tests/helpers/sandboxes.py.
os.environ["PATH"] = path_with(REFUSING)
# Neither does the configuration of git, nor a hook that runs the tests.
for name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[name]
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
# And what the tests ask is here, whatever proxy the user has.
os.environ |= dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1")
# And an empty folder in PYTHONPATH, as in `:/opt/lib`, is that of each process.
if "PYTHONPATH" in os.environ:
    folders = filter(None, os.environ["PYTHONPATH"].split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders))
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
    """Two processes more than cores, since many tests wait; each takes up to half a gigabyte."""
    return min(len(usable_cores()), 8) + 2


LONGEST = (
    *("test_check", "test_tournament", "test_standstill", "test_bisection", "test_only_data", "test_native"),
    *("test_page_play", "test_page_strokes", "test_page_worker", "test_page_browser"),  # from here on, slow tests
    *("test_executable", "test_wheel", "test_bisect_histories", "test_first_steps", "test_judges_side"),
)
"""Files that begin first: at the end, no process then works alone on one of them."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process compile the bot's kernels while the others do what takes none."""
    takers = [item for item in items if "compiled" in getattr(item, "fixturenames", ())]
    others = [item for item in items if "compiled" not in getattr(item, "fixturenames", ())]
    items[:] = takers[:1] + sorted(others + takers[1:], key=lambda item: item.path.stem not in LONGEST)


def pytest_collection_finish() -> None:
    """Let the collector of garbage begin, without what was collected: thousands of tests."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile the kernels of both strategies, in one of the processes that run tests; the others wait for it."""
    from tests.helpers.plain import IS_PLAIN

    if IS_PLAIN:
        return
    with alone():
        commands = [[*COMMAND, "--warm-up", "--strategy", strategy] for strategy in STRATEGIES]
        warming = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
        for process in warming:
            assert finished(process)[0] == b""
            assert process.returncode == 0


@pytest.fixture(autouse=True)
def _sigterm_as_before() -> Iterator[None]:
    """Take back what a command of the judge, carried out in this process, does with SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own, empty at first."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plain_path() -> Iterator[Path]:
    """Return a folder whose name can stand in a #! line: the kernel cuts that at the first space."""
    with tempfile.TemporaryDirectory(dir="/tmp" if " " in str(PLAIN) else PLAIN) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def short_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the judge look at the machine for a moment before each run."""
    monkeypatch.setattr("nonobot.harness.process.machine.SAMPLE_SECONDS", 0.01)


@pytest.fixture
def output_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Return what carries out a command in this process, checks its status, and returns its stdout and stderr."""

    def carried_out(command: Callable[..., int], *arguments: Any, status: int = 0, **more: Any) -> Any:
        assert command(*arguments, **more) == status
        return capsys.readouterr()

    return carried_out


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    """Return what starts a process to talk to; it is gone after the test."""
    with contextlib.ExitStack() as talks:

        def start(*options: str) -> Talk:
            started = Talk(*options)
            talks.enter_context(started.process)  # at the end, it closes its pipes and waits
            talks.callback(started.process.kill)
            return started

        yield start


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from tests.helpers.browser import NAMES, Browser, browser_command

    command = browser_command()
    if command is None:
        pytest.skip(f"no browser that starts on PATH: none of {', '.join(NAMES)}")
    with Browser(command) as browser:
        yield browser


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    from tests.helpers.firefox import NAMES, Firefox, firefox_command

    command = firefox_command()
    if command is None:
        pytest.skip(f"no Firefox on PATH: none of {', '.join(NAMES)}")
    with Firefox(command) as browser:
        yield browser


@pytest.fixture(scope="session")
def page_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one official set, if NONOBOT_SETS names a folder that has it."""
    folder = tmp_path_factory.mktemp("data")
    source = Path(os.environ.get("NONOBOT_SETS", folder), "taai2011.txt")
    if source.is_file():
        shutil.copy(source, folder)
    return folder


@pytest.fixture(scope="session")
def page_site(tmp_path_factory: pytest.TempPathFactory, page_data: Path) -> Path:
    """Return the exported site; skip where it cannot be written."""
    skip_without_browser_parts()
    folder = tmp_path_factory.mktemp("site")
    export(folder, page_data)
    return folder


@pytest.fixture(scope="module")
def page_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def live_page(page_results: Path, page_data: Path) -> Iterator[Server]:
    """Return `nonojudge page` with a folder of results."""
    for library in ("starlette", "uvicorn"):
        pytest.importorskip(library, reason="the extra `page` is not installed")
    skip_without_browser_parts()
    with Server(*PUZZLE_LIMIT, "--results", str(page_results), data=page_data) as running:
        yield running


@pytest.fixture(scope="module", params=["exported", pytest.param("served", marks=pytest.mark.nightly)])
def page_server(request: pytest.FixtureRequest) -> Iterator[PlainServer | Server]:
    """Return the site on a plain server of files, then `nonojudge page`."""
    if request.param == "served":
        yield request.getfixturevalue("live_page")
    else:
        with PlainServer(request.getfixturevalue("page_site")) as running:
            yield running


EMPTY = """(text => { text.value = ""; text.dispatchEvent(new InputEvent("input", {inputType: "deleteByCut"})); })
(document.querySelector("#text"))"""
"""Empties the field for text, as a visitor does who cuts it out."""

READ = "new Promise((done) => setTimeout(() => setTimeout(done)))"
"""Waits until the page has begun to read the text."""

SETTLED = "document.querySelector('#verdict').ariaBusy !== 'true'"
"""Whether the page has said the verdict on the board that it still shows; otherwise it says so during the test."""


def _show(browser: Browser | Firefox, address: str) -> None:
    """Show the page as it is at first, with nothing kept from a visit before."""
    browser.shape(1280)
    browser.point_at(0, 0)  # the board marks the row and column under the pointer
    if browser.value("document.location.href.split('#')[0]") != address:
        browser.open(address)
    browser.wait_for("document.documentElement.dataset.python === 'ready'")
    browser.wait_for("document.querySelectorAll('#samples .chip').length > 0")
    for place in ("#tab-text", "[data-view='solution']", "[data-finger='black']", "#draw-clear"):
        browser.value(f"document.querySelector({place!r}).click()")
    for place in ("#hide-solution", "#mine-mistakes", "#print-solution"):
        browser.value(f"(one => one.checked && one.click())(document.querySelector({place!r}))")
    browser.value(EMPTY)
    browser.value(READ)
    browser.wait_for(SETTLED)
    browser.value("localStorage.clear()")
    browser.value("document.querySelector('#verdict').dataset.verdict = 'none'")
    browser.value("document.activeElement.blur(), scrollTo(0, 0)")
    browser.complaints.clear()
    browser.requests.clear()


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Browser | Firefox:
    """Return Chromium, or the browser whose fixture a test names: see `in_both_browsers`."""
    return request.getfixturevalue(getattr(request, "param", "chromium"))


@pytest.fixture
def visitor(browser: Browser | Firefox, page_server: PlainServer | Server) -> Iterator[Any]:
    """Return a browser with the page open; afterwards, nothing was complained of and nobody else was asked."""
    yield from _visit(browser, page_server)


@pytest.fixture
def watcher(chromium: Browser, live_page: Server) -> Iterator[Any]:
    """Return a browser with the page of a folder of results, as `visitor` does."""
    yield from _visit(chromium, live_page)


def _visit(browser: Browser | Firefox, server: PlainServer | Server) -> Iterator[Any]:
    address = server.address
    browser.served_by = server.process if isinstance(server, Server) else None
    _show(browser, address)
    yield browser
    assert browser.complaints == []
    assert all(asked.startswith((address, f"blob:{address}")) for asked in browser.addresses())
