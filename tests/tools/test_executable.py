"""The executable: it needs nothing of the machine but a Linux kernel, and answers as the bot of the clone does."""

import random
import re
import shutil
import subprocess
import sys

import pytest

from nonobot.bot.kernels.machine_code import parts_of
from nonobot.bot.kernels.shipped import LEVELS, processor_level, sealed
from nonobot.protocol import Puzzle
from tests.helpers.boards import random_grid
from tests.helpers.places import PUZZLES
from tests.helpers.sandboxes import sandbox_only
from tests.helpers.talking import COMMAND, GOOD, NONE, batch, counted
from tests.helpers.terminals import Terminal
from tools.release import executable, level_kernels

KERNELS = executable.ROOT / level_kernels.FOLDER

RNG = random.Random(7)
BATCH = batch(*(Puzzle.from_grid(random_grid(RNG, 25, 25, 0.45)) for _ in range(12)))
LARGE = batch(*(Puzzle.from_grid(random_grid(RNG, side, side, 0.8)) for side in (70, 130, 260, 520)))

MDWE = """
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
os.execv(sys.argv[1], sys.argv[1:])
"""


def _why_not() -> str:
    try:
        executable.installed_packages()
    except executable.MissingError as error:
        return str(error)
    return "python -m tools.release.level_kernels has not been run" if level_kernels.stale(KERNELS) else ""


pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def _possible():
    if why_not := _why_not():
        pytest.skip(why_not)


@pytest.fixture(name="file", scope="module")
def _file(tmp_path_factory, compiled):
    path = tmp_path_factory.mktemp("built") / "nonobot"
    executable.build(path)
    return path


def alone(file, *shown):
    """Return the command of the file in a root that contains nothing else but what is shown."""
    command = ["bwrap", "--ro-bind", str(file), "/bot", *shown, "--remount-ro", "/", "--unshare-all", "--clearenv"]
    return [*command, "/bot"]


def ran(command, *options, text=b"", folder=None):
    done = subprocess.run([*command, *options], input=text, capture_output=True, cwd=folder)
    return done.stdout, done.stderr.decode(), done.returncode


@sandbox_only
@pytest.mark.parametrize(
    "line",
    [
        "", "--jobs 2", "--strategy papers --puzzle-limit 20 --line-limit 3000", "--solutions 2", "--seed 3",
        "--line-limit 50 --on-unsolved word", "--size auto", "--version", "--strategy best",
    ],
)  # fmt: skip
def test_the_executable_answers_like_nonobot_in_an_empty_file_system(file, line):
    options = line.split()
    assert ran(alone(file), *options, text=BATCH) == ran(COMMAND, *options, text=BATCH)


@sandbox_only
def test_the_executable_solves_boards_of_all_sizes(file):
    options = ("--size", "auto")
    stdout, stderr, status = ran(alone(file), *options, text=LARGE)
    assert (stdout, status) == ran(COMMAND, *options, text=LARGE)[::2]
    assert not stderr


@sandbox_only
@pytest.mark.parametrize("path", sorted(PUZZLES.iterdir()), ids=lambda path: path.name)
def test_the_executable_reads_files_of_all_formats(file, path):
    shown = ("--ro-bind", str(PUZZLES), "/puzzles", "--chdir", "/puzzles")
    assert ran(alone(file, *shown), path.name) == ran(COMMAND, path.name, folder=PUZZLES)


@sandbox_only
def test_the_executable_writes_the_same_log_and_stats_as_nonobot(file, tmp_path):
    shown = ("--bind", str(tmp_path), "/records")
    records = ("--log", "/records/log", "--stats", "/records/stats")
    text = batch(GOOD, NONE)
    size = ("--size", "2x2")
    assert ran(alone(file, *shown), *size, *records, text=text)[2] == 1
    assert ran(COMMAND, *size, "--stats", str(tmp_path / "own"), text=text)[2] == 1
    assert counted(tmp_path / "stats") == counted(tmp_path / "own")
    assert [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()] == ["#1", "#2", "total"]


@sandbox_only
def test_the_executable_exits_quietly_with_closed_streams_and_no_null_device(file):
    closed = subprocess.run(["sh", "-c", 'exec "$@" <&- >&-', "sh", *alone(file)], capture_output=True)
    assert (closed.returncode, closed.stderr) == (2, b"")


def test_the_executable_runs_where_writable_memory_cannot_be_executed(file):
    command = [sys.executable, "-c", MDWE, str(file)]
    assert ran(command, text=BATCH) == ran(COMMAND, text=BATCH)


@pytest.mark.parametrize("level", LEVELS)
def test_all_kernel_levels_of_this_processor_give_the_same_answers(file, level, monkeypatch, tmp_path):
    if LEVELS.index(level) > LEVELS.index(processor_level()):
        pytest.skip("this processor does not have it")
    for name in (level, ""):
        monkeypatch.setenv("NONOBOT_KERNELS", name)
        assert ran([str(file)], "--stats", str(tmp_path / f"of-{name}"), text=BATCH)[2] == 0
    assert counted(tmp_path / f"of-{level}") == counted(tmp_path / "of-")


def test_the_help_of_the_executable_lists_only_available_options(file):
    text = ran([str(file)], "--help")[0].decode()
    options = set(re.findall(r"(?<!\S)--[a-z-]+", ran(COMMAND, "--help")[0].decode()))
    absent = {"--completion", "--native", "--speed", "--warm-up", "--watch"}
    assert {option for option in options if option not in text} == absent
    assert "nonobot --licences" in text


def test_an_option_missing_in_the_executable_is_a_one_line_error(file):
    for options, message in {
        "--native": "this executable compiles no kernels; remove --native and NONOBOT_KERNELS=native",
        "--completion bash": "--completion needs shtab, which this executable does not contain",
    }.items():
        assert ran([str(file)], *options.split(), text=BATCH) == (b"", f"nonobot: {message}\n", 2)


def test_on_a_terminal_the_executable_shows_pictures_and_refuses_watch(file):
    path = str(PUZZLES / "p.non")
    with Terminal([str(file), path]) as terminal:
        terminal.wait_for("█")
    with Terminal([str(file), "--watch", path], errors_too=True) as terminal:
        terminal.wait_for(
            "nonobot: this needs termios, which this executable does not contain; pip install nonobot"
        )


def test_the_executable_is_static_with_licences_and_without_paths_of_the_clone(file):
    content = file.read_bytes()
    assert len(content) <= 20_000_000
    assert b"/lib64/ld-linux" not in content
    assert str(executable.ROOT).encode() not in content
    printed, stderr, status = ran([str(file)], "--licences")
    assert (printed, stderr, status) == (file.with_name("nonobot.licences.txt").read_bytes(), "", 0)
    licences = ("MIT License", "PYTHON SOFTWARE FOUNDATION LICENSE", "GNU LESSER GENERAL PUBLIC", "Expat", "zlib")
    assert [licence for licence in licences if licence.encode() not in printed] == []


@pytest.mark.parametrize("whole", [0, 1])
def test_a_damaged_kernel_is_reported_and_not_run(file, tmp_path, whole):
    content = bytearray(file.read_bytes())
    for level in LEVELS[whole:]:
        kernel = (KERNELS / level / "search-Champion64.code").read_bytes()
        _, within, outside, code = parts_of(kernel[len(sealed(b"\0")) :])
        first = min([*within, *outside])
        content[content.index(code[:first]) + first // 2] ^= 1
    path = tmp_path / "nonobot"
    path.write_bytes(content)
    path.chmod(0o755)
    message = "nonobot: the kernel search-Champion64 of this executable is damaged; copy it again\n"
    answers, _, status = ran([str(file)], text=BATCH)
    if not whole:
        assert ran([str(path)], text=BATCH) == (b"", message, 2)
    elif processor_level() != LEVELS[0]:
        assert ran([str(path)], text=BATCH) == (answers, message, status)


def test_building_the_executable_is_reproducible(file, tmp_path):
    executable.build(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_a_missing_or_unexpected_build_package_is_reported(monkeypatch, capsys, tmp_path):
    for name, version, message in (
        ("libpython3.11-none", "3", "the package libpython3.11-none is not installed; sudo apt-get install gcc"),
        ("libc6-dev", "2.1-", "libc6-dev 2.36"),
    ):
        monkeypatch.setattr(executable, "PACKAGES", {name: version})
        for option in ([], ["--check"]):
            assert executable.main(["-o", str(tmp_path / "bot"), *option]) == 2
        assert capsys.readouterr().err.startswith(f"tools.release.executable: {message}")
    assert not list(tmp_path.iterdir())


@sandbox_only
def test_the_judge_sandboxes_the_executable_and_shows_it_no_other_file(file, tmp_path):
    bot = shutil.copy(file, tmp_path / "nonobot")
    judge = [sys.executable, "-m", "nonobot.harness", "check", "--contain", "yes", "--json", "--", str(bot)]
    printed, stderr, status = ran(judge, folder=tmp_path)
    assert status == 0, printed + stderr.encode()
