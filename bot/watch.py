"""`nonobot --watch`: a solve as it happened, moment by moment, on the terminal."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import textwrap
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from nonobot.bot.cli import Options
from nonobot.bot.input import AUTO, STREAM, UnreadableError, puzzles_in
from nonobot.bot.result import MOST_TRACE_EVENTS, Result, TraceEvent
from nonobot.bot.strategy import Strategy
from nonobot.protocol import BLACK, UNKNOWN, Fault, Found, PartialGrid, Record
from nonobot.protocol.characters import (
    Piece,
    StyledLine,
    drawn_to_fit,
    place_of_output,
    possible_blocks,
    text_of,
    width_of,
)
from nonobot.protocol.faults import located
from nonobot.protocol.picture import Picture

__all__ = ["UnwatchableError", "watch"]

WORDS = {
    TraceEvent.PAINTED: "a line told cells",
    TraceEvent.PROBED: "probing told cells",
    TraceEvent.GUESSED: "a cell was assumed",
    TraceEvent.TAKEN_BACK: "a contradiction: taken back",
    TraceEvent.RESTARTED: "begun anew",
}

COLOURS = {
    TraceEvent.PAINTED: ("color(255)", "color(240)"),
    TraceEvent.PROBED: ("color(120)", "color(28)"),
    TraceEvent.GUESSED: ("color(221)", "color(94)"),
    TraceEvent.TAKEN_BACK: ("color(210)", "color(88)"),
    TraceEvent.RESTARTED: ("color(255)", "color(240)"),
}
"""Of a black and of a white cell, by what told it."""

LEGEND = {
    "propagation": TraceEvent.PAINTED,
    "probing": TraceEvent.PROBED,
    "assumption": TraceEvent.GUESSED,
    "contradiction": TraceEvent.TAKEN_BACK,
}
KEYS = "space: pause   n: next moment   + -: speed   e: to the end   q: quit"

MOST_SPEED = 1000.0
"""Moments a second; a terminal takes no more."""


class UnwatchableError(Exception):
    """Nothing can be shown; the message is one line that says why."""


def watch(options: Options, strategy: Strategy, path: Path, on_fault: Callable[[str], None]) -> int:
    """Solve the puzzles of a file one after the other, and show each solve; return the exit status.

    What cannot be watched costs no other puzzle: `on_fault` is called with a line that says why.

    Raises
    ------
    UnwatchableError
        If the file cannot be read, or has no puzzle that can be watched, or standard output is no terminal.
    """
    if not sys.stdout.isatty():
        raise UnwatchableError("--watch draws on a terminal, and standard output is none")
    strategy.watch()
    status, shown = 0, 0
    try:
        for puzzle in _puzzles(path, options):
            if isinstance(puzzle, Fault):
                on_fault(str(puzzle))
                status = 1
                continue
            record = puzzle
            try:
                result = strategy.solve(record.puzzle, start=record.start, seconds=options.puzzle_limit)
            except ValueError as error:  # a board that the strategy has no room for
                on_fault(located(str(error), number=record.number, line=record.line))
                status = 1
                continue
            shown += 1
            status = status if result.status == "solved" else 1
            with _screen(), _Keys() as keys:
                if not _Show(record, strategy, result, keys, options.speed).run():
                    break
    except _StoppedError as stopped:
        return 128 + int(stopped.args[0])
    if not shown:
        raise UnwatchableError(f"{path}: no puzzle that can be watched")
    return status


class _StoppedError(Exception):
    """Whoever watches has seen enough: a signal came, whose number is the argument."""


def _stop(number: int, _: object) -> None:
    raise _StoppedError(number)


def _puzzles(path: Path, options: Options) -> list[Found]:
    try:
        content = path.read_bytes()
        form = AUTO if options.format == STREAM else options.format
        return list(puzzles_in(iter([content]), form, options.size, is_whole=True))
    except OSError as error:
        raise UnwatchableError(f"cannot read {path}: {error.strerror}") from None
    except UnreadableError as error:
        raise UnwatchableError(f"{path}: {error}") from None


class _Show:
    """One solve on the screen.

    Parameters
    ----------
    record : Record
    strategy : Strategy
        That has just solved it.
    result : Result
    keys : _Keys
    speed : float
        Moments a second.
    """

    def __init__(self, record: Record, strategy: Strategy, result: Result, keys: _Keys, speed: float) -> None:
        self._puzzle = record.puzzle
        self._title = f"${record.number}  {record.size[0]}x{record.size[1]}  {strategy.name}: {result.status}"
        self._moments = list(strategy.trace_events())
        self._keys = keys
        self._speed = speed
        self._paused = False
        start = record.start or PartialGrid(np.full(record.size[::-1], UNKNOWN))
        self._cells = start.cells
        self._told = np.zeros(self._cells.shape, np.int8)  # the TraceEvent that told each cell

    def run(self) -> bool:
        """Show all moments; False if there is to be nothing more."""
        at = 0
        while at < len(self._moments):
            kind, board = self._moments[at]
            self._take(kind, board)
            at += 1
            place = f"{at} of {len(self._moments)}: {WORDS[kind]}, {self._known()}"
            match self._wait(place):
                case "q":
                    return False
                case "e":
                    for kind, board in self._moments[at:]:
                        self._take(kind, board)
                    at = len(self._moments)
        more = f"; only the first {MOST_TRACE_EVENTS} moments were kept" if at == MOST_TRACE_EVENTS else ""
        self._draw(f"the end after {at} moments{more}: {self._known()}. Any key goes on, q ends")
        return self._keys.wait(None) != "q"

    def _take(self, kind: TraceEvent, board: PartialGrid) -> None:
        self._told[board.cells != self._cells] = kind
        self._cells = board.cells

    def _wait(self, place: str) -> str:
        """Show this moment until the next is due; return the key that ends the show or leaps, if there is one."""
        until = time.monotonic() + 1 / self._speed
        while True:
            self._draw(f"{place}, {'paused' if self._paused else f'{self._speed:g} a second'}")
            key = self._keys.wait(None if self._paused else max(0.0, until - time.monotonic()))
            match key:
                case " ":
                    self._paused = not self._paused
                case "+":
                    self._speed = min(2 * self._speed, MOST_SPEED)
                case "-":
                    self._speed /= 2
                case "n":
                    self._paused = True
                    return ""
                case "q" | "e":
                    return key
                case "":
                    return ""

    def _known(self) -> str:
        return f"{int((self._cells != UNKNOWN).sum())} of {self._cells.size} cells known"

    def _draw(self, status: str) -> None:
        place = place_of_output()
        columns, lines = place.columns, place.lines + 1
        below = [*_wrapped(Piece(status), columns), *_legend(columns, place.has_colours)]
        below += _wrapped(Piece(KEYS, "dim"), columns)
        picture = Picture(self._puzzle, self._cells)
        board = drawn_to_fit(
            picture,
            place._replace(lines=lines - 1 - len(below)),
            possible_blocks(picture, place),
            colours=self._colours() if place.has_colours else None,
            may_scroll=False,
        )
        if board is None:
            board = [[Piece(f"the terminal is too small for this board: {columns} columns, {lines} lines")]]
        words = [[Piece(self._title, "bold")], *board, *below]
        text = "\x1b[K\r\n".join(text_of(words[:lines], place))
        os.write(sys.stdout.fileno(), f"\x1b[H{text}\x1b[J".encode(place.encoding))

    def _colours(self) -> Sequence[Sequence[str]]:
        return [list(map(_colour, *rows)) for rows in zip(self._cells, self._told, strict=True)]


def _colour(cell: int, told: int) -> str:
    if cell == UNKNOWN:
        return ""
    return COLOURS[TraceEvent(told)][0 if cell == BLACK else 1]


def _wrapped(piece: Piece, columns: int) -> list[StyledLine]:
    return [[piece._replace(text=text)] for text in textwrap.wrap(piece.text, max(1, columns))]


def _legend(columns: int, has_colours: bool) -> list[StyledLine]:
    """Return what the colours mean, in as many lines as it takes; one that is blank without them."""
    lines: list[StyledLine] = [[Piece("black, white by ")] if has_colours else []]
    for name, kind in LEGEND.items() if has_colours else ():
        black, white = COLOURS[kind]
        entry = [Piece("██", black), Piece("██", white), Piece(f" {name}  ")]
        if width_of([[*lines[-1], *entry]]) > columns:
            lines.append([])
        lines[-1] += entry
    return lines


@contextmanager
def _screen() -> Iterator[None]:
    """Use the terminal's other screen, without its cursor, and leave it as it was when a signal comes, too."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, _stop) for number in numbers]
    try:
        os.write(sys.stdout.fileno(), b"\x1b[?1049h\x1b[?25l\x1b[2J")
        yield
    finally:
        os.write(sys.stdout.fileno(), b"\x1b[?25h\x1b[?1049l")
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class _Keys:
    """Keys as they are pressed; none where standard input is no terminal."""

    def __enter__(self) -> _Keys:
        self._input = sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else None
        if self._input is not None:
            self._before = termios.tcgetattr(self._input)
            tty.setcbreak(self._input)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        if self._input is not None:
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float | None) -> str:
        """Return the key that is pressed within `seconds` (None: wait for one), or an empty string."""
        if self._input is None:
            time.sleep(seconds or 0.0)
            return ""
        if not select.select([self._input], [], [], seconds)[0]:
            return ""
        return os.read(self._input, 1).decode("ascii", "replace") or "q"
