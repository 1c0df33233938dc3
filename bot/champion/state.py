"""The map of the champion's memory: every member with its kind, its shape and its meaning.

How to read it: `width=i8` is one number of 8 bytes, `length=i2[lines]` an array, `clue=place[lines, blocks]` a
table, `board=boards` a struct with its own members. A kernel uses `m.width`, `m.length[line]`, `m.clue[line,
block]`, `m.board.black[line]`; every number in a kernel has 64 bits (`bot.kernels.language`, `bot.kernels.masks`).
Kernels store everything here.

Lines are numbered rows first: line y is row y, line height + x is column x. A cell is numbered y * width + x.

Variables: first the cells, then the bounds. The bound variable S(l, j, p) means "block j of line l starts at p or
before" (order encoding); it exists for every p at which the root leaves it open, first <= p < last, and has the
number bound_base[l, j] + p - first[l, j]. A literal is 2 * variable, or 2 * variable + 1 for its negation: for a
cell, 2 * cell is black and 2 * cell + 1 is white.

The map has room for the largest board of its width of masks. Pages that a board does not touch take no memory,
except in a browser: so the map is smaller there, and its parts are in the order of their need (`PART`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from nonobot.bot.kernels.memory import Struct, f4, f8, i1, i2, i4, i8, mask_of, u1, u2, u4, u8
from nonobot.bot.result import MOST_TRACE_EVENTS


class _Outcomes(NamedTuple):
    """How a call ended."""

    solved: int = 0
    unsolvable: int = 1  # no solution, or no other
    late: int = 2  # out of time or memory
    open: int = 3  # nothing is wrong, and cells are unknown
    too_large: int = 4  # the search would need more variables than there is room for


class _Wanted(NamedTuple):
    """Which solution a call wants."""

    any: int = 0
    all: int = 1  # the first of several
    next: int = 2  # another one, after a call that wanted all or next


class _Stages(NamedTuple):
    """Bits of `stages`: what may be left out, in the order of `bot.STAGE_NAMES`."""

    descents: int = 1
    learning: int = 2
    beliefs: int = 4
    line_kernel: int = 8


class _Phases(NamedTuple):
    """What the time goes to: places in `spent`."""

    propagation: int = 0
    descents: int = 1
    learning_start: int = 2
    learning_propagation: int = 3
    learning_analysis: int = 4
    learning_decisions: int = 5
    learning_upkeep: int = 6


OUTCOME, WANTED, STAGE, PHASE = _Outcomes(), _Wanted(), _Stages(), _Phases()

COUNTS = Struct(
    "Counts",
    line_solves=i8,
    descents=i8,
    belief_updates=i8,
    decisions=i8,
    conflicts=i8,
    restarts=i8,
    learned_literals=i8,
)


class Room(NamedTuple):
    """The capacities of a map."""

    name: str  # end of the map's name
    arena: int
    clauses: int
    watches: int  # the database counts as full at half of it: lists that move leave holes
    variables: int  # the largest boards of 512 bits and over could need more
    trace_events: int
    trace_bytes: int


LARGE = Room("", 1 << 25, 1 << 19, 1 << 23, 1 << 22, MOST_TRACE_EVENTS, 1 << 31)
SMALL = Room("Small", 1 << 22, 1 << 17, 1 << 20, 1 << 19, 4001, 1 << 24)  # in a browser


class _Parts(NamedTuple):
    """The first members behind the parts of a map: what line logic needs, and the trace events."""

    root: str = "trace_events"
    trace: str = "told"


PART = _Parts()

MOST_PICKED = 256  # cells that a step of a descent may paint

# An event sets a cell, or moves a bound over one or more variables at once.
EVENT = Struct(
    "Event",
    literal=i4,  # of a range the strongest
    reason=i4,  # a code, see `trail`
    a=i4,  # the variables of the reason
    b=i4,
)

# A clause in the arena: this, and then its literals, the two watched ones first.
CLAUSE = Struct(
    "Clause",
    size=i4,  # number of literals; negative: it is to be deleted
    flags=i4,  # its LBD, and whether it was used
    search=i4,  # where the last search for a literal to watch ended
    literals=i4[0],
)

# A clause that watches a literal.
WATCH = Struct(
    "Watch",
    clause=i4,  # its place in the arena
    blocker=i4,  # another literal of it: where that is true there is nothing to do
)

# The watches of a literal are a stretch of `watches`.
WATCH_LIST = Struct("WatchList", begin=u4, count=u4)

# A step of minimisation: an event, and its reasons that are not yet judged.
FRAME = Struct(
    "Frame",
    event=i4,
    next=i4,
    end=i4,
    in_clause=i4,  # 1: next and end are places in the arena, 0: in `reasons`
    top=i4,  # first free place in `reasons`
)


@cache
def champion_map(bits: int, room: Room = LARGE) -> Struct:
    """Return the map for masks of `bits` bits and boards of up to bits - 2 cells a side."""
    longest = bits - 2
    lines, cells, blocks = 2 * longest, longest * longest, bits // 2
    row = bits  # floats of a row of messages: one for each cell, and room to read beyond
    # k blocks have a slack of longest + 1 - 2k: k * slack places are open at most.
    variables = min(cells + lines * ((longest + 1) ** 2 // 8), room.variables)
    mask = mask_of(bits)
    # Small numbers take few bytes where there are many of them.
    place, line_number, event_number = (i1, u1, u2) if bits == 64 else (i2, u2, i4)

    boards = Struct(f"Boards{bits}", black=mask[lines], white=mask[lines])
    sides = Struct(f"Sides{bits}", rows=mask, columns=mask)
    record = Struct(f"Record{bits}", black=mask, white=mask, line=i8, events=i8)
    trace_event = Struct(f"TraceEvent{bits}", kind=i8, black=mask[longest], white=mask[longest])

    return Struct(
        f"Champion{bits}{room.name}",
        none=mask.constant(0),
        one=mask.constant(1),  # cell 0
        # -- problem: set by the strategy for each puzzle
        width=i8,
        height=i8,
        lines=i8,  # height + width
        cells=i8,  # width * height
        length=i2[lines],  # cells of a line
        blocks=i2[lines],  # blocks of a line
        clue=place[lines, blocks],  # block lengths, then zeros
        row_of=line_number[cells],  # y of a cell
        column_of=line_number[cells],  # x of a cell
        start=boards,  # cells known from the beginning
        # -- limits and choices of a call
        deadline=i8,  # on the clock of now_ns
        most_lines=i8,  # lines that may be painted
        random=u8,  # state of the random numbers; never 0
        stages=i8,  # set of the stages that are on; see STAGE
        # -- statistics
        counts=COUNTS,
        spent=i8[len(PHASE)],  # nanoseconds of each phase
        phase_start=i8,  # when the last phase ended, on the clock of now_ns
        # -- boards
        root=boards,  # what propagation alone gives
        board=boards,  # of the stage under way
        undo=boards,  # the board before the last step of a descent
        dirty=sides,  # lines still to be painted
        # -- scratch of the line kernel, an item for each block
        reach=mask[blocks + 1],
        starts=mask[blocks + 1],
        fits=mask[blocks + 1],
        # -- trace events, recorded only for --watch and --dialogue
        trace_room=i8,  # 0: tracing is off
        trace_count=i8,
        trace_events=trace_event[min(room.trace_events, room.trace_bytes // trace_event.size)],
        # -- beliefs: odds black : white of each cell of a line, as the crossing line sends them
        told=f4[lines, row],
        odds=f4[lines, row],  # a column's cells: what both lines together say
        evidence=f4[4 * row],  # scratch: weight of each cell being black
        ahead=f4[blocks + 1, row],  # scratch: forward sums by slack
        placed=f4[blocks + 1, row],  # scratch: weight of a block at each slack
        behind=f4[blocks + 1, row],  # scratch: backward sums by slack
        least=i2[blocks + 1],  # scratch: first start of each block, and of what comes behind the last
        spread=f4[blocks + 1, 2 * row],  # scratch: for each gap the weight of its cells being white
        outgoing=f4[2 * row],  # scratch: the messages of a line about its cells
        # -- descents
        picked=i4[MOST_PICKED],  # the choices of a step, strongest first
        picked_bias=f4[MOST_PICKED],
        # -- learning: variables. Numbers, places and levels are signed, so that -1 can say "none"
        most_variables=i8.constant(variables),
        variables=i8,  # cells and bounds
        bound_base=i4[lines, blocks],  # number of S(l, j, first)
        first=place[lines, blocks],  # first start of a block that the root leaves
        last=place[lines, blocks],  # last start of a block that the root leaves
        earliest=place[lines, blocks],  # first start now
        latest=place[lines, blocks],  # last start now
        zeros=place[lines, blocks],  # all 0
        bound_line=line_number[variables],  # l of S(l, j, p)
        bound_block=line_number[variables],  # j
        bound_place=place[variables],  # p
        cell_base=i4[lines],  # number of a line's first cell
        cell_step=i4[lines],  # and the difference to the next one
        value=i1[2 * variables],  # of a literal: 1 true, -1 false, 0 unknown
        value_pair=u2[variables].over("value"),  # of both literals of a variable
        # -- learning: the trail
        trail=EVENT[variables + 1],
        event_old=place[variables + 1],  # of an event that moved a bound: the bound before
        event_level=event_number[variables + 1],
        trail_size=i8,
        head=i8,  # next event to propagate
        event_of=event_number[variables],  # event that set a variable
        assigned=i8,  # number of variables set
        level=i8,  # number of decisions
        level_start=i4[variables + 1],  # number of events before a decision
        root_changed=i8,  # 1: a bound was moved for good since `pattern_alive` was set
        # -- learning: line kernel calls that set cells, for later explanation
        records=record[variables + 1],  # what was known before, and the number of events
        record_count=i8,
        # -- learning: lines as automata; state s is a bit: s cells of the pattern 1..1 0 1..1 0 .. are behind
        pattern_black=mask[lines],  # states that a black cell leaves for the next
        pattern_gap=mask[lines],  # states in which a white cell may stay
        pattern_white=mask[lines],  # states that a white cell leaves for the next
        pattern_end=mask[lines],  # the last state
        pattern_start=i2[lines, blocks],  # the state before the first cell of a block
        pattern_alive=mask[lines, row],  # states before cell i that the bounds at the root leave
        root_known=mask[lines],  # cells known for good
        forward=mask[row],  # scratch: states reached before cell i
        # -- learning: conflicts and their analysis
        conflict=i8,  # what failed: a clause, or an implicit one
        conflict_parts=i8[4],
        seen=u1[variables + 1],  # of an event: it is needed
        needed=i4[variables + 1],  # of a needed event: the weakest variable needed
        touched=i4[variables + 1],  # the needed events
        touched_count=i8,
        open_count=i8,  # needed events of the present level not yet resolved
        verdict=u1[variables + 1],  # of an event, in minimisation: 1 implied by the others, 2 not
        judged=i4[variables + 1],  # events with a verdict
        judged_count=i8,
        reasons=i4[128 * bits],  # scratch: cells and bounds that explain others, in minimisation up to 51 others
        frames=FRAME[64],  # scratch
        learned=i4[variables],  # literals of the clause being learned
        learned_size=i8,
        learned_lbd=i8,  # number of levels in it
        level_stamp=i8[variables + 2],
        level_first=i4[variables + 2],  # of a level in the clause, in minimisation: the first needed event
        stamp=i8,
        # -- learning: clauses
        most_arena=i8.constant(room.arena),
        most_clauses=i8.constant(room.clauses),
        most_watches=i8.constant(room.watches),
        arena=i4[room.arena],
        clause=CLAUSE[room.arena].over("arena", 4),  # the clause at a place in the arena
        arena_size=i8,
        clauses=i4[room.clauses],  # places in the arena
        clause_count=i8,
        clause_rank=i8[room.clauses],  # scratch of the reduction
        watches=WATCH[room.watches],
        watch_list=WATCH_LIST[2 * variables],  # of a literal
        watch_room=u4[2 * variables],  # of a literal: number of watches before its list has to move
        watches_used=i8,
        # -- learning: decisions
        activity=f8[variables],
        bump=f8,
        heap=i4[variables],
        heap_size=i8,
        heap_place=i4[variables],  # -1: not in the heap
        target=u1[variables],  # the value to try: 0 true (black), 1 false
        most_assigned=i8,  # events of the longest consistent trail since `target` was reset
        replay=i4[variables],  # trail replay: decisions that a backjump took back and that are made again
        replay_next=i8,  # place of the next one in `replay`
        replay_end=i8,  # and behind the last one; 0: there are none
        # -- learning: the course of a search
        conflicts_met=i8,
        restarts_made=i8,
        reductions_made=i8,
        next_restart=i8,  # number of conflicts
        next_reduction=i8,  # number of conflicts
        belief_end=i8,  # number of conflicts up to which beliefs decide
        believed_at=i8,  # number of conflicts when they last did
        # -- learning: beliefs in the search
        said=f4[lines, row],  # last messages of a line, damped
        change=f4[2 * row],  # scratch: changes of the probabilities that a line sends
        heard=mask[lines],  # cells known at its last messages
        retell=sides,  # lines with new incoming messages
        marginal=f4[cells + 16],  # how likely a cell is black, and room to write beyond the last row
        bound_marginal=f4[variables],  # how likely a bound variable is true
    )
