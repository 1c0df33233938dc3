"""The champion's kernels as tests call them; compiled once and kept with the bot's own.

Numba's cache of a kernel sees this file alone, but `bot.jit.entry` keeps it in a folder named after all of `bot`.
Each has what it needs and no more: a change of the bot compiles it anew.
"""

from __future__ import annotations

from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.beliefs import believe_line, forget, sweep
from nonobot.bot.champion.clauses import add_learned, reduce_database
from nonobot.bot.champion.explain import explain_line, reasons_of, update_patterns
from nonobot.bot.champion.guidance import _keep_bound_marginals
from nonobot.bot.champion.heap import bump, heap_insert, heap_pop
from nonobot.bot.champion.propagate import _visit_watches, propagate_all
from nonobot.bot.champion.rules import apply_rules
from nonobot.bot.champion.search import _luby, _start
from nonobot.bot.champion.trail import assign, backjump
from nonobot.bot.jit import entry

# Beliefs


@entry
def believe(m, line, most_odds):
    return believe_line(m, line, m.board.black[line], m.board.white[line], most_odds)


@entry
def keep_bound_marginals(m, line):
    _keep_bound_marginals(m, line)


@entry
def forget_all(m):
    forget(m)


@entry
def sweep_board(m, most_odds):
    return sweep(m, most_odds)


# The trail


@entry
def start(m):
    return _start(m)


@entry
def assign_literal(m, literal, reason):
    assign(m, literal, reason)


@entry
def jump_back(m, level):
    backjump(m, level)


# Propagation: the implicit clauses alone, the stored clauses alone, and everything


@entry
def apply_all_rules(m):
    while m.head < m.trail_size:
        event = m.head
        m.head = event + 1
        if not apply_rules(m, event):
            return False
    return True


@entry
def visit_all_watches(m):
    while m.head < m.trail_size:
        event = m.head
        m.head = event + 1
        if not _visit_watches(m, event):
            return False
    return True


@entry
def propagate(m):
    return propagate_all(m)


# Explanations, analysis, clauses


@entry
def take_over_root(m):
    update_patterns(m)


@entry
def explain(m, line, black, white, target, out):
    return explain_line(m, line, m.none | black, m.none | white, m.none | target, out)


@entry
def reasons(m, variable, out):
    return reasons_of(m, variable, out)


@entry
def analyse_conflict(m):
    return analyse(m)


@entry
def add_clause(m):
    return add_learned(m)


@entry
def reduce_clauses(m):
    reduce_database(m)


# Decisions


@entry
def insert(m, variable):
    heap_insert(m, variable)


@entry
def pop(m):
    return heap_pop(m)


@entry
def make_more_active(m, variable):
    bump(m, variable)


@entry
def luby(i):
    return _luby(i)
