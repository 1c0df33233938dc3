"""Backtracking over fully probed boards, branching by Min-logd.

Wu et al. 2013: at each node the board is fully probed; then the cell with the best score is chosen, and the board
that its probe left becomes the child, without any further propagation.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import copy_board, end_phase, start_board, start_phases, trace
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.papers.probing import fully_probe, is_unknown, take_over
from nonobot.bot.papers.propagation import propagate
from nonobot.bot.papers.state import LOG_UNIT_BITS, OUTCOME, STEP
from nonobot.bot.result import TraceEvent
from nonobot.protocol import BLACK, WHITE


@kernel
def _start(m: Any) -> Any:
    """Propagate all lines of the board to start from; False on a conflict."""
    start_board(m)
    _make_stale(m)
    return propagate(m, m.board, True)


@kernel
def _make_stale(m: Any) -> None:
    for cell in range(m.cells):
        m.fresh[cell] = 0


@kernel
def _best_cell(m: Any) -> Any:
    """Return the unknown cell with the highest Min-logd score: min + |log(1 + m0) - log(1 + m1)|.

    m0 and m1 are the numbers of cells that the two probes painted (Wu et al. 2013).
    """
    best, best_score = 0, -1
    for cell in range(m.cells):
        if is_unknown(m, cell):
            black, white = m.side_painted[2 * cell + BLACK], m.side_painted[2 * cell + WHITE]
            score = (min(black, white) << LOG_UNIT_BITS) + abs(m.log_table[black] - m.log_table[white])
            if score > best_score:
                best, best_score = cell, score
    return best


@kernel
def _branch(m: Any) -> None:
    """Choose a cell, go down to the colour that paints more, and keep the other for later."""
    cell = _best_cell(m)
    first, second = 2 * cell + BLACK, 2 * cell + WHITE
    if m.side_painted[first] < m.side_painted[second]:
        first, second = second, first
    other, probed = m.stack[m.depth], m.side_board[second]
    m.depth += 1
    # Both children are fixpoints as they are: a fresh probe painted no line that has changed since.
    for line in range(m.lines):
        other.black[line] = m.board.black[line] | probed.black[line]
        other.white[line] = m.board.white[line] | probed.white[line]
    take_over(m, m.side_board[first])
    trace(m, TraceEvent.GUESSED)


@kernel
def _backtrack(m: Any) -> Any:
    """Go back to the last colour not tried yet; False if there is none."""
    if m.depth == 0:
        return False
    m.depth -= 1
    copy_board(m, m.board, m.stack[m.depth])
    _make_stale(m)
    trace(m, TraceEvent.TAKEN_BACK)
    m.counts.backtracks += 1
    return True


@kernel
def search(m: Any, resume: Any) -> Any:
    """Search for the first solution, or with `resume` for the next one, and return an OUTCOME.

    Before: the puzzle is in the memory; with `resume` the last call returned solved.
    After: solved, and the board is the solution; or unsolvable, there is no (further) one; or late.
    """
    start_phases(m)
    if resume:
        alive = _backtrack(m)
    else:
        m.depth = 0
        alive = _start(m)
        end_phase(m, STEP.propagation)
    while alive:
        m.counts.nodes += 1
        ended = fully_probe(m)
        end_phase(m, STEP.probing)
        if ended == OUTCOME.solved or ended == OUTCOME.late:
            return ended
        if ended == OUTCOME.open:
            _branch(m)
        else:
            alive = _backtrack(m)
        end_phase(m, STEP.branching)
    return OUTCOME.unsolvable


@kernel
def deduce(m: Any) -> Any:
    """Propagate all lines and, for a `m.level` of 1 to 3, probe fully; return an OUTCOME."""
    if not _start(m):
        return OUTCOME.unsolvable
    return OUTCOME.open if m.level == 0 else fully_probe(m)
