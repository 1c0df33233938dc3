"""Surveys: the table compared with slow references, sums of parts, and the forms of output."""

import json
from collections import Counter, defaultdict
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness import cli
from nonobot.harness.report.file_plots import drawing_of_survey
from nonobot.harness.survey import BoardKind, Row, Survey, as_json, as_text, quantile, rounded
from nonobot.harness.text import NOTHING
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, drawn_board
from tests import naive

LINE_LIMIT = 1000


works, conflicts = st.integers(0, 10**6), st.integers(0, 500)
levels = st.sampled_from(["lines", "probing", "search"])
unique = st.builds(Grade, st.just(True), st.just(True), works, conflicts, levels)
grades = unique | st.builds(Grade, st.booleans(), st.just(False), works, conflicts)
kinds = st.builds(BoardKind, st.sampled_from([5, 10]), st.sampled_from([5, 10]), st.sampled_from([30, 35]))


def survey_of(boards, line_limit=LINE_LIMIT):
    survey = Survey()
    for kind, grade in boards:
        survey.row(kind).add(grade, line_limit)
    return survey


@given(boards=st.lists(st.tuples(kinds, grades)), cuts=st.lists(st.integers(0, 30)), order=st.randoms())
def test_parts_add_up_to_the_whole_in_any_order(boards, cuts, order):
    whole = survey_of(boards)
    edges = sorted({0, len(boards), *(cut for cut in cuts if cut < len(boards))})
    parts = [survey_of(boards[start:end]) for start, end in pairwise(edges)]
    order.shuffle(parts)
    summed = Survey()
    for part in parts:
        summed += part
    assert list(summed.rows()) == list(whole.rows())
    for kind, row in whole.rows():
        mine = [grade for other, grade in boards if other == kind]
        levels = Counter(grade.level for grade in mine)
        assert row == Row(
            boards=len(mine),
            undecided=sum(not grade.decided for grade in mine),
            late=sum(not grade.decided and grade.work <= LINE_LIMIT for grade in mine),
            unique=len(mine) - levels[None],
            lines=levels["lines"],
            probing=levels["probing"],
            work=Counter(rounded(grade.work) for grade in mine),
            conflicts=Counter(rounded(grade.conflicts) for grade in mine),
        )


@given(number=st.integers(0, 10**12))
def test_a_rounded_count_has_two_digits_and_is_a_tenth_less_at_most(number):
    found = rounded(number)
    assert found <= number < found * 1.1 or found == number
    assert not str(found)[2:].strip("0")


@given(values=st.lists(st.integers(0, 50), min_size=1), share=st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_quantile_is_the_value_in_that_place(values, share):
    wanted = next(value for place, value in enumerate(sorted(values), 1) if place >= share * len(values))
    assert quantile(Counter(values), share) == wanted


@given(width=st.integers(1, 30), height=st.integers(1, 30), share=st.floats(0, 1))
def test_the_kind_of_a_board_is_the_nearest_step(width, height, share):
    black = int(share * width * height)
    kind = BoardKind.of(width, height, black)
    assert kind.percent % 5 == 0
    assert abs(kind.percent - 100 * black / (width * height)) <= 2.5 + 1e-9


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
def test_the_command_counts_what_the_slow_references_count(tmp_path, capfd):
    path = tmp_path / "survey.json"
    recipes = [Recipe(*size, 40, 3, 0.35, 0.65) for size in ((6, 5), (4, 4))]
    command = ["generate", "6x5x40", "4x4x40", "--seed", "3", "--p1", "0.35", "--p2", "0.65"]
    assert cli.run([*command, "--survey", str(path), "--survey", str(tmp_path / "survey.svg")]) == 0
    found = json.loads(path.read_text())
    rows = {(row["width"], row["height"], row["percent"]): row for row in found["rows"]}
    names = ("boards", "unique", "lines", "probing")
    assert {kind: [row[name] for name in names] for kind, row in rows.items()} == expected_counts(recipes)
    for row in rows.values():
        assert sum(row["work"].values()) == sum(row["conflicts"].values()) == row["boards"]
        assert row["undecided"] == 0
        assert row["seconds"] > 0
    assert found["recipes"] == [str(recipe) for recipe in recipes]
    assert (found["kind"], found["line_limit"]) == ("survey", 3_000_000)
    out = capfd.readouterr().out.splitlines()
    assert len(out) == 1 + len(rows)
    assert out[0].split()[:4] == ["size", "black", "boards", "lines"]
    assert (tmp_path / "survey.svg").read_text().startswith("<?xml")


@pytest.mark.usefixtures("compiled")
def test_boards_given_up_are_counted_and_said(tmp_path, capfd):
    path = tmp_path / "survey.json"
    command = ["generate", "20x20x30", "--seed", "3", "--p1", "0.4", "--line-limit", "700", "--survey", str(path)]
    assert cli.run(command) == 0
    rows = json.loads(path.read_text())["rows"]
    undecided = sum(row["undecided"] for row in rows)
    assert 0 < undecided < 30
    assert sum(row["late"] for row in rows) == 0
    err = capfd.readouterr().err.splitlines()
    assert err[-1] == f"nonojudge: {undecided} boards were given up at --line-limit 700"


def random_survey():
    random = Random(1)
    boards = []
    for width, percent in list(product((10, 20), (30, 50, 70))) * 20:
        level, work = random.choice(["lines", "probing", "search", None]), random.randrange(1, 10**5)
        grade = Grade(level is not None or work % 2 == 0, level is not None, work, 3, level)
        boards.append((BoardKind(width, width, percent), grade))
    return survey_of(boards, 10**6)


def test_the_table_has_a_row_for_each_kind_and_json_all_counts():
    works = (("lines", 100), ("probing", 220), ("search", 330), (None, 12345))
    kind, denser = BoardKind(10, 10, 50), BoardKind(10, 10, 55)
    boards = [(kind, Grade(True, level is not None, work, work // 100, level)) for level, work in works]
    survey = survey_of([*boards, (denser, Grade(False, False, 10**6 + 3, 9))], 10**6)
    survey.row(kind).seconds = 0.25
    head, *lines = as_text(survey, terminal=False).splitlines()
    assert head.split("  ")[0] == "size"
    assert " ".join(lines[0].split()) == "10x10 50% 4 25% 50% 75% - 220 12,000 120 16".replace("-", NOTHING)
    assert " ".join(lines[1].split()) == "55% 1 - - - 100% 1,000,000 1,000,000 9 -".replace("-", NOTHING)
    survey = random_survey()
    rows = json.loads(as_json(survey, ["boardgen:1x1x1:seed=1"], 7))["rows"]
    for (kind, row), kept in zip(survey.rows(), rows, strict=True):
        assert BoardKind(*(kept.pop(name) for name in ("width", "height", "percent"))) == kind
        for name in ("work", "conflicts"):
            kept[name] = Counter({int(value): number for value, number in kept[name].items()})
        assert Row(**kept) == row


@pytest.mark.parametrize(
    ("form", "first"), [("svg", b"<?xml"), pytest.param("png", b"\x89PNG", marks=pytest.mark.slow)]
)
def test_a_plot_is_drawn_and_alike_each_time(form, first):
    data = drawing_of_survey(random_survey(), form)
    assert data.startswith(first)
    assert data == drawing_of_survey(random_survey(), form)
    if form == "svg":
        text = data.decode()
        assert all(f">{label}</text>" in text for label in ("10x10", "20x20", "solved by line logic alone, %"))
