"""The map of the champion's state: every field with dtype, shape and meaning.

Lines are numbered rows first: line y is row y, line height + x is column x. A cell is numbered y * width + x.

Variables: first the cells, then the bounds. The bound variable S(l, j, p) says "block j of line l starts at p or
before" (order encoding); it exists for every p at which it is not decided from the beginning, FIRST <= p < LAST,
and has number BOUND_BASE[l, j] + p - FIRST[l, j]. A literal is 2 * variable, or 2 * variable + 1 for its
negation: for a cell, 2 * cell is black and 2 * cell + 1 is white.

No kernel keeps state anywhere else. Every field has room for boards of 62x62.
"""

from __future__ import annotations

import numpy as np

from nonobot.bot import LONGEST_SIDE as LONGEST_LINE
from nonobot.bot import STAGE_NAMES
from nonobot.bot.exchange import MOST_MOMENTS, Moment
from nonobot.bot.memory import Field, Layout

MOST_LINES = 2 * LONGEST_LINE
MOST_BLOCKS = 32  # of a line, rounded up: the row length of tables of blocks
MOST_CELLS = LONGEST_LINE * LONGEST_LINE
MOST_VARIABLES = MOST_CELLS + MOST_LINES * 496  # k blocks, slack 63 - 2k: k * slack is at most 16 * 31
ROW = 64  # floats of a row of messages: one for each cell, and room to read beyond

u64 = np.uint64

SOLVED, UNSOLVABLE, LATE = u64(0), u64(1), u64(2)
"""How a call ended: a solution, no (other) solution, out of time or memory."""

ANY, ALL, NEXT = u64(0), u64(1), u64(2)
"""Which solution a call wants: any; the first of several; another one, after a call that wanted ALL or NEXT."""

DESCENT_STAGE, LEARNING_STAGE, BELIEFS, LINE_KERNEL = (u64(1) << u64(i) for i in range(len(STAGE_NAMES)))
"""Bits of STAGES."""

PAINTED, GUESSED, TAKEN_BACK, RESTARTED = (
    u64(kind) for kind in (Moment.PAINTED, Moment.GUESSED, Moment.TAKEN_BACK, Moment.RESTARTED)
)
"""Moments, as kernels note them."""

layout = Layout()
_field = layout.field

# -- problem: set by the strategy for each puzzle
WIDTH = _field("u8")
HEIGHT = _field("u8")
LINES = _field("u8")  # height + width
CELLS = _field("u8")  # width * height
LENGTH = _field("u1", MOST_LINES)  # cells of a line
BLOCKS = _field("u1", MOST_LINES)  # blocks of a line
CLUE = _field("u1", MOST_LINES, MOST_BLOCKS)  # block lengths, then zeros
ROW_OF = _field("u1", MOST_CELLS)  # y of a cell
COLUMN_OF = _field("u1", MOST_CELLS)  # x of a cell

START = _field("u8", 2 * MOST_LINES)  # cells known from the beginning: black, white, as in the boards below

# -- limits and choices of a call
DEADLINE = _field("i8")  # on the clock of now_ns
RANDOM = _field("u8")  # state of the random numbers; never 0
STAGES = _field("u8")  # set of the stages that are on; see STAGE_NAMES

# -- statistics: the search's counts, in the order of COUNT_NAMES
COUNT_NAMES = (
    "line_solves",
    "descents",
    "belief_updates",
    "decisions",
    "conflicts",
    "restarts",
    "learned_literals",
)
LINE_SOLVES, DESCENTS, BELIEF_UPDATES, DECISIONS, CONFLICTS, RESTARTS, LEARNED_LITERALS = (
    u64(i) for i in range(len(COUNT_NAMES))
)
COUNTS = _field("u8", len(COUNT_NAMES))
STEP_NAMES = (
    "propagation",
    "descents",
    "learning_start",
    "learning_propagation",
    "learning_analysis",
    "learning_decisions",
    "learning_upkeep",
)
PROPAGATING, DESCENDING, STARTING, INFERRING, ANALYSING, DECIDING, UPKEEP = (
    u64(i) for i in range(len(STEP_NAMES))
)
SPENT = _field("i8", len(STEP_NAMES))  # nanoseconds of each step
LAP = _field("i8")  # when the last step ended, on the clock of now_ns

# -- boards: black cells of every line at 0.., white cells at MOST_LINES..
ROOT = _field("u8", 2 * MOST_LINES)  # what propagation alone gives
BOARD = _field("u8", 2 * MOST_LINES)  # of the stage under way
UNDO = _field("u8", 2 * MOST_LINES)  # the board before the last step of a descent
DIRTY = _field("u8", 2)  # rows, and columns, still to be painted

# -- moments, noted only for people who watch
MOMENT_ROOM = _field("u8")  # 0: nobody watches
MOMENT_COUNT = _field("u8")
MOMENT_KIND = u64(2 * LONGEST_LINE)  # what happened; before it the black cells of each row, then the white ones
MOMENTS = _field("u8", MOST_MOMENTS, 2 * LONGEST_LINE + 1)

# -- scratch of the line kernel, one item for each block
REACH = _field("u8", MOST_BLOCKS + 1)
STARTS = _field("u8", MOST_BLOCKS + 1)
FITS = _field("u8", MOST_BLOCKS + 1)

# -- beliefs: odds black : white that a line is told about each of its cells by the crossing line
TOLD = _field("f4", MOST_LINES, ROW)
ODDS = _field("f4", MOST_LINES, ROW)  # a column's cells: what both lines together say
EVIDENCE = _field("f4", 4 * ROW)  # scratch: weight of each cell being black
AHEAD = _field("f4", MOST_BLOCKS + 1, ROW)  # scratch: forward sums by slack
PLACED = _field("f4", MOST_BLOCKS + 1, ROW)  # scratch: weight of a block at each slack
BEHIND = _field("f4", MOST_BLOCKS + 1, ROW)  # scratch: backward sums by slack
LEAST = _field("u1", MOST_BLOCKS + 1)  # scratch: first start of each block, and of what comes behind the last
SPREAD = _field("f4", MOST_BLOCKS + 1, 2 * ROW)  # scratch: for each gap the weight of its cells being white
OUTGOING = _field("f4", 2 * ROW)  # scratch: what a line says about each of its cells

# -- descents
PICKED = _field("u4", 64)  # the choices of a step, strongest first
PICKED_BIAS = _field("f4", 64)

# -- learning: variables. Numbers, places and levels are signed, so that -1 can say "none"
VARIABLES = _field("i8")  # cells and bounds
SIZE = Field(CLUE.offset, "i1", CLUE.shape)  # CLUE again, signed
BOUND_BASE = _field("i4", MOST_LINES, MOST_BLOCKS)  # number of S(l, j, FIRST)
FIRST = _field("i1", MOST_LINES, MOST_BLOCKS)  # first start of a block on an empty line
LAST = _field("i1", MOST_LINES, MOST_BLOCKS)  # last start of a block on an empty line
EARLIEST = _field("i1", MOST_LINES, MOST_BLOCKS)  # first start now
LATEST = _field("i1", MOST_LINES, MOST_BLOCKS)  # last start now
NO_BYTES = _field("i1", MOST_LINES, MOST_BLOCKS)  # all 0
BOUND_LINE = _field("u1", MOST_VARIABLES)  # l of S(l, j, p)
BOUND_BLOCK = _field("u1", MOST_VARIABLES)  # j
BOUND_PLACE = _field("i1", MOST_VARIABLES)  # p
CELL_BASE = _field("i4", MOST_LINES)  # number of a line's first cell
CELL_STEP = _field("i4", MOST_LINES)  # and the difference to the next one
VALUE = _field("i1", 2 * MOST_VARIABLES)  # of a literal: 1 true, -1 false, 0 unknown
VALUE_PAIR = Field(VALUE.offset, "u2", (MOST_VARIABLES,))  # VALUE of both literals of a variable

# -- learning: the trail of events. An event sets a cell, or moves a bound over one or more variables at once
EVENT_LITERAL, EVENT_REASON, EVENT_A, EVENT_B = range(4)
TRAIL = _field("i4", MOST_VARIABLES + 1, 4)  # literal (of a range the strongest), reason and its two variables
EVENT_OLD = _field("i1", MOST_VARIABLES + 1)  # the bound before
EVENT_LEVEL = _field("u2", MOST_VARIABLES + 1)
TRAIL_SIZE = _field("i8")
HEAD = _field("i8")  # next event to propagate
EVENT_OF = _field("u2", MOST_VARIABLES)  # event that set a variable
ASSIGNED = _field("i8")  # number of variables set
LEVEL = _field("i8")  # number of decisions
LEVEL_START = _field("i4", MOST_VARIABLES + 1)  # number of events before a decision
ROOT_CHANGED = _field("u8")  # 1: something was learned for good since PATTERN_ALIVE was set

# -- learning: line kernel calls that set cells, for later explanation
RECORDS = _field("u8", MOST_VARIABLES + 1, 4)  # black, white before; line; number of events before
RECORD_COUNT = _field("i8")

# -- learning: lines as automata; state s of a line is a bit: s cells of its pattern 1..1 0 1..1 0 .. are behind
PATTERN_BLACK = _field("u8", MOST_LINES)  # states that a black cell leaves for the next
PATTERN_GAP = _field("u8", MOST_LINES)  # states in which a white cell may stay
PATTERN_WHITE = _field("u8", MOST_LINES)  # states that a white cell leaves for the next
PATTERN_END = _field("u8", MOST_LINES)  # the last state
PATTERN_ALIVE = _field("u8", MOST_LINES, ROW)  # states before cell i that the bounds at the root leave
ROOT_KNOWN = _field("u8", MOST_LINES)  # cells known for good
FORWARD = _field("u8", ROW)  # scratch: states reached before cell i

# -- learning: conflicts and their analysis
CONFLICT = _field("i8")  # what failed: a clause, a line, or up to three variables
CONFLICT_PARTS = _field("i8", 4)
SEEN = _field("u1", MOST_VARIABLES + 1)  # of an event: it is needed
NEEDED = _field("i4", MOST_VARIABLES + 1)  # of a needed event: the weakest variable needed
TOUCHED = _field("i4", MOST_VARIABLES + 1)  # the needed events
TOUCHED_COUNT = _field("i8")
OPEN_COUNT = _field("i8")  # needed events of the present level not yet resolved
SEEN_CELLS = _field("u8", MOST_LINES)  # cells that the clause will have, or has, by line
VERDICT = _field("u1", MOST_VARIABLES + 1)  # of an event, in minimisation: 1 implied by the others, 2 not
JUDGED = _field("i4", MOST_VARIABLES + 1)  # events with a verdict
JUDGED_COUNT = _field("i8")
REASONS = _field("i4", 1 << 13)  # scratch: cells and bounds that explain another; 51 times 62 in minimisation
FRAME_EVENT, FRAME_NEXT, FRAME_END, FRAME_CLAUSE, FRAME_TOP = range(5)
FRAMES = _field(
    "i4", 64, 8
)  # scratch: of minimisation: event; next and end of its reasons, 1 if these are in ARENA,
# 0 if in REASONS; first free place in REASONS
LEARNED = _field("i4", MOST_VARIABLES)  # literals of the clause being learned
LEARNED_SIZE = _field("i8")
LEARNED_LBD = _field("i8")  # number of levels in it
LEVEL_STAMP = _field("i8", MOST_VARIABLES + 2)
STAMP = _field("i8")

# -- learning: clauses. A clause: size, LBD and flags, place of the last search, literals
MOST_ARENA = 1 << 25
MOST_CLAUSES = 1 << 19
ARENA = _field("i4", MOST_ARENA)
ARENA_SIZE = _field("i8")
CLAUSES = _field("i4", MOST_CLAUSES)  # places in ARENA
CLAUSE_COUNT = _field("i8")
CLAUSE_RANK = _field("u8", MOST_CLAUSES)  # scratch of the reduction
MOST_WATCHES = 1 << 23  # the database counts as full at half of it: lists that move leave holes
WATCHES = _field("u8", MOST_WATCHES)  # clause, and in the upper half one of its other literals
WATCH_BEGIN, WATCH_COUNT, WATCH_ROOM = range(3)
WATCH_LIST = _field("u4", 2 * MOST_VARIABLES, 4)  # of a literal: where its watches begin, their number, the room
WATCHES_USED = _field("i8")

# -- learning: decisions
ACTIVITY = _field("f8", MOST_VARIABLES)
BUMP = _field("f8")
HEAP = _field("i4", MOST_VARIABLES)
HEAP_SIZE = _field("i8")
HEAP_PLACE = _field("i4", MOST_VARIABLES)  # -1: not in the heap
TARGET = _field("u1", MOST_VARIABLES)  # the value to try: 0 true (black), 1 false
MOST_ASSIGNED = _field("i8")  # events of the longest consistent trail since TARGET was reset

# -- learning: the course of a search
CONFLICTS_MET = _field("i8")
RESTARTS_MADE = _field("i8")
REDUCTIONS_MADE = _field("i8")
NEXT_RESTART = _field("i8")  # number of conflicts
NEXT_REDUCTION = _field("i8")  # number of conflicts
EPISODE_END = _field("i8")  # number of conflicts up to which beliefs decide
BELIEVED_AT = _field("i8")  # number of conflicts when they last did

# -- learning: beliefs in the search
SAID = _field("f4", MOST_LINES, ROW)  # what a line said last, damped
CHANGE = _field("f4", 2 * ROW)  # scratch: how much the probabilities that a line says have changed
HEARD = _field("u8", MOST_LINES)  # cells known when it said so
RETELL = _field("u8", 2)  # rows, and columns, that were told something new
MARGINAL = _field("f4", MOST_CELLS)  # how likely a cell is black
BOUND_MARGINAL = _field("f4", MOST_VARIABLES)  # how likely a bound variable is true
