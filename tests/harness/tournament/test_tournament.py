"""Tournaments and duels of scripted bots, as real processes."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, cli
from nonobot.harness.cluster import worker_judge
from nonobot.harness.options import add_terms
from nonobot.harness.play.journal import Journal, journal_path
from nonobot.harness.play.match import not_started
from nonobot.harness.play.run_state import records_of
from nonobot.harness.process.machine import can_pin
from nonobot.harness.results.conditions import Configuration, Contain, Feed, digest_of_variable
from nonobot.harness.results.result_files import ORDER, files_in, in_order_of_play, read_result, write_json
from nonobot.harness.results.run_result import BotEnd, EndReason
from nonobot.harness.results.terms import LIMITS
from nonobot.harness.tournament.definition import filled_in, read_tournament, result_names
from nonobot.harness.tournament.scheduled_runs import locked, scheduled_runs
from nonobot.tournament_data import Recipe, load_set, write_set
from tests.helpers.clusters import definition, noted
from tests.helpers.judged import RECIPE, command, let_time_fly, pids_with, so_far, verdicts
from tests.helpers.places import DOUBLES, unfilled
from tests.helpers.talking import interrupted
from tests.helpers.terminals import Terminal
from tests.helpers.waiting import finished, running, wait_until

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")


def played(*arguments: str) -> int:
    return cli.run(["tournament", *arguments])


def test_every_bot_plays_and_the_ranking_is_printed(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect", "odd one": "wrong_at_2"})
    out, err = output_of(played, str(path))
    assert out.index("good") < out.index("odd one")
    assert out.endswith("results: results/small\n")
    assert "[2/2] odd one on boardgen:5x5x5:seed=3: 4 of 5 right" in err
    files = sorted(path.name for path in Path("results/small").glob("*.json"))
    assert files == ["boardgen-5x5x5-seed-3--good.json", "boardgen-5x5x5-seed-3--odd-one.json"]


def test_the_last_stderr_line_and_the_restarts_of_a_failed_bot_are_shown(tmp_path, output_of):
    good, short = results_said(
        output_of(played, str(definition(tmp_path, {"good": "perfect", "short": "crash_at_3"})))
    )
    assert "stderr" not in good
    assert short.endswith("; its last line on stderr: RuntimeError: cannot go on")
    path = definition(tmp_path, {"slow": "hang_at_3"}, more="[limits]\npuzzle = 0.5")
    [slow] = results_said(output_of(played, str(path)))
    assert re.search(r" right, .*; the bot was started \d times$", slow)


def results_said(output) -> list[str]:
    return [line for line in output.err.splitlines() if " right, " in line]


def test_before_each_run_but_the_first_the_time_left_for_all_is_estimated(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect", "second": "perfect", "third": "perfect"})
    lines = [line for line in output_of(played, str(path)).err.splitlines() if " ..." in line]
    assert lines[0].endswith(" ...")
    assert all(re.search(r"\.\.\. \(all runs: about \d+ s to go\)$", line) for line in lines[1:])
    assert len(lines) == 3


def test_a_damaged_result_is_reported_with_its_remedy(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect"})
    result = Path("results/small/boardgen-5x5x5-seed-3--good.json")
    played(str(path))
    result.write_text("{")
    err = output_of(played, str(path), status=2).err
    assert re.search(
        rf"{result} is not a result of nonojudge: .*; move it away, and its run is played again\n$", err
    )
    result.unlink()
    assert played(str(path)) == 0


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(Path("own.txt").absolute())])
def test_the_order_file_is_not_written_through_a_link_or_pipe(tmp_path, make):
    """In a folder of results that came from a stranger."""
    Path("own.txt").write_text("mine")
    Path("results/small").mkdir(parents=True)
    make(Path("results/small", ORDER))
    assert played(str(definition(tmp_path, {"good": "perfect"})), "--quiet") == 0
    assert Path("own.txt").read_text() == "mine"
    assert Path("results/small", ORDER).read_text() == "boardgen-5x5x5-seed-3--good\n"


def test_a_finished_run_is_kept_until_again_is_given_and_refused_if_terms_differ(tmp_path, capsys):
    path = definition(tmp_path, {"good": "perfect"})
    result = Path("results/small/boardgen-5x5x5-seed-3--good.json")
    played(str(path))
    before = result.read_bytes()
    played(str(path))
    assert result.read_bytes() == before
    assert "played before; 5 of 5 right" in capsys.readouterr().err
    path = definition(tmp_path, {"good": "perfect"}, more="[limits]\ntime = 9\npuzzle = 0.5")
    assert played(str(path)) == 2
    said = "wall limit 7200 s, now 9 s; puzzle limit none, now 0.5 s; move it away, or play it again with"
    assert capsys.readouterr().err == f"nonojudge: {result}: played under other conditions: {said} --again good\n"
    assert played(str(path), "--again", "--quiet") == 0
    assert result.read_bytes() != before
    assert capsys.readouterr().err == ""


def test_results_under_other_conditions_are_refused_in_one_line(tmp_path, capsys):
    bots = {"good": "perfect", "odd": "wrong_at_2"}
    played(str(definition(tmp_path, bots)), "--quiet")
    path = str(definition(tmp_path, bots, more="[limits]\ntime = 9"))
    capsys.readouterr()
    assert played(path) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("; so was 1 other result; move them away, or play all bots again with --again")
    assert played(path, "--quiet", "--again") == 0


def test_a_missing_file_in_a_command_is_a_warning(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect"})
    bob = '[[bots]]\nname = "bob"\ncommand = "python3 bots/bott.py {width} -a/b -c \'1 / 2\'"\n'
    path.write_text(path.read_text() + bob)
    err = output_of(played, str(path)).err
    warning = "nonojudge: bob: warning: its command names bots/bott.py, which is not a file here\n"
    assert err.count("warning: its command") == 1
    assert err.index(warning) < err.index("[1/2]")


def test_a_set_path_is_relative_to_the_working_folder_and_the_error_explains_it(tmp_path, output_of):
    (folder := tmp_path / "fresh").mkdir()
    (folder / "a.txt").touch()
    path = folder / "t.toml"
    path.write_text('name = "x"\nsets = ["a.txt"]\nbots = [{name = "a", command = "a"}]')
    where = f"'a.txt' is in {folder}; paths start at the current folder, so go there first"
    assert output_of(played, str(path), status=2).err == f"nonojudge: {path}: set 1: {where}\n"


def test_an_unwritable_results_folder_is_reported_and_an_empty_one_removed(tmp_path):
    with locked(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()
    with locked(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(UnusableError, match=rf"^cannot write {re.escape(str(tmp_path))}/file/x: Not a directory$"):
        locked(tmp_path / "file/x").__enter__()


def test_the_line_of_a_bot_shows_its_likely_mistake(tmp_path, output_of):
    inverting = [sys.executable, str(DOUBLES / "check_bots.py"), "Inverted", "5", "5"]
    text = f'name = "x"\nsets = ["{RECIPE}"]\n'
    for name, program in {"inverts": inverting, "mute": ["true"]}.items():
        text += f"[[bots]]\nname = '{name}'\ncommand = {json.dumps(program)}\n"
    Path("t.toml").write_text(text)
    *_, inverts, _, mute = output_of(played, "t.toml").err.splitlines()
    assert inverts.endswith(", finished (all 5 wrong answers would be right with 0 and 1 exchanged: 1 is black)")
    likely = "check that the bot stays in the foreground and expects boards of 5x5"
    assert mute.endswith(f", finished (no puzzle was answered; {likely})")


def test_a_bot_that_cannot_start_stops_no_other_and_is_tried_again_later(tmp_path, output_of):
    path = definition(tmp_path, {"cold": "perfect", "slow": "perfect", "good": "perfect", "nobody": "perfect"})
    before = path.read_text()
    cold = before.replace('name = "cold"', 'name = "cold"\nwarm-up = "false"')
    cold = cold.replace('name = "slow"', 'name = "slow"\nwarm-up = "sleep 1000"\nwarm-up-limit = 0.2')
    path.write_text(cold.rpartition("command = ")[0] + 'command = "no-such-program"\n')
    out, err = output_of(played, str(path), status=1)
    assert out.index("good") < min(out.index("cold"), out.index("nobody"))
    assert "not-started" in out
    assert "nonojudge: cold: warm-up failed: false: exited with status 1" in err
    assert "nonojudge: slow: warm-up failed: sleep 1000: stopped at its limit of 0.2 s" in err
    assert "nobody: cannot start 'no-such-program'" in err
    result = read_result(Path("results/small/boardgen-5x5x5-seed-3--nobody.json"))
    assert (result.end.reason, verdicts(result)) == (EndReason.NOT_STARTED, ["missing"] * 5)
    path.write_text(before)
    assert "not-started" not in output_of(played, str(path), "--quiet").out


def interrupt_after(number: int, definition: Path, journal: Path) -> None:
    """Run a tournament and press Ctrl-C once a puzzle has its ruling."""
    ruled = b'"number":%d' % number
    _, err = interrupted("tournament", str(definition), when=lambda: ruled in so_far(journal))
    assert err.endswith("nonojudge: interrupted; the same command resumes\n")


@pytest.mark.slow
def test_ctrl_c_after_the_last_answer_of_a_bot_prevents_the_next_run(tmp_path):
    path = definition(tmp_path, {"lingers": "never_end", "next": "perfect"})
    first = tmp_path / "results/small/boardgen-5x5x5-seed-3--lingers.json"
    interrupt_after(5, path, first.with_suffix(".journal.jsonl"))
    assert [result.name for result in first.parent.glob("*.json")] == [first.name]
    assert read_result(first).end.reason is EndReason.FINISHED


def test_an_interrupted_tournament_goes_on_with_the_same_command(tmp_path, monkeypatch):
    limits = "[limits]\ntime = 50\nstall = 0"
    path = definition(tmp_path, {"slow": "hang_at_3", "good": "perfect"}, more=limits)
    slow = tmp_path / "results/small/boardgen-5x5x5-seed-3--slow.json"
    interrupt_after(2, path, slow.with_suffix(".journal.jsonl"))
    result = read_result(slow)
    assert (result.end.reason, result.score.right) == (EndReason.INTERRUPTED, 2)
    let_time_fly(monkeypatch, slow.with_suffix(".stderr.txt"))
    assert played(str(path)) == 0
    result = read_result(slow)
    assert (result.end.reason, result.score.right, len(result.attempts)) == (EndReason.TIME_LIMIT, 2, 2)
    assert read_result(slow.with_name("boardgen-5x5x5-seed-3--good.json")).score.all_right


def test_an_interrupted_but_complete_run_of_an_older_judge_has_ended(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect"})
    first = tmp_path / "results/small/boardgen-5x5x5-seed-3--good.json"
    assert played(str(path), "--quiet") == 0
    result = read_result(first)
    attempt = replace(result.attempts[0], end=BotEnd(EndReason.INTERRUPTED, detail="the judge was killed"))
    write_json(first, replace(result, attempts=[attempt]))
    assert "played before; 5 of 5 right" in output_of(played, str(path)).err


def test_a_tournament_resumes_from_any_journal_left_by_a_killed_judge(tmp_path, output_of):
    path = definition(tmp_path, {"good": "perfect"})
    first = tmp_path / "results/small/boardgen-5x5x5-seed-3--good.json"
    journal = journal_path(first)
    for content in (b"", b'{"kind":"run","bo'):
        first.parent.mkdir(parents=True, exist_ok=True)
        journal.write_bytes(content)
        assert played(str(path), "--quiet") == 0
        result = read_result(first)
        assert result.score.all_right
        first.unlink()
    write_json(first, result)
    with Journal(journal) as left:
        for record in records_of(result):
            left.add(record)
    assert "played before; 5 of 5 right" in output_of(played, str(path)).err
    assert not journal.exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bots": {"good": "dawdle"}}, r"command \S.* perfect \S.*, now \S.* dawdle \S.*; move it away"),
        ({"more": "any-order = true\nlimits = { memory = '1G' }"}, "memory limit none, now 1 GiB; order that of"),
    ],
)
@pytest.mark.parametrize("killed", [True, False])
def test_differences_from_the_current_tournament_file_are_listed(tmp_path, capsys, changed, said, killed):
    given = {"bots": {"good": "perfect"}, "more": "limits = { memory = 'none' }"}
    assert played(str(definition(tmp_path, **given)), "--quiet") == 0
    first = tmp_path / "results/small/boardgen-5x5x5-seed-3--good.json"
    if killed:
        with Journal(journal_path(first)) as left:
            left.add(records_of(read_result(first))[0])
        first.unlink()
    capsys.readouterr()
    assert played(str(definition(tmp_path, **given | changed))) == 2
    err = capsys.readouterr().err
    assert re.fullmatch(f"nonojudge: .*: played under other conditions: {said}.* with --again good\n", err)


def test_results_and_other_bots_are_hidden_also_where_another_machine_plays(tmp_path, monkeypatch):
    path = definition(tmp_path, {"good": "perfect"})
    other = tmp_path / "other.py"
    other.touch()
    added = f'[[bots]]\nname = "other"\ncommand = ["{{python}}", "{unfilled(other)}"]\n'
    path.write_text(path.read_text() + added)
    scheduled, _ = scheduled_runs(read_tournament(path), Path("results/small"))
    players = []

    def play(puzzle_set, bot, terms, result_path, on_verdict):
        players.append(bot)
        return not_started(puzzle_set, bot, terms, "")

    monkeypatch.setattr("nonobot.harness.tournament.scheduled_runs.play", play)
    results = {tmp_path / "results", tmp_path / "results/small", other}
    scheduled.play(None, lambda *_: None)
    core = tmp_path / "worker/core-0"
    core.mkdir(parents=True)
    monkeypatch.chdir(core)
    worker_judge._played(scheduled, None, core, None)
    here, there = (set(bot.hide) for bot in players)
    assert results <= here
    assert results | {tmp_path / "worker"} <= there


@pytest.mark.parametrize("where", [(), pytest.param(("--on", "local:1"), marks=pytest.mark.slow)])
def test_variables_in_the_tournament_file_reach_bots_and_warm_ups(tmp_path, capsys, monkeypatch, where):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    path = tmp_path / "t.toml"
    text = f"""name = "t"
    sets = ["{RECIPE}"]
    environment = {{A = "1", B = "2"}}
    [[bots]]
    name = "x"
    command = ["sh", "-c", "echo $A$B$PYTHONUNBUFFERED >&2"]
    warm-up = ["sh", "-c", "test $A = 1"]
    [[bots]]
    name = "y"
    command = ["sh", "-c", "echo $A$B >&2"]
    environment = {{B = "3"}}
    """
    path.write_text(text)
    assert played(str(path), *where) == 0
    said = [path.read_text() for path in sorted(Path("results/t").glob("*.stderr.txt"))]
    assert said == ["12\n", "13\n"]
    a, *bs = (digest_of_variable(name, value) for name, value in ("A1", "B2", "B3"))
    x, y = (f"A (digest {a}), B (digest {b})" for b in bs)
    assert f"warning: not the same environment: {x} (x); {y} (y)" in " ".join(capsys.readouterr().out.split())
    path.write_text(text.replace('B = "3"', 'B = "4"'))
    assert played(str(path)) == 2


# Bots that are replaced, and bots that play again

NEW = "changed): it plays {} again; old results are kept as *.before-1 and so on"


def resubmitted(folder, behaviour):
    """Write a program that plays like a scripted bot, and return the tournament of it and another bot."""
    path = definition(folder, {"other": "perfect"})
    program = shlex.join(command(behaviour, folder))
    (folder / "mine.sh").write_text(f"#!/bin/sh\necho {behaviour} >&2\nexec {program}\n")
    mine = f'[[bots]]\nname = "mine"\ncommand = ["sh", "{unfilled(folder)}/mine.sh"]\n'
    path.write_text(path.read_text() + mine)
    return path


@pytest.mark.parametrize("where", [(), pytest.param(("--on", "local:1"), marks=pytest.mark.slow)])
def test_a_bot_that_was_replaced_plays_again_and_its_old_result_is_kept_apart(tmp_path, capsys, output_of, where):
    path = resubmitted(tmp_path, "wrong_at_2")
    result = Path("results/small/boardgen-5x5x5-seed-3--mine.json")
    other = result.with_name("boardgen-5x5x5-seed-3--other.json")
    first, version = output_of(played, str(path), *where).out, re.compile(r"mine +([0-9a-f]{8}) +(\d)")
    old = read_result(result)
    assert [Path(file.name).name for file in old.program_files][-1] == "mine.sh"
    assert old.program_files[-1].size_bytes == (tmp_path / "mine.sh").stat().st_size
    of_other = other.read_bytes()
    os.utime(tmp_path / "mine.sh")  # the same content
    assert "replaced" not in output_of(played, str(path), *where).err
    resubmitted(tmp_path, "perfect")
    out, err = output_of(played, str(path), *where)
    assert f"nonojudge: mine was replaced ({tmp_path}/mine.sh {NEW.format('1 run')}\n" in err
    assert err.count("was replaced") == 1
    assert (version.search(first)[2], version.search(out)[2]) == ("4", "5")
    assert version.search(first)[1] != version.search(out)[1]
    assert other.read_bytes() == of_other
    aside = Path(f"{result}.before-1")
    kept = read_result(aside)
    assert (kept.score, Path(kept.stderr_file).read_text()) == (old.score, "wrong_at_2\n")
    assert version.search(output_of(cli.run, ["table", str(result.parent)]).out)[2] == "5"
    assert cli.run(["table", str(result.parent), str(aside)]) == 0
    assert "warning: mine: its runs are of different versions" in capsys.readouterr().out
    resubmitted(tmp_path, "never_end")  # a name that is taken is not taken again
    (tmp_path / "mine.sh").write_text("#!/bin/sh\n")
    assert played(str(path), *where, "--quiet") == 0
    assert Path(f"{result}.before-2").exists()


def test_missing_digests_and_deleted_files_do_not_count_as_changes(tmp_path, output_of):
    path = resubmitted(tmp_path, "perfect")
    result = Path("results/small/boardgen-5x5x5-seed-3--mine.json")
    assert played(str(path), "--quiet") == 0
    (tmp_path / "mine.sh").unlink()
    assert played(str(path)) == 0
    resubmitted(tmp_path, "wrong_at_2")
    write_json(result, replace(read_result(result), program_files=UNSET))
    assert "replaced" not in output_of(played, str(path)).err
    assert [file.name for file in result.parent.iterdir() if "before" in file.name] == []


@pytest.mark.parametrize("killed", [False, True])
def test_an_interrupted_run_of_a_replaced_bot_is_not_resumed(tmp_path, output_of, killed):
    path = resubmitted(tmp_path, "hang_at_3")
    result = Path("results/small/boardgen-5x5x5-seed-3--mine.json")
    journal = journal_path(result)
    judge = [sys.executable, "-m", "nonobot.harness", "tournament", str(path)]
    own = str(tmp_path / "solutions.txt")  # a word in the command of this bot alone
    with running(judge, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: b'"number":2' in so_far(journal), process)
        assert pids_with(own)
        process.send_signal(signal.SIGKILL if killed else signal.SIGINT)
        finished(process)
    assert (journal.exists(), result.exists()) == (killed, not killed)
    resubmitted(tmp_path, "perfect")
    left = journal if killed else result
    assert "mine was replaced" in output_of(played, str(path)).err
    run = read_result(result)
    assert (verdicts(run), len(run.attempts)) == (["right"] * 5, 1)
    assert Path(f"{left}.before-1").exists()
    assert pids_with(own) == []


def test_a_log_written_by_a_bot_does_not_count_as_a_change_of_the_bot(tmp_path, capsys):
    path = definition(tmp_path, {"good": "perfect"})
    (tmp_path / "log.txt").write_text("before\n")
    script = f'echo more >> "$1"; exec {shlex.join(command("perfect", tmp_path))}\n'
    (tmp_path / "bot.sh").write_text(script)
    program = json.dumps(["sh", *(unfilled(tmp_path / name) for name in ("bot.sh", "log.txt"))])
    path.write_text(path.read_text().rpartition("command = ")[0] + f"command = {program}\n")
    assert (played(str(path)), played(str(path))) == (0, 0)
    assert "replaced" not in capsys.readouterr().err
    [result] = Path("results/small").glob("*.json")
    names = {file.name for file in read_result(result).program_files}
    assert f"{tmp_path}/bot.sh" in names
    assert f"{tmp_path}/log.txt" not in names


@pytest.mark.parametrize(
    ("arguments", "bots"),
    [
        (["--again", "good", "FILE"], {"good"}),
        (["FILE", "--again", "good", "--again", "odd"], {"good", "odd"}),
        (["FILE", "--again"], {"good", "odd"}),
        (["--again", "FILE"], {"good", "odd"}),
        (["FILE"], set()),
    ],
)
def test_bots_that_are_named_play_again_and_without_a_name_all(tmp_path, arguments, bots):
    path = str(definition(tmp_path, {"good": "perfect", "odd": "wrong_at_2"}))
    assert played(path, "--quiet") == 0
    before = {result: result.read_bytes() for result in Path("results/small").glob("*.json")}
    assert played("--quiet", *(argument.replace("FILE", path) for argument in arguments)) == 0
    again = {result for result, content in before.items() if result.read_bytes() != content}
    kept = {result for result, content in before.items() if Path(f"{result}.before-1").exists()}
    assert kept == again
    assert {result.stem.rpartition("-")[2] for result in again} == bots


def test_an_unknown_bot_to_play_again_is_reported_before_removing_results(tmp_path, capsys, output_of):
    path = str(definition(tmp_path, {"good": "perfect", "odd": "wrong_at_2"}))
    assert played(path, "--again", "godo") == 2
    said = capsys.readouterr().err
    assert said == "nonojudge: --again godo: no such bot (similar: good); the bots are good, odd\n"
    assert "name the tournament's file" in output_of(played, "--again", status=2).err
    assert not Path("results").exists()


WRITTEN = {"memory_limit_bytes": ['"1GB"', "'1g'", '"200M"', '"1 GiB"', '"4096"', "4096", '"none"']}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, limit in LIMITS.items() for value in WRITTEN.get(name, ["7", limit.none or "0.5"])],
)
def test_limits_are_read_alike_in_the_file_and_by_the_option(name, value):
    parser = Parser()
    add_terms(parser, name)
    option = vars(parser.parse_args([LIMITS[name].option, value.strip("'\"")]))[name]
    text = 'name = "x"\nsets = ["s"]\nbots = [{name = "a", command = "a"}]\n'
    Path("t.toml").write_text(f"{text}limits = {{{LIMITS[name].key} = {value}}}")
    assert getattr(read_tournament(Path("t.toml")).configuration, name) == option


def test_limits_and_placeholders_of_a_tournament_file_are_read(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(
        'name = "x"\nsets = ["s"]\nfeed = "interactive"\ncore = "any"\nany-order = true\n'
        "[limits]\ncpu = 5\npuzzle = 2.5\nmemory = '2G'\nstall = 0\n"
        "[[bots]]\nname = 'a'\ncommand = '{python} x.py --size {size} -w{width} --limit {puzzle-limit} "
        '"{a b}" {{size}} ${size}\''
    )
    tournament = read_tournament(path)
    terms = tournament.configuration
    assert terms == Configuration(Feed.INTERACTIVE, 7200.0, 5.0, 2.5, 2 << 30, None, None, True, Contain.AUTO, 512)
    filled = filled_in(tournament.bots[0].command, load_set("boardgen:7x4x1:seed=1"), terms)
    assert filled[0] == sys.executable
    assert shlex.join(filled[1:]) == "x.py --size 7x4 -w7 --limit 2.5 '{a b}' '{size}' '${size}'"


# Duels: both bots at the same time on one core

DECIDING = ("--confidence", "0.5")
"""With them two rounds are enough."""


WHITE = "import sys\nfor line in sys.stdin:\n    if line.startswith('$'): print(line + '0')"
"""A bot for boards of one white cell, as most of size 1x1 are."""


def duel(folder, *behaviours):
    if not can_pin():
        pytest.skip("this system cannot hold a bot on a core")
    options = ["--quiet", "--set", str(RECIPE), "--contain", "no"]
    return ["duel", *options, *(shlex.join(command(behaviour, folder)) for behaviour in behaviours)]


def test_a_duel_runs_both_bots_on_one_core_and_reports_the_slower(tmp_path, capsys, output_of):
    results = tmp_path / "results"
    arguments = duel(tmp_path, "meet_and_solve", "meet_and_compute")
    assert cli.run([*arguments, *DECIDING, "--rounds", "2", "--env", "A=1", "--results", str(results)]) == 1
    said = capsys.readouterr().out
    assert "\nworse\n" in said
    assert "in CPU time after is " in said
    assert "wall time of a run" not in said
    assert "warning" not in said
    runs = [[read_result(results / side / f"{number}.json") for side in ("before", "after")] for number in (1, 2)]
    for pair in runs:
        assert pair[0].configuration == pair[1].configuration
        assert pair[0].configuration.digests == {"A": digest_of_variable("A", "1")}
        assert len(pair[0].configuration.cores) == 1
        assert all(run.score.all_right for run in pair)
    assert runs[0][0].configuration.shared_core != runs[1][0].configuration.shared_core
    assert cli.run(["compare", *DECIDING, str(results / "before"), str(results / "after")]) == 1
    assert capsys.readouterr().out == said
    assert "before contains results" in output_of(cli.run, [*arguments, "--results", str(results)], status=2).err


@pytest.mark.nightly
def test_with_until_a_duel_ends_as_soon_as_the_outcome_is_decided(tmp_path, capsys):
    results = tmp_path / "results"
    arguments = duel(tmp_path, "meet_and_solve", "meet_and_compute")
    assert cli.run([*arguments, "--until", *DECIDING, "--results", str(results)]) == 1
    assert "\nworse\n" in capsys.readouterr().out
    names = [sorted(result.name for result in side.iterdir()) for side in results.iterdir()]
    assert names == [["1.json", "2.json", "3.json"]] * 2


def test_with_until_a_duel_ends_if_more_rounds_cannot_decide(tmp_path, output_of):
    results = tmp_path / "results"
    arguments = [*duel(tmp_path, "even", "odd"), "--until", *DECIDING, "--results", str(results)]
    assert "no puzzle is right in both: more rounds cannot help" in output_of(cli.run, arguments, status=3).out
    assert sorted(path.name for path in (results / "after").iterdir()) == ["1.json", "2.json", "3.json"]


@pytest.mark.slow
def test_with_until_each_round_of_a_duel_plays_a_part_of_the_set(tmp_path, capsys):
    results = tmp_path / "results"
    [*options, _, _] = duel(tmp_path, "perfect", "perfect")
    options += ["--until", *DECIDING, "--rounds", "3", "--results", str(results)]
    bot = shlex.join([sys.executable, "-S", "-c", WHITE])
    cli.run([*options, "--set", "boardgen:1x1x150:seed=1", bot, bot])
    said = capsys.readouterr().out
    assert said.startswith("boardgen:1x1x150:seed=1\n")
    assert " right in both" in said
    for side in ("before", "after"):
        sets = [read_result(results / side / f"{number}.json").set for number in (1, 2, 3)]
        assert [part.name[-4:] for part in sets] == ["@2/3", "@3/3", "@1/3"]
        assert {part.puzzle_count for part in sets} == {50}


def test_a_duel_reports_a_bot_that_cannot_run_or_solves_no_puzzle(tmp_path, capsys, output_of):
    [*options, _, _] = arguments = duel(tmp_path, "hang_at_3", "perfect")
    assert cli.run([*options, arguments[-2], "/nowhere/bot"]) == 2
    assert capsys.readouterr().err == "nonojudge: after: cannot start '/nowhere/bot': No such file or directory\n"
    said = output_of(cli.run, duel(tmp_path, "perfect", "ends_with_2_at_once"), status=2).err
    assert said.startswith("nonojudge: after solved no puzzle: 0 of 5 right, ")
    assert "crashed; its last line on stderr: unrecognized: --fats; `nonojudge check -- " in said


def test_a_duel_shows_the_last_stderr_line_of_a_crash_and_a_remedy(tmp_path, capsys):
    arguments = [*duel(tmp_path, "perfect", "crash_at_3"), "--rounds", "2"]
    assert cli.run(arguments) == 1
    out, err = capsys.readouterr()
    assert err == "nonojudge: after: crashed; its last line on stderr: RuntimeError: cannot go on\n"
    hint = "more rounds cannot help, a set with more puzzles that both solve can"
    assert f"2 puzzles are too few to count: {hint}" in out
    assert "to decide it" not in out


def test_a_duel_shows_how_many_puzzles_both_answered_from_the_first_pair_on(tmp_path):
    arguments = [word for word in duel(tmp_path, "hang_at_3", "hang_at_3") if word != "--quiet"]
    with Terminal([sys.executable, "-m", "nonobot.harness", *arguments], errors_too=True) as terminal:
        terminal.wait_for("warming up, ", " of 5 puzzles")
        terminal.screen("warming up, [12] of 5 puzzles")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end()[0] == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_duel_leaves_no_bot_and_no_incomplete_round(tmp_path, number):
    results = tmp_path / "results"
    arguments = [*duel(tmp_path, "solve_once_and_wait", "solve_once_and_wait"), "--results", str(results)]
    waiting = tmp_path / "waiting"
    told = interrupted(*arguments, when=lambda: len(noted(waiting)) == 2, number=number)
    assert told == ("", "nonojudge: interrupted\n")
    assert not [bot for bot in noted(waiting) if Path(f"/proc/{bot}").exists()]
    assert not list(results.rglob("*.json*"))


def test_names_that_a_file_system_may_confuse_get_different_files():
    names = ["小.txt", "大.txt", "week/1.txt", "week-1.txt", "WEEK-1.TXT", "é", "e\u0301", "★", "☆", ".."]
    names += ["x" * 300, "x" * 299, "小" * 200, "boardgen:5x5x5:seed=3", "lone \udc80"]
    parts = result_names(names)
    assert list(parts) == names
    assert len({unicodedata.normalize("NFC", part).casefold() for part in parts.values()}) == len(names)
    assert all(part == Path(part).name and not part.startswith(".") for part in parts.values())
    assert max(len(os.fsencode(part)) for part in parts.values()) <= 110
    kept = {"小.txt": "小.txt", "week/1.txt": "week-1.txt", "boardgen:5x5x5:seed=3": "boardgen-5x5x5-seed-3"}
    assert kept.items() <= parts.items()
    assert result_names(names[:1])[names[0]] == parts[names[0]]
    assert "week-1.txt-" in result_names([f"/{'long/' * 40}week-1.txt"]).popitem()[1]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (["a/b"], ["a-b", "a/b"]),
        (["a/b", "a-b"], ["a-b", "a/b"]),
        (["a"], ["A", "a"]),
        (["a", "A"], ["A"]),
        (["a/b"], ["a-b"]),
    ],
)
def test_results_stay_assigned_to_their_bots_if_other_bots_are_added(tmp_path, first, then, output_of):
    played(str(definition(tmp_path, dict.fromkeys(first, "perfect"))), "--quiet")
    before = {path: path.read_bytes() for path in Path("results/small").glob("*.json")}
    err = output_of(played, str(definition(tmp_path, dict.fromkeys(then, "perfect")))).err
    assert [bot for bot in then if f"{bot} on {RECIPE}: played before" in err] == [b for b in then if b in first]
    assert all(path.read_bytes() == content for path, content in before.items())
    bots = [read_result(path).bot for path in Path("results/small").glob("*.json")]
    assert sorted(bots) == sorted({*first, *then})


def test_an_interrupted_run_is_resumed_only_for_its_own_bot(tmp_path, output_of):
    path = definition(tmp_path, {"a/b": "perfect"})
    played(str(path), "--quiet")
    [result] = Path("results/small").glob("*.json")
    with Journal(journal_path(result)) as journal:
        journal.add(records_of(read_result(result))[0])
    result.unlink()
    output_of(played, str(definition(tmp_path, {"a-b": "perfect", "a/b": "perfect"})))
    assert read_result(result).bot == "a/b"


def test_a_result_stays_assigned_to_its_set(tmp_path, output_of):
    for seed, name in enumerate(["q-1.txt", "q/1.txt"]):
        Path(name).parent.mkdir(exist_ok=True)
        with Path(name).open("wb") as file:
            write_set(Recipe(5, 5, 2, seed=seed).boards(), file)
    bot = '[[bots]]\nname = "x"\ncommand = "true"\n'
    for sets in (["q/1.txt"], ["q-1.txt", "q/1.txt"]):
        sized = ", ".join(f'{{set = "{name}", size = "5x5"}}' for name in sets)
        Path("t.toml").write_text(f'name = "t"\nsets = [{sized}]\n{bot}')
        err = output_of(played, "t.toml").err
    assert "x on q/1.txt: played before" in err


def test_sets_with_names_in_any_script_keep_their_results_apart(tmp_path, output_of):
    names = ["小.txt", "大.txt", "week/1.txt", "week-1.txt"]
    for seed, name in enumerate(names):
        Path(name).parent.mkdir(exist_ok=True)
        with Path(name).open("wb") as file:
            write_set(Recipe(5, 5, 2, seed=seed).boards(), file)
    sets = ", ".join(f'{{set = "{name}", size = "5x5"}}' for name in names)
    Path("t.toml").write_text(f'name = "t"\nsets = [{sets}]\n[[bots]]\nname = "x"\ncommand = "true"\n')
    out = output_of(played, "t.toml", "--quiet").out
    paths = sorted(Path("results/t").glob("*.json"))
    assert {read_result(path).set.name for path in paths} == set(names)
    tables = [out, *(output_of(cli.run, ["table", *map(str, some)]).out for some in ([paths[0].parent], paths))]
    assert [[line for line in table.splitlines() if line in names] for table in tables] == [names] * 3


def test_an_added_set_appears_in_its_place_in_every_ranking(tmp_path, output_of):
    second, first = Recipe(5, 5, 5, seed=3), Recipe(6, 5, 5, seed=3)
    played(str(definition(tmp_path, {"b": "perfect", "a": "perfect"}, [second])))
    played(str(definition(tmp_path, {"b": "perfect", "a": "perfect"}, [first, second])))
    results = Path("results/small")
    files = in_order_of_play(files_in(results))
    order = [f"{run.set.name}, {run.bot}" for run in map(read_result, files)]
    assert order == [f"{recipe}, {bot}" for recipe in (first, second) for bot in "ba"]
    journals = [journal_path(path) for path in files_in(results)]
    assert in_order_of_play(journals) == [journal_path(path) for path in files]
    titles = [str(first), str(second), "overall"]
    output_of(lambda: 0)  # what the tournaments printed
    table = output_of(cli.run, ["table", str(results)]).out
    assert [line for line in table.splitlines() if line in titles] == titles
