"""What the commands are given: results, logs and folders of them, and what is none of these."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nonobot.bot.result import Result, RunLog
from nonobot.harness import UnusableError
from nonobot.harness.profiling.profile_data import read_profile
from nonobot.harness.results.result_files import files_in, json_text, read_any, read_results
from nonobot.harness.results.run_result import BotLog
from nonobot.protocol import Puzzle
from tests.ranked import run_result, written


def test_a_document_of_another_kind_is_named_as_such_and_passed_over_in_a_folder(tmp_path):
    written(tmp_path, run=run_result())
    (tmp_path / "p.json").write_text('{"kind": "profile", "schema_version": 2}')
    (tmp_path / "old.json").write_text('{"kind": "run", "schema_version": 1}')
    read, problems = read_results([tmp_path])
    assert (list(read), len(problems)) == ([tmp_path / "run.json"], 1)
    assert problems[0].endswith("schema version 1, of another nonojudge; this one reads 3")
    _, problems = read_results([tmp_path / "p.json"])
    assert problems == [f"{tmp_path}/p.json is not a result of nonojudge: its kind is profile"]
    with pytest.raises(UnusableError, match="its kind is run"):
        read_profile(tmp_path / "old.json")


def test_a_folder_of_tournaments_names_one_with_results(tmp_path):
    (tmp_path / "weekly").mkdir()
    written(tmp_path / "weekly", run=run_result())
    with pytest.raises(UnusableError, match=f"contains no result .*; name its folder {tmp_path}/weekly"):
        files_in(tmp_path)


def log_of(folder, text):
    path = folder / "champion.log"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def test_the_log_of_this_projects_bot_reads_back(tmp_path):
    path = tmp_path / "ours.log"
    records = RunLog(path, None, pytest.fail)
    for number, seconds in ((1, 0.25), (2, 1.5)):
        records.add(number, Result(Puzzle(rows=[[1]], columns=[[1]]), "timeout", seconds=seconds))
    records.close(1.8)
    assert read_any(path) == BotLog({1: 0.25, 2: 1.5}, 1.8)


@pytest.mark.parametrize(
    ("text", "seconds", "total", "time"),
    [
        ("#1\t0.5\n#2\t1.25\ntotal time: 1.75\n", {1: 0.5, 2: 1.25}, 1.75, 1.75),
        ("#1\t0.5\r\n#2\t1.25\r\ntotal time: 1.75", {1: 0.5, 2: 1.25}, 1.75, 1.75),
        ("\ufeff\n# 1 0.5\n\nTotal Time:1.75 s\n\n", {1: 0.5}, 1.75, 1.75),
        ("#7\t0.5\n#8\t1\n", {7: 0.5, 8: 1.0}, None, 1.5),
        ("#1\t0.5\n#1\t9\ntotal time: 2\n", {1: 0.5}, 2.0, 2.0),
        ("total time: 3e1\n", {}, 30.0, 30.0),
    ],
)
def test_logs(tmp_path, text, seconds, total, time):
    log = read_any(log_of(tmp_path, text))
    assert log == BotLog(seconds, total)
    assert log.time_seconds == time  # without a total, the sum


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#1\t0.5\n#two\t1\n", "line 2: '#two\\t1' is neither '#k<TAB>seconds' nor 'total time: seconds'"),
        ("#1\tsoon\n", "line 1: 'soon' is not a time in seconds"),
        ("#1\t-1\n", "line 1: '-1' is not a time"),
        ("#1\tnan\n", "line 1: 'nan' is not a time"),
        ("#1\tinf\n", "line 1: 'inf' is not a time"),
        ("#1\t0.5\ntotal time: 1\n#2\t1\n", "line 3: '#2\\t1' comes after the total time"),
        ("#1\t0.5\n\udcff\udcfe\n", "line 2: "),
        ("#1\t0.5\n" + 200 * "x", "'" + 40 * "x" + "...'"),
    ],
)
def test_broken_logs_are_refused_with_file_and_line(tmp_path, text, message):
    path = log_of(tmp_path, text)
    with pytest.raises(UnusableError, match=re.escape(message)) as problem:
        read_any(path)
    assert str(problem.value).startswith(f"{path}: line ")
    assert "\n" not in str(problem.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_content_raises_anything_else(tmp_path, content):
    path = tmp_path / "any"
    for beginning in (b"", b"#1\t1\n"):
        path.write_bytes(beginning + content)
        try:
            read_any(path)
        except UnusableError as problem:
            assert "\n" not in str(problem)  # noqa: PT017


def test_a_folder_means_the_results_in_it(tmp_path):
    written(tmp_path, b=run_result("b"), a=run_result("a"))
    log_of(tmp_path, "#1\t1\n")
    for name in (".a.json.123", ".hidden.json", "a.stderr.txt", "a.jsonl"):
        (tmp_path / name).write_text("not for here")
    assert [path.name for path in files_in(tmp_path)] == ["a.json", "b.json", "champion.log"]
    assert [path.name for path in files_in(tmp_path, (".json",))] == ["a.json", "b.json"]
    assert files_in(tmp_path / "a.stderr.txt") == [tmp_path / "a.stderr.txt"]


def test_a_file_counts_once_however_it_is_named(tmp_path):
    [path] = written(tmp_path, a=run_result("a"))
    results, problems = read_results([path, tmp_path, tmp_path / "." / "a.json"])
    assert (list(results), problems) == ([path], [])


RESULT = json_text(run_result())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"kind": "chart", "schema_version": 2}',
        '{"schema_version": 99}',
        RESULT.replace('"wrong": 0,', ""),
        RESULT.replace('"verdict": "right"', '"verdict": "splendid"'),
    ],
)
def test_what_is_no_result_gets_one_line_and_costs_no_other(tmp_path, content):
    written(tmp_path, good=run_result("good"))
    (tmp_path / "bad.json").write_text(content)
    (tmp_path / "circle.json").symlink_to("circle.json")
    results, problems = read_results([tmp_path, tmp_path / "nowhere.json"])
    assert [path.name for path in results] == ["good.json"]
    assert all(name in one for name, one in zip(("bad", "circle", "nowhere"), problems, strict=True))
    assert not any("\n" in problem for problem in problems)


def test_an_empty_folder_is_a_problem_of_its_own(tmp_path):
    _, problems = read_results([tmp_path])
    assert problems == [f"the folder {tmp_path} contains no result (.json or .log)"]
