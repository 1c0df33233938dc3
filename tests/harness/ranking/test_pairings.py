"""The ranking of a match: points and cross table agree with a reference that counts pair by pair."""

import csv
import io
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness.ranking.standings import Scope, rankings
from nonobot.harness.ranking.table_text import as_csv, as_json, as_markdown, as_text
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import NOTHING
from tests.helpers.ranked import facts, run_result

COUNT = 3
NAMES = ("甲", "__proto__", "=b,c;d", "dora")


def played(bot: str, setter: str, right: int, void: int = 0, seconds: float = 1.0):
    """Return a run of a bot that solves the first puzzles of a setter."""
    void_puzzles = {10 + number: "no solution" for number in range(void)} or UNSET
    its_set = replace(facts(f"{setter}.txt", COUNT), setter=setter, void=void_puzzles)
    verdicts = dict.fromkeys(range(right + 1, COUNT + 1), Verdict.WRONG)
    return run_result(bot, [seconds] * COUNT, verdicts, set=its_set)


def ranked(runs):
    return rankings({Path(f"{number}.json"): run for number, run in enumerate(runs)})


def of_scope(scope, every):
    [ranking] = [ranking for ranking in every if ranking.scope is scope]
    return ranking


def by_counting(right, void, seconds):
    """Return rank, bot, points, solved and the cells of the cross table by bot, as one counts them by hand."""
    totals, cells = {}, {bot: {} for bot in NAMES}
    for bot in NAMES:
        points = solved = time = 0
        for other in set(NAMES) - {bot}:
            its, own = right[bot, other] + void[other], right[other, bot] + void[bot]
            of_pair = 2 if its > own else 1 if its == own else 0
            cells[bot][other] = f"{of_pair} ({its}:{own})"
            points += of_pair
            solved += its
            time += COUNT * seconds[bot, other]
        totals[bot] = points, solved, time
    rows = []
    for bot, (points, solved, time) in totals.items():
        rank = 1
        for its_points, its_solved, its_time in totals.values():
            solves_more = its_solved > solved or (its_solved == solved and its_time < time)
            rank += its_points > points or (its_points == points and solves_more)
        rows.append((rank, bot, points, solved, cells[bot]))
    return sorted(rows, key=lambda row: row[:2])


PAIRS = [(bot, setter) for bot in NAMES for setter in NAMES if bot != setter]
EVERY = st.fixed_dictionaries({pair: st.integers(0, COUNT) for pair in PAIRS})
VOID = st.fixed_dictionaries({name: st.integers(0, 2) for name in NAMES})
SECONDS = st.fixed_dictionaries({pair: st.integers(1, 2) for pair in PAIRS})


@given(EVERY, VOID, SECONDS)
def test_points_and_cells_equal_a_count_by_hand_in_every_format(right, void, seconds):
    runs = [played(*pair, right[pair], void[pair[1]], seconds[pair]) for pair in PAIRS]
    expected = by_counting(right, void, seconds)
    every = ranked(runs)
    match = of_scope(Scope.MATCH, every)
    cells = [{pairing.opponent: str(pairing) for pairing in row.pairings} for row in match.rows]
    rows = [(row.rank, row.bot, row.points, row.solved) for row in match.rows]
    assert [(*row, its_cells) for row, its_cells in zip(rows, cells, strict=True)] == expected
    assert [pairing.opponent for pairing in match.rows[0].pairings] == [row.bot for row in match.rows[1:]]
    [section] = [section for section in json.loads(as_json(every, []))["sections"] if section["scope"] == "match"]
    in_json = [{pairing["opponent"]: pairing["points"] for pairing in row["pairings"]} for row in section["rows"]]
    assert in_json == [{name: int(cell[0]) for name, cell in row[-1].items()} for row in expected]
    lines = [row for row in csv.DictReader(io.StringIO(as_csv(every))) if row["scope"] == "pairing"]
    assert len(lines) == len(PAIRS)
    in_csv = {bot: {} for bot in NAMES}
    for line in lines:
        cell = f"{line['points']} ({line['solved']}:{line['conceded']})"
        in_csv[line["bot"].lstrip("'")][line["opponent"].lstrip("'")] = cell
    assert in_csv == {row[1]: row[-1] for row in expected}


def test_text_and_markdown_show_the_cross_table_and_void_puzzles():
    runs = [played("a", "b", 3), played("b", "a", 1, 1), played("a", "c", 2), played("c", "a", 1, 1)]
    runs += [played("b", "c", 0), played("c", "b", 0)]
    every = ranked(runs)
    lines = [line.split() for line in as_text(every, terminal=False).splitlines()]
    place = lines.index(["#", "bot", "points", "solved", "vs", "a", "vs", "c", "vs", "b", "time", "s", "end"])
    assert lines[place + 1 : place + 4] == [
        ["1", "a", "3", "5", "1", "(2:2)", "2", "(3:2)", "6.00", "finished"],
        ["2", "c", "2", "2", "1", "(2:2)", "1", "(0:0)", "6.00", "finished"],
        ["3", "b", "1", "2", "0", "(2:3)", "1", "(0:0)", "6.00", "finished"],
    ]
    assert "void, and solved by every opponent in the match: $10 (no solution)" in as_text(every, terminal=False)
    assert "| vs a | vs c | vs b |" in as_markdown(every)
    assert not [ranking for ranking in every if ranking.scope is Scope.OVERALL]


def test_pairings_without_both_runs_have_no_points_and_a_note():
    match = of_scope(Scope.MATCH, ranked([played("a", "b", 3), played("b", "a", 1), played("a", "c", 2)]))
    cells = {row.bot: [str(pairing) for pairing in row.pairings] for row in match.rows}
    open_ = f"{NOTHING} (2:{NOTHING})", f"{NOTHING} ({NOTHING}:{NOTHING})"
    assert cells == {"a": ["2 (3:1)", open_[0]], "b": ["0 (1:3)", open_[1]]}
    assert any("not final: 3 runs missing" in note for note in match.notes)


def test_a_league_and_a_match_in_one_folder_have_separate_rankings():
    other = played("b", "a", 1)
    other = replace(other, set=replace(other.set, sha256="f" * 64))
    runs = [run_result("a"), run_result("b"), run_result("a", set_name="s2"), run_result("b", set_name="s2")]
    every = ranked([*runs, played("a", "b", 3), played("b", "a", 2), other])
    assert [its_facts.name for its_facts in of_scope(Scope.OVERALL, every).sets] == ["set1", "s2"]
    warning = "results on several sets of a: the last one counts; move the others away"
    assert warning in of_scope(Scope.MATCH, every).warnings
    titles = [ranking.title for ranking in every if ranking.scope is Scope.SET and "of a" in ranking.title]
    assert titles == ["puzzles of a (sha256 a.txt-di)", "puzzles of a (sha256 ffffffff)"]
