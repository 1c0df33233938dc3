"""The slow references: what no comparison with the fast functions would find wrong in them.

A reference that finds too little of what it is compared with shows in test_lines, test_papers, test_strategies,
test_verify, test_beliefs and test_opponents.
"""

from itertools import product

import pytest

from nonobot.protocol import Puzzle, clue_of
from tests import naive


@pytest.mark.parametrize("length", range(1, 11))
def test_the_placements_of_all_clues_are_all_the_painted_lines_once_each(length):
    lines = []
    for clue in naive.all_clues(length):
        placements = naive.placements(clue, length)
        assert all(clue_of(line) == clue for line in placements)
        assert naive.placement_count(clue, length) == len(placements)
        lines += placements
    assert len(lines) == 2**length
    assert set(lines) == set(product((0, 1), repeat=length))


@pytest.mark.parametrize("rest", [[], [[0, 0], [0, 0]], [[0]], [[0, 0, 0]], [[None, 0]], [[0, 2]]])
def test_verify_refuses_wrong_sizes_unknown_cells_and_other_numbers(rest):
    assert not naive.verify(Puzzle.from_grid([[1, 0], [0, 0]]), [[1, 0], *rest])
