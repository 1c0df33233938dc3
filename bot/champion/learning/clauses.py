"""The clause database: an arena of clauses, two watched literals each, and its regular reduction.

A clause lies in ARENA as size, LBD with flags, place of the last search for a watch, and its literals, the two
watched ones first. The watches of a literal are a stretch of WATCHES that moves to a larger place when it is
full; all are laid out anew with every reduction.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, prefetch, put, put2, read, write
from nonobot.bot.bits import i64, u64
from nonobot.bot.champion.learning.events import assign
from nonobot.bot.champion.state import (
    ARENA,
    ARENA_SIZE,
    CLAUSE_COUNT,
    CLAUSE_RANK,
    CLAUSES,
    CONFLICT,
    EVENT_LEVEL,
    EVENT_OF,
    EVENT_REASON,
    LEARNED,
    LEARNED_LBD,
    LEARNED_SIZE,
    LEVEL_STAMP,
    MOST_ARENA,
    MOST_CLAUSES,
    MOST_WATCHES,
    STAMP,
    TRAIL,
    VALUE,
    VARIABLES,
    WATCH_BEGIN,
    WATCH_COUNT,
    WATCH_LIST,
    WATCH_ROOM,
    WATCHES,
    WATCHES_USED,
)
from nonobot.bot.jit import kernel

__all__ = [
    "HEADER", "add_learned", "is_full_database", "note_use", "propagate_watches", "reduce_database",
    "start_clauses",
]  # fmt: skip

HEADER = 3  # items before a clause's literals
_FLAGS, _SEARCH = 1, 2

_LBD_MASK, _USED = 0xFFFF, 0x10000

KEPT_FOR_GOOD = 2  # clauses of so many levels or fewer are never deleted
KEPT_IF_USED = 6  # and those of so many are kept if they were used since the last reduction

_LOW_HALF = u64(0xFFFF_FFFF)


@kernel
def start_clauses(m: Any) -> None:
    """Forget all clauses."""
    write(m, ARENA_SIZE, 0)
    write(m, CLAUSE_COUNT, 0)
    _clear_watches(m)


@kernel
def _clear_watches(m: Any) -> None:
    write(m, WATCHES_USED, 0)
    for literal in range(2 * read(m, VARIABLES)):
        put2(m, WATCH_LIST, literal, WATCH_COUNT, u64(0))
        put2(m, WATCH_LIST, literal, WATCH_ROOM, u64(0))


@kernel
def _watch(m: Any, literal: Any, clause: Any, other: Any) -> None:
    """Watch `literal` in a clause; `other` is any other literal of it."""
    count, room = get2(m, WATCH_LIST, literal, WATCH_COUNT), get2(m, WATCH_LIST, literal, WATCH_ROOM)
    begin = get2(m, WATCH_LIST, literal, WATCH_BEGIN)
    if count == room:
        new_begin = u64(read(m, WATCHES_USED))
        room = max(u64(4), u64(2) * room)
        write(m, WATCHES_USED, i64(new_begin + room))
        for i in range(count):
            put(m, WATCHES, new_begin + i, get(m, WATCHES, begin + i))
        put2(m, WATCH_LIST, literal, WATCH_BEGIN, new_begin)
        put2(m, WATCH_LIST, literal, WATCH_ROOM, room)
        begin = new_begin
    put(m, WATCHES, begin + count, u64(clause) | (u64(other) << u64(32)))
    put2(m, WATCH_LIST, literal, WATCH_COUNT, count + u64(1))


@kernel
def _attach(m: Any, clause: Any) -> None:
    first, second = get(m, ARENA, clause + HEADER), get(m, ARENA, clause + HEADER + 1)
    _watch(m, first, clause, second)
    _watch(m, second, clause, first)


@kernel
def is_full_database(m: Any) -> Any:
    """Tell whether there may be no room for another clause and its watches."""
    return (
        read(m, ARENA_SIZE) + read(m, VARIABLES) + HEADER > MOST_ARENA
        or read(m, CLAUSE_COUNT) + 1 > MOST_CLAUSES
        or read(m, WATCHES_USED) > MOST_WATCHES // 2
    )


@kernel
def add_learned(m: Any) -> Any:
    """Store the learned clause, which has two literals or more, and return its place."""
    clause, size = read(m, ARENA_SIZE), read(m, LEARNED_SIZE)
    put(m, ARENA, clause, size)
    put(m, ARENA, clause + _FLAGS, read(m, LEARNED_LBD) | _USED)
    put(m, ARENA, clause + _SEARCH, 2)
    for i in range(size):
        put(m, ARENA, clause + HEADER + i, get(m, LEARNED, i))
    write(m, ARENA_SIZE, clause + HEADER + size)
    count = read(m, CLAUSE_COUNT)
    put(m, CLAUSES, count, clause)
    write(m, CLAUSE_COUNT, count + 1)
    _attach(m, clause)
    return clause


@kernel
def _levels_in(m: Any, clause: Any) -> Any:
    """Return the LBD of a clause whose literals are all set: its number of levels."""
    stamp = read(m, STAMP) + 1
    write(m, STAMP, stamp)
    levels = i64(0)
    first = clause + HEADER
    for i in range(first, first + get(m, ARENA, clause)):
        level = i64(get(m, EVENT_LEVEL, get(m, EVENT_OF, get(m, ARENA, i) >> 1)))
        if level != 0 and get(m, LEVEL_STAMP, level) != stamp:
            put(m, LEVEL_STAMP, level, stamp)
            levels += 1
    return levels


@kernel
def note_use(m: Any, clause: Any) -> None:
    """Note that a clause took part in a conflict; its LBD may have become smaller."""
    flags = get(m, ARENA, clause + _FLAGS)
    lbd = flags & _LBD_MASK
    if lbd > KEPT_FOR_GOOD and not flags & _USED:
        lbd = min(lbd, _levels_in(m, clause))
    put(m, ARENA, clause + _FLAGS, lbd | _USED)


@kernel
def _other_watch(m: Any, clause: Any) -> Any:
    """Return the place of a literal behind the watched ones that is not false, or -1."""
    first = clause + HEADER
    size, search = get(m, ARENA, clause), get(m, ARENA, clause + _SEARCH)
    for i in range(search, size):
        if get(m, VALUE, get(m, ARENA, first + i)) >= 0:
            return i
    for i in range(2, search):
        if get(m, VALUE, get(m, ARENA, first + i)) >= 0:
            return i
    return i64(-1)


@kernel
def propagate_watches(m: Any, falsified: Any) -> Any:
    """Visit the clauses that watch a literal which has become false; False on a conflict."""
    begin, count = get2(m, WATCH_LIST, falsified, WATCH_BEGIN), get2(m, WATCH_LIST, falsified, WATCH_COUNT)
    kept = begin
    at = begin
    end = begin + count
    consistent = True
    while at < end:
        entry = get(m, WATCHES, at)
        at += u64(1)
        # The clause of the watch after the next: by then it has come out of the slower memory.
        prefetch(m, ARENA, get(m, WATCHES, at + u64(1)) & _LOW_HALF)
        if get(m, VALUE, entry >> u64(32)) > 0:
            put(m, WATCHES, kept, entry)
            kept += u64(1)
            continue
        clause = i64(entry & _LOW_HALF)
        first = clause + HEADER
        # The watched literals stand first, in either order.
        other = get(m, ARENA, first) ^ get(m, ARENA, first + 1) ^ falsified
        value = get(m, VALUE, other)
        entry = u64(clause) | (u64(other) << u64(32))
        if value <= 0:
            i = _other_watch(m, clause)
            if i >= 0:
                found = get(m, ARENA, first + i)
                put(m, ARENA, clause + _SEARCH, i)
                put(m, ARENA, first + i, falsified)
                put(m, ARENA, first, other)
                put(m, ARENA, first + 1, found)
                _watch(m, found, clause, other)
                continue
            # The implied literal of a reason stands first.
            put(m, ARENA, first, other)
            put(m, ARENA, first + 1, falsified)
        put(m, WATCHES, kept, entry)
        kept += u64(1)
        if value < 0:
            write(m, CONFLICT, clause)
            consistent = False
            while at < end:
                put(m, WATCHES, kept, get(m, WATCHES, at))
                kept += u64(1)
                at += u64(1)
        elif value == 0:
            assign(m, other, clause)
    put2(m, WATCH_LIST, falsified, WATCH_COUNT, kept - begin)
    return consistent


@kernel
def _is_reason(m: Any, clause: Any) -> Any:
    literal = get(m, ARENA, clause + HEADER)
    if get(m, VALUE, literal) <= 0:
        return False
    return get2(m, TRAIL, get(m, EVENT_OF, literal >> 1), EVENT_REASON) == clause


@kernel
def _rank(m: Any, index: Any) -> Any:
    """Return how readily a clause is deleted, its index in the lowest bits; 0: it stays.

    High LBD first, then long clauses, then old ones.
    """
    clause = get(m, CLAUSES, index)
    flags = get(m, ARENA, clause + _FLAGS)
    lbd = flags & _LBD_MASK
    if lbd <= KEPT_FOR_GOOD:
        return u64(0)
    put(m, ARENA, clause + _FLAGS, lbd)
    if (lbd <= KEPT_IF_USED and flags & _USED) or _is_reason(m, clause):
        return u64(0)
    age = u64(MOST_CLAUSES - 1 - index)
    size = u64(min(get(m, ARENA, clause), 0xFFFF))
    return (u64(lbd) << u64(40)) | (size << u64(24)) | age


@kernel
def _sift(m: Any, place: Any, size: Any) -> None:
    """Restore the heap property of CLAUSE_RANK[:size] below `place`."""
    rank = get(m, CLAUSE_RANK, place)
    child = 2 * place + 1
    while child < size:
        if child + 1 < size and get(m, CLAUSE_RANK, child + 1) > get(m, CLAUSE_RANK, child):
            child += 1
        if get(m, CLAUSE_RANK, child) <= rank:
            break
        put(m, CLAUSE_RANK, place, get(m, CLAUSE_RANK, child))
        place = child
        child = 2 * place + 1
    put(m, CLAUSE_RANK, place, rank)


@kernel
def _mark_half(m: Any) -> None:
    """Mark the worse half of the clauses that may go, by a negative size."""
    candidates = i64(0)
    for index in range(read(m, CLAUSE_COUNT)):
        rank = _rank(m, index)
        if rank:
            put(m, CLAUSE_RANK, candidates, rank)
            candidates += 1
    place = candidates // 2
    while place > 0:
        place -= 1
        _sift(m, place, candidates)
    left = candidates
    while left > candidates // 2:
        worst = get(m, CLAUSE_RANK, 0)
        left -= 1
        put(m, CLAUSE_RANK, 0, get(m, CLAUSE_RANK, left))
        _sift(m, 0, left)
        clause = get(m, CLAUSES, MOST_CLAUSES - 1 - i64(worst & u64(0xFFFFFF)))
        put(m, ARENA, clause, -get(m, ARENA, clause))


@kernel
def reduce_database(m: Any) -> None:
    """Delete the worse half of the clauses that are neither good, nor in use, nor the reason of an event."""
    _mark_half(m)
    kept, arena = i64(0), i64(0)
    for index in range(read(m, CLAUSE_COUNT)):
        clause = get(m, CLAUSES, index)
        size = get(m, ARENA, clause)
        if size < 0:
            continue
        if _is_reason(m, clause):
            literal = get(m, ARENA, clause + HEADER)
            put2(m, TRAIL, get(m, EVENT_OF, literal >> 1), EVENT_REASON, arena)
        for i in range(HEADER + size):
            put(m, ARENA, arena + i, get(m, ARENA, clause + i))
        put(m, CLAUSES, kept, arena)
        kept += 1
        arena += HEADER + size
    write(m, CLAUSE_COUNT, kept)
    write(m, ARENA_SIZE, arena)
    _clear_watches(m)
    for index in range(kept):
        _attach(m, get(m, CLAUSES, index))
