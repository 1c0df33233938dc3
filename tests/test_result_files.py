"""Results as files; and files of all kinds as the commands of November 2026 wrote them, which are still read."""

from __future__ import annotations

import json
import os
import random
import re
import stat
from pathlib import Path

import msgspec
import pytest

from nonobot.harness import UnusableError, claims, cli
from nonobot.harness.bench import against, measure
from nonobot.harness.bench.against import Against, Compared, Plan
from nonobot.harness.bench.measure import Measured
from nonobot.harness.check.steps import CheckResult
from nonobot.harness.play.journal import AttemptStarted, PuzzleJudged, read_records
from nonobot.harness.play.run_state import records_of
from nonobot.harness.profiling import profile_data
from nonobot.harness.ranking import table_text
from nonobot.harness.ranking.compared_runs import read_version
from nonobot.harness.ranking.comparison import Limits, compare
from nonobot.harness.ranking.standings import rankings
from nonobot.harness.results import result_files
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.result_files import json_text, read_result, read_results, write_json
from nonobot.harness.results.run_result import BotLog, EndReason, RunResult, Verdict
from nonobot.tournament_data import load_set
from tests.judged import RECIPE, SCRIPTED_BOT, command, little_patience, nothing_hangs  # noqa: F401
from tests.mutated_formats import mutated as damaged
from tests.ranked import run_result


def test_a_result_file_is_whole_or_not_there(tmp_path, monkeypatch):
    path, result = tmp_path / "result.json", run_result()
    write_json(path, result)
    before = path.read_text()
    assert json.loads(before)["score"]["verdicts"]["right"] == 3
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR

    def disk_full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space"):
        write_json(path, result)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda one: one["score"].update(puzzles=[]), "without puzzles or without a run"),
        (lambda one: one.update(attempts=[]), "without puzzles or without a run"),
        (lambda one: one["score"]["verdicts"].update(right=99), "the verdicts counted are not those"),
        (lambda one: one["score"]["puzzles"][0].update(number=2), "not one for each of the set's 3 puzzles"),
        (lambda one: one["set"].update(puzzle_count=4), "not one for each of the set's 4 puzzles"),
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
}


@pytest.mark.usefixtures("nothing_hangs")
def test_each_file_that_cannot_be_read_costs_a_line_and_no_other(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(good := Path("good.json"), run_result())
    for name, change in DAMAGE.items():
        Path(f"{name}.json").write_bytes(good.read_bytes().replace(*change))
    Path("log.json").write_bytes(b"#1\t1e308\n")
    os.mkfifo("pipe.json")
    Path("folder.json").mkdir()
    Path("itself.json").symlink_to("itself.json")
    with Path("sparse.json").open("wb") as file:
        file.truncate(2 << 30)
    bad = sorted({one.name for one in Path().iterdir()} - {"good.json"})
    for words, status in ((["table"], 1), (["compare", "good.json"], 2)):
        assert cli.run([*words, "."]) == status
        out, err = capsys.readouterr()
        assert sorted(re.findall(r"[a-z]+\.json", err)) == bad
        assert len(err.splitlines()) == len(bad)
        assert out
        assert all(line.isprintable() and len(line) < 400 for line in (out + err).splitlines())
    monkeypatch.setattr(result_files, "MOST_BYTES", 10)
    assert cli.run(["compare", "good.json", "good.json"]) == 2
    assert capsys.readouterr().err == "nonojudge: cannot read good.json: more than 0 GiB\n"


@pytest.mark.usefixtures("nothing_hangs", "little_patience")
def test_damaged_results_and_journals_never_end_a_command_in_a_traceback(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad, journal = Path("bad.json"), Path("bad.journal.jsonl")
    command("perfect", tmp_path)
    bot = ["python3", "-S", "bot.py", "perfect", "solutions.txt"]  # in any folder: the seed makes the same files
    Path("bot.py").write_bytes(SCRIPTED_BOT.read_bytes())
    facts = SetFacts.of(load_set(str(RECIPE)))
    result = run_result("good", (0.5, 1.0, *[None] * 3), end=EndReason.INTERRUPTED, command=bot, set=facts)
    write_json(Path("good.json"), result)
    whole = {bad: Path("good.json").read_bytes()}
    whole[journal] = b"".join(msgspec.json.encode(one) + b"\n" for one in records_of(result))
    rng = random.Random(4)
    for number in range(16):
        path = journal if number % 8 == 0 else bad
        cut = whole[path][: rng.randrange(len(whole[path]))]
        path.write_bytes(content := cut if number % 4 == 0 else damaged(rng, [("json", whole[bad])])[1])
        for words in (
            *("table good.json bad.json", "table --format csv . bad.json", "compare good.json bad.json"),
            "run --resume bad.json",
        ):
            assert cli.run(words.split()) in range(4), (words, content)
            lines = "".join(capsys.readouterr()).splitlines()
            assert all(line.isprintable() and len(line) < 2000 for line in lines), (words, content, lines)
        for one in (bad, journal):
            one.unlink(missing_ok=True)


# Files of before


KEPT = Path(__file__).parent / "golden" / "results"


def kept(name):
    return json.loads(as_said_now((KEPT / name).read_text()))


def as_said_now(text):
    """Return a text with the sentence in it that has changed since: one line tells of all busy machines."""
    line = r'"the machine was busy at the start of \w+: others used 100 ?% of its CPU time"'
    now = '"the machine was busy at the start of 2 of 2 runs: others used 100% of its CPU time"'
    return re.sub(rf"{line}(,\s+{line})*", now, text)


def test_results_and_a_profile_of_before_are_read_and_would_be_written_alike():
    of_old_names = {"attempts.json": "legs.json"}
    for name in ("run.json", "again.json", "attempts.json", "verify.json"):
        for path in (KEPT / name, KEPT / "nonobot-0.1" / of_old_names.get(name, name)):
            assert json_text(read_result(path)) == (KEPT / name).read_text()
    for path in (KEPT / "profile.json", KEPT / "nonobot-0.1" / "profile.json"):
        assert profile_data.to_json(profile_data.read_profile(path)) == (KEPT / "profile.json").read_text()


@pytest.mark.parametrize("folder", [KEPT, KEPT / "nonobot-0.1"], ids=["now", "0.1"])
def test_a_journal_of_before_is_read(folder):
    run, started, judged = read_records(folder / "interrupted.journal.jsonl")
    assert isinstance(run, RunResult)
    assert isinstance(started, AttemptStarted)
    assert isinstance(judged, PuzzleJudged)
    assert judged.result.verdict is Verdict.RIGHT


def test_the_ranking_of_files_of_before_is_the_same_in_every_form(monkeypatch):
    monkeypatch.chdir(KEPT)
    results, problems = read_results(
        [Path(name) for name in ("run.json", "again.json", "attempts.json", "verify.json", "bot.log")]
    )
    assert not problems
    assert isinstance(list(results.values())[-1], BotLog)
    assert table_text.as_json(rankings(results), []) == as_said_now((KEPT / "table.json").read_text())
    assert table_text.as_csv(rankings(results)) == (KEPT / "table.csv").read_text()


def test_the_comparison_of_files_of_before_has_the_same_form_and_the_same_figures(monkeypatch):
    monkeypatch.chdir(KEPT)
    versions = (
        read_version(label, [Path(name)]) for label, name in (("before", "run.json"), ("after", "again.json"))
    )
    found, before = json.loads(compare(*versions, Limits()).to_json()), kept("comparison.json")
    assert [name for name in found if name != "duels"] == list(before)
    for name, ratio in before.pop("ratios").items():
        assert found["ratios"][name]["estimate"] == pytest.approx(ratio["estimate"])
    for clock in ("cpu", "wall"):
        old, new = before.pop(clock), found.pop(clock)
        assert new["ratio"].pop("estimate") == pytest.approx(old["ratio"]["estimate"])
        assert {name: new[name] for name in new if name in old and name != "ratio"}.items() <= old.items()
    del before["limits"]["seed"]  # of a bootstrap
    assert not found["limits"].pop("sequential")
    for name in ("reasons", "notes"):  # of one run of each version
        del before[name]
    for version in ("before", "after"):
        mean = before[version].pop("geometric_mean_seconds")
        assert found[version].pop("geometric_mean_seconds") == pytest.approx(mean)
    assert {name: found[name] for name in before} == before


def test_benchmarks_of_before_would_be_written_alike():
    before = kept("bench.json")
    measured = msgspec.convert(list(before["benchmarks"].values()), list[Measured])
    found = json.loads(measure.as_json(measured))
    del found["machine"], before["machine"]
    assert found == before


def test_benchmarks_against_a_revision_of_before_would_be_written_alike():
    before = kept("bench_against.json")
    for one in before["benchmarks"].values():
        del one["differs_by_student"]  # pyperf's t-test, which took drift for a difference, is no longer asked
        one["outcome"] = "not worse"  # it had words of its own
    compared = msgspec.convert(list(before["benchmarks"].values()), list[Compared])
    found = json.loads(
        against.as_json(Against(msgspec.convert(before["plan"], Plan), compared, before["skipped"]))
    )
    del found["machine"], before["machine"], found["outcome"]
    assert found == before


def test_claims_of_before_would_be_written_alike():
    measured = []
    for one in kept("promises.json")["promises"]:
        status, figure, reason = (one.pop(name) for name in ("outcome", "measured", "reason"))
        claim = msgspec.convert(one, claims.Claim)
        measured.append(claims.Measured(claim, claims.Status(status), figure, reason))
    renamed = {"kind": "claims", "schema_version": 2, "claims": kept("promises.json")["promises"]}
    assert json.loads(claims.as_json(measured)) == renamed


def test_a_check_of_before_would_be_written_alike():
    found = msgspec.json.decode((KEPT / "check.json").read_bytes(), type=CheckResult)
    assert json.loads(msgspec.json.encode(found)) == kept("check.json")


def test_a_variable_of_a_bot_keeps_its_name_where_a_field_had_it(tmp_path):
    content = json.loads((KEPT / "nonobot-0.1" / "run.json").read_text(encoding="utf-8"))
    content["legs"][0]["contained"] = True
    content["environment"] = content["terms"]["environment"] = {"legs": "4"}
    (path := tmp_path / "earlier.json").write_text(json.dumps(content), encoding="utf-8")
    result = read_result(path)
    assert result.attempts[0].sandboxed is True
    assert result.environment == result.configuration.environment == {"legs": "4"}
