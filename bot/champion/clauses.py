"""The clause database: an arena of clauses, two watched literals each, and its regular reduction.

A clause is identified by its place in the arena. The watches of a literal are a stretch of `m.watches` that moves
to a larger place when it is full. Every reduction lays out all of them again.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.state import CLAUSE
from nonobot.bot.champion.trail import assign
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.language import prefetch

HEADER = CLAUSE.size // 4  # items of the arena before a clause's literals

_LBD_MASK, _USED = 0xFFFF, 0x10000

KEPT_FOR_GOOD = 2  # clauses of up to this many levels are never deleted
KEPT_IF_USED = 6  # clauses of up to this many levels are kept if used since the last reduction


@kernel
def start_clauses(m: Any) -> None:
    """Forget all clauses."""
    m.arena_size = 0
    m.clause_count = 0
    _clear_watches(m)


@kernel
def _clear_watches(m: Any) -> None:
    m.watches_used = 0
    for literal in range(2 * m.variables):
        m.watch_list[literal].count = 0
        m.watch_room[literal] = 0


@kernel
def _watch(m: Any, literal: Any, place: Any, other: Any) -> None:
    """Watch `literal` in the clause at `place`; `other` is any other literal of it."""
    watches = m.watch_list[literal]
    count = watches.count
    if count == m.watch_room[literal]:
        begin = m.watches_used
        room = max(4, 2 * count)
        m.watch_room[literal] = room
        m.watches_used = begin + room
        for i in range(count):
            m.watches[begin + i] = m.watches[watches.begin + i]
        watches.begin = begin
    watch = m.watches[watches.begin + count]
    watch.clause = place
    watch.blocker = other
    watches.count = count + 1


@kernel
def _attach(m: Any, place: Any) -> None:
    literals = m.clause[place].literals
    _watch(m, literals[0], place, literals[1])
    _watch(m, literals[1], place, literals[0])


@kernel
def is_full_database(m: Any) -> Any:
    """Return whether there may be no room for another clause and its watches."""
    return (
        m.arena_size + m.variables + HEADER > m.most_arena
        or m.clause_count + 1 > m.most_clauses
        or m.watches_used > m.most_watches // 2
    )


@kernel
def add_learned(m: Any) -> Any:
    """Store the learned clause, which has two literals or more, and return its place."""
    place, size = m.arena_size, m.learned_size
    clause = m.clause[place]
    clause.size = size
    clause.flags = min(m.learned_lbd, _LBD_MASK) | _USED
    clause.search = 2
    for i in range(size):
        clause.literals[i] = m.learned[i]
    m.arena_size = place + HEADER + size
    m.clauses[m.clause_count] = place
    m.clause_count += 1
    _attach(m, place)
    return place


@kernel
def _levels_in(m: Any, clause: Any) -> Any:
    """Return the LBD of a clause whose literals are all set: its number of levels."""
    m.stamp += 1
    stamp = m.stamp
    levels = 0
    for i in range(clause.size):
        level = m.event_level[m.event_of[clause.literals[i] >> 1]]
        if level != 0 and m.level_stamp[level] != stamp:
            m.level_stamp[level] = stamp
            levels += 1
    return levels


@kernel
def note_use(m: Any, clause: Any) -> None:
    """Note that a clause took part in a conflict; its LBD may have become smaller."""
    lbd = clause.flags & _LBD_MASK
    if lbd > KEPT_FOR_GOOD and not clause.flags & _USED:
        lbd = min(lbd, _levels_in(m, clause))
    clause.flags = lbd | _USED


@kernel
def _other_watch(m: Any, clause: Any) -> Any:
    """Return the place of a literal behind the watched ones that is not false, or -1."""
    size, search = clause.size, clause.search
    for i in range(search, size):
        if m.value[clause.literals[i]] >= 0:
            return i
    for i in range(2, search):
        if m.value[clause.literals[i]] >= 0:
            return i
    return -1


@kernel
def propagate_watches(m: Any, falsified: Any) -> Any:
    """Visit the clauses that watch a literal which has become false; False on a conflict."""
    index = m.watch_list[falsified].begin
    end = index + m.watch_list[falsified].count
    kept = index
    consistent = True
    while index < end:
        watch = m.watches[index]
        index += 1
        # Prefetch the clause of the watch after the next, which then has arrived from the slower memory.
        prefetch(m.clause[m.watches[index + 1].clause])
        if m.value[watch.blocker] > 0:
            m.watches[kept] = watch
            kept += 1
            continue
        place = watch.clause
        clause = m.clause[place]
        literals = clause.literals
        # The watched literals come first, in either order.
        other = literals[0] ^ literals[1] ^ falsified
        value = m.value[other]
        if value <= 0:
            i = _other_watch(m, clause)
            if i >= 0:
                found = literals[i]
                clause.search = i
                literals[i] = falsified
                literals[0] = other
                literals[1] = found
                _watch(m, found, place, other)
                continue
            # The implied literal of a reason comes first.
            literals[0] = other
            literals[1] = falsified
        m.watches[kept].clause = place
        m.watches[kept].blocker = other
        kept += 1
        if value < 0:
            m.conflict = place
            consistent = False
            while index < end:
                m.watches[kept] = m.watches[index]
                kept += 1
                index += 1
        elif value == 0:
            assign(m, other, place)
    watches = m.watch_list[falsified]
    watches.count = kept - watches.begin
    return consistent


@kernel
def _is_reason(m: Any, place: Any) -> Any:
    literal = m.clause[place].literals[0]
    return m.value[literal] > 0 and m.trail[m.event_of[literal >> 1]].reason == place


@kernel
def _rank(m: Any, index: Any) -> Any:
    """Return the rank of a clause for deletion: LBD, length, age and, in the lowest bits, its index; 0: keep."""
    place = m.clauses[index]
    clause = m.clause[place]
    flags = clause.flags
    lbd = flags & _LBD_MASK
    if lbd <= KEPT_FOR_GOOD:
        return 0
    clause.flags = lbd
    if (lbd <= KEPT_IF_USED and flags & _USED) or _is_reason(m, place):
        return 0
    return (lbd << 40) | (min(clause.size, 0xFFFF) << 24) | (m.most_clauses - 1 - index)


@kernel
def _sift(m: Any, place: Any, size: Any) -> None:
    """Restore the heap property of `m.clause_rank[:size]` below `place`."""
    rank = m.clause_rank[place]
    child = 2 * place + 1
    while child < size:
        if child + 1 < size and m.clause_rank[child + 1] > m.clause_rank[child]:
            child += 1
        if m.clause_rank[child] <= rank:
            break
        m.clause_rank[place] = m.clause_rank[child]
        place = child
        child = 2 * place + 1
    m.clause_rank[place] = rank


@kernel
def _mark_half(m: Any) -> None:
    """Mark the worse half of the deletable clauses by a negative size."""
    candidates = 0
    for index in range(m.clause_count):
        rank = _rank(m, index)
        if rank:
            m.clause_rank[candidates] = rank
            candidates += 1
    place = candidates // 2
    while place > 0:
        place -= 1
        _sift(m, place, candidates)
    left = candidates
    while left > candidates // 2:
        worst = m.clause_rank[0]
        left -= 1
        m.clause_rank[0] = m.clause_rank[left]
        _sift(m, 0, left)
        clause = m.clause[m.clauses[m.most_clauses - 1 - (worst & 0xFFFFFF)]]
        clause.size = -clause.size


@kernel
def reduce_database(m: Any) -> None:
    """Delete the worse half of the clauses that are neither good, nor recently used, nor a reason."""
    _mark_half(m)
    kept, end = 0, 0
    for index in range(m.clause_count):
        place = m.clauses[index]
        size = m.clause[place].size
        if size < 0:
            continue
        if _is_reason(m, place):
            literal = m.clause[place].literals[0]
            m.trail[m.event_of[literal >> 1]].reason = end
        for i in range(HEADER + size):
            m.arena[end + i] = m.arena[place + i]
        m.clauses[kept] = end
        kept += 1
        end += HEADER + size
    m.clause_count = kept
    m.arena_size = end
    _clear_watches(m)
    for index in range(kept):
        _attach(m, m.clauses[index])
