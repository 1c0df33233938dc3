"""Surveys: counts compared with slow references, whatever the tasks are, and the forms of output."""

import contextlib
import json
from collections import Counter, defaultdict
from itertools import product
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nonobot.harness.puzzles import board_jobs
from nonobot.harness.text import NOTHING
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, drawn_board
from tests import naive
from tools import survey
from tools.survey import BoardKind, Row, as_json, as_plot, as_text, kind_of, main, quantile, rounded, surveyed

works, conflicts = st.integers(0, 10**6), st.integers(0, 500)
levels = st.sampled_from(["lines", "probing", "search"])
unique = st.builds(Grade, st.just(True), st.just(True), works, conflicts, levels)
grades = unique | st.builds(Grade, st.booleans(), st.just(False), works, conflicts)


def row_of(grades, line_limit):
    row = Row()
    for grade in grades:
        row.add(grade, line_limit)
    return row


@given(grades=st.lists(grades))
def test_a_row_of_the_survey_counts_boards_by_level(grades):
    levels = Counter(grade.level for grade in grades)
    assert row_of(grades, 1000) == Row(
        boards=len(grades),
        undecided=sum(not grade.decided for grade in grades),
        late=sum(not grade.decided and grade.work <= 1000 for grade in grades),
        unique=len(grades) - levels[None],
        lines=levels["lines"],
        probing=levels["probing"],
        work=Counter(rounded(grade.work) for grade in grades),
        conflicts=Counter(rounded(grade.conflicts) for grade in grades),
    )


@given(number=st.integers(0, 10**12))
def test_a_rounded_count_has_two_digits_and_is_at_most_10_percent_too_low(number):
    found = rounded(number)
    assert found <= number < found * 1.1 or found == number
    assert not str(found)[2:].strip("0")


@given(values=st.lists(st.integers(0, 50), min_size=1), share=st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_quantile_is_the_value_at_its_rank(values, share):
    wanted = next(value for place, value in enumerate(sorted(values), 1) if place >= share * len(values))
    assert quantile(Counter(values), share) == wanted


@given(width=st.integers(1, 30), height=st.integers(1, 30), share=st.floats(0, 1))
@example(5, 10, 0.58)
def test_the_kind_of_a_board_is_the_nearest_step(width, height, share):
    black = int(share * (width * height))
    kind = kind_of(Recipe(width, height, 1, seed=1, p1=share), 0)
    assert kind.percent % 5 == 0
    assert abs(kind.percent - 100 * black / (width * height)) <= 2.5 + 1e-9


@pytest.mark.parametrize("cells", [1, 1000])
def test_survey_counts_do_not_depend_on_the_number_of_tasks(monkeypatch, cells):
    def grade_board(puzzle):
        random = Random(repr(puzzle))
        return Grade(random.random() < 0.8, False, random.randrange(4))

    monkeypatch.setattr(board_jobs, "_warm_bot", lambda grading: contextlib.nullcontext(grade_board))
    monkeypatch.setattr(survey, "CELLS_OF_A_TASK", cells)
    recipes = [Recipe(5, side, 123, seed=4, p1=0.3, p2=0.7) for side in (5, 4, 6)]
    expected = defaultdict(Row)
    for recipe, index in product(recipes, range(123)):
        expected[kind_of(recipe, index)].add(grade_board(drawn_board(recipe, index, 0)[0]), 1)
    found = surveyed(recipes, 1, None)
    for row in found.values():
        assert row.seconds > 0
        row.seconds = 0.0
    assert [*found.items()] == sorted(expected.items())


def expected_counts(recipes):
    """Return boards, unique, lines and probing of small boards by their kind, from the slow references."""
    counts = defaultdict(list)
    for recipe in recipes:
        for index in range(recipe.count):
            puzzle, solution = drawn_board(recipe, index, 0)
            share = 100 * int(solution.cells.sum()) / (recipe.width * recipe.height)
            level = naive.level(puzzle)
            flags = (1, level is not None, level == "lines", level == "probing")
            counts[recipe.width, recipe.height, 5 * int(share / 5 + 0.5)].append(flags)
    return {kind: [sum(flags) for flags in zip(*rows, strict=True)] for kind, rows in counts.items()}


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("place", [[], pytest.param(["--on", "local:2"], marks=pytest.mark.slow)])
def test_the_program_counts_what_the_slow_references_count(tmp_path, capfd, place):
    path = tmp_path / "survey.json"
    recipes = [Recipe(*size, 40, 3, 0.35, 0.65) for size in ((6, 5), (4, 4))]
    command = ["6x5x40", "4x4x40", "--seed", "3", "--p1", "0.35", "--p2", "0.65", *place]
    main([*command, "-o", str(path), "-o", str(tmp_path / "survey.svg")])
    found = json.loads(path.read_text())
    rows = {(row["width"], row["height"], row["percent"]): row for row in found["rows"]}
    names = ("boards", "unique", "lines", "probing")
    assert {kind: [row[name] for name in names] for kind, row in rows.items()} == expected_counts(recipes)
    for row in rows.values():
        assert sum(row["work"].values()) == sum(row["conflicts"].values()) == row["boards"]
        assert row["undecided"] == 0
    assert found["recipes"] == [str(recipe) for recipe in recipes]
    assert found["line_limit"] == 3_000_000
    out = capfd.readouterr().out.splitlines()
    assert len(out) == 1 + len(rows)
    assert out[0].split()[:4] == ["size", "black", "boards", "lines"]
    assert (tmp_path / "survey.svg").read_text().startswith("<?xml")


def random_survey():
    random = Random(1)
    survey = defaultdict(Row)
    for width, percent in list(product((10, 20), (30, 50, 70))) * 20:
        level, work = random.choice(["lines", "probing", "search", None]), random.randrange(1, 10**5)
        grade = Grade(level is not None or work % 2 == 0, level is not None, work, 3, level)
        survey[BoardKind(width, width, percent)].add(grade, 10**6)
    return survey


def test_the_table_has_a_row_for_each_kind_and_json_all_counts():
    works = (("lines", 100), ("probing", 220), ("search", 330), (None, 12345))
    row = row_of([Grade(True, level is not None, work, work // 100, level) for level, work in works], 10**6)
    row.seconds = 0.25
    denser = row_of([Grade(False, False, 10**6 + 3, 9)], 10**6)
    survey = {BoardKind(10, 10, 50): row, BoardKind(10, 10, 55): denser}
    head, *lines = as_text(survey, terminal=False).splitlines()
    assert head.split("  ")[0] == "size"
    assert " ".join(lines[0].split()) == "10x10 50% 4 25% 50% 75% - 220 12,000 120 16".replace("-", NOTHING)
    assert " ".join(lines[1].split()) == "55% 1 - - - 100% 1,000,000 1,000,000 9 -".replace("-", NOTHING)
    survey = random_survey()
    rows = json.loads(as_json(survey, [], 7))["rows"]
    for (kind, row), kept in zip(survey.items(), rows, strict=True):
        assert BoardKind(*(kept.pop(name) for name in ("width", "height", "percent"))) == kind
        for name in ("work", "conflicts"):
            kept[name] = Counter({int(value): number for value, number in kept[name].items()})
        assert Row(**kept) == row


@pytest.mark.parametrize(
    ("form", "first"), [("svg", b"<?xml"), pytest.param("png", b"\x89PNG", marks=pytest.mark.slow)]
)
def test_a_plot_is_drawn_and_alike_each_time(form, first):
    data = as_plot(random_survey(), form)
    assert data.startswith(first)
    assert data == as_plot(random_survey(), form)
    if form == "svg":
        text = data.decode()
        assert all(f">{label}</text>" in text for label in ("10x10", "20x20", "solved by line logic alone, %"))
