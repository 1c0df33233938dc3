"""The command line of the judge: its output, files and exit statuses; golden/messages.txt has its errors."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from nonobot import __version__
from nonobot.harness import cli
from nonobot.harness.__main__ import main
from nonobot.harness.play.match import WarmUpError, warmed_up
from nonobot.harness.process.bot_command import name_of
from nonobot.harness.process.bot_process import BEGINNING_BYTES, END_BYTES
from nonobot.harness.process.cgroup import with_memory_limit
from nonobot.harness.process.machine import tournament_core
from nonobot.harness.process.revisions import revision_of
from nonobot.harness.profiling.profile_data import to_json
from nonobot.harness.results.conditions import Configuration, Contain, Feed
from nonobot.harness.results.result_files import read_result
from nonobot.protocol import format_puzzle
from nonobot.system import usable_cores
from nonobot.tournament_data import Recipe, write_set
from tests.helpers.judged import RECIPE, command
from tests.helpers.places import GOLDEN
from tests.helpers.profiled import profile, puzzle
from tests.helpers.sandboxes import sandbox_only
from tests.helpers.talking import interrupted

JUDGE = [sys.executable, "-m", "nonobot.harness"]

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")


def run_of(behaviour, folder, *options):
    return cli.run(["run", "--set", str(RECIPE), *options, "--", *command(behaviour, folder)])


def test_a_run_prints_its_summary_and_writes_its_result(tmp_path, output_of):
    out, err = output_of(run_of, "perfect", tmp_path, "--quiet", "--result", "deep/down/result.json")
    assert out.startswith("5 of 5 right\n")
    for word in ("wall ", "CPU ", "peak memory ", "slowest: $", "result: deep/down/result.json"):
        assert word in out
    assert err == ""
    result = json.loads((tmp_path / "deep/down/result.json").read_text())
    assert (result["kind"], result["schema_version"]) == ("run", 3)
    assert os.listdir(tmp_path / "deep/down") == ["result.json"]  # noqa: PTH208
    assert result.get("revision") == revision_of(command("perfect", tmp_path))
    numbers = {**result["configuration"], **result["attempts"][0]["usage"], **result["score"]["puzzles"][0]}
    assert all(name.endswith("_seconds") for name, value in numbers.items() if isinstance(value, float))


def test_a_run_that_is_not_all_right_ends_with_1(tmp_path, output_of):
    out = output_of(run_of, "wrong_at_2", tmp_path, status=1).out
    assert "4 of 5 right; 1 wrong" in out
    assert "$2 wrong: row 1: expected" in out
    assert len(list((tmp_path / "results").glob("run-*.json"))) == 1
    out, err = output_of(run_of, "wrong_at_2", tmp_path, "--json", "--quiet", "--feed", "interactive", status=1)
    assert json.loads(out)["configuration"]["feed"] == "interactive"
    assert err == ""


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        (["./bots/mybot", "--fast"], "mybot"),
        (["python3", "-u", "bots/mine.py", "--size", "5x5"], "mine"),
        (["/usr/bin/python3.12", "-m", "nonobot"], "nonobot"),
        (["python3", "-"], "python3"),
        (["bash", "run.sh"], "run"),
        (["python3", "-u", "-c", "import sys\nprint(1)", "x.py"], "python3 -c bc5ab6"),
        (["nonojudge", "adapt", "--as", "non", "--", "node", "-e", "solve(1)", "{file}"], "node -e 04059b"),
        (["python3", "-u", "run.py", "-c", "x"], "run"),
    ],
)
def test_a_bot_without_a_name_is_called_after_its_program(bot, name):
    assert name_of(bot) == name


@pytest.mark.skipif(len(usable_cores()) < 2, reason="one core")
def test_a_bot_is_given_several_cores(tmp_path):
    assert run_of("perfect", tmp_path, "--cores", "2", "--result", "result.json") == 0
    assert read_result(tmp_path / "result.json").configuration.core == tuple(usable_cores()[-2:])


def test_terms_as_they_are_given(tmp_path):
    limits = ["--cpu-limit", "5", "--puzzle-limit", "4", "--memory-limit", "1G", "--stall-limit", "0"]
    options = ["--name", "A bot", "--core", "any", "--any-order", "--time-limit", "9", "--warm-up", "true"]
    assert run_of("backwards", tmp_path, *limits, *options, "--result", "result.json") == 0
    result = read_result(tmp_path / "result.json")
    assert result.configuration == Configuration(
        Feed.BATCH, 9.0, 5.0, 4.0, 1 << 30, None, None, True, Contain.AUTO, 512
    )
    assert result.bot == "A bot"
    assert result.warm_up_seconds > 0
    assert run_of("backwards", tmp_path, "--result", "result.json", "--force") == 1
    result = read_result(tmp_path / "result.json")
    default = Configuration(
        stall_limit_seconds=60.0, core=tournament_core(), contain=Contain.AUTO, process_limit=512
    )
    assert result.configuration == with_memory_limit(default)
    assert 0 < result.configuration.memory_limit_bytes < result.machine.memory_bytes
    assert (result.bot, result.warm_up_seconds) == ("scripted_bot", None)


@pytest.mark.parametrize(
    ("code", "mistake"),
    [
        (
            "while True: pass",
            " of computing; look for a loop without end, and check that the bot expects boards of 5x5",
        ),
        ("print(*'0101', sep='\\t')", "does not belong to an answer; begin an answer with '$' and its number"),
    ],
)
def test_a_bot_without_answers_is_told_why(code, mistake, tmp_path, output_of):
    arguments = [
        "run",
        "--quiet",
        "--time-limit",
        "0.4",
        "--set",
        str(RECIPE),
        "--",
        sys.executable,
        "-S",
        "-c",
        code,
    ]
    assert f"{mistake}\n" in output_of(cli.run, arguments, status=1).out


@pytest.mark.parametrize(
    ("behaviour", "last"),
    [
        ("crash_at_3", "RuntimeError: cannot go on"),
        ("ends_with_2_in_colours", "cannot go on: " + 86 * "x" + "…" + 99 * "x"),
        ("expires_at_3", "licence expired"),
        ("hang_at_3", None),
    ],
)
def test_the_last_line_on_stderr_of_a_bot_that_failed_stands_in_the_summary(tmp_path, behaviour, last, capsys):
    limit = ["--puzzle-limit", "0.2"] if behaviour == "hang_at_3" else []
    run_of(behaviour, tmp_path, "--quiet", *limit)
    out = capsys.readouterr().out
    said = [line.partition(": ")[2] for line in out.splitlines() if line.startswith("its last line on stderr")]
    assert said == ([last] if last else [])
    assert out.replace("\n", "").isprintable()


def test_the_file_of_an_adapted_program_needs_the_adapter(capsys):
    run = ["run", "--quiet", "--set", str(RECIPE), "--"]
    said = "nonojudge: {file} goes to the bot as it is; write `nonojudge adapt --as FORMAT --`"
    for adapter, count in ([], 1), (["adapt"], 0):
        cli.run([*run, "true", *adapter, "{file}"])
        assert capsys.readouterr().err.count(said) == count


@pytest.mark.parametrize("absent", ["msgspec", "msgspec rich psutil"])
def test_a_required_library_that_is_missing_is_a_line_with_the_command_that_installs_it(absent):
    program = "import sys; sys.modules |= dict.fromkeys(sys.argv.pop().split()); import nonobot.harness.__main__"
    judge = [sys.executable, "-c", f"{program}; sys.exit(nonobot.harness.__main__.main())", "run", absent]
    done = subprocess.run(judge, capture_output=True, text=True)
    assert done.returncode == 2
    names = sorted(absent.split())
    assert done.stderr.startswith(f"nonojudge: run needs {' and '.join(names)}, not installed; install with: ")
    assert done.stderr.endswith(f" pip install {' '.join(names)}\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("moved", "why"),
    [
        (
            "import msgspec; del msgspec.Struct",
            "msgspec does not fit nonobot {}: cannot import name 'Struct' from ",
        ),
        (
            "import sys; sys.modules['rich.text'] = None",
            "rich does not fit nonobot {}: import of rich.text halted; ",
        ),
    ],
)
def test_a_library_that_lacks_what_a_command_imports_is_named_in_a_line(moved, why):
    program = f"{moved}; import sys, nonobot.harness.__main__; sys.exit(nonobot.harness.__main__.main())"
    judge = [sys.executable, "-c", program, "table", str(GOLDEN / "results" / "run.json")]
    done = subprocess.run(judge, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"nonojudge: {why.format(__version__)}")
    assert re.search(r"; install another version of \w+$", done.stderr)


@sandbox_only
@pytest.mark.parametrize("code", ["open('/nowhere/puzzles.db')", "open('log.txt', 'w')"])
def test_a_bot_whose_files_the_sandbox_hides_is_told_what_it_shows(code, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(code)
    bot = ["--", sys.executable, "bot.py"]
    for judge in (["run", "--quiet", "--set", str(RECIPE)], ["check", "--size", "5x5", "--only", "1"]):
        for contain, hints in (("yes", 1), ("no", 0)):
            assert cli.run([*judge, "--contain", contain, *bot]) == 1
            assert capsys.readouterr().out.count("in the sandbox the bot sees only its own folder") == hints


def test_results_with_other_endings_have_files_of_their_own_for_stderr(tmp_path):
    run_of("crash_at_3", tmp_path, "--quiet", "--result", "k.json")
    before = Path(read_result(tmp_path / "k.json").stderr_file)
    run_of("hang_at_3", tmp_path, "--quiet", "--puzzle-limit", "0.2", "--result", "k.txt")
    assert "cannot go on" in before.read_text()
    assert Path(read_result(tmp_path / "k.txt").stderr_file).read_text() == "hanging\n"


def test_a_result_that_is_there_is_overwritten_only_with_force(tmp_path, capsys):
    result, stderr = tmp_path / "result.json", tmp_path / "result.stderr.txt"
    assert run_of("crash_at_3", tmp_path, "--quiet", "--result", "result.json") == 1
    before = result.read_bytes(), stderr.read_bytes()
    capsys.readouterr()
    again = ["--result", "result.json", "--set", "nowhere.txt", "--warm-up", "touch marker"]
    assert run_of("perfect", tmp_path, *again) == 2
    assert "result.json exists; add --force to overwrite it" in capsys.readouterr().err
    assert (result.read_bytes(), stderr.read_bytes()) == before
    assert not (tmp_path / "marker").exists()
    assert run_of("perfect", tmp_path, "--quiet", "--result", "result.json", "--force") == 0
    assert read_result(result).score.all_right
    assert not stderr.exists()


def test_names_that_are_no_text_are_escaped_where_they_are_printed_and_stored(tmp_path, capsys):
    odd = os.fsdecode(b"\xff\x1b[2J\n")
    bot = command("perfect", tmp_path)
    Path("questions.txt").rename(f"{odd}.txt")
    Path(bot[-1]).rename(f"{bot[-1]}{odd}")
    bot[-1] += odd
    run = ["run", "--set", f"{odd}.txt", "--size", "5x5", "--name", odd, "--quiet", "--result", f"{odd}.json"]
    assert cli.run([*run, "--", *bot]) == 0
    result = read_result(Path(f"{odd}.json"))
    assert (result.bot, result.set.name) == (r"\xff" + odd[1:], r"\xff" + odd[1:] + ".txt")
    assert cli.run(["verify", f"{odd}.txt", f"{odd}none", "--size", "5x5"]) == 2
    assert cli.run(["table", f"{odd}.json", f"{odd}none", "-o", f"{odd}.csv"]) == 1
    assert cli.run(["compare", f"{odd}.json", f"{odd}.json", "--json"]) == 3
    assert cli.run(["render", f"{odd}.txt", "--size", "5x5", "-o", f"{odd}.svg"]) == 0
    for printed in capsys.readouterr():
        assert printed.replace("\n", "").isprintable()
    verifying = ["verify", f"{odd}.txt", bot[-1], "--size", "5x5", "--json"]
    done = subprocess.run([*JUDGE, *verifying], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["answers_file"].endswith(r"\xff" + odd[1:])


@pytest.mark.parametrize(
    "line",
    [
        "table result.json -o link.json",
        "report result.json -o link.html",
        "run --set questions.txt --result set.json --force",
        "verify questions.txt solutions.txt -o hard.json",
        "verify questions.txt - -o hard.json",
        "render questions.txt -o set.png",
        "profile questions.txt -o set.svg -- ./bot",
        "profile --before profile.json -o profile.json questions.txt -- ./bot",
        "profile profile.json -o link.svg",
    ],
)
def test_a_file_that_is_read_is_not_replaced_under_any_name(line, tmp_path, capsys, monkeypatch):
    assert run_of("perfect", tmp_path, "--quiet", "--result", "result.json") == 0
    Path("profile.json").write_text(to_json(profile(puzzle(1, 0.1))))
    Path("hard.json").hardlink_to("solutions.txt")
    for name, target in [("link.json", "result.json"), ("link.html", "result.json"), ("link.svg", "profile.json")]:
        Path(name).symlink_to(target)
    for ending in ("json", "png", "svg"):
        Path(f"set.{ending}").symlink_to("questions.txt")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    capsys.readouterr()
    with Path("solutions.txt").open() as answers:
        monkeypatch.setattr("sys.stdin", answers)
        assert cli.run(line.split()) == 2
    assert capsys.readouterr().err.endswith(": this file is read; name another one to write to\n")
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("word", "named"), [("-w{width}", True), ("${width}", False), ("{print}", False)])
def test_a_placeholder_that_only_a_tournament_fills_in_is_named(word, named, capsys):
    assert cli.run(["check", "--list", "--", "./bot", word]) == 0
    said = "nonojudge: {width} goes to the bot as it is: only a tournament's file has placeholders\n"
    assert capsys.readouterr().err == said * named


def test_verify_a_file_and_stdin(tmp_path, capsys, output_of, monkeypatch):
    command("perfect", tmp_path)
    assert cli.run(["verify", "questions.txt", "solutions.txt", "--size", "5x5"]) == 0
    assert capsys.readouterr().out.startswith("5 of 5 right")
    answers = (tmp_path / "solutions.txt").read_bytes().replace(b"$2\n", b"$2\n\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(answers)))
    result = json.loads(output_of(cli.run, ["verify", str(RECIPE), "-", "--json"], status=1).out)
    assert result["kind"] == "verify"
    assert (result["score"]["verdicts"]["right"], result["score"]["verdicts"]["malformed"]) == (4, 1)
    Path("others.txt").write_bytes(answers.replace(b"$", b"$9"))
    assert cli.run(["verify", "questions.txt", "others.txt", "--size", "5x5"]) == 1
    said = "5 missing\n  no puzzle was answered; check that they are answers to this set, of 5x5\n  line 1: $9"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_judge_that_is_stopped_stops_the_bot_and_writes_what_is_there(tmp_path, number):
    bot = command("hang_once_at_3", tmp_path)
    options = ["--set", str(RECIPE), "--result", "a result.json", "--contain", "no"]
    hangs = (tmp_path / "solutions.txt.marker").exists
    out, _ = interrupted("run", *options, "--", *bot, when=hangs, number=number)
    assert "2 of 5 right" in out
    assert "interrupted" in out
    result = json.loads((tmp_path / "a result.json").read_text())
    assert result["attempts"][-1]["end"]["reason"] == "interrupted"
    assert "\nto resume, add to the same command: --resume 'a result.json'\n" in out
    assert cli.run(["run", "--quiet", *options, "--resume", "a result.json", "--", *bot]) == 0


def test_every_command_explains_itself(output_of):
    summary = output_of(cli.run, ["--help"]).out
    assert "Exit status: 0" in summary
    for name in cli.COMMANDS:
        assert f"\n    {name}" in summary
        out = output_of(cli.run, [name, "--help"]).out
        assert f" nonojudge {name} " in out.splitlines()[0]
        assert "example" in out
        assert "xit status" in out


def test_a_narrow_terminal_breaks_no_word_of_the_help(monkeypatch, output_of):
    for name in ([], *([name] for name in cli.COMMANDS)):
        texts = []
        for columns in ("20", "500"):
            monkeypatch.setenv("COLUMNS", columns)
            texts.append(output_of(cli.run, [*name, "--help"]).out)
        assert re.sub(r"(?<=\w)-\n +", "-", texts[0]).split() == texts[1].split()


def test_a_command_that_cannot_be_loaded_breaks_no_other(monkeypatch, output_of):
    monkeypatch.setitem(sys.modules, "nonobot.harness.commands.render", None)
    assert cli.run(["--help"]) == 0
    assert output_of(cli.run, ["verify", "--help"]).err == ""
    with pytest.raises(ImportError):
        cli.run(["render", "--help"])


def test_a_ctrl_c_while_the_judge_is_loaded_ends_it_quietly(monkeypatch):
    class PressesCtrlC:
        def find_spec(self, name, path=None, target=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "meta_path", [PressesCtrlC()])
    monkeypatch.delitem(sys.modules, "nonobot.harness.cli")
    assert main() == 130


def test_what_came_of_a_run_is_shown_even_if_no_file_can_be_written(tmp_path):
    """A limit of 0 bytes for files stands for a full disk."""
    run = [*JUDGE, "run", "--quiet", "--set", str(RECIPE), "--result", "result.json", "--"]
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *run, *command("perfect", tmp_path)]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("5 of 5 right\n")
    assert done.stderr == "nonojudge: cannot write result.json: File too large; nothing of it is on disk\n"
    assert not list(tmp_path.glob("*.json*"))


WARMS_UP_FOR_EVER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pid = os.fork()
if pid:
    print(pid, os.getpid(), file=open("pids", "w"))
    os.rename("pids", "marker")
time.sleep(1000)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_judge_that_is_stopped_in_a_warm_up_leaves_nothing_of_it(tmp_path, number):
    warm_up = shlex.join([sys.executable, "-S", "-c", WARMS_UP_FOR_EVER])
    options = ["--set", str(RECIPE), "--contain", "no", "--warm-up", warm_up]
    marker = tmp_path / "marker"
    interrupted("run", *options, "--", "true", when=marker.exists, number=number)
    assert not any(psutil.pid_exists(int(pid)) for pid in marker.read_text().split())


def test_what_a_warm_up_leaves_running_is_ended(tmp_path):
    warm_up = "sh -c 'sleep 1000 & echo $! > helper'"
    assert run_of("perfect", tmp_path, "--quiet", "--contain", "no", "--warm-up", warm_up) == 0
    assert not psutil.pid_exists(int((tmp_path / "helper").read_text()))


def grown(size):
    return [sys.executable, "-S", "-c", f"x = b'x' * {size}; import time; time.sleep(1000)"]


@pytest.mark.parametrize(
    ("warm_up", "limit"),
    [
        (["sleep", "1000"], "its limit of 0.3 s"),
        (
            ["sh", "-c", "for i in 1 2 3 4 5 6; do sleep 1000 & done; wait"],
            "the limit on processes and threads (4)",
        ),
        (grown(200 << 20), "the limit on memory (100 MiB)"),
    ],
)
def test_a_warm_up_has_the_limits_of_the_run_and_one_of_its_own(warm_up, limit, contain):
    configuration = Configuration(process_limit=4, memory_limit_bytes=100 << 20, contain=contain)
    before = psutil.Process().children()
    with pytest.raises(WarmUpError) as error:
        warmed_up(warm_up, configuration, limit_seconds=0.3 if warm_up[0] == "sleep" else 100)
    assert str(error.value) == f"warm-up failed: {shlex.join(warm_up)}: stopped at {limit}"
    assert psutil.Process().children() == before


def test_what_a_warm_up_says_is_passed_on_up_to_a_megabyte_and_the_end(capfd):
    says = "yes $(printf %01000d 0) | head -c 9000000 >&2; echo end >&2"
    assert warmed_up(["sh", "-c", says], Configuration()) > 0
    err = capfd.readouterr().err
    assert BEGINNING_BYTES < len(err) < BEGINNING_BYTES + END_BYTES + 100
    assert re.search(r"\n\[7\d{6} bytes left out here\]\n0*\n", err)
    assert err.endswith("0end\n")


def test_what_makes_a_run_impossible_is_said_before_the_warm_up(tmp_path, capsys):
    for options in (["--result", "result.json"], []):  # which is a file in the folder `results`
        assert cli.run(["run", *options, "--", "no-such-program"]) == 2
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for impossible in (["--core", "9999"], ["--cores", "9999"], ["--result", "file/result.json"]):
        assert run_of("perfect", tmp_path, *impossible, "--warm-up", "touch marker") == 2
    assert not (tmp_path / "marker").exists()
    err = capsys.readouterr().err
    assert "core 9999 cannot be used" in err
    assert "--cores 9999: only" in err


# Files that the user names: all commands that read puzzles tell the sizes of their boards alike

READERS = {
    "render": ["render", "questions.txt", "--number", "all"],
    "convert": ["convert", "questions.txt", "-", "--to", "oneline"],
    "run": ["run", "--set", "questions.txt", "--quiet"],
    "verify": ["verify", "questions.txt", "answers.txt"],
}
SETS = ["run", "verify"]
"""Commands for which all boards of a file have one size."""

INFERRED = "questions.txt: warning: $1: line 1: the file states no size; assuming "


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("sides", "size", "refused_by", "said"),
    [
        ([(1, 1), (1, 1)], None, (), f"{INFERRED}1x1"),
        ([(30, 30), (30, 30)], None, (), f"{INFERRED}30x30"),
        ([(25, 25), (25, 25)], None, (), None),
        ([(10, 10), (10, 10)], "auto", (), None),
        ([(10, 10), (10, 10)], "10x10", (), None),
        ([(8, 11), (8, 11)], None, READERS, "$1: line 1: 19 clue lines cannot make a square board"),
        ([(8, 11), (8, 11)], "10x10", READERS, "line 21: expected 20 clue lines for a 10x10 board, found 19"),
        ([(8, 11), (8, 11)], "8x11", (), None),
        ([(10, 10), (5, 5)], "auto", SETS, None),
        ([(10, 10), (5, 5)], None, SETS, INFERRED),
        ([(25, 25), (5, 5)], None, ("render", "convert"), "for a 25x25 board, found 10; perhaps --size 5x5"),
    ],
)
def test_boards_are_square_of_25x25_or_need_their_size(name, sides, size, refused_by, said, capsys):
    boards = [next(Recipe(*side, 1, seed=number).boards()) for number, side in enumerate(sides, 1)]
    with Path("questions.txt").open("wb") as questions, Path("answers.txt").open("wb") as answers:
        write_set(boards, questions, answers)
    bot = ["--contain", "no", "--", "sh", "-c", "cat answers.txt; cat > input.txt"] if name == "run" else []
    status = cli.run([*READERS[name], *(["--size", size] if size else []), *bot])
    err = capsys.readouterr().err
    assert bool(status) is (name in refused_by)
    if sides == [(10, 10), (5, 5)] and name in SETS:
        said = "line 22: puzzle 2 has 5x5 cells, not 10x10; the boards of a set have one size"
    assert said in err if said else "warning" not in err
    if name == "run" and not status:
        is_broken = sides == [(25, 25), (5, 5)]  # the second puzzle, which the bot does not get
        sent = format_puzzle(1, boards[0][0]) if is_broken else Path("questions.txt").read_bytes()
        assert Path("input.txt").read_bytes() == sent
