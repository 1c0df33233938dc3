"""The map of the memory of the strategy `papers`: every member with its kind, its shape and its meaning.

`bot.champion.state` explains such maps. Lines are numbered rows first: line y is row y, line height + x is column
x. Cell y * width + x is stored twice, in its row and in its column. A *side* is a cell with a colour, BLACK (1) or
WHITE (0): side 2 * cell + colour. Boards have up to 62 cells a side: probing stores a board for each side.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from nonobot.bot.kernels.memory import Struct, i1, i2, i8, mask_of, u1
from nonobot.bot.result import MOST_TRACE_EVENTS

_BITS = 64
LONGEST_SIDE = _BITS - 2
CACHE_BITS = 14  # log2 of the entries of the line cache, as measured on taai2011 (docs/engine.md)
LOG_UNIT_BITS = 20  # scores are integers in units of 2 ** -20, so that they decide alike on every machine


class _Outcomes(NamedTuple):
    """Results of a call, or of probing."""

    solved: int = 0
    unsolvable: int = 1  # a conflict: no solution, or no other
    late: int = 2  # out of time
    open: int = 3  # no conflict, but unknown cells


class _Solvers(NamedTuple):
    """The line solvers."""

    bitset: int = 0
    recurrence: int = 1


class _Phases(NamedTuple):
    """Phases of the search: places in `spent`."""

    propagation: int = 0
    probing: int = 1
    branching: int = 2


OUTCOME, SOLVER, PHASE = _Outcomes(), _Solvers(), _Phases()

COUNTS = Struct("PapersCounts", line_solves=i8, cache_hits=i8, probes=i8, nodes=i8, backtracks=i8)


@cache
def papers_map() -> Struct:
    """Return the map."""
    mask, longest = mask_of(_BITS), LONGEST_SIDE
    lines, cells, blocks = 2 * longest, longest * longest, _BITS // 2

    board = Struct(
        "PapersBoard",
        black=mask[lines],  # cells of a line known to be black
        white=mask[lines],  # cells of a line known to be white
        black_word=i8[lines].over("black"),  # the same as numbers, for the hash of the line cache
        white_word=i8[lines].over("white"),
    )
    some_lines = Struct("PapersLines", rows=mask, columns=mask)
    trace_event = Struct("PapersTraceEvent", kind=i8, black=mask[longest], white=mask[longest])
    # Result of painting a line; as large as a line of the processor's cache.
    painting = Struct(
        "PapersPainting",
        tag=i8,  # which line, of which puzzle
        black=mask,  # known before
        white=mask,
        black_now=mask,  # known after
        white_now=mask,
        consistent=i8,  # 0: a conflict
        unused=i8[2],
    )

    return Struct(
        "Papers",
        none=mask.constant(0),
        one=mask.constant(1),  # cell 0
        # -- problem: set by the strategy for each puzzle
        width=i8,
        height=i8,
        lines=i8,  # height + width
        cells=i8,  # width * height
        length=i2[lines],  # cells of a line
        blocks=i2[lines],  # blocks of a line
        clue=i1[lines, blocks],  # block lengths
        row_of=u1[cells],  # y of a cell
        column_of=u1[cells],  # x of a cell
        start=board,  # cells known from the beginning
        # -- limits and choices of a call
        deadline=i8,  # on the clock of now_ns
        most_lines=i8,  # lines that may be painted
        level=i8,  # 1, 2, 3: FP1, FP2, FP3; 0: propagation alone
        solver=i8,  # of SOLVER
        # -- statistics
        counts=COUNTS,
        spent=i8[len(PHASE)],  # nanoseconds of each phase
        phase_start=i8,  # when the last phase ended, on the clock of now_ns
        # -- the search
        board=board,  # at the present node
        dirty=some_lines,  # lines still to be painted
        depth=i8,  # number of open choices
        stack=board[cells + 1],  # for each open choice the board of the colour not tried yet
        # -- probing: the result of assuming each side, kept while it is fresh
        trial=board,  # of the probe under way
        seen=some_lines,  # lines painted by the propagation under way
        side_board=board[2 * cells],  # the board after assuming a side and propagating
        side_seen=some_lines[2 * cells],  # lines that were painted on the way
        side_painted=i2[2 * cells],  # number of cells that became known
        fresh=u1[cells],  # 1: no line that the two probes of a cell painted has changed since
        implied=board[2 * cells],  # FP2, FP3: what a side implies by contraposition too (rows only)
        log_table=i8[cells + 2],  # log(1 + m), in units of 2 ** -LOG_UNIT_BITS
        # -- line cache: direct-mapped
        cache=painting[1 << CACHE_BITS],
        cache_age=i8,  # number of the puzzle, part of the tag: entries of earlier puzzles never hit
        # -- trace events, recorded only for --watch and --dialogue
        trace_room=i8,  # 0: tracing is off
        trace_count=i8,
        trace_events=trace_event[MOST_TRACE_EVENTS],
        # -- scratch of the line kernel, an item for each block
        reach=mask[blocks + 1],
        starts=mask[blocks + 1],
        fits=mask[blocks + 1],
        # -- scratch of the recurrence: P(i, j)
        low=mask[blocks + 1, _BITS],
        high=mask[blocks + 1, _BITS],
        fixable=u1[blocks + 1, _BITS],  # 0: there is no such painting
    )
