"""Logic on single lines, and a guess by roulette wheel when logic finds no more cells.

Source: Le Quang Dong, "An Efficient Approach for Solving Nonogram Puzzles" (University of Engineering and
Technology, Vietnam National University), section 3. Human methods come first: simple boxes (cells that a block
always covers), simple spaces (cells that no block reaches; a black cell that only one block reaches narrows its
range) and forcing (white cells narrow a range). Then Fix and Paint deduce all cells of a line. Then a cell is
drawn with a probability that grows with its influence, and guessed. A contradiction gives it the other colour; if
both fail, an earlier guess was wrong.

The source does not print its formula of influence. Here it is (1 + known cells of the row) x (1 + known cells of
the column), because a guess among known cells is soon confirmed or refuted. Black is tried first. Left out:
nothing. Deductions about a line are cached, because the same states occur again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable

import numpy as np

from nonobot.arguments import integer
from nonobot.harness.opponents.command_line import argument_parser, serve
from nonobot.harness.solver_bot import Clock
from nonobot.protocol import Clue, Puzzle, Solution
from nonobot.protocol.clues import needed_length

KnownCells = tuple[int, int]  # of a line, as masks of black and white; bit i is cell i


class LineLogic:
    """Deduces cells of a line from its clue, which fits its length, and from the known cells."""

    def __init__(self, clue: Clue, length: int) -> None:
        self._clue = clue
        self._length = length
        self._full = (1 << length) - 1
        self._earliest = [sum(clue[:block]) + block for block in range(len(clue))]
        self._seen: dict[tuple[bool, KnownCells], KnownCells | None] = {}

    def deduce(self, cells: KnownCells, is_complete: bool) -> KnownCells | None:
        """Return all known cells: complete by Fix and Paint, or some by ranges; None for a contradiction."""
        key = is_complete, cells
        if key not in self._seen:
            self._seen[key] = self._paint(cells) if is_complete else self._by_ranges(cells)
        return self._seen[key]

    # Simple boxes, simple spaces, forcing

    def _by_ranges(self, cells: KnownCells) -> KnownCells | None:
        black, white = cells
        slack = self._length - needed_length(self._clue)
        first = list(self._earliest)
        last = [start + slack for start in first]
        is_narrowed = True
        while is_narrowed:
            self._force(first, last, white)
            if any(begin > end for begin, end in zip(first, last, strict=True)):
                return None
            in_range = [_mask(begin, end + size) for begin, end, size in zip(first, last, self._clue, strict=True)]
            is_narrowed = self._narrow(first, last, black, in_range)
        boxes = anywhere = 0
        for block, size in enumerate(self._clue):
            boxes |= _mask(last[block], first[block] + size)
            anywhere |= in_range[block]
        black, white = black | boxes, white | (self._full & ~anywhere)
        return None if black & white else (black, white)

    def _force(self, first: list[int], last: list[int], white: int) -> None:
        """Narrow the ranges to starts where each block has room between its neighbours and meets no white cell."""
        place = 0
        for block, size in enumerate(self._clue):
            place = max(place, first[block])
            while hit := white & _mask(place, place + size):
                place = hit.bit_length()
            first[block] = place
            place += size + 1
        place = self._length
        for block in range(len(self._clue) - 1, -1, -1):
            size = self._clue[block]
            place = min(place, last[block] + size)
            while place >= size and (hit := white & _mask(place - size, place)):
                place = (hit & -hit).bit_length() - 1
            last[block] = place - size
            place -= size + 1

    def _narrow(self, first: list[int], last: list[int], black: int, in_range: list[int]) -> bool:
        """Narrow the ranges of blocks to the black cells that they alone cover; return whether any was."""
        once = twice = 0
        for cells in in_range:
            twice |= once & cells
            once |= cells
        is_narrowed = False
        for block, size in enumerate(self._clue):
            own = black & in_range[block] & ~twice
            if own:
                begin = max(first[block], own.bit_length() - size)
                end = min(last[block], (own & -own).bit_length() - 1)
                is_narrowed |= begin > first[block] or end < last[block]
                first[block], last[block] = begin, end
        return is_narrowed

    # Fix and Paint. A white cell 0 stands before the line, so that every block has one; its cells count from 1.

    def _fix(self, black: int, white: int) -> list[list[bool]]:
        """Return Fix(i, j): the first i cells can be painted so that they have the first j blocks."""
        fix = [[False] * (len(self._clue) + 1) for _ in range(self._length + 2)]
        fix[0][0] = True
        for i in range(1, self._length + 2):
            is_white = not black >> (i - 1) & 1
            for j in range(len(self._clue) + 1):
                fix[i][j] = (is_white and fix[i - 1][j]) or self._fix1(fix, black, white, i, j)
        return fix

    def _fix1(self, fix: list[list[bool]], black: int, white: int, i: int, j: int) -> bool:
        """Return whether block j can end in cell i, with a white cell before it, and Fix before that."""
        if j == 0:
            return False
        before = i - self._clue[j - 1] - 1
        return before >= 0 and fix[before][j - 1] and not black >> before & 1 and not white & _mask(before + 1, i)

    def _paint(self, cells: KnownCells) -> KnownCells | None:
        """Return what all ways to fix the line have in common: Paint and Merge, each (i, j) visited once."""
        black, white = cells[0] << 1, cells[1] << 1 | 1
        fix = self._fix(black, white)
        end = self._length + 1, len(self._clue)
        if not fix[end[0]][end[1]]:
            return None
        ever_black = ever_white = 0
        reached, to_visit = {end}, [end]
        while to_visit:
            i, j = to_visit.pop()
            nexts = []
            if i and fix[i - 1][j] and not black >> (i - 1) & 1:
                ever_white |= 1 << (i - 1)
                nexts.append((i - 1, j))
            if i and self._fix1(fix, black, white, i, j):
                before = i - self._clue[j - 1] - 1
                ever_black |= _mask(before + 1, i)
                ever_white |= 1 << before
                nexts.append((before, j - 1))
            to_visit += [place for place in nexts if place not in reached]
            reached.update(nexts)
        return self._full & ~(ever_white >> 1), self._full & ~(ever_black >> 1)


def _mask(begin: int, end: int) -> int:
    """Return the bits from `begin` to before `end`; none if there are none between."""
    return (1 << end) - (1 << begin) if end > begin else 0


class _Search:
    """The search for a solution; the known cells of a board are those of its lines, rows first, then columns."""

    def __init__(self, puzzle: Puzzle, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._random = random.Random(seed)
        self._width, self._height = puzzle.size
        self._lines = [LineLogic(clue, puzzle.width) for clue in puzzle.rows]
        self._lines += [LineLogic(clue, puzzle.height) for clue in puzzle.columns]

    def solve(self, board: list[KnownCells], changed: Iterable[int]) -> list[KnownCells] | None:
        """Return the solved board, on which lines have `changed`; None if what is painted was wrong."""
        if not self._propagate(board, changed):
            return None
        known = [black | white for black, white in board]
        unknown = [(y, x) for y in range(self._height) for x in range(self._width) if not known[y] >> x & 1]
        if not unknown:
            return board
        weights = [(1 + known[y].bit_count()) * (1 + known[self._height + x].bit_count()) for y, x in unknown]
        (y, x), *_ = self._random.choices(unknown, weights)
        black, white = board[y]
        for guess in ((black | 1 << x, white), (black, white | 1 << x)):
            guessed = list(board)
            solved = self.solve(guessed, [y, *self._paint(guessed, y, guess)])
            if solved:
                return solved
        return None

    def _propagate(self, board: list[KnownCells], changed: Iterable[int]) -> bool:
        """Deduce until no line gives more cells; use ranges while they find some. False on a contradiction."""
        for_ranges, for_paint = set(changed), set(changed)
        while lines := for_ranges or for_paint:
            self._clock.check()
            line = min(lines)
            lines.remove(line)
            cells = self._lines[line].deduce(board[line], is_complete=lines is for_paint)
            if cells is None:
                return False
            crossing = self._paint(board, line, cells)
            for_ranges.update(crossing)
            for_paint.update(crossing)
        return True

    def _paint(self, board: list[KnownCells], line: int, cells: KnownCells) -> list[int]:
        """Paint a line, and return the crossing lines with new cells."""
        is_row = line < self._height
        place = line if is_row else line - self._height
        new = [now & ~before for now, before in zip(cells, board[line], strict=True)]
        board[line] = cells
        crossing = []
        for colour, mask in enumerate(new):
            while mask:
                low = mask & -mask
                mask -= low
                other = low.bit_length() - 1 + (self._height if is_row else 0)
                black, white = board[other]
                board[other] = (black, white | 1 << place) if colour else (black | 1 << place, white)
                crossing.append(other)
        return crossing


def solve(puzzle: Puzzle, clock: Clock, seed: int = 0) -> Solution | None:
    """Return a solution, or None; OutOfTimeError if the clock runs out. Each puzzle starts with `seed`."""
    lines = puzzle.width + puzzle.height
    board = _Search(puzzle, clock, seed).solve([(0, 0)] * lines, range(lines))
    if board is None:
        return None
    rows = [[black >> x & 1 for x in range(puzzle.width)] for black, _ in board[: puzzle.height]]
    return Solution(np.array(rows))


if __name__ == "__main__":
    parser = argument_parser(__file__, __doc__)
    parser.add_argument(
        "--seed", type=integer, default=0, metavar="N", help="seed of the roulette wheel (default: 0)"
    )
    sys.exit(serve(solve, parser))
