"""A bot's process and its pipes, and what is kept of its stderr."""

import errno
import os
import resource
import time

import psutil
import pytest

from nonobot.harness import StartError
from nonobot.harness.process import bot_process
from nonobot.harness.process.bot_process import BotProcess, LastWords, StderrLog


def test_the_start_and_end_of_stderr_are_kept_over_several_legs(tmp_path, monkeypatch):
    monkeypatch.setattr(bot_process, "BEGINNING_BYTES", 10)
    monkeypatch.setattr(bot_process, "END_BYTES", 4)
    path = tmp_path / "stderr.txt"
    first = StderrLog(path)
    for piece in (b"abcdef", b"", b"ghijklmnop"):
        first.write(piece)
    first.close()
    assert path.read_bytes() == b"abcdefghij\n[2 bytes left out here]\nmnop"
    second = StderrLog(path, first.received_bytes)
    second.write(b"xyz")
    second.close()
    assert path.read_bytes() == b"abcdefghij\n[2 bytes left out here]\nmnopxyz"
    assert second.received_bytes == 19


@pytest.mark.parametrize("room", [0, 10, 8192])
def test_the_stderr_file_ends_with_the_last_line_even_on_a_full_disk(tmp_path, room):
    path = tmp_path / "stderr.txt"
    log = StderrLog(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        log.write(b"first\n")
        for number in range(2000):
            log.write(b"debug line %d\n" % number)
        log.write(b"no tables\n")
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    written = path.read_bytes()
    assert len(written) == room
    assert written.endswith(b"no tables\n"[:room])
    if room > 4096:
        assert written.startswith(b"first\n")
        assert b"\n[the disk was full: bytes left out here]\n" in written


def test_the_end_of_stderr_is_available_without_a_file(tmp_path, monkeypatch):
    log = StderrLog(tmp_path / "nowhere" / "stderr.txt")
    log.write(b"abc")
    log.close()
    assert log.received_bytes == 3
    monkeypatch.setattr(bot_process, "TAIL_BYTES", 12)
    kept = LastWords()
    assert kept.last_line == ""
    for piece in (b"much before", b" and\nthe ", b"last\n \n"):
        kept.write(piece)
    kept.close()
    assert (kept.data, kept.last_line) == (b"\nthe last\n \n", "the last")


@pytest.mark.parametrize("program", ["no-such-program", os.sep, "bot\0"])
def test_a_command_that_cannot_start_is_named(program, tmp_path):
    with pytest.raises(StartError, match="cannot start") as caught:
        BotProcess([program], StderrLog(tmp_path / "result.stderr.txt"))
    assert "\n" not in str(caught.value)


def test_a_bot_is_ended_if_the_judge_cannot_poll_its_pipes(monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, "Too many open files")

    before = psutil.Process().children()  # of multiprocessing, which another test of this process used
    monkeypatch.setattr(bot_process.selectors, "PollSelector", refuse)
    with pytest.raises(StartError, match="cannot start 'sleep': Too many open files"):
        BotProcess(["sleep", "900"], LastWords())
    assert psutil.Process().children() == before


def test_an_endless_stderr_does_not_delay_a_read_beyond_its_deadline(tmp_path, monkeypatch):
    looks = 0

    def slow_write(log, data):  # so slow that the bot has written more by the next look
        nonlocal looks
        looks += 1
        assert looks < 1000, "still reading"
        time.sleep(0.01)

    monkeypatch.setattr(StderrLog, "write", slow_write)
    with BotProcess(["sh", "-c", "yes >&2"], StderrLog(tmp_path / "stderr.txt")) as bot:
        while not looks:
            bot.read(time.monotonic() + 0.05)
        assert bot.read(time.monotonic() + 0.05) == b""
        assert not bot.exited
