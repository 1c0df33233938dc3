"""Drawings on the terminal: boards of answers, and for `--watch` a search step by step."""

from __future__ import annotations

import os
import select
import shlex
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nonobot.bot.cli import Options
from nonobot.bot.input import AUTO, STREAM, UnusableError, puzzles_in
from nonobot.bot.result import MOST_TRACE_EVENTS, Result, TraceEvent
from nonobot.bot.strategy import Strategy
from nonobot.protocol import BLACK, UNKNOWN, WHITE, Fault, Found, PartialGrid, Record, Solution
from nonobot.protocol.characters import (
    TERMINALS_WITHOUT_CURSOR,
    Blocks,
    Colours,
    Piece,
    Place,
    StyledLine,
    draw,
    drawn_to_fit,
    place_of_output,
    possible_blocks,
    text_of,
    width_of,
)
from nonobot.protocol.clues import count, located
from nonobot.protocol.formats import MOST_BYTES
from nonobot.protocol.scene import Picture
from nonobot.system import pieces_of, printable, reason_of, report


def picture_of(record: Record, solution: Solution, is_alone: bool) -> bytes:
    """Return an answer for a terminal: its number unless it `is_alone`, its title, and its board."""
    place = place_of_output()
    picture = Picture(record.puzzle, solution)
    blocks = possible_blocks(picture, place)
    lines = drawn_to_fit(picture, place, blocks)
    title = " ".join(filter(None, ["" if is_alone else f"${record.number}", record.title]))
    shown = [title] if title else []
    shown += [_no_room(picture, place, blocks, record)] if lines is None else text_of(lines, place)
    return "".join(f"{line}\n" for line in shown).encode(place.encoding, "replace")


def _no_room(picture: Picture, place: Place, blocks: Sequence[Blocks], record: Record) -> str:
    """Return a message: the width that the terminal would need, and a command that draws the board to a file."""
    needed = width_of(draw(picture, blocks[-1], clues=False))
    file, number = printable(shlex.quote(record.file)), record.number
    return (
        f"{picture.width}x{picture.height}: solved; the board needs {needed} columns, the terminal has "
        f"{place.columns}; draw it to a file: nonobot {file} | nonojudge render {file} --answers - "
        f"--number {number} -o {number}.png"
    )


class _Look(NamedTuple):
    """Look of a kind of trace event: its words, its cause in the legend, colours of black and white cells."""

    text: str
    cause: str
    black: str
    white: str


_KINDS = {
    TraceEvent.PAINTED: _Look("cells follow from a line", "propagation", "color(255)", "color(240)"),
    TraceEvent.PROBED: _Look("cells follow from probing", "probing", "color(120)", "color(28)"),
    TraceEvent.GUESSED: _Look("a cell was assumed", "assumption", "color(221)", "color(94)"),
    TraceEvent.TAKEN_BACK: _Look("contradiction, cells taken back", "contradiction", "color(210)", "color(88)"),
    TraceEvent.RESTARTED: _Look("restarted", "", "color(255)", "color(240)"),
}
KEYS = "space: pause   n: next step   b: step back   + -: speed   e: to the end   q: quit"
MOST_SPEED = 1000.0  # largest number of steps per second; a terminal cannot draw more


def watch(options: Options, strategy: Strategy, path: Path) -> int:
    """Solve the puzzles of a file in order, and show each search; return the exit status.

    UnusableError: no puzzle can be shown, the file cannot be read, or standard output cannot show it.
    """
    if not sys.stdout.isatty():
        raise UnusableError("--watch: standard output is not a terminal; do not redirect it")
    if (name := os.environ.get("TERM", "dumb")) in TERMINALS_WITHOUT_CURSOR:
        raise UnusableError(f"--watch: a terminal with TERM={name} has no cursor to move; leave --watch out")
    strategy.watch()
    status, shown = 0, 0
    keyboard = sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else None
    for puzzle in _puzzles(path, options):
        if isinstance(puzzle, Fault):
            report(str(puzzle))
            status = 1
            continue
        try:
            result = strategy.solve(puzzle.puzzle, start=puzzle.start, seconds=options.puzzle_limit)
        except ValueError as error:  # a board that is too large for the strategy
            report(located(str(error), number=puzzle.number, line=puzzle.line))
            status = 1
            continue
        shown += 1
        status = status if result.status == "solved" else 1
        show = _Show(puzzle, strategy, result, options.speed)
        with _screen(keyboard, show.draw) as key:
            if not show.run(key):
                break
    if not shown:
        raise UnusableError(f"{path}: cannot find a puzzle to show")
    return status


def _puzzles(path: Path, options: Options) -> list[Found]:
    try:
        form = AUTO if options.format == STREAM else options.format
        return list(puzzles_in(pieces_of(path, MOST_BYTES, waits=True), form, options.size, is_whole=True))
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {reason_of(error)}") from None
    except UnusableError as error:
        raise UnusableError(f"{path}: {error}") from None


class _Show:
    """A finished search on the screen."""

    def __init__(self, record: Record, strategy: Strategy, result: Result, speed: float) -> None:
        self._puzzle = record.puzzle
        self._title = f"${record.number}  {record.size[0]}x{record.size[1]}  {strategy.name}: {result.status}"
        self._events = list(strategy.trace_events())
        self._speed = speed  # steps per second
        self._paused = False
        self._is_unsolvable = result.status == "unsolvable"
        self._status = ""
        self._start = record.start or PartialGrid.blank(record.size)
        self._step = 0
        self._go_to(0)

    def run(self, key: Callable[[float | None], str]) -> bool:
        """Show all steps; False if the user quits. `key` waits for a key for some seconds (None: no limit)."""
        self._key = key
        step, last = 1, len(self._events)
        while True:
            self._go_to(min(step, last))
            match self._wait(step) if step <= last else self._end():
                case "q":
                    return False
                case "b":
                    step = max(1, step - 1)
                    self._paused = True
                case _ if step > last:
                    return True
                case "e":
                    step = last + 1
                case _:
                    step += 1

    def _go_to(self, step: int) -> None:
        """Set the board to its cells after a step; 0: before the first one."""
        if step == 0 or step < self._step:
            self._step, self._board = 0, self._start
            self._kinds = bytearray(len(self._start.content))  # the TraceEvent that made each cell known
        for kind, board in self._events[self._step : step]:
            for place in self._board.changed_to(board):
                self._kinds[place] = kind
            self._board = board
        self._step = step

    def _end(self) -> str:
        """Show the end; return the next key."""
        last = len(self._events)
        more = f"; only the first {MOST_TRACE_EVENTS} steps were kept" if last == MOST_TRACE_EVENTS else ""
        steps = f"{count(last, 'step')}{more}"
        self.draw(f"the end after {steps}: {self._known()}. Any key continues, b steps back, q quits")
        return self._key(None)

    def _wait(self, step: int) -> str:
        """Show this step until the next is due; return the key that moves or quits, or an empty string."""
        place = f"{step} of {len(self._events)}: {_KINDS[self._events[step - 1][0]].text}, {self._known()}"
        until = time.monotonic() + 1 / self._speed
        while True:
            self.draw(f"{place}, {'paused' if self._paused else f'{self._speed:g} per second'}")
            key = self._key(None if self._paused else max(0.0, until - time.monotonic()))
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
                case "q" | "e" | "b" | "":
                    return key

    def _known(self) -> str:
        content = self._board.content
        cells = f"{len(content) - content.count(UNKNOWN % 256)} of {len(content)} cells"
        return f"{cells} set, but the puzzle has no solution" if self._is_unsolvable else f"{cells} known"

    def draw(self, status: str | None = None) -> None:
        """Draw the board and a status (None: the last one)."""
        self._status = self._status if status is None else status
        place = place_of_output()
        columns, lines = place.columns, place.lines + 1
        picture = Picture(self._puzzle, self._board)
        blocks = possible_blocks(picture, place)
        colours = self._colours() if place.has_colours else None
        around = self._around(columns, place.has_colours)
        room = place._replace(lines=lines - len(around))
        board = drawn_to_fit(picture, room, blocks, colours=colours, may_scroll=False)
        if board is None or width_of(around) > columns:
            smallest = draw(picture, blocks[-1], clues=False)
            wide = max(columns, width_of(smallest), width_of(around))
            high = len(smallest) + len(self._around(wide, place.has_colours))
            small = f"the terminal is too small: {columns} columns, {lines} lines; enlarge it to {wide} and {high}"
            shown = [*_wrapped(Piece(small), columns), *_wrapped(Piece(KEYS, "dim"), columns)][:lines]
        else:
            shown = [around[0], *board, *around[1:]]
        # A text line may reach the last column, where some terminals would erase its last character after it.
        text = "\r\n".join(f"\x1b[K{line}" for line in text_of(shown, place))
        rest = "\r\n\x1b[J" if len(shown) < lines else ""
        os.write(sys.stdout.fileno(), f"\x1b[H{text}{rest}".encode(place.encoding))
        if place_of_output() != place:  # it changed while this was drawn
            self.draw()

    def _around(self, columns: int, has_colours: bool) -> list[StyledLine]:
        """Return the title and the text lines below the board."""
        below = [*_wrapped(Piece(self._status), columns), *_legend(columns, has_colours)]
        return [[Piece(self._title, "bold")], *below, *_wrapped(Piece(KEYS, "dim"), columns)]

    def _colours(self) -> Colours:
        """Return the colour of each cell: how it became known; empty for an unknown cell."""
        looks: dict[int, dict[int, str]] = {
            kind: {UNKNOWN: "", BLACK: style.black, WHITE: style.white} for kind, style in _KINDS.items()
        }
        kinds = iter(self._kinds)
        return [[looks[next(kinds)][cell] for cell in row] for row in self._board.numbers()]


def _wrapped(piece: Piece, columns: int) -> list[StyledLine]:
    return [[piece._replace(text=text)] for text in textwrap.wrap(piece.text, max(1, columns))]


def _legend(columns: int, has_colours: bool) -> list[StyledLine]:
    """Return the meaning of the colours; without colours, a blank text line."""
    lines: list[StyledLine] = [[Piece("black, white by ")] if has_colours else []]
    for kind in (kind for kind in _KINDS.values() if kind.cause and has_colours):
        entry = [Piece("██", kind.black), Piece("██", kind.white), Piece(f" {kind.cause}  ")]
        if width_of([[*lines[-1], *entry]]) > columns:
            lines.append([])
        lines[-1] += entry
    return lines


@contextmanager
def _screen(keyboard: int | None, draw_again: Callable[[], None]) -> Iterator[Callable[[float | None], str]]:
    """Use the alternate screen without cursor, and yield a function that waits for a key; restore the terminal.

    `draw_again` is called when the size of the terminal changes. Signals end a wait through a pipe, so that one
    that arrives just before the wait is not missed.
    """
    import termios
    import tty

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: draw_again())
    modes = None if keyboard is None else termios.tcgetattr(keyboard)
    signals, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled)
    try:
        if keyboard is not None:
            tty.setcbreak(keyboard)
        os.write(sys.stdout.fileno(), b"\x1b[?1049h\x1b[?25l\x1b[2J")
        yield lambda seconds: _key(keyboard, signals, seconds)
    finally:
        os.write(sys.stdout.fileno(), b"\x1b[?25h\x1b[?1049l")
        if keyboard is not None and modes:
            termios.tcsetattr(keyboard, termios.TCSADRAIN, modes)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        os.close(signals)
        os.close(signalled)


def _key(keyboard: int | None, signals: int, seconds: float | None) -> str:
    """Return the key pressed within `seconds` (None: no limit), or an empty string, as without a keyboard."""
    if keyboard is None:
        keyboard, seconds = signals, seconds or 0.0
    end = seconds and time.monotonic() + seconds
    while ready := select.select([keyboard, signals], [], [], end and max(0.0, end - time.monotonic()))[0]:
        if signals not in ready:
            return os.read(keyboard, 1).decode("ascii", "replace") or "q"
        os.read(signals, 1)  # its handler has been called
    return ""
