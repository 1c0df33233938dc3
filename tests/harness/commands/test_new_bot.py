"""`nonojudge new-bot` and `nonojudge rehearse`, with real bots."""

import os
import shutil
import subprocess
import sys

import pytest

from nonobot.harness import cli
from nonobot.harness.text import ranges
from nonobot.tournament_data import Recipe
from tests.helpers.judged import pids_with
from tests.helpers.places import REPOSITORY, quoted
from tests.helpers.talking import CAPTURED, interrupted
from tests.helpers.waiting import wait_until

PAGE = (REPOSITORY / "docs/first-bot.md").read_text(encoding="utf-8")
EASY = "boardgen:8x8x5:seed=1:p2=0.5"


def started(folder, language):
    """Return the command that starts a new bot, compiled if that is needed."""
    assert cli.run(["new-bot", language, str(folder)]) == 0
    if language == "python":
        return [sys.executable, str(folder / "mybot.py")]
    compiler = shutil.which("g++") or pytest.skip("needs g++")
    options = ["-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", str(folder / "mybot")]
    options.append(str(folder / "mybot.cpp"))
    assert subprocess.run([compiler, *options], **CAPTURED).stderr == b""
    return [str(folder / "mybot")]


@pytest.mark.parametrize("language", ["python", pytest.param("c++", marks=pytest.mark.slow)])
def test_a_new_bot_passes_every_check_and_solves_easy_boards(tmp_path, capfd, language):
    bot = started(tmp_path / "bot", language)
    capfd.readouterr()
    assert cli.run(["check", "--size", "8x8", "--", *bot, "8"]) == 0
    out = capfd.readouterr().out
    assert out.endswith("\n31 passed: 15 of 15 musts passed\n"), out
    run = ["run", "--quiet", "--set", EASY, "--result", str(tmp_path / "result.json"), "--", *bot, "8"]
    assert cli.run(run) == 0, capfd.readouterr().out


@pytest.mark.parametrize(
    ("languages", "name"), [("py Python python3", "mybot.py"), ("c C c++ C++ cpp CXX", "mybot.cpp")]
)
def test_a_language_goes_by_several_names(tmp_path, languages, name):
    for language in languages.split():
        assert cli.run(["new-bot", language, str(tmp_path / language)]) == 0
        assert (tmp_path / language / name).exists()


@pytest.mark.parametrize(("language", "name"), [("python", "mybot.py"), ("c++", "mybot.cpp")])
def test_the_documentation_contains_the_templates_and_their_commands(tmp_path, language, name):
    assert cli.run(["new-bot", language, str(tmp_path / "bot")]) == 0
    assert (tmp_path / "bot" / name).read_text(encoding="utf-8") in PAGE
    readme = (tmp_path / "bot" / "README.md").read_text(encoding="utf-8")
    start = {"python": "python3 mybot.py", "c++": "./mybot"}[language]
    commands = [line for line in readme.splitlines() if line.endswith(f"-- {start}")]
    assert commands[-1] == f"nonojudge rehearse -- {start}"


def test_a_full_disk_is_named_and_leaves_no_part_of_a_bot(tmp_path):
    command = [sys.executable, "-m", "nonobot.harness", "new-bot", "python", str(tmp_path)]
    done = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command], **CAPTURED)
    said = f"nonojudge: cannot write {tmp_path / 'mybot.py'}: File too large\n"
    assert (done.returncode, done.stderr.decode()) == (2, said)
    assert list(tmp_path.iterdir()) == []


def test_a_new_bot_overwrites_nothing(tmp_path, capfd):
    (tmp_path / "mybot.py").write_text("mine")
    assert cli.run(["new-bot", "python", str(tmp_path)]) == 2
    assert (tmp_path / "mybot.py").read_text() == "mine"
    assert capfd.readouterr().err == f"nonojudge: {tmp_path / 'mybot.py'} exists; choose another folder\n"
    assert cli.run(["new-bot", "python", str(tmp_path / "mybot.py" / "x")]) == 2
    assert "cannot write" in capfd.readouterr().err
    assert cli.run(["new-bot", "python", str(tmp_path / "my bot")]) == 0
    assert f"next: cd {quoted(tmp_path / 'my bot')}, and" in capfd.readouterr().out
    assert cli.run(["new-bot", "c++", str(tmp_path / "my bot")]) == 2
    assert not (tmp_path / "my bot" / "mybot.cpp").exists()


REHEARSE = ["rehearse", "--size", "8x8", "--puzzles", "3", "--seed", "1"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_a_good_bot_is_ready_to_hand_in(capfd):
    assert cli.run([*REHEARSE, "--", sys.executable, "-m", "nonobot", "--size", "8x8"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[0] == "check: 15 of 15 musts passed"
    assert [out[1].partition(" in ")[0], out[2]] == [
        "run: 3 right of 3 puzzles",
        "answer file, of another run (`... < questions.txt > answers.txt`): 3 right of 3 puzzles",
    ]
    assert out[-1] == "ready to hand in"


def test_rehearse_lists_missing_requirements_in_order(tmp_path, capfd):
    (tmp_path / "bot.py").write_text(
        "import sys\nfor line in sys.stdin:\n    if '$' in line:\n"
        "        print(line.strip(), *8 * ['\\t'.join('11111111')], sep='\\n', flush=True)\n"
    )
    assert cli.run([*REHEARSE, "--", sys.executable, str(tmp_path / "bot.py")]) == 1
    out = capfd.readouterr().out.splitlines()
    assert out[0] == "check: 0 of 15 musts passed, 14 not reached"
    assert out[1] == "run, answer file: left out until check 1 passes"
    missing = out[out.index("not ready to hand in:") + 1 :]
    assert missing[0] == "1. check 1, a bot starts, reads TAB and LF, and solves a puzzle"
    assert missing[1].startswith("     got  to $1, row 3: expected ")
    assert missing[2].startswith("     do   compare the answer with the clues")
    assert len(missing) == 3


def test_rehearse_reports_a_crash_once_and_first(capfd):
    program = str(REPOSITORY / "tests/doubles/check_bots.py")
    bot = [sys.executable, "-S", "-E", program, "KilledOnTheThird", "8", "8"]
    assert cli.run([*REHEARSE, "--contain", "no", "--", *bot]) == 1
    out = capfd.readouterr().out.splitlines()
    assert out[:2] == ["check: 11 of 15 musts passed", "run, answer file: left out until check 4 passes"]
    why = f"it crashes (SIGSEGV) on its third puzzle (checks {ranges([4, 7, 9, 10, 22, 23, 30, 31])})"
    assert out[2:4] == ["not ready to hand in:", f"1. {why}"]
    assert [line[:10] for line in out[4:]] == ["     got  ", "     do   "]


def rehearsed(tmp_path, capfd, instead, *options):
    """Return status and lines of a rehearsal of the new Python bot, with a line for the run's second puzzle."""
    bot = started(tmp_path, "python")
    puzzle = [*Recipe.parse("boardgen:8x8x3:seed=1").boards()][1][0]
    clues = [*map(tuple, (*puzzle.columns, *puzzle.rows))]
    text = (tmp_path / "mybot.py").read_text()
    line = f"    if clues == {clues}: {instead}\n    print(start"
    (tmp_path / "mybot.py").write_text(text.replace("\n    print(start", f"\n{line}"))
    capfd.readouterr()
    status = cli.run([*REHEARSE, "--contain", "no", *options, "--", *bot, "8"])
    return status, capfd.readouterr().out.splitlines()


@pytest.mark.slow
def test_rehearse_reports_a_crash_during_the_run_once_with_its_cause(tmp_path, capfd):
    status, out = rehearsed(tmp_path, capfd, "sys.exit('no memory')")
    assert (status, out[-2]) == (1, "not ready to hand in:")
    why = "exited with status 1 while answers were due; last on stderr: no memory"
    assert out[-1] == f"1. it does not reach its end: {why}; 2 puzzles missing, the first is $2"


@pytest.mark.slow
def test_rehearse_explains_an_early_exit_with_status_0(tmp_path, capfd):
    status, out = rehearsed(tmp_path, capfd, "print('licence expired', file=sys.stderr); sys.exit(0)")
    why = "exited with status 0; last on stderr: licence expired"
    assert (status, out[-1]) == (1, f"1. it does not reach its end: {why}; 2 puzzles missing, the first is $2")


@pytest.mark.slow
def test_a_bot_that_gives_up_is_ready_by_the_rules(tmp_path, capfd):
    status, out = rehearsed(tmp_path, capfd, "clues = [(9,)] * 16")
    why = "1 of 3 puzzles unsolved: see docs/first-bot.md, Make it faster"
    assert (status, out[-1]) == (0, f"ready to hand in by the rules; {why}")


@pytest.mark.slow
def test_rehearse_accepts_the_options_of_a_run(tmp_path, capfd):
    options = ["--env", "WHY=no idea", "--show", str(tmp_path), "--warm-up", f"touch {quoted(tmp_path)}/warm"]
    status, out = rehearsed(tmp_path, capfd, "import os; sys.exit(os.environ['WHY'])", *options)
    assert (status, (tmp_path / "warm").exists()) == (1, True)
    assert "last on stderr: no idea" in out[-1]


def test_rehearse_reports_a_slow_bot(tmp_path, capfd):
    bot = started(tmp_path, "python")
    program = tmp_path / "mybot.py"
    program.write_text(program.read_text().replace("    print(start", "    time.sleep(2); print(start"))
    files = ["--reads", "in.txt", "--writes", "out.txt", "--time-limit", "400"]
    start = ["sh", "-c", '"$@" < in.txt > out.txt', "sh", *bot, "8"]
    assert cli.run([*REHEARSE, *files, "--", *start]) == 1
    out = capfd.readouterr().out
    assert "3 puzzles missing" in out
    assert "it is too slow: 1000 puzzles have 400 s, which is 1.20 s for 3; let it give up hard puzzles" in out


def test_a_ctrl_c_ends_the_bot_of_a_rehearsal_too():
    word = f"rehearsed-{os.getpid()}"
    bot = [sys.executable, "-c", "import time; time.sleep(600)", word]
    _, err = interrupted("rehearse", "--contain", "no", "--", *bot, when=lambda: len(pids_with(word)) > 1)
    assert err == "nonojudge: interrupted\n"
    wait_until(lambda: not pids_with(word))
