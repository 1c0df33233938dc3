"""What is kept of a bot's stderr."""

from __future__ import annotations

from nonobot.harness.play import bot_process
from nonobot.harness.play.bot_process import StderrLog


def test_both_ends_are_kept_over_several_lives(tmp_path, monkeypatch):
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


def test_nothing_said_makes_no_file(tmp_path):
    log = StderrLog(tmp_path / "stderr.txt")
    log.write(b"")
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_costs_only_itself(tmp_path):
    log = StderrLog(tmp_path / "nowhere" / "stderr.txt")
    log.write(b"abc")
    log.close()
    assert log.received_bytes == 3
