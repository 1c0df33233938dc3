"""How far long jobs and runs are, as people see it."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from nonobot.harness import progress
from nonobot.harness.play.run_events import PuzzleJudged, RunSoFar
from nonobot.harness.play.run_progress import RunProgress
from nonobot.harness.process.bot_process import PassedOn
from nonobot.harness.progress import Progress
from nonobot.harness.results.run_result import EndReason, PuzzleResult, Verdict
from nonobot.harness.tournament import playing
from nonobot.harness.tournament.definition import read_tournament
from nonobot.harness.tournament.playing import PlayingFile, ShownRuns
from nonobot.harness.tournament.scheduled_runs import ScheduledRun, scheduled_runs
from tests.helpers.clusters import definition
from tests.helpers.judged import RECIPE, command
from tests.helpers.places import unfilled
from tests.helpers.ranked import run_result
from tests.helpers.terminals import Terminal, seen


def on_a_terminal(monkeypatch):
    """Let stderr, as it is captured now, be a terminal without colour."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


@pytest.fixture
def _lines_at_once(monkeypatch):
    for module in (progress, playing):
        monkeypatch.setattr(module, "SECONDS_BETWEEN_LINES", 0.0)


def show(shown: RunProgress, *puzzles: PuzzleResult) -> None:
    run = RunSoFar(run_result())
    for puzzle in puzzles:
        run.take(PuzzleJudged(puzzle))
        shown.take(run)


def shown_runs(folder: Path, *bots: str, quiet: bool = False) -> tuple[ShownRuns, list[ScheduledRun]]:
    """Return the progress of the runs of bots on a set, and these."""
    runs = scheduled_runs(read_tournament(definition(folder, dict.fromkeys(bots, "perfect"))), folder)
    return ShownRuns(PlayingFile(runs, []), quiet), runs


@pytest.mark.usefixtures("_lines_at_once")
def test_progress_is_printed_as_lines_in_a_log(capsys, monkeypatch):
    with Progress(8) as shown:
        now = shown._started
        monkeypatch.setattr("time.monotonic", lambda: now + 3)
        for done in (0, 2, 8):
            shown.show(done, f"{done} done")
    assert capsys.readouterr() == ("", "0 done\n2 done, about 9 s to go\n8 done\n")
    with RunProgress(4, quiet=False, note="warm-up first") as shown:
        show(shown, PuzzleResult(1, Verdict.RIGHT, None, 2.0), PuzzleResult(3, Verdict.WRONG, "row 1", 4.0, 1.5))
    assert capsys.readouterr().err.splitlines() == [
        "warm-up first, 0/4, 0 right",
        "$1, 1/4, 1 right, 0.5/s, about 6 s to go",
        "$3, 2/4, 1 right, 1 wrong, 0.5/s, slowest $3 1.50 s, about 4 s to go",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"), [(120, "120 s"), (121, "3 min"), (7201, "3 h"), (172800, "48 h"), (12508721, "145 days")]
)
def test_the_time_left_is_shown_in_a_suitable_unit(seconds, said):
    assert progress.time_left(1.0, 1.0, 1.0 + seconds) == f"about {said} to go"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_short_job_shows_nothing_and_neither_does_a_quiet_run(capsys, monkeypatch, is_terminal):
    if is_terminal:
        on_a_terminal(monkeypatch)
    with Progress(1, 60.0) as shown, RunProgress(1, quiet=True) as quiet:
        shown.show(1, "puzzle 1 of 1")
        show(quiet, PuzzleResult(1, Verdict.RIGHT, None, 0.5))
    assert capsys.readouterr() == ("", "")


def test_the_progress_bar_has_no_colour_if_colours_are_off(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with Progress(4, 0.0) as shown:
        shown.show(1, "puzzle 2 of 4, [7] boards drawn")
    out, err = capsys.readouterr()
    parts = ("25%", "puzzle 2 of 4, [7] boards drawn", "\x1b[3", "\x1b[9")
    assert (out, [part in err for part in parts]) == ("", [True, True, False, False])


def test_progress_bars_show_counts_verdicts_and_each_current_run(tmp_path, capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with RunProgress(2, quiet=False) as shown:
        assert "0/2, 0 right" in str(shown._bars.tasks[0].fields)
        judged = enumerate((Verdict.RIGHT, Verdict.GIVEN_UP), 1)
        show(shown, *(PuzzleResult(number, verdict, None, number / 2, 0.5) for number, verdict in judged))
    err = capsys.readouterr().err
    assert "100%" in err
    assert "$2, 2/2, 1 right, 1 given-up, 2.0/s, slowest $1 500 ms" in err
    on_a_terminal(monkeypatch)
    runs, (gone, here) = shown_runs(tmp_path, "gone", "here")
    with runs as shown:
        shown.begin(gone)
        shown.begin(here)
        shown.end(gone)
        shown.show(here, 4, 3)
    err = capsys.readouterr().err
    assert [part in err for part in ("runs", "here", "4/5, 1 not right")] == [True] * 3
    assert "gone" not in err.splitlines()[-1]


@pytest.mark.usefixtures("_lines_at_once")
@pytest.mark.parametrize("quiet", [False, True])
def test_progress_lines_of_parallel_runs_name_their_run(tmp_path, capsys, quiet):
    runs, (a, b, c) = shown_runs(tmp_path, *"abc", quiet=quiet)
    with runs as shown:
        shown.begin(a)
        shown.begin(b)
        shown.show(a, 4, 3)
        shown.end(a)
        shown.take(a, run_result("a"))
        shown.show(b, 5, 5)
        shown.take(c, run_result("lost", end=EndReason.NOT_STARTED))
    lines = re.sub(r"about \d+ s", "about N s", capsys.readouterr().err).splitlines()
    others = [f"0/3 runs; a on {RECIPE} 4/5, 1 not right; b on {RECIPE} ..."]
    others.append(f"[1/3] a on {RECIPE}: 3 of 3 right, 6.00 s, finished")
    others.append(f"1/3 runs, about N s to go; b on {RECIPE} 5/5")
    assert lines == [*([] if quiet else others), "nonojudge: lost: None"]


WARM_UP = ["sh", "-c", "printf 'compiling\\nhalf ' >&2; printf 'a line' >&2"]


@pytest.mark.parametrize("columns", [60, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("job", ["run", "tournament"])
def test_the_output_of_warm_ups_and_bots_does_not_break_the_bar(tmp_path, own_folder, job, columns):
    bot = command("flood_stderr", tmp_path)
    named = [unfilled(word) for word in bot]
    (tmp_path / "small.toml").write_text(
        f'name = "small"\nsets = ["{RECIPE}"]\ncontain = "no"\n'
        f'[[bots]]\nname = "bot"\ncommand = {json.dumps(named)}\nwarm-up = {json.dumps(WARM_UP)}\n'
    )
    arguments = {
        "run": ["run", "--contain", "no", "--set", str(RECIPE), "--warm-up", shlex.join(WARM_UP), "--", *bot],
        "tournament": ["tournament", "small.toml"],
    }[job]
    judge = [sys.executable, "-m", "nonobot.harness", *arguments]
    with Terminal(judge, columns, errors_too=True) as terminal:
        status, shown, _ = terminal.end()
    assert status == 0
    lines = seen(shown, columns)
    [bar] = [number for number, line in enumerate(lines) if "━" in line]
    heading = ["[1/1] bot on boardgen:5x5x5:seed=3 ..."] if job == "tournament" else []
    assert lines[:bar] == [*heading, "compiling", "half a line"]
    assert re.match(r"━.* 100% .* \$5, 5/5, 5 right", lines[bar])


def test_a_warm_up_that_writes_over_its_line_is_shown_as_it_ended(capsys):
    output = PassedOn()
    output.write(b"\rone\rtwo")
    assert capsys.readouterr().err == ""
    output.write(b"\r\tthree \xff\x1b[2K\r\n\nfour")
    output.write(b"five")
    output.close()
    assert capsys.readouterr().err == "        three \ufffd\\x1b[2K\n\nfourfive\n"


def test_a_terminal_without_a_bar_shows_overwritten_lines_at_once(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    output = PassedOn(live=True)
    for data, shown in (
        (b"\rone", "one"),
        (b" of many words", "\rone of ma"),
        (b" and more", ""),
        (b"\rtwo", "\rtwo      "),
        (b"\r   \r", "\r   "),
        (b"three\n", "\rthree\n"),
        (b"four\nfi", "four\nfi"),
    ):
        output.write(data)
        assert capsys.readouterr().err == shown
    output.close()
    assert capsys.readouterr().err == "\rfi\n"


@pytest.mark.slow
def test_a_run_on_a_terminal_shows_how_far_the_kernels_are_compiled(tmp_path, own_folder):
    """The strategy `papers` is compiled fastest."""
    bot = [sys.executable, "-P", "-m", "nonobot", "--size", "5x5", "--strategy", "papers"]
    judge = [sys.executable, "-m", "nonobot.harness", "run", "--set", str(RECIPE), "--", *bot]
    own = {"NONOBOT_CACHE_DIR": str(tmp_path / "cache")}
    with Terminal(judge, environment=own, errors_too=True) as terminal:
        terminal.wait_for(
            "nonobot: compiling the papers' search (once per version and machine; about ", "nonobot: compiling: "
        )
        status, shown, _ = terminal.end()
    assert status == 0
    lines = [line for line in seen(shown) if line.startswith("nonobot: ")]
    assert len(lines) == 2  # nothing is left of the progress
    assert lines[1].startswith("nonobot: compiled in ")
