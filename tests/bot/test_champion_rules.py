"""The implicit clauses: what they set, why, and that it is all that unit propagation sets."""

import random
from functools import cache
from itertools import compress

import pytest

from nonobot.bot.champion.trail import BY_CHOICE, BY_NEIGHBOUR, BY_RULE, OF_RULE
from nonobot.protocol import Puzzle
from tests import naive
from tests.bot.test_beliefs import random_line
from tests.helpers.boards import random_grid
from tests.helpers.champion_kernels import Kernel
from tests.helpers.champion_state import ChampionState, Variable, holds


@pytest.fixture(scope="module")
def search() -> ChampionState:
    return ChampionState()


@cache
def line_clauses(clue: tuple[int, ...], length: int) -> list:
    return naive.line_clauses(clue, length)


def board_clauses(search: ChampionState) -> list:
    """Return the implicit clauses of all lines, over the variables of the board."""
    found = []
    for line, clue in enumerate(search.clues):
        length = search.length(line)

        def name(variable: tuple, line: int = line) -> Variable:
            return search.cell(line, variable[1]) if variable[0] == "black" else (line, *variable[1:])

        found += [[(name(v), value) for v, value in clause] for clause in line_clauses(tuple(clue), length)]
    return found


def check_reasons(search: ChampionState) -> None:
    """Check for everything that a rule set that its reasons came before and imply it."""
    for number in range(search.one("variables")):
        if search.value(number) is None:
            continue
        event = search.event_of(number)
        if search.reason(event) not in (BY_RULE, BY_NEIGHBOUR):
            continue
        reasons = search.reasons(number)
        assert all(search.event_of(reason) < event for reason in reasons)
        premises = {search.name(reason): search.value(reason) for reason in reasons}
        conclusion = search.name(number)
        lines = search.lines_of([conclusion, *premises])
        assert any(follows(search, line, premises, conclusion, search.value(number)) for line in lines), (
            search.puzzle,
            premises,
            conclusion,
        )


def follows(
    search: ChampionState, line: int, premises: dict[Variable, bool], conclusion: Variable, value: bool
) -> bool:
    """Tell whether in each placement of a line in which the premises hold the conclusion holds too."""
    return all(
        says[conclusion] == value
        for says in search.facts(line)
        if all(says[variable] == known for variable, known in premises.items())
    )


def check_conflict(search: ChampionState) -> None:
    """Check that no placement of some line agrees with the parts of the conflict, as they are set."""
    assert search.one("conflict") == OF_RULE
    parts = [part for part in search["conflict_parts"][:3].tolist() if part >= 0]
    assert parts
    values = {search.name(part): search.value(part) for part in parts}
    assert None not in values.values()
    assert any(
        not any(all(says[variable] == value for variable, value in values.items()) for says in search.facts(line))
        for line in search.lines_of(list(values))
    ), (search.puzzle, values)


def check_mirrors(search: ChampionState) -> None:
    """Check that the masks of BOARD and the bounds say what the variables say."""
    known = search.known()
    black, white = (
        search["board.black"].tolist(),
        search["board.white"].tolist(),
    )  # numpy 1 shifts uint64 by no int
    for line, clue in enumerate(search.clues):
        for i in range(search.length(line)):
            value = known.get(search.cell(line, i))
            assert (black[line] >> i & 1, white[line] >> i & 1) == (value is True, value is False)
        for block in range(len(clue)):
            first, last, earliest, latest = (
                int(search[field][line, block]) for field in ("first", "last", "earliest", "latest")
            )
            for place in range(first, last):
                right = True if place >= latest else False if place < earliest else None
                assert known.get((line, block, place)) is right
    assert search.one("assigned") == len(known)


def check_lines(search: ChampionState) -> None:
    """Check that each line has placements that agree with what is known, with its blocks at every open bound.

    That is why the line kernel, called at this fixpoint, cannot fail and moves no bound.
    """
    known = search.known()
    for line, clue in enumerate(search.clues):
        agrees = [
            all(known.get(name, value) == value for name, value in says.items()) for says in search.facts(line)
        ]
        left = list(compress(search.facts(line), agrees))
        assert left, (search.puzzle, line)
        for block in range(len(clue)):
            ends = int(search["earliest"][line, block]), int(search["latest"][line, block])
            for name in [(line, block, place) for place in range(*ends)]:
                assert {says[name] for says in left} == {False, True}, (search.puzzle, name)


def start(search: ChampionState, clauses: list) -> dict[Variable, bool] | None:
    """Set at level 0 what the clauses say by themselves, and return it; None on a conflict.

    The search lets the line kernel do so, which finds more.
    """
    right = naive.unit_propagate(clauses, {})
    if right is not None:
        for cell in range(search.one("cells")):
            value = right.get(search.name(cell))
            if value is not None and search.value(cell) is None:
                Kernel.assign_literal(search.m, 2 * cell + (not value), BY_CHOICE)
        assert Kernel.apply_all_rules(search.m)
        compare(search, right)
    return right


def compare(search: ChampionState, right: dict[Variable, bool]) -> None:
    names = {search.name(number) for number in range(search.one("variables"))}
    assert search.known() == {name: value for name, value in right.items() if name in names}, search.puzzle


def assume_and_propagate(search: ChampionState, rng: random.Random, truth: naive.Grid, wrong: float) -> bool:
    """Assume random literals, most of them true of a board; compare with unit propagation after each.

    Returns False on a conflict.
    """
    clauses = board_clauses(search)
    right = start(search, clauses)
    assert right is not None
    variables = list(range(search.one("variables")))
    rng.shuffle(variables)
    while variables and rng.random() < 0.9:
        # One assumption or several at once.
        assumed = {}
        for variable in variables[: rng.choice((1, 1, 2, 5, 10))]:
            variables.remove(variable)
            if search.value(variable) is None:
                name = search.name(variable)
                assumed[name] = holds((name, True), truth) != (rng.random() < wrong)
                search.open_level()
                Kernel.assign_literal(search.m, 2 * variable + (not assumed[name]), BY_CHOICE)
        right = naive.unit_propagate(clauses, right | assumed)
        if not Kernel.apply_all_rules(search.m):
            assert right is None, search.puzzle
            check_conflict(search)
            check_reasons(search)
            return False
        assert right is not None, search.puzzle
        compare(search, right)
        check_mirrors(search)
        check_lines(search)
        check_reasons(search)
    return True


@pytest.mark.parametrize("most", [4, 5, pytest.param(7, marks=pytest.mark.nightly)])
def test_the_rules_set_the_same_cells_as_unit_propagation_with_valid_reasons(search, most):
    rng = random.Random(most)
    ends = [0, 0]
    for turn in range(300):
        width, height = rng.randint(1, most), rng.randint(1, most)
        grid = random_grid(rng, width, height, rng.uniform(0.1, 0.4))
        search.load(Puzzle.from_grid(grid))
        ends[assume_and_propagate(search, rng, grid, wrong=0 if turn % 2 else 0.5)] += 1
    assert min(ends) >= 5, ends


@pytest.mark.parametrize(
    "slack", [1, 3, 8, *(pytest.param(slack, marks=pytest.mark.nightly) for slack in (20, 40))]
)
def test_the_rules_are_exact_on_long_lines(search, slack):
    # Below the row one that has the other colour in each cell: no column says more than that.
    rng = random.Random(slack)
    for turn in range(6):
        while True:
            length = rng.randint(slack + 1, 62)
            clue, _ = random_line(rng, length, slack)
            if naive.placement_count(clue, length) <= 300:
                break
        row = list(rng.choice(naive.placements(clue, length)))
        grid = [row, [1 - cell for cell in row]]
        puzzle = Puzzle.from_grid(grid)
        if all(naive.placement_count(line, length) <= 300 for line in puzzle.rows):
            search.load(puzzle)
            assume_and_propagate(search, rng, grid, wrong=0 if turn % 2 else 0.1)
