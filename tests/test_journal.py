"""The journal: what is on disk of a run at any moment."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.play import journal as journals
from nonobot.harness.play.journal import Alive, AttemptEnded, AttemptStarted, Journal, PuzzleJudged, read_records
from nonobot.harness.play.run_state import records_of
from nonobot.harness.results.run_result import Attempt, BotEnd, EndReason, PuzzleResult, Usage, Verdict
from tests.judged import played

USAGE = Usage(1.5, 1.25, 1000)
END = BotEnd(EndReason.CRASHED, signal="SIGSEGV", detail="a word")


@pytest.fixture
def records(tmp_path):
    beginning = records_of(played("perfect", tmp_path))[0]
    return [
        beginning,
        AttemptStarted("2020-01-01T00:00:00+00:00", 1, 4711, 12.5),
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


def test_what_was_added_is_there_and_more_can_be_added(tmp_path, records):
    path = written(tmp_path / "x.journal.jsonl", records[:3])
    with Journal(path) as journal:
        assert journal.records == records[:3]
        for record in records[3:]:
            journal.add(record)
    assert read_records(path) == records
    assert journal.trouble is None


def test_wherever_it_was_cut_off_the_whole_lines_are_there(tmp_path, records):
    whole = written(tmp_path / "x.journal.jsonl", records).read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    cut = tmp_path / "cut.journal.jsonl"
    for length in [0, *range(ends[0] - 1, len(whole) + 1)]:
        cut.write_bytes(whole[:length])
        assert read_records(cut) == records[: sum(end <= length for end in ends)]


NESTED = b'{"new":%b}\n' % (b"[" * 50_000 + b"]" * 50_000)


@pytest.mark.parametrize(
    "rubbish",
    [
        *(b'{"kind":"judged","result":{"num', b"\0\0\0\0\0\n\0\0", b'{"kind":"new"}\n', NESTED),
        b'{"kind":"attempt-started","started_at":"\xff","first_puzzle":1,"pid":2,"process_created":1}\n',
        b'{"kind":"attempt-started","started_at":"","first_puzzle":1,"pid":-1,"process_created":1}\n',
    ],
    ids=range(6),
)
def test_what_is_damaged_is_cut_off_before_more_is_added(tmp_path, records, rubbish):
    path = written(tmp_path / "x.journal.jsonl", records[:3])
    path.write_bytes(path.read_bytes() + rubbish)
    written(path, records[3:])
    assert read_records(path) == records


@pytest.mark.parametrize("content", [b"#1\t0.5\n", b"{}\n", b'{"kind":"\xff"}\n', "another version"])
def test_another_file_is_refused_and_left_as_it_is(tmp_path, records, content):
    path = written(tmp_path / "x.journal.jsonl", records)
    if content == "another version":
        content = path.read_bytes().replace(b'"schema_version":', b'"schema_version":1')
    path.write_bytes(content)
    with pytest.raises(UnusableError, match="not a journal of this nonojudge"):
        Journal(path)
    assert path.read_bytes() == content


def test_one_judge_at_a_time(tmp_path, records):
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


def test_there_is_no_journal(tmp_path):
    assert read_records(tmp_path / "x.journal.jsonl") == []
    with pytest.raises(UnusableError, match=r"cannot write .*No such file"):
        Journal(tmp_path / "nowhere" / "x.journal.jsonl")


def test_a_full_disk_is_told_and_nothing_is_added_after_a_torn_line(tmp_path, records, monkeypatch):
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
