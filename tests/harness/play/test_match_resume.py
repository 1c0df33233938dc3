"""Runs that are cut off and gone on with, as real processes, and the journal that makes it possible."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.play import journal as journals
from nonobot.harness.play import match
from nonobot.harness.play.journal import Journal, Reading, journal_path, read_records
from nonobot.harness.play.match import Bot, ResultLostError, recorded_run, resume
from nonobot.harness.play.run_events import Alive, AttemptEnded, AttemptStarted, PuzzleJudged
from nonobot.harness.play.run_state import records_of
from nonobot.harness.results.conditions import CgroupMeasures, Feed
from nonobot.harness.results.result_files import files_in, read_result, write_json
from nonobot.harness.results.run_result import Attempt, BotEnd, EndReason, PuzzleResult, Usage, Verdict
from nonobot.system import descriptor_of
from nonobot.tournament_data import load_set
from tests.helpers.judged import RECIPE, SET, command, little_patience, pids_with, played, verdicts  # noqa: F401
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.usefixtures("little_patience")


def interrupt_after(puzzle):
    """Return a listener to verdicts that sends this process, the judge, a Ctrl-C after the one on `puzzle`."""

    def told(run):
        if run.puzzles[-1].number == puzzle:
            os.kill(os.getpid(), signal.SIGINT)

    return told


def interrupted(folder, **terms):
    """Return the result of a run interrupted after two puzzles; the bot answers the rest the next time."""
    result = played("hang_once_at_3", folder, on_verdict=interrupt_after(2), **terms)
    (folder / "solutions.txt.marker").write_text("\n")  # it may have been stopped before it came to hang
    assert result.end.reason is EndReason.INTERRUPTED
    assert verdicts(result) == [*["right"] * 2, *["missing"] * 3]
    assert read_result(folder / "result.json") == result
    assert not journal_path(folder / "result.json").exists()
    return result


def attempts(result):
    return [(attempt.first_puzzle, attempt.end.reason.value) for attempt in result.attempts]


def gone_on_with(run, path, *told):
    """Resume a run with the command and configuration with which it began."""
    return resume(SET, Bot(run.bot, run.command), run.configuration, path, *told)


def test_a_journal_of_verdicts_alone_is_refused(tmp_path):
    run = played("perfect", tmp_path)
    (tmp_path / "result.json").unlink()
    with Journal(journal_path(tmp_path / "result.json")) as journal:
        for record in records_of(run)[:-1]:
            journal.add(record)
    with pytest.raises(UnusableError, match="verdicts of no run; remove it"):
        gone_on_with(run, tmp_path / "result.json")


@pytest.mark.parametrize("feed", Feed)
def test_an_interrupted_run_goes_on_with_the_next_puzzle(tmp_path, feed):
    first = interrupted(tmp_path, feed=feed)
    told = []
    result = gone_on_with(first, tmp_path / "result.json", lambda run: told.append(run.puzzles[-1].number))
    assert told == [1, 2, 3, 4, 5]
    assert verdicts(result) == ["right"] * 5
    assert attempts(result) == [(1, "interrupted"), (3, "finished")]
    assert result.attempts[0] == first.attempts[0]
    assert result.score.puzzles[:2] == first.score.puzzles[:2]
    assert result.score.puzzles[2].arrived_seconds >= first.usage.wall_seconds
    assert result.configuration.feed is feed
    assert result.started_at == first.started_at
    assert read_result(tmp_path / "result.json") == result
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"questions.txt", "result.json", "solutions.txt", "solutions.txt.marker"}


def test_time_used_before_an_interrupt_counts_after_resuming(tmp_path):
    result = interrupted(tmp_path)
    attempt = replace(result.attempts[0], usage=replace(result.usage, wall_seconds=19.9999))
    write_json(tmp_path / "result.json", replace(result, attempts=[attempt]))
    assert gone_on_with(result, tmp_path / "result.json").end.reason is EndReason.TIME_LIMIT


@pytest.mark.parametrize(("behaviour", "reason"), [("crash_at_3", "crashed"), ("ends_after_2", "finished")])
def test_a_run_that_has_ended_is_not_resumed(tmp_path, behaviour, reason):
    run = played(behaviour, tmp_path)
    for call in (recorded_run, lambda path: gone_on_with(run, path)):
        with pytest.raises(UnusableError, match=rf"this run has ended \({reason}\)"):
            call(tmp_path / "result.json")
    assert not journal_path(tmp_path / "result.json").exists()


def test_a_changed_set_is_refused_and_a_missing_bot_loses_no_verdicts(tmp_path):
    result = interrupted(tmp_path)
    bot = Bot(result.bot, result.command)
    with pytest.raises(UnusableError, match=r"the set has changed: it was .* sha256 .*, and is "):
        resume(load_set("boardgen:5x5x5:seed=4"), bot, result.configuration, tmp_path / "result.json")
    after = gone_on_with(replace(result, command=["no-such-program"]), tmp_path / "result.json")
    assert after.end.reason is EndReason.NOT_STARTED
    assert verdicts(gone_on_with(result, tmp_path / "result.json")) == ["right"] * 5


JUDGE = [sys.executable, "-m", "nonobot.harness", "run", "--quiet", "--set", str(RECIPE), "--contain", "no"]


def resumed(folder, bot):
    judge = [*JUDGE, "--resume", "result.json", "--", *bot]
    return subprocess.run(judge, cwd=folder, capture_output=True, text=True, timeout=60)


def killed(folder, own, verdicts):
    """Play with a judge that is killed after so many verdicts; return its journal."""
    judge = subprocess.Popen([*JUDGE, "--result", "result.json", "--", *own], cwd=folder)
    path = folder / "result.journal.jsonl"
    wait_until(lambda: sum(isinstance(record, PuzzleJudged) for record in read_records(path)) == verdicts, judge)
    if "hang_once_at_3" in own:
        wait_until((folder / "solutions.txt.marker").exists, judge)
    judge.kill()
    judge.wait()
    return path


def test_a_judge_killed_by_sigkill_loses_the_puzzle_in_work_at_most(tmp_path):
    own = command("hang_once_at_3", tmp_path)
    path = killed(tmp_path, own, 2)
    assert not (tmp_path / "result.json").exists()
    bot = next(record.pid for record in read_records(path) if hasattr(record, "pid"))
    path.write_bytes(path.read_bytes() + b'{"kind":"ruled","ruling":{"number":3,"verd')
    assert bot in pids_with("hang_once_at_3")  # it sleeps, so it does not notice
    done = resumed(tmp_path, own)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("5 of 5 right")
    assert bot not in pids_with("hang_once_at_3")
    result = read_result(tmp_path / "result.json")
    assert attempts(result) == [(1, "interrupted"), (3, "finished")]
    assert "the judge was killed" in result.attempts[0].end.detail
    arrivals = [puzzle.arrived_seconds for puzzle in result.score.puzzles]
    assert arrivals == sorted(arrivals)
    assert result.attempts[0].usage.wall_seconds >= arrivals[1]
    assert not path.exists()
    assert resumed(tmp_path, own).returncode == 2


def test_a_judge_killed_after_the_last_answer_has_a_result_all_the_same(tmp_path):
    own = command("never_end", tmp_path)
    killed(tmp_path, own, 5)
    done = resumed(tmp_path, own)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(the judge was killed after the last answer)" in done.stdout
    assert "None" not in done.stdout
    assert "sandbox: no; wall time" in done.stdout
    result = read_result(tmp_path / "result.json")
    assert attempts(result) == [(1, "finished")]
    assert pids_with(str(tmp_path / "solutions.txt")) == []


def test_a_run_resumes_before_the_damaged_part_of_its_journal(tmp_path):
    own = command("hang_once_at_3", tmp_path)
    path = killed(tmp_path, own, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    second = next(place for place, line in enumerate(lines) if b'"number":2,' in line)
    lines[second:second] = [b'{"kind":"paused"}\n', b'{"kind":"judged","result\0\0\0\0\n']
    path.write_bytes(whole := b"".join(lines))
    again = subprocess.run([*JUDGE, "--result", "result.json", "--", *own], cwd=tmp_path, capture_output=True)
    assert b"interrupted run found" in again.stderr
    assert path.read_bytes() == whole
    done = resumed(tmp_path, own)
    damaged, later = done.stderr.splitlines()
    assert f"line {second + 2} is damaged: the run is resumed before it, without the last" in damaged
    assert later.endswith("warning: records of the kind 'paused' are skipped: a later nonojudge wrote them")
    assert done.returncode == 0
    assert done.stdout.startswith("5 of 5 right")
    assert attempts(read_result(tmp_path / "result.json")) == [(1, "interrupted"), (2, "finished")]
    assert (tmp_path / "result.journal.jsonl.damaged-1").read_bytes() == whole


@pytest.mark.parametrize("begun", [b"", b'{"kind":"run","bo'])
def test_a_judge_killed_before_its_first_record_leaves_nothing_to_resume(tmp_path, begun):
    (tmp_path / "result.journal.jsonl").write_bytes(begun)
    with pytest.raises(UnusableError, match="no record: there is nothing to resume; run without --resume"):
        recorded_run(tmp_path / "result.json")
    assert verdicts(played("perfect", tmp_path)) == ["right"] * 5


def test_an_incomplete_journal_is_filled_from_its_result(tmp_path):
    """As of a judge that was killed while it resumed a run."""
    run = interrupted(tmp_path)
    with Journal(journal_path(tmp_path / "result.json")) as journal:
        journal.add(records_of(run)[0])
    result = gone_on_with(run, tmp_path / "result.json")
    assert verdicts(result) == ["right"] * 5
    assert attempts(result) == [(1, "interrupted"), (3, "finished")]


@pytest.mark.parametrize(
    ("problem", "raised"), [(KeyError(), KeyError), (OSError(28, "No space left on device"), ResultLostError)]
)
def test_a_missing_result_is_rebuilt_from_the_journal(tmp_path, monkeypatch, problem, raised):
    """As of a judge that is killed when all is over, and on a full disk."""

    def fails(path, result):
        raise problem

    with monkeypatch.context() as context:
        context.setattr(match, "write_json", fails)
        with pytest.raises(raised) as lost:
            played("crash_at_3", tmp_path)
    assert not (tmp_path / "result.json").exists()
    with pytest.raises(UnusableError, match=r"interrupted run found; add `--resume "):
        played("perfect", tmp_path)
    result = gone_on_with(recorded_run(tmp_path / "result.json"), tmp_path / "result.json")
    assert result.end.reason is EndReason.CRASHED
    assert len(result.attempts) == 1
    assert read_result(tmp_path / "result.json") == result
    if raised is ResultLostError:
        assert "No space left on device; to resume the run makes it of what is in " in str(lost.value)
        assert lost.value.result == result


# The journal: what is on disk of a run at any moment


USAGE = Usage(1.5, 1.25, 1000)
END = BotEnd(EndReason.CRASHED, signal="SIGSEGV", detail="a word")


@pytest.fixture
def records(tmp_path):
    beginning = records_of(played("perfect", tmp_path))[0]
    return [
        beginning,
        AttemptStarted("2020-01-01T00:00:00+00:00", 1, 4711, 12.5, False, CgroupMeasures()),
        PuzzleJudged(PuzzleResult(1, Verdict.RIGHT, None, 0.25, 0.25, "ff")),
        PuzzleJudged(PuzzleResult(2, Verdict.WRONG, "row 1: 'x'\n", 0.5)),
        Alive(USAGE),
        AttemptEnded(Attempt("2020-01-01T00:00:00+00:00", 1, END, USAGE), 10, 1, 2, ["line 3", "\u2713"]),
    ]


def written(path, records):
    with Journal(path) as journal:
        for record in records:
            journal.add(record)
    return path


def test_records_added_to_a_journal_are_read_and_more_can_be_added(tmp_path, records):
    path = written(tmp_path / "x.journal.jsonl", records[:3])
    with Journal(path) as journal:
        assert journal.records == records[:3]
        for record in records[3:]:
            journal.add(record)
    assert read_records(path) == records
    assert journal.trouble is None


def test_a_journal_cut_off_anywhere_keeps_its_complete_lines(tmp_path, records):
    whole = written(tmp_path / "x.journal.jsonl", records).read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    cut = tmp_path / "cut.journal.jsonl"
    for length in [0, *range(ends[0] - 1, len(whole) + 1)]:
        cut.write_bytes(whole[:length])
        assert read_records(cut) == records[: sum(end <= length for end in ends)]


@pytest.mark.parametrize("begun", [b'{"kind":"judged","result":{"num', b"\0" * 3000, b'{"kind":"new"'])
def test_an_incomplete_last_line_of_a_journal_is_removed_without_a_warning(tmp_path, records, capsys, begun):
    path = written(tmp_path / "x.journal.jsonl", records[:3])
    path.write_bytes(path.read_bytes() + begun)
    written(path, records[3:])
    assert read_records(path) == records
    assert capsys.readouterr().err == ""
    assert [*tmp_path.glob("*.damaged-*")] == []


NESTED = b'{"new":%b}\n' % (b"[" * 50_000 + b"]" * 50_000)


@pytest.mark.parametrize(
    "damage",
    [
        *(b'{"kind":"judged","result":{"num\n', b"\0\0\0\0\0\n", b'{"kind":"judged"}\n', b"\n", NESTED),
        b'{"kind":"attempt-started","started_at":"\xff","first_puzzle":1,"pid":2,"process_created":1}\n',
        b'{"kind":"attempt-started","started_at":"","first_puzzle":1,"pid":-1,"process_created":1}\n',
    ],
    ids=range(7),
)
def test_a_damaged_journal_line_is_reported_and_the_journal_is_backed_up(tmp_path, records, capsys, damage):
    path = written(tmp_path / "x.journal.jsonl", records)
    lines = path.read_bytes().splitlines(keepends=True)
    for number in (1, 2):
        path.write_bytes(whole := b"".join([*lines[:2], damage, *lines[3:], b'{"kind":"ali']))
        assert read_records(path) == records[:2]
        with Journal(path) as journal:
            assert path.read_bytes() == whole  # until it is resumed
            journal.add(records[2])
        copy = Path(f"{path}.damaged-{number}")
        lost = len(whole) - len(lines[0] + lines[1])
        assert capsys.readouterr().err == (
            f"nonojudge: {path}: warning: line 3 is damaged: the run is resumed before it, without the last 4 "
            f"records ({lost:,} bytes); the whole file is kept as {copy}\n"
        )
        assert copy.read_bytes() == whole
        assert read_records(path) == records[:3]
    assert files_in(tmp_path, (".json", ".jsonl")) == [tmp_path / "result.json", path]


def test_a_damaged_journal_is_not_truncated_if_the_backup_fails(tmp_path, records, monkeypatch):
    path = written(tmp_path / "x.journal.jsonl", records)
    path.write_bytes(whole := path.read_bytes().replace(b'"judged"', b'"judged', 1))

    @contextlib.contextmanager
    def full(copy, **_):
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    monkeypatch.setattr(journals, "whole_file", full)
    with (
        Journal(path) as journal,
        pytest.raises(
            UnusableError, match=r"cannot write .*x\.journal\.jsonl\.damaged-1: No space left on device"
        ),
    ):
        journal.mend()
    assert path.read_bytes() == whole


def test_unknown_kinds_of_records_are_skipped_with_a_warning(tmp_path, records, capsys):
    path = written(tmp_path / "x.journal.jsonl", records[:2])
    later = b'{"kind":"paused","seconds":1}\n{"kind":"\\u001b[2J"}\n' + b'{"kind":"paused"}\n' * 1000
    path.write_bytes(path.read_bytes() + later)
    written(path, records[2:])
    assert capsys.readouterr().err == (
        f"nonojudge: {path}: warning: records of the kind 'paused', '\\x1b[2J' are skipped: a later nonojudge "
        "wrote them\n"
    )
    assert read_records(path) == records
    assert later in path.read_bytes()
    assert [*tmp_path.glob("*.damaged-*")] == []


def test_a_journal_is_read_further_where_its_reading_ended(tmp_path, records):
    path = written(tmp_path / "x.journal.jsonl", records)
    whole = path.read_bytes()
    reading, read = Reading(path), []
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with descriptor_of(path) as file:
            read += reading.records(file)
    assert read == records
    assert (reading.end, reading.line_count, reading.lost_count) == (len(whole), len(records), 0)


def test_a_journal_is_read_in_pieces_of_any_size(tmp_path, records, monkeypatch):
    path = written(tmp_path / "x.journal.jsonl", records)
    for size in (1, 2, 3, 100, 1000):
        monkeypatch.setattr(journals, "PIECE_BYTES", size)
        assert read_records(path) == records


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"MOST_BYTES": 2048}, "more than 2 KiB$"),
        ({"MOST_VERDICTS": 1}, "more than 1 verdicts$"),
        ({"MOST_OTHER_BYTES": 4096}, "more than 4 KiB besides the verdicts$"),
    ],
)
def test_a_journal_that_is_too_large_is_refused_and_left_as_it_is(tmp_path, records, monkeypatch, limits, why):
    """Verdicts and signs of life count only for the size in all."""
    path = written(tmp_path / "x.journal.jsonl", [*records, *records[4:5] * 200, *records[-1:] * 10])
    content = path.read_bytes()
    for name, value in limits.items():
        monkeypatch.setattr(journals, name, value)
    for read in (read_records, Journal):
        with pytest.raises(UnusableError, match=why):
            read(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"precious", b"#1\t0.5\n", b"{}\n", b'{"kind":"\xff"}\n', "another version"])
def test_a_file_that_is_not_a_journal_is_refused_and_unchanged(tmp_path, records, content):
    path = written(tmp_path / "x.journal.jsonl", records)
    if content == "another version":
        content = path.read_bytes().replace(b'"schema_version":', b'"schema_version":1')
    path.write_bytes(content)
    with pytest.raises(UnusableError, match="not a journal of this nonojudge"):
        Journal(path)
    assert path.read_bytes() == content


def test_a_journal_with_a_second_hard_link_is_refused_and_unchanged(tmp_path):
    """A stranger's folder of results may contain another name for any file of the user."""
    for content in (b"", bytes(3000), b'{"kind":"run","bot'):
        (tmp_path / "file").write_bytes(content)
        path = tmp_path / "x.journal.jsonl"
        path.unlink(missing_ok=True)
        path.hardlink_to(tmp_path / "file")
        with pytest.raises(UnusableError, match="not a journal of this nonojudge"):
            Journal(path)
        assert path.read_bytes() == content
        path.unlink()
        path.write_bytes(content)
        with Journal(path) as journal:  # its judge was stopped within the first line
            assert path.read_bytes() == content
            journal.mend()
        assert path.read_bytes() == b""


def test_only_one_judge_can_open_a_journal(tmp_path, records):
    path = tmp_path / "x.journal.jsonl"
    opening = (
        f"from nonobot.harness.play.journal import Journal; from pathlib import Path; Journal(Path({str(path)!r}))"
    )
    with Journal(path) as journal:
        other = subprocess.run([sys.executable, "-c", opening], capture_output=True, text=True)
        assert "another nonojudge is writing this result" in other.stderr
        journal.add(records[0])
    assert written(path, records[1:])
    assert read_records(path) == records


def test_results_with_other_endings_have_journals_of_their_own(tmp_path, records):
    assert journal_path(tmp_path / "x.json") == tmp_path / "x.journal.jsonl"
    with Journal(journal_path(tmp_path / "x.json")) as journal, Journal(journal_path(tmp_path / "x.txt")):
        journal.add(records[0])
    assert read_records(journal_path(tmp_path / "x.json")) == records[:1]
    assert read_records(journal_path(tmp_path / "x.txt")) == []


def test_a_missing_journal_is_empty_and_a_missing_folder_is_an_error(tmp_path):
    assert read_records(tmp_path / "x.journal.jsonl") == []
    with pytest.raises(UnusableError, match=r"cannot write .*No such file"):
        Journal(tmp_path / "nowhere" / "x.journal.jsonl")


def test_a_full_disk_is_reported_and_nothing_is_added_after_a_cut_line(tmp_path, records, monkeypatch):
    path = written(tmp_path / "x.journal.jsonl", records[:2])
    write = os.write

    def full(file, data):
        if b"judged" not in bytes(data):
            return write(file, data)
        write(file, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Journal(path) as journal:
        monkeypatch.setattr(journals.os, "write", full)
        journal.add(records[2])
        while journal.trouble is None:
            time.sleep(0.001)
        journal.add(records[4])
    assert journal.trouble.errno == errno.ENOSPC
    assert read_records(path) == records[:2]
