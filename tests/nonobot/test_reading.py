"""Files from outside: read up to a limit, without waiting, and only until the judge is told to stop."""

import asyncio
import codecs
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nonobot import system
from nonobot.bot import input, watch
from nonobot.bot.cli import parse
from nonobot.harness import UnusableError, cli
from nonobot.harness.bench import claims
from nonobot.harness.live.events import Live
from nonobot.harness.play.journal import Journal, journal_path
from nonobot.harness.play.match import Bot, resume
from nonobot.harness.play.run_state import records_of, stderr_path
from nonobot.harness.process.bot_files import MOST_BYTES_HASHED, changed_files, digest_of
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.profiling.profile_data import profile_of
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.result_files import ORDER, places_in, read_result
from nonobot.harness.results.run_result import EndReason
from nonobot.system import beginning_of, content_of, end_of, lines_in, pieces_of, reason_of, text_of, with_file
from nonobot.tournament_data import SetError, load_set, sets
from tests.helpers.judged import RECIPE, command, played
from tests.helpers.places import GOLDEN, sparse
from tests.helpers.talking import CAPTURED, interrupted, wait_until

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")

SET = load_set(str(RECIPE))


# The helper that all packages use


def test_a_file_is_read_up_to_a_limit_and_no_further(monkeypatch):
    Path("file").write_bytes(b"x" * 2049)
    monkeypatch.setattr(system, "PIECE_BYTES", 1000)
    assert [len(piece) for piece in pieces_of("file", 2049)] == [1000, 1000, 49]
    with pytest.raises(OSError, match="more than 2 KiB") as caught:
        content_of("file", 2048)
    assert caught.value.filename == "file"
    assert (beginning_of("file", 3), end_of("file", 3), len(end_of("file", 5000))) == (b"xxx", b"xxx", 2049)
    with pytest.raises(OSError, match="more than 7 bytes"):
        content_of("/dev/zero", 7, waits=True)
    assert content_of("/dev/null", 7, waits=True) == b""


def test_reads_are_remembered_only_while_a_command_runs_and_a_live_view_forgets_them(tmp_path):
    (file := tmp_path / "a.json").write_text("1")
    content_of(file, 9)
    assert not system.was_read(file)
    with system.remembering_reads():
        content_of(file, 9)
        assert system.was_read(file)
        asyncio.run(Live(tmp_path)._look())
        assert not system.was_read(file)
    content_of(file, 9)
    assert not system.was_read(file)


def test_reading_a_growing_file_ends_at_the_size_limit(monkeypatch):
    monkeypatch.setattr(system, "PIECE_BYTES", 10)
    with Path("grows").open("ab", buffering=0) as file:
        file.write(b"x" * 10)
        with pytest.raises(OSError, match="more than 1 KiB"):
            [*map(file.write, pieces_of("grows", 1024))]


@pytest.mark.parametrize("read", [content_of, beginning_of, end_of])
def test_only_regular_files_are_read_and_pipes_never_block(read):
    os.mkfifo("pipe")
    Path("folder").mkdir()
    for name in ("pipe", "/dev/zero"):
        with pytest.raises(OSError, match="not a regular file"):
            read(name, 100)
    with pytest.raises(IsADirectoryError):
        read("folder", 100)


def test_a_pipe_is_never_opened():
    """That would free its writer, who would then write into nothing."""
    os.mkfifo("pipe")
    code = "import sys; from nonobot.harness.process.bot_command import interpreter_in\n"
    code += "sys.addaudithook(lambda event, about: print(about[0]) if event == 'open' else None)\n"
    code += "interpreter_in('pipe'), interpreter_in('/dev/null'), interpreter_in('script')"
    Path("script").write_text("#!/bin/sh\n")
    done = subprocess.run([sys.executable, "-c", code], **CAPTURED, check=True)
    assert done.stdout == b"script\n"


def test_files_below_proc_are_treated_as_empty():
    assert content_of("/proc/self/status", 1 << 20) == beginning_of("/proc/self/status", 9) == b""


@pytest.mark.parametrize(
    "line", ["run --set {} -- true", "verify {} {}", f"verify {RECIPE} {{}}", "tournament {}"]
)
def test_a_blocking_file_below_proc_does_not_block(line):
    name = next((path for path in ("/proc/kmsg", "/dev/kmsg") if os.access(path, os.R_OK)), None)
    try:
        os.close(os.open(name, os.O_RDONLY))
    except (OSError, TypeError):
        pytest.skip("the log of the kernel is for root, where the system allows it")
    status, err = said(*JUDGE, *line.format(name, name).split())
    counts = line.startswith(f"verify {RECIPE}")  # of answers, the beginning counts
    assert (status, "has neither data nor an end" in err) == ((1, False) if counts else (2, True)), err


def test_a_text_line_without_an_end_is_cut(monkeypatch):
    monkeypatch.setattr(system, "LONGEST_LINE_BYTES", 5)
    pieces = [b"ab\nc", b"d\n", b"\n1234", b"5678", b"9", b"0\nx"]
    assert [*lines_in(pieces)] == [b"ab", b"cd", b"", b"123456780", b"x"]


# What commands read


def said(*arguments, **more):
    """Return status and stderr of a command that has three gigabytes of memory."""
    limited = ["sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", sys.executable, *arguments]
    done = subprocess.run(limited, **CAPTURED | more)
    return done.returncode, done.stderr.decode()


JUDGE = ("-m", "nonobot.harness")
TOURNAMENT = 'name = "t"\nsets = [%r]\n[[bots]]\nname = "a"\ncommand = "true"\n'


REFUSED = {
    "run --set /dev/zero -- true": "cannot read the set /dev/zero: more than 64 MiB",
    "run --set large -- true": "cannot read the set large: more than 64 MiB",
    "run --set boardgen:999x999x999:seed=1 -- true": "more than 62,500,000 cells; split the set",
    "verify large large": "cannot read the set large: more than 64 MiB",
    f"verify {RECIPE} /dev/zero": "cannot read the answers /dev/zero: more than 16 MiB",
    f"verify {RECIPE} large": "cannot read the answers large: more than 16 MiB",
    f"verify {RECIPE} answers": "cannot read the answers answers: more than 16 MiB",
    "tournament large": "cannot read the tournament large: more than 16 MiB",
    "tournament pipe.toml": "cannot read the set pipe: not a regular file",
    "tournament zero.toml": "cannot read the set /dev/zero: not a regular file",
    "run --resume .": "cannot read the result .: Is a directory",
    "claims --file large": "cannot read large: more than 16 MiB",
}
LARGE = {f"render {RECIPE} --answers large": "cannot read the answers large: more than 1 GiB"}

ONE_AFTER_THE_OTHER = """
import sys
from nonobot.harness import cli
for line in sys.argv[1:]:
    print(cli.run(line.split()), line, file=sys.stderr)
"""


@pytest.mark.parametrize("refused", [REFUSED, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["", "large"])
def test_input_that_is_too_large_or_blocks_is_a_one_line_error(refused):
    sparse("large")
    Path("answers").write_bytes((b"$1\n" + b"x" * 6_000 + b"\n") * 3_000)
    os.mkfifo("pipe")
    for name, source in {"pipe.toml": "pipe", "zero.toml": "/dev/zero"}.items():
        Path(name).write_text(TOURNAMENT % source)
    status, err = said("-c", ONE_AFTER_THE_OTHER, *refused)
    assert (status, "Traceback" in err) == (0, False), err
    for line, reason in refused.items():
        words, _, err = err.partition(f"\n2 {line}\n")
        assert words.endswith(reason)


def test_watch_refuses_a_file_above_the_size_limit():
    with pytest.raises(input.UnusableError, match="cannot read large: more than 16 MiB"):
        watch._puzzles(sparse("large"), parse(["--watch", "large"]))


def test_a_set_may_still_come_from_a_pipe():
    reading, writing = os.pipe()
    os.write(writing, SET.text)
    os.close(writing)
    arguments = ["run", "--set", f"/dev/fd/{reading}", "--size", "5x5", "--quiet", "--contain", "no", "--", "true"]
    status, err = said(*JUDGE, *arguments, pass_fds=[reading])
    assert (status, err) == (1, "")
    with pytest.raises(SetError, match="not a regular file"):
        load_set(f"/dev/fd/{reading}")
    os.close(reading)


def test_a_generated_set_has_the_same_limit_as_a_file(monkeypatch):
    monkeypatch.setattr(sets, "MOST_SET_BYTES", len(SET.text))
    assert load_set(str(RECIPE)) == SET
    monkeypatch.setattr(sets, "MOST_SET_BYTES", len(SET.text) - 1)
    with pytest.raises(SetError, match="more than 0 MiB; split the set"):
        load_set(str(RECIPE))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('truncate -s 4T "$1"', "more than 256 MiB"),
        ('ln -s /etc/passwd "$1"', "links are not followed"),
        ('mkfifo "$1"', "in its folder is not a file"),
    ],
)
def test_the_statistics_of_a_bot_are_not_trusted(line, reason):
    with pytest.raises(UnusableError, match=f"the bot's statistics: .*{reason}"):
        profile_of(SET, ["sh", "-c", line], Configuration(), lambda *_: None)


# Encodings of files that people edit


def test_text_files_are_utf_8_with_or_without_a_byte_order_mark():
    assert text_of("h\u00e9\r\n".encode()) == text_of("h\u00e9\r\n".encode("utf-8-sig")) == "h\u00e9\r\n"
    assert (text_of(b""), text_of(codecs.BOM_UTF8)) == ("", "")
    assert text_of(b"h\xe9", "replace") == "h\ufffd"
    for content, why in {
        b"h\xe9": "not UTF-8 text at byte 2; save the file as UTF-8",
        codecs.BOM_UTF8 + b"h\xe9": "not UTF-8 text at byte 5; save the file as UTF-8",
        "h".encode("utf-16"): "UTF-16 text; save the file as UTF-8",
        codecs.BOM_UTF16_BE: "UTF-16 text; save the file as UTF-8",
    }.items():
        with pytest.raises(system.NotTextError) as caught:
            text_of(content)
        assert str(caught.value) == why


RESULT = GOLDEN / "results" / "run.json"


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("table FILE", RESULT),
        ("compare FILE FILE", RESULT),
        ("history FILE", RESULT),
        ("table FILE", GOLDEN / "results" / "bot.log"),
        ("claims --list --file FILE", claims.FILE),
        ("tournament FILE", GOLDEN / "results" / "table.csv"),  # not a tournament
    ],
)
def test_every_editable_file_follows_the_same_encoding_rules(line, file, capsys):
    content = file.read_bytes()

    def outcome(content):
        Path("FILE").write_bytes(content)
        return cli.run(line.split()), *capsys.readouterr()

    plain = outcome(content)
    assert plain == outcome(codecs.BOM_UTF8 + content)
    assert "UTF" not in plain[2]
    not_utf_8 = f"FILE is not UTF-8 text at byte {len(content) + 1}; save the file as UTF-8\n"
    if file.suffix == ".log":
        not_utf_8 = "FILE: line 8: "
    for unusable, why in (
        (content.decode().encode("utf-16"), "FILE is UTF-16 text; save the file as UTF-8\n"),
        (content + b"\xe9", not_utf_8),
    ):
        status, _, err = outcome(unusable)
        assert status
        assert why in err


def test_the_order_of_a_tournament_may_begin_with_a_byte_order_mark():
    Path(ORDER).write_bytes("b\na\n".encode("utf-8-sig"))
    assert places_in(Path()) == {"b": 0, "a": 1}
    Path(ORDER).write_bytes("b\na\n".encode("utf-16"))
    assert places_in(Path()) == {}


# Errors of the operating system


@pytest.mark.parametrize(
    ("error", "why", "with_its_file"),
    [
        (FileNotFoundError(2, "No such file or directory", "x.txt"), "No such file or directory", "x.txt: "),
        (PermissionError(13, "Permission denied", b"\xff"), "Permission denied", "\udcff: "),
        (PermissionError(13, "Permission denied"), "Permission denied", "a place: "),
        (OSError(9, "Bad file descriptor", 7), "Bad file descriptor", "a place: "),
        (OSError("only a text"), "only a text", "a place: "),
        (TimeoutError(), "TimeoutError", "a place: "),
    ],
)
def test_a_system_error_has_a_message_even_with_missing_fields(error, why, with_its_file):
    assert reason_of(error) == why
    assert with_file(error, "a place") == f"{with_its_file}{why}"


def test_a_system_error_without_a_file_name_is_not_reported_as_a_file_error(monkeypatch, capsys):
    def closed(*_, **__):
        raise PermissionError(13, "Permission denied")

    run = ["run", "--set", str(RECIPE), "--contain", "no", "--quiet", "--result", "r.json", "--", "true"]
    with monkeypatch.context() as patch:
        patch.setattr("nonobot.harness.play.match.machine_facts", closed)
        assert cli.run(run) == 2
    assert capsys.readouterr() == ("", "nonojudge: Permission denied\n")
    assert not [*Path().iterdir()]
    monkeypatch.setattr("psutil.cpu_percent", closed)  # where /proc/stat is closed
    assert cli.run(run) == 1
    machine = read_result(Path("r.json")).machine
    assert (machine.busy_share, machine.memory_bytes > 0) == (None, True)


# Digests of a bot's files


def test_a_file_too_large_to_hash_is_identified_by_size_and_modification_time():
    path = sparse("weights")
    before = digest_of("./weights")
    assert (before.size_bytes, before.modified_ns) == (4 << 40, path.stat().st_mtime_ns)
    assert changed_files([before], [digest_of("./weights")]) == []
    os.utime(path, ns=(0, before.modified_ns + 1))
    assert changed_files([before], [digest_of("./weights")]) == ["./weights"]
    os.truncate(path, 5)
    os.utime(path, ns=(0, before.modified_ns))
    small = digest_of("./weights")
    assert changed_files([before], [small]) == ["./weights"]
    assert small.modified_ns is not small.size_bytes == 5


def is_open(path):
    """Return whether a process reads a file."""
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if descriptor.samefile(path):
                return True
        except OSError:
            continue
    return False


def test_a_signal_interrupts_the_judge_while_it_hashes_a_bots_file():
    path = sparse("weights", MOST_BYTES_HASHED)

    def stop_while_it_reads():
        wait_until(lambda: is_open(path))
        os.kill(os.getpid(), signal.SIGTERM)

    with Interrupts():
        stopper = threading.Thread(target=stop_while_it_reads)
        stopper.start()
        with pytest.raises(KeyboardInterrupt):
            digest_of("./weights")
        stopper.join()


def test_a_judge_stopped_while_reading_starts_no_bot_and_leaves_no_file():
    path = sparse("weights", MOST_BYTES_HASHED)
    line = ["run", "--set", str(RECIPE), "--contain", "no", "--result", "new/r.json", "--", "cat", "weights"]
    interrupted(*line, when=lambda: is_open(path))
    assert not Path("new").exists()


# What lies in a stranger's folder of results


def resumed(path):
    """Resume the run of :func:`left_interrupted`."""
    configuration = Configuration(wall_limit_seconds=20.0)
    return resume(SET, Bot("ends_at_once", command("ends_at_once", Path.cwd())), configuration, path)


def left_interrupted():
    """Leave the journal of a run that was interrupted before its first answer; return the result's path."""
    beginning, *_ = records_of(played("ends_at_once", Path.cwd(), wall_limit_seconds=20.0))
    path = Path("theirs.json")
    with Journal(journal_path(path)) as journal:
        journal.add(beginning)
    return path


def test_the_stderr_of_a_resumed_bot_is_not_written_through_a_link_or_pipe():
    path = left_interrupted()
    Path("own").write_text("mine")
    stderr_path(path).symlink_to("own")
    assert resumed(path).end.reason is EndReason.CRASHED
    assert Path("own").read_text() == "mine"


def test_a_pipe_in_place_of_the_stderr_file_does_not_block_the_judge():
    path = left_interrupted()
    os.mkfifo(stderr_path(path))
    assert resumed(path).end.reason is EndReason.CRASHED


@pytest.mark.parametrize("content", ["mine", "mine\n"])
def test_a_link_in_place_of_a_journal_is_refused(content):
    Path("own").write_text(content)
    journal_path(Path("theirs.json")).symlink_to("own")
    with pytest.raises(UnusableError):
        resumed(Path("theirs.json"))
    assert Path("own").read_text() == content


def test_a_pipe_in_place_of_a_journal_is_refused():
    os.mkfifo(journal_path(Path("theirs.json")))
    with pytest.raises(UnusableError):
        resumed(Path("theirs.json"))


def test_a_linked_file_that_is_not_a_result_is_not_overwritten_on_resume():
    path = left_interrupted()
    Path("own").write_text("mine")
    path.symlink_to("own")
    with pytest.raises(UnusableError):
        resumed(path)
    assert Path("own").read_text() == "mine"
    assert read_result(Path("result.json"))
