"""Official sets by their names, wherever a set is asked for."""

import sys
from pathlib import Path

import pytest

from nonobot.protocol import Puzzle, Record, format_puzzle
from nonobot.protocol.formats import formats, write
from nonobot.tournament_data import SetError, load_set, registry
from nonobot.tournament_data.registry import keep
from tests.helpers import published
from tests.helpers.pictured import P_PUZZLE

TAAI = published.CONTENTS["taai2011"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with published.small_registry(tmp_path, monkeypatch) as path:
        yield path


def error_of(source, size=None):
    with pytest.raises(SetError) as caught:
        load_set(source, size)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_name_of_an_official_set_wins_over_a_file_of_that_name(folder, tmp_path):
    other = published.question_file(3, count=2)
    (tmp_path / "here" / "taai2011").write_bytes(other)
    assert error_of("taai2011").endswith("; the file in this folder is ./taai2011")
    keep(registry.official_sets()["taai2011"], TAAI)
    found = load_set("taai2011")
    assert (found.name, found.width, found.height, len(found.puzzles)) == ("taai2011", 5, 5, 400)
    assert found.text == TAAI
    assert found.sha256 == registry.official_sets()["taai2011"].sha256
    assert load_set("taai2011", (5, 5)) == found
    assert error_of("taai2011", (25, 25)) == "taai2011 has boards of 5x5, not 25x25"
    assert load_set("./taai2011", (5, 5)).text == other


def test_a_part_of_a_set_contains_every_nth_puzzle_numbered_from_1():
    whole = load_set("boardgen:5x5x7:seed=3")
    parts = [load_set(f"boardgen:5x5x7:seed=3@{number}/3") for number in (1, 2, 3)]
    expected = [[question.puzzle for question in whole.puzzles[first::3]] for first in range(3)]
    assert [[question.puzzle for question in part.puzzles] for part in parts] == expected
    assert [question.number for question in parts[0].puzzles] == [1, 2, 3]
    assert parts[0].text.startswith(b"$1\n")
    assert parts[1].name == "boardgen:5x5x7:seed=3@2/3"
    for beyond in ("4/3", "8/9"):
        assert error_of(f"boardgen:5x5x7:seed=3@{beyond}").endswith(": no such part of 7 puzzles")
    many = "boardgen:5x5x7:seed=3" + "@1/1" * 3 * sys.getrecursionlimit()
    assert load_set(many).text == load_set("boardgen:5x5x7:seed=3").text
    Path("x@1").mkdir()
    Path("x@1/3").write_bytes(TAAI)
    assert len(load_set("x@1/3", (5, 5)).puzzles) == 400


def test_a_missing_official_set_names_the_commands_that_get_it():
    assert error_of("tcga2012") == (
        "the official set tcga2012 is not on this machine yet: `nonojudge data fetch tcga2012` fetches it, "
        "`nonojudge data import FOLDER` takes it from a folder"
    )


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("taai2012", " (similar: taai2011)"),
        ("Taai2011", " (similar: taai2011)"),
        ("taai2011.txt", " (the official set is called taai2011)"),
        ("sets/tcga2012.txt", " (the official set is called tcga2012)"),
        ("questions.txt", ""),
    ],
)
def test_a_missing_file_suggests_similar_set_names(source, hint):
    assert error_of(source) == f"cannot read the set {source}: No such file or directory{hint}"


def test_a_damaged_or_unreadable_official_set_is_refused(folder):
    keep(registry.official_sets()["taai2011"], TAAI)
    (path := folder / "taai2011.txt").write_bytes(TAAI[:-10])
    assert error_of("taai2011").startswith(f"{path} is not the official taai2011")
    path.unlink()
    path.mkdir()
    assert error_of("taai2011") == f"cannot read the set {path}: Is a directory"


@pytest.mark.parametrize("name", [found.name for found in formats() if found.name != "taai"])
def test_a_puzzle_of_any_format_is_fed_as_a_question(name, tmp_path):
    path = tmp_path / "puzzle"
    path.write_bytes(write([Record(P_PUZZLE)], name).data)
    found = load_set(str(path))
    assert (found.name, found.width, found.height) == (str(path), 8, 11)
    assert [(question.number, question.text) for question in found.puzzles] == [(1, format_puzzle(1, P_PUZZLE))]
    assert found.puzzles[0].puzzle.columns == P_PUZZLE.columns
    assert found.puzzles[0].puzzle.rows == P_PUZZLE.rows
    assert load_set(str(path), (8, 11)) == found
    (tmp_path / "questions.txt").write_bytes(found.text)
    assert load_set(str(tmp_path / "questions.txt"), (8, 11)).sha256 == found.sha256
    assert "puzzle 1 has 8x11 cells, not 11x8; the boards of a set have one size" in error_of(str(path), (11, 8))


def test_several_puzzles_are_numbered_and_have_one_size(tmp_path):
    other = Puzzle.unchecked(columns=((1,), ()), rows=((1,), ()))
    path = tmp_path / "several.non"
    path.write_bytes(write([Record(P_PUZZLE), Record(P_PUZZLE, title="again")], "non").data)
    found = load_set(str(path))
    assert [question.number for question in found.puzzles] == [1, 2]
    assert found.text == format_puzzle(1, P_PUZZLE) + format_puzzle(2, P_PUZZLE)
    path.write_bytes(write([Record(P_PUZZLE), Record(other)], "non").data)
    assert "puzzle 2 has 2x2 cells, not 8x11" in error_of(str(path))


def test_bots_get_a_set_without_its_broken_puzzles_and_other_text(tmp_path):
    good, broken = "1\n\n1\n1\n\n1\n", "1\n\n9\n1\n\n1\n"
    content = f"# set\n$1\n{good}$2\n{broken}$7\n{good}\nwhatever\n$x\n{good}$8\n1\n$8\n{good}$7\n{good}"
    content += "".join(f"${number}\n{good}" for number in (9, 10, 11))
    (path := tmp_path / "questions.txt").write_text(content)
    found = load_set(str(path), (3, 3))
    assert [question.number for question in found.puzzles] == [1, 7, 8, 9, 10, 11]
    assert found.text.decode() == "".join(f"${number}\n{good}" for number in (1, 7, 8, 9, 10, 11))
    places = [(fault.number, fault.line) for fault in found.faults]
    assert places == [(None, 1), (2, 12), (7, 24), (8, 25), (8, 34), (7, 41)]
    assert str(found.faults[-1]) == "$7: line 41: the puzzle of line 16 has this number already"
    path.write_bytes(f"# set\n$1\n{good}$2\n{broken}$3\n{broken}".encode())
    assert "$2: line 12: the clue of column 3 needs 9 cells" in error_of(str(path), (3, 3))
    several = write([Record(P_PUZZLE), Record(P_PUZZLE)], "non").data.replace(b"rows\n", b"rows\n99\n", 1)
    path.write_bytes(several)
    assert [len(load_set(str(path)).puzzles), len(load_set(str(path)).faults)] == [1, 1]
