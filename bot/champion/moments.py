"""Noting moments of a search for people who watch; otherwise it costs a comparison."""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, put2, read, write
from nonobot.bot.bits import u64
from nonobot.bot.champion.state import BOARD, HEIGHT, MOMENT_COUNT, MOMENT_KIND, MOMENT_ROOM, MOMENTS, MOST_LINES
from nonobot.bot.jit import kernel

__all__ = ["note"]

_WHITE = u64(MOST_LINES)


@kernel
def _write_down(m: Any, kind: Any, moment: Any) -> None:
    put2(m, MOMENTS, moment, MOMENT_KIND, kind)
    height = read(m, HEIGHT)
    for y in range(height):
        put2(m, MOMENTS, moment, y, get(m, BOARD, y))
        put2(m, MOMENTS, moment, height + y, get(m, BOARD, _WHITE + y))
    write(m, MOMENT_COUNT, moment + u64(1))


@kernel
def note(m: Any, kind: Any) -> None:
    """Note what has just happened, and BOARD, if somebody watches and there is room."""
    moment = read(m, MOMENT_COUNT)
    if moment < read(m, MOMENT_ROOM):
        _write_down(m, kind, moment)
