"""The official ranking: its order, and its forms; test_result_files.py compares two of them with golden files."""

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from nonobot.harness import cli
from nonobot.harness.commands import table
from nonobot.harness.ranking.standings import Evidence, Scope, rankings
from nonobot.harness.ranking.table_text import as_text
from nonobot.harness.results.conditions import CgroupMeasures, Configuration, FileNames
from nonobot.harness.results.result_files import ORDER, read_result
from nonobot.harness.results.run_result import Attempt, BotEnd, BotLog, EndReason, ProgramFile, Usage, Verdict
from nonobot.harness.results.run_text import run_lines
from nonobot.harness.text import NOTHING
from tests.helpers.places import sparse
from tests.helpers.ranked import (
    MACHINE,
    NOTES_OF_A_CHANGED_TOURNAMENT,
    folder_of_a_changed_tournament,
    match_of,
    run_result,
    verify_result,
    written,
)

SLOW = structs.replace(MACHINE, cpu="Slow CPU")


def ranking(*results):
    return rankings({Path(f"{number}.json"): result for number, result in enumerate(results)})


def placed(section):
    return [(row.rank, row.bot) for row in section.rows]


def run(*arguments):
    return cli.run(["table", *map(str, arguments)])


def test_a_ranking_has_times_per_bot_and_a_title_per_set():
    [section] = ranking(run_result("a", (1.0, 2.0), wall=50.0), run_result("b", (1.0, None), wall=50.0))
    assert [row.time_seconds for row in section.rows] == [3.0, 50.0]
    other = run_result("b", set=structs.replace(run_result().set, sha256=64 * "f"))
    titles = [section.title for section in ranking(run_result("a"), other)][:2]
    assert titles == ["set1 (sha256 set1-dig)", "set1 (sha256 ffffffff)"]


def test_a_bot_that_did_not_start_has_no_time_and_ranks_behind_those_that_tried(tmp_path, output_of):
    absent = run_result("absent", (None, None), end=EndReason.NOT_STARTED)
    files = written(tmp_path, absent=absent, slow=run_result("slow", (None, None), wall=50.0))
    lines = [line.replace("2 missing", "2-missing").split() for line in output_of(run, *files).out.splitlines()]
    [columns] = [cells for cells in lines if cells[:2] == ["#", "bot"]]
    assert columns[5] == "time"
    rows = [cells for cells in lines if cells[1:2] in (["slow"], ["absent"]) and len(cells) > 5]
    assert [(cells[1], cells[5]) for cells in rows] == [("slow", "50.00"), ("absent", NOTHING)]


def test_runs_of_the_order_file_without_a_result_and_interrupted_ones_are_counted(tmp_path, output_of):
    folder = tmp_path / "results"
    files = written(folder, a=run_result("a"), b=run_result("b", (1.0, None), end=EndReason.INTERRUPTED))
    (folder / ORDER).write_text("a\nb\n")
    assert "not final: 1 interrupted of 2 runs" in output_of(run, folder).out
    assert "not final" not in output_of(run, files[0]).out
    (folder / ORDER).write_text("a\nb\nother-set--a\nother-set--b\n")
    assert "not final: 2 missing and 1 interrupted of 4 runs" in output_of(run, folder).out
    files[1].unlink()
    (folder / ORDER).write_text("a\n")
    assert "not final" not in output_of(run, folder).out


def test_an_unknown_peak_memory_is_not_zero():
    unknown = Attempt("", 1, BotEnd(EndReason.FINISHED), Usage(0.003, 0.001, 0))
    [section] = ranking(run_result("a", attempts=[unknown]))
    assert section.rows[0].peak_memory_bytes is None


def test_table_and_report_list_missing_runs_and_results_of_removed_bots(tmp_path, output_of):
    folder_of_a_changed_tournament(tmp_path)
    table, report = output_of(run, tmp_path).out, tmp_path / "report.html"
    assert cli.run(["report", str(tmp_path), "-o", str(report)]) == 0
    for line in NOTES_OF_A_CHANGED_TOURNAMENT:
        assert line in " ".join(table.split())
        assert line in report.read_text()
    assert "\x1b" not in table + report.read_text()
    (tmp_path / ORDER).unlink()
    assert not any(word in output_of(run, tmp_path).out for word in ("missing:", "not in the tournament"))


def test_the_number_of_runs_of_a_match_comes_from_its_order_file(tmp_path, output_of):
    names = [f"bot {number}" for number in range(5)]
    written(tmp_path, first=match_of(names)[0])
    (tmp_path / ORDER).write_text("first\n" + "".join(f"{number}\n" for number in range(19)))
    note = "not final: 19 missing of 20 runs, and pairings without both runs have no points"
    assert note in " ".join(output_of(run, tmp_path).out.split())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=8))
def test_the_rank_of_a_bot_equals_1_plus_the_number_of_better_bots(bots):
    results = [
        run_result(f"bot{number}", (float(time), 0.0, 0.0), dict.fromkeys(range(right + 1, 4), Verdict.WRONG))
        for number, (right, time) in enumerate(bots)
    ]
    [section] = ranking(*results)
    for row in section.rows:
        right, time = bots[int(row.bot.removeprefix("bot"))]
        assert row.rank == 1 + sum(other > right or (other == right and less < time) for other, less in bots)
    assert [row.rank for row in section.rows] == sorted(row.rank for row in section.rows)


def test_several_runs_answer_files_and_logs_are_ranked():
    runs = [run_result("bot", (seconds, 1.0)) for seconds in (9.0, 2.0, 5.0)]
    [section] = ranking(*runs)
    [row] = section.rows
    assert (row.time_seconds, row.run_count, row.files) == (6.0, 3, ["2.json"])
    [section] = ranking(*runs, run_result("bot", (1.0, 1.0), {1: Verdict.WRONG}))
    assert section.rows[0].time_seconds == 6.0  # 3, 6, 10 and one not all right: the better of 6 and 10
    assert any("the middle one" in note for note in section.notes)
    answers = verify_result("deep/all.txt", 3), verify_result("-", 3)
    [section] = ranking(*answers, run_result("bot", (9.0, 9.0, 9.0)), run_result("half", (1.0, 1.0, None)))
    assert placed(section) == [(1, "bot"), (2, "1"), (2, "all"), (4, "half")]
    assert (section.rows[2].evidence, section.rows[2].time_seconds) == (Evidence.ANSWERS, None)


def test_the_overall_ranking_covers_the_sets_that_all_bots_played():
    ranked = ranking(
        run_result("a", (1.0, 1.0), set_name="x"),
        run_result("a", (1.0, 1.0), set_name="x"),
        run_result("b", (2.0, None), set_name="x", wall=7.0, end=EndReason.TIME_LIMIT),
        run_result("a", (3.0, 1.0), set_name="y"),
        run_result("b", (1.0, 1.0), set_name="y"),
        run_result("a", (100.0, 1.0), set_name="z"),
    )
    assert [section.scope for section in ranked] == [Scope.SET, Scope.SET, Scope.SET, Scope.OVERALL]
    overall = ranked[-1]
    assert placed(overall) == [(1, "a"), (2, "b")]
    first, second = overall.rows
    assert (first.right, first.time_seconds, first.slowest_seconds, first.slowest_set) == (4, 6.0, 3.0, "y")
    assert (second.right, second.time_seconds, second.ends) == (3, 9.0, ["time-limit", "finished"])
    assert (first.median_seconds, second.median_seconds) == (1.0, 1.0)
    assert [row.run_count for ranking in ranked for row in ranking.rows] == [2, 1, 1, 1, 1, 1, 1]
    assert overall.notes[:2] == ["over set 1 x, set 2 y", "z is left out: no result of b"]
    overall = ranking(run_result("a", set_name="x"), run_result("b", set_name="y"))[-1]
    assert (overall.rows, overall.notes[0]) == ([], "no set that every bot has played")


def logging(log, *others, bot="logs", **changes):
    """Return a run of 1, 2 and 3 s, in a process of 10 s, with the bot's own log of each attempt."""
    run = run_result(bot, files=FileNames("in", "out", "log"), **changes)
    [attempt] = run.attempts
    attempts = [structs.replace(attempt, own_log=log)]
    for number, other in enumerate(others, 3):
        attempts.append(structs.replace(attempt, first_puzzle=number, own_log=other))
    return structs.replace(run, attempts=attempts)


EVERY = {1: 1.0, 2: 2.0, 3: 2.5}


@pytest.mark.parametrize(
    ("run", "own", "doubt"),
    [
        (logging(BotLog(EVERY, 5.75)), 5.75, None),
        (logging(BotLog(EVERY)), 5.5, None),
        (logging(BotLog({1: 1.0, 2: 2.0}), BotLog({3: 2.0}, 2.25)), 5.25, None),
        (logging(BotLog(EVERY, 1.25), cpu=5.0), 1.25, None),  # CPU time, of a process that waited half of its time
        (logging(BotLog(EVERY, 10.5)), 10.5, None),
        (logging(BotLog(EVERY, 15.0), cpu=16.0), 15.0, None),  # CPU time on several cores
        (logging(BotLog(EVERY, 5750.0)), 5750.0, "5,750 s, more than the 10.0 s that the bot ran"),
        (logging(BotLog(EVERY, 1.25), cpu=10.0), 1.25, "1.25 s, less than half of the 5.00 s between its answers"),
        (logging(BotLog(EVERY, 0.1), times=(0.1, 0.2, 0.3)), 0.1, None),  # what rounding explains
        (logging(BotLog({2: 2.0}, 5.75)), 5.75, "no time for 2 of 3 answered puzzles (1, 3)"),
        (logging(BotLog({1: 1.0}, 5.75), times=(1.0, None, None)), 5.75, None),  # the others have no answer
        (logging(BotLog({}, error="no file 'log'")), None, "no file 'log'"),
        (logging(UNSET, BotLog({3: 2.5})), None, "not read: the judge was killed"),
    ],
)
def test_own_log_times_have_a_column_and_doubtful_logs_a_warning(run, own, doubt):
    [section] = ranking(run, run_result("none", files=FileNames("in", "out")))
    assert {row.bot: row.own_seconds for row in section.rows} == {"logs": own, "none": None}
    assert section.warnings == ([f"own log of logs: {doubt}"] if doubt else [])
    assert [line for line in run_lines(run) if doubt and doubt in line] == run_lines(run)[-1:] * bool(doubt)


def test_the_own_time_column_appears_only_if_a_bot_has_a_log(tmp_path, capsys):
    files = written(tmp_path, a=logging(BotLog(EVERY, 5.75), bot="a"), b=run_result("b"))
    written(tmp_path, c=logging(BotLog(EVERY, 4.25), bot="a", set_name="x"), d=run_result("a", set_name="y"))
    for form, header, cells in (
        ("text", r"time s +own s +CPU s", r"6\.00 +5\.75 +6\.00"),
        ("markdown", r"time s \| own s \| CPU s", rf"6\.00 \| {NOTHING} \| 6\.00"),
        ("csv", r"files,own_seconds,version,", r"\.json,5\.75,,"),
    ):
        run(*files, "--format", form)
        out = capsys.readouterr().out
        assert re.search(header, out)
        assert re.search(cells, out)
        run(files[1], "--format", form)
        assert form == "csv" or "own s" not in capsys.readouterr().out
    both = {path: read_result(path) for path in map(tmp_path.joinpath, ("a.json", "c.json"))}
    assert rankings(both)[-1].rows[0].own_seconds == 10.0
    assert rankings(both | {Path("d"): read_result(tmp_path / "d.json")})[-1].rows[0].own_seconds is None


def test_logs_are_ranked_separately_from_runs():
    logs = BotLog({1: 0.5, 2: 9.0}, 9.6), BotLog({1: 0.1, 2: 0.2, 3: 0.3}, None)
    ranked = ranking(logs[0], run_result("bot"), logs[1])
    assert [section.scope for section in ranked] == [Scope.SET, Scope.LOGS]
    assert placed(ranked[0]) == [(1, "bot")]
    assert placed(ranked[1]) == [(1, "2"), (2, "0")]
    older, old = ranked[1].rows
    assert (older.right, older.logged, older.evidence, old.time_seconds) == (None, 3, Evidence.LOG, 9.6)
    assert (old.slowest_puzzle, old.slowest_seconds, older.median_seconds) == (2, 9.0, 0.2)
    assert "not verified" in ranked[1].title
    assert any("sum of its times" in note and note.endswith("2") for note in ranked[1].notes)


def test_conditions_that_make_times_incomparable_cause_warnings():
    busy = run_result("a", machine=structs.replace(SLOW, busy_share=0.4))
    [section] = ranking(busy, run_result("b"), run_result("b", command=["./bot", "--fast"]))
    assert section.warnings == [
        "b: 2 different commands go by this name and are taken as one bot",
        "not the same CPU: Slow CPU (a); Fast CPU (b)",
        "the machine was busy at the start of 1 of 2 runs: others used 40% of its CPU time (a)",
    ]
    first, other, both = (run_result(str(core), terms=Configuration(core=core)) for core in (0, 3, (0, 1)))
    assert ranking(first, other)[0].warnings == []  # which core it was is no difference, and how many is one
    assert ranking(first, both)[0].warnings == ["not the same number of cores: 1 (0); 2 ((0, 1))"]


def test_unknown_conditions_do_not_count_as_different():
    """As of a bot that did not start."""
    counted = CgroupMeasures(True, True, True)
    first = structs.replace(run_result().attempts[0], sandboxed=True, cgroup_measures=counted)
    not_started = run_result(end=EndReason.NOT_STARTED).attempts
    whole, resumed = run_result("a", attempts=[first]), run_result("b", attempts=[*not_started, first])
    absent = run_result("c", end=EndReason.NOT_STARTED, warm_up_seconds=None)
    assert (absent.sandboxed, absent.cgroup_measures) == ("unknown", "unknown")
    assert (resumed.sandboxed, resumed.cgroup_measures) == ("yes", str(counted))
    assert ranking(whole, resumed, absent)[0].warnings == []
    bare = structs.replace(first, sandboxed=False)
    [section] = ranking(whole, run_result("d", attempts=[bare]), absent)
    assert section.warnings == ["not the same sandbox: yes (a); no (d)"]
    filtered = run_result("e", attempts=[structs.replace(first, filtered=True)])
    unfiltered = run_result("f", attempts=[structs.replace(first, filtered=False)])
    [section] = ranking(filtered, unfiltered, resumed, absent)
    assert section.warnings == ["not the same filter of system calls: yes (e); no (f)"]


def test_busy_or_different_machines_cause_warnings():
    machines = [structs.replace(SLOW, busy_share=share) for share in (0.12, 0.5, 0.7, 1.0)]
    places = [{"bot": bot, "set_name": name} for name in ("set1", "set2") for bot in "ab"]
    runs = [run_result(**place, machine=machine) for place, machine in zip(places, machines, strict=True)]
    line = "the machine was busy at the start of 4 of 4 runs: others used 12% to 100% of its CPU time"
    assert [section.warnings for section in ranking(*runs)] == [[], [], [line]]
    assert ranking(runs[2])[0].warnings == [
        "the machine was busy at the start of 1 of 1 run: others used 70% of its CPU time"
    ]
    first = [run_result(bot, set_name="set1") for bot in "ab"]
    second = [run_result(bot, set_name="set2", machine=SLOW) for bot in "ab"]
    ranked = ranking(*first, *second)
    assert [section.warnings for section in ranked] == [[], [], []]
    assert "; Fast CPU, " in ranked[0].notes[0]
    assert "; Slow CPU, " in ranked[1].notes[0]
    mixed = [*first, second[0], run_result("b", set_name="set2")]
    line = "not the same CPU: Slow CPU (a); Fast CPU (b)"
    assert [section.warnings for section in ranking(*mixed)] == [[], [line], [line]]


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    written(
        folder,
        a=run_result("a|b\x1b[bold]\n", (1.0, 0.002, None), wall=7.5, end=EndReason.CRASHED),
        b=run_result("plain", (1.0, 0.25, 0.5)),
        c=verify_result("answers.txt", 2),
    )
    (folder / "champion.log").write_text("#1\t0.5\n#2\t0.25\ntotal time: 0.8\n")
    return folder


def test_the_ranking_is_printed_as_text_and_markdown(results, output_of):
    out = output_of(run, results).out
    assert "\x1b" not in out
    lines = [" ".join(line.split()).replace(NOTHING, "-") for line in out.splitlines()]
    assert "1 plain 3 0 - 1.75 1.75 48 500.00 1.000 ($1) finished" in lines
    assert r"2 a|b\x1b[bold]\n 2 0 1 missing 7.50 1.00 48 501.00 1.000 ($1) crashed" in lines
    assert "3 answers 2 1 - - - - - - answers only" in lines
    assert "1 champion 2 0.80 375.00 0.500 ($1)" in lines
    assert out.index("logs, not verified") > out.index("answers only")
    out = output_of(run, results, "--format", "markdown").out
    assert r"a\|b" in out
    tables = [part.splitlines() for part in out.split("\n\n") if part.startswith("|")]
    assert len(tables) == 2
    for lines in tables:
        assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1
        assert set(lines[1]) <= set("|-: ")


@pytest.mark.parametrize(
    "command",
    ["table", "table --format markdown", "table --format csv", "table --format json", "compare --json", "compare"],
)
def test_names_in_results_are_escaped_and_shortened_on_a_terminal(tmp_path, capsys, command):
    name = "\x9b2J\x1b[2J\u202e\r\n" + "x" * 5000
    paths = map(str, written(tmp_path, a=run_result(name, set_name=name), b=run_result(name, set_name=name)))
    assert cli.run([*command.split(), *paths]) in (0, 3)
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    if "json" in command:
        assert json.dumps(name)[1:-1] in out
    else:
        assert 500 < len(out) < 5000


def test_skipped_files_missing_results_and_unwritable_tables_are_reported(results, output_of):
    (results / "bad.json").write_text("{}")
    out, err = output_of(run, results, results / "nowhere.json", "--format", "json", status=1)
    problems = json.loads(out)["errors"]
    assert ["bad.json" in problems[0], "nowhere.json" in problems[1], len(problems)] == [True, True, 2]
    assert err == "".join(f"nonojudge: left out: {problem}\n" for problem in problems)
    assert "no result to show" in output_of(run, results / "bad.json", status=2).err
    assert "cannot write" in output_of(run, results, "-o", results / "no" / "a.md", status=2).err


def test_the_file_extension_selects_the_format(results, tmp_path, capsys):
    beginnings = {"a.md": "## set1", "a.csv": "scope,", "a.json": "{", "a.txt": "set1", "a": "set1"}
    for name, beginning in beginnings.items():
        assert run(results, "-o", tmp_path / name) == 0
        assert (tmp_path / name).read_text().startswith(beginning)
        assert capsys.readouterr().out == f"table: {tmp_path / name}\n"


def test_a_table_in_the_folder_of_its_results_is_written_again_but_no_result_is_replaced(results, output_of):
    result = min(results.glob("*.json"))
    for _ in range(2):
        output_of(run, results, "-o", results / "table.json", status=0)
    assert "this file is read" in output_of(run, results, "-o", result, status=2).err


def test_unsupported_file_extensions_are_refused(results, tmp_path, output_of):
    err = output_of(run, results, "-o", tmp_path / "a.XLSX", status=2).err
    assert "no format for such a file; use .csv, .md, .json or .txt, or add --format" in err
    assert "; `nonojudge report` writes .html, and spreadsheets read .csv" in err
    assert run(results, "-o", tmp_path / "a.html", "--format", "markdown") == 0
    assert [path.name for path in tmp_path.glob("a.*")] == ["a.html"]


def test_colours_follow_the_settings_and_narrow_terminals_get_fewer_columns(monkeypatch, output_of, results):
    def shown(columns: int, **environment: str) -> str:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}.items():
            monkeypatch.setenv(name, value)
        return output_of(run, results).out

    written(results, d=run_result("d", machine=SLOW))
    monkeypatch.setattr(table, "on_terminal", lambda: True)
    wide, narrow, yellow = shown(150, NO_COLOR="1"), shown(70, NO_COLOR="1"), "\x1b[33m"
    assert "peak MiB" in wide
    assert "no room" not in wide
    for text in ("no room for CPU s, peak MiB", "answers", "7.50"):
        assert text in narrow
    assert yellow in shown(120)
    assert yellow not in wide
    assert run(results, "-o", results / "table.txt") == 0
    assert "\x1b" not in (results / "table.txt").read_text()


LONG_NAME = "a participant whose name is long, of the University of Somewhere"


def text_of_match(monkeypatch, names, columns: int | None) -> list[str]:
    """Return the lines of the table of a match, on a terminal of this width or in a file."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns or 0))
    runs = {Path(str(number)): run for number, run in enumerate(match_of(names))}
    sections = [section for section in rankings(runs) if section.scope is Scope.MATCH]
    return re.sub(r"\x1b\[[\d;]*m", "", as_text(sections, terminal=columns is not None)).splitlines()


def test_a_file_has_every_column_however_many_opponents_there_are(monkeypatch):
    names = [LONG_NAME, *(f"bot {number}" for number in range(19))]
    lines = text_of_match(monkeypatch, names, None)
    [header] = [line for line in lines if line.startswith(" #")]
    assert all(f"vs {name}" in header for name in names)
    assert not [line for line in lines if "no room" in line]
    assert sum(len(re.findall(r"[012] \(\d:\d\)", line)) for line in lines) == 20 * 19


@pytest.mark.parametrize("columns", [80, 110, 200])
def test_a_wide_cross_table_is_split_into_parts_with_numbered_columns(monkeypatch, columns):
    names = [LONG_NAME, *(f"bot {number}" for number in range(19))]
    lines = text_of_match(monkeypatch, names, columns)
    assert max(map(len, lines)) <= columns
    assert not [line for line in lines if "no room" in line and "vs" in line]
    headers = [line for line in lines if line.startswith("no.")]
    assert re.findall(r"vs (\d+)", " ".join(headers)) == [str(number) for number in range(1, 21)]
    assert sum(len(re.findall(r"[012] \(\d:\d\)", line)) for line in lines) == 20 * 19


def test_one_long_name_does_not_remove_columns_on_a_terminal(monkeypatch):
    for names in (["a", "b", "c"], [LONG_NAME, "b", "c"]):
        lines = text_of_match(monkeypatch, names, 110)
        assert not [line for line in lines if "no room" in line]
        assert [line for line in lines if "a participant" in line or " a " in line]


def test_bots_with_identical_files_cause_a_note():
    digests = [ProgramFile("bot.py", 64 * "a")]

    def copy(bot, seconds=1.0, command="python3 bob/bot.py", **changes):
        given = {"command": command.split(), "program_files": digests, **changes}
        return run_result(bot, (seconds, seconds), **given)

    runs = [copy("bob"), copy("carl", 1.5, "python3 carl/bot.py"), copy("dora", 9.0, "python3 bot.py -x")]
    other = copy("eve", program_files=[ProgramFile("bot.py", 64 * "b")])
    absent = copy("fay", None, end=EndReason.NOT_STARTED)
    seeded = copy("gus", terms=Configuration(environment={"SEED": "7"}))
    [section] = ranking(*runs, other, absent, seeded)
    [line] = [note for note in section.notes if "the same files" in note]
    assert line == "bob and carl have the same files; on set1, their times differ by 50%, which is noise"
    facts = structs.replace(runs[0].set, name="set2", sha256="c" * 64)
    other_set = [structs.replace(run, set=facts, command=[*run.command, "9"]) for run in runs]
    [line] = [note for note in ranking(*runs, *other_set)[-1].notes if "the same files" in note]
    place = "over the 2 sets that all of them played"
    assert line == f"bob and carl have the same files; {place}, their times differ by 50%, which is noise"
    [section] = ranking(*runs, copy("hal", 4.0))
    [line] = [note for note in section.notes if "the same files" in note]
    assert line.startswith(
        "bob, carl and hal have the same files; on set1, the fastest and the slowest differ by 300%"
    )
    [section] = ranking(*(copy(f"bot {number:02}") for number in range(1, 21)))
    [line] = [note for note in section.notes if "the same files" in note]
    assert line.startswith("all 20 bots have the same files; on set1, ")


def test_in_a_match_each_group_of_bots_with_the_same_files_has_one_note():
    def noted(*files):
        """Return the notes on a match of bots, each with a file of such a content."""
        names = [f"bot {number:02}" for number in range(len(files))]
        contents = dict(zip(names, files, strict=True))
        runs = match_of(names)
        digests = [[ProgramFile("bot.py", 64 * contents[run.bot])] for run in runs]
        runs = [structs.replace(run, program_files=files) for run, files in zip(runs, digests, strict=True)]
        return [note for note in ranking(*runs)[-1].notes if "the same files" in note]

    assert noted(*"a" * 20) == ["all 20 bots have the same files; the differences of their times are noise"]
    first, second = noted(*"ab" * 4)
    assert first.startswith("bot 00, bot 02, bot 04 and bot 06 have the same files; over the 4 sets that all of ")
    assert second.startswith("bot 01, bot 03, bot 05 and bot 07 have the same files; over the 4 sets that all of ")
    assert noted(*"aab") == [
        "bot 00 and bot 01 have the same files; on puzzles of bot 02, their times differ by 0%, which is noise"
    ]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"), sparse])
def test_an_unreadable_order_file_is_ignored(tmp_path, output_of, make):
    written(tmp_path, b=run_result("b"), a=run_result("a"))
    before = output_of(cli.run, ["table", str(tmp_path)])
    make(tmp_path / ORDER)
    assert output_of(cli.run, ["table", str(tmp_path)]) == before


def test_csv_cells_are_never_formulas(results, output_of):
    for name in ("=1+1", "+1", "-1", "@SUM(A1)"):
        files = written(results, a=run_result(name))
        [row] = csv.DictReader(io.StringIO(output_of(run, *files, "--format", "csv").out))
        assert row["bot"] == f"'{name}"


def test_a_dash_means_standard_output(results, capsysbinary):
    written(results, a=run_result("a"))
    assert run(results, "-o", "-", "--format", "csv") == 0
    assert capsysbinary.readouterr().out.startswith(b"scope,")
    assert not Path("-").exists()
