"""Why a bot's command cannot be started: the reason and the remedy."""

import codecs
import sys
import tracemalloc
from pathlib import Path

import pytest

from nonobot.harness import StartError
from nonobot.harness.process.bot_command import everything_named
from nonobot.harness.process.bot_process import BotProcess, LastWords
from nonobot.harness.process.start_fault import start_fault
from nonobot.harness.results.conditions import Configuration
from tests.helpers.judged import program

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
def test_each_start_error_names_its_cause_and_remedy(program, content, said, contain):
    Path(program).write_bytes(content)
    Path(program).chmod(0o600 if program == "./my bot" else 0o700)
    with pytest.raises(StartError) as caught, BotProcess([program], LastWords(), Configuration(contain=contain)):
        pass
    assert str(caught.value) == f"cannot start {program!r}: {said}"


def test_a_folder_or_a_quoted_command_as_program_is_reported(tmp_path, own_folder):
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
def test_a_script_without_interpreter_is_reported_with_the_right_command(program, own_folder):
    Path("my bot.py").touch()
    assert start_fault(program) == "no such file; write: -- python3 'my bot.py'"
    said = "no execute permission; run `chmod +x './my bot.py'`, or write: -- python3 'my bot.py'"
    assert start_fault("./my bot.py") == said
    Path("my bot.cpp").touch()
    compiled = "compile it first: g++ -O2 -o 'my bot' 'my bot.cpp'"
    then = "; then the bot is './my bot'"
    assert start_fault(program) == f"no such file; {compiled}{then if program == 'my bot' else ''}"
    assert start_fault("my bot.cpp") == f"it is source text; {compiled}{then}"


@pytest.mark.parametrize("content", [b"#!/bin/sh -e\nexit 0\r\n", Path("/bin/true").read_bytes()])
def test_a_startable_program_has_no_start_error(content, tmp_path):
    (tmp_path / "bot").write_bytes(content)
    (tmp_path / "bot").chmod(0o700)
    assert start_fault(str(tmp_path / "bot")) is None


@pytest.mark.parametrize(
    "content", ["#!/bin/sh\0x\n", "#!/usr/bin/env sh\0x\n", "#!/bin/sh\n'''exec' /bin/sh\0x\n"]
)
def test_a_first_line_ends_at_a_nul_byte_as_in_linux(content, tmp_path):
    bot = str(program(tmp_path / "bot", content))
    assert start_fault(bot) is None
    named = [str(path) for path in everything_named([bot])]
    assert "\0" not in "".join(named)
    assert any(path.endswith("sh") for path in named)
