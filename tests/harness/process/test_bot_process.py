"""A bot's process and its pipes, what is kept of its stderr, and facts of the machine that it runs on."""

import codecs
import errno
import json
import os
import platform
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import msgspec
import psutil
import pytest

from nonobot.harness import StartError, cli
from nonobot.harness.process import bot_process, machine
from nonobot.harness.process.bot_command import everything_named, start_fault
from nonobot.harness.process.bot_process import BotProcess, LastWords, StderrLog
from nonobot.harness.process.machine import machine_facts
from nonobot.harness.process.sandbox import built_sandbox
from nonobot.harness.results.conditions import BUSY_SHARE, busy_warning
from nonobot.harness.results.result_files import read_result
from nonobot.system import usable_cores
from tests.helpers.judged import program
from tests.helpers.places import DOUBLES
from tests.helpers.waiting import next_line, running


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


@pytest.mark.parametrize("room", [0, 10, 8192])
def test_on_a_full_disk_the_file_still_ends_with_the_last_line(tmp_path, room):
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


def test_of_a_stderr_that_is_not_kept_in_a_file_the_end_is_known(tmp_path, monkeypatch):
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


NO_LINE = "it has no #! line: begin it with one, such as "
NOT_FIRST = "its #! line is not at the start: #! must be the first two bytes of the file"
CRLF = r"its #! line has a Windows line ending: sed -i 's/\r$//' ./bot"
UTF16 = "it is UTF-16 text: save it as UTF-8 without a byte order mark (BOM)"
BOM = r"a byte order mark (BOM) is before its #!: sed -i '1s/^\xEF\xBB\xBF//' ./bot"


@pytest.mark.parametrize(
    ("program", "content", "said"),
    [
        ("./my bot", b"#!/bin/sh\n", "no execute permission; run `chmod +x './my bot'`"),
        ("./b.py", b"import sys\n", f"{NO_LINE}#!/usr/bin/env python3, or write: -- python3 b.py"),
        ("./b.sh", b"exit\n", f"{NO_LINE}#!/bin/sh, or write: -- sh b.sh"),
        ("./b.c", b"main() {}\n", "it is source text; compile it first: gcc -O2 -o b b.c; then the bot is ./b"),
        ("./b", b"#\n", f"{NO_LINE}#!/usr/bin/env python3 or #!/bin/sh"),
        ("./bot", b"\xef\xbb\xbf#!/bin/sh\n", BOM),
        ("./bot", b"\n#!/bin/sh\n", NOT_FIRST),
        ("./bot", b"# a bot\n#!/bin/sh\n", NOT_FIRST),
        ("./bot", b"# !/bin/sh\n", NOT_FIRST),
        ("./bot", codecs.BOM_UTF16_LE + b"#\0", UTF16),
        ("./bot", b"#!sh\n", "its #! line names sh, which is not there: write #!/usr/bin/env sh"),
        ("./bot", b"#!bin/sh\n", "its #! line names bin/sh, which is not there"),
        ("./bot", b"#!/usr/bin/env python3\r\n", CRLF),
        ("./bot", b"#!/bin/sh\r\n", CRLF),
        ("./bot", b"#!/no/such\0/python\n", "its #! line names /no/such, which is not there"),
        ("./bot", b"#!/no/such/python\n", "its #! line names /no/such/python, which is not there"),
        ("a bot", b"#!/bin/sh\n", "it is not in PATH; for the file in this folder write './a bot'"),
    ],
)
@pytest.mark.usefixtures("own_folder")
def test_what_keeps_a_file_from_being_started_is_named_with_its_remedy(program, content, said, contain):
    Path(program).write_bytes(content)
    Path(program).chmod(0o600 if program == "./my bot" else 0o700)
    with pytest.raises(StartError) as caught, BotProcess([program], LastWords(), built_sandbox(contain)):
        pass
    assert str(caught.value) == f"cannot start {program!r}: {said}"


def test_a_folder_and_a_quoted_command_are_named(tmp_path, own_folder):
    assert start_fault(str(tmp_path)) == "it is a folder: name the program in it"
    program(tmp_path / "bot")
    assert start_fault("./bot 8") == "no such file; without quotes around the words the program is ./bot"
    assert start_fault("./bat 8") is None
    program(tmp_path / "my bot.py")
    said = "no such file; quote a name with spaces, also within a quoted command: './my bot.py'"
    assert start_fault("./my", "bot.py", "10") == said
    assert start_fault("./my", "bat.py", "10") is None
    tracemalloc.start()  # a bot may have thousands of arguments
    assert start_fault(sys.executable, *["argument"] * 2000) is None
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    assert start_fault("./" + "x" * 300).endswith(": File name too long")


@pytest.mark.parametrize("program", ["./my bot", "my bot"])
def test_a_program_whose_source_is_beside_it_has_a_remedy(program, own_folder):
    Path("my bot.py").touch()
    assert start_fault(program) == "no such file; write: -- python3 'my bot.py'"
    assert (
        start_fault("./my bot.py")
        == "no execute permission; run `chmod +x './my bot.py'`, or write: -- python3 'my bot.py'"
    )
    Path("my bot.cpp").touch()
    compiled = "compile it first: g++ -O2 -o 'my bot' 'my bot.cpp'"
    then = "; then the bot is './my bot'"
    assert start_fault(program) == f"no such file; {compiled}{then if program == 'my bot' else ''}"
    assert start_fault("my bot.cpp") == f"it is source text; {compiled}{then}"


@pytest.mark.parametrize("content", [b"#!/bin/sh -e\nexit 0\r\n", Path("/bin/true").read_bytes()])
def test_a_program_that_can_be_started_is(content, tmp_path):
    (tmp_path / "bot").write_bytes(content)
    (tmp_path / "bot").chmod(0o700)
    assert start_fault(str(tmp_path / "bot")) is None


@pytest.mark.parametrize(
    "content", ["#!/bin/sh\0x\n", "#!/usr/bin/env sh\0x\n", "#!/bin/sh\n'''exec' /bin/sh\0x\n"]
)
def test_a_first_line_ends_at_a_nul_as_for_the_kernel(content, tmp_path):
    bot = str(program(tmp_path / "bot", content))
    assert start_fault(bot) is None
    named = [str(path) for path in everything_named([bot])]
    assert "\0" not in "".join(named)
    assert any(path.endswith("sh") for path in named)


def test_a_bot_that_cannot_be_served_is_gone(monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, "Too many open files")

    before = psutil.Process().children()  # of multiprocessing, which another test of this process used
    monkeypatch.setattr(bot_process.selectors, "PollSelector", refuse)
    with pytest.raises(StartError, match="cannot start 'sleep': Too many open files"):
        BotProcess(["sleep", "900"], LastWords())
    assert psutil.Process().children() == before


def test_a_stderr_that_is_never_empty_holds_no_reader_beyond_its_time(tmp_path, monkeypatch):
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


def test_the_facts_are_those_of_this_machine():
    facts = machine_facts(())
    assert facts.python == platform.python_version()
    assert facts.memory_bytes == psutil.virtual_memory().total
    assert facts.usable_cores == len(usable_cores()) <= facts.logical_cores
    assert facts.cpu
    assert facts.numpy
    assert 0 <= facts.busy_share <= 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_core_that_computes_is_called_busy():
    core = usable_cores()[-1]
    loop = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    with running([sys.executable, "-S", "-c", loop], stdout=subprocess.PIPE) as busy:
        next_line(busy)
        facts = machine_facts([core])
        busy.kill()
    assert facts.busy_share > BUSY_SHARE
    assert "the machine was busy" in busy_warning(facts)


def test_what_a_system_does_not_report_is_none_and_an_idle_one_no_reason_for_a_warning(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "Path", lambda _: tmp_path / "not there")
    facts = machine_facts(())
    assert facts.governor is None
    assert facts.cpu
    assert busy_warning(msgspec.structs.replace(facts, busy_share=0.01)) is None
    assert busy_warning(msgspec.structs.replace(facts, busy_share=None)) is None
    assert "used 40% of the cores" in busy_warning(msgspec.structs.replace(facts, busy_share=0.4))


SAYS_ALL = "import json, os, sys; print(json.dumps(dict(os.environ)), file=sys.stderr)"


def environment_of(monkeypatch, contain, *options, bot=(sys.executable, "-S", "-c", SAYS_ALL)):
    """Return the environment that a bot finds, in which nothing depends on the judge's shell, and the result."""
    for name in ("PYTHONUNBUFFERED", "LC_ALL", "SECRET_TOKEN", "OMP_NUM_THREADS", "NONOBOT_SETS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("HOME", str(Path.cwd()))
    run = ["run", "--quiet", "--set", "boardgen:5x5x1:seed=3", "--result", "result.json", "--force"]
    cli.run([*run, "--contain", contain, *options, "--", *bot])
    found = json.loads(Path("result.stderr.txt").read_text())
    return {name: value for name, value in found.items() if name != "PWD"}, read_result(Path("result.json"))


@pytest.mark.usefixtures("own_folder")
def test_the_judge_makes_the_environment_and_lists_it(monkeypatch, contain):
    made, result = environment_of(monkeypatch, contain)
    assert len(made.pop("NONOBOT_RUN")) == 32
    assert made == result.environment
    assert sorted(made) == ["HOME", "LANG", "NONOBOT_CACHE_DIR", "PATH", "TMPDIR"]
    assert made["LANG"] == "C.UTF-8"
    assert (made["HOME"] == "/tmp") == (contain == "yes")
    options = ("--env", "A=b=c", "--env", "LANG=C.utf8", "--env", "PATH=/none")
    more, result = environment_of(monkeypatch, contain, *options)
    given = {"A": "b=c", "LANG": "C.utf8", "PATH": "/none"}
    assert more | {"NONOBOT_RUN": ""} == made | given | {"NONOBOT_RUN": ""}
    assert result.environment == {name: value for name, value in made.items() if name not in given}
    assert sorted(result.configuration.environment_digests) == sorted(given)


@pytest.mark.usefixtures("own_folder")
def test_programs_that_a_command_names_are_found_in_the_judges_path_and_no_others(tmp_path, monkeypatch, contain):
    for path, line in (("venv/bin/mypython", 'exec sh "$@"'), ("tools/helper", ""), ("bot", "")):
        says = 'printf \'{"PATH": "%s", "helper": "%s"}\' "$PATH" "$(command -v helper)" >&2'
        first = "#!/usr/bin/env mypython" if path == "bot" else "#!/bin/sh"
        program(tmp_path / path, f"{first}\n{line or says}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{tmp_path}/venv/bin:{os.environ['PATH']}")
    for bot in (["./bot"], ["mypython", "bot"], ["env", "mypython", "bot"], ["sh", "-c", "mypython bot"]):
        made, _ = environment_of(monkeypatch, contain, "--show", "venv", bot=bot)
        assert made["PATH"].split(":")[0] == f"{tmp_path}/venv/bin"
        assert made["helper"] == ""
    made, _ = environment_of(monkeypatch, "no", "--env", f"PATH={os.environ['PATH']}", bot=["./bot"])
    assert made["helper"] == f"{tmp_path}/tools/helper"


@pytest.mark.usefixtures("own_folder")
def test_a_bot_that_never_flushes_scores_nothing_whatever_the_shell_says(monkeypatch, capsys, output_of):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    bot = ["--", sys.executable, "-S", str(DOUBLES / "check_bots.py")]
    bot += ["Buffers", "5", "6"]
    run = ["run", "--set", "boardgen:5x6x5:seed=3", "--feed", "interactive", "--stall-limit", "0.5"]
    assert "0 of 5 right; 5 missing" in output_of(cli.run, [*run, *bot], status=1).out
    assert cli.run(["check", "--size", "5x6", "--only", "6,7", "--timeout", "1", "--json", *bot]) == 1
    steps = {step["number"]: step["verdict"] for step in json.loads(capsys.readouterr().out)["checks"]}
    assert (steps[6], steps[7]) == ("failed", "skipped")  # which needs the other
    unbuffered_bot = ["--env", "PYTHONUNBUFFERED=1", *bot]
    assert cli.run(["check", "--size", "5x6", "--only", "6,7", *unbuffered_bot]) == 0
