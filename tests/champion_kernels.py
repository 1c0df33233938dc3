"""The champion's kernels as tests call them; compiled once and kept with the bot's own.

All are ways through two kernels, which are loaded as the bot loads its own: one for beliefs, one for learning.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from functools import cache

import numpy as np

from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.beliefs import believe_line, forget, sweep
from nonobot.bot.champion.clauses import add_learned, reduce_database
from nonobot.bot.champion.explain import explain_line, reasons_of, update_patterns
from nonobot.bot.champion.guidance import _keep_bound_marginals
from nonobot.bot.champion.heap import bump, heap_insert, heap_pop
from nonobot.bot.champion.propagate import _visit_watches, propagate_all
from nonobot.bot.champion.rules import apply_rules
from nonobot.bot.champion.search import _decide_by_activity, _luby, _next_replayed, _save_replay, _start
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
    UPDATE_PATTERNS = auto()
    EXPLAIN = auto()
    REASONS = auto()
    ANALYSE = auto()
    ADD_CLAUSE = auto()
    REDUCE_CLAUSES = auto()
    INSERT = auto()
    POP = auto()
    BUMP = auto()
    DECIDE = auto()
    LUBY = auto()
    KEEP_DECISIONS = auto()
    KEPT_DECISION = auto()


@kernel
def learn(m, way, number, a, b, c, d):
    if way == _Way.START:
        return int(_start(m))
    if way == _Way.ASSIGN:
        assign(m, number, a)
    elif way == _Way.BACKJUMP:
        backjump(m, number)
    elif way == _Way.PROPAGATE:
        if number:
            return int(propagate_all(m))
        # The implicit clauses alone, or the stored ones.
        while m.head < m.trail_size:
            event = m.head
            m.head = event + 1
            if not (apply_rules(m, event) if a else _visit_watches(m, event)):
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
    elif way == _Way.DECIDE:
        return _decide_by_activity(m)
    elif way == _Way.LUBY:
        return _luby(number)
    elif way == _Way.KEEP_DECISIONS:
        _save_replay(m, number)
    elif way == _Way.KEPT_DECISION:
        return _next_replayed(m)
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


# Beliefs


def believe_one(m, line, most_odds):
    return _by_beliefs(_Way.BELIEVE, m, line, most_odds)


def keep_bound_marginals(m, line):
    _by_beliefs(_Way.KEEP_BOUND_MARGINALS, m, line)


def forget_all(m):
    _by_beliefs(_Way.FORGET, m)


def sweep_board(m, most_odds):
    return _by_beliefs(_Way.SWEEP, m, 0, most_odds)


# The trail


def start(m):
    return _by_learning(_Way.START, m)


def assign_literal(m, literal, reason):
    _by_learning(_Way.ASSIGN, m, literal, reason)


def jump_back(m, level):
    _by_learning(_Way.BACKJUMP, m, level)


# Propagation: the implicit clauses alone, the stored clauses alone, and everything


def apply_all_rules(m):
    return _by_learning(_Way.PROPAGATE, m, 0, 1)


def visit_all_watches(m):
    return _by_learning(_Way.PROPAGATE, m, 0, 0)


def propagate(m):
    return _by_learning(_Way.PROPAGATE, m, 1)


# Explanations, analysis, clauses


def take_over_root(m):
    _by_learning(_Way.UPDATE_PATTERNS, m)


def explain(m, line, black, white, target, out):
    return _by_learning(_Way.EXPLAIN, m, line, black, white, target, out)


def reasons(m, variable, out):
    return _by_learning(_Way.REASONS, m, variable, out)


def analyse_conflict(m):
    return _by_learning(_Way.ANALYSE, m)


def add_clause(m):
    return _by_learning(_Way.ADD_CLAUSE, m)


def reduce_clauses(m):
    _by_learning(_Way.REDUCE_CLAUSES, m)


# Decisions


def insert(m, variable):
    _by_learning(_Way.INSERT, m, variable)


def pop(m):
    return _by_learning(_Way.POP, m)


def make_more_active(m, variable):
    _by_learning(_Way.BUMP, m, variable)


def decide_by_activity(m):
    return _by_learning(_Way.DECIDE, m)


def luby(m, i):
    return _by_learning(_Way.LUBY, m, i)


def keep_decisions(m, level):
    _by_learning(_Way.KEEP_DECISIONS, m, level)


def kept_decision(m):
    return _by_learning(_Way.KEPT_DECISION, m)
