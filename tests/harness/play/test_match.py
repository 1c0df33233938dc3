"""The judge against bots that behave and bots that do not, as real processes."""

import os
import resource
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from nonobot.harness.play.match import Bot, play
from nonobot.harness.process import bot_process
from nonobot.harness.results.conditions import Configuration, Feed
from nonobot.harness.results.run_result import EndReason, Score, Verdict
from nonobot.harness.results.run_text import run_lines, score_lines
from nonobot.tournament_data import load_set
from tests.helpers.judged import let_time_fly, little_patience, nothing_hangs, played, verdicts  # noqa: F401
from tests.helpers.places import PLAIN, is_in_memory
from tests.helpers.ranked import puzzles, run_result

RIGHT, LATE, MISSING = "right", "late", "missing"

pytestmark = pytest.mark.usefixtures("little_patience", "nothing_hangs")


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """What a bot detached becomes a child of the judge, so nothing can be overlooked."""
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.fixture
def _time_flies(tmp_path, monkeypatch):
    let_time_fly(monkeypatch, tmp_path / "result.stderr.txt")


@pytest.mark.parametrize("feed", Feed)
def test_a_perfect_bot_gets_every_puzzle_right(tmp_path, feed):
    result = played("perfect", tmp_path, feed=feed)
    assert verdicts(result) == [RIGHT] * 5
    assert result.score.all_right
    assert (result.end.reason, result.end.exit_status, result.end.signal) == (EndReason.FINISHED, 0, None)
    assert result.score.notes == []
    arrivals = [puzzle.arrived_seconds for puzzle in result.score.puzzles]
    assert 0 < arrivals[0] <= arrivals[-1]
    assert arrivals == sorted(arrivals)
    assert all(0 <= puzzle.took_seconds <= puzzle.arrived_seconds for puzzle in result.score.puzzles)
    assert result.stderr_file is None
    assert not (tmp_path / "result.stderr.txt").exists()


COUNTS = """
import sys
number = 0
for line in sys.stdin:
    if line.startswith("$"):
        header = line[1:].strip()
        number = int(header) if header.isdigit() else number + 1
        print(f"${number}", "1 0\\n0 0" if header.isdigit() else "timeout", sep="\\n", flush=True)
"""


@pytest.mark.parametrize("feed", Feed)
def test_answers_around_a_malformed_puzzle_match_their_puzzles(tmp_path, feed):
    good = "1\n\n1\n\n"
    (path := tmp_path / "questions.txt").write_text(f"$1\n{good}$x\n{good}$2\n{good}$3\n{good}")
    configuration = Configuration(wall_limit_seconds=20.0, feed=feed)
    bot = Bot("counts", [sys.executable, "-c", COUNTS])
    result = play(load_set(str(path), (2, 2)), bot, configuration, tmp_path / "result.json")
    assert (verdicts(result), result.score.notes) == ([RIGHT] * 3, [])


@pytest.mark.parametrize(
    ("behaviour", "expected", "end"),
    [
        ("crash_at_3", "right right malformed missing missing", "crashed 1"),
        ("killed_at_3", "right right missing missing missing", "crashed SIGKILL"),
        ("ends_with_2_in_colours", "right right right right right", "finished 2"),
        ("close_stdin", "right missing missing missing missing", "finished 0"),
        ("close_stdout", "right missing missing missing missing", "closed-stdout SIGTERM"),
        ("never_end", "right right right right right", "finished SIGTERM"),
        ("detach_a_sleeper", "right right right right right", "finished 0"),
    ],
)
def test_answers_before_a_failure_count_and_the_end_is_reported(tmp_path, behaviour, expected, end):
    result = played(behaviour, tmp_path, feed=Feed.INTERACTIVE)
    assert verdicts(result) == expected.split()
    assert f"{result.end.reason.value} {result.end.signal or result.end.exit_status}" == end
    if behaviour == "crash_at_3":
        assert result.stderr_file == str(tmp_path / "result.stderr.txt")
        assert "cannot go on" in (tmp_path / "result.stderr.txt").read_text()


@pytest.mark.usefixtures("_time_flies")
@pytest.mark.parametrize(
    ("behaviour", "signal"), [("hang_at_3", "SIGTERM"), ("hang_and_ignore_sigterm", "SIGKILL")]
)
def test_a_hanging_bot_is_stopped_at_its_limit(tmp_path, behaviour, signal):
    result = played(behaviour, tmp_path, wall_limit_seconds=50.0)
    assert verdicts(result) == [RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert (result.end.reason, result.end.signal) == (EndReason.TIME_LIMIT, signal)


def test_the_limit_of_memory_holds_for_all_processes_together(tmp_path):
    result = played("eat_memory_in_children", tmp_path, memory_limit_bytes=100_000_000, wall_limit_seconds=100.0)
    assert verdicts(result)[2:] == [MISSING] * 3
    assert result.end.reason is EndReason.MEMORY_LIMIT
    assert result.usage.peak_memory_bytes > 99_000_000


def test_shared_memory_counts_once_against_the_limit(tmp_path):
    result = played("share_memory_with_children", tmp_path, memory_limit_bytes=200_000_000)
    assert verdicts(result) == [RIGHT] * 5
    assert result.end.reason is EndReason.FINISHED


@pytest.fixture
def on_disk():
    """Return a folder whose files are no memory; skip where there is none."""
    for place in filter(Path.is_dir, (PLAIN, Path("/var/tmp"))):
        if not is_in_memory(place) and os.access(place, os.W_OK):
            with tempfile.TemporaryDirectory(dir=place) as folder:
                yield Path(folder)
            return
    pytest.skip(f"{PLAIN} and /var/tmp are in memory or cannot be written")


@pytest.mark.parametrize("counted", ["by Linux", "by the judge"])
def test_pages_of_a_mapped_file_do_not_count_as_memory(on_disk, monkeypatch, counted):
    if counted == "by the judge":
        monkeypatch.setattr(bot_process, "made_group", lambda _: None)
    result = played("map_a_file", on_disk, memory_limit_bytes=60_000_000)
    assert verdicts(result) == [RIGHT] * 5
    assert 0 < result.usage.peak_memory_bytes < 50_000_000


@pytest.mark.usefixtures("_time_flies")
@pytest.mark.parametrize("feed", Feed)
def test_a_puzzle_that_takes_too_long_is_passed_over(tmp_path, feed):
    result = played("hang_at_3", tmp_path, puzzle_limit_seconds=50.0, wall_limit_seconds=1e6, feed=feed)
    assert verdicts(result) == [RIGHT, RIGHT, LATE, RIGHT, RIGHT]
    ends = [(attempt.first_puzzle, attempt.end.reason) for attempt in result.attempts]
    assert ends == [(1, EndReason.PUZZLE_LIMIT), (4, EndReason.FINISHED)]
    arrivals = [puzzle.arrived_seconds for puzzle in result.score.puzzles if puzzle.arrived_seconds is not None]
    assert arrivals == sorted(arrivals)
    assert result.time_seconds == result.usage.wall_seconds > 50.0
    assert (tmp_path / "result.stderr.txt").read_text() == "hanging\n"


@pytest.mark.skipif(sys.platform != "linux", reason="no cores to hold a process on")
@pytest.mark.parametrize("count", [1, 2])
def test_a_bot_is_pinned_to_its_cores_and_the_judge_avoids_them(count, tmp_path):
    before = os.sched_getaffinity(0)
    cores = tuple(sorted(before)[-count:])
    of_judge = []
    played("say_my_cores", tmp_path, on_verdict=lambda *_: of_judge.append(os.sched_getaffinity(0)), core=cores)
    assert (tmp_path / "result.stderr.txt").read_text() == f"{[*cores]}\n"
    assert of_judge == [before - {*cores} or before] * 5
    assert os.sched_getaffinity(0) == before


def test_missing_answers_are_listed_and_a_silent_bot_gets_advice(tmp_path):
    answered_first = played("close_stdin", tmp_path)
    assert run_lines(answered_first)[0] == "1 of 5 right; 4 missing: $2, $3, $4, $5"
    silent = replace(answered_first, score=Score.of(puzzles([None] * 12)))
    assert run_lines(silent)[:2] == [
        "0 of 12 right; 12 missing",
        "  no puzzle was answered; check that the bot stays in the foreground and expects boards of 5x5",
    ]
    note = "line 1: $0 is not in the set, and its board is right for $1: the answers are off by one"
    beside = replace(silent.score, notes=[note])
    ends = (run_result(times=[None], end=end) for end in (EndReason.NOT_STARTED, EndReason.CRASHED))
    for told in (*ends, replace(silent, score=beside)):
        assert not any("set to boards" in line for line in run_lines(told))
    most = score_lines(Score.of(puzzles([1, *[None] * 12], {1: Verdict.WRONG})))[0]
    assert most == "0 of 13 right; 1 wrong, 12 missing: $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 and 2 more"


WAITS = "does not wait for the next '$' or the end of its input (as `adapt --batch` does), and expects boards"


@pytest.mark.parametrize(
    ("reason", "feed", "stderr_bytes", "advice"),
    [
        (EndReason.MEMORY_LIMIT, Feed.BATCH, 0, None),
        (EndReason.PROCESS_LIMIT, Feed.BATCH, 0, None),
        (EndReason.CLOSED_STDOUT, Feed.BATCH, 0, None),
        (EndReason.STALLED, Feed.BATCH, 9, "check that the bot flushes each answer and expects boards of 5x5"),
        (EndReason.STALLED, Feed.INTERACTIVE, 0, f"check that the bot flushes each answer, {WAITS}"),
        (EndReason.FINISHED, Feed.BATCH, 9, "find the cause in its stderr, or check that the bot stays in the"),
    ],
)
def test_the_advice_to_a_bot_without_answers_fits_its_end(reason, feed, stderr_bytes, advice):
    terms = Configuration(feed=feed)
    run = run_result(times=[None], end=reason, cpu=0.0, terms=terms, stderr_bytes=stderr_bytes)
    said = [line for line in run_lines(run) if "no puzzle was answered" in line]
    assert [line.startswith(f"  no puzzle was answered; {advice}") for line in said] == [True] * bool(advice)


def test_a_crash_comes_before_the_mistakes_that_it_may_have_caused():
    score = replace(Score.of(puzzles([1.0], {1: Verdict.MALFORMED})), mistake="the malformed answer has rows of 4")
    for end, place in ((EndReason.CRASHED, 1), (EndReason.TIME_LIMIT, -1)):
        lines = run_lines(run_result(times=[None], end=end, score=score))
        assert [line for line in lines if line.startswith((" ", f"{end}: "))][::place][0].startswith(f"{end}: ")


@pytest.mark.parametrize("behaviour", ["end_after_3_without_a_line_end", "hang_after_3_without_a_line_end"])
def test_a_whole_grid_without_a_line_end_counts_at_an_exit_and_at_a_limit(tmp_path, behaviour):
    result = played(behaviour, tmp_path, stall_limit_seconds=0.5)
    assert verdicts(result) == ["right"] * 3 + ["missing"] * 2
    assert result.end.detail == "the last row of $3 has no line end"


def test_a_stall_with_an_unfinished_last_row_is_explained(tmp_path):
    result = played("ends_lines_late", tmp_path, feed=Feed.INTERACTIVE, stall_limit_seconds=0.5)
    assert (verdicts(result)[0], result.end.reason) == ("right", EndReason.STALLED)
    assert run_lines(result)[2].endswith(" (the last row of $1 has no line end)")


def test_an_answer_before_its_puzzle_was_sent_does_not_count_and_is_named(tmp_path):
    result = played("answer_before_the_questions", tmp_path, feed=Feed.INTERACTIVE)
    assert verdicts(result) == ["right"] * 5
    early = [f"line {6 * number - 5}: ${number} was answered before it was sent" for number in (2, 3, 4, 5)]
    assert result.score.notes[:4] == early
    assert all(puzzle.took_seconds >= 0 for puzzle in result.score.puzzles)


def test_a_launcher_that_exits_before_its_bot_is_reported(tmp_path):
    result = played("launch_another", tmp_path, contain="no")
    said = "it ended while 1 process that it had started ran; start the bot in the foreground"
    assert (verdicts(result), result.end.detail) == (["missing"] * 5, said)
    assert "check that" not in "".join(run_lines(result))


def test_leftover_processes_of_a_crashed_bot_are_not_reported(tmp_path):
    result = played("crash_beside_another", tmp_path, contain="no")
    assert (result.end.reason, result.end.detail) == (EndReason.CRASHED, None)


def test_a_bot_that_aborts_leaves_no_core_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    result = played("abort_at_the_end", tmp_path)
    assert result.end.reason is EndReason.FINISHED
    assert not [*tmp_path.glob("core*")]
