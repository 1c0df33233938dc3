"""Results as files; and files of all kinds as the commands of November 2026 wrote them, which are still read."""

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nonobot.bot.result import Result, RunLog
from nonobot.harness import UnusableError, cli
from nonobot.harness.bench import against, claims, measure
from nonobot.harness.bench.against import Against, Compared, Plan
from nonobot.harness.bench.measure import Measured
from nonobot.harness.check.self_test import CheckResult
from nonobot.harness.compare.compared_runs import read_version
from nonobot.harness.compare.comparison import Limits, compare
from nonobot.harness.play.journal import read_records
from nonobot.harness.play.run_events import AttemptStarted, PuzzleJudged
from nonobot.harness.profiling import profile_data
from nonobot.harness.profiling.profile_data import read_profile
from nonobot.harness.ranking import table_text
from nonobot.harness.ranking.standings import rankings
from nonobot.harness.results import result_files
from nonobot.harness.results.result_files import (
    files_in,
    json_text,
    read_any,
    read_result,
    read_results,
    write_json,
)
from nonobot.harness.results.run_result import BotLog, RunResult, Verdict
from nonobot.protocol import Puzzle
from tests.helpers.judged import RECIPE, SCRIPTED_BOT, command, little_patience, nothing_hangs  # noqa: F401
from tests.helpers.places import GOLDEN, sparse
from tests.helpers.ranked import run_result, written


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda result: result["score"].update(puzzles=[]), "without puzzles or without a run"),
        (lambda result: result.update(attempts=[]), "without puzzles or without a run"),
        (lambda result: result["score"]["verdicts"].update(right=99), "the verdicts counted are not those"),
        (lambda result: result["score"]["puzzles"][0].update(number=2), "not one for each of the set's 3 puzzles"),
        (lambda result: result["set"].update(puzzle_count=4), "not one for each of the set's 4 puzzles"),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(tmp_path, edit, why):
    path = tmp_path / "result.json"
    path.write_text(json_text(run_result()))
    assert read_result(path) == run_result()
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UnusableError, match=why):
        read_result(path)


# Damaged files

LONG = b"x" * 100_000
DAMAGE = {
    "letter": (b"./bot", b"\xff"),
    "nested": (b"null", b"[" * 100_000 + b"]" * 100_000),
    "digits": (b"50000000", b"9" * 5_000),
    "large": (b"50000000", b"9" * 30),
    "endless": (b'"wall_seconds": 10.0', b'"wall_seconds": 1e308'),
    "negative": (b'"stderr_bytes": 0', b'"stderr_bytes": -1'),
    "unnamed": (b'"./bot"', b""),
    "escape": (b'"run"', b'"\\u001b[2J%b"' % LONG),
    "end": (b'"finished"', b'"%b"' % LONG),
    "version": (b'"schema_version": ', b'"schema_version": 9'),
    "uncounted": (b'"wrong": 0,', b""),
    "splendid": (b'"verdict": "right"', b'"verdict": "splendid"'),
}
WHOLE = {"nothing": b"", "bracket": b"{", "list": b"[]", "log": b"#1\t1e308\n"}


@pytest.mark.usefixtures("nothing_hangs")
def test_each_unreadable_file_is_one_error_and_the_others_are_read(
    tmp_path, capsys, output_of, own_folder, monkeypatch
):
    write_json(good := Path("good.json"), run_result())
    for name, change in DAMAGE.items():
        Path(f"{name}.json").write_bytes(good.read_bytes().replace(*change))
    for name, content in WHOLE.items():
        Path(f"{name}.json").write_bytes(content)
    os.mkfifo("pipe.json")
    Path("folder.json").mkdir()
    Path("itself.json").symlink_to("itself.json")
    sparse("sparse.json")
    bad = sorted({path.name for path in Path().iterdir()} - {"good.json"})
    for arguments, status in ((["table"], 1), (["compare", "good.json"], 2)):
        out, err = output_of(cli.run, [*arguments, "."], status=status)
        assert sorted(re.findall(r"[a-z]+\.json", err)) == bad
        assert len(err.splitlines()) == len(bad)
        assert out
        assert all(line.isprintable() and len(line) < 400 for line in (out + err).splitlines())
    monkeypatch.setattr(result_files, "MOST_BYTES", 10)
    assert cli.run(["compare", "good.json", "good.json"]) == 2
    assert capsys.readouterr().err == "nonojudge: cannot read good.json: more than 10 bytes\n"


# Files of before


KEPT = GOLDEN / "results"


def figures(text):
    """Return JSON with its figures rounded: the last digits depend on the processor."""
    return json.loads(text, parse_float=lambda digits: round(float(digits), 9))


def kept(name):
    return json.loads((KEPT / name).read_text())


def test_stored_results_profiles_and_journals_are_rewritten_unchanged():
    for name in ("run.json", "again.json", "attempts.json", "verify.json"):
        assert json_text(read_result(KEPT / name)) == (KEPT / name).read_text()
    assert profile_data.to_json(read_profile(KEPT / "profile.json")) == (KEPT / "profile.json").read_text()
    records = read_records(KEPT / "interrupted.journal.jsonl")
    assert [*map(type, records)] == [RunResult, AttemptStarted, PuzzleJudged]
    assert records[2].result.verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("name", "read", "version"),
    [
        ("run.json", read_any, 3),
        ("verify.json", read_any, 3),
        ("profile.json", read_profile, 2),
        ("interrupted.journal.jsonl", read_records, 3),
    ],
)
@pytest.mark.parametrize("step", [-1, 1])
def test_another_schema_version_is_refused_in_one_line(tmp_path, name, read, version, step):
    stated = re.compile(rb'("schema_version": ?)%d' % version)
    content, found = stated.subn(rb"\g<1>%d" % (version + step), (KEPT / name).read_bytes())
    assert found == 1
    (path := tmp_path / name).write_bytes(content)
    with pytest.raises(UnusableError, match=r"another nonojudge|not a journal of this nonojudge") as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_stored_result_files_have_the_same_ranking_in_every_format(monkeypatch):
    monkeypatch.chdir(KEPT)
    names = ("run.json", "again.json", "attempts.json", "verify.json", "bot.log")
    results, problems = read_results([*map(Path, names)])
    assert not problems
    assert isinstance(list(results.values())[-1], BotLog)
    assert table_text.as_json(rankings(results), []) == Path("table.json").read_text()
    assert table_text.as_csv(rankings(results)) == Path("table.csv").read_text()


def test_stored_result_files_have_the_same_comparison(monkeypatch):
    monkeypatch.chdir(KEPT)
    first, second = read_version("before", [Path("run.json")]), read_version("after", [Path("again.json")])
    assert figures(compare(first, second, Limits()).to_json()) == figures(Path("comparison.json").read_text())


def test_stored_checks_and_benchmarks_are_rewritten_unchanged():
    found = msgspec.json.decode((KEPT / "check.json").read_bytes(), type=CheckResult)
    assert json.loads(msgspec.json.encode(found)) == kept("check.json")
    before = kept("bench.json")
    measured = msgspec.convert(list(before["benchmarks"].values()), list[Measured])
    found = json.loads(measure.as_json(measured))
    del found["machine"], before["machine"]
    assert found == before


def test_stored_benchmarks_against_a_revision_are_rewritten_unchanged():
    before = kept("bench_against.json")
    compared = msgspec.convert(list(before["benchmarks"].values()), list[Compared])
    plan = msgspec.convert(before["plan"], Plan)
    found = json.loads(against.as_json(Against(plan, compared, before["skipped"])))
    del found["machine"], before["machine"]
    assert found == before


def test_stored_claims_are_rewritten_unchanged():
    measured = []
    for stored in kept("claims.json")["claims"]:
        status, figure, reason = (stored.pop(name) for name in ("outcome", "measured", "reason"))
        claim = msgspec.convert(stored, claims.Claim)
        measured.append(claims.Measured(claim, claims.Status(status), figure, reason))
    assert json.loads(claims.as_json(measured)) == kept("claims.json")


def test_a_document_of_another_kind_is_an_error_but_is_skipped_in_a_folder(tmp_path):
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


def log_of(folder, text):
    path = folder / "champion.log"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def test_the_log_of_nonobot_is_read_back(tmp_path):
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
def test_logs_with_and_without_a_total_are_read(tmp_path, text, seconds, total, time):
    log = read_any(log_of(tmp_path, text))
    assert log == BotLog(seconds, total)
    assert log.time_seconds == time  # without a total, the sum


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_file_content_is_read_or_refused_with_an_error(tmp_path, content):
    path = tmp_path / "any"
    for beginning in (b"", b"#1\t1\n"):
        path.write_bytes(beginning + content)
        try:
            read_any(path)
        except UnusableError as problem:
            assert "\n" not in str(problem)  # noqa: PT017


def test_a_folder_stands_for_the_results_in_it_without_hidden_files(tmp_path):
    written(tmp_path, b=run_result("b"), a=run_result("a"))
    log_of(tmp_path, "#1\t1\n")
    for name in (".a.json.123", ".hidden.json", "a.stderr.txt", "a.jsonl"):
        (tmp_path / name).write_text("not for here")
    assert [path.name for path in files_in(tmp_path)] == ["a.json", "b.json", "champion.log"]
    assert [path.name for path in files_in(tmp_path, (".json",))] == ["a.json", "b.json"]
    assert files_in(tmp_path / "a.stderr.txt") == [tmp_path / "a.stderr.txt"]


def test_a_folder_without_results_is_an_error_that_suggests_a_subfolder(tmp_path):
    _, problems = read_results([tmp_path])
    assert problems == [f"the folder {tmp_path} contains no result (.json or .log)"]
    (tmp_path / "weekly").mkdir()
    [path] = written(tmp_path / "weekly", a=run_result("a"))
    named = re.escape(str(tmp_path / "weekly"))
    with pytest.raises(UnusableError, match=f"contains no result .*; name its folder {named}"):
        files_in(tmp_path)
    results, problems = read_results([path, path.parent, path.parent / "." / "a.json"])  # it counts once
    assert (list(results), problems) == ([path], [])
