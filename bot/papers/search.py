"""Backtracking by Min-logd over boards that are fully probed: FP1, FP2 or FP3 to their fixpoint.

Probing (Chen & Hung, section 3; Wu et al. 2013) assumes a cell black, then white, and propagates both. If one side
fails, the cell has the other colour. If neither fails, cells that both agree on are known (FP1). FP2 adds
contrapositives: if (p, c) implies (q, d), then (q, not d) implies (p, not c). FP3 adds the transitive closure. The
result is exact: a probe is repeated whenever a line that it painted has changed, and only then.

Wu et al. 2013: each node is fully probed. Then the cell with the best score is chosen, and the board of its probe
becomes the child, without further propagation.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import (
    copy_board,
    count_known,
    end_phase,
    is_budget_spent,
    known_cells,
    paint_crossing,
    start_board,
    start_phases,
    trace,
)
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.papers.lines import propagate
from nonobot.bot.papers.state import LOG_UNIT_BITS, OUTCOME, PHASE
from nonobot.bot.result import TraceEvent
from nonobot.protocol import BLACK, WHITE

# --- fully probing ---


@kernel
def _begin_trial(m: Any) -> None:
    copy_board(m, m.trial, m.board)
    m.dirty.rows = 0
    m.dirty.columns = 0
    m.seen.rows = 0
    m.seen.columns = 0


@kernel
def _assume(m: Any, colour: Any, y: Any, cells: Any) -> None:
    """Paint unknown cells of row y in `colour`, that of the trial, and make their lines dirty."""
    colour[y] |= cells
    paint_crossing(colour, cells, m.height, m.one << y)
    m.dirty.rows |= m.one << y
    m.dirty.columns |= cells


@kernel
def _probe(m: Any, cell: Any, colour: Any) -> Any:
    """Assume a side, propagate, and store the result; False on a conflict."""
    side = 2 * cell + colour
    _begin_trial(m)
    _assume(m, m.trial.black if colour == BLACK else m.trial.white, m.row_of[cell], m.one << m.column_of[cell])
    m.counts.probes += 1
    if not propagate(m, m.trial, False):
        return False
    copy_board(m, m.side_board[side], m.trial)
    m.side_seen[side] = m.seen
    m.side_painted[side] = count_known(m, m.trial) - count_known(m, m.board)
    return True


@kernel
def take_over(m: Any, source: Any) -> None:
    """Add the known cells of `source`, the board painted further, and mark probes of the changed lines stale."""
    rows, columns = m.none, m.none
    for y in range(m.height):
        new = (source.black[y] | source.white[y]) & ~known_cells(m, y)
        if new:
            rows |= m.one << y
            columns |= new
    for line in range(m.lines):
        m.board.black[line] |= source.black[line]
        m.board.white[line] |= source.white[line]
    for cell in range(m.cells):
        black, white = m.side_seen[2 * cell + BLACK], m.side_seen[2 * cell + WHITE]
        if ((black.rows | white.rows) & rows) | ((black.columns | white.columns) & columns):
            m.fresh[cell] = 0


@kernel
def _merge(m: Any, first: Any, second: Any) -> Any:
    """Paint the cells that two boards agree on, and propagate; False on a conflict."""
    begun = False
    for y in range(m.height):
        black = first.black[y] & second.black[y] & ~m.board.black[y]
        white = first.white[y] & second.white[y] & ~m.board.white[y]
        if black | white:
            if not begun:
                _begin_trial(m)
                begun = True
            _assume(m, m.trial.black, y, black)
            _assume(m, m.trial.white, y, white)
    if not begun:
        return True
    if not propagate(m, m.trial, False):
        return False
    take_over(m, m.trial)
    trace(m, TraceEvent.PROBED)
    return True


@kernel
def _probe_cell(m: Any, cell: Any) -> Any:
    """Probe a cell both ways and draw FP1's conclusion; False on a conflict."""
    black_holds = _probe(m, cell, BLACK)
    white_holds = _probe(m, cell, WHITE)
    m.fresh[cell] = 1
    black, white = m.side_board[2 * cell + BLACK], m.side_board[2 * cell + WHITE]
    if black_holds and white_holds:
        return _merge(m, black, white)
    if not (black_holds or white_holds):
        return False
    take_over(m, black if black_holds else white)
    trace(m, TraceEvent.PROBED)
    return True


@kernel
def is_unknown(m: Any, cell: Any) -> Any:
    """Return whether a cell of the board is not known yet."""
    return (known_cells(m, m.row_of[cell]) >> m.column_of[cell]) & 1 == 0


@kernel
def _imply(m: Any, y: Any, cells: Any, colour: Any, row: Any, here: Any, is_black: Any) -> None:
    """Record that each of some cells of row y in `colour` implies the cell `here` of a row, black or white."""
    while cells:
        implied = m.implied[2 * (y * m.width + lowest(cells)) + colour]
        cells &= cells - 1
        if is_black:
            implied.black[row] |= here
        else:
            implied.white[row] |= here


@kernel
def _contrapose(m: Any) -> None:
    """Set the rows of `m.implied` to all that a side implies, directly or by contraposition.

    Before: every unknown cell is freshly probed.
    """
    for cell in range(m.cells):
        if is_unknown(m, cell):
            for side in range(2 * cell, 2 * cell + 2):
                implied, direct = m.implied[side], m.side_board[side]
                for y in range(m.height):
                    implied.black[y] = direct.black[y]
                    implied.white[y] = direct.white[y]
    for cell in range(m.cells):
        if is_unknown(m, cell):
            row, here = m.row_of[cell], m.one << m.column_of[cell]
            for colour in range(2):
                direct = m.side_board[2 * cell + colour]
                for y in range(m.height):
                    _imply(m, y, direct.black[y] & ~known_cells(m, y), WHITE, row, here, colour == WHITE)
                    _imply(m, y, direct.white[y] & ~known_cells(m, y), BLACK, row, here, colour == WHITE)


@kernel
def _close(m: Any) -> None:
    """Close `m.implied` transitively (Warshall's algorithm, a set of cells at a time)."""
    for middle in range(m.cells):
        if is_unknown(m, middle):
            row, column = m.row_of[middle], m.column_of[middle]
            for colour in range(2):
                through = m.implied[2 * middle + colour]
                for side in range(2 * m.cells):
                    implied = m.implied[side]
                    cells = implied.black[row] if colour == BLACK else implied.white[row]
                    if (cells >> column) & 1 and is_unknown(m, side >> 1):
                        for y in range(m.height):
                            implied.black[y] |= through.black[y]
                            implied.white[y] |= through.white[y]


@kernel
def _conclude(m: Any) -> Any:
    """Apply FP1's rule to the relations of FP2 or FP3; False on a conflict."""
    _contrapose(m)
    if m.level == 3:
        _close(m)
    for cell in range(m.cells):
        if is_unknown(m, cell) and not _merge(m, m.implied[2 * cell + BLACK], m.implied[2 * cell + WHITE]):
            return False
    return True


@kernel
def fully_probe(m: Any) -> Any:
    """Probe every unknown cell of the board until nothing more follows, and return an OUTCOME.

    Before: the board is painted maximally; `m.fresh` marks the probes that still hold.
    After: open, and the board is the fixpoint of FP1, FP2 or FP3 (`m.level`) with every unknown cell freshly
    probed; or solved, unsolvable or late.
    """
    since_stale = 0  # cells passed since one was found stale: after a whole round nothing is left to do
    cell = 0
    while True:
        if since_stale == m.cells:
            known = count_known(m, m.board)
            if known == m.cells:
                return OUTCOME.solved
            if m.level == 1:
                return OUTCOME.open
            if not _conclude(m):
                return OUTCOME.unsolvable
            if count_known(m, m.board) == known:
                return OUTCOME.open
            since_stale = 0
        since_stale += 1
        if m.fresh[cell] == 0 and is_unknown(m, cell):
            since_stale = 0
            if is_budget_spent(m):
                return OUTCOME.late
            if not _probe_cell(m, cell):
                return OUTCOME.unsolvable
        cell = (cell + 1) % m.cells


# --- backtracking ---


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
    """Choose a cell, continue with the colour that paints more, and push the other."""
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
    """Go back to the last untried colour; False if all were tried."""
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
    After: solved, and the board is the solution; or unsolvable, if there is no (further) one; or late.
    """
    start_phases(m)
    if resume:
        alive = _backtrack(m)
    else:
        m.depth = 0
        alive = _start(m)
        end_phase(m, PHASE.propagation)
    while alive:
        m.counts.nodes += 1
        ended = fully_probe(m)
        end_phase(m, PHASE.probing)
        if ended == OUTCOME.solved or ended == OUTCOME.late:
            return ended
        if ended == OUTCOME.open:
            _branch(m)
        else:
            alive = _backtrack(m)
        end_phase(m, PHASE.branching)
    return OUTCOME.unsolvable


@kernel
def deduce(m: Any) -> Any:
    """Propagate all lines and, for a `m.level` of 1 to 3, probe fully; return an OUTCOME."""
    if not _start(m):
        return OUTCOME.unsolvable
    return OUTCOME.open if m.level == 0 else fully_probe(m)
