"""A program that solves puzzle files, as a bot: started for each puzzle, or once for all; its output is read."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from nonobot.harness import StartError, UnusableError
from nonobot.harness.adapt.board_in_text import Signs, board_in, boards_in, open_cells
from nonobot.harness.process.start_fault import start_fault
from nonobot.harness.solver_bot import Clock, OutOfTimeError, RefusedError, answer_all
from nonobot.protocol import DEFAULT_SIZE, Puzzle, Record, Solution, read_batch
from nonobot.protocol.clues import count, shown
from nonobot.protocol.formats import FormatError, Size, format_named, write
from nonobot.protocol.puzzle import fault_in_clues
from nonobot.system import content_of, lines_in, reason_of, report

_UTF16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
FILE, OUTPUT = "{file}", "{output}"
MOST_OUTPUT_BYTES = 1 << 24
SECONDS_AFTER_THE_END = 0.05  # for the output of a program that has ended, if another process still has its pipe
SECONDS_OF_SILENCE = 0.2  # after which a judge waits for the answer to the only puzzle so far
MOST_SHOWN_LINES = 3
_ENDING = re.compile(re.escape(OUTPUT) + r"((?:\.\w+)*)")
_HEADER = re.compile(rb"^[ \t]*\$", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What a program printed or wrote for a file of puzzles, and how it ended."""

    output: str
    end: str  # for a message; empty for exit status 0

    @property
    def beginning(self) -> str:
        """The first text lines of the output, for a message."""
        lines = [line.strip() for line in self.output.split("\n") if line.strip()]
        return f"it begins {' / '.join(map(shown, lines[:MOST_SHOWN_LINES]))}" if lines else "it is empty"


class NoBoardError(RefusedError):
    """The output of the program has no board of the puzzle."""


class Adapter:
    """A program, the format of its files, and a folder for each of them; :meth:`close` removes the last one."""

    def __init__(self, command: Sequence[str], form: str, signs: Signs) -> None:
        if not command:
            raise UnusableError("no program; write it after --, such as -- ./solver {file}")
        fault = start_fault(*command)
        if fault or not shutil.which(command[0]):
            raise StartError(f"cannot start {command[0]!r}: {fault or 'no such program'}")
        self._command, self._form, self._signs = command, form, signs
        self._reads_stdin = not any(FILE in word for word in command)
        self._endings = [found[1] or ".txt" for word in command for found in _ENDING.finditer(word)]
        self._folder: Path | None = None

    @property
    def hint(self) -> str:
        """What may help if the output has no board."""
        source = f"; the command has no {FILE}, so the program gets its file on stdin" if self._reads_stdin else ""
        return f"(see --black, --white and --pattern{source})"

    def close(self) -> None:
        """Remove the folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def content(self, puzzles: Sequence[Puzzle]) -> bytes:
        """Return the file of some puzzles; RefusedError if the format cannot hold them."""
        try:
            records = [Record(puzzle, number=number) for number, puzzle in enumerate(puzzles, 1)]
            written = write(records, self._form)
        except FormatError as error:
            raise RefusedError(str(error)) from None
        if written.faults:
            raise RefusedError(str(written.faults[0]))
        return written.data

    def run(self, content: bytes, clock: Clock) -> Ran:
        """Start the program with a file of this content, and return its output once it has ended."""
        self.close()  # never used again: the program may have left anything there
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="nonojudge-adapt-"))
            path = self._folder / f"puzzle{format_named(self._form).extensions[0]}"
            path.write_bytes(content)
        except OSError as error:
            raise RefusedError(f"cannot write the file for the program: {reason_of(error)}") from None
        process = self._started(path)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stopped)
        try:
            printed = _printed(process, clock)
        finally:
            self._kill()  # before its pipe is closed, of which it would complain
            status = process.wait()
            if process.stdout:
                process.stdout.close()
        end = "" if not status else f"; exit status {status}" if status > 0 else f"; ended by signal {-status}"
        if self._endings:
            printed = self._written(self._folder / f"output{self._endings[-1]}", end)
        return Ran(printed.decode("utf-16" if printed.startswith(_UTF16) else "utf-8", "replace"), end)

    def _started(self, path: Path) -> subprocess.Popen[bytes]:
        names = {FILE: str(path), OUTPUT: str(path.parent / "output")}
        command = [_ENDING.sub(lambda found: OUTPUT + (found[1] or ".txt"), word) for word in self._command]
        for name, place in names.items():
            command = [word.replace(name, place) for word in command]
        try:
            with (path if self._reads_stdin else Path(os.devnull)).open("rb") as source:
                # A group of its own, which ends with it.
                process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, process_group=0)
        except OSError as error:
            raise RefusedError(f"cannot start {command[0]!r}: {reason_of(error)}") from None
        self._group = process.pid
        return process

    def _written(self, path: Path, end: str) -> bytes:
        try:
            return content_of(path, MOST_OUTPUT_BYTES)
        except FileNotFoundError:
            raise NoBoardError(f"the program did not write the file {OUTPUT}{end}") from None
        except OSError as error:
            raise RefusedError(f"the file that the program wrote cannot be read: {reason_of(error)}") from None

    def board_in(self, ran: Ran, puzzle: Puzzle) -> Solution:
        """Return the board of a puzzle in an output; RefusedError if there is none."""
        if solution := board_in(ran.output, puzzle, self._signs):
            return solution
        cells = "{}x{} with {} black cells".format(*puzzle.size, sum(map(sum, puzzle.rows)))
        kinds = open_cells(ran.output, puzzle, self._signs)
        undecided = "; its cells have three signs ({}, {}, {}), as if some were not decided"
        why = undecided.format(*map(repr, kinds)) if kinds else ""
        raise NoBoardError(f"no board of {cells} in {self._source}; {ran.beginning}{why}{ran.end}")

    def solve(self, puzzle: Puzzle, clock: Clock) -> Solution:
        """Return the board that the program finds for a puzzle; RefusedError if there is none."""
        return self.board_in(self.run(self.content([puzzle]), clock), puzzle)

    def solve_all(self, puzzles: Sequence[Puzzle], clock: Clock) -> tuple[list[Solution | None], str]:
        """Return the boards that the program finds for a file of all puzzles, and why some are missing."""
        ran = self.run(self.content(puzzles), clock)
        boards = boards_in(ran.output, puzzles, self._signs)
        found = f"{len(boards) - boards.count(None)} of {len(boards)} puzzles have a board in {self._source}"
        return boards, f"{found}; {ran.beginning}{ran.end}" if None in boards else ""

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, signal.SIGKILL)

    def _stopped(self, number: int, frame: object) -> None:
        self._kill()
        self.close()
        os._exit(128 + number)

    @property
    def _source(self) -> str:
        return "the file that the program wrote" if self._endings else "the output"


def _printed(process: subprocess.Popen[bytes], clock: Clock) -> bytes:
    """Return what a process prints until it ends; OutOfTimeError, RefusedError: too late, or too much."""
    assert process.stdout
    pipe = process.stdout.fileno()
    pieces, length = [], 0
    while True:
        seconds = min(clock.remaining(), SECONDS_AFTER_THE_END)
        has_ended = process.poll() is not None  # before the wait: what ends later may print until then
        if select.select([pipe], [], [], seconds)[0]:
            if not (piece := os.read(pipe, 1 << 16)):
                break
            pieces.append(piece)
            length += len(piece)
        elif has_ended:
            break
        clock.check()
        if length > MOST_OUTPUT_BYTES:
            raise RefusedError(f"the program printed more than {MOST_OUTPUT_BYTES >> 20} MiB")
    while process.poll() is None:
        clock.check()
        time.sleep(min(clock.remaining(), 0.001))
    return b"".join(pieces)


# --- the bot -----------------------------------------------------------------------------------------------------


def serve(adapter: Adapter, given: Size | None, limit_seconds: float, batch: bool) -> int:
    """Answer the puzzles on standard input with an adapter, and return the exit status.

    Without a `given` size, the boards are 25x25 if the first one fits, otherwise square; as large as the first one
    if the judge waits for its answer. `batch`: the program gets one file with all puzzles.
    """
    chunks = iter(lambda: os.read(0, 1 << 16), b"")
    size = None if given == "auto" else given
    if given is None:
        head, waits = _head(chunks)
        size, chunks = _size_in(head, waits), chain([head], chunks)
    if batch:
        return _serve_all(adapter, size, limit_seconds, b"".join(chunks))
    failures: list[str] = []

    def solve(puzzle: Puzzle, clock: Clock) -> Solution:
        try:
            return adapter.solve(puzzle, clock)
        except NoBoardError as error:
            failures.append(str(error))
            raise

    status = answer_all(solve, size, limit_seconds, chunks)
    if failures:  # for a judge, which shows the last line
        without = f"no board for {count(len(failures), 'puzzle')} {adapter.hint}"
        report(f"{without}, the first: {failures[0]}")
    return status


def _serve_all(adapter: Adapter, size: tuple[int, int] | None, limit_seconds: float, data: bytes) -> int:
    records = [item for item in read_batch(lines_in([data]), size) if isinstance(item, Record)]
    puzzles = [record.puzzle for record in records if not fault_in_clues(record.puzzle)]
    boards: list[Solution | None] = [None] * len(puzzles)
    why = ""
    try:
        if puzzles:
            boards, why = adapter.solve_all(puzzles, Clock(limit_seconds))
    except OutOfTimeError:
        why = f"not solved within the limit of {limit_seconds:g} s"
    except RefusedError as error:
        why = str(error)
    left = iter(boards)

    def solve(puzzle: Puzzle, clock: Clock) -> Solution:
        if board := next(left):
            return board
        raise RefusedError("no board of it")

    status = answer_all(solve, size, limit_seconds, [data])
    if why:  # for a judge, which shows the last line
        report(why)
    return status


def _head(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """Return the input up to the second puzzle, and whether the judge sends that one only after an answer."""
    head = b""
    while len(_HEADER.findall(head)) < 2:
        if head.endswith(b"\n") and not select.select([0], [], [], SECONDS_OF_SILENCE)[0]:
            return head, True
        if not (chunk := next(chunks, b"")):
            break
        head += chunk
    return head, False


def _size_in(head: bytes, waits: bool) -> tuple[int, int] | None:
    """Return the size if the first puzzle shows it: the tournaments', or a square if the judge waits."""
    lines = [number for number, line in enumerate(head.split(b"\n")) if _HEADER.match(line)] + [head.count(b"\n")]
    clue_lines = lines[1] - lines[0] - 1 if len(lines) > 1 else 0
    if clue_lines == sum(DEFAULT_SIZE):
        return DEFAULT_SIZE
    return (clue_lines // 2, clue_lines // 2) if waits and clue_lines else None
