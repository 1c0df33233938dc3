"""Slow, obvious twins of what the bot does fast; they share no code with it.

A cell is 1 (black), 0 (white) or None (unknown). A line is a tuple of cells, a grid a list of rows, each row a
list of cells. Everything here follows the definitions word by word and enumerates; it is meant for small boards
and for lines with few placements. :func:`placement_count` tells beforehand how many there are.

The puzzle is anything with `rows` and `columns`, two sequences of clues. Sources: Chen and Hung, "A New
Simplified Line Solver for Nonogram Puzzle Games" (maximal painting, section 2; FP1, FP2, FP3, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from math import comb, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonobot.protocol import Puzzle

Cell = int | None
Line = tuple[Cell, ...]
Grid = list[list[Cell]]
Literal = tuple[tuple[int, int], int]  # ((row, column), colour)


# Lines


@cache
def placements(clue: tuple[int, ...], length: int) -> tuple[tuple[int, ...], ...]:
    """Return every fully painted line of `length` cells that has `clue`, leftmost blocks first."""
    if not clue:
        return ((0,) * length,)
    found = []
    for start in range(length - clue[0] + 1):
        head = (0,) * start + (1,) * clue[0]
        rest = length - len(head)
        if len(clue) == 1:
            found.append(head + (0,) * rest)
        elif rest > 0:
            found.extend((*head, 0, *tail) for tail in placements(clue[1:], rest - 1))
    return tuple(found)


def placement_count(clue: Sequence[int], length: int) -> int:
    """Return how many placements there are: the ways to hand out the spare cells to the k + 1 gaps."""
    spare = length - sum(clue) - max(0, len(clue) - 1)
    return comb(spare + len(clue), len(clue)) if spare >= 0 else 0


def all_clues(length: int) -> list[tuple[int, ...]]:
    """Return every clue that fits a line of `length` cells, each once, the empty one first."""
    found: list[tuple[int, ...]] = [()]
    for first in range(1, length + 1):
        found.append((first,))
        found.extend((first, *rest) for rest in all_clues(length - first - 1) if rest)
    return found


def agrees(painted: Sequence[int], cells: Sequence[Cell]) -> bool:
    """Tell whether the fully painted line has every known cell of `cells`."""
    for colour, known in zip(painted, cells, strict=True):  # noqa: SIM110 - it is called a million times
        if known is not None and known != colour:
            return False
    return True


def paint_line(clue: Sequence[int], cells: Sequence[Cell]) -> Line | None:
    """Return the cells that all placements agreeing with `cells` have in common; None if no placement agrees."""
    left = [line for line in placements(tuple(clue), len(cells)) if agrees(line, cells)]
    if not left:
        return None
    return tuple(colours[0] if len(set(colours)) == 1 else None for colours in zip(*left, strict=True))


# Grids


def unknown_grid(puzzle: Puzzle) -> Grid:
    """Return the grid of `puzzle` with nothing painted."""
    return [[None] * len(puzzle.columns) for _ in puzzle.rows]


def painted(grid: Grid, cell: tuple[int, int], colour: int) -> Grid:
    """Return G | (cell, colour): a copy of `grid` with one more cell painted."""
    copy = [list(row) for row in grid]
    copy[cell[0]][cell[1]] = colour
    return copy


def propagate(puzzle: Puzzle, grid: Grid) -> Grid | None:
    """Paint all rows and all columns again and again until nothing changes; None on a conflict."""
    now = [list(row) for row in grid]
    while True:
        before = [list(row) for row in now]
        for y, clue in enumerate(puzzle.rows):
            line = paint_line(clue, now[y])
            if line is None:
                return None
            now[y] = list(line)
        for x, clue in enumerate(puzzle.columns):
            line = paint_line(clue, [row[x] for row in now])
            if line is None:
                return None
            for row, cell in zip(now, line, strict=True):
                row[x] = cell
        if now == before:
            return now


def fully_probe(puzzle: Puzzle, grid: Grid, level: int) -> Grid | None:
    """Propagate and apply FP1, FP2 or FP3 (`level` 1, 2, 3) until nothing changes; None on a conflict.

    Each round probes every unknown cell in both colours from the same propagated grid. A colour that fails fixes
    the other one. (a, c) -> (b, d) says that painting a with c and propagating paints b with d. FP2 adds the
    contrapositive (b, not d) -> (a, not c) of each, FP3 also closes transitively. What both colours of a cell
    lead to holds.
    """
    now = propagate(puzzle, grid)
    while now is not None:
        holds = _deduced(puzzle, now, level)
        if any((cell, 1 - colour) in holds for cell, colour in holds):
            return None
        if not holds:
            return now
        for cell, colour in holds:
            now = painted(now, cell, colour)
        now = propagate(puzzle, now)
    return None


def _deduced(puzzle: Puzzle, grid: Grid, level: int) -> set[Literal]:
    unknown = [(y, x) for y, row in enumerate(grid) for x, cell in enumerate(row) if cell is None]
    leads_to: dict[Literal, set[Literal]] = {}
    holds: set[Literal] = set()
    for cell in unknown:
        for colour in (0, 1):
            leads_to[cell, colour] = {(cell, colour)}
            after = propagate(puzzle, painted(grid, cell, colour))
            if after is None:
                holds.add((cell, 1 - colour))
                continue
            for y, x in unknown:
                if after[y][x] is not None:
                    leads_to[cell, colour].add(((y, x), after[y][x]))
    if level >= 2:
        for (a, c), implied in list(leads_to.items()):
            for b, d in list(implied):
                leads_to[b, 1 - d].add((a, 1 - c))
    if level >= 3:
        for middle in leads_to:
            for implied in leads_to.values():
                if middle in implied:
                    implied |= leads_to[middle]
    for cell in unknown:
        holds |= leads_to[cell, 0] & leads_to[cell, 1]
    return holds


# Whole puzzles


def solutions(puzzle: Puzzle, limit: int | None = None) -> list[Grid]:
    """Return the fully painted grids that solve `puzzle`, up to `limit` of them, in the order of placements."""
    found: list[Grid] = []
    if limit == 0:
        return found
    for grid in _with_rows_painted(puzzle, []):
        if verify(puzzle, grid):
            found.append(grid)
            if len(found) == limit:
                break
    return found


def _with_rows_painted(puzzle: Puzzle, above: Grid) -> Iterator[Grid]:
    if len(above) == len(puzzle.rows):
        yield [list(row) for row in above]
        return
    for line in placements(tuple(puzzle.rows[len(above)]), len(puzzle.columns)):
        rows = [*above, list(line)]
        if all(map(_can_begin, zip(*rows, strict=True), puzzle.columns)):
            yield from _with_rows_painted(puzzle, rows)


@lru_cache(1 << 16)
def _can_begin(cells: tuple[int, ...], clue: tuple[int, ...]) -> bool:
    """Tell whether the runs of `cells` are the first of `clue`; the last run may still grow."""
    runs = _runs(cells)
    if len(runs) > len(clue):
        return False
    if runs and cells[-1] == 1:
        return list(clue[: len(runs) - 1]) == runs[:-1] and runs[-1] <= clue[len(runs) - 1]
    return list(clue[: len(runs)]) == runs


def level(puzzle: Puzzle) -> str | None:
    """Return the least method that finds the only solution of a puzzle; None if it has several or none."""
    return least_method(puzzle) if len(solutions(puzzle, limit=2)) == 1 else None


def least_method(puzzle: Puzzle) -> str:
    """Return the least method that finds every cell: `lines`, `probing`, or else `search`."""

    def is_full(grid: Grid | None) -> bool:
        return grid is not None and all(cell is not None for row in grid for cell in row)

    unknown = unknown_grid(puzzle)
    if is_full(propagate(puzzle, unknown)):
        return "lines"
    return "probing" if is_full(fully_probe(puzzle, unknown, 1)) else "search"


def verify(puzzle: Puzzle, grid: Sequence[Sequence[int]]) -> bool:
    """Tell whether `grid` is fully painted, has the right size and every line has the clue it should have."""
    rows = [list(row) for row in grid]
    height, width = len(puzzle.rows), len(puzzle.columns)
    if len(rows) != height or any(len(row) != width for row in rows):
        return False
    if any(cell not in (0, 1) for row in rows for cell in row):
        return False
    lines, clues = [*rows, *zip(*rows, strict=True)], [*puzzle.rows, *puzzle.columns]
    return all(_runs(line) == list(clue) for line, clue in zip(lines, clues, strict=True))


def _runs(cells: Sequence[Cell]) -> list[int]:
    runs: list[int] = []
    before: Cell = 0
    for cell in cells:
        if cell == 1 and before == 1:
            runs[-1] += 1
        elif cell == 1:
            runs.append(1)
        before = cell
    return runs


# Starts of blocks, beliefs, and clauses: what the champion's kernels are made of


def block_starts(painted: Sequence[int]) -> tuple[int, ...]:
    """Return where the blocks of a fully painted line start."""
    return tuple(i for i, cell in enumerate(painted) if cell == 1 and (i == 0 or painted[i - 1] == 0))


def valid_starts(clue: Sequence[int], cells: Sequence[Cell]) -> list[set[int]] | None:
    """Return for each block its starts in all placements that agree with `cells`; None if no placement agrees."""
    left = [line for line in placements(tuple(clue), len(cells)) if agrees(line, cells)]
    if not left:
        return None
    return [set(starts) for starts in zip(*map(block_starts, left), strict=True)]


def line_sums(
    clue: Sequence[int], cells: Sequence[Cell], odds: Sequence[float]
) -> tuple[float, list[float], list[list[float]]]:
    """Return the weight of all placements; by cell, of those that paint it black; by block and place, its starts.

    A placement that agrees with `cells` weighs the product of the odds of its unknown black cells. By dynamic
    programming, so that lines may be long; with whole numbers for odds the sums are exact.
    """
    length = len(cells)
    black = [odd if cell is None else cell for cell, odd in zip(cells, odds, strict=True)]
    white = [cell != 1 for cell in (*cells, 0)]  # behind the last cell there is one more white one

    def block_weight(size: int, i: int) -> float:
        return prod(black[i : i + size]) * white[i + size]  # of a block at i and the white cell behind it

    # places[j]: where the first j blocks may have ended, each with a white cell behind it
    ends = [0, *accumulate(size + 1 for size in clue)]
    places = [range(end, length + 2 - (ends[-1] - end)) for end in ends]
    # ahead[j][i]: all ways to paint the cells before i with the first j blocks
    ahead: list[list[float]] = [[0] * (length + 2) for _ in places]
    for j, row in enumerate(ahead):
        for i in places[j]:
            row[i] = row[i - 1] * white[i - 1] if i else 1
            if j and ahead[j - 1][i - clue[j - 1] - 1]:
                before = i - clue[j - 1] - 1
                row[i] += ahead[j - 1][before] * block_weight(clue[j - 1], before)
    # behind[j][i]: all ways to paint the cells from i on with the blocks from the j-th on
    behind: list[list[float]] = [[0] * (length + 2) for _ in places]
    for j, row in reversed([*enumerate(behind)]):
        for i in reversed(places[j]):
            row[i] = row[i + 1] * white[i] if i <= length else 1
            if j < len(clue) and behind[j + 1][i + clue[j] + 1]:
                row[i] += block_weight(clue[j], i) * behind[j + 1][i + clue[j] + 1]
    starts, cells = [], [0] * length
    for block, size in enumerate(clue):
        starts.append([0] * length)
        for i in places[block]:
            around = ahead[block][i] * behind[block + 1][i + size + 1]
            if around:
                starts[block][i] = around * block_weight(size, i)
                for cell in range(i, i + size):
                    cells[cell] += starts[block][i]
    return ahead[-1][length + 1], cells, starts


def paint_long_line(clue: Sequence[int], cells: Sequence[Cell]) -> tuple[Line, list[set[int]]] | None:
    """Return what `paint_line` and `valid_starts` do, of lines of any length: every placement weighs 1."""
    total, black, starts = line_sums(clue, cells, [1] * len(cells))
    if not total:
        return None
    painted = tuple(1 if weight == total else 0 if weight == 0 else None for weight in black)
    return painted, [{i for i, weight in enumerate(row) if weight} for row in starts]


def line_clauses(clue: Sequence[int], length: int) -> list[list[tuple[tuple[object, ...], bool]]]:
    """Return the clauses over the cells of a line and the starts of its blocks that the champion never stores.

    A variable is ("black", i) or ("starts by", block, place), for every place of the line and one more on
    either side; a clause is a list of (variable, value) of which one at least holds.
    """
    places = range(-1, length + 1)

    def by(block: int, place: int) -> tuple[tuple[object, ...], bool]:
        return ("starts by", block, min(max(place, -1), length)), True

    def no(literal: tuple[tuple[object, ...], bool]) -> tuple[tuple[object, ...], bool]:
        return literal[0], not literal[1]

    found = []
    least = 0
    for block, size in enumerate(clue):
        last = length - (sum(clue[block:]) + len(clue) - 1 - block)
        found += [[by(block, p) if p >= last else no(by(block, p))] for p in places if p < least or p >= last]
        found += [[no(by(block, p)), by(block, p + 1)] for p in places[:-1]]
        found += [[no(by(block, i)), by(block, i - size), (("black", i), True)] for i in range(length)]
        if block:
            found += [[no(by(block, p)), by(block - 1, p - clue[block - 1] - 1)] for p in places]
        least += size + 1
    for block in range(len(clue) + 1):  # the gap before each block, and behind the last one
        for i in range(length):
            ends = [no(by(block - 1, i - clue[block - 1]))] if block else []
            begins = [by(block, i)] if block < len(clue) else []
            found.append([*ends, *begins, (("black", i), False)])
    return found


def unit_propagate(
    clauses: Iterable[Sequence[tuple[object, bool]]], values: Mapping[object, bool]
) -> dict[object, bool] | None:
    """Set the last literal of each clause whose others are false; None if a clause is all false."""
    now = dict(values)
    changed = True
    while changed:
        changed = False
        for clause in clauses:
            if any(now.get(variable) == value for variable, value in clause):
                continue
            unknown = [literal for literal in clause if literal[0] not in now]
            if not unknown:
                return None
            if len(unknown) == 1:
                now[unknown[0][0]] = unknown[0][1]
                changed = True
    return now
