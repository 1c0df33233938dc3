"""Bots that work on files, as real processes; and the names of their files."""

import contextlib
import json
import os
import re
import stat
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from nonobot.harness import cli
from nonobot.harness.play.match import Bot, play
from nonobot.harness.process import bot_files as bot_files_module
from nonobot.harness.process import exchange_folder
from nonobot.harness.process.bot_files import file_names, scratch_folder
from nonobot.harness.process.exchange_folder import ExchangeFolder
from nonobot.harness.results.comparability import MACHINE_AND_CONFIGURATION, differences
from nonobot.harness.results.conditions import Configuration, Contain, Feed, FileNames
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import BotLog, EndReason
from nonobot.harness.results.run_text import run_lines
from tests.helpers.judged import (  # noqa: F401
    RECIPE,
    SCRIPTED_BOT,
    SET,
    command,
    let_time_fly,
    little_patience,
    nothing_hangs,
    pids_with,
    verdicts,
)
from tests.helpers.places import quoted, unfilled
from tests.helpers.ranked import run_result
from tests.helpers.waiting import wait_until

RIGHT, MISSING = "right", "missing"
NAMES = FileNames("input.txt", "solution.txt", "log.txt")

pytestmark = pytest.mark.usefixtures("little_patience", "nothing_hangs")


class Removal:
    """What removes folders in the background, by their names in its command."""

    def __init__(self, *folders):
        self.folders = folders

    def poll(self):
        return None if any(pids_with(str(folder)) for folder in self.folders) else 0

    def __str__(self):
        return f"the removal of {self.folders}"


@pytest.fixture(autouse=True)
def _scratch_folders_go(tmp_path, monkeypatch):
    """No folder that a bot ran in is left."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    wait_until(lambda: not any(place.iterdir()), Removal(*place.iterdir()))  # what is a lot goes after the judge


def played(behaviour, folder, names=NAMES, **terms):
    """Return the result of a bot on files; for each verdict there is a file then, which the bot may wait for."""
    terms.setdefault("wall_limit_seconds", 100.0)
    bot = Bot(behaviour, command(behaviour, folder), files=names)

    def tell_the_bot(run):
        (folder / f"judged-{run.puzzles[-1].number}").touch()

    return play(SET, bot, Configuration(**terms), folder / "result.json", tell_the_bot)


def arrivals(result):
    return [puzzle.arrived_seconds for puzzle in result.score.puzzles]


def test_a_file_bot_is_judged_answer_by_answer(tmp_path):
    result = played("champion", tmp_path)
    assert verdicts(result) == [RIGHT] * 5
    assert (result.end.reason, result.end.exit_status, result.end.detail) == (EndReason.FINISHED, 0, None)
    assert len(set(arrivals(result))) == 5  # the next answer came after the verdict on the one before
    assert arrivals(result) == sorted(arrivals(result))
    assert result.files == NAMES
    log = result.attempts[0].own_log
    assert log == BotLog({1: 0.125, 2: 0.25, 3: 0.375, 4: 0.5, 5: 0.625}, 2.0)
    said = Path(result.stderr_file).read_text()
    assert "#5 solved!!!" in said
    assert f"here: {tmp_path / 'scratch' / 'nonojudge-'}" in said
    assert result.stderr_bytes == len(said.encode())
    lines = run_lines(result)
    assert "the bot used files: questions in input.txt, answers in solution.txt" in lines
    assert any(line.startswith("its own log: 5 puzzles in 2.00 s; the judge's time: ") for line in lines)
    assert read_result(tmp_path / "result.json") == result


@pytest.mark.parametrize(
    ("behaviour", "terms"),
    [("writes_and_floods_stdout", {}), ("writes_files_anew", {}), ("writes_late", {"contain": Contain.AUTO})],
)
def test_answers_count_however_the_file_is_written_also_in_the_sandbox(tmp_path, behaviour, terms):
    result = played(behaviour, tmp_path, **terms)
    assert verdicts(result) == [RIGHT] * 5
    assert result.end.detail is None
    assert result.score.notes == []
    assert result.score.duplicate_count == result.score.stray_count == 0
    assert result.attempts[0].own_log.error == "no file 'log.txt' in its folder"
    assert "its own log: no file 'log.txt' in its folder" in run_lines(result)
    if behaviour == "writes_files_anew":  # answers that stay the same keep their timestamps
        assert len(set(arrivals(result))) == 5


def test_a_linked_answer_file_is_reported_as_unreadable(tmp_path):
    result = played("links_to_the_solutions", tmp_path)
    assert verdicts(result) == [MISSING] * 5
    assert result.end.reason is EndReason.FINISHED
    assert result.end.detail == "'solution.txt' in its folder cannot be read: links are not followed"


def test_an_answer_cut_off_by_a_crash_is_malformed(tmp_path):
    result = played("writes_and_crashes_at_3", tmp_path)
    assert verdicts(result) == [RIGHT, RIGHT, "malformed", MISSING, MISSING]
    assert (result.end.reason, result.end.exit_status) == (EndReason.CRASHED, 3)


def test_the_remaining_puzzles_are_written_again_after_a_puzzle_limit(tmp_path, monkeypatch):
    let_time_fly(monkeypatch, tmp_path / "result.stderr.txt")
    result = played("writes_and_hangs_at_3", tmp_path, puzzle_limit_seconds=50.0, wall_limit_seconds=1e6)
    assert verdicts(result) == [RIGHT, RIGHT, "late", RIGHT, RIGHT]
    assert [attempt.own_log for attempt in result.attempts] == [BotLog({1: 0.25}), BotLog({4: 0.5}, 0.75)]
    assert any(line.startswith("its own log: 2 puzzles in 1.00 s; ") for line in run_lines(result))


@pytest.mark.parametrize(
    ("behaviour", "limit", "detail"),
    [
        pytest.param(
            *("writes_and_nests", {}, "its folder cannot be looked through: File name too long"),
            marks=pytest.mark.slow,
        ),
        ("writes_and_litters", {"MOST_ENTRIES": 500}, "more than 500 files or 1.0 GiB in its folder"),
        ("writes_and_litters", {"MOST_FOLDER_BYTES": 5 << 20}, "more than 20,000 files or 5 MiB in its folder"),
    ],
)
def test_a_bot_that_fills_its_folder_is_stopped_and_gets_a_result(tmp_path, monkeypatch, behaviour, limit, detail):
    for name, value in limit.items():
        monkeypatch.setattr(exchange_folder, name, value)
    remove = f"test -f {quoted(tmp_path / 'result.json')} && {bot_files_module.REMOVE}"
    monkeypatch.setattr(bot_files_module, "REMOVE", remove)
    result = played(behaviour, tmp_path)
    assert (result.end.reason, result.end.detail) == (EndReason.PROTOCOL_ERROR, detail)
    assert verdicts(result) == [RIGHT, *[MISSING] * 4]


@pytest.fixture
def laid_out(tmp_path):
    """Return what lays the questions out in a folder of the bot's own."""
    place = tmp_path / "place"
    place.mkdir()
    return lambda names=NAMES: ExchangeFolder(place, names, SET.puzzles)


def test_question_and_answer_files_may_be_in_subfolders(laid_out):
    exchange = laid_out(FileNames("in/questions.txt", "out/solutions/mine.txt"))
    questions = b"".join(puzzle.text for puzzle in SET.puzzles)
    assert (exchange.folder / "in/questions.txt").read_bytes() == questions
    assert (exchange.folder / "out/solutions").is_dir()
    assert exchange.own_log(0) is UNSET


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("#1\t625\t0\t0.25\n", "log.txt: line 1: "),
        ("#1\t0.25\n" * 200_000, "'log.txt' has more than 1,048,576 bytes"),
        (None, "'log.txt' in its folder is not a file"),  # but a pipe
    ],
)
def test_an_unreadable_log_is_reported_and_changes_nothing_else(laid_out, content, problem):
    exchange = laid_out()
    path = exchange.folder / "log.txt"
    os.mkfifo(path) if content is None else path.write_text(content)
    log = exchange.own_log(0)
    assert log == BotLog({}, None, log.error)
    assert log.error.startswith(problem)


def test_a_ranking_notes_bots_that_use_files_instead_of_pipes(tmp_path):
    by_files = msgspec.structs.replace(run_result("a"), files=NAMES)
    said = differences([("a", by_files), ("b", run_result("b"))], MACHINE_AND_CONFIGURATION)
    assert said == ["not the same input and output: files (a); pipes (b)"]


def test_questions_that_cannot_be_written_start_no_bot(tmp_path):
    result = played("writes_late", tmp_path, FileNames("x" * 300, "solution.txt"))
    assert result.end.reason is EndReason.NOT_STARTED
    assert result.end.detail.startswith(f"cannot write the questions, '{'x' * 300}': ")


@pytest.mark.parametrize(
    ("given", "run"),
    [
        (["./bot", "bot"], ["HERE/./bot", "HERE/bot"]),
        (["bot", "folder/data", "folder", "--fast"], ["bot", "HERE/folder/data", "HERE/folder", "--fast"]),
        (["bot", "input.txt", "solution.txt", "25", "", "x" * 300, "a\0b"], None),
        (["not/there", "not/there"], ["HERE/not/there", "not/there"]),
        (["/bin/true", "/"], None),
    ],
)
def test_relative_paths_of_a_command_become_absolute_for_the_bot(tmp_path, laid_out, own_folder, given, run):
    (tmp_path / "folder").mkdir()
    for name in ("bot", "folder/data", "input.txt"):
        (tmp_path / name).touch()
    expected = [str(Path(word)) if word.startswith("HERE") else word for word in run or given]
    assert [word.replace(str(tmp_path), "HERE") for word in laid_out().command(given)] == expected


@pytest.mark.parametrize(
    ("reads", "writes", "logs", "names"),
    [
        (None, None, None, None),
        ("input.txt", "solution.txt", None, FileNames("input.txt", "solution.txt")),
        ("./in/x", "a//b", "c/./d", FileNames("in/x", "a/b", "c/d")),
        ("a b", "-c", "a", FileNames("a b", "-c", "a")),
    ],
)
def test_file_names_are_taken_from_the_options(reads, writes, logs, names):
    assert file_names(reads, writes, logs, Feed.BATCH) == names


def test_run_plays_a_file_bot_from_the_command_line(tmp_path, own_folder, capsys):
    (tmp_path / "bot.py").symlink_to(SCRIPTED_BOT)
    _, bare, _, behaviour, _ = command("writes_late", tmp_path)
    files = ["--reads", "input.txt", "--writes", "solution.txt"]
    bot = [sys.executable, bare, "bot.py", behaviour, "solutions.txt"]
    assert cli.run(["run", "--set", str(RECIPE), *files, "--result", "r.json", "--", *bot]) == 0
    assert "the bot used files: questions in input.txt, answers in solution.txt\n" in capsys.readouterr().out
    assert read_result(Path("r.json")).files == FileNames("input.txt", "solution.txt")


def test_a_tournament_plays_a_file_bot(tmp_path, own_folder, capsys, output_of):
    words = [unfilled(word) for word in command("writes_milliseconds", tmp_path)]
    bot = f'name = "good"\ncommand = {json.dumps(words)}\n'
    files = 'reads = "input.txt"\nwrites = "solution.txt"\nlogs = "log.txt"\n'
    path = tmp_path / "small.toml"
    path.write_text(f'name = "small"\nsets = ["{RECIPE}"]\n[[bots]]\n{bot}{files}')
    assert cli.run(["tournament", str(path)]) == 0
    said = r"(?s) own s .* 98,765\.00 .*warning: own log of good: no time for 3 of 5 answered puzzles"
    assert re.search(said, capsys.readouterr().out)
    result = read_result(tmp_path / "results/small/boardgen-5x5x5-seed-3--good.json")
    assert (result.score.right, result.files) == (5, NAMES)
    path.write_text(path.read_text().replace('logs = "log.txt"', ""))
    assert (
        "under other conditions: files input.txt solution.txt log.txt, now input.txt solution.txt; move"
        in output_of(cli.run, ["tournament", str(path)], status=2).err
    )


def test_the_scratch_folder_is_removed_with_sealed_folders_but_not_link_targets(tmp_path):
    (tmp_path / "kept").write_text("kept")
    with contextlib.suppress(ZeroDivisionError), scratch_folder() as folder:  # it goes after an error, too
        assert list(folder.iterdir()) == []
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "sealed" / "inner").mkdir(parents=True)
        (folder / "sealed" / "inner" / "-rf\n").write_text("x")
        (folder / "sealed" / "out").symlink_to(tmp_path)
        os.mkfifo(folder / "pipe")
        for sealed in (folder / "sealed" / "inner", folder / "sealed", folder):
            sealed.chmod(0)
        raise ZeroDivisionError
    assert not folder.exists()
    assert (tmp_path / "kept").read_text() == "kept"
    assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o700 == 0o700


@pytest.mark.slow
def test_folders_nested_deeper_than_the_longest_path_are_removed():
    with scratch_folder() as folder:
        deepest = os.open(folder, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("deeper", dir_fd=deepest)
            below = os.open("deeper", os.O_RDONLY, dir_fd=deepest)
            os.close(deepest)
            deepest = below
        os.close(deepest)
    wait_until(lambda: not folder.exists(), Removal(folder))


def test_a_slow_removal_of_the_scratch_folder_continues_in_the_background(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "go")
    monkeypatch.setattr(bot_files_module, "REMOVE", f'{{ cat {quoted(tmp_path / "go")}; rm -r "$1"; }} &')
    with scratch_folder() as folder:
        pass
    assert folder.exists()
    with (tmp_path / "go").open("w"):  # waits for the `cat`
        pass
    wait_until(lambda: not folder.exists())
