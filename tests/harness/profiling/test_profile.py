"""`nonojudge profile`: real bots, real files."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.commands import profile as profile_command
from nonobot.harness.profiling.profile_data import depth_first, profile_of, read_profile, span_of
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.tournament_data import load_set
from tests.helpers.benching import carry_out
from tests.helpers.judged import RECIPE, command, little_patience  # noqa: F401
from tests.helpers.patched import LINE_KERNEL, SLOW, patched_house
from tests.helpers.places import DOUBLES
from tests.helpers.profiled import stating_bot
from tests.helpers.sandboxes import sandbox_only

SET = str(RECIPE)
LINE = (
    '{"puzzle": %d, "status": "solved", "seconds": 0.25, "solutions": 1, "nodes": 3, '
    '"phase_seconds": {"a": 0.125}}\n'
)
STATED = "".join(LINE % number for number in range(1, 6))


def profiled(*arguments, bot=()):
    return carry_out(profile_command, "--quiet", *arguments, bot=bot)


def collected(folder, stats):
    return profile_of(load_set(SET, None), stating_bot(folder, stats), Configuration(), lambda *_: None)


def test_statistics_of_a_bot_are_read_except_cut_lines_and_unknown_puzzles(tmp_path):
    profile = collected(tmp_path, STATED.replace('"nodes"', f'"beyond counting": {10**400}, "nodes"'))
    assert [puzzle.number for puzzle in profile.puzzles] == [1, 2, 3, 4, 5]
    assert {puzzle.verdict for puzzle in profile.puzzles} == {Verdict.RIGHT}
    assert profile.puzzles[0].phase_seconds == {"a": 0.125}
    assert profile.totals == {"nodes": 15}
    assert "--stats" not in profile.command
    assert profile.end.reason is EndReason.FINISHED
    profile = collected(tmp_path, LINE % 1 + LINE % 77 + (LINE % 2)[:30])
    assert [puzzle.number for puzzle in profile.puzzles] == [1]
    assert profile.set.puzzle_count == 5


@pytest.mark.parametrize(
    ("stats", "said"),
    [
        (LINE % 1 + "no json\n", r"line 2 of the bot's statistics: .*\(msgspec\)"),
        ('{"puzzle": 1, "seconds": 1e300}\n', r"line 1 .*\(msgspec\)"),
        (f'{{"puzzle": 1, "seconds": 1, "new": {"[" * 1_000_000}\n', r"line 1 .*\(msgspec\)"),
        ('{"puzzle": 1}\n', r"line 1 .*\(msgspec\)"),
        ('{"puzzle": 1, "seconds": 1, "phase_seconds": {"a": "x"}}\n', r"line 1 .*\(msgspec\)"),
    ],
)
def test_unusable_statistics_of_a_bot_are_an_error(tmp_path, stats, said):
    with pytest.raises(UnusableError, match=said):
        collected(tmp_path, stats)


@pytest.mark.parametrize("condition", ['[ -z "$1" ]', "true"])  # it refuses --stats FILE, or ignores it
@pytest.mark.parametrize("feed", ["batch", pytest.param("interactive", marks=pytest.mark.slow)])
def test_a_bot_without_statistics_is_profiled_by_its_answer_times(tmp_path, output_of, condition, feed):
    perfect = shlex.join(command("perfect", tmp_path))
    kept, picture = tmp_path / "p.json", tmp_path / "p.svg"
    outs = ["-o", kept, *(["-o", picture] if importlib.util.find_spec("matplotlib") else [])]
    bot = ["sh", "-c", f"{condition} || exit 2; exec {perfect}"]
    assert "until its first byte" in output_of(profiled, SET, "--feed", feed, *outs, bot=bot).out
    profile = read_profile(kept)
    assert profile.from_outside
    assert [puzzle.number for puzzle in profile.puzzles] == [1, 2, 3, 4, 5]
    assert 0 < profile.first_output_seconds <= profile.first_answer_seconds <= profile.last_answer_seconds
    parts = {part.name: part.seconds for part in span_of(profile).children}
    assert parts["until its first byte"] == min(profile.first_output_seconds, profile.usage.wall_seconds)
    assert sum(parts.values()) == pytest.approx(profile.usage.wall_seconds)
    with pytest.raises(UnusableError, match="make both with --no-stats"):
        profiled(SET, "--before", kept, bot=stating_bot(tmp_path, STATED))
    assert profiled(SET, "--before", kept, "--no-stats", bot=bot) == 0


def test_crashes_wrong_answers_and_an_unwritable_profile_are_reported(capsys, tmp_path):
    assert profiled(SET, bot=["sh", "-c", "cat >/dev/null; exit 3"]) == 1
    assert "it ended as crashed (status 3)" in capsys.readouterr().out
    with pytest.raises(UnusableError, match="no-such-bot"):
        profiled(SET, bot=["./no-such-bot"])
    bot = stating_bot(tmp_path, STATED)
    solutions = tmp_path / "solutions.txt"
    solutions.write_text(re.sub("[01]", "0", solutions.read_text().split("$2")[0]))
    assert profiled(SET, bot=bot) == 1
    with pytest.raises(UnusableError, match="cannot write /proc/none"):
        profiled("-o", "/proc/none/p.json")


@pytest.mark.parametrize(
    ("behaviour", "status", "said"),
    [
        ("crash_at_3", 1, "crashed (status 1): this is the profile of 3 of 5 puzzles; its last line on stderr"),
        ("expires_at_3", 1, "finished (status 0): this is the profile of 2 of 5 puzzles; its last line on std"),
        ("ends_with_2_in_colours", 0, "finished (status 2): this is the profile of 5 of 5 puzzles; its last line"),
    ],
)
def test_a_failure_of_the_bot_is_reported_before_the_tables(tmp_path, output_of, behaviour, status, said):
    out = output_of(profiled, SET, "--no-stats", bot=command(behaviour, tmp_path), status=status).out
    header = " ".join(out.split("\n\n")[0].split())
    assert f" warning: it ended as {said}" in header


def test_the_likely_mistake_is_reported_before_the_tables(tmp_path, output_of):
    bot = [sys.executable, str(DOUBLES / "check_bots.py"), "Mutters", "5", "5"]
    header = output_of(profiled, SET, "--no-stats", bot=bot, status=1).out.split("\n\n")[0]
    assert "\nwarning: all 5 malformed answers have text in place of a row: write rows" in header


@pytest.mark.usefixtures("little_patience")
def test_a_stopped_bot_is_not_blamed_for_buffered_answers(tmp_path, output_of):
    closes = "os.write(1, open(sys.argv[1], 'rb').read()[:160]); os.close(1); time.sleep(1000)"
    *_, solutions = command("perfect", tmp_path)
    bot = [sys.executable, "-S", "-c", f"import os, sys, time; sys.stdin.read(); {closes}", solutions]
    out = output_of(profiled, SET, "--no-stats", bot=bot, status=1).out
    assert "it ended as closed-stdout" in out
    assert "all answers came at once" not in out


@pytest.mark.parametrize("behaviour", ["ends_with_2_at_once", "wrong_at_2"])
def test_times_of_runs_that_solved_different_puzzles_do_not_compare(tmp_path, output_of, behaviour):
    kept = tmp_path / "p.json"
    profiled(SET, "--no-stats", "-o", kept, bot=command(behaviour, tmp_path))
    bot = command("perfect", tmp_path)
    out = output_of(profiled, SET, "--no-stats", "--before", kept, bot=bot).out
    solved = "0 before" if behaviour == "ends_with_2_at_once" else "4 before"
    assert f"different puzzles, or none ({solved}, 5 after): their times do not compare" in out
    assert not re.search("% (faster|slower)|as fast", out)


def test_repeated_runs_have_medians_and_ranges(tmp_path, output_of):
    kept, bot = tmp_path / "p.json", stating_bot(tmp_path, STATED)
    assert "medians of 3 runs (wall " in output_of(profiled, SET, "--repeat", "3", "-o", kept, bot=bot).out
    profile = read_profile(kept)
    walls = [run.span.seconds for run in profile.runs]
    assert sorted(walls)[1] == profile.usage.wall_seconds
    assert sorted(run.cpu_seconds for run in profile.runs)[1] == profile.usage.cpu_seconds > 0


def test_profile_runs_nonobot_by_default(capfd, compiled):
    here = [sys.executable, "-P", "-m", "nonobot", "--size", "12x9"]
    with pytest.raises(UnusableError, match="--warm-up: stopped at its limit"):  # the own bot's command has one
        profiled("boardgen:12x9x6:seed=5", "--json", "--warm-up-limit", "0.001", bot=here)
    assert profiled("boardgen:12x9x6:seed=5", "--json") == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed["command"][-2:] == ["--size", "12x9"]
    assert [puzzle["number"] for puzzle in printed["puzzles"]] == [1, 2, 3, 4, 5, 6]
    for puzzle in printed["puzzles"]:
        assert puzzle["counts"]["line_solves"] > 0
        assert 0 < sum(puzzle["phase_seconds"].values()) <= puzzle["seconds"]
    names = [part["name"] for part in printed["span"]["children"]]
    assert names == ["before the first puzzle", "puzzles", "between puzzles", "after the last answer"]
    parts = sum(part["seconds"] for part in printed["span"]["children"])
    assert parts == pytest.approx(printed["usage"]["wall_seconds"])


def test_a_profile_is_saved_shown_again_and_compared(tmp_path, capsys, output_of):
    kept, picture, page = tmp_path / "deep" / "p.json", tmp_path / "p.svg", tmp_path / "p.png"
    bot = stating_bot(tmp_path, STATED)
    first = output_of(profiled, SET, "-o", kept, bot=bot).out
    assert "5 of 5 right" in first
    assert output_of(profiled, kept).out == first
    with pytest.raises(UnusableError, match="it takes no command"):
        profiled(kept, bot=["./mybot"])
    pytest.importorskip("matplotlib")
    assert profiled(kept, "-o", picture, "-o", page, "--theme", "dark") == 0
    assert picture.read_bytes().startswith(b"<?xml")
    assert page.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    assert "every count of every puzzle is the same" in output_of(profiled, SET, "--before", kept, bot=bot).out


@sandbox_only
def test_a_sandboxed_bot_finds_its_modules_compiled(tmp_path, compiled):
    patched_house(tmp_path / "house", LINE_KERNEL)
    judge = [sys.executable, "-m", "nonobot.harness", "profile", "boardgen:5x5x1:seed=1", "--contain", "yes"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "house")}  # with the compiled kernels that are there
    done = subprocess.run(judge, cwd=tmp_path / "house", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "house" / "bot" / "__pycache__").glob("process.*.pyc"))


# A real change: the line kernel is made slow


@pytest.mark.slow
def test_a_profile_shows_a_slow_line_kernel_in_its_stage(tmp_path, capsys, output_of, compiled, monkeypatch):
    boards = "boardgen:20x20x40:seed=5:p2=0.4"  # so many that the start of a process on a busy machine is less
    bot = [sys.executable, "-m", "nonobot", "--size", "20x20", "--strategy", "papers"]
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    assert profiled(boards, "-o", before, bot=bot) == 0
    house = tmp_path / "house"
    for name, value in patched_house(house, LINE_KERNEL, *SLOW).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(house)
    capsys.readouterr()
    slow = ("--env", f"PYTHONPATH={house}", "--show", house)
    text = output_of(profiled, boards, *slow, "--before", before, "-o", after, bot=bot).out
    assert "most of all in probing" in text, text
    assert "every count of every puzzle is the same" in text
    # Twenty microseconds for each line that was solved are found again: in the steps, and nowhere else.
    added = 20e-6 * read_profile(after).totals["line_solves"]
    steps = {span.name: span.seconds for _, span in depth_first(span_of(read_profile(after))) if span.stage}
    assert steps["probing"] + steps["propagation"] >= added
    shutil.rmtree(tmp_path / "house" / "cache")
