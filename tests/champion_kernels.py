"""The champion's kernels as tests call them; compiled once and kept with the bot's own.

All are ways through two kernels, which are loaded as the bot loads its own: one for beliefs, one for learning.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from functools import cache, partial

import numpy as np

from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.beliefs import believe_line, forget, sweep
from nonobot.bot.champion.clauses import add_learned, reduce_database
from nonobot.bot.champion.explain import explain_line, reasons_of, update_patterns
from nonobot.bot.champion.guidance import _keep_bound_marginals
from nonobot.bot.champion.heap import bump, heap_insert, heap_pop
from nonobot.bot.champion.propagate import _visit_watches, apply_rules, propagate_all
from nonobot.bot.champion.search import _start
from nonobot.bot.champion.trail import assign, backjump
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import Memory, Struct
from tests.compiling import alone


class _Way(IntEnum):
    BELIEVE = auto()
    KEEP_BOUND_MARGINALS = auto()
    FORGET = auto()
    SWEEP = auto()

    START = auto()
    ASSIGN = auto()
    BACKJUMP = auto()
    PROPAGATE = auto()
    APPLY_RULES = auto()
    VISIT_WATCHES = auto()
    UPDATE_PATTERNS = auto()
    EXPLAIN = auto()
    REASONS = auto()
    ANALYSE = auto()
    ADD_CLAUSE = auto()
    REDUCE_CLAUSES = auto()
    INSERT = auto()
    POP = auto()
    BUMP = auto()


@kernel
def learn(m, way, number, a, b, c, d):
    if way == _Way.START:
        return int(_start(m))
    if way == _Way.ASSIGN:
        assign(m, number, a)
    elif way == _Way.BACKJUMP:
        backjump(m, number)
    elif way == _Way.PROPAGATE:
        return int(propagate_all(m))
    elif way == _Way.APPLY_RULES or way == _Way.VISIT_WATCHES:
        while m.head < m.trail_size:
            event = m.head
            m.head = event + 1
            if not (apply_rules(m, event) if way == _Way.APPLY_RULES else _visit_watches(m, event)):
                return 0
        return 1
    elif way == _Way.UPDATE_PATTERNS:
        update_patterns(m)
    elif way == _Way.EXPLAIN:
        return explain_line(m, number, m.none | a, m.none | b, m.none | c, d)
    elif way == _Way.REASONS:
        return reasons_of(m, number, a)
    elif way == _Way.ANALYSE:
        return analyse(m)
    elif way == _Way.ADD_CLAUSE:
        return add_learned(m)
    elif way == _Way.REDUCE_CLAUSES:
        reduce_database(m)
    elif way == _Way.INSERT:
        heap_insert(m, number)
    elif way == _Way.POP:
        return heap_pop(m)
    elif way == _Way.BUMP:
        bump(m, number)
    return 0


@kernel
def believe(m, way, line, most_odds):
    if way == _Way.BELIEVE:
        return int(believe_line(m, line, m.board.black[line], m.board.white[line], np.float32(most_odds)))
    if way == _Way.KEEP_BOUND_MARGINALS:
        _keep_bound_marginals(m, line)
    elif way == _Way.FORGET:
        forget(m)
    elif way == _Way.SWEEP:
        return int(sweep(m, np.float32(most_odds)))
    return 0


@cache
def _loaded(name: str, struct: Struct, numbers: int) -> Callable[..., int]:
    with alone():
        return load_kernel(__name__, name, struct, numbers, lambda: None)


def _by_learning(way: _Way, m: Memory, *numbers: int) -> int:
    padded = (*map(int, numbers), 0, 0, 0, 0, 0)[:5]
    return _loaded("learn", m.struct, 6)(m.address, int(way), *padded)


def _by_beliefs(way: _Way, m: Memory, line: int = 0, most_odds: int = 1) -> int:
    return _loaded("believe", m.struct, 3)(m.address, int(way), int(line), int(most_odds))


# Each takes the memory and then the numbers named here.

believe_one = partial(_by_beliefs, _Way.BELIEVE)  # line, most odds
keep_bound_marginals = partial(_by_beliefs, _Way.KEEP_BOUND_MARGINALS)  # line
forget_all = partial(_by_beliefs, _Way.FORGET)
sweep_board = partial(_by_beliefs, _Way.SWEEP)  # any line, most odds

start = partial(_by_learning, _Way.START)
assign_literal = partial(_by_learning, _Way.ASSIGN)  # literal, reason
jump_back = partial(_by_learning, _Way.BACKJUMP)  # level

propagate = partial(_by_learning, _Way.PROPAGATE)
apply_all_rules = partial(_by_learning, _Way.APPLY_RULES)  # the implicit clauses alone
visit_all_watches = partial(_by_learning, _Way.VISIT_WATCHES)  # the stored clauses alone

take_over_root = partial(_by_learning, _Way.UPDATE_PATTERNS)
explain = partial(_by_learning, _Way.EXPLAIN)  # line, black, white, target, end of the reasons
reasons = partial(_by_learning, _Way.REASONS)  # variable, end of the reasons
analyse_conflict = partial(_by_learning, _Way.ANALYSE)
add_clause = partial(_by_learning, _Way.ADD_CLAUSE)
reduce_clauses = partial(_by_learning, _Way.REDUCE_CLAUSES)

insert = partial(_by_learning, _Way.INSERT)  # variable
pop = partial(_by_learning, _Way.POP)
make_more_active = partial(_by_learning, _Way.BUMP)  # variable
