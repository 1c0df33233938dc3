"""Conflict learning: explanations, stored clauses, analysis, the trail and the order of decisions."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from nonobot.bot.champion.clauses import KEPT_FOR_GOOD
from nonobot.bot.champion.heap import BOUND_WEIGHT
from nonobot.bot.champion.trail import BY_CHOICE, NEVER
from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.boards import broken, masks_of, random_clue, random_grid, shuffled
from tests.helpers.champion_kernels import Kernel
from tests.helpers.champion_state import ChampionState, holds


@pytest.fixture(scope="module")
def search() -> ChampionState:
    return ChampionState()


@pytest.mark.parametrize("length", [3, 6, 9, 12, 15])
def test_an_explanation_suffices_and_needs_each_of_its_cells(search, length):
    rng = random.Random(length)
    explained = 0
    while explained < 150:
        clue = random_clue(rng, length)
        every = naive.placements(clue, length)
        if not 1 < len(every) <= 2_000:
            continue
        # Some cells and bounds are known for good, some cells the learned clause has already.
        true = rng.choice(every)
        root = {i for i in range(length) if rng.random() < rng.choice((0, 0, 0.2))}
        left = [line for line in every if all(line[i] == true[i] for i in root)]
        starts = [naive.block_starts(line) for line in left]
        # Any placement with wrong cells in it: what is known now.
        other = rng.choice(every)
        now = {i: 1 - other[i] if rng.random() < 0.2 else other[i] for i in range(length) if rng.random() < 0.7}
        now |= {i: true[i] for i in root}

        def possible(cells: dict[int, int], left: list = left) -> bool:
            return any(all(line[i] == colour for i, colour in cells.items()) for line in left)

        if possible(now):
            continue
        target = {i for i in now if i not in root and rng.random() < 0.1}
        seen = {i for i in now if rng.random() < rng.choice((0, 0.3))}
        search.load(Puzzle.unchecked(columns=((),) * length, rows=(clue,)))
        search["earliest"][0, : len(clue)] = [min(places) for places in zip(*starts, strict=True)]
        search["latest"][0, : len(clue)] = [max(places) for places in zip(*starts, strict=True)]
        Kernel.take_over_root(search.m)
        search["root_known"][0] = sum(1 << i for i in root)
        search["event_of"][:length] = range(length)
        search["seen"][:length] = [i in seen for i in range(length)]
        black, white = masks_of([now.get(i) for i in range(length)])
        end = Kernel.explain(search.m, 0, black, white, sum(1 << i for i in target), 3)
        reasons = set(search["reasons"][3:end].tolist())
        assert len(reasons) == end - 3
        assert reasons <= set(now) - root - target
        assert seen - root - target <= reasons
        kept = {i: now[i] for i in reasons | root | target}
        assert not possible(kept), (clue, now, kept)
        # Bounds at the root may say less than the cells known for good; then they are not all of `left`.
        for i in reasons - seen:
            assert possible({j: colour for j, colour in kept.items() if j != i}), (clue, now, kept, i)
        explained += 1


def order_clauses(search: ChampionState) -> list:
    """Return the clauses that moving a bound keeps: who starts at p or before also starts at p + 1 or before."""
    names = {search.name(number) for number in range(search.one("cells"), search.one("variables"))}
    return [
        [((line, block, place), False), ((line, block, place + 1), True)]
        for line, block, place in names
        if (line, block, place + 1) in names
    ]


def random_clause(search: ChampionState, rng: random.Random) -> list[int]:
    size = rng.choice((2, 2, 3, 3, 3, 4, 6, 9))
    variables = rng.sample(range(search.one("variables")), size)
    return [2 * variable + rng.randint(0, 1) for variable in variables]


def named(search: ChampionState, clauses: Iterator | list) -> list:
    return [[search.literal(number) for number in clause] for clause in clauses]


def decide_and_compare(search: ChampionState, rng: random.Random, clauses: list, steps: int) -> dict[str, int]:
    """Decide at random and jump back at random; compare with unit propagation each time."""
    met = {"conflicts": 0, "implied": 0}
    decided: list[dict] = []
    for _ in range(steps):
        unknown = [v for v in range(search.one("variables")) if search.value(v) is None]
        if not unknown or rng.random() < 0.15:
            back = rng.randint(0, len(decided))
            Kernel.jump_back(search.m, back)
            decided = decided[:back]
            assert search.known() == (naive.unit_propagate(clauses, merged(decided)) or {})
            continue
        variable, negative = rng.choice(unknown), rng.randint(0, 1)
        search.open_level()
        Kernel.assign_literal(search.m, 2 * variable + negative, BY_CHOICE)
        decided.append({search.name(variable): not negative})
        before = len(search.known())
        right = naive.unit_propagate(clauses, merged(decided))
        if Kernel.visit_all_watches(search.m):
            assert right is not None
            assert search.known() == right
            met["implied"] += len(right) - before
            continue
        assert right is None
        met["conflicts"] += 1
        parts = search.clause(search.one("conflict"))
        assert all(search["value"][literal] < 0 for literal in parts)
        back = rng.randint(0, len(decided) - 1)
        Kernel.jump_back(search.m, back)
        decided = decided[:back]
    return met


def merged(decided: list[dict]) -> dict:
    return {name: value for decision in decided for name, value in decision.items()}


def loose_board(search: ChampionState, rng: random.Random) -> None:
    """Load a board with cells and bounds; its clues are not looked at."""
    search.load(Puzzle.from_grid(random_grid(rng, 4, 4, 0.4)))


def test_watched_literals_set_the_same_cells_as_unit_propagation(search):
    rng = random.Random(1)
    met = {"conflicts": 0, "implied": 0}
    for _ in range(40):
        loose_board(search, rng)
        clauses = [random_clause(search, rng) for _ in range(rng.choice((10, 40, 80)))]
        for clause in clauses:
            search.add_clause(clause, 5)
        names = order_clauses(search) + named(search, clauses)
        for kind, number in decide_and_compare(search, rng, names, 40).items():
            met[kind] += number
    assert min(met.values()) > 50, met


def test_a_reduction_keeps_reasons_and_good_clauses_and_the_rest_propagates_as_before(search):
    rng = random.Random(2)
    kept_reasons = 0
    for _ in range(40):
        loose_board(search, rng)
        for _ in range(60):
            search.add_clause(random_clause(search, rng), rng.randint(1, 12))
        for _ in range(3):  # some decisions, so that some clauses are reasons
            unknown = [v for v in range(search.one("variables")) if search.value(v) is None]
            search.open_level()
            Kernel.assign_literal(search.m, 2 * rng.choice(unknown) + rng.randint(0, 1), BY_CHOICE)
            if not Kernel.visit_all_watches(search.m):
                Kernel.jump_back(search.m, search.one("level") - 1)
                break
        before = [(set(literals), flags) for _, literals, flags in search.clauses()]
        why = reason_clauses(search)
        Kernel.reduce_clauses(search.m)
        left = [set(literals) for _, literals, _ in search.clauses()]
        assert reason_clauses(search) == why
        assert all(set(clause) in left for clause in why.values())
        assert all(literals in left for literals, flags in before if flags & 0xFFFF <= KEPT_FOR_GOOD)
        assert len(left) < len(before)
        Kernel.jump_back(search.m, 0)
        names = order_clauses(search) + named(search, [literals for _, literals, _ in search.clauses()])
        decide_and_compare(search, rng, names, 15)
        kept_reasons += len(why)
    assert kept_reasons > 40


def reason_clauses(search: ChampionState) -> dict[int, frozenset[int]]:
    """Return the stored clauses that are reasons of events on the trail."""
    reasons = search["trail"]["reason"][: search.one("trail_size")].tolist()
    return {event: frozenset(search.clause(place)) for event, place in enumerate(reasons) if place >= 0}


def snapshot(search: ChampionState) -> list[np.ndarray]:
    lines = dict.fromkeys(("board.black", "board.white", "earliest", "latest"), search.one("lines"))
    counts = dict.fromkeys(("assigned", "trail_size", "record_count"), 1)
    parts = lines | counts | {"value": 2 * search.one("variables")}
    return [search[name][:end].copy() for name, end in parts.items()]


def check_learned(search: ChampionState, solutions: list[naive.Grid], level: int) -> list[int]:
    """Check the clause just learned, before the jump back to `level`, and return it."""
    learned = search["learned"][: search.one("learned_size")].tolist()
    assert len({literal >> 1 for literal in learned}) == len(learned)
    assert all(search["value"][literal] < 0 for literal in learned)
    levels = [search.level_of(literal >> 1) for literal in learned]
    present = search.one("level")
    assert levels[0] == present
    assert levels.count(present) == 1
    assert 0 not in levels
    assert level == max(levels[1:], default=0)
    if len(learned) > 1:
        assert levels[1] == level
    assert search.one("learned_lbd") == len(set(levels))
    named_ = [search.literal(literal) for literal in learned]
    for grid in solutions:
        assert any(holds(literal, grid) for literal in named_), (search.puzzle, grid, named_)
    # Nothing is left behind for the next conflict.
    assert not search["seen"][: search.one("trail_size")].any()
    assert not search["verdict"][: search.one("trail_size")].any()
    assert (search["level_first"][: present + 1] == NEVER).all()
    return learned


def check_trail(search: ChampionState) -> None:
    """Check that the reasons of all that is known came before it."""
    for variable in range(search.one("variables")):
        if search.value(variable) is None or search.level_of(variable) == 0:
            continue
        event = search.event_of(variable)
        if search.reason(event) != BY_CHOICE:
            assert all(search.event_of(reason) < event for reason in search.reasons(variable))


def solve_at_random(
    search: ChampionState, rng: random.Random, puzzle: Puzzle, solutions: list[naive.Grid], most_conflicts: int
) -> int:
    """Search with random decisions, checking each clause learned; return the number of conflicts."""
    search.load(puzzle)
    snapshots: list[list[np.ndarray]] = []
    conflicts = 0
    while True:
        if not Kernel.propagate(search.m):
            if search.one("level") == 0:
                assert not solutions, puzzle
                return conflicts
            conflicts += 1
            if conflicts % 5 == 0:
                check_trail(search)
            level = int(Kernel.analyse_conflict(search.m))
            learned = check_learned(search, solutions, level)
            Kernel.jump_back(search.m, level)
            assert not search["dirty.rows"].any()
            assert not search["dirty.columns"].any()
            for now, then in zip(snapshot(search), snapshots[level], strict=True):
                assert np.array_equal(now, then), puzzle
            snapshots = snapshots[:level]
            assert all(search["value"][literal] < 0 for literal in learned[1:])
            assert search["value"][learned[0]] == 0
            reason = BY_CHOICE if len(learned) == 1 else int(Kernel.add_clause(search.m))
            Kernel.assign_literal(search.m, learned[0], reason)
            if conflicts >= most_conflicts:
                return conflicts
            continue
        if search.one("level") == 0:
            known = search["board.black"] | search["board.white"]
            assert np.array_equal(search["root_known"][: search.one("lines")], known[: search.one("lines")])
        unknown = [v for v in range(search.one("variables")) if search.value(v) is None]
        if not unknown:
            rows = search["board.black"][: puzzle.height].tolist()
            grid = [[row >> x & 1 for x in range(puzzle.width)] for row in rows]
            assert naive.verify(puzzle, grid)
            return conflicts
        if rng.random() < 0.05:
            Kernel.reduce_clauses(search.m)
        snapshots.append(snapshot(search))
        search.open_level()
        Kernel.assign_literal(search.m, 2 * rng.choice(unknown) + rng.randint(0, 1), BY_CHOICE)


@pytest.mark.parametrize(
    "size", [pytest.param(5, marks=pytest.mark.nightly), 6, pytest.param(7, marks=pytest.mark.nightly)]
)
def test_every_learned_clause_is_true_of_all_solutions_and_asserts_after_the_jump(search, size):
    rng = random.Random(size)
    conflicts = 0
    for turn in range(250):
        puzzle = Puzzle.from_grid(random_grid(rng, size, rng.randint(size - 1, size), rng.uniform(0.25, 0.4)))
        puzzle = (puzzle, shuffled(rng, puzzle), puzzle, broken(rng, puzzle))[turn % 4]
        solutions = naive.solutions(puzzle, limit=200)
        for _ in range(4):
            conflicts += solve_at_random(search, rng, puzzle, solutions, 60)
    assert conflicts > 100, conflicts


@pytest.mark.parametrize("size", [12, pytest.param(25, marks=pytest.mark.nightly)])
def test_learned_clauses_of_larger_boards_agree_with_the_known_solution(search, size):
    # Random decisions meet far more conflicts here; of the solutions only the board itself is known.
    rng = random.Random(size)
    conflicts = 0
    for _ in range(4):
        grid = random_grid(rng, size, size, rng.uniform(0.35, 0.45))
        conflicts += solve_at_random(search, rng, Puzzle.from_grid(grid), [grid], 150)
    assert conflicts > 20, conflicts


# The order of decisions. Which value they get, when they are replayed, and when the search restarts is no
# matter of right and wrong: the golden counts tell when it changes.


def test_the_heap_gives_the_most_active_first(search):
    rng = random.Random(3)
    for _ in range(30):
        search.load(Puzzle.from_grid(random_grid(rng, 8, 8, 0.4)))
        variables = range(search.one("variables"))
        search["bump"][0] = rng.choice((1.0, 1e60, 9e99))
        activity = search["activity"]
        for variable in variables:
            activity[variable] = rng.choice((rng.random(), 0.0, rng.randint(1, 5)))
        inside = set(rng.sample(variables, rng.randint(1, len(variables))))
        for variable in inside:
            Kernel.insert(search.m, variable)
        while inside:
            for _ in range(rng.choice((0, 0, 3))):
                bumped = rng.choice(variables)
                expected = activity[: len(variables)].copy()
                expected[bumped] += search["bump"][0] * (1 if bumped < search.one("cells") else BOUND_WEIGHT)
                if expected[bumped] > 1e100:
                    expected /= 1e100
                Kernel.make_more_active(search.m, bumped)
                assert (activity[: len(variables)] == expected).all()
            top = int(Kernel.pop(search.m))
            assert top in inside
            assert activity[top] == max(activity[other] for other in inside)
            inside.remove(top)
            outside = [v for v in variables if v not in inside]
            if rng.random() < 0.3:
                again = rng.choice(outside)
                Kernel.insert(search.m, again)
                inside.add(again)
            places = search["heap_place"][: len(variables)].tolist()
            assert {v for v in variables if places[v] >= 0} == inside
            assert all(search["heap"][places[v]] == v for v in inside)
            assert search.one("heap_size") == len(inside)
