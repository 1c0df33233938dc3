"""Notices of compilations: what they say, when, and how far a compilation is."""

import os
import subprocess
import sys

import pytest

from nonobot.bot.kernels import notices
from nonobot.bot.kernels.notices import Clock, Notices
from tests.helpers.plain import IS_PLAIN
from tests.helpers.talking import COMMAND, PATIENCE_SECONDS
from tests.helpers.terminals import Terminal, seen

WARM_UP = [*COMMAND, "--warm-up", "--strategy", "papers"]  # compiled fastest
BEGUN = "nonobot: compiling the papers' search (once per version and machine; about "
BEGINNING = "compiling it (once per version and machine; about {} s) ..."


@pytest.mark.parametrize(("seconds", "about"), [(0.2, 1), (1.1, 2), (9.0, 9), (12.0, 10), (15.6, 15), (44.0, 45)])
def test_the_compile_time_estimate_is_about_right(seconds, about):
    said = []
    Notices(said.append)("it", 0.0, seconds)
    assert said == [BEGINNING.format(about)]


def test_progress_is_printed_as_occasional_lines_or_as_a_replaced_text(monkeypatch):
    for name in ("_SECONDS_BETWEEN_LINES", "_SECONDS_BETWEEN_STATES"):  # no notice waits for its time
        monkeypatch.setattr(notices, name, 0.0)
    for is_live in (False, True):
        said, shown = [], []
        notice = Notices(said.append, shown.append if is_live else None)
        for share, left in ((0.0, 20.0), (0.25, 15.1), (0.999, 0.1), (1.0, 0.0)):
            notice("it", share, left)
        progress = ["compiling: 25%, about 16 s to go", "compiling: 100%, about 1 s to go"]
        assert (said, shown) == (
            ([BEGINNING.format(20)], [*progress, ""]) if is_live else ([BEGINNING.format(20), *progress], [])
        )


def test_a_short_compilation_prints_only_that_it_begins():
    said, shown = [], []
    for show in (None, shown.append):
        notice = Notices(said.append, show)
        for share in (0.0, 0.5, 0.9, 1.0):
            notice("it", share, 1.0)
    assert (said, shown) == ([BEGINNING.format(1)] * 2, [""])


def test_the_time_left_follows_from_the_number_of_kernels_and_then_from_the_time_so_far():
    reported = []
    clock = Clock(100, lambda share, left: reported.append((share, left)))
    clock.done(0.05)
    expected = reported[0][1]
    clock._started -= 30.0
    clock.done(0.25)
    clock.done(1.0)
    (begun, _), (early, soon), (later, left), end = reported
    assert (begun, early, later, end) == (0.0, 0.05, 0.25, (1.0, 0.0))
    assert 0 < soon <= expected
    assert left >= 90.0


ALL_KERNELS = """
import os
from nonobot.bot.kernels import object_code
from nonobot.bot.papers import search
from nonobot.bot.papers.state import papers_map
shares = []
object_code.object_code(search.search.py_func, papers_map(), 1, shares.append)
print(len(shares) > 30, shares == sorted(shares), shares[-1] == max(shares) == object_code._TYPED_SHARE)
"""


@pytest.mark.slow
@pytest.mark.skipif(IS_PLAIN, reason="compiles")
def test_the_kernels_to_compile_are_counted_beforehand():
    done = subprocess.run(
        [sys.executable, "-c", ALL_KERNELS], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert (done.stdout, done.stderr) == ("True True True\n", "")


@pytest.mark.slow
@pytest.mark.skipif(IS_PLAIN, reason="compiles")
def test_a_first_start_shows_on_a_terminal_how_long_it_still_takes(tmp_path):
    with Terminal(WARM_UP, environment={"NONOBOT_CACHE_DIR": str(tmp_path)}, errors_too=True) as terminal:
        terminal.wait_for(BEGUN, "nonobot: compiling: ", "%, about ", " s to go")
        status, shown, _ = terminal.end()
    first, last = filter(None, seen(shown))  # nothing is left of the progress
    assert (status, first.startswith(BEGUN), last.startswith("nonobot: compiled in ")) == (0, True, True)


@pytest.mark.slow
@pytest.mark.skipif(IS_PLAIN, reason="compiles")
def test_a_first_start_writes_whole_lines_on_stderr_alone(tmp_path):
    own = {**os.environ, "NONOBOT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(WARM_UP, env=own, capture_output=True, timeout=PATIENCE_SECONDS)
    lines = done.stderr.decode().split("\n")
    assert (done.returncode, done.stdout, lines[-1]) == (0, b"", "")
    assert (lines[0].startswith(BEGUN), lines[-2].startswith("nonobot: compiled in ")) == (True, True)
    assert "\r" not in done.stderr.decode()


@pytest.mark.slow
@pytest.mark.skipif(IS_PLAIN, reason="compiles")
def test_checking_nonobot_compiles_its_kernels_first(tmp_path):
    bot = [sys.executable, "-P", "-m", "nonobot", "--strategy", "papers"]
    check = [sys.executable, "-m", "nonobot.harness", "check", "--only", "1", "--", *bot]
    own = {**os.environ, "NONOBOT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(check, env=own, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, [BEGUN in line for line in done.stderr.splitlines()].count(True)) == (0, 1)
