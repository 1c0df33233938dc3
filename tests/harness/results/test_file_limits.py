"""What a judge writes, it reads: results of many puzzles, in parts; and what is refused before a run begins."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from nonobot.harness import UnusableError, cli
from nonobot.harness.play import run_state
from nonobot.harness.play.match import Bot, play, require_place
from nonobot.harness.results import file_limits, result_files
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.file_limits import BYTES_OF_A_VERDICT, require_readable
from nonobot.harness.results.referee import Referee
from nonobot.harness.results.result_files import json_text, read_any, read_result, storable
from nonobot.harness.results.run_result import EndReason, Score
from nonobot.protocol.answers import read_answers
from nonobot.tournament_data import SetError, load_set, sets
from tests.helpers.clusters import definition
from tests.helpers.judged import RECIPE, SET, command, little_patience, played, verdicts  # noqa: F401
from tests.helpers.ranked import puzzles, run_result, verify_result

TEXTS = ["\N{GRINNING FACE}", "\U000e0001", "\x01", '"', "\\", "\N{LATIN SMALL LETTER E WITH ACUTE}", "0 "]
"""Texts that a bot may write again and again; as JSON, some take several bytes for each."""


@pytest.mark.parametrize("size", ["5x5", "25x25", "100x3", "1x60"])
def test_no_verdict_exceeds_the_assumed_size_in_bytes(size):
    puzzle_set = load_set(f"boardgen:{size}x3:seed=1")
    width, height = puzzle_set.width, puzzle_set.height
    each = BYTES_OF_A_VERDICT + width * height // 4 + 2 * (width + height)
    rows = [" ".join(("10" * width)[place : place + width]) for place in (0, 1)]
    answers = [[text * 60] for text in TEXTS] + [[" ".join([text * 60] * width)] for text in TEXTS]
    answers += [[row] * height for row in rows]
    for answer in answers:
        referee = Referee(puzzle_set)
        lines = [line.encode() for line in ("$1", *answer)]
        [result, *_] = [
            referee.take(read, 123456789.123456, 1e-5 / 3) for read in read_answers(lines, width, height)
        ]
        largest = replace(
            result, number=2**63 - 1, detail=(result.detail or "").replace("line 2", "line 987654321")
        )
        whole = run_result(times=[], score=Score.of([largest]))
        assert len(json_text(whole)) - len(json_text(run_result(times=[]))) < each


def plain(result):
    """Return a result as the text that one call for the whole of it makes."""
    return json.dumps(storable(result), indent=1) + "\n"


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_a_result_written_in_parts_equals_one_written_at_once(monkeypatch, count):
    monkeypatch.setattr(result_files, "VERDICTS_IN_A_PART", 2)
    result = run_result(times=[1.5] * count, environment={"puzzles": "[]", "a": '\n  "puzzles": []'})
    assert json_text(result) == plain(result)
    assert json_text(verify_result("a", 1)) == plain(verify_result("a", 1))


DETAILS = ["},{", '"},\n {"number": 1, "verdict": "right"}, {', "]", "\\", '\\"', "", None]
"""Texts that look as if a verdict ended there."""


@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": 2}, {"separators": (",", ":")}, {}])
@pytest.mark.parametrize("part", [1, 50, 300, 1000])
def test_a_result_read_in_parts_equals_one_read_at_once_in_any_layout(tmp_path, monkeypatch, layout, part):
    some = [replace(puzzle, detail=DETAILS[puzzle.number % 7]) for puzzle in puzzles([1.0] * 50)]
    result = run_result(times=[1.0] * 50, score=Score.of(some))
    document = storable(result)
    document["score"]["puzzles"][30]["new"] = {"of": [{"a": "later"}, {"version": []}]}
    (path := tmp_path / "r.json").write_text(json.dumps(document, **layout))
    assert read_result(path) == result
    monkeypatch.setattr(result_files, "PART_BYTES", part)
    assert read_result(path) == result


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"number": 40', '"number": "x"', "is not a result of nonojudge: its score: "),
        ('"number": 40', '"number" 40', "is not a result of nonojudge: "),
        ('"number": 40', '"number": 41', "its verdicts are not one for each of the set's 50 puzzles"),
        ('"puzzles": [', '"puzzles": {}, "others": [', "is not a result of nonojudge: its score: "),
    ],
)
def test_a_damaged_large_result_is_a_one_line_error(tmp_path, monkeypatch, old, new, why):
    monkeypatch.setattr(result_files, "PART_BYTES", 300)
    (path := tmp_path / "r.json").write_text(json_text(run_result(times=[1.0] * 50)).replace(old, new, 1))
    with pytest.raises(UnusableError) as refused:
        read_result(path)
    assert str(refused.value).startswith(str(path))
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        ({"MOST_BYTES": 5 << 10}, "cannot read {}: more than 5 KiB"),
        ({"MOST_VERDICTS": 49}, "cannot read the result {}: more than 49 puzzles"),
        ({"MOST_OTHER_BYTES": 1 << 10}, "{} is not a result of nonojudge: more than 0 MiB"),
        ({"MOST_OTHER_BYTES": 3 << 10}, "cannot read the result {}: more than 3 KiB besides the verdicts"),
    ],
)
def test_a_result_that_is_too_large_is_refused(tmp_path, monkeypatch, bounds, why):
    result = run_result(times=[1.0] * 50)
    result = replace(result, score=replace(result.score, notes=["x" * 4000]))
    (path := tmp_path / "r.json").write_text(json_text(result))
    assert read_any(path) == result
    for name, value in {"PART_BYTES": 300, **bounds}.items():
        monkeypatch.setattr(result_files, name, value)
    with pytest.raises(UnusableError) as refused:
        read_any(path)
    assert str(refused.value) == why.format(path)


def test_verdicts_that_cannot_be_separated_are_refused_quickly(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "PART_BYTES", 100)
    monkeypatch.setattr(result_files, "MOST_OTHER_BYTES", 100_000)
    result = run_result(times=[1.0])
    result = replace(result, score=Score.of([replace(result.score.puzzles[0], detail="},{" * 100_000)]))
    (path := tmp_path / "r.json").write_text(json_text(result))
    with pytest.raises(UnusableError, match="its score: it does not consist of verdicts"):
        read_result(path)


def test_a_log_above_the_size_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "MOST_OTHER_BYTES", 1 << 10)
    (path := tmp_path / "a.log").write_text("#1\t0.5\n" * 200)
    with pytest.raises(UnusableError, match=r"cannot read the log .*a\.log: more than 1 KiB"):
        read_any(path)


# Before the start


@pytest.fixture
def little_room(monkeypatch):
    """Let only results of four puzzles be read."""
    each = BYTES_OF_A_VERDICT + 5 * 5 // 4 + 2 * (5 + 5)
    monkeypatch.setattr(file_limits, "MOST_BYTES", file_limits.MOST_OTHER_BYTES + 4 * each)


WHY = rf"{RECIPE}: the result of 5 puzzles of 5x5 may have more than .*; split the set into parts of 4 puzzles"


@pytest.mark.usefixtures("little_room")
def test_a_set_whose_result_could_not_be_read_is_refused_before_the_start(tmp_path, own_folder, capsys):
    bot = Bot("a", ["touch", "ran"])
    for begin in (require_place, lambda *where: play(where[0], bot, *where[1:])):
        with pytest.raises(UnusableError, match=WHY):
            begin(SET, Configuration(), tmp_path / "r.json")
    require_readable(SET.only([1, 2, 3, 4]))
    path = definition(tmp_path, {"good": "perfect"})
    (answers := tmp_path / "answers").touch()
    for line in (["tournament", str(path)], ["verify", str(RECIPE), str(answers), "--json"]):
        assert cli.run(line) == 2
        assert WHY.partition(" may")[0] in capsys.readouterr().err
    assert not [path for path in tmp_path.rglob("*") if path.name == "ran" or path.suffix in (".json", ".jsonl")]


@pytest.mark.parametrize("source", [str(RECIPE), "questions.txt"])
def test_a_set_has_at_most_as_many_puzzles_as_a_result(own_folder, monkeypatch, source):
    Path("questions.txt").write_bytes(SET.text)
    monkeypatch.setattr(sets, "MOST_SET_PUZZLES", 5)
    assert len(load_set(source, (5, 5)).puzzles) == 5
    monkeypatch.setattr(sets, "MOST_SET_PUZZLES", 4)
    with pytest.raises(SetError, match=f"{source}: more than 4 puzzles; split the set"):
        load_set(source, (5, 5))


@pytest.mark.usefixtures("little_patience")
def test_a_bot_is_not_restarted_if_its_result_would_be_too_large(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_state, "MOST_OTHER_BYTES", 0)
    result = played("hang_at_3", tmp_path, puzzle_limit_seconds=1.0)
    assert result.end.reason is EndReason.PUZZLE_LIMIT
    assert verdicts(result) == ["right", "right", "late", "missing", "missing"]
    assert "result.json: the bot was started 1 times; it is not started again" in capsys.readouterr().err
    assert read_result(tmp_path / "result.json") == result
