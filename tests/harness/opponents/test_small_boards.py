"""The tournaments of the opponents, and the small boards that one of them is played on."""

import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import deduce
from nonobot.harness.opponents.__main__ import OPPONENTS
from nonobot.harness.tournament.definition import played_set, read_tournament
from nonobot.protocol import Puzzle, read_batch
from nonobot.tournament_data import load_set
from tests.helpers.places import REPOSITORY

FOLDER = REPOSITORY / "docs" / "samples"
SMALL = FOLDER / "small"
SIZES = [(5, 10), (10, 11), (14, 25), (20, 20), (27, 23), (34, 34), (34, 40), (45, 45)]
BOTS = ["nonobot", "papers_fp1", "papers_fp2", "papers_fp3", "csp_bt", "csp_fc", "csp_gac", *OPPONENTS]
BOTS.remove("csp")  # which plays with each of its propagators


def boards(size: tuple[int, int]) -> list[Puzzle]:
    with (SMALL / f"{size[0]}x{size[1]}.txt").open("rb") as lines:
        entries = list(read_batch(lines, size))
    return [entry.puzzle for entry in entries]


def test_the_files_are_the_sets_of_the_tournament(monkeypatch):
    assert {path.stem for path in SMALL.glob("*.txt")} == {f"{width}x{height}" for width, height in SIZES}
    monkeypatch.chdir(REPOSITORY)
    sets = list(map(played_set, read_tournament(FOLDER / "small.toml").sets))
    assert sets == [(f"docs/samples/small/{width}x{height}.txt", (width, height)) for width, height in SIZES]
    for name, size in sets:
        assert len(load_set(name, size).puzzles) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("size", SIZES)
def test_both_boards_have_a_single_solution_and_only_the_first_is_line_solvable(size):
    first, second = boards(size)
    assert (deduce(first, 0) >= 0).all()
    known = deduce(second, 0) >= 0
    assert known.mean() < 2 / 3  # much is left to find
    strategy = ChampionStrategy(0, ())
    strategy.prepare()
    for puzzle in (first, second):
        assert strategy.solve(puzzle, solutions=2).verdict == "unique"


@pytest.mark.parametrize("name", ["opponents", "small"])
def test_every_opponent_plays_and_gives_up_before_it_is_stopped(name):
    tournament = read_tournament(FOLDER / f"{name}.toml")
    assert {bot.name for bot in tournament.bots} == {*BOTS}
    for bot in tournament.bots:
        name, _, choice = bot.name.partition("_")
        options = {"csp": f"--propagator {choice} ", "papers": f"--strategy papers --probing {choice} "}.get(
            name, ""
        )
        program = next((opponent for opponent in OPPONENTS if opponent in (name, bot.name)), "")
        module = f"nonobot.harness.opponents.{program}" if program else "nonobot"
        assert bot.command == f"{{python}} -P -m {module} {options}--size {{size}} --puzzle-limit 3"
    assert tournament.limits.puzzle > 3
