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
from nonobot.bot.champion.guidance import _keep_bound_marginals
from nonobot.bot.champion.heap import bump, heap_insert, heap_pop
from nonobot.bot.champion.propagate import _visit_watches, apply_rules, propagate_all
from nonobot.bot.champion.reasons import explain_line, reasons_of, update_patterns
from nonobot.bot.champion.search import _start
from nonobot.bot.champion.trail import assign, backjump
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import Memory, Struct
from tests.helpers.compiling import alone


class Kernel(IntEnum):
    """A way through one of the two; a call takes the memory and the numbers named beside it."""

    believe_one = auto()  # line, most odds
    keep_bound_marginals = auto()  # line
    forget_all = auto()
    sweep_board = auto()  # any line, most odds

    start = auto()
    assign_literal = auto()  # literal, reason
    jump_back = auto()  # level
    propagate = auto()
    apply_all_rules = auto()  # the implicit clauses alone
    visit_all_watches = auto()  # the stored clauses alone
    take_over_root = auto()
    explain = auto()  # line, black, white, target, end of the reasons
    reasons = auto()  # variable, end of the reasons
    analyse_conflict = auto()
    add_clause = auto()
    reduce_clauses = auto()
    insert = auto()  # variable
    pop = auto()
    make_more_active = auto()  # variable

    def __call__(self, m: Memory, *numbers: int) -> int:
        name, count = ("believe", 2) if self < Kernel.start else ("learn", 5)
        padded = (*map(int, numbers), 0, 0, 0, 0, 0)[:count]
        return _loaded(name, m.struct, 1 + count)(m.address, int(self), *padded)


@kernel
def learn(m, way, number, a, b, c, d):
    if way == Kernel.start:
        return int(_start(m))
    if way == Kernel.assign_literal:
        assign(m, number, a)
    elif way == Kernel.jump_back:
        backjump(m, number)
    elif way == Kernel.propagate:
        return int(propagate_all(m))
    elif way == Kernel.apply_all_rules or way == Kernel.visit_all_watches:
        while m.head < m.trail_size:
            event = m.head
            m.head = event + 1
            if not (apply_rules(m, event) if way == Kernel.apply_all_rules else _visit_watches(m, event)):
                return 0
        return 1
    elif way == Kernel.take_over_root:
        update_patterns(m)
    elif way == Kernel.explain:
        return explain_line(m, number, m.none | a, m.none | b, m.none | c, d)
    elif way == Kernel.reasons:
        return reasons_of(m, number, a)
    elif way == Kernel.analyse_conflict:
        return analyse(m)
    elif way == Kernel.add_clause:
        return add_learned(m)
    elif way == Kernel.reduce_clauses:
        reduce_database(m)
    elif way == Kernel.insert:
        heap_insert(m, number)
    elif way == Kernel.pop:
        return heap_pop(m)
    elif way == Kernel.make_more_active:
        bump(m, number)
    return 0


@kernel
def believe(m, way, line, most_odds):
    if way == Kernel.believe_one:
        return int(believe_line(m, line, m.board.black[line], m.board.white[line], np.float32(most_odds)))
    if way == Kernel.keep_bound_marginals:
        _keep_bound_marginals(m, line)
    elif way == Kernel.forget_all:
        forget(m)
    elif way == Kernel.sweep_board:
        return int(sweep(m, np.float32(most_odds)))
    return 0


@cache
def _loaded(name: str, struct: Struct, numbers: int) -> Callable[..., int]:
    with alone():
        return load_kernel(__name__, name, struct, numbers)
